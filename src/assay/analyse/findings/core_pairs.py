"""Pairs of cores that hand over a cache line slower than their like, and cores that all such pairs share."""

from collections.abc import Iterable, Mapping, Sequence

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.experiments import anew, repeated
from assay.analyse.models.core_to_core import LAW
from assay.analyse.outliers import DEVIATIONS, FEWEST, LOW, common_end, slow
from assay.model.plan import Experiment
from assay.model.result import Finding, Model, Point
from assay.model.units import format_quantity

_SHOWN = 3


def _assess(evidence: Evidence) -> Iterable[Finding]:
    models = [model for model in evidence.models if model.law == LAW]
    judged = False
    for model in models:
        classes: dict[str, list[Point]] = {}
        for point in model.points:
            classes.setdefault(str(point.at["class"]), []).append(point)
        known = {kind: points for kind, points in classes.items() if len(points) >= FEWEST}
        judged = judged or bool(known)
        found = {kind: outliers for kind, points in known.items() if (outliers := slow(points, "lower"))}
        if found:
            yield _finding(evidence, model, found)
    if not judged:
        yield rule.not_assessed(f"fewer than {FEWEST} pairs of like distance were measured", "assay run node")


def _finding(evidence: Evidence, model: Model, found: Mapping[str, Sequence[Point]]) -> Finding:
    outliers = [point for points in found.values() for point in points]
    worst = max(outliers, key=lambda point: point.ratio or 0.0)
    shown = ", ".join(f"{point.at['a']}-{point.at['b']} x{point.ratio or 0:.2f}" for point in outliers[:_SHOWN])
    usual = model.parameters[str(worst.at["class"])][0]
    confident = all(evidence.confidence(point.estimate) for point in outliers)
    cpu = common_end(outliers)
    common = f" All of them are pairs of cpu {cpu}." if cpu is not None else ""
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
        experiment=None if confident else _experiment(evidence, model, worst),
        next="measure again while the machine is idle, for the same pair twice is no chance: "
        f"`assay run {evidence.study()}`",
    )


def _experiment(evidence: Evidence, model: Model, worst: Point) -> Experiment:
    """The slowest pair against the most usual one of its class."""
    known = {each.estimate.id: each.estimate for each in evidence.measured}
    kind = worst.at["class"]
    usual = model.parameters[str(kind)][0]
    alike = (point for point in model.points if point.at["class"] == kind)
    typical = min(alike, key=lambda point: abs(point.value[0] - usual))
    return anew(repeated((known[worst.estimate], known[typical.estimate]), 1 + LOW, "above"))


rule = Rule(
    "core_pairs",
    "Do all pairs of cores of like distance hand over a cache line equally fast?",
    f"lower end > median of the class + {DEVIATIONS} median absolute deviations and + {100 * LOW:.0f} %",
    _assess,
)
