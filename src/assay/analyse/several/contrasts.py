"""Figures on no curve that differ in one word: what the texts and small tables of a study state."""

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from assay import benchmarks
from assay.analyse.evidence import Evidence
from assay.analyse.several.alike import chosen, uncurved
from assay.model.benchmark import ParamValue
from assay.model.imported import UNSTATED
from assay.model.result import Estimate
from assay.model.several import PLACE, PROGRAM, RUN, Contrast, Way

#: Of more runs than these each is compared with the first one alone.
_EACH_WITH_EACH = 4
#: Both ends of a published range are figures: they are one thing, not two to compare.
_END = "end"
#: Units of what is no rate and no time.
_NO_SPEED = ("", "share", "B")
_BYTES = "bytes"
_MEMORY = "memory"
#: Benchmarks that pass messages between the same partners.
_MESSAGES = ("pt2pt", "tcp")
_COPIES = "memcpy"
#: Copies that no cache helps come first: they are what messages of any size can have.
_BUFFERS = ("cold", "hot")


class _Named(NamedTuple):
    """A figure with the words that may tell it from others."""

    run: str
    estimate: Estimate
    words: Mapping[str, ParamValue]


def contrasts(sides: Sequence[Evidence], ways: Sequence[Way]) -> list[Contrast]:
    """Of each kind of figure the widest contrast for each word.

    Those between runs come first, then rates and times before other figures, and of these the widest.

    Within a run these are figures that nobody here measured: what was measured is compared by blocks. Between two
    runs one side at least was not measured here: of two that were, launches tell what may be claimed.
    """
    named = [
        [_Named(side.run.info.id, each, _words(each)) for each in uncurved(side, ways) if (each.median or 0.0) > 0]
        for side in sides
    ]
    foreign = [bool(side.run.imported) for side in sides]
    found = [each for figures, other in zip(named, foreign, strict=True) if other for each in _within(figures)]
    for base, judged in itertools.combinations(range(len(sides)), 2):
        if (base == 0 or len(sides) <= _EACH_WITH_EACH) and (foreign[base] or foreign[judged]):
            found += _across(named[base], named[judged])
    estimates = {(each.run, each.estimate.id): each.estimate for each in itertools.chain.from_iterable(named)}
    return sorted(
        found,
        key=lambda each: (each.differ != RUN, _is_told_last(each, estimates), -_spread(each, estimates)),
    )


def _words(estimate: Estimate) -> dict[str, ParamValue]:
    """Factors, and params that were chosen: numbers too where no declaration knows them for an axis of ours."""
    return {_MEMORY: estimate.placement.memory, **chosen(estimate), **estimate.factors}


def _kind(estimate: Estimate) -> tuple[str, str, str]:
    return estimate.benchmark, estimate.kernel, estimate.metric


def _topic(estimate: Estimate) -> tuple[str, str]:
    return estimate.benchmark, estimate.metric


def _within(figures: Sequence[_Named]) -> Iterator[Contrast]:
    """Of one run, those that differ in the place, in one word, or in the program."""
    words = dict.fromkeys(name for each in figures for name in each.words if name not in {_END, _BYTES})
    for differ in (PLACE, *words):
        widest: dict[Hashable, list[_Named]] = {}
        for group in _grouped(figures, differ):
            topic = _topic(group[0].estimate)
            if topic not in widest or _telling(group) > _telling(widest[topic]):
                widest[topic] = group
        yield from (_contrast(differ, group) for group in widest.values())
    yield from _programs(figures)


def _grouped(figures: Sequence[_Named], differ: str) -> Iterator[list[_Named]]:
    """Figures that are alike but in this word; each of its levels once."""
    groups: dict[Hashable, dict[ParamValue, _Named]] = {}
    for each in figures:
        label = each.estimate.placement.label
        level = label if differ == PLACE else each.words.get(differ)
        if level is None or level == UNSTATED:
            continue
        rest = frozenset(item for item in each.words.items() if item[0] != differ)
        nodes = len(each.estimate.placement.hosts)
        key = (_kind(each.estimate), rest, nodes, "" if differ == PLACE else label)
        groups.setdefault(key, {}).setdefault(level, each)
    return (list(group.values()) for group in groups.values() if len(group) > 1)


