"""Figures that lie on no curve of messages and that several runs have: rates of kernels, other tools' figures."""

from collections.abc import Hashable, Iterable, Sequence

from assay.analyse.comparisons.pairing import headline
from assay.analyse.curves import axes
from assay.analyse.evidence import Evidence
from assay.model.result import Estimate
from assay.model.several import Alike, Way


def alike(sides: Sequence[Evidence], ways: Iterable[Way]) -> list[Alike]:
    """Figures of at least two runs that agree in benchmark, kernel, place, memory, chosen axes and factors."""
    curved = {(way.run, name) for way in ways for name in way.of}
    groups: dict[Hashable, dict[str, str]] = {}
    for side in sides:
        run = side.run.info.id
        for each in side.measured:
            estimate = each.estimate
            if estimate.median is None or (run, estimate.id) in curved or not headline(estimate):
                continue
            groups.setdefault(_key(estimate), {}).setdefault(run, estimate.id)
    return [Alike(of) for of in groups.values() if len(of) > 1]


def _key(estimate: Estimate) -> Hashable:
    computed = {axis.name for axis in axes(estimate) if axis.default is None}
    usual = {axis.name: axis.default for axis in axes(estimate)}
    params = {
        name: value for name, value in estimate.params.items() if name not in computed and value != usual.get(name)
    }
    policy = estimate.placement.memory.partition(":")[0]
    return (
        estimate.benchmark,
        estimate.kernel,
        estimate.metric,
        estimate.placement.label,
        policy,
        frozenset(params.items()),
        frozenset(estimate.factors.items()),
    )
