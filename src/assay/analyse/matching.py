"""Which figures are compared: their measurands are equal, or differ in named parts that may differ.

A side that states less looks for its peer: of the figures that contradict it in nothing that must be equal, the
one that differs in the fewest parts, and of these the best.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

import msgspec

from assay.analyse.estimates import Measured
from assay.analyse.taken import NETWORK
from assay.model import roles
from assay.model.grouping import grouped
from assay.model.imported import RANGE_END, UNSTATED
from assay.model.measurand import COUNTS, PLACES, SHARE, AxisValue, Measurand, Part, matches
from assay.model.measurands import SHARES
from assay.model.quantity import Quantity
from assay.model.result import Estimate

#: Parts of the systems, which are what is compared; they meet by role.
_SYSTEM = frozenset(("mpi", "compiler", "blas", "system", "version"))
#: Steps between cpus that `two cores of a socket` may mean.
_IN_SOCKET = frozenset(("same L3", "same NUMA node", "same socket"))
#: Prices of a part: not stated; of the same kind; another one.
_SILENT, _KIND, _OTHER = 1, 2, 4
#: Fewest launches that are no chance.
_NO_CHANCE = 2


def pairs(
    ones: Sequence[Measured], others: Sequence[Measured], across: str = "", *, nearest: bool = False
) -> list[tuple[int, int]]:
    """Return the pairs as positions in both.

    Args:
        ones: headline figures of one run.
        others: of the other run.
        across: a part that is meant to differ.
        nearest: pair the only figure of a quantity in one run with the nearest one of the other run, even if they
            contradict each other. Figures at different sizes of messages are not paired: a curve has them.
    """
    found: dict[tuple[int, int], None] = {}
    kinds = grouped(range(len(others)), lambda at: _quantity(others[at]))
    for kind, judged in grouped(range(len(ones)), lambda at: _quantity(ones[at])).items():
        bases = kinds.get(kind, ())
        if nearest:
            found |= dict.fromkeys(_nearest(ones, others, judged, bases))
            continue
        found |= dict.fromkeys(_seeking((ones, others), judged, bases, across))
        found |= dict.fromkeys((one, other) for other, one in _seeking((others, ones), bases, judged, across))
    return list(found)


def _quantity(measured: Measured) -> tuple[str, ...]:
    found = measured.estimate.measurand
    return found.program, found.kernel, found.metric, found.unit


def _seeking(
    sides: tuple[Sequence[Measured], Sequence[Measured]], judged: Iterable[int], bases: Sequence[int], across: str
) -> Iterator[tuple[int, int]]:
    """Each of the judged with its peer, if it has one."""
    ones, others = sides
    sizes = grouped(bases, lambda at: _size(others[at].estimate))
    for one in judged:
        size = _size(ones[one].estimate)
        near = bases if size == UNSTATED else (*sizes.get(size, ()), *sizes.get(UNSTATED, ()))
        costs = ((cost(ones[one].estimate, others[at].estimate, across), at) for at in near)
        having = [(price, at) for price, at in costs if price is not None]
        if having:
            least = min(price for price, _ in having)
            nearest = [at for price, at in having if price == least]
            yield one, _best(others, nearest)


def _best(figures: Sequence[Measured], among: Sequence[int]) -> int:
    """The best of several: see `best_of`."""
    ranked = sorted(among, key=lambda at: figures[at].estimate.rank, reverse=True)
    return ranked[best_of([figures[at].estimate for at in ranked])]


def best_of(ranked: Sequence[Estimate]) -> int:
    """Return the position of the best of several sizes, which are given in the order of their ranks.

    It is one that has an interval: the best of several sizes of messages is not one that a single launch met by
    chance. Where all launches of the first one, at least two, are beyond that interval, it is the first: a budget
    may cut the sizes that are the best. The rate of a problem grows with its size, which is no chance: where the
    largest problem is better than what has an interval, it is the largest, even of a single launch.
    """
    sure = next((at for at, each in enumerate(ranked) if each.value and each.value.has_interval), 0)
    if is_beyond(ranked[0], ranked[sure]):
        return 0
    sizes = [roles.size_of_solved(each) for each in ranked]
    largest = sizes.index(max(sizes))
    return min(sure, largest) if sizes[largest] > sizes[sure] else sure


def is_beyond(one: Estimate, other: Estimate, *, best: bool = True) -> bool:
    """Whether all launches of one, at least two, are better than the whole interval of another, or worse."""
    if one.launches < _NO_CHANCE or one.value is None or other.value is None:
        return False
    above = (one.better == "higher") == best
    return one.value.lo > other.value.hi if above else one.value.hi < other.value.lo


def _size(estimate: Estimate) -> str:
    """The size of its messages; `not stated` without one."""
    size = next((axis.value for axis in estimate.measurand.axes if axis.role == "message-size"), UNSTATED)
    return str(size)


def _nearest(
    ones: Sequence[Measured], others: Sequence[Measured], judged: Sequence[int], bases: Sequence[int]
) -> Iterator[tuple[int, int]]:
    both = [(one, other) for one in judged for other in bases]
    if not both or 1 not in {len(judged), len(bases)}:
        return

    def distance(pair: tuple[int, int]) -> tuple[int, float]:
        a, b = ones[pair[0]].estimate, others[pair[1]].estimate
        return sum(part.is_contradiction for part in matches(a.measurand, b.measurand).parts), -a.merit - b.merit

    one, other = min(both, key=distance)
    if _size(ones[one].estimate) == _size(others[other].estimate):
        yield one, other


def rest(estimate: Estimate, but: Collection[str]) -> Hashable:
    """Return what two figures of one source share if they differ only in these parts."""
    return len(estimate.placement.hosts), estimate.measurand.stated(but)


def cost(seeking: Estimate, peer: Estimate, across: str = "") -> int | None:
    """Return how far two figures are apart; None if the first cannot be compared with the second.

    It can be if it states nothing that the other contradicts, and chose nothing that the other does not state.
    """
    own, other = (each.factors.get(NETWORK, "") for each in (seeking, peer))
    is_met = across == NETWORK or own == other
    # Networks meet before, by the names of their factor. One that is not stated may be any.
    if not is_met and seeking.measurand.parts.get(NETWORK) != UNSTATED:
        return None
    match = matches(seeking.measurand, peer.measurand)
    if match.kind == "different":
        return None
    total = 0 if is_met else _OTHER
    share = seeking.measurand.layout.share
    same_share = bool(share) and share == peer.measurand.layout.share
    for part in (part for part in match.parts if part.name != across):
        price = _price(part, seeking, peer, same_share=same_share)
        if price is None:
            return None
        total += price
    return total


def _price(part: Part, seeking: Estimate, peer: Estimate, *, same_share: bool) -> int | None:
    """What a different part costs; None if it forbids the pair; `same_share`: both use one share of the cores."""
    name, a, b = part.name, part.a or UNSTATED, part.b or UNSTATED
    if name in {NETWORK, RANGE_END}:
        return _SILENT
    if a == UNSTATED or (b == UNSTATED and name in _SYSTEM):
        return _SILENT if b in {UNSTATED, *_usual(peer.measurand, name)} else _KIND
    if b == UNSTATED:
        if seeking.printed and not peer.printed and name in _conditions(seeking):
            return _KIND
        return None if name in _chosen(seeking.measurand) | PLACES else _SILENT
    same_kind = _kind(seeking.measurand, name) == _kind(peer.measurand, name)
    allowed = (
        (name in _SYSTEM, _KIND if same_kind else _OTHER),
        (name in COUNTS and same_share, _OTHER),
        (name == SHARE and SHARES["half"] not in {a, b}, _KIND),
        (name == "relation" and {a, b} <= _IN_SOCKET, _KIND),
        (_is_pattern(name, seeking, peer), _OTHER),
    )
    return next((price for is_allowed, price in allowed if is_allowed), None)


def _usual(measurand: Measurand, name: str) -> tuple[str, ...]:
    return (measurand.usual[name],) if name in measurand.usual else ()


def _chosen(measurand: Measurand) -> frozenset[str]:
    """Axes and factors whose values were chosen."""
    axes = {axis.part for axis in measurand.axes if axis.basis == "chosen" and axis.value != UNSTATED}
    return frozenset(axes | {level.factor for level in measurand.levels if level.varied and not level.role})


def _conditions(estimate: Estimate) -> frozenset[str]:
    """Factors, and params that Assay's program does not have, such as the number of a repeat."""
    return frozenset(estimate.factors) | estimate.params.keys() - estimate.declared.units.keys()


