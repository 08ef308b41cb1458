"""Figures on no curve: those that several runs have, and the widest of those that differ in one word."""

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.analyse.comparisons.pairing import MEMORY, headline
from assay.analyse.evidence import Evidence
from assay.compare.curves import chosen, policy, program
from assay.compare.records import PLACE, PROGRAM, RUN, Contrast, Curve
from assay.compare.yardsticks import NO_SPEED
from assay.model import benchmarks, roles
from assay.model.benchmark import ParamValue
from assay.model.grouping import grouped
from assay.model.imported import RANGE_END, UNSTATED
from assay.model.result import Estimate

_BYTES = roles.usual_axis("message-size")


class _Figure(NamedTuple):
    """A figure with the benchmark that it was taken for and the words that may tell it from others."""

    run: str
    estimate: Estimate
    benchmark: str
    words: Mapping[str, ParamValue]

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
        """What is counted; the end of a range is another thing than a plain figure."""
        return self.benchmark, self.estimate.metric, RANGE_END in self.words

    def but(self, *names: str) -> Hashable:
        """Its words without these."""
        return frozenset(item for item in self.words.items() if item[0] not in names)


class _Group(NamedTuple):
    """Figures that one word tells apart; see `Contrast`."""

    differ: str
    figures: Sequence[_Figure]
    exact: bool = True

    def record(self) -> Contrast:
        return Contrast(self.differ, tuple((each.run, each.estimate.id) for each in self.figures), self.exact)


def shared(sides: Sequence[Evidence], curves: Sequence[Curve]) -> list[Contrast]:
    """Figures of at least two runs that agree in benchmark, kernel, place, memory, chosen axes and factors."""
    found = []
    every = itertools.chain.from_iterable(_off_curves(side, curves) for side in sides)
    for group in grouped(every, lambda each: (each.kind, each.label, each.but())).values():
        firsts = [next(of) for _, of in itertools.groupby(group, lambda each: each.run)]
        found += [_Group(RUN, firsts).record()] if len(firsts) > 1 else []
    return found


def contrasts(sides: Sequence[Evidence], curves: Sequence[Curve]) -> list[Contrast]:
    """Of each kind of figure the widest contrast for each word.

    Those between runs come first, then rates and times before other figures, and of these the widest.

    Within a run these are figures that nobody here measured: what was measured is compared by blocks. Between two
    runs one side at least was not measured here: of two that were, launches tell what may be claimed.
    """
    known = [[each for each in _off_curves(side, curves) if each.value > 0] for side in sides]
    foreign = [bool(side.run.imported) for side in sides]
    found = [group for of, other in zip(known, foreign, strict=True) if other for group in _within(of)]
    for of, other in zip(known[1:], foreign[1:], strict=True):
        if foreign[0] or other:
            found += _across(known[0], of)
    ordered = [each._replace(figures=sorted(each.figures, key=lambda one: -one.value)) for each in found]
    return [each.record() for each in sorted(ordered, key=_order)]


def _order(group: _Group) -> tuple[bool, bool, float]:
    """Sizes, distances, shares and ratios of others come last."""
    first, last = group.figures[0], group.figures[-1]
    return group.differ != RUN, first.estimate.unit in NO_SPEED, -math.log(first.value / last.value)


def _off_curves(side: Evidence, curves: Sequence[Curve]) -> list[_Figure]:
    """Headline figures of a run that lie on none of these curves.

    Their words are factors, and params that were chosen: numbers too that are no axis of ours.
    """
    run = side.run.info.id
    on_curves = {name for curve in curves if curve.run == run for name in curve.of}
    taken_for = {case.id: case.benchmark for case in side.run.plan.cases}
    return [
        _Figure(run, e, taken_for[e.case], {MEMORY: policy(e), **chosen(e), **e.factors})
        for e in (each.estimate for each in side.measured)
        if e.median is not None and e.id not in on_curves and headline(e) and not side.bounds.is_refused(e)
    ]


