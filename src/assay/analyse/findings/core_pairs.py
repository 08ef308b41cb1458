"""Pairs of cores that hand over a cache line slower than their like, and cores that all such pairs share."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.models.core_to_core import LAW
from assay.model.result import Finding, Model, Point
from assay.model.units import format_quantity

_DEVIATIONS = 6
_LOW = 0.10
#: So many pairs of a class are needed to know what is usual.
_FEWEST = 6
_SHOWN = 3


def _assess(evidence: Evidence) -> Iterable[Finding]:
    models = [model for model in evidence.models if model.law == LAW]
    judged = False
    for model in models:
        classes: dict[str, list[Point]] = {}
        for point in model.points:
            classes.setdefault(str(point.at["class"]), []).append(point)
        known = {kind: points for kind, points in classes.items() if len(points) >= _FEWEST}
        judged = judged or bool(known)
        slow = {kind: outliers for kind, points in known.items() if (outliers := _outliers(points))}
        if slow:
            yield _finding(evidence, model, slow)
    if not judged:
        yield rule.not_assessed(f"fewer than {_FEWEST} pairs of like distance were measured", "assay run node")


def _outliers(points: Sequence[Point]) -> list[Point]:
    """Those whose whole interval lies above the median of their class by 6 deviations and 10 %."""
    values = np.array([point.value[0] for point in points])
    usual = float(np.median(values))
    border = max(usual + _DEVIATIONS * float(np.median(np.abs(values - usual))), (1 + _LOW) * usual)
    return [point for point in points if point.value[1] > border]


def _finding(evidence: Evidence, model: Model, slow: Mapping[str, Sequence[Point]]) -> Finding:
    outliers = [point for points in slow.values() for point in points]
    worst = max(outliers, key=lambda point: point.ratio or 0.0)
    shown = ", ".join(f"{point.at['a']}-{point.at['b']} x{point.ratio or 0:.2f}" for point in outliers[:_SHOWN])
    usual = model.parameters[str(worst.at["class"])][0]
    confident = all(evidence.confidence(point.estimate) for point in outliers)
    ends = Counter(point.at[end] for point in outliers for end in ("a", "b"))
    cpu, count = ends.most_common(1)[0]
    common = f" All of them are pairs of cpu {cpu}." if count == len(outliers) > 1 else ""
    more = f" and {len(outliers) - _SHOWN} more" if len(outliers) > _SHOWN else ""
    return Finding(
        id=f"{rule.name}:{model.id}",
        rule=rule.name,
        claim=f"{len(outliers)} of {len(model.points)} pairs of cpus hand over a cache line slower than "
        f"their like ({shown}{more}; {worst.at['class']}: {format_quantity(usual, 's')} usually).{common}",
        severity="problem",
        status="observed" if confident else "candidate",
        evidence=(model.id, *(point.estimate for point in outliers)),
        statistic=f"lower end of the slowest over the median of its class {worst.value[1] / usual:.3g}",
        threshold=rule.threshold,
        rivals=("another program on these cpus", "a hypervisor that moves virtual cores", "an uneven mesh"),
        next="measure again while the machine is idle, for the same pair twice is no chance: "
        f"`assay run {evidence.run.plan.study}`",
    )


rule = Rule(
    "core_pairs",
    "Do all pairs of cores of like distance hand over a cache line equally fast?",
    f"lower end > median of the class + {_DEVIATIONS} median absolute deviations and + {100 * _LOW:.0f} %",
    _assess,
)
