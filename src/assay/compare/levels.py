"""Levels of whole runs, such as a BIOS profile: runs that alternate are compared as blocks of two neighbours."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.analyse.comparisons.judging import Pair, in_blocks
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.evidence import Evidence
from assay.analyse.statistics import median_interval
from assay.compare.environment import GUARDED, differences, refuse_undeclared
from assay.compare.meeting import Declared, Meeting, compared, judgeable, meet
from assay.model.compared import Compared, Difference
from assay.model.errors import UsageError
from assay.model.grouping import grouped
from assay.model.run import Run

#: Fewer blocks show nothing of how much they vary.
_FEWEST = 2
#: Settings that show the noise of a run, not its level.
_OF_NOISE = frozenset(("disturbed launches", "hand-over between cores", "status"))


class Alternation(NamedTuple):
    """Runs of two levels of a factor.

    Attributes:
        factor: name.
        level: that is judged.
        base: the other one.
        runs: judged run and base run of each block, in the order of time.
        alone: runs without a neighbour of the other level.
    """

    factor: str
    level: str
    base: str
    runs: tuple[tuple[Run, Run], ...]
    alone: tuple[Run, ...] = ()

    @property
    def following(self) -> tuple[str, str]:
        """The order of the levels in a further block: that which fewer blocks had."""
        first = sum(run.info.started < base.info.started for run, base in self.runs)
        return (self.level, self.base) if 2 * first <= len(self.runs) else (self.base, self.level)


def alternations(runs: Sequence[Run], factor: str) -> list[Alternation]:
    """Return the blocks of each level with the level of the first run named; the order of time makes them.

    Raises:
        UsageError: a run states no level, there is one level only, or the levels do not alternate.
    """
    for run in runs:
        if factor not in run.plan.levels:
            raise UsageError(
                f"run {run.info.id} does not state its level of '{factor}'",
                why=f"it states: {', '.join(run.plan.levels) or 'nothing'}",
                remedy=f"assay run {run.plan.study} --level {factor}=LEVEL",
            )
    base = runs[0].plan.levels[factor]
    ordered = sorted({run.info.id: run for run in runs}.values(), key=lambda run: run.info.started)
    levels = grouped(ordered, lambda run: run.plan.levels[factor])
    others = [level for level in levels if level != base]
    if not others:
        raise UsageError(
            f"all runs have the level {base} of '{factor}'",
            why="a comparison is of two levels",
            remedy=f"assay run {runs[0].plan.study} --level {factor}=OTHER",
        )
    return [_alternation(ordered, factor, level, base) for level in others]


def _alternation(ordered: Sequence[Run], factor: str, level: str, base: str) -> Alternation:
    of_both = [run for run in ordered if run.plan.levels[factor] in {level, base}]
    blocks: list[tuple[Run, Run]] = []
    alone: list[Run] = []
    while of_both:
        first, *rest = of_both
        if rest and rest[0].plan.levels != first.plan.levels:
            both = {run.plan.levels[factor]: run for run in (first, rest[0])}
            blocks.append((both[level], both[base]))
            of_both = rest[1:]
        else:
            alone.append(first)
            of_both = rest
    if len(blocks) < _FEWEST:
        order = [run for run in ordered if run.plan.levels[factor] in {level, base}]
        shown = " ".join(run.plan.levels[factor] for run in order)
        study, last = ordered[0].plan.study, order[-1]
        own = last.plan.levels[factor]
        other = base if own == level else level
        missing = (other,) if any(last is run for run in alone) else (own, other)
        raise UsageError(
            f"the levels of '{factor}' do not alternate: {shown}",
            why="what changes with time would count as the level; two runs of each are needed, in turn",
            remedy="; then ".join(f"assay run {study} --level {factor}={each}" for each in missing),
        )
    return Alternation(factor, level, base, tuple(blocks), tuple(alone))


def by_level(found: Alternation, evidence: Mapping[str, Evidence]) -> Compared:
    """Return the comparison of two levels: each figure by the values of its runs, block by block.

    Args:
        found: the blocks.
        evidence: by the id of a run.

    Raises:
        UsageError: two runs of one level differ in a guarded kind.
    """
    for of in zip(*found.runs, strict=True):
        for run in of[1:]:
            refuse_undeclared(differences(run, of[0]), ())
    declared = Declared(found.factor, GUARDED)
    meetings = [meet(evidence[run.info.id], evidence[base.info.id], declared) for run, base in found.runs]
    both: dict[tuple[str, str], list[tuple[int, Pair]]] = {}
    for block, meeting in enumerate(meetings):
        for pair in {each.key: each for each in judgeable(meeting)}.values():
            both.setdefault(pair.key, []).append((block, pair))
    pairs = {key: _pair(found, of) for key, of in both.items()}
    judged = dict(zip(pairs, in_blocks(list(pairs.values())), strict=True))
    last: Meeting = meetings[-1]
    met = tuple(pairs.get(pair.key, pair) for pair in last.met)
    shown = last._replace(met=met, differences=_between(found), declared=Declared(found.factor))
    blocks = tuple((run.info.id, base.info.id) for run, base in found.runs)
    return msgspec.structs.replace(compared(shown, judged), blocks=blocks)


def _pair(found: Alternation, of: Sequence[tuple[int, Pair]]) -> Pair:
    """Two figures whose launches are whole runs."""
    a, b = (_of_runs([(block, pair.a) for block, pair in of]), _of_runs([(block, pair.b) for block, pair in of]))
    return Pair(a, b, found.factor, found.level, found.base, varied=True)


def _of_runs(of: Sequence[tuple[int, Measured]]) -> Measured:
    """A figure whose launches are the values of runs."""
    last = of[-1][1].estimate
    values = [(block, each.estimate.median) for block, each in of]
    launches = tuple(LaunchMedian(block, last.state, value) for block, value in values if value is not None)
    value = median_interval([each.value for each in launches], last.unit) if launches else None
    return Measured(msgspec.structs.replace(last, value=value, launches=len(launches)), launches)


def _between(found: Alternation) -> tuple[Difference, ...]:
    """What differs between the levels in all of their runs."""
    met = [differences(run, base) for run, _ in found.runs for _, base in found.runs]
    values = [{(each.kind, each.name): each for each in of} for of in met]
    common = [key for key in values[0] if key[1] not in _OF_NOISE and all(key in of for of in values)]
    return tuple(
        Difference(*key, *(", ".join(dict.fromkeys(getattr(of[key], side) for of in values)) for side in "ab"))
        for key in common
    )
