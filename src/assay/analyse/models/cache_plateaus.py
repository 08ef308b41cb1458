"""The plateaus that caches give the rate of a copy."""

import math
from collections.abc import Iterable, Sequence
from itertools import zip_longest

import numpy as np

from assay.analyse.curves import Known, curves
from assay.analyse.plateaus import partition
from assay.model.machine import Machine
from assay.model.result import Estimate, Model
from assay.model.text import text
from assay.model.units import format_size

LAW = "cache-plateaus"
_PLATEAU_POINTS = 2
#: Below this share of the highest rate a small copy costs its call, not its bytes.
_CALL_BOUND = 0.8
#: How far rates of one plateau scatter (in ln).
_SCATTER = 0.10
#: A boundary belongs to a cache when source and target together are within this factor of its size.
_BESIDE = 2
#: Rates that lie further from every plateau than this follow some other law.
_RESIDUAL = 0.25


def fit(known: Known) -> Iterable[Model]:
    """One model for every copy curve in cache."""
    hot = [each for each in known.of("memcpy") if each.estimate.params.get("buffers") == "hot"]
    for curve in curves(hot, "bytes", "buffers"):
        name = "/".join([LAW, "memcpy", *(mark for mark in curve.marks if mark != "offset=0")])
        yield _plateaus(name, [each.estimate for each in curve.members], known)


def _plateaus(name: str, curve: Sequence[Estimate], known: Known) -> Model:
    """Piecewise constant ln rate over the sizes that are not bound by the cost of a call.

    Parameters: `rate 1`, `rate 2` ... [geometric mean, least, largest median of the plateau]; `boundary 1` ...
    [geometric middle, last size of this plateau, first size of the next or beyond the last], named after the cache
    beside it.
    """
    rated = sorted((int(each.params["bytes"]), each.median, each.id) for each in curve if each.median is not None)
    of = tuple(identity for _, _, identity in rated)
    peak = max((rate for _, rate, _ in rated), default=0.0)
    first = next((at for at, (_, rate, _) in enumerate(rated) if rate >= _CALL_BOUND * peak), len(rated))
    sizes = [size for size, _, _ in rated[first:]]
    rates = np.array([rate for _, rate, _ in rated[first:]])
    if len(sizes) < 2 * _PLATEAU_POINTS:
        reason = text(
            "{sizes} sizes above the cost of a call: two plateaus need {needed}",
            sizes=len(sizes),
            needed=2 * _PLATEAU_POINTS,
        )
        return Model(name, LAW, of, {}, None, reason)
    parts = partition(np.log(rates), _SCATTER, _PLATEAU_POINTS)
    if not parts:
        return Model(name, LAW, of, {}, None, text("no two neighbouring sizes have rates alike"))
    parameters: dict[str, tuple[float, float, float]] = {}
    residual = 0.0
    begins = [begin for begin, _ in parts[1:]]
    falls = [  # sizes at which only a part still fits belong to no plateau, and so lie in the boundary
        (sizes[end - 1], sizes[end if begin is None else begin])
        for (_, end), begin in zip_longest(parts, begins)
        if end < len(sizes)
    ]
    beside = _caches_beside(falls, known.machine(curve[0]))
    for number, (begin, end) in enumerate(parts, 1):
        plateau = rates[begin:end]
        level = float(np.exp(np.log(plateau).mean()))
        parameters[f"rate {number}"] = (level, float(plateau.min()), float(plateau.max()))
        residual = max(residual, float(np.abs(plateau / level - 1).max()))
        if number <= len(falls):
            before, after = (float(size) for size in falls[number - 1])
            parameters[f"boundary {number}{beside[number - 1]}"] = (math.sqrt(before * after), before, after)
    if residual > _RESIDUAL:
        far = text("rates lie up to {share} % beside their plateaus", share=f"{100 * residual:.0f}")
        return Model(name, LAW, of, {}, residual, far)
    return Model(name, LAW, of, parameters, residual)


def _caches_beside(boundaries: Sequence[tuple[int, int]], machine: Machine | None) -> list[str]:
    """` (L2, 1 MiB)` for each boundary at which source and target together leave that cache, else empty.

    A cache has one boundary, the nearest of those (last size before, first size after) within a factor of it.
    """
    caches = {
        (cache.level, cache.size_bytes)
        for cache in (machine.topology.caches if machine else ())
        if cache.kind != "instruction"
    }
    names = [""] * len(boundaries)
    near = [
        (abs(math.log(2 * math.sqrt(before * after) / size)), at, level, size)
        for at, (before, after) in enumerate(boundaries)
        for level, size in caches
        if 2 * before / _BESIDE <= size <= 2 * after * _BESIDE
    ]
    named: set[int] = set()
    for _, at, level, size in sorted(near):
        if not names[at] and level not in named:
            names[at] = f" (L{level}, {format_size(size)})"
            named.add(level)
    return names
