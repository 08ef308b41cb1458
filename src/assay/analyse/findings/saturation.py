"""How many cores fill the memory's bandwidth."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.models.saturation import LAW, REACHES
from assay.model.result import Finding, Model
from assay.model.units import format_quantity


def _assess(evidence: Evidence) -> Iterable[Finding]:
    models = [model for model in evidence.models if model.law == LAW and not model.reason]
    if not models:
        yield rule.not_assessed("triad was not measured on several numbers of cores", "assay run node")
        return
    best: dict[str, Model] = {}
    for model in sorted(models, key=lambda each: each.parameters["maximum"][0]):
        best[str(model.points[0].at["order"])] = model
    for order, model in best.items():
        cores, most = model.parameters["cores"][0], model.parameters["maximum"][0]
        total = max(int(point.at["cores"]) for point in model.points)
        yield Finding(
            id=f"{rule.name}:{model.id}",
            rule=rule.name,
            claim=f"{cores:.0f} of {total} cores ({order}) reach {REACHES} of {format_quantity(most, 'B/s')}, the "
            "most that any number of them gets from memory.",
            severity="fact",
            status="observed",
            evidence=(model.id,),
            statistic="cores {:.0f} ({:.0f} to {:.0f})".format(*model.parameters["cores"]),
            threshold=rule.threshold,
        )


rule = Rule("saturation", "How many cores fill the memory's bandwidth?", "none: a fact", _assess)
