"""How many cores fill the memory's bandwidth."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.models.saturation import LAW, REACHES
from assay.model.result import Finding, Model
from assay.model.text import text
from assay.model.units import format_quantity


def _assess(evidence: Evidence) -> Iterable[Finding]:
    models = [model for model in evidence.models if model.law == LAW and not model.reason]
    if not models:
        yield rule.not_assessed(text("Triad was not measured on several numbers of cores"), "assay run node")
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
            claim=text(
                "{cores} of {total} cores ({order}) reach {share} of {most}, the most that any number of them "
                "gets from memory.",
                cores=round(cores),
                total=total,
                order=order,
                share=f"{REACHES}",
                most=format_quantity(most, "B/s"),
            ),
            severity="fact",
            status="observed",
            evidence=(model.id,),
            statistic=text(
                "cores {cores} ({low} to {high})",
                **{
                    name: f"{end:.0f}"
                    for name, end in zip(("cores", "low", "high"), model.parameters["cores"], strict=True)
                },
            ),
            threshold=rule.threshold,
        )


rule = Rule("saturation", text("How many cores fill the memory's bandwidth?"), text("none: a fact"), _assess)
