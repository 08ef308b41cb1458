"""Figures that lie on no curve of messages and that several runs have: rates of kernels, other tools' figures."""

from collections.abc import Hashable, Sequence

from assay.analyse.comparisons.pairing import headline
from assay.analyse.curves import axes
from assay.analyse.evidence import Evidence
from assay.model.benchmark import ParamValue
from assay.model.result import Estimate
from assay.model.several import Alike, Way


def alike(sides: Sequence[Evidence], ways: Sequence[Way]) -> list[Alike]:
    """Figures of at least two runs that agree in benchmark, kernel, place, memory, chosen axes and factors."""
    groups: dict[Hashable, dict[str, str]] = {}
    for side in sides:
        for estimate in uncurved(side, ways):
            groups.setdefault(_key(estimate), {}).setdefault(side.run.info.id, estimate.id)
    return [Alike(of) for of in groups.values() if len(of) > 1]


def uncurved(side: Evidence, ways: Sequence[Way]) -> list[Estimate]:
    """Headline figures of a run that lie on none of these curves."""
    curved = {name for way in ways if way.run == side.run.info.id for name in way.of}
    found = (each.estimate for each in side.measured)
    return [each for each in found if each.median is not None and each.id not in curved and headline(each)]


def chosen(estimate: Estimate) -> dict[str, ParamValue]:
    """Its params that somebody chose, and not as they usually are."""
    computed = {axis.name for axis in axes(estimate) if axis.default is None}
    usual = {axis.name: axis.default for axis in axes(estimate)}
    params = estimate.params.items()
    return {name: value for name, value in params if name not in computed and value != usual.get(name)}


def _key(estimate: Estimate) -> Hashable:
    policy = estimate.placement.memory.partition(":")[0]
    return (
        estimate.benchmark,
        estimate.kernel,
        estimate.metric,
        estimate.placement.label,
        policy,
        frozenset(chosen(estimate).items()),
        frozenset(estimate.factors.items()),
    )
