"""MPI over TCP sockets between the same processes, and over plain copies inside a node: what it costs or saves."""

from collections.abc import Hashable, Iterable

from assay import benchmarks
from assay.analyse.curves import Known
from assay.analyse.estimates import Measured
from assay.analyse.messages import curves, ratios
from assay.analyse.messages.ratios import Beside
from assay.model.result import Estimate, Model

LAW = "mpi-over"
TCP, MEMCPY = "tcp", "memcpy"
_SHARED = (curves.PATTERN, curves.BYTES, curves.OFFSET, "buffers")
_ONE_WAY = "bandwidth"


def fit(known: Known) -> Iterable[Model]:
    """One model for each curve of `pt2pt` and each base that has some of its sizes."""
    sockets = _first((_place(each.estimate), each) for each in _usual(known, TCP))
    copies = _first((_copied(each.estimate), each) for each in _usual(known, MEMCPY))
    for curve in curves.by_size(known, "pt2pt"):
        for base, key, found in ((TCP, _place, sockets), (MEMCPY, _passed, copies)):
            beside = [
                Beside(each, found[wanted])
                for each in curve.members
                if (wanted := key(each.estimate)) is not None and wanted in found
            ]
            if beside:
                yield ratios.model(curves.named(LAW, "pt2pt", (base, *curve.marks)), LAW, beside)


def _usual(known: Known, benchmark: str) -> list[Measured]:
    """Its figures; those whose axes have their defaults first."""
    axes = [
        axis for axis in benchmarks.get(benchmark).axes if axis.name not in _SHARED and axis.default is not None
    ]

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
