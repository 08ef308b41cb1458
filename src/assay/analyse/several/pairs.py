"""Which curves show the same thing, and how they compare at each size."""

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial

import msgspec

from assay import benchmarks
from assay.analyse.comparisons.effects import adjusted, compare, compare_unpaired, difference
from assay.analyse.several.crossovers import crossovers
from assay.analyse.several.ways import Found, stateless
from assay.model.several import PLACE, PROGRAM, RUN, AtSize, Beside

#: Of more runs than these each is compared with the first one alone.
_EACH_WITH_EACH = 4
#: Of more ways that differ in one word each is compared with the first one alone.
_FEW_WAYS = 3
#: Level of a factor that an imported command line left alone.
_DEFAULT = "default"


def across(sides: Sequence[Sequence[Found]]) -> list[Beside]:
    """Curves of two runs: those of the same place and factors, else the best way of each, far and near alike."""
    found = []
    for base, judged in itertools.combinations(sides, 2):
        if base is not sides[0] and len(sides) > _EACH_WITH_EACH:
            continue
        for key, of_base in _grouped(base, _kind).items():
            ones = [each for each in judged if _kind(each) == key]
            if ones:
                found += list(_matched(ones, of_base))
    return _adjusted(found)


def within(ways: Sequence[Found]) -> list[Beside]:
    """Curves of one run that differ in the place, one factor, or the program (MPI and plain sockets).

    Of other tools' tables those too that differ in an axis that is none of ours, as the number of ranks.
    """
    found = []
    for differ, group in _differing(ways):
        pairs = itertools.combinations(group, 2) if len(group) <= _FEW_WAYS else ((group[0], g) for g in group[1:])
        told = ((one, base) for base, one in pairs if _level(one, differ) != _level(base, differ))
        found += [beside for one, base in told if (beside := _beside(one, base, differ, exact=True))]
    return _adjusted(found)


def _kind(found: Found) -> Hashable:
    """What two curves must share to be laid over each other at all."""
    way = found.way
    return way.benchmark, way.pattern, way.between, frozenset(way.axes.items())


def _matched(ones: Sequence[Found], others: Sequence[Found]) -> Iterator[Beside]:
    """Pairs of the same place and factors; where there are none, the best way of both."""
    exact = False
    for one, other in itertools.product(ones, others):
        states = {one.way.state, other.way.state}
        if _partners(one) == _partners(other) and (None in states or len(states) == 1):
            beside = _beside(one, other, RUN, exact=True)
            exact = exact or beside is not None
            if beside:
                yield beside
    if not exact and (beside := _beside(_best(ones), _best(others), RUN, exact=False)):
        yield beside


def _partners(found: Found) -> tuple[str, dict[str, str]]:
    """Between whom and over what; a factor that a command line left alone is none."""
    return found.way.place, {name: level for name, level in found.way.factors.items() if level != _DEFAULT}


def _best(ways: Sequence[Found]) -> Found:
    """The way whose smallest message is quickest, or whose largest has the most bandwidth."""

    def rank(found: Found) -> tuple[int, float]:
        lower = found.way.better == "lower"
        told = found.members[0 if lower else -1].estimate.median or 0.0
        return len(found.members) > 1, -told if lower else told

    return max(ways, key=rank)


def _differing(ways: Sequence[Found]) -> Iterator[tuple[str, list[Found]]]:
    """Groups of ways that are alike but in one word, with that word."""
    factors = dict.fromkeys(name for each in ways for name in each.way.factors)
    foreign = dict.fromkeys(name for each in ways for name in each.way.axes.keys() - _axes(each))
    for differ in (PLACE, PROGRAM, *factors, *foreign):
        for group in _grouped(ways, partial(_rest, differ=differ)).values():
            if len(group) > 1:
                yield differ, group


def _axes(found: Found) -> set[str]:
    return {axis.name for axis in benchmarks.get(found.way.benchmark).axes}


def _rest(found: Found, differ: str) -> Hashable:
    way = found.way
    factors = frozenset(item for item in way.factors.items() if item[0] != differ)
    axes = frozenset(item for item in way.axes.items() if item[0] != differ)
    kind = way.pattern, way.between, axes, "" if differ == PROGRAM else way.benchmark
    return kind, way.state, factors, "" if differ == PLACE else way.label, differ in way.factors | way.axes


def _grouped(ways: Iterable[Found], key: Callable[[Found], Hashable]) -> dict[Hashable, list[Found]]:
    groups: dict[Hashable, list[Found]] = {}
    for each in ways:
        groups.setdefault(key(each), []).append(each)
    return groups


def _beside(one: Found, other: Found, differ: str, *, exact: bool) -> Beside | None:
    """The two curves at the sizes that both have; None where they share none."""
    bases = dict(zip(other.way.sizes, other.members, strict=True))
    points = []
    for size, each in zip(one.way.sizes, one.members, strict=True):
        base = bases.get(size)
        if base is None:
            continue
        a, b = (stateless(each), stateless(base)) if differ == RUN else (each, base)
        comparison = compare_unpaired(a, b) if differ == RUN else compare(a, b)
        if comparison:
            told = msgspec.structs.replace(
                comparison, differ=differ, level=_level(one, differ), base=_level(other, differ)
            )
            points.append(AtSize(size, told, difference(a, b, paired=differ != RUN)))
    if not points:
        return None
    return Beside(
        one.way.id, other.way.id, differ, exact, tuple(points), tuple(crossovers(one.way, other.way, points))
    )


def _level(found: Found, differ: str) -> str:
    way = found.way
    words = {RUN: way.run, PLACE: way.label, PROGRAM: way.benchmark}
    return words[differ] if differ in words else str((way.factors | way.axes).get(differ, ""))


def _adjusted(found: list[Beside]) -> list[Beside]:
    """With p adjusted among all of them: a claim that does not survive it is withdrawn."""
    every = [point.comparison for beside in found for point in beside.points]
    told = {(each.id, each.differ): each for each in adjusted(every, binding=True)}
    return [
        msgspec.structs.replace(
            beside,
            points=tuple(
                msgspec.structs.replace(
                    point,
                    comparison=told.get((point.comparison.id, point.comparison.differ), point.comparison),
                )
                for point in beside.points
            ),
        )
        for beside in found
    ]