def _telling(group: Sequence[_Named]) -> tuple[bool, int, float, float]:
    """What makes one contrast of a topic say more than another: the telling kernel, levels, size, width."""
    first = group[0].estimate
    declared = benchmarks.find(first.benchmark)
    size = float(first.params.get(_BYTES, 0))
    values = [each.estimate.median or 0.0 for each in group]
    return (
        declared is not None and first.kernel == declared.kernels[-1],
        len(group),
        size if first.better == "higher" else -size,
        math.log(max(values) / min(values)),
    )


def _programs(figures: Sequence[_Named]) -> Iterator[Contrast]:
    """MPI and plain sockets between the same partners, and the copies that messages inside a node are at best."""
    groups: dict[Hashable, dict[str, _Named]] = {}
    for each in figures:
        benchmark, _, metric = each.estimate.benchmark.partition(": ")
        if benchmark in _MESSAGES:
            label = each.estimate.placement.label
            key = (metric or each.estimate.metric, label, frozenset(each.words.items()))
            groups.setdefault(key, {}).setdefault(benchmark, each)
    for group in groups.values():
        if len(group) > 1:
            yield _contrast(PROGRAM, [*group.values(), *_copies(figures, next(iter(group.values())))])


def _copies(figures: Iterable[_Named], message: _Named) -> list[_Named]:
    """The copy that messages inside a node of no stated size stand against."""
    estimate = message.estimate
    if "@" in estimate.placement.label or len(estimate.placement.hosts) > 1 or _BYTES in message.words:
        return []
    copies = {
        str(each.words.get("buffers", _BUFFERS[-1])): each
        for each in figures
        if each.estimate.benchmark.partition(": ")[0] == _COPIES
        and each.estimate.metric == estimate.metric
        and _BYTES not in each.words
    }
    return [copies[name] for name in _BUFFERS if name in copies][:1]


def _across(base: Sequence[_Named], judged: Sequence[_Named]) -> Iterator[Contrast]:
    """Of two runs figures of the same kind, place and words; else the best of each, whatever its factors."""
    told: dict[Hashable, Contrast] = {}
    for exact in (False, True):
        ones, others = (_best(figures, exact=exact) for figures in (base, judged))
        widest: dict[Hashable, list[_Named]] = {}
        for key in (key for key in ones if key in others):
            pair = [ones[key], others[key]]
            topic = (*_topic(pair[0].estimate), pair[0].estimate.placement.label)
            if topic not in widest or _telling(pair) > _telling(widest[topic]):
                widest[topic] = pair
        told |= {topic: _contrast(RUN, pair, exact=exact) for topic, pair in widest.items()}
    yield from told.values()


def _best(figures: Iterable[_Named], *, exact: bool) -> dict[Hashable, _Named]:
    """The best figure for each kind, place and params; for each level of factors too where `exact`."""
    found: dict[Hashable, _Named] = {}
    for each in figures:
        estimate = each.estimate
        factors = frozenset(estimate.factors.items()) if exact else frozenset()
        params = frozenset((name, value) for name, value in each.words.items() if name not in estimate.factors)
        key = (_kind(estimate), estimate.placement.label, params, factors)
        if key not in found or _is_better(estimate, found[key].estimate):
            found[key] = each
    return found


def _is_better(one: Estimate, other: Estimate) -> bool:
    better = (one.median or 0.0) > (other.median or 0.0)
    return better if one.better == "higher" else not better


def _contrast(differ: str, group: Iterable[_Named], *, exact: bool = True) -> Contrast:
    ordered = sorted(group, key=lambda each: -(each.estimate.median or 0.0))
    return Contrast(differ, tuple((each.run, each.estimate.id) for each in ordered), exact)


def _is_told_last(contrast: Contrast, estimates: Mapping[tuple[str, str], Estimate]) -> bool:
    """Whether it is of no rate and no time: sizes, distances, shares and ratios of others."""
    return estimates[contrast.of[0]].unit in _NO_SPEED


def _spread(contrast: Contrast, estimates: Mapping[tuple[str, str], Estimate]) -> float:
    first, last = (estimates[name].median or 1.0 for name in (contrast.of[0], contrast.of[-1]))
    return math.log(first / last)
