"""`assay export`: figures or raw samples for other programs."""

from collections.abc import Iterable
from pathlib import Path

import click

from assay.cli import output
from assay.model.errors import UsageError


@click.command()
@output.run_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "json"]),
    default="csv",
    show_default=True,
    help="Form of the file.",
)
@click.option("--samples", is_flag=True, help="Every raw sample instead of the estimates (CSV).")
@click.option(
    "-o", "--output", "path", type=click.Path(dir_okay=False, path_type=Path), help="File; stdout without it."
)
@output.limit_option
def command(run: str, form: str, path: Path | None, limits: tuple[str, ...], *, samples: bool) -> None:
    """Export the figures of a run, in SI base units.

    RUN is an id, a unique prefix of one, a path, or `last` (the default).
    """
    if samples and form != "csv":
        raise UsageError("raw samples are exported as CSV", remedy=f"assay export {run} --format csv --samples")
    parts = _parts(run, form, limits, samples=samples)
    if path is None:
        for part in parts:
            click.echo(part, nl=False)
    else:
        click.echo(output.write(path, "".join(parts)), err=True)


def _parts(run: str, form: str, limits: tuple[str, ...], *, samples: bool) -> Iterable[str]:
    from assay.report import tables

    found, analysis = output.load(run, limits)
    if samples:
        return tables.samples(found)
    if form == "csv":
        return [tables.csv(analysis)]
    import msgspec

    return [msgspec.json.encode(analysis).decode() + "\n"]
