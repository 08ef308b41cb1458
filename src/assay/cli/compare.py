"""`assay compare`: levels of one run, or the same cases of two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.cli import output

if TYPE_CHECKING:
    from assay.model.result import Compared, ComparedPair

_TWO = 2


@click.command()
@click.argument("runs", metavar="[BASE] RUN", nargs=-1, required=True)
@output.json_option
@click.option(
    "--across",
    default="",
    metavar="NAME",
    help="What differs on purpose: machine, topology, toolchain, sources, memory, an axis or a factor.",
)
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="Compare though this differs: machine, topology, toolchain, sources, schema.",
)
@click.option("--fail-below", metavar="SHARE", help="Exit 3 when a figure is slower by more than this: 5%.")
def command(
    runs: tuple[str, ...], across: str, allowed: tuple[str, ...], fail_below: str | None, *, as_json: bool
) -> None:
    """Compare what was varied in a RUN, or a RUN with a BASE.

    With one RUN: the levels of its factors (see --vary of assay run), in pairs from the same blocks. With two: the
    cases that both have; what is not the same in the two is shown beside, and where machine, topology, toolchain
    or programs differ, they are only compared when that is declared.

    RUN is an id, a unique prefix of one, a path, or `last`.
    """
    from assay.model.units import parse_share

    threshold = None if fail_below is None else parse_share(fail_below)
    compared = _compared(runs, across, allowed)
    if as_json:
        output.print_json(compared)
    else:
        from assay.report import compare_table

        compare_table.render(compared, output.console())
    if threshold is not None:
        _judge(compared, threshold)


def _compared(runs: tuple[str, ...], across: str, allowed: tuple[str, ...]) -> Compared:
    from assay import store
    from assay.analyse.comparisons.environment import GUARDED
    from assay.analyse.comparisons.runs import between, within
    from assay.model.errors import UsageError

    if len(runs) > _TWO:
        raise UsageError("compare takes one run or two", remedy="assay compare BASE RUN")
    for name in allowed:
        if name not in GUARDED:
            raise UsageError(f"'{name}' need not be allowed", why=f"known: {', '.join(GUARDED)}")
    if len(runs) == _TWO:
        base, run = (store.load(store.find(reference)) for reference in runs)
        return between(run, base, across, allowed)
    if across or allowed:
        raise UsageError(
            "--across and --allow are for two runs", why="one is given", remedy=f"assay compare {runs[0]}"
        )
    found = within(*output.load(runs[0]))
    if not found.pairs:
        raise UsageError(
            f"nothing is varied in run '{found.run}'",
            why="none of its cases differ in one word",
            remedy="assay run STUDY --vary memory=first-touch,interleave; or assay compare BASE RUN",
        )
    return found


def _judge(compared: Compared, threshold: float) -> None:
    """ThresholdError where a figure is certainly slower than the base by more than the threshold."""
    from assay.model.errors import ThresholdError

    worse = [
        pair for pair in compared.pairs if pair.comparison.verdict == "slower" and _best(pair) < 1 - threshold
    ]
    if worse:
        worst = min(worse, key=_best)
        raise ThresholdError(
            f"{len(worse)} of {len(compared.pairs)} figures are slower by more than {100 * threshold:g} %",
            why=f"{worst.a.id}: by {100 * (1 - _best(worst)):.1f} % at least",
            remedy=f"assay report {compared.run}",
        )


def _best(pair: ComparedPair) -> float:
    """The end of the speed-up's interval that speaks best of it."""
    return pair.comparison.hi if pair.a.better == "higher" else 1 / pair.comparison.lo
