"""Pairs of cores with slower cache-line transfers than similar pairs, and a core that all of them share."""

from collections.abc import Iterable, Sequence

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.experiments import retest, retest_pair
from assay.analyse.outliers import DEVIATIONS, FEWEST, LOW, common_end, first_few, slow
from assay.analyse.possible import without_pairs
from assay.model.grouping import grouped
from assay.model.law import Point
from assay.model.result import Finding
from assay.model.text import cli, joined, text
from assay.model.units import format_quantity
from assay.topics.cores.models.core_to_core import CoreToCore


def _assess(evidence: Evidence) -> Iterable[Finding]:
    judged = False
    for model in evidence.fitted(CoreToCore):
        classes = grouped(model.points, lambda point: point.at["class"])
        known = [each.name for each in model.classes if len(classes[each.name]) >= FEWEST]
        judged = judged or bool(known)
        found = [point for name in known for point in slow(classes[name], "lower")]
        if found:
            yield _finding(evidence, model, found)
    if not judged:
        yield rule.not_assessed(
            text("Fewer than {pairs} pairs at the same distance were measured", pairs=FEWEST),
            cli("run", "node"),
            without_pairs(evidence.run, FEWEST),
        )


def _finding(evidence: Evidence, model: CoreToCore, outliers: Sequence[Point]) -> Finding:
    worst = max(outliers, key=lambda point: point.ratio or 0.0)
    kind, usual = next((each.name, each.time.value) for each in model.classes if each.name == worst.at["class"])
    confident = all(evidence.estimates[point.estimate].confidence for point in outliers)
    similar = (point for point in model.points if point.at["class"] == kind)
    typical = min(similar, key=lambda point: abs(point.value.value - usual))
    pair = evidence.estimates[worst.estimate], evidence.estimates[typical.estimate]
    cpu = common_end(outliers)
    common = text("All of them are pairs of cpu {cpu}.", cpu=str(cpu)) if cpu is not None else ""
    named = [f"{point.at['a']}-{point.at['b']} x{point.ratio or 0:.2f}" for point in outliers]
    claim = text(
        "{count} of {all} pairs of cpus transfer a cache line more slowly than similar pairs ({pairs}; {kind}: "
        "usually {usual}).",
        count=len(outliers),
        all=len(model.points),
        pairs=first_few(named),
        kind=kind,
        usual=format_quantity(usual, "s"),
    )
    return rule.finding(
        model.id,
        claim=joined(" ", (claim, common)),
        severity="problem",
        status="observed" if confident else "candidate",
        evidence=(model.id, *(point.estimate for point in outliers)),
        numbers=numbers(worst.value, (1 + LOW) * usual, "s"),
        statistic=text(
            "lower end of the slowest over the median of its class {ratio}", ratio=f"{worst.value.lo / usual:.3g}"
        ),
        rivals=(
            text("another program on these cpus"),
            text("a hypervisor that moves virtual cores"),
            text("an uneven mesh"),
        ),
        experiment=None if confident else retest(retest_pair(pair, 1 + LOW, "above")),
        next=text(
            "measure again on an idle machine; if the same pair is slow again, it is not chance: `{command}`",
            command=cli("run", evidence.study()),
        ),
    )


rule = Rule(
    "core_pairs",
    text("Do all pairs of cores at the same distance transfer a cache line equally fast?"),
    text(
        "lower end > median of the class + {deviations} median absolute deviations and + {low} %",
        deviations=DEVIATIONS,
        low=f"{100 * LOW:.0f}",
    ),
    _assess,
)
