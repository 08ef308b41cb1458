"""Half of the cores draw more from memory than all of them: contention."""

from collections.abc import Iterable

from assay.analyse.comparisons import CORES, Pair
from assay.analyse.evidence import Evidence, Rule, lower, paired, standing
from assay.analyse.experiments import again
from assay.model.result import Finding
from assay.model.text import Text, text
from assay.model.units import format_quantity

_FACTOR = 1.02
#: From here on it is no matter of taste: using all cores costs this much.
_COSTS = 1.10


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = evidence.differing(CORES, "triad", a="half")
    if not pairs:
        yield rule.not_assessed(text("Triad was not measured on half and on all cores"), "assay run memory")
    parts: dict[tuple[str, tuple[str, ...], str | None], Pair] = {}
    for pair in sorted(pairs, key=lambda pair: pair.comparison.lo):  # of both kinds of stores the clearer one
        if pair.comparison.lo > max(_FACTOR, 1 + evidence.resolution(pair.comparison)):
            parts[pair.b.placement.label, pair.b.placement.hosts, pair.a.state or pair.b.state] = pair
    for pair in parts.values():
        half, everyone = (format_quantity(each.median or 0, each.unit) for each in (pair.a, pair.b))
        observed = standing(pair.comparison) == "observed"
        yield Finding(
            id=f"{rule.name}:{pair.a.id}",
            rule=rule.name,
            claim=_claim(pair, half, everyone),
            severity="problem" if observed and pair.comparison.lo > _COSTS else "advice",
            status=standing(pair.comparison),
            evidence=(pair.comparison.id, pair.a.id, pair.b.id),
            statistic=lower(pair.comparison),
            threshold=text(
                "{threshold}; two launches of one case differ by {resolution} % here",
                threshold=rule.threshold,
                resolution=f"{100 * evidence.resolution(pair.comparison):.1f}",
            ),
            rivals=(
                text("another program on some of the cores"),
                text("cores that a hypervisor does not always run"),
            ),
            experiment=again(
                pair.comparison, (pair.a, pair.b), max(_FACTOR, 1 + evidence.resolution(pair.comparison))
            ),
            next=text(
                "run memory-bound programs on half of the cores, spread over the caches: `{command}`",
                command=f"OMP_NUM_THREADS={len(pair.a.placement.cpus[0])} OMP_PLACES=cores "
                "OMP_PROC_BIND=spread PROGRAM",
            ),
        )


def _claim(pair: Pair, half: str, everyone: str) -> Text:
    cores = len(pair.a.placement.cpus[0])
    told: dict[str, str | int] = {
        "label": pair.a.placement.label,
        "half": half,
        "all": len(pair.b.placement.cpus[0]),
        "whole": pair.b.placement.label,
        "everyone": everyone,
        "ratio": paired(pair.comparison),
    }
    if cores == 1:
        return text(
            "One core alone ({label}) gets more from memory ({half}) than all {all} cores ({whole}, {everyone}; "
            "{ratio}).",
            **told,
        )
    return text(
        "Half of the cores ({cores}, {label}) get more from memory ({half}) than all {all} cores ({whole}, "
        "{everyone}; {ratio}).",
        cores=cores,
        **told,
    )


rule = Rule(
    "half_cores",
    text("Do all cores get more from memory than half of them?"),
    text(
        "half / all > {ratio} and beyond what two launches of one case differ by; a problem from {costs} on",
        ratio=f"{_FACTOR}",
        costs=f"{_COSTS:.2f}",
    ),
    _assess,
)
