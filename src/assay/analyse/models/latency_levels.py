"""The levels of caches and memory that the time of a dependent load shows, by size of the working set."""

import math
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.curves import Curve, Known, curves, ends, point, replicates
from assay.analyse.estimates import Measured
from assay.analyse.plateaus import FEWEST, STEP, plateaus
from assay.analyse.statistics import Samples, medians
from assay.model.machine import Machine
from assay.model.result import Estimate, Model, Point
from assay.model.text import text
from assay.model.units import format_size

LAW = "latency-levels"
MEMORY = "memory"
TLB = "TLB"
_PAGES = "pages="
#: Knees of two page sizes are the same one when their sizes differ by less than this factor.
_SAME_KNEE = 1.5
#: A boundary belongs to a cache within this factor of its size: pages of 4 KiB fall unevenly into its sets, so
#: that a curve leaves a plateau well before the cache is full.
_BESIDE = 3.0
_FEWEST_SIZES = 2 * FEWEST


class _Cache(NamedTuple):
    level: int
    size_bytes: int


class _Staircase(NamedTuple):
    """Plateaus of one curve, as indices of its members, which are sorted by size."""

    curve: Curve
    members: tuple[Measured, ...]
    sizes: Samples
    parts: list[tuple[int, int]]


def fit(known: Known) -> Iterable[Model]:
    """One model for each curve: a placement, memory policy and page size; a single size is no curve."""
    found = [_staircase(curve) for curve in curves(known.of("latency"), "bytes") if len(curve.members) > 1]
    for stairs in found:
        huge = next((other for other in found if _is_huge_twin(other, stairs)), None)
        yield _model(stairs, huge, known)


def _staircase(curve: Curve) -> _Staircase:
    members = tuple(sorted(curve.members, key=lambda each: int(each.estimate.params["bytes"])))
    sizes = np.array([float(each.estimate.params["bytes"]) for each in members])
    parts: list[tuple[int, int]] = []
    if len(members) >= _FEWEST_SIZES:
        octave = (len(members) - 1) / max(1.0, math.log2(sizes[-1] / sizes[0]))
        parts = plateaus(np.log([each.estimate.median or math.nan for each in members]), octave)
    return _Staircase(curve, members, sizes, parts)


def _is_huge_twin(other: _Staircase, stairs: _Staircase) -> bool:
    """Whether `other` differs from a curve of small pages in having huge ones."""
    differing = set(other.curve.marks) ^ set(stairs.curve.marks)
    return (
        bool(other.parts)
        and differing == {f"{_PAGES}small", f"{_PAGES}huge"}
        and (f"{_PAGES}huge" in other.curve.marks)
    )


def _model(stairs: _Staircase, huge: _Staircase | None, known: Known) -> Model:
    """Parameters: `latency 1 (L1)` ... of each plateau; `boundary 1 (L1, 32 KiB)` ... between two of them."""
    name = "/".join([LAW, *stairs.curve.marks])
    of = tuple(each.estimate.id for each in stairs.members)
    if not stairs.parts:
        count = len(of)
        few = text("{sizes} sizes: two levels need {needed}", sizes=count, needed=_FEWEST_SIZES)
        why = few if count < _FEWEST_SIZES else text("no level is found")
        return Model(name, LAW, of, {}, None, why)
    draws, confident = replicates(stairs.members)
    boundaries = [_boundary(stairs, at, draws, confident=confident) for at in range(len(stairs.parts) - 1)]
    caches = _caches(stairs.members[0].estimate, known.machine(stairs.members[0].estimate))
    middles = [middle for middle, *_ in boundaries]
    of_tlb = {at for at, middle in enumerate(middles) if huge and _is_tlb(stairs, huge, at, middle)}
    names = _named(middles, caches, of_tlb)
    answered = _answered(names, caches, [float(stairs.sizes[end - 1]) for _, end in stairs.parts])
    parameters: dict[str, tuple[float, float, float]] = {}
    for number, (begin, end) in enumerate(stairs.parts):
        levels = medians(draws[:, begin:end])
        level = math.exp(float(medians(np.log(_medians(stairs)[begin:end]))))
        parameters[f"latency {number + 1}{_label(answered[number])}"] = (level, *ends(levels, confident=confident))
        if number < len(boundaries):
            parameters[f"boundary {number + 1}{_label(names[number])}"] = boundaries[number]
    points = _points(stairs)
    residual = max(abs(each.ratio - 1) for each in points if each.at["level"] and each.ratio)
    return Model(name, LAW, of, parameters, residual, points=points)


def _medians(stairs: _Staircase) -> Samples:
    return np.array([each.estimate.median or 0.0 for each in stairs.members])


