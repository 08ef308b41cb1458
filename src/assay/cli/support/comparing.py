"""The work of `assay compare`: read the runs, compare them, print it, and judge by a threshold."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from assay import store
from assay.cli.support import opened, output
from assay.compare import figure_rows, terminal
from assay.compare.environment import GUARDED
from assay.compare.meeting import Declared
from assay.compare.records import ComparedRuns, ComparedToFirst
from assay.compare.runs import against, refuse_nothing, unjudged, within
from assay.compare.sides import Sides, sides
from assay.compare.statements import statements
from assay.model.compared import Compared, ComparedPair
from assay.model.errors import PartialRunError, ThresholdError, UsageError
from assay.model.result import RESULT_SCHEMA
from assay.model.run import Run
from assay.model.units import parse_share

#: Number of earlier runs, the latest ones, that are read for the variance between runs.
_MOST_EARLIER = 8


class _Found(NamedTuple):
    """The runs, the base first; their comparisons with it (or of the levels of a single one); all side by side."""

    runs: list[Run]
    compared: list[Compared]
    sides: Sides


def compare(
    runs: Sequence[str], declared: Declared, fail_below: str | None, *, everything: bool, as_json: bool
) -> None:
    """Compare the levels of one run, or several runs with the first one, and print the result.

    Args:
        runs: names of runs, the base first.
        declared: differences that are intended or accepted, and names of networks.
        fail_below: share by which a figure may be slower; None for any.
        everything: print all comparisons, not only the significant ones.
        as_json: print JSON.
    """
    opened.without_collector()
    threshold = None if fail_below is None else parse_share(fail_below)
    found = _one(runs[0], declared) if len(runs) == 1 else _several(runs, declared, threshold)
    if as_json:
        output.print_json(_document(found))
    else:
        _print(found, everything=everything)
    unfinished = [run for run in found.runs if run.ending is None or run.ending.status != "complete"]
    for run in unfinished:
        status = run.ending.status if run.ending else "not ended"
        output.say(f"run {run.info.id} is {status}: cases that it did not measure are not compared")
    if threshold is not None:
        _judge(found.compared, threshold)
        _refuse_unjudged(found.compared, threshold, unfinished)


def _document(found: _Found) -> Compared | ComparedToFirst:
    """The document for JSON, with the curves in numbers and in sentences."""
    sentences = tuple(each.text for each in statements(found.sides))
    shown = found.sides.found if found.sides.found.curves or found.sides.found.contrasts else None
    if len(found.compared) > 1:
        return ComparedToFirst(RESULT_SCHEMA, found.sides.found.runs, tuple(found.compared), shown, sentences)
    return ComparedRuns(**msgspec.structs.asdict(found.compared[0]), side_by_side=shown, statements=sentences)


def _print(found: _Found, *, everything: bool) -> None:
    """Print sentences and tables of the curves, and the rows of each run; for two runs, differences come first."""
    console = output.console()
    sides = _uncompared(found.sides, found.compared)
    if len(found.compared) == 1:
        figure_rows.render(
            found.compared[0], console, everything=everything, curves=lambda: terminal.render(sides, console)
        )
        return
    sentences = terminal.render(sides, console)
    for compared in found.compared:
        console.print()
        figure_rows.render(compared, console, everything=everything, curves=lambda: sentences)


def _uncompared(sides: Sides, compared: Sequence[Compared]) -> Sides:
    """The sides without the figures of the comparisons, which are shown with their verdicts."""
    shown = {(each.run, pair.a.id) for each in compared for pair in each.pairs}
    others = tuple(each for each in sides.found.shared if not shown & set(each.of))
    return msgspec.structs.replace(sides, found=msgspec.structs.replace(sides.found, shared=others))


def _one(reference: str, declared: Declared) -> _Found:
    """Compare the levels of one run."""
    if any(declared):
        raise UsageError(
            "--across, --allow and --as are for two runs or more",
            why="only one is given",
            remedy=f"assay compare {reference}",
        )
    shown = sides([store.load(store.find(reference))])
    (side,) = shown.sides
    varied = within(side.run, side.analysis)
    if not varied.pairs and not shown.found.pairs and not shown.found.contrasts:
        raise UsageError(
            f"no factor is varied in run '{varied.run}'",
            why="none of its cases differ in one factor only",
            remedy="assay run STUDY --vary memory=first-touch,interleave   # or: assay compare BASE RUN",
        )
    return _Found([side.run], [varied], shown)


def _several(runs: Sequence[str], declared: Declared, threshold: float | None) -> _Found:
    """Compare any number of runs with the first one.

    It is an error if no figure can be compared, unless curves can be and there is no threshold.
    """
    for name in declared.allowed:
        if name not in GUARDED:
            raise UsageError(f"'{name}' need not be allowed", why=f"known: {', '.join(GUARDED)}")
    base, *others = found = [store.load(store.find(reference)) for reference in runs]
    if {run.info.id for run in found} == {base.info.id}:  # a run with itself has no curves beside each other
        compared = against(others, base, declared, earlier_than(found))
        return _Found(found, compared, sides([base]))
    shown = sides(found, {}, declared, earlier_than(found))
    if threshold is not None or not shown.have_common:
        refuse_nothing(shown.compared)
    return _Found(found, list(shown.compared), shown)


def earlier_than(runs: Sequence[Run]) -> list[Run]:
    """The latest runs of these machines and studies in the same folders: they show the variance between runs."""
    machines = {(run.plan.machine, run.plan.study) for run in runs if not run.imported}
    judged = {run.info.id for run in runs}
    paths = [Path(run.path) for run in runs if run.path]
    others = [
        (each.started, folder / each.id)
        for folder in dict.fromkeys(path.resolve().parent for path in paths if path.is_dir())
        for each in store.listing(folder)
        if (each.machine, each.study) in machines and each.id not in judged and each.status in {"complete", "cut"}
    ]
    return [store.load(path) for _, path in sorted(others, reverse=True)[:_MOST_EARLIER]]


def _judge(compared: Sequence[Compared], threshold: float) -> None:
    """ThresholdError if a figure is certainly slower than the base by more than the threshold."""
    pairs = [(each.run, pair) for each in compared for pair in each.pairs]
    worse = [
        (run, pair) for run, pair in pairs if pair.comparison.verdict == "slower" and _best(pair) < 1 - threshold
    ]
    if worse:
        run, worst = min(worse, key=lambda each: _best(each[1]))
        raise ThresholdError(
            f"{len(worse)} of {len(pairs)} figures are slower by more than {100 * threshold:g} %",
            why=f"{worst.a.id}: by {100 * (1 - _best(worst)):.1f} % at least",
            remedy=f"assay report {run}",
        )


def _refuse_unjudged(compared: Sequence[Compared], threshold: float, unfinished: list[Run]) -> None:
    """PartialRunError if figures of the base cannot be judged: they did not pass the threshold."""
    missing = [(each.run, *item) for each in compared for item in unjudged(each).items()]
    if missing:
        judged, name, why = missing[0]
        run = unfinished[0].info.id if unfinished else ""
        raise PartialRunError(
            f"no figure is slower by more than {100 * threshold:g} %, but {len(missing)} could not be compared",
            why=f"the first, {name}: {why}",
            remedy=f"assay run --resume {run}" if run else f"assay show {judged}",
        )
    verdicts = [pair.comparison.verdict for each in compared for pair in each.pairs]
    if unclear := verdicts.count("inconclusive"):
        output.say(
            f"no figure is slower by more than {100 * threshold:g} %; "
            f"{unclear} of {len(verdicts)} are inconclusive"
        )


def _best(pair: ComparedPair) -> float:
    """The best end of the speed-up's interval."""
    return pair.comparison.hi if pair.a.better == "higher" else 1 / pair.comparison.lo
