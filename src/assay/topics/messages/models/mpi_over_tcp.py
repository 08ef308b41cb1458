"""MPI over TCP sockets between the same processes, and over plain copies inside a node: what it costs or saves."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial

from assay.analyse.curves import Curve, Known
from assay.analyse.estimates import Measured
from assay.analyse.messages import curves
from assay.model import benchmarks, roles
from assay.model.law import Model
from assay.model.result import Estimate
from assay.topics.messages import ratios
from assay.topics.messages.ratios import Beside, RatioBySize

LAW = "mpi-over"
TCP, MEMCPY = "tcp", "memcpy"
_SHARED = (curves.PATTERN, curves.BYTES, curves.OFFSET, "buffers", roles.usual_axis("idle-gap"))
_ONE_WAY = "bandwidth"
#: How a socket waits: MPI libraries ask again and again, so that only sockets that do so are their like.
WAITING, POLLING = "waiting", "polling"


class MpiOver(RatioBySize, frozen=True, kw_only=True, tag=LAW):
    """How many times as fast MPI is as a base that does without it.

    Attributes:
        base: `tcp` (sockets between the same processes) or `memcpy` (one core of the same node copies).
    """

    base: str


def fit(known: Known) -> Iterable[Model]:
    """One model for each curve of `pt2pt` and each base that has some of its sizes.

    Its base are sockets that poll, as MPI does; those that block where none polls at any size of the curve.
    """
    sockets = _usual(known, TCP)
    polled, blocked = (
        _first((_place(each.estimate), each) for each in sockets if is_polled(each.estimate) == wanted)
        for wanted in (True, False)
    )
    copies = _first((_copied(each.estimate), each) for each in _usual(known, MEMCPY))
    for curve in curves.by_size(known, "pt2pt"):
        for base, key, bases in ((TCP, _place, (polled, blocked)), (MEMCPY, _passed, (copies,))):
            beside = next(filter(None, (_beside(curve, key, found) for found in bases)), None)
            if beside:
                name = curves.named(LAW, "pt2pt", (base, *curve.marks))
                yield ratios.fitted(LAW, partial(MpiOver, base=base), name, curve.state, beside)


def is_polled(estimate: Estimate) -> bool:
    """Whether the kernel was asked again and again, and woke nobody."""
    return estimate.params.get(WAITING) == POLLING


def _beside(curve: Curve, key: Callable[[Estimate], Hashable], found: Mapping[Hashable, Measured]) -> list[Beside]:
    """The members of a curve that have a base, each with it."""
    wanted = ((each, key(each.estimate)) for each in curve.members)
    return [Beside(each, found[name]) for each, name in wanted if name is not None and name in found]


def _usual(known: Known, benchmark: str) -> list[Measured]:
    """Its figures; those whose axes have their defaults first."""
    apart = {*_SHARED, WAITING}
    axes = [axis for axis in benchmarks.get(benchmark).axes if axis.name not in apart and axis.default is not None]

    def unusual(measured: Measured) -> int:
        return sum(measured.estimate.params.get(axis.name, axis.default) != axis.default for axis in axes)

    return sorted((each for each in known.of(benchmark) if (each.estimate.median or 0.0) > 0), key=unusual)


def _first(found: Iterable[tuple[Hashable, Measured]]) -> dict[Hashable, Measured]:
    first: dict[Hashable, Measured] = {}
    for key, measured in found:
        first.setdefault(key, measured)
    return first


def _place(estimate: Estimate) -> Hashable:
    """What MPI and sockets share: the messages, the processes, and the factors."""
    shared = tuple(estimate.params.get(name) for name in _SHARED)
    place = estimate.placement
    return (*shared, place.label, place.memory, place.hosts, tuple(estimate.factors.items()), estimate.state)


def _passed(estimate: Estimate) -> Hashable:
    """Messages one behind the other inside a node: each is a copy at least."""
    if len(estimate.placement.hosts) > 1 or estimate.params[curves.PATTERN] != _ONE_WAY:
        return None
    return curves.size(estimate), estimate.params.get("buffers"), estimate.placement.hosts, estimate.state


def _copied(estimate: Estimate) -> Hashable:
    return curves.size(estimate), estimate.params.get("buffers"), estimate.placement.hosts, estimate.state