def _kind(measurand: Measurand, role: str) -> str:
    return next((level.kind for level in measurand.levels if level.role == role), "")


def _is_pattern(name: str, one: Estimate, other: Estimate) -> bool:
    """Whether the part is the pattern of messages, and both patterns have the same meaning."""
    a, b = roles.pattern(one), roles.pattern(other)
    known = name == roles.axis(one.declared, "message-pattern") and a and b
    return bool(known and a and b and (a.figure, a.directions, a.pairs) == (b.figure, b.directions, b.pairs))


def rates(measured: Sequence[Measured], others: Sequence[Measured]) -> list[Measured]:
    """Return the rates of single messages that follow from the times, if the other side prints such rates."""
    printed = {roles.pattern_name(each.estimate): roles.pattern(each.estimate) for each in others}
    timed = {name: pattern.timed for name, pattern in printed.items() if pattern and pattern.timed}
    return [rate for name, pattern in timed.items() for rate in _rates(measured, name, pattern)]


def _rates(measured: Sequence[Measured], name: str, timed: str) -> Iterator[Measured]:
    for each in measured:
        estimate, size = each.estimate, roles.size(each.estimate)
        if roles.role(estimate) != "message-time" or roles.pattern_name(estimate) != timed or not size:
            continue
        if estimate.value is None or not all(launch.value > 0 for launch in each.launches):
            continue
        axis = roles.axis(estimate.declared, "message-pattern")
        metrics = estimate.declared.metrics
        metric = next((one.name for one in metrics if one.role == "message-bandwidth"), estimate.metric)
        axes = tuple(
            AxisValue(axis, name, "message-pattern") if one.name == axis else one
            for one in estimate.measurand.axes
        )
        value, ceiling = estimate.value, estimate.exceeds
        measurand = msgspec.structs.replace(
            estimate.measurand, metric=metric, role="message-bandwidth", unit="B/s", better="higher", axes=axes
        )
        rate = msgspec.structs.replace(
            estimate,
            id=f"{estimate.id}/{name}",
            metric=metric,
            unit="B/s",
            better="higher",
            measurand=measurand,
            params={**estimate.params, axis: name},
            value=Quantity(size / value.value, size / value.hi, size / value.lo, "B/s", value.basis),
            limit=None,
            exceeds=ceiling and msgspec.structs.replace(ceiling, value=size / ceiling.value),
        )
        launches = tuple(msgspec.structs.replace(one, value=size / one.value) for one in each.launches)
        yield Measured(rate, launches)
