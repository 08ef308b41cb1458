"""Figures on no curve: those that several runs share, and the widest contrasts of one word."""

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.analyse.comparisons.pairing import MEMORY
from assay.analyse.curves import is_headline
from assay.analyse.evidence import Evidence
from assay.compare.curves import chosen, policy
from assay.compare.records import PLACE, PROGRAM, RUN, Contrast, Curve
from assay.compare.yardsticks import NO_SPEED
from assay.model import roles
from assay.model.declaration import Declaration, ParamValue
from assay.model.grouping import grouped
from assay.model.imported import RANGE_END, UNSTATED
from assay.model.result import Estimate
from assay.model.role_words import USUAL_AXES
from assay.report import messages

_BYTES = USUAL_AXES["message-size"]


class _Figure(NamedTuple):
    """A figure with the benchmark of its case and the words in which it may differ from others."""

    run: str
    estimate: Estimate
    declared: Declaration
    words: Mapping[str, ParamValue]

    @property
    def benchmark(self) -> str:
        """The benchmark of its case; the estimate has another one if no section can place it."""
        return self.declared.name

    @property
    def label(self) -> str:
        return self.estimate.placement.label

    @property
    def value(self) -> float:
        return self.estimate.median or 0.0

    @property
    def kind(self) -> tuple[str | bool, ...]:
        return *self.topic, self.estimate.kernel

    @property
    def topic(self) -> tuple[str | bool, ...]:
        """What is counted. The end of a range is not comparable with a plain figure."""
        return self.benchmark, self.estimate.metric, self.estimate.unit, RANGE_END in self.words

    def but(self, *names: str) -> Hashable:
        """Return its words without these names."""
        return frozenset(item for item in self.words.items() if item[0] not in names)


class _Group(NamedTuple):
    """Figures that differ in one word; see `Contrast`."""

    differ: str
    figures: Sequence[_Figure]
    exact: bool = True

    def record(self) -> Contrast:
        return Contrast(self.differ, tuple((each.run, each.estimate.id) for each in self.figures), self.exact)


def shared(sides: Sequence[Evidence], curves: Sequence[Curve]) -> list[Contrast]:
    """Return figures of two runs or more with equal benchmark, kernel, place, memory, chosen axes and factors."""
    found = []
    every = itertools.chain.from_iterable(_off_curves(side, curves) for side in sides)
    for group in grouped(every, lambda each: (each.kind, each.label, each.but())).values():
        firsts = [next(of) for _, of in itertools.groupby(group, lambda each: each.run)]
        found += [_Group(RUN, firsts).record()] if len(firsts) > 1 else []
    return found


def contrasts(sides: Sequence[Evidence], curves: Sequence[Curve]) -> list[Contrast]:
    """Return the widest contrast of each kind of figure for each word.

    Contrasts between runs come first, then rates and times, then other figures; the widest of each first.

    All contrasts have an imported run on at least one side. Figures that were measured here are compared by their
    launches instead.
    """
    figures = [[each for each in _off_curves(side, curves) if each.value > 0] for side in sides]
    foreign = [bool(side.run.imported) for side in sides]
    found = [group for of, is_foreign in zip(figures, foreign, strict=True) if is_foreign for group in _within(of)]
    for of, is_foreign in zip(figures[1:], foreign[1:], strict=True):
        if foreign[0] or is_foreign:
            found += _across(figures[0], of)
    ordered = [each._replace(figures=sorted(each.figures, key=lambda one: -one.value)) for each in found]
    return [each.record() for each in sorted(ordered, key=_order)]


def _order(group: _Group) -> tuple[bool, bool, float]:
    """The place of a contrast in the list: sizes, distances, shares and ratios come last."""
    first, last = group.figures[0], group.figures[-1]
    return group.differ != RUN, first.estimate.unit in NO_SPEED, -math.log(first.value / last.value)


