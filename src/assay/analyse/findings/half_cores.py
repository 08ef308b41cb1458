"""Half of the cores draw more from memory than all of them: contention."""

from collections.abc import Iterable

from assay.analyse.comparisons import CORES, Pair
from assay.analyse.evidence import Evidence, Rule, decide, lower, standing
from assay.model.result import Finding
from assay.model.units import format_quantity

_FACTOR = 1.02


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = evidence.differing(CORES, "triad", a="half")
    if not pairs:
        yield rule.not_assessed("triad was not measured on half and on all cores", "assay run memory")
    parts: dict[tuple[str, tuple[str, ...], str | None], Pair] = {}
    for pair in sorted(pairs, key=lambda pair: pair.comparison.lo):  # of both kinds of stores the clearer one
        if pair.comparison.lo > _FACTOR:
            parts[pair.b.placement.label, pair.b.placement.hosts, pair.a.state or pair.b.state] = pair
    for pair in parts.values():
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
