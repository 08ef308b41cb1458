"""What the memory of another node costs."""

from collections.abc import Iterable

from assay.analyse.comparisons import MEMORY, Pair, own_node
from assay.analyse.evidence import Evidence, Rule, decide, standing, upper
from assay.model.result import Finding

_SHARE = 0.80


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = [pair for pair in evidence.differing(MEMORY, "triad") if _local_and_remote(evidence, pair)]
    if not pairs:
        yield rule.not_assessed(
            "no cores were measured against their own and another node's memory", "assay run memory"
        )
        return
    slow = [pair for pair in pairs if pair.comparison.hi < _SHARE]
    if not slow:
        return
    worst = min(slow, key=lambda pair: pair.comparison.hi)
    shares = sorted(pair.comparison.ratio for pair in pairs)
    yield Finding(
        id=f"{rule.name}:{worst.a.id}",
        rule=rule.name,
        claim=f"Memory of another node gives {shares[0]:.2f} to {shares[-1]:.2f} of the bandwidth of the cores' "
        f"own; least from {worst.a.placement.label} to {worst.a.placement.memory}.",
        severity="advice",
        status=standing(worst.comparison),
        evidence=tuple(pair.comparison.id for pair in slow),
        statistic=upper(worst.comparison),
        threshold=rule.threshold,
        next=decide(evidence, worst.comparison)
        or "keep each process and its memory on one node (`numactl --cpunodebind=N --membind=N`)",
    )


def _local_and_remote(evidence: Evidence, pair: Pair) -> bool:
    own = own_node(pair.a, evidence.run.machines)
    return pair.b.placement.memory == f"bind:{own}" and pair.a.placement.memory.startswith("bind:")


rule = Rule(
    "numa_penalty",
    "What does the memory of another NUMA node cost?",
    f"other node / own node < {_SHARE:.2f}",
    _assess,
)
