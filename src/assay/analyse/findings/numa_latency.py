"""What a load from the memory of another node costs."""

from collections.abc import Iterable

from assay.analyse.comparisons import MEMORY, own_node
from assay.analyse.evidence import Evidence, Rule, decide, lower, standing
from assay.model.result import Finding
from assay.model.units import format_quantity

_FACTOR = 1.3


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = [
        pair
        for pair in evidence.differing(MEMORY, "chase")
        if pair.b.placement.memory == f"bind:{own_node(pair.a, evidence.run.machines)}"
        and pair.a.placement.memory.startswith("bind:")
        and pair.a.benchmark == "latency"
    ]
    if not pairs:
        why = "no core's load latency was measured with its own and with another node's memory"
        yield rule.not_assessed(why, "assay run numa")
        return
    slow = [pair for pair in pairs if pair.comparison.lo >= _FACTOR]
    if not slow:
        return
    worst = max(slow, key=lambda pair: pair.comparison.lo)
    far, near = (format_quantity(each.median or 0, each.unit) for each in (worst.a, worst.b))
    yield Finding(
        id=f"{rule.name}:{worst.a.id}",
        rule=rule.name,
        claim=f"A load from another node's memory takes {far} instead of {near}, x{worst.comparison.ratio:.2f} "
        f"({worst.a.placement.label} to {worst.a.placement.memory}).",
        severity="advice",
        status=standing(worst.comparison),
        evidence=tuple(pair.comparison.id for pair in slow),
        statistic=lower(worst.comparison),
        threshold=rule.threshold,
        next=decide(evidence, worst.comparison)
        or "keep each process and its memory on one node (`numactl --cpunodebind=N --membind=N`)",
    )


rule = Rule(
    "numa_latency",
    "How much longer does a load from another NUMA node take?",
    f"other node / own node >= {_FACTOR}",
    _assess,
)
