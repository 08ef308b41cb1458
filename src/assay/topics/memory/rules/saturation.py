"""How many cores saturate the memory bandwidth."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.model.result import Finding
from assay.model.text import cli, text
from assay.model.units import format_quantity
from assay.topics.memory.models.saturation import REACHES, Saturation


def _assess(evidence: Evidence) -> Iterable[Finding]:
    models = evidence.fitted(Saturation)
    if not models:
        yield rule.not_assessed(
            text("Memory bandwidth was not measured on several numbers of cores"), cli("run", "node")
        )
    best = {model.order: model for model in sorted(models, key=lambda each: each.maximum.value)}
    for order, model in best.items():
        cores, most = model.cores.value, model.maximum.value
        total = max(int(point.at["cores"]) for point in model.points)
        yield rule.finding(
            model.id,
            claim=text(
                "{count} of {total} cores ({order}) reaches {share} of {most}, the maximum over all numbers of "
                "cores.|{count} of {total} cores ({order}) reach {share} of {most}, the maximum over all numbers "
                "of cores.",
                count=round(cores),
                total=total,
                order=order,
                share=f"{REACHES}",
                most=format_quantity(most, "B/s"),
            ),
            evidence=(model.id,),
            numbers=numbers(model.cores),
            statistic=text(
                "cores {cores} ({low} to {high})",
                **{name: f"{end:.0f}" for name, end in zip(("cores", "low", "high"), model.cores, strict=True)},
            ),
        )


rule = Rule("saturation", text("How many cores saturate the memory bandwidth?"), text("none: a fact"), _assess)
