"""The levels of caches and memory that the time of a dependent load shows, by size of the working set."""

import itertools
import math
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from assay.analyse.clocks import Clocks
from assay.analyse.curves import Curve, RunEstimates, curves, ends, point, replicates, with_ends
from assay.analyse.estimates import Measured
from assay.analyse.plateaus import FEWEST, STEP, Boundary, plateaus
from assay.analyse.statistics import Samples, medians
from assay.model.law import Model, Point, Unfitted
from assay.model.machine import Machine
from assay.model.quantity import Basis, Quantity
from assay.model.result import Estimate
from assay.model.text import text

LAW = "latency-levels"
MEMORY = "memory"
TLB = "TLB"
#: Knees of two page sizes are the same one when their sizes differ by less than this factor.
_SAME_KNEE = 1.5
#: A boundary belongs to a cache within this factor of its size: pages of 4 KiB fall unevenly into its sets, so
#: that a curve leaves a plateau well before the cache is full.
_WITHIN = 3.0
_FEWEST_SIZES = 2 * FEWEST
#: Entries that a TLB may have, pages of 4 KiB: fewer and more than any processor's.
_TLB_ENTRIES = (16, 8192)
_PAGE_BYTES = 4096
#: A level that is memory for certain is level for so many doublings, as is one that is passed on a slope.
_DOUBLINGS = 2


class LatencyLevel(msgspec.Struct, frozen=True):
    """Working sets from which a load takes the same time.

    Attributes:
        latency: of one load, in s.
        answered_by: the cache that answers (`L2`) or `memory`; empty where no cache is known.
        beyond_tlb: whether the addresses have left the TLB.
        step: 2 or more where the levels before it are answered by the same.
        end: where it ends; None of the last one.
        cycles: the same in cycles of the core's clock under load; None where that was not measured.
    """

    latency: Quantity
    answered_by: str
    beyond_tlb: bool
    step: int
    end: Boundary | None
    cycles: Quantity | None = None


class LatencyLevels(Model, frozen=True, kw_only=True, tag=LAW):
    """The levels of caches and memory that the time of a load shows.

    Attributes:
        pages: size of the pages, in the word of the axis.
        levels: by working set. `level` of the points counts them from 1; 0 between two levels.
        huge_twin: id of the same walk over huge pages; empty without one.
        memory_from: working set in B from which memory answers for certain, whatever caches are claimed: the curve
            is level for two doublings at its end, and as many levels as there are caches lie before, or it is
            beyond all of them. None where the sizes do not reach it.
        last_cache: name of the last cache of that core (`L3`), empty where none is known ...
        last_cache_bytes: ... and the size that it claims.
    """

    pages: str
    levels: tuple[LatencyLevel, ...]
    huge_twin: str = ""
    memory_from: float | None = None
    last_cache: str = ""
    last_cache_bytes: int = 0

    @property
    def goes_on(self) -> bool:
        """Whether its sizes do not reach memory for certain."""
        return self.memory_from is None

    @property
    def headline(self) -> Quantity:
        """Latency of the first level."""
        return self.levels[0].latency


class _Cache(NamedTuple):
    level: int
    size_bytes: int