def _within(figures: Sequence[_Figure]) -> Iterator[_Group]:
    """Of one run, those that differ in the place, in one word, or in the program."""
    words = dict.fromkeys(name for each in figures for name in each.words if name not in {RANGE_END, _BYTES})
    for differ in (PLACE, *words):
        yield from (_Group(differ, of) for of in _widest(_differing(figures, differ)))
    yield from _programs(figures)


def _differing(figures: Sequence[_Figure], differ: str) -> Iterator[Sequence[_Figure]]:
    """Figures that are alike but in this word; each of its levels once."""

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
    """Of each topic (and place) the group that says most."""
    topics = grouped(groups, lambda group: (*group[0].topic, group[0].label if by_place else ""))
    return [max(of, key=_weight) for of in topics.values()]


def _weight(group: Sequence[_Figure]) -> tuple[bool, int, float, float]:
    """What makes one contrast of a topic say more than another: the telling kernel, levels, size, width."""
    first = group[0].estimate
    size = float(first.params.get(_BYTES, 0))
    values = [each.value for each in group]
    return (
        first.kernel in benchmarks.of(first.benchmark).kernels[-1:],
        len(group),
        size if first.better == "higher" else -size,
        math.log(max(values) / min(values)),
    )


def _programs(figures: Sequence[_Figure]) -> Iterator[_Group]:
    """MPI and plain sockets between the same partners, and the copies that messages inside a node are at best."""
    passed = (each for each in figures if program(each.benchmark))
    for group in grouped(passed, lambda each: (each.estimate.metric, each.label, each.but())).values():
        programs = [of[0] for of in grouped(group, lambda each: each.benchmark).values()]
        if len(programs) > 1:
            yield _Group(PROGRAM, [*programs, *_copies(figures, programs[0])])


def _copies(figures: Iterable[_Figure], message: _Figure) -> list[_Figure]:
    """The copy that messages inside a node of no stated size stand against: one that no cache helps, if any is."""
    if message.estimate.placement.nodes > 1 or _BYTES in message.words:
        return []
    ours = {of.name for of in roles.measuring("copy-rate")}
    copies = [
        each
        for each in figures
        if each.benchmark in ours and each.estimate.metric == message.estimate.metric and _BYTES not in each.words
    ]
    beyond = [each for each in copies if roles.has_level(each.benchmark, each.words, "beyond-caches")]
    return (beyond or copies)[-1:]


def _across(base: Sequence[_Figure], judged: Sequence[_Figure]) -> Iterator[_Group]:
    """Of two runs figures of the same kind, place and words; else the best of each, whatever its factors."""
    told: dict[Hashable, _Group] = {}
    for one, other in _less_stated(base, judged):
        told[*one.topic, one.label] = _Group(RUN, (one, other), exact=False)
    for exact in (False, True):
        ones, others = (_best(figures, exact=exact) for figures in (base, judged))
        for pair in _widest([(one, others[key]) for key, one in ones.items() if key in others], by_place=True):
            told[*pair[0].topic, pair[0].label] = _Group(RUN, pair, exact)
    yield from told.values()


def _less_stated(base: Sequence[_Figure], judged: Sequence[_Figure]) -> Iterator[tuple[_Figure, _Figure]]:
    """The best figures of one kind and place where one source tells less of it, and nothing that contradicts."""
    kinds = [grouped(figures, lambda each: (each.kind, each.label)) for figures in (base, judged)]
    for key in (key for key in kinds[0] if key in kinds[1]):
        best = max if kinds[0][key][0].estimate.better == "higher" else min
        one, other = (best(of[key], key=lambda each: each.value) for of in kinds)
        words = [set(each.words.items()) for each in (one, other)]
        if words[0] <= words[1] or words[1] <= words[0]:
            yield one, other


def _best(figures: Iterable[_Figure], *, exact: bool) -> dict[Hashable, _Figure]:
    """The best figure for each kind, place and params; for each level of factors too where `exact`."""
    words = grouped(
        figures, lambda each: (each.kind, each.label, each.but(*(() if exact else each.estimate.factors)))
    )
    best = {key: max if of[0].estimate.better == "higher" else min for key, of in words.items()}
    return {key: best[key](of, key=lambda each: each.value) for key, of in words.items()}