def _boundary(
    stairs: _Staircase,
    number: int,
    draws: Samples,
    confident: bool,  # noqa: FBT001 (as `replicates` gives them)
) -> tuple[float, float, float]:
    """Where a plateau ends: between the last size on it and the first that lies more than 15 % above it, for good.

    [geometric middle, least last size on it, largest first size above it] of what the launches allow.
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

    middle = int(first_above(_medians(stairs)[None, :])[0])
    low, high = ends(first_above(draws).astype(np.float64), confident=confident)
    sizes = stairs.sizes
    return (
        math.sqrt(sizes[middle - 1] * sizes[middle]),
        float(sizes[min(math.floor(low), middle) - 1]),
        float(sizes[max(math.ceil(high), middle)]),
    )


def _caches(estimate: Estimate, machine: Machine | None) -> list[_Cache]:
    """Data caches of the cpu of an estimate, smallest first."""
    cpu = estimate.placement.cpus[0][:1] if estimate.placement.cpus else ()
    return sorted(
        {
            _Cache(cache.level, cache.size_bytes)
            for cache in (machine.topology.caches if machine else ())
            if cache.kind != "instruction" and set(cpu) & set(cache.cpus)
        }
    )


def _is_tlb(stairs: _Staircase, huge: _Staircase, at: int, middle: float) -> bool:
    """Whether a knee of small pages is the TLB's: huge pages show none there, and it is what small pages add.

    From the end of the plateau before it to that of the one beyond, what small pages take longer than huge ones at
    the same sizes grows by more than 15 % of what huge ones take. One that huge pages show elsewhere does not.
    """
    knees = (_boundary(huge, each, *replicates(huge.members))[0] for each in range(len(huge.parts) - 1))
    if any(_apart(middle, knee) < math.log(_SAME_KNEE) for knee in knees):
        return False
    of_huge = dict(zip(huge.sizes, _medians(huge), strict=True))
    of_small = list(zip(stairs.sizes, _medians(stairs), strict=True))
    before, beyond = (
        [
            (small - of_huge[size], of_huge[size])
            for size, small in of_small[slice(*part)][-FEWEST:]
            if size in of_huge
        ]
        for part in stairs.parts[at : at + 2]
    )
    if not before or not beyond:
        return False
    added, extra, base = (
        float(medians(np.array(values)))
        for values in ([gap for gap, _ in before], [gap for gap, _ in beyond], [value for _, value in beyond])
    )
    return extra - max(added, 0.0) > math.expm1(STEP) * base


def _named(
    middles: Sequence[float], caches: Sequence[_Cache], of_tlb: Container[int]
) -> list[_Cache | str | None]:
    """What each boundary is: a cache, the TLB, or None where nothing of its size is known.

    Each cache takes the nearest knee that is not the TLB's.
    """
    names: list[_Cache | str | None] = [TLB if at in of_tlb else None for at in range(len(middles))]
    for cache in caches:
        free = [at for at, name in enumerate(names) if name is None]
        nearest = min(free, key=lambda at: _apart(middles[at], cache.size_bytes), default=None)
        if nearest is not None and _apart(middles[nearest], cache.size_bytes) <= math.log(_BESIDE):
            names[nearest] = cache
    return names


def _apart(one: float, other: float) -> float:
    return abs(math.log(one / other))


def _label(name: _Cache | str | None) -> str:
    if isinstance(name, _Cache):
        return f" (L{name.level}, {format_size(name.size_bytes)})"
    return f" ({name})" if name else ""


def _answered(
    names: Sequence[_Cache | str | None], caches: Sequence[_Cache], sizes: Sequence[float]
) -> list[str | None]:
    """Where loads of each plateau are answered, no two alike: `L2`, `L3 beyond the TLB`, `memory step 2`.

    Args:
        names: what each boundary is, one fewer than plateaus.
        caches: smallest first.
        sizes: last one of each plateau.
    """
    found: list[str | None] = []
    for number, size in enumerate(sizes):
        where = _where(number, names, caches, size)
        if where and TLB in names[:number]:
            where += f" beyond the {TLB}"
        again = sum(each == where or (each or "").startswith(f"{where} step ") for each in found)
        found.append(f"{where} step {again + 1}" if where and again else where)
    return found


def _where(number: int, names: Sequence[_Cache | str | None], caches: Sequence[_Cache], size: float) -> str | None:
    """The cache that ends a plateau, else the first that holds its sizes; None where no cache is known."""
    ending = names[number] if number < len(names) else None
    if isinstance(ending, _Cache):
        return f"L{ending.level}"
    if not caches:
        return None
    passed = max((each.size_bytes for each in names[:number] if isinstance(each, _Cache)), default=0)
    holding = next((cache for cache in caches if cache.size_bytes > passed and cache.size_bytes >= size), None)
    return f"L{holding.level}" if holding else MEMORY


def _points(stairs: _Staircase) -> tuple[Point, ...]:
    found = _medians(stairs)
    points = []
    for at, each in enumerate(stairs.members):
        level = next((number for number, part in enumerate(stairs.parts, 1) if part[0] <= at < part[1]), 0)
        part = slice(*stairs.parts[level - 1]) if level else slice(at, at + 1)
        ratio = float(found[at] / medians(found[part])) if level else None
        place = {"bytes": int(stairs.sizes[at]), "level": level}
        points.append(point(each.estimate, place, ratio))
    return tuple(points)
