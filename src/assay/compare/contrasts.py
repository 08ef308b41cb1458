"""Figures on no curve: those that several runs share, and the widest contrasts of one part."""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from assay.analyse import matching
from assay.analyse.curves import is_headline
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence
from assay.catalogue import benchmarks
from assay.compare.pairs import Judged
from assay.compare.records import PLACE, PROGRAM, RUN, Contrast, Curve
from assay.model import roles
from assay.model.grouping import grouped
from assay.model.imported import RANGE_END, UNSTATED
from assay.model.measurand import COUNTS, PLACEMENT, QUANTITY, matches
from assay.model.result import Estimate
from assay.model.role_words import usual_axes
from assay.report import messages
from assay.report.statements import NO_SPEED

_BYTES, _PATTERN = usual_axes("message-size", "message-pattern")
#: What contrasts differ in, if that is several parts.
_TOGETHER = {
    PLACE: PLACEMENT,
    "nodes": COUNTS | {"nodes"},
    "ranks": COUNTS,
    _PATTERN: frozenset((_PATTERN, "direction")),
}
#: Parts that no contrast differs in.
_FIXED = frozenset((*QUANTITY, *PLACEMENT, "version", RANGE_END, _BYTES, _PATTERN))
#: Parts in which two programs that pass messages differ by their nature.
_OF_PROGRAMS = frozenset(("program", "version", "kernel", "mpi"))


class _Figure(NamedTuple):
    """A figure with its run."""

    run: str
    measured: Measured

    @property
    def estimate(self) -> Estimate:
        return self.measured.estimate

    @property
    def program(self) -> str:
        """The benchmark of its case; the estimate has another one if no section can place it."""
        return self.estimate.measurand.program

    @property
    def label(self) -> str:
        return self.estimate.placement.label

    @property
    def value(self) -> float:
        return self.estimate.median or 0.0

    @property
    def topic(self) -> tuple[str | bool, ...]:
        """What is counted. The end of a range is not comparable with a plain figure."""
        found = self.estimate.measurand
        return self.program, found.metric, found.unit, RANGE_END in found.parts

    @property
    def has_size(self) -> bool:
        return _BYTES in self.estimate.params

    def level(self, differ: str) -> str:
        """Its value of a part, or its place."""
        parts = self.estimate.measurand.usual | self.estimate.measurand.parts
        return self.label if differ == PLACE else parts.get(differ, UNSTATED)


class _Group(NamedTuple):
    """Figures that differ in one part; see `Contrast`."""

    differ: str
    figures: Sequence[_Figure]

    def record(self) -> Contrast:
        return Contrast(self.differ, tuple((each.run, each.estimate.id) for each in self.figures), self.is_exact)

    @property
    def is_exact(self) -> bool:
        first, *others = (each.estimate.factors for each in self.figures)
        return self.differ != RUN or all(each == first for each in others)


class Shared(NamedTuple):
    """A figure on no curve that several runs have: of each, in their order."""

    figures: tuple[_Figure, ...]

    @property
    def pairs(self) -> list[tuple[str, Measured, str, Measured]]:
        """Each figure with its run, then the first one with its run."""
        first, *others = self.figures
        return [(each.run, each.measured, first.run, first.measured) for each in others]

    def record(self, judged: Judged) -> Contrast:
        """Return it with its comparisons."""
        comparisons = {
            run: found
            for run, one, base, first in self.pairs
            if (found := judged.get((run, one.estimate.id, base, first.estimate.id)))
        }
        return msgspec.structs.replace(_Group(RUN, self.figures).record(), comparisons=comparisons)


def shared(sides: Sequence[Evidence], curves: Sequence[Curve], across: str = "") -> list[Shared]:
    """Return the figures on no curve that two runs or more have, with the same factors; see `matching`."""
    groups: list[dict[str, _Figure]] = []
    for side in sides:
        # Of several hosts, or states of the machine, the first one stands for all.
        by_measurand = grouped(_off_curves(side, curves), lambda each: each.estimate.measurand.key)
        own = [of[0] for of in by_measurand.values()]
        firsts = [next(iter(group.values())) for group in groups]
        left = dict.fromkeys(range(len(own)))
        for one, first in _matching(own, firsts, across):
            same_factors = own[one].estimate.factors == firsts[first].estimate.factors
            if same_factors and one in left and side.run.info.id not in groups[first]:
                groups[first][side.run.info.id] = own[one]
                del left[one]
        groups += [{own[at].run: own[at]} for at in left]
    return [Shared(tuple(group.values())) for group in groups if len(group) > 1]


def _matching(ones: Sequence[_Figure], others: Sequence[_Figure], across: str = "") -> list[tuple[int, int]]:
    """The figures that are compared, as positions in both."""
    found = matching.pairs([each.measured for each in ones], [each.measured for each in others], across)
    return [(one, other) for one, other in found if _has_one_name(ones[one], others[other])]


