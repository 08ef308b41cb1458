"""The work of `assay compare`: read the runs, compare them, print it, and judge by a threshold."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from assay import store
from assay.analyse.history import FEWEST_RUNS
from assay.catalogue import topics
from assay.cli.support import opened, output
from assay.compare import figure_rows, terminal
from assay.compare.environment import GUARDED
from assay.compare.following import following, next_block
from assay.compare.gates import Gate, Judged, further_launches, gate
from assay.compare.meeting import Declared
from assay.compare.records import ComparedRuns, ComparedToFirst
from assay.compare.repetitions import repetitions
from assay.compare.runs import against, refuse_nothing, within
from assay.compare.sides import Sides, sides
from assay.compare.statements import statements
from assay.model.compared import Compared
from assay.model.errors import PartialRunError, ThresholdError, UsageError
from assay.model.prices import with_prices
from assay.model.repetition import Repetition
from assay.model.result import RESULT_SCHEMA
from assay.model.run import Run
from assay.model.text import cli
from assay.model.units import count_of, parse_share
from assay.report import repetition_screen
from assay.report.screen import Screen

#: Number of runs before, and of runs after those that are compared, that are read for the variance between runs.
_MOST_OTHERS = 8
#: Figures that a gate names one by one.
_NAMED = 10


class _Found(NamedTuple):
    """The comparisons of runs with the base (or of the levels of a single one); all side by side.

    `repeated`: conclusions of the publications among them, judged.
    """

    compared: list[Compared]
    sides: Sides
    repeated: tuple[Repetition, ...] = ()


class Wanted(NamedTuple):
    """What the command prints and judges.

    Attributes:
        everything: print all comparisons, not only the significant ones.
        as_json: print JSON.
        fail_below: share by which a figure may be slower, as typed; None for any.
        junit: file for the decisions of the gate; None for none.
    """

    everything: bool = False
    as_json: bool = False
    fail_below: str | None = None
    junit: Path | None = None

    @property
    def border(self) -> float | None:
        """The share; UsageError if it is none, or if a file has no gate to tell of."""
        if self.junit and self.fail_below is None:
            why = "the file says which figures are slower by more than a border"
            raise UsageError("--junit goes with --fail-below", why=why, remedy="--fail-below 5% --junit FILE")
        return None if self.fail_below is None else parse_share(self.fail_below)


def compare(runs: Sequence[str], declared: Declared, wanted: Wanted) -> None:
    """Compare the levels of one run, several runs with the first one, or levels of whole runs; print the result.

    Args:
        runs: names of runs, the base first.
        declared: differences that are intended or accepted, names of networks, prices, the factor of the levels.
        wanted: what is printed and judged.
    """
    opened.without_collector()
    threshold = wanted.border
    one = len(runs) == 1 and not declared.factor
    found = _one(runs[0], declared) if one else _several(runs, declared, threshold)
    if wanted.as_json:
        output.print_json(_document(found))
    else:
        _print(found, everything=wanted.everything)
    singly = (side.run for side in found.sides.singly)
    unfinished = [run for run in singly if run.ending is None or run.ending.status != "complete"]
    for run in unfinished:
        status = run.ending.status if run.ending else "not ended"
        output.say(f"run {run.info.id} is {status}: cases that it did not measure are not compared")
    for run in found.sides.left_out:
        output.say(f"run {run.info.id} has no run of another level beside it in time: it is left out")
    for step in following(found.sides):
        output.say(f"{step.why} Next, in this order: {step.do}")
    if threshold is not None:
        _judge(gate(found.compared, threshold), unfinished, found.sides, wanted.junit)


def _document(found: _Found) -> Compared | ComparedToFirst:
    """The document for JSON, with the curves in numbers and in sentences."""
    sentences = tuple(each.text for each in statements(found.sides))
    shown = found.sides.found if found.sides.found.curves or found.sides.found.contrasts else None
    if len(found.compared) > 1:
        return ComparedToFirst(
            RESULT_SCHEMA, found.sides.found.runs, tuple(found.compared), shown, sentences, found.repeated
        )
    return ComparedRuns(
        **msgspec.structs.asdict(found.compared[0]),
        side_by_side=shown,
        statements=sentences,
        repetitions=found.repeated,
    )


def _print(found: _Found, *, everything: bool) -> None:
    """Print sentences and tables of the curves, and the rows of each run; for two runs, differences come first."""
    console = output.console()
    sides = _uncompared(found.sides, found.compared)

    def in_words() -> bool:
        for each in found.repeated:
            repetition_screen.conclusions(each, Screen(console), found.sides.runs)
        return terminal.render(sides, console)

    if len(found.compared) == 1:
        figure_rows.render(
            found.compared[0], console, everything=everything, curves=in_words, runs=found.sides.runs
        )
        return
    sentences = in_words()
    for compared in found.compared:
        console.print()
        figure_rows.render(
            compared, console, everything=everything, curves=lambda: sentences, runs=found.sides.runs
        )


def _uncompared(sides: Sides, compared: Sequence[Compared]) -> Sides:
    """The sides without the figures of the comparisons, which are shown with their verdicts."""
    shown = {(each.run, pair.a.id) for each in compared for pair in each.pairs}
    others = tuple(each for each in sides.found.shared if not shown & set(each.of))
    return msgspec.structs.replace(sides, found=msgspec.structs.replace(sides.found, shared=others))


def _one(reference: str, declared: Declared) -> _Found:
    """Compare the levels of one run."""
    if any(declared):
        raise UsageError(
            "--across, --allow, --as and --price are for two runs or more",
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
    return _Found([varied], shown)


def _several(runs: Sequence[str], declared: Declared, threshold: float | None) -> _Found:
    """Compare any number of runs with the first one.

    It is an error if no figure can be compared, unless curves can be and there is no threshold.
    """
    for name in declared.allowed:
        if name not in GUARDED:
            raise UsageError(f"'{name}' need not be allowed", why=f"known: {', '.join(GUARDED)}")
    loaded = [(reference, store.load(store.find(reference))) for reference in runs]
    base, *others = found = with_prices(loaded, declared.prices)
    if not declared.factor and all(run.info.id == base.info.id for run in others):
        # A run with itself has no curves beside each other.
        compared = against(others, base, declared, others_like(found))
        return _Found(compared, sides([base]))
    shown = sides(found, {}, declared, () if declared.factor else others_like(found))
    if threshold is not None or not shown.have_common:
        refuse_nothing(shown.compared)
    return _Found(list(shown.compared), shown, repetitions(shown, declared.names))


def others_like(runs: Sequence[Run]) -> list[Run]:
    """Other runs of these machines and studies in the same folders, which show how runs vary: the nearest in time.

    Those made between the runs that are compared do not count: the machine may have been changed there.
    """
    machines = {(run.plan.machine, run.plan.study) for run in runs if not run.imported}
    begun = [run.info.started for run in runs]
    paths = [Path(run.path) for run in runs if run.path]
    others = sorted(
        (each.started, folder / each.id)
        for folder in dict.fromkeys(path.resolve().parent for path in paths if path.is_dir())
        for each in store.listing(folder)
        if (each.machine, each.study) in machines and each.status in {"complete", "cut"}
    )
    before = [path for started, path in others if started < min(begun)]
    after = [path for started, path in others if started > max(begun)]
    return [store.load(path) for path in (*before[-_MOST_OTHERS:], *after[:_MOST_OTHERS])]


def _judge(found: Gate, unfinished: Sequence[Run], compared: Sides, junit: Path | None) -> None:
    """Raise the error for the exit code of a gate; name on stderr what failed and what is not decided.

    Raises:
        ThresholdError: a figure is certainly slower than the base by more than the border.
        PartialRunError: none is, but figures are not decided or could not be compared.
    """
    border, of = f"{100 * found.border:g} %", len(found.figures)
    if junit:
        written = topics.modules("exports")["junit"].judged(f"slower by more than {border}", found.decided())
        output.write(junit, written)
    failed, undecided = found.of("failed"), found.of("open", "missing")
    for each in (failed or undecided)[:_NAMED]:
        system = compared.label(each.run) if compared.factor else each.run
        output.say(f"{'slower' if failed else 'undecided'}: {system}: {each.name}: {each.words}")
    if failed:
        raise ThresholdError(
            f"{len(failed)} of {of} figures are slower by more than {border}",
            why=f"{failed[0].name}: by {100 * (1 - failed[0].speed_up[2]):.1f} % at least",
            remedy=cli("report", *(side.run.info.id for side in compared.singly), "--factor", compared.factor)
            if compared.factor
            else f"assay report {failed[0].run}",
        )
    if undecided:
        # A run of a level is not resumed: its machine has another level by now.
        run = unfinished[0].info.id if unfinished and not compared.factor else ""
        raise PartialRunError(
            f"no figure is certainly slower by more than {border}, but {len(undecided)} of {of} are not decided",
            why=f"{undecided[0].name}: {undecided[0].words}",
            remedy=f"assay run --resume {run}" if run else _deciding(found, undecided, compared),
        )
    if found.is_untested:
        why = "no figure has an interval: they need 6 blocks, or 4 launches in each of two runs, and samples"
        blocks = "; ".join(next_block(compared, side) for side in compared.sides[1:] if side.blocks)
        remedy = blocks or "assay run STUDY --launches 6"
        raise PartialRunError(f"nothing could be decided at {border}", why=why, remedy=remedy)
    output.say(f"no figure of {of} is slower by more than {border}")


def _deciding(found: Gate, undecided: Sequence[Judged], sides: Sides) -> str:
    """The next command for figures that are not decided."""
    compared = [each.pair.comparison for each in undecided if each.pair]
    more = further_launches(undecided, found.border)
    if more and sides.factor:
        block = next_block(sides, sides.by_run[undecided[0].run])
        return f"{block}; {count_of(more, 'block')} of these two runs; then compare again"
    if more:
        made = max((min(each.launches) for each in compared), default=0)
        return f"assay run STUDY --launches {made + more}; then compare again"
    if any(each.is_assumed for each in compared):
        return (
            f"assay run STUDY, {FEWEST_RUNS} times into this folder: they show how much runs vary; compare again"
        )
    return f"assay show {undecided[0].run}"
