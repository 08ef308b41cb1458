"""MPI over TCP sockets between the same processes, and over plain copies inside a node: its cost or gain."""

from collections.abc import Callable, Hashable, Iterable

from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import Measured
from assay.analyse.messages import curves
from assay.model.grouping import grouped
from assay.model.law import Model
from assay.model.result import Estimate
from assay.model.role_words import USUAL_AXES
from assay.topics.messages import ratios
from assay.topics.messages.ratios import MeasuredPair, RatioBySize

LAW = "mpi-over"
TCP, MEMCPY = "tcp", "memcpy"
_SHARED = (curves.PATTERN, curves.BYTES, curves.OFFSET, "buffers", USUAL_AXES["idle-gap"])
_ONE_WAY = "bandwidth"
#: How a socket waits: MPI libraries poll, so they are compared with sockets that poll.
WAITING, POLLING = "waiting", "polling"


class MpiOver(RatioBySize, frozen=True, kw_only=True, tag=LAW):
    """How many times as fast MPI is as a base without MPI.

    Attributes:
        base: `tcp` (sockets between the same processes) or `memcpy` (one core of the same node copies).
    """

    base: str


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each curve of `pt2pt` and each base that has some of its sizes.

    The base are sockets that poll, as MPI does; sockets that block where none polls at any size of the curve.
    """
    sockets = _usual(known, TCP)
    polled, blocked = (
        _first((each for each in sockets if is_polled(each.estimate) == wanted), _place)
        for wanted in (True, False)
    )
    copies = _first(_usual(known, MEMCPY), _copied)
    for curve in curves.by_size(known, "pt2pt"):
        for base, key, bases in ((TCP, _place, (polled, blocked)), (MEMCPY, _passed, (copies,))):
            keys = [(each, key(each.estimate)) for each in curve.members]
            both = ([MeasuredPair(each, found[name]) for each, name in keys if name in found] for found in bases)
            if compared := next(filter(None, both), None):
                yield ratios.fitted(MpiOver, curve, compared, base=base)


def is_polled(estimate: Estimate) -> bool:
    """Whether the socket polls, so that the kernel wakes no process."""
    return estimate.params.get(WAITING) == POLLING


def _usual(known: RunEstimates, benchmark: str) -> list[Measured]:
    """Return the figures of a benchmark; those with default axes first."""
    found = (each for each in known.of(benchmark) if (each.estimate.median or 0.0) > 0)
    return sorted(found, key=lambda each: curves.unusual(each.estimate, (*_SHARED, WAITING)))


def _first(found: Iterable[Measured], key: Callable[[Estimate], Hashable]) -> dict[Hashable, Measured]:
    return {name: members[0] for name, members in grouped(found, lambda each: key(each.estimate)).items()}


def _place(estimate: Estimate) -> Hashable:
    """Return what MPI and sockets share: the messages, the processes, and the factors."""
    shared = tuple(estimate.params.get(name) for name in _SHARED)
    place = estimate.placement
    return (*shared, place.label, place.memory, place.hosts, tuple(estimate.factors.items()), estimate.state)


def _passed(estimate: Estimate) -> Hashable:
    """Return the copy that a message in a window inside a node needs at least; None for other messages."""
    if len(estimate.placement.hosts) > 1 or estimate.params[curves.PATTERN] != _ONE_WAY:
        return None
    return _copied(estimate)


def _copied(estimate: Estimate) -> Hashable:
    return curves.size(estimate), estimate.params.get("buffers"), estimate.placement.hosts, estimate.state
