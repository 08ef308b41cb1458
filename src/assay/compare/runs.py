"""Comparisons of runs, and of levels inside one run: named by all who find pairs, and judged once."""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.analyse import examine_together, imported, matching, states, taken
from assay.analyse.comparisons.judging import Pair, between_runs, in_blocks
from assay.analyse.curves import is_headline
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence
from assay.analyse.history import BetweenRuns, History, RunLogs, logs
from assay.compare import levels
from assay.compare.analysis import named, side_by_side
from assay.compare.environment import GUARDED, differences, is_one_machine
from assay.compare.meeting import NOTHING, Declared, Meeting, compared, judgeable, meet
from assay.compare.records import PLACE, SideBySide
from assay.model.compared import Compared, ComparedPair, Taken
from assay.model.comparison import Comparison
from assay.model.errors import UsageError
from assay.model.grouping import grouped
from assay.model.imported import RANGE_END
from assay.model.measurand import PLACEMENT
from assay.model.result import RESULT_SCHEMA, Analysis
from assay.model.run import Run


class NothingInCommonError(UsageError):
    """The runs share no figure that can be compared."""


def within(run: Run, analysis: Analysis) -> Compared:
    """Return the comparisons of one run; the estimate of a control is that of the case that it repeats."""
    estimates = {each.id: each for each in analysis.estimates}
    pairs = tuple(
        ComparedPair(estimates.get(each.a, estimates[each.b]), estimates[each.b], each)
        for each in analysis.comparisons
        if each.b in estimates and not (run.imported and each.differ == RANGE_END)
    )
    pairs += tuple(_places(imported.measured(run, run.imported))) if run.imported else ()
    cases = {case.id for case in run.plan.cases if case.factors}
    missing = {
        each.case: each.reason for each in analysis.outcomes if each.case in cases and each.status != "complete"
    }
    return Compared(RESULT_SCHEMA, run.info.id, "", "", (), (), pairs, missing)


def _places(measured: Sequence[Measured]) -> Iterator[ComparedPair]:
    """The same figure at two places of an import; the earlier one is the base."""
    figures = (each for each in measured if each.launches and is_headline(each.estimate))
    groups = grouped(figures, lambda each: matching.rest(each.estimate, PLACEMENT))
    both = [pair for group in groups.values() for pair in itertools.combinations(group, 2)]
    pairs = [
        Pair(one, base, PLACE, one.estimate.placement.label, base.estimate.placement.label) for base, one in both
    ]
    for pair, comparison in zip(pairs, in_blocks(pairs), strict=True):
        if comparison:
            yield ComparedPair(pair.a.estimate, pair.b.estimate, comparison)


class Together(NamedTuple):
    """Runs that are compared with the first one.

    Attributes:
        evidence: of each run.
        compared: each other run with the first, figure by figure; none for a single run.
        found: their curves and other figures side by side, with the same comparisons.
        networks: which were taken for which; see `taken.renamed_sides`.
        left_out: runs that are in no block of levels of whole runs.
    """

    evidence: list[Evidence]
    compared: list[Compared]
    found: SideBySide
    networks: tuple[tuple[int, int, Taken], ...]
    left_out: Sequence[Run] = ()


def together(
    runs: Sequence[Run],
    declared: Declared = NOTHING,
    earlier: Collection[Run] = (),
    given: Mapping[str, float] = {},
) -> Together:
    """Compare runs with the first one. All who find pairs name them, then each two runs are judged as one family.

    Args:
        runs: the base first.
        declared: differences that are intended or accepted.
        earlier: other runs. Those of the same machine and programs, made before or after the two that are
            compared, show the variance from run to run.
        given: limits that the user states; see `assay.analyse.analyse`.

    Raises:
        UsageError: a guarded kind differs and was not declared; `across` names nothing; levels of whole runs do
            not alternate.
    """
    evidence, left_out = examine_together(runs, borders(runs), given), list[Run]()
    if declared.factor:
        if any(declared[:3]):
            why = "whatever differs between the levels belongs to them, and is shown"
            raise UsageError("--across, --allow and --as do not go with --factor", why=why)
        evidence, left_out = levels.pooled(evidence, declared.factor)
    sides, networks = taken.renamed_sides(evidence, declared.names)
    pairs = named(sides, declared.factor)
    base, *others = evidence
    declared = declared._replace(several=len(others) > 1, across=declared.factor or declared.across)
    judged: dict[tuple[str, str, str, str], Comparison | None] = {}
    found = []
    for each in others:
        meeting = meet(each, base, declared)
        own = {pair.key: pair for pair in reversed(judgeable(meeting))}
        for pair in pairs.between(*meeting.ids):
            # Measured figures at the same place that are not compared here differ in their state or quantity.
            if meeting.is_foreign or not pair.exact:
                own.setdefault((pair.a.estimate.id, pair.b.estimate.id), meeting.pair(pair.a, pair.b))
        results = dict(zip(own, _judged(meeting, list(own.values()), earlier), strict=True))
        judged |= {(meeting.ids[0], a, meeting.ids[1], b): result for (a, b), result in results.items()}
        found.append(compared(meeting, results))
    for side in sides:
        judged |= _within(side, pairs.inside(side.run.info.id))
    return Together(sides, found, side_by_side(sides, pairs, judged), networks, left_out)