def _has_one_name(one: _Figure, other: _Figure) -> bool:
    """Whether one name is right for both: no end of a range, and no other number of cores under another word."""
    if one.topic != other.topic:
        return False
    parts = matches(one.estimate.measurand, other.estimate.measurand).parts
    return one.label == other.label or not any(part.name in COUNTS for part in parts)


def contrasts(sides: Sequence[Evidence], curves: Sequence[Curve]) -> list[Contrast]:
    """Return the widest contrast of each kind of figure for each part.

    Contrasts between runs come first, then rates and times, then other figures; the widest of each first.

    All contrasts have an imported run on at least one side. Figures that were measured here are compared by their
    launches instead.
    """
    figures = [[each for each in _off_curves(side, curves) if each.value > 0] for side in sides]
    foreign = [bool(side.run.imported) for side in sides]
    found = [group for of, is_foreign in zip(figures, foreign, strict=True) if is_foreign for group in _within(of)]
    for of, is_foreign in zip(figures[1:], foreign[1:], strict=True):
        if foreign[0] or is_foreign:
            both = [(of[one], figures[0][base]) for one, base in _matching(of, figures[0])]
            found += [_Group(RUN, pair) for pair in _widest(both, by_place=True)]
    ordered = [each._replace(figures=sorted(each.figures, key=lambda one: -one.value)) for each in found]
    return [each.record() for each in sorted(ordered, key=_order)]


def _order(group: _Group) -> tuple[bool, bool, float]:
    """The place of a contrast in the list: sizes, distances, shares and ratios come last."""
    first, last = group.figures[0], group.figures[-1]
    return group.differ != RUN, first.estimate.unit in NO_SPEED, -math.log(first.value / last.value)


def _off_curves(side: Evidence, curves: Sequence[Curve]) -> list[_Figure]:
    """Return the headline figures of a run that are on none of these curves."""
    run = side.run.info.id
    on_curves = {name for curve in curves if curve.run == run for name in curve.of}
    return [
        _Figure(run, each)
        for each in side.measured
        for e in [each.estimate]
        if e.median is not None and e.id not in on_curves and is_headline(e) and not side.bounds.is_refused(e)
    ]


def _within(figures: Sequence[_Figure]) -> Iterator[_Group]:
    """Contrasts in one run: figures that differ in the place, in one part, or in the program."""
    parts = dict.fromkeys(name for each in figures for name in each.estimate.measurand.parts if name not in _FIXED)
    for differ in (*_TOGETHER, *parts):
        yield from (_Group(differ, of) for of in _widest(_differing(figures, differ)))
    yield from _programs(figures)


def _differing(figures: Sequence[_Figure], differ: str) -> Iterator[Sequence[_Figure]]:
    """Groups of figures that differ only in this; each level once."""
    names = _TOGETHER.get(differ, {differ})
    having = [each for each in figures if each.level(differ) != UNSTATED]

    def rest(each: _Figure) -> Hashable:
        return "" if differ == PLACE else each.label, matching.rest(each.estimate, names)

    for group in grouped(having, rest).values():
        levels = grouped(group, lambda each: each.level(differ))
        if len(levels) > 1:
            yield [of[0] for of in levels.values()]


def _widest(groups: Iterable[Sequence[_Figure]], *, by_place: bool = False) -> list[Sequence[_Figure]]:
    """Return the most significant group of each topic (and place)."""
    topics = grouped(groups, lambda group: (*group[0].topic, group[0].label if by_place else ""))
    return [max(of, key=_weight) for of in topics.values()]


def _weight(group: Sequence[_Figure]) -> tuple[bool, int, float, float]:
    """The significance of a group in its topic: the last kernel first, then more levels, the size, the width."""
    first = group[0].estimate
    size = float(first.params.get(_BYTES, 0))
    values = [each.value for each in group]
    return (
        first.kernel in first.declared.kernels[-1:],
        len(group),
        size if first.better == "higher" else -size,
        math.log(max(values) / min(values)),
    )


def _programs(figures: Sequence[_Figure]) -> Iterator[_Group]:
    """MPI and TCP sockets between the same partners, and the copy rate that bounds messages inside a node."""
    passed = (each for each in figures if each.program in messages.BY)
    for group in grouped(passed, lambda each: each.estimate.measurand.stated(_OF_PROGRAMS)).values():
        programs = [of[0] for of in grouped(group, lambda each: each.program).values()]
        if len(programs) > 1:
            yield _Group(PROGRAM, [*programs, *_copies(figures, programs[0])])


def _copies(figures: Iterable[_Figure], message: _Figure) -> list[_Figure]:
    """Return the copy rate to compare messages inside a node with, if possible of buffers beyond the caches."""
    if message.estimate.placement.nodes > 1 or message.has_size:
        return []
    copies = [
        each
        for each in figures
        if each.estimate.measurand.role == "copy-rate"
        and each.estimate.metric == message.estimate.metric
        and not each.has_size
    ]
    beyond = [
        each
        for each in copies
        if roles.has_level(benchmarks.of(each.program), each.estimate.params, "beyond-caches")
    ]
    return (beyond or copies)[-1:]
