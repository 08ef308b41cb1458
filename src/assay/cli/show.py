"""`assay show`: what was found, in the terminal or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.cli import output
from assay.model import topics

if TYPE_CHECKING:
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
@output.limit_option
def command(run: str, limits: tuple[str, ...], form: str, *, as_json: bool) -> None:
    """Show the figures and findings of a run.

    RUN is an id, a unique prefix of one, a path, or `last` (the default); `ledger` shows what all runs predicted
    before their launches, and how good it was.
    """
    if run == "ledger":
        _show_ledger(as_json=as_json)
        return
    found, analysis = output.load(run, limits)
    if as_json or form == "json":
        output.print_json(analysis)
        return
    if form != "text":
        _print_tables(form, found, analysis, run)
        return
    from assay.report import terminal

    console = output.console()
    terminal.render(found, analysis, console)
    if found.plan.factors:
        from assay.compare import figure_rows
        from assay.compare.runs import within

        figure_rows.render(within(found, analysis), console)
    if found.imported:
        from assay.compare.sides import sides
        from assay.compare.terminal import in_words

        in_words(sides([found]), console)


def _print_tables(form: str, found: Run, analysis: Analysis, name: str) -> None:
    """As another program prints them."""
    from assay.model.errors import UsageError

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


def _show_ledger(*, as_json: bool) -> None:
    """Every prediction of every run in the folder."""
    from assay import store
    from assay.analyse import analyse
    from assay.analyse.scores import scores, together
    from assay.report import scores as table

    output.without_collector()
    runs = (store.load(path) for path in store.predicting(store.runs_folder()))
    known = together(score for run in runs for score in scores(run, analyse(run, output.given_limits(()))))
    if as_json:
        output.print_json(known)
    else:
        table.render(known, output.console())