def _judged(meeting: Meeting, pairs: Sequence[Pair], earlier: Collection[Run]) -> list[Comparison | None]:
    """The comparisons of pairs of two runs, or of two levels of whole runs; an id is unique among all runs."""
    run, base = meeting.run.run, meeting.base.run
    found = in_blocks(pairs) if meeting.run.blocks else between_runs(pairs, varying(run, base, earlier))
    return [
        each and msgspec.structs.replace(each, id=f"{run.info.id} {each.a} : {base.info.id} {each.b}")
        for each in found
    ]


def borders(runs: Sequence[Run]) -> list[float | None]:
    """The border between near and far of each run; near and far mean the same in all runs of one machine."""
    base = runs[0]
    alike = [run is base or (not run.imported and is_one_machine(differences(run, base))) for run in runs]
    if base.imported:
        return [states.border(run) for run in runs]
    launches = tuple(each for run, like in zip(runs, alike, strict=True) if like for each in run.launches)
    joint = states.border(msgspec.structs.replace(base, launches=launches))
    return [
        joint or states.border(run) if like else states.border(run) for run, like in zip(runs, alike, strict=True)
    ]


def _within(side: Evidence, pairs: Sequence[Pair]) -> dict[tuple[str, str, str, str], Comparison | None]:
    """The comparisons of pairs of one run: those that its analysis has, and new ones, a family each two levels."""
    run = side.run.info.id
    known = {(each.comparison.a, each.comparison.b): each.comparison for each in side.pairs}
    known |= {(b, a): each.inverse() for (a, b), each in list(known.items()) if (b, a) not in known}
    new = {pair.key: pair for pair in pairs if pair.key not in known}
    found = dict(zip(new, in_blocks(list(new.values())), strict=True))
    return {(run, a, run, b): known.get((a, b)) or found.get((a, b)) for a, b in (pair.key for pair in pairs)}


def between(run: Run, base: Run, declared: Declared = NOTHING) -> Compared:
    """Compare one run with the base; see `against`."""
    return against([run], base, declared)[0]


def against(
    runs: Sequence[Run], base: Run, declared: Declared = NOTHING, earlier: Collection[Run] = ()
) -> list[Compared]:
    """Compare the headline figures of each run with those of the base; see `together`.

    Raises:
        NothingInCommonError: no figure can be compared.
    """
    found = together([base, *runs], declared, earlier).compared
    refuse_nothing(found)
    return found


def refuse_nothing(found: Sequence[Compared]) -> None:
    """Raise NothingInCommonError if no figure of any run is compared."""
    if any(each.pairs for each in found):
        return
    runs = [each.run for each in found]
    first = next(iter(found[0].uncompared.items()), ("nothing", "neither run has a figure"))
    raise NothingInCommonError(
        f"the {'two ' if len(runs) == 1 else ''}runs have nothing in common that could be compared",
        why=f"{first[0]}: {first[1]}",
        remedy=f"assay show {runs[0]}; assay show {found[0].base}",
    )


def is_like(run: Run, other: Run) -> bool:
    """Whether two runs have the same machine and programs: no difference forbids a comparison."""
    return bool(run.launches and other.launches) and not any(
        each.kind in GUARDED for each in differences(run, other)
    )


#: Another run, and whether it was made after the two that are compared.
_Around = tuple[Run, bool]


def _around(compared: tuple[Run, Run], others: Iterable[Run]) -> list[_Around]:
    """The runs that were made before both of two runs, or after both: the machine may have changed in between."""
    begun = [run.info.started for run in compared]
    ids = {run.info.id for run in compared}
    apart = (each for each in others if each.info.id not in ids)
    outside = (each for each in apart if not min(begun) <= each.info.started <= max(begun))
    return [(each, each.info.started > max(begun)) for each in outside]


def varying(run: Run, base: Run, earlier: Collection[Run]) -> BetweenRuns:
    """Return how the figures of two runs vary from run to run, as other runs of their machines show it."""
    around = _around((run, base), earlier)
    of_base = history_of(base, around)
    of_run = of_base if is_like(run, base) else history_of(run, around)
    return BetweenRuns(of_run, of_base, day_of(run) == day_of(base))


def history_of(run: Run, around: Iterable[_Around]) -> History:
    """Return the variance between other runs with the machine and programs of this run."""
    return History(run_logs(each, is_later=is_later) for each, is_later in around if is_like(run, each))


def run_logs(run: Run, *, is_later: bool = False) -> RunLogs:
    """Return the headline figures of the launches of a run, as logarithms."""
    (evidence,) = examine_together([run], [states.border(run)])
    found = [each for each in evidence.singly if is_headline(each.estimate)]
    return RunLogs(
        run.info.id,
        day_of(run),
        {each.estimate.id: logs([launch.value for launch in each.launches]) for each in found if each.launches},
        {each.estimate.id: (each.estimate.benchmark, each.estimate.placement.label) for each in found},
        is_later,
    )


def day_of(run: Run) -> str:
    """Return the date on which it began, UTC."""
    return run.info.started[: len("2000-01-01")]


def unjudged(compared: Compared) -> dict[str, str]:
    """Return the figures of the base (in one run: planned cases) that were not compared, with the reason."""
    return {name: why for name, why in compared.uncompared.items() if name not in compared.new}
