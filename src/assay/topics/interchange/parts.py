"""The parts of a measurand as columns, for formats that have a row for each figure."""

from collections.abc import Callable, Mapping

from assay.model.measurand import Count
from assay.model.result import Estimate


def _count(value: Count) -> int | None:
    """The number; None if it is not stated."""
    return value if isinstance(value, int) else None


def _level(role: str) -> Callable[[Estimate], str]:
    return lambda e: next((each.identity for each in e.measurand.levels if each.role == role), "")


#: Column -> its text; parts that a figure does not have are empty, those that no source states are `not stated`.
TEXTS: Mapping[str, Callable[[Estimate], str]] = {
    "measurand": lambda e: e.measurand.key,
    "version": lambda e: e.measurand.version,
    "direction": lambda e: e.measurand.direction,
    "share_of_cores": lambda e: e.measurand.layout.share,
    "part": lambda e: e.measurand.places.part,
    "relation": lambda e: e.measurand.places.relation,
    "card": lambda e: e.measurand.places.card,
    **{f"{role}_kind": _level(role) for role in ("network", "mpi", "compiler", "blas")},
}
#: Column -> its number; None if it is not stated.
COUNTS: Mapping[str, Callable[[Estimate], int | None]] = {
    "nodes": lambda e: _count(e.measurand.layout.nodes),
    "ranks": lambda e: _count(e.measurand.layout.ranks),
    "ranks_per_node": lambda e: _count(e.measurand.layout.ranks_per_node),
    "threads_per_rank": lambda e: _count(e.measurand.layout.threads_per_rank),
    "devices_per_rank": lambda e: _count(e.measurand.layout.devices_per_rank),
}