def _off_curves(side: Evidence, curves: Sequence[Curve]) -> list[_Figure]:
    """Return the headline figures of a run that are on none of these curves.

    Their words are the memory policy, factors, and chosen params, also numbers that are not an axis of ours.
    """
    run = side.run.info.id
    on_curves = {name for curve in curves if curve.run == run for name in curve.of}
    declared = {case.id: side.run.plan.declared(case.benchmark) for case in side.run.plan.cases}
    return [
        _Figure(run, e, declared[e.case], {MEMORY: policy(e), **chosen(e), **e.factors})
        for e in (each.estimate for each in side.measured)
        if e.median is not None and e.id not in on_curves and is_headline(e) and not side.bounds.is_refused(e)
    ]


def _within(figures: Sequence[_Figure]) -> Iterator[_Group]:
    """Contrasts in one run: figures that differ in the place, in one word, or in the program."""
    words = dict.fromkeys(name for each in figures for name in each.words if name not in {RANGE_END, _BYTES})
    for differ in (PLACE, *words):
        yield from (_Group(differ, of) for of in _widest(_differing(figures, differ)))
    yield from _programs(figures)


def _differing(figures: Sequence[_Figure], differ: str) -> Iterator[Sequence[_Figure]]:
    """Groups of figures that differ only in this word; each level once."""

    def level(each: _Figure) -> ParamValue | None:
        return each.label if differ == PLACE else each.words.get(differ)

    def rest(each: _Figure) -> Hashable:
        place = "" if differ == PLACE else each.label
        return each.kind, each.but(differ), len(each.estimate.placement.hosts), place

    having = [each for each in figures if level(each) not in {None, UNSTATED}]
    for group in grouped(having, rest).values():
        levels = grouped(group, level)
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
    passed = (each for each in figures if each.benchmark in messages.BY)
    for group in grouped(passed, lambda each: (each.estimate.metric, each.label, each.but())).values():
        programs = [of[0] for of in grouped(group, lambda each: each.benchmark).values()]
        if len(programs) > 1:
            yield _Group(PROGRAM, [*programs, *_copies(figures, programs[0])])


def _copies(figures: Iterable[_Figure], message: _Figure) -> list[_Figure]:
    """Return the copy rate to compare messages inside a node with, if possible of buffers beyond the caches."""
    if message.estimate.placement.nodes > 1 or _BYTES in message.words:
        return []
    copies = [
        each
        for each in figures
        if "copy-rate" in {metric.role for metric in each.declared.metrics}
        and each.estimate.metric == message.estimate.metric
        and _BYTES not in each.words
    ]
    beyond = [each for each in copies if roles.has_level(each.declared, each.words, "beyond-caches")]
    return (beyond or copies)[-1:]


def _across(base: Sequence[_Figure], judged: Sequence[_Figure]) -> Iterator[_Group]:
    """Contrasts between two runs, one for each topic and place.

    The figures have the same words; else the same words without factors; else the words of one source are a part
    of those of the other.
    """
    found: dict[Hashable, _Group] = {}
    for one, other in _best_pairs(base, judged, lambda _: None):
        words = [set(each.words.items()) for each in (one, other)]
        if words[0] <= words[1] or words[1] <= words[0]:
            found[*one.topic, one.label] = _Group(RUN, (one, other), exact=False)
    without_factors = _best_pairs(base, judged, lambda each: each.but(*each.estimate.factors))
    for exact, pairs in ((False, without_factors), (True, _best_pairs(base, judged, _Figure.but))):
        for pair in _widest(pairs, by_place=True):
            found[*pair[0].topic, pair[0].label] = _Group(RUN, pair, exact)
    yield from found.values()


def _best_pairs(
    base: Sequence[_Figure], judged: Sequence[_Figure], words: Callable[[_Figure], Hashable]
) -> list[tuple[_Figure, _Figure]]:
    """Return the best figures of both runs with the same kind, place and `words`."""

    def best(of: Sequence[_Figure]) -> _Figure:
        return max(of, key=lambda each: each.estimate.merit)

    ones, others = (grouped(of, lambda each: (each.kind, each.label, words(each))) for of in (base, judged))
    return [(best(of), best(others[key])) for key, of in ones.items() if key in others]
