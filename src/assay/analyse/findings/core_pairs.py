"""Pairs of cores that hand over a cache line slower than their like, and cores that all such pairs share."""

from collections.abc import Iterable, Mapping, Sequence

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.experiments import anew, repeated
from assay.analyse.models.core_to_core import LAW
from assay.analyse.outliers import DEVIATIONS, FEWEST, LOW, common_end, first_few, slow
from assay.analyse.possible import without_pairs
from assay.model.plan import Experiment
from assay.model.result import Finding, Model, Point
from assay.model.text import joined, text
from assay.model.units import format_quantity


def _assess(evidence: Evidence) -> Iterable[Finding]:
    models = [model for model in evidence.models if model.law == LAW]
    judged = False
    for model in models:
        classes: dict[str, list[Point]] = {}
        for point in model.points:
            classes.setdefault(str(point.at["class"]), []).append(point)
        known = {kind: classes[kind] for kind in model.parameters if len(classes.get(kind, ())) >= FEWEST}
        judged = judged or bool(known)
        found = {kind: outliers for kind, points in known.items() if (outliers := slow(points, "lower"))}
        if found:
            yield _finding(evidence, model, found)
    if not judged:
        yield rule.not_assessed(
            text("Fewer than {pairs} pairs of like distance were measured", pairs=FEWEST),
            "assay run node",
            without_pairs(evidence.run, FEWEST),
        )


def _finding(evidence: Evidence, model: Model, found: Mapping[str, Sequence[Point]]) -> Finding:
    outliers = [point for points in found.values() for point in points]
    worst = max(outliers, key=lambda point: point.ratio or 0.0)
    kind = next(name for name, points in found.items() if worst in points)
    usual = model.parameters[kind][0]
    confident = all(evidence.confidence(point.estimate) for point in outliers)
    cpu = common_end(outliers)
    common = text("All of them are pairs of cpu {cpu}.", cpu=str(cpu)) if cpu is not None else ""
    named = [f"{point.at['a']}-{point.at['b']} x{point.ratio or 0:.2f}" for point in outliers]
    told = text(
        "{count} of {all} pairs of cpus hand over a cache line slower than their like ({pairs}; {kind}: {usual} "
        "usually).",
        count=len(outliers),
        all=len(model.points),
        pairs=first_few(named),
        kind=kind,
        usual=format_quantity(usual, "s"),
    )
    return Finding(
        id=f"{rule.name}:{model.id}",
        rule=rule.name,
        claim=joined(" ", (told, common)),
        severity="problem",
        status="observed" if confident else "candidate",
        evidence=(model.id, *(point.estimate for point in outliers)),
        statistic=text(
            "lower end of the slowest over the median of its class {ratio}", ratio=f"{worst.value[1] / usual:.3g}"
        ),
        threshold=rule.threshold,
        rivals=(
            text("another program on these cpus"),
            text("a hypervisor that moves virtual cores"),
            text("an uneven mesh"),
        ),
        experiment=None if confident else _experiment(evidence, model, worst),
        next=text(
            "measure again while the machine is idle, for the same pair twice is no chance: `{command}`",
            command=f"assay run {evidence.study()}",
        ),
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
    text("Do all pairs of cores of like distance hand over a cache line equally fast?"),
    text(
        "lower end > median of the class + {deviations} median absolute deviations and + {low} %",
        deviations=DEVIATIONS,
        low=f"{100 * LOW:.0f}",
    ),
    _assess,
)
