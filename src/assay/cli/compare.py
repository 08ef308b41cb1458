"""`assay compare`: levels of one run, or the same cases of two; and their curves of messages in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.cli import output

if TYPE_CHECKING:
    from assay.model.result import Compared, ComparedPair
    from assay.model.run import Run
    from assay.report.several.together import Together

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
@click.option("--all", "everything", is_flag=True, help="A row for each comparison, not only for what is claimed.")
@click.option("--fail-below", metavar="SHARE", help="Exit 3 when a figure is slower by more than this: 5%.")
def command(  # noqa: PLR0913 (one parameter an option)
    runs: tuple[str, ...],
    across: str,
    allowed: tuple[str, ...],
    fail_below: str | None,
    *,
    everything: bool,
    as_json: bool,
) -> None:
    """Compare what was varied in a RUN, or a RUN with a BASE.

    With one RUN: the levels of its factors (see --vary of assay run), in pairs from the same blocks. With two: the
    cases that both have; what is not the same in the two is shown beside, and where machine, topology, toolchain
    or programs differ, they are only compared when that is declared.

    Curves of messages are told in words, side by side and as ratios, with the sizes at which one overtakes the
    other; of an import or a reference (assay list references) no difference is said to be significant.

    Exit codes with --fail-below: 3 a figure is slower; 5 none is, but one of the base could not be compared.

    RUN is an id, a unique prefix of one, a path, or `last`.
    """
    from assay.model.units import parse_share

    output.without_collector()
    threshold = None if fail_below is None else parse_share(fail_below)
    sides, compared, curves = _compared(runs, across, allowed, strict=threshold is not None)
    if as_json:
        output.print_json(_with_curves(compared, curves))
    else:
        from assay.report import compare_table
        from assay.report.several import terminal

        console = output.console()
        untold = _untold(curves, compared)
        compare_table.render(
            compared, console, everything=everything, curves=lambda: terminal.render(untold, console)
        )
    unfinished = [run for run in sides if run.ending is None or run.ending.status != "complete"]
    for run in unfinished:
        status = run.ending.status if run.ending else "not ended"
        output.say(f"run {run.info.id} is {status}: what it did not measure is not compared")
    if threshold is not None:
        _judge(compared, threshold)
        _refuse_unjudged(compared, threshold, unfinished)


def _with_curves(compared: Compared, curves: Together) -> Compared:
    """For JSON: with what curves of messages show, in numbers and in words."""
    import msgspec

    from assay.model.several import ComparedCurves
    from assay.report.several.statements import statements

    told = tuple(each.text for each in statements(curves))
    several = curves.several if curves.several.ways or curves.several.contrasts else None
    return ComparedCurves(**msgspec.structs.asdict(compared), several=several, statements=told)


def _untold(curves: Together, compared: Compared) -> Together:
    """Without the figures that the comparisons tell, with a verdict beside each."""
    import dataclasses

    import msgspec

    told = {pair.a.id for pair in compared.pairs}
    alike = tuple(each for each in curves.several.alike if each.of.get(compared.run) not in told)
    return dataclasses.replace(curves, several=msgspec.structs.replace(curves.several, alike=alike))


def _compared(
    runs: tuple[str, ...], across: str, allowed: tuple[str, ...], *, strict: bool
) -> tuple[list[Run], Compared, Together]:
    """The runs, the base first, what they show figure by figure, and their curves.

    Figures that have no like in the other run are an error where no curve can be compared either, or `strict`.
    """
    from assay import store
    from assay.analyse.comparisons.environment import GUARDED, differences
    from assay.analyse.comparisons.runs import NothingInCommonError, between, within
    from assay.cli import beside
    from assay.model.errors import UsageError
    from assay.model.result import RESULT_SCHEMA, Compared
    from assay.model.several import RUN

    if len(runs) > _TWO:
        raise UsageError("compare takes one run or two", remedy=f"assay report {' '.join(runs)}")
    for name in allowed:
        if name not in GUARDED:
            raise UsageError(f"'{name}' need not be allowed", why=f"known: {', '.join(GUARDED)}")
    if len(runs) == _TWO:
        base, run = (store.load(store.find(reference)) for reference in runs)
        try:
            compared = between(run, base, across, allowed)
        except NothingInCommonError:
            curves = beside.together([base, run])
            between_them = any(each.differ == RUN for each in curves.several.contrasts)
            if strict or not (curves.several.besides or curves.several.alike or between_them):
                raise
            found = differences(run, base)
            compared = Compared(RESULT_SCHEMA, run.info.id, base.info.id, across, tuple(allowed), found, ())
            return [base, run], compared, curves
        return [base, run], compared, beside.together([base, run] if run.info.id != base.info.id else [run])
    if across or allowed:
        raise UsageError(
            "--across and --allow are for two runs", why="one is given", remedy=f"assay compare {runs[0]}"
        )
    curves = beside.together([store.load(store.find(runs[0]))])
    (side,) = curves.sides
    run, varied = side.run, within(side.run, side.analysis)
    if not varied.pairs and not curves.several.besides and not curves.several.contrasts:
        raise UsageError(
            f"nothing is varied in run '{varied.run}'",
            why="none of its cases differ in one word",
            remedy="assay run STUDY --vary memory=first-touch,interleave   # or: assay compare BASE RUN",
        )
    return [run], varied, curves


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


def _refuse_unjudged(compared: Compared, threshold: float, unfinished: list[Run]) -> None:
    """PartialRunError where the base has figures that cannot be judged: they did not pass the threshold."""
    from assay.analyse.comparisons.runs import unjudged
    from assay.model.errors import PartialRunError

    missing = unjudged(compared)
    if missing:
        name, why = next(iter(missing.items()))
        run = unfinished[0].info.id if unfinished else ""
        raise PartialRunError(
            f"no figure is slower by more than {100 * threshold:g} %, but {len(missing)} could not be compared",
            why=f"the first, {name}: {why}",
            remedy=f"assay run --resume {run}" if run else f"assay show {compared.run}",
        )
    unclear = sum(pair.comparison.verdict == "inconclusive" for pair in compared.pairs)
    if unclear:
        output.say(
            f"no figure is slower by more than {100 * threshold:g} %; {unclear} of {len(compared.pairs)} are "
            "inconclusive"
        )


def _best(pair: ComparedPair) -> float:
    """The end of the speed-up's interval that speaks best of it."""
    return pair.comparison.hi if pair.a.better == "higher" else 1 / pair.comparison.lo