class _Staircase(NamedTuple):
    """One curve and its plateaus.

    Attributes:
        curve: its members are sorted by size.
        sizes: working sets in B, shape (members,).
        times: medians in s, shape (members,).
        parts: begin and end (exclusive) of each plateau.
    """

    curve: Curve
    sizes: Samples
    times: Samples
    parts: list[tuple[int, int]]

    @property
    def members(self) -> tuple[Measured, ...]:
        """Its estimates, sorted by size."""
        return self.curve.members

    @property
    def first(self) -> Estimate:
        """The estimate of the smallest size."""
        return self.members[0].estimate


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each curve: a placement, memory policy and page size; a single size is no curve."""
    found = [
        _staircase(curve) for curve in curves(known.of_role("load-latency"), "bytes") if len(curve.members) > 1
    ]
    clocks = Clocks(known)
    for stairs in found:
        huge = next((other for other in found if _is_huge_twin(other, stairs)), None)
        yield _model(stairs, huge, known, clocks.of_core(stairs.first))


def _staircase(curve: Curve) -> _Staircase:
    members = tuple(sorted(curve.members, key=lambda each: int(each.estimate.params["bytes"])))
    sizes = np.array([float(each.estimate.params["bytes"]) for each in members])
    times = np.array([each.estimate.median or math.nan for each in members])
    parts = plateaus(np.log(times), np.log2(sizes)) if len(members) >= _FEWEST_SIZES else []
    return _Staircase(curve._replace(members=members), sizes, times, parts)


def _is_huge_twin(other: _Staircase, stairs: _Staircase) -> bool:
    """Whether `other` differs from a curve of small pages in its huge pages alone."""
    pages = other.first.params.get("pages"), stairs.first.params.get("pages")
    return bool(other.parts) and pages == ("huge", "small") and _walk(other) == _walk(stairs)


def _walk(stairs: _Staircase) -> tuple[object, ...]:
    """Return what two walks share that differ in their pages alone."""
    first, placed = stairs.first, stairs.first.placement
    return (first.benchmark, placed.label, placed.memory, placed.hosts, first.factors, stairs.curve.state)


def _model(stairs: _Staircase, huge: _Staircase | None, known: RunEstimates, clock: Quantity | None) -> Model:
    if not stairs.parts:
        count = len(stairs.members)
        few = text("{sizes} sizes: two levels need {needed}", sizes=count, needed=_FEWEST_SIZES)
        why = few if count < _FEWEST_SIZES else text("no level is found")
        return Unfitted(**stairs.curve.identity(LAW), wanted=LAW, reason=why)
    points = _points(stairs)
    caches = _caches(stairs.first, known.machine(stairs.first))
    reached = (_memory_from(each, caches) for each in (stairs, huge) if each)
    memory = min(filter(None, reached), default=None)
    return LatencyLevels(
        **stairs.curve.identity(LAW),
        residual=max(abs(each.ratio - 1) for each in points if each.at["level"] and each.ratio),
        points=points,
        pages=str(stairs.first.params.get("pages", "")),
        levels=tuple(_levels(stairs, huge, caches, memory, clock)),
        huge_twin=huge.curve.identity(LAW)["id"] if huge else "",
        memory_from=memory,
        last_cache=f"L{caches[-1].level}" if caches else "",
        last_cache_bytes=caches[-1].size_bytes if caches else 0,
    )


def _memory_from(stairs: _Staircase, caches: Sequence[_Cache]) -> float | None:
    """Return the working set from which memory answers for certain; see LatencyLevels."""
    begin, end = stairs.parts[-1]
    octaves = np.log2(stairs.sizes)
    if not caches or end < len(octaves) or octaves[-1] - octaves[begin] < _DOUBLINGS:
        return None
    slopes = sum(
        octaves[after] - octaves[before - 1] >= _DOUBLINGS
        for (_, before), (after, _) in itertools.pairwise(stairs.parts)
    )
    first = float(stairs.sizes[begin])
    passed = len(stairs.parts) - 1 + slopes >= len({cache.level for cache in caches})
    return first if passed or first > max(cache.size_bytes for cache in caches) else None


def _levels(
    stairs: _Staircase,
    huge: _Staircase | None,
    caches: Sequence[_Cache],
    memory: float | None,
    clock: Quantity | None,
) -> Iterable[LatencyLevel]:
    draws, basis = replicates(stairs.members)
    sizes = _knees(stairs, draws, basis)
    middles = [size.value for size in sizes]
    knees = _knees(huge, *replicates(huge.members)) if huge else ()
    same = math.log(_SAME_KNEE)
    own = [at for at, one in enumerate(middles) if all(_apart(one, knee.value) >= same for knee in knees)]
    of_tlb = {at for at in own if huge and _is_tlb(stairs, huge, at)}
    begins = [float(stairs.sizes[begin]) for begin, _ in stairs.parts]
    in_memory = [memory is not None and begin * _SAME_KNEE >= memory for begin in begins]
    names = _named(middles, caches, of_tlb, in_memory)
    lasts = [float(stairs.sizes[end - 1]) for _, end in stairs.parts]
    answered = _answered(names, caches, lasts, in_memory)
    boundaries = [
        Boundary(size, f"L{name.level}", name.size_bytes)
        if isinstance(name, _Cache)
        else Boundary(size, name or "")
        for size, name in zip(sizes, names, strict=True)
    ]
    for (begin, end), by, boundary in zip(stairs.parts, answered, [*boundaries, None], strict=True):
        middle = math.exp(float(medians(np.log(stairs.times[begin:end]))))
        level = with_ends(middle, medians(draws[:, begin:end]), basis, "s")
        yield LatencyLevel(level, *by, boundary, level.times(clock, "") if clock else None)


def _boundary(stairs: _Staircase, number: int, draws: Samples, basis: Basis) -> Quantity:
    """Return where a plateau ends: between its last size and the first one that stays more than 15 % above it.

    The value is their geometric middle; the ends are the smallest last size and the largest first size above that
    the launches allow.
    """
    begin, end = stairs.parts[number]
    beyond = stairs.parts[number + 1][0]

    def first_above(rows: Samples) -> Samples:
        level = medians(rows[:, begin:end])[:, None]
        on_it = rows[:, begin : beyond + 1] <= level * math.exp(STEP)
        on_it[:, -1] = False
        last = on_it.shape[1] - 1 - np.argmax(on_it[:, ::-1], axis=1)
        above: Samples = begin + last + 1
        return above

    middle = int(first_above(stairs.times[None, :])[0])
    low, high = ends(first_above(draws).astype(np.float64), basis)
    sizes = stairs.sizes
    return Quantity(
        math.sqrt(sizes[middle - 1] * sizes[middle]),
        float(sizes[min(math.floor(low), middle) - 1]),
        float(sizes[max(math.ceil(high), middle)]),
        "B",
        basis,
    )


def _caches(estimate: Estimate, machine: Machine | None) -> list[_Cache]:
    """Return the data caches of the cpu of an estimate, smallest first."""
    cpu = estimate.placement.cpus[0][:1] if estimate.placement.cpus else ()
    known = machine.topology.data_caches(cpu) if machine else ()
    return sorted({_Cache(cache.level, cache.size_bytes) for cache in known})


def _knees(stairs: _Staircase, draws: Samples, basis: Basis) -> tuple[Quantity, ...]:
    """Return the boundaries between the plateaus of a staircase."""
    return tuple(_boundary(stairs, at, draws, basis) for at in range(len(stairs.parts) - 1))


def _is_tlb(stairs: _Staircase, huge: _Staircase, at: int) -> bool:
    """Whether the TLB causes a knee of small pages where huge pages show none.

    The extra time of small pages over huge ones at the same sizes must grow, from the end of the plateau before
    the knee to the end of the next one, by more than 15 % of the time of huge pages. The size of the knee must be
    one that a TLB can have the entries for.
    """
    of_huge = dict(zip(huge.sizes, huge.times, strict=True))
    of_small = list(zip(stairs.sizes, stairs.times, strict=True))
    fewest, most = (entries * _PAGE_BYTES for entries in _TLB_ENTRIES)
    last, first = float(stairs.sizes[stairs.parts[at][1] - 1]), float(stairs.sizes[stairs.parts[at + 1][0]])
    if first < fewest or last > most:
        return False
    before, beyond = (
        np.array(
            [
                (small - of_huge[size], of_huge[size])
                for size, small in of_small[slice(*part)][-FEWEST:]
                if size in of_huge
            ]
        )
        for part in stairs.parts[at : at + 2]
    )
    if not before.size or not beyond.size:
        return False
    (added, _), (extra, base) = medians(before.T), medians(beyond.T)
    return bool(extra - max(added, 0.0) > math.expm1(STEP) * base)


def _named(
    middles: Sequence[float], caches: Sequence[_Cache], of_tlb: Container[int], in_memory: Sequence[bool]
) -> list[_Cache | str | None]:
    """Return what each boundary is: a cache, the TLB, or None where nothing of its size is known.

    Each cache takes the nearest knee that is not the TLB's; no cache ends where memory already answers. The last
    cache ends where memory begins, whatever size it claims.
    """
    names: list[_Cache | str | None] = [TLB if at in of_tlb else None for at in range(len(middles))]
    for cache in caches:
        free = [at for at, name in enumerate(names) if name is None and not in_memory[at]]
        nearest = min(free, key=lambda at: _apart(middles[at], cache.size_bytes), default=None)
        if nearest is not None and _apart(middles[nearest], cache.size_bytes) <= math.log(_WITHIN):
            names[nearest] = cache
    last = in_memory.index(True) - 1 if True in in_memory else -1
    if last >= 0 and names[last] is None and caches[-1] not in names:
        names[last] = caches[-1]
    return names


def _apart(one: float, other: float) -> float:
    return abs(math.log(one / other))


def _answered(
    names: Sequence[_Cache | str | None],
    caches: Sequence[_Cache],
    sizes: Sequence[float],
    in_memory: Sequence[bool],
) -> list[tuple[str, bool, int]]:
    """Return what answers the loads of each plateau, whether it is beyond the TLB, and its step number there.

    Args:
        names: what each boundary is, one fewer than plateaus.
        caches: smallest first.
        sizes: the last size of each plateau.
        in_memory: whether memory answers for certain on each plateau.
    """
    found: list[tuple[str, bool, int]] = []
    for number, size in enumerate(sizes):
        where = MEMORY if in_memory[number] else _where(number, names, caches, size) or ""
        beyond = bool(where) and TLB in names[:number]
        before = sum((each, of_tlb) == (where, beyond) for each, of_tlb, _ in found)
        found.append((where, beyond, 1 + before if where else 1))
    return found


def _where(number: int, names: Sequence[_Cache | str | None], caches: Sequence[_Cache], size: float) -> str | None:
    """Return the cache that ends a plateau, else the first that holds its sizes; None where no cache is known."""
    ending = names[number] if number < len(names) else None
    if isinstance(ending, _Cache):
        return f"L{ending.level}"
    if not caches:
        return None
    passed = max((each.size_bytes for each in names[:number] if isinstance(each, _Cache)), default=0)
    holding = next((cache for cache in caches if cache.size_bytes > passed and cache.size_bytes >= size), None)
    return f"L{holding.level}" if holding else MEMORY


def _points(stairs: _Staircase) -> tuple[Point, ...]:
    points = []
    for at, each in enumerate(stairs.members):
        level = next((number for number, part in enumerate(stairs.parts, 1) if part[0] <= at < part[1]), 0)
        usual = medians(stairs.times[slice(*stairs.parts[level - 1])]) if level else None
        ratio = None if usual is None else float(stairs.times[at] / usual)
        place = {"bytes": int(stairs.sizes[at]), "level": level}
        points.append(point(each.estimate, place, ratio))
    return tuple(points)
