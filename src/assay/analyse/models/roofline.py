"""The roofline: what a kernel can reach, min(peak, intensity x bandwidth), and where kernels of the run stand.

Source: S. Williams, A. Waterman, D. Patterson, Roofline, Communications of the ACM 52, 2009. Peak and bandwidths
are those measured in this run on the same cpus; intensity is flops over the bytes that memory must move.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from assay.analyse.bounds import best_memory_rate
from assay.analyse.curves import Known, figure, point, states_of
from assay.analyse.models import cache_plateaus
from assay.model.result import Estimate, Model, Point

LAW = "roofline"
FLOP, TRAFFIC = "flop/s", "traffic"
_PRECISION = "fp64"
#: Flops of one element by STREAM's definition, and the bytes that it names for it; copy has none.
_STREAM = {"scale": (1, 16), "add": (1, 24), "triad": (2, 24)}
#: memcpy counts a byte once that is read and written.
_BOTH_WAYS = 2


class _Placed(NamedTuple):
    """A kernel on the roofline."""

    estimate: Estimate
    intensity: float
    rate: tuple[float, float, float]


def fit(known: Known) -> Iterable[Model]:
    """One model for each set of cpus on which flops and kernels with bytes were both measured."""
    groups: dict[Hashable, list[Estimate]] = {}
    for each in known.measured:
        estimate = each.estimate
        if estimate.median is not None:
            levels = tuple(estimate.factors.items())
            groups.setdefault((estimate.placement.cpus[:1], estimate.placement.hosts, levels), []).append(estimate)
    for group in groups.values():
        for state in states_of(group):
            yield from _model([each for each in group if each.state in {None, state}], state, known)


def _model(group: Sequence[Estimate], state: str | None, known: Known) -> Iterable[Model]:
    """Parameters: `peak`, `bandwidth memory`, `bandwidth L1` ..., and where they meet the peak: `ridge L1` ..."""
    flops = [each for each in group if each.benchmark == "flops" and each.unit == FLOP]
    peak = max((each for each in flops if each.params.get("format") == _PRECISION), key=_median, default=None)
    traffic = [each for each in group if each.benchmark == "stream" and each.metric == TRAFFIC]
    of_state = [each for each in group if each.state == state]  # what was pooled over states is no roof of one
    machines = known.run.machines
    memory = (best_memory_rate(of_state, machines) or best_memory_rate(group, machines)) if traffic else None
    stated = list(_stated(group))
    if peak is None or not (traffic or stated):
        return
    marks = [peak.placement.label, *(f"{name}={level}" for name, level in peak.factors.items())]
    marks += [f"host={host}" for host in peak.placement.hosts] + ([f"state={state}"] if state else [])
    name = "/".join([LAW, *marks])
    if memory is None:
        of = (peak.id, *(each.estimate.id for each in stated))
        yield Model(
            name, LAW, of, {}, None, "STREAM beyond the caches was not measured on these cpus: no memory roof"
        )
        return
    bandwidths = {"memory": figure(memory)} | _cached(group, state, known)
    parameters = {"peak": figure(peak)}
    parameters |= {f"bandwidth {level}": value for level, value in bandwidths.items()}
    parameters |= {f"ridge {level}": _over(figure(peak), value) for level, value in bandwidths.items()}
    placed = [*_stream(group, traffic), *stated]
    yield Model(
        id=name,
        law=LAW,
        of=(peak.id, memory.id, *(each.estimate.id for each in placed)),
        parameters=parameters,
        residual=None,
        points=tuple(_point(each, _median(peak), _median(memory)) for each in placed),
    )


def _median(estimate: Estimate) -> float:
    return estimate.median or 0.0


def _over(one: tuple[float, float, float], other: tuple[float, float, float]) -> tuple[float, float, float]:
    """Quotient of two figures; its ends are the farthest that their ends allow."""
    return one[0] / other[0], one[1] / other[2], one[2] / other[1]


def _cached(group: Sequence[Estimate], state: str | None, known: Known) -> dict[str, tuple[float, float, float]]:
    """Bandwidth of each cache: the plateau of memcpy that ends at it, read and written bytes both counted."""
    ids = {each.id for each in group}
    found = {}
    for model in cache_plateaus.fit(known):
        named = [(name, value) for name, value in model.parameters.items() if name.startswith("boundary")]
        if not ids & set(model.of) or "offset" in model.id or (state and not model.id.endswith(f"state={state}")):
            continue
        for name, _ in named:
            number, _, cache = name.removeprefix("boundary ").partition(" (")
            if cache:
                low = model.parameters[f"rate {number}"]
                found[cache.partition(",")[0]] = (_BOTH_WAYS * low[0], _BOTH_WAYS * low[1], _BOTH_WAYS * low[2])
    return found


def _stream(group: Sequence[Estimate], traffic: Sequence[Estimate]) -> Iterable[_Placed]:
    """STREAM's kernels: their flops follow from the bytes that it counts."""
    moved = {(each.case, each.kernel): each for each in traffic}
    for each in group:
        if each.benchmark == "stream" and each.metric == "bandwidth" and each.kernel in _STREAM:
            flops, counted = _STREAM[each.kernel]
            hardware = moved.get((each.case, each.kernel))
            if hardware is not None:
                rate = figure(each, flops / counted)
                yield _Placed(each, rate[0] / _median(hardware), rate)


def _stated(group: Sequence[Estimate]) -> Iterable[_Placed]:
    """Kernels that state both their flops and their traffic."""
    moved = {(each.case, each.kernel): each for each in group if each.metric == TRAFFIC}
    for each in group:
        if each.unit == FLOP and (each.case, each.kernel) in moved:
            yield _Placed(each, _median(each) / _median(moved[each.case, each.kernel]), figure(each))


def _point(placed: _Placed, peak: float, memory: float) -> Point:
    estimate = placed.estimate
    place = {"benchmark": estimate.benchmark, "kernel": estimate.kernel}
    bound = min(peak, placed.intensity * memory)
    return point(estimate, {**place, "intensity": placed.intensity}, placed.rate[0] / bound, placed.rate)
