"""Half of the cores draw more from memory than all of them: contention."""

from collections.abc import Iterable

from assay.analyse.comparisons import CORES
from assay.analyse.evidence import Evidence, Rule, decide, lower, standing
from assay.model.result import Finding
from assay.model.units import format_quantity

_FACTOR = 1.02


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = [
        pair for pair in evidence.differing(CORES, "triad") if pair.a.placement.label.partition(":")[0] == "half"
    ]
    if not pairs:
        yield rule.not_assessed("triad was not measured on half and on all cores", "assay run memory")
    for pair in pairs:
        if pair.comparison.lo <= _FACTOR or pair.a.median is None or pair.b.median is None:
            continue
        half, everyone = (format_quantity(each.median or 0, each.unit) for each in (pair.a, pair.b))
        yield Finding(
            id=f"{rule.name}:{pair.a.id}",
            rule=rule.name,
            claim=f"Half of the cores ({pair.a.placement.label}) get {half} from memory, more than the {everyone} "
            f"of all ({pair.b.placement.label}): x{pair.comparison.ratio:.2f}.",
            severity="problem",
            status=standing(pair.comparison),
            evidence=(pair.comparison.id, pair.a.id, pair.b.id),
            statistic=lower(pair.comparison),
            threshold=rule.threshold,
            rivals=("another program on some of the cores", "cores that a hypervisor does not always run"),
            next=decide(evidence, pair.comparison)
            or "run memory-bound programs on half of the cores, spread over the caches",
        )


rule = Rule(
    "half_cores",
    "Do all cores get more from memory than half of them?",
    f"half / all > {_FACTOR}",
    _assess,
)
