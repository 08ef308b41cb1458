"""What a load costs while other cores draw bandwidth."""

from collections.abc import Iterable

from assay.analyse.curves import Curve, RunEstimates, curves, figure, point
from assay.model.law import Model, Unfitted
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.model.text import text
from assay.topics.memory.models.latency_levels import MEMORY, LatencyLevels

LAW = "loaded-latency"
NEEDS = ("latency_levels",)
_FEWEST = 2


class LoadedLatency(Model, frozen=True, kw_only=True, tag=LAW):
    """One load while other cores draw bandwidth.

    Attributes:
        lightest: latency under the lightest load, in s.
        loaded: latency under the heaviest load.
        bandwidth: the heaviest load, in B/s; None where it is not known.
        idle: latency without load: the memory level of the walk alone, by the same core through pages of the same
            size; None where that walk was not measured, or did not reach memory.
    """

    lightest: Quantity
    loaded: Quantity
    bandwidth: Quantity | None
    idle: Quantity | None

    @property
    def base(self) -> Quantity:
        """Idle latency; the one under the lightest load where that is not known."""
        return self.idle or self.lightest

    @property
    def headline(self) -> Quantity:
        """The base."""
        return self.base


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each placement: the chase, and the bandwidth of the load at the same time."""
    drawn = {
        (each.estimate.case, each.estimate.placement.hosts, each.estimate.state): each.estimate
        for each in known.of_role("memory-traffic")
    }
    alone = {
        (*_walk(known.estimates[model.of[-1]]), model.state): model.levels[-1].latency
        for model in known.fitted(LatencyLevels)
        if model.levels[-1].answered_by == MEMORY
    }
    for curve in curves(known.of_role("loaded-latency"), "delay"):
        walk = _walk(curve.members[0].estimate)
        yield _model(curve, drawn, alone.get((*walk, curve.state)) or alone.get((*walk, None)))


def _walk(estimate: Estimate) -> tuple[object, ...]:
    """Return the core that walks, its host and memory, its pages, and the levels of factors."""
    placed = estimate.placement
    cpu = placed.cpus[0][:1] if placed.cpus else ()
    return cpu, placed.hosts, placed.memory, estimate.params.get("pages"), tuple(estimate.factors.items())


def _model(
    curve: Curve, drawn: dict[tuple[str, tuple[str, ...], str | None], Estimate], idle: Quantity | None
) -> Model:
    ordered = sorted(curve.members, key=lambda each: -float(each.estimate.params["delay"]))
    curve, members = curve._replace(members=tuple(ordered)), [each.estimate for each in ordered]
    if len(members) < _FEWEST:
        reason = text("{delays} delay: a curve needs {needed}", delays=len(members), needed=_FEWEST)
        return Unfitted(**curve.identity(LAW), wanted=LAW, reason=reason)
    loads = [drawn.get((each.case, each.placement.hosts, each.state)) for each in members]
    lightest = figure(members[0])
    points = tuple(
        point(
            each,
            {"delay": each.params["delay"]}
            | ({"bandwidth": load.median} if load and load.median is not None else {}),
            figure(each).value / (idle or lightest).value,
        )
        for each, load in zip(members, loads, strict=True)
    )
    return LoadedLatency(
        **curve.identity(LAW),
        points=points,
        lightest=lightest,
        loaded=figure(members[-1]),
        bandwidth=figure(loads[-1]) if loads[-1] else None,
        idle=idle,
    )
