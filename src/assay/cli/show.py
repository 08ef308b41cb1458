"""`assay show`: figures and findings, in the terminal or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.catalogue import topics
from assay.cli.support import answers, opened, output
from assay.model.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from assay.model.result import Analysis
    from assay.model.run import Run


@click.command()
@output.run_argument
@output.json_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", *topics.found("formats")]),
    default="text",
    show_default=True,
    help="hpl, osu: tables as HPL and the OSU Micro-Benchmarks print them.",
)
@opened.limit_option
@output.fail_on_option
def command(run: str, limits: tuple[str, ...], form: str, fail_on: str | None, *, as_json: bool) -> None:
    """Show the figures and findings of a run.

    RUN is an id, a unique prefix of one, a path, or `last` (the default); or the name of a view over all runs,
    such as `ledger`: see `assay list views`.

    With --fail-on the exit codes are those of assay run: 3 there is a finding of this severity; 1 a case or one of
    its launches failed; 5 a case was not measured.
    """
    if run in topics.found("views"):
        answers.show_view(answers.views()[run], as_json=as_json)
        return
    form = "json" if as_json else form
    if form not in {"text", "json"}:
        _print_tables(form, *opened.load(run, limits), run)
    else:
        _print_page(run, limits, form)
    if fail_on:
        from assay.cli.support import gate

        gate.judge(*opened.load(run, limits), fail_on)


def _print_page(run: str, limits: tuple[str, ...], form: str) -> None:
    """Print the page of a run for the terminal, or its analysis as JSON."""
    from assay import store
    from assay.cli.support import printed

    path = store.find(run)

    def make(console: Console) -> str:
        found, analysis = opened.analysed(path, limits)
        return page(found, analysis, console) if form == "text" else f"{output.as_json(analysis)}\n"

    printed.tell(path, (form, *limits), make)


def page(run: Run, analysis: Analysis, console: Console) -> str:
    """The page of a run for a console."""
    from assay.report import terminal

    with console.capture() as captured:
        terminal.render(run, analysis, console)
        if run.plan.factors:
            from assay.compare import figure_rows
            from assay.compare.runs import within

            figure_rows.render(within(run, analysis), console)
        if run.imported:
            from assay.compare.sides import sides
            from assay.compare.terminal import in_words

            in_words(sides([run]), console)
    return captured.get()


def _print_tables(form: str, found: Run, analysis: Analysis, name: str) -> None:
    """Print tables in the format of another program."""
    printer = topics.modules("formats")[form]
    lines = list(printer.tables(analysis, found))
    if not lines:
        raise UsageError(
            f"run '{name}' has no table of {form.upper()}'s",
            why=f"it does not have {printer.needs}",
            remedy=printer.remedy,
        )
    for line in lines:
        output.hand_over(line)
