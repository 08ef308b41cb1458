"""The plateaus that caches give the rate of a copy."""

import math
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from assay.analyse.curves import Curve, RunEstimates, between, curves
from assay.analyse.plateaus import CACHE_PLATEAUS, Boundary, CachePlateaus, Plateau, partition
from assay.model.law import Model, Unfitted
from assay.model.machine import Machine
from assay.model.quantity import Quantity
from assay.model.text import text

_PLATEAU_POINTS = 2
#: Below this share of the highest rate a small copy costs its call, not its bytes.
_CALL_BOUND = 0.8
#: How far rates of one plateau scatter (in ln).
_SCATTER = 0.10
#: A boundary belongs to a cache when source and target together are within this factor of its size.
_WITHIN = 2
#: Rates that lie further from every plateau than this follow some other law.
_RESIDUAL = 0.25


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each copy curve in cache."""
    hot = [each for each in known.of_role("copy-rate") if each.estimate.params.get("buffers") == "hot"]
    for curve in curves(hot, "bytes", "buffers"):
        benchmark = curve.members[0].estimate.benchmark
        name = "/".join([CACHE_PLATEAUS, benchmark, *(mark for mark in curve.marks if mark != "offset=0")])
        yield _plateaus(name, curve, known)


def _plateaus(name: str, curve: Curve, known: RunEstimates) -> Model:
    """Fit a piecewise constant ln rate over the sizes that are not bound by the cost of a call."""
    members = [each.estimate for each in curve.members]
    rated = sorted(
        (int(each.params["bytes"]), each.median, each.id) for each in members if each.median is not None
    )
    of = tuple(identity for _, _, identity in rated)
    peak = max((rate for _, rate, _ in rated), default=0.0)
    first = next((at for at, (_, rate, _) in enumerate(rated) if rate >= _CALL_BOUND * peak), len(rated))
    sizes = [size for size, _, _ in rated[first:]]
    rates = np.array([rate for _, rate, _ in rated[first:]])
    unfitted = Unfitted(id=name, of=of, state=curve.state, wanted=CACHE_PLATEAUS, reason="")
    if len(sizes) < 2 * _PLATEAU_POINTS:
        reason = text(
            "{sizes} sizes cost more than a call: two plateaus need {needed}",
            sizes=len(sizes),
            needed=2 * _PLATEAU_POINTS,
        )
        return msgspec.structs.replace(unfitted, reason=reason)
    parts = partition(np.log(rates), _SCATTER, _PLATEAU_POINTS)
    if not parts:
        return msgspec.structs.replace(unfitted, reason=text("no two neighbouring sizes have similar rates"))
    following = [*(begin for begin, _ in parts[1:]), parts[-1][1]]
    falls = [  # sizes at which only a part still fits belong to no plateau, and so lie in the boundary
        (sizes[end - 1], sizes[begin])
        for (_, end), begin in zip(parts, following, strict=True)
        if end < len(sizes)
    ]
    ends = _boundaries(falls, known.machine(members[0]))
    levels = [(float(np.exp(np.log(part).mean())), part) for part in (rates[begin:end] for begin, end in parts)]
    residual = max(float(np.abs(part / level - 1).max()) for level, part in levels)
    if residual > _RESIDUAL:
        far = text("rates differ by up to {share} % from their plateaus", share=f"{100 * residual:.0f}")
        return msgspec.structs.replace(unfitted, residual=residual, reason=far)
    spreads = (Quantity(level, float(part.min()), float(part.max()), "B/s", "range") for level, part in levels)
    return CachePlateaus(
        id=name,
        of=of,
        state=curve.state,
        residual=residual,
        offset=int(members[0].params.get("offset", 0)),
        plateaus=tuple(map(Plateau, spreads, [*ends, None][: len(parts)])),
    )


def _boundaries(falls: Sequence[tuple[int, int]], machine: Machine | None) -> list[Boundary]:
    """Return the ends of plateaus, each with the cache that source and target together leave there.

    A cache has one boundary, the nearest of those (last size before, first size after) within a factor of it.
    """
    caches = {
        (cache.level, cache.size_bytes)
        for cache in (machine.topology.caches if machine else ())
        if cache.kind != "instruction"
    }
    near = [
        (abs(math.log(2 * math.sqrt(before * after) / size)), at, level, size)
        for at, (before, after) in enumerate(falls)
        for level, size in caches
        if 2 * before / _WITHIN <= size <= 2 * after * _WITHIN
    ]
    found: dict[int, tuple[int, int]] = {}
    for _, at, level, size in sorted(near):
        if at not in found and level not in {level for level, _ in found.values()}:
            found[at] = (level, size)
    causes = (found.get(at, (0, None)) for at in range(len(falls)))
    return [
        Boundary(between(before, after), f"L{level}" if level else "", size)
        for (before, after), (level, size) in zip(falls, causes, strict=True)
    ]
