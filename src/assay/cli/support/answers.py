"""Commands and views of topics, as `assay.model.answers` describes them: found by name, and printed."""

import copy
import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from assay.catalogue import topics
from assay.cli.support import output
from assay.model.answers import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.model.answers import View
    from assay.model.result import Analysis
    from assay.model.run import Run


def commands() -> dict[str, str]:
    """Name of each command of a topic -> its module, which is not imported."""
    return {name.rstrip("_"): module for name, module in topics.found("commands").items()}


@cache
def command(module: str) -> click.Command:
    """The command of a module, which prints its answer; with `--json` as JSON."""
    declared: click.Command = importlib.import_module(module).command
    made = copy.copy(declared)
    made.params = [*map(_completed, declared.params), click.Option(["--json", "as_json"], **output.JSON)]

    def print_answer(*, as_json: bool, **options: Any) -> None:  # noqa: ANN401 (options of any type)
        answer = click.get_current_context().invoke(declared.callback, **options) if declared.callback else None
        if isinstance(answer, Answer):
            show(answer, as_json=as_json)

    made.callback = print_answer
    return made


def _completed(parameter: click.Parameter) -> click.Parameter:
    """The parameter; an argument `run` completes ids."""
    if not isinstance(parameter, click.Argument) or parameter.name != "run":
        return parameter
    return click.Argument(
        ["run"],
        default=parameter.default,
        required=parameter.required,
        metavar=parameter.metavar,
        shell_complete=output.complete_run,
    )


def show(answer: Answer, *, as_json: bool) -> None:
    """Print an answer."""
    if as_json:
        output.print_json(answer.value)
    else:
        answer.render(output.console())


def views() -> "dict[str, View]":
    """Name -> view, of all topics."""
    return {name.rstrip("_"): module.view for name, module in topics.modules("views").items()}


def show_view(view: "View", *, as_json: bool) -> None:
    """Print a view of the runs in the folder."""
    from assay import analyse, store
    from assay.cli.support import opened
    from assay.store.folder import run_ids

    def read() -> "Iterator[tuple[Run, Analysis]]":
        limits = opened.given_limits(())
        for path in paths:
            run = store.load(path)
            yield run, analyse.analyse(run, limits)

    opened.without_collector()
    folder = store.runs_folder()
    paths: list[Path] = [*(view.runs(folder) if view.runs else (folder / name for name in run_ids(folder)))]
    show(view.answer(read()), as_json=as_json)
