"""What the commands that print share: the terminal, JSON, limits that a user gives, the report's file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.model.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from assay.model.result import Analysis
    from assay.model.run import Run

run_argument = click.argument("run", default="last", required=False, metavar="[RUN]")
limit_option = click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help="What the vendor promises, e.g. memory-bandwidth='204.8 GB/s'. May be given several times.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def console(*, stderr: bool = False) -> "Console":
    """A terminal that keeps NO_COLOR and --color, and folds nothing where output is no terminal."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 100
    return Console(stderr=stderr, highlight=False, soft_wrap=False, width=width, markup=False, emoji=False)


def print_json(value: Any) -> None:  # noqa: ANN401 (any record)
    """The value as indented JSON on stdout."""
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(value)).decode())


def load(reference: str, limits: tuple[str, ...] = ()) -> "tuple[Run, Analysis]":
    """The run (id, unique prefix, path or `last`) and what may be said of it under the given limits."""
    from assay import analyse, store

    run = store.load(store.find(reference))
    return run, analyse.analyse(run, given_limits(limits))


def given_limits(options: tuple[str, ...]) -> dict[str, float]:
    """Limits by name in SI units: the table `[limits]` of the configuration, then the options `NAME=VALUE`."""
    from assay.cli import settings
    from assay.model.units import parse_quantity

    wanted = {name: str(value) for name, value in settings.table("limits").items()}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise UsageError(
                f"'{option}' is no limit",
                why="a limit looks like NAME=VALUE",
                remedy=f"assay show --limit '{next(iter(_units()))}=204.8 GB/s'",
            )
        wanted[name.strip()] = value
    given: dict[str, float] = {}
    for name, text in wanted.items():
        amount, unit = parse_quantity(text)
        expected = _units().get(name)
        if expected is None:
            raise UsageError(f"there is no limit '{name}'", why=f"known: {', '.join(sorted(_units()))}")
        if unit != expected:
            raise UsageError(
                f"the limit '{name}' is in {expected}, not in {unit}", remedy=f"--limit '{name}=... {expected}'"
            )
        given[name] = amount
    return given


def _units() -> dict[str, str]:
    """Names of limits that benchmarks declare -> their unit."""
    from assay import benchmarks

    declared = (benchmarks.get(name) for name in benchmarks.names())
    return {metric.limit: metric.unit for each in declared for metric in each.metrics if metric.limit}


def write(path: Path, content: str | bytes) -> Path:
    """Write the file whole or not at all, and return its absolute path."""
    path = path.absolute()
    draft = path.with_name(f".{path.name}.part")
    try:
        if isinstance(content, str):
            draft.write_text(content, encoding="utf-8", newline="")
        else:
            draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def write_report(run: "Run", analysis: "Analysis", path: Path | None = None) -> Path:
    """The HTML report as a file: `path`, else `report.html` beside the records."""
    from assay.report import html

    beside = Path(run.path)
    default = beside / "report.html" if beside.is_dir() else Path(f"{run.info.id}.html")
    return write(path or default, html.render(run, analysis))
