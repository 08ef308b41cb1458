"""What a load from the memory of another node costs."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule, lower, paired
from assay.analyse.findings.numa_penalty import costs, remote
from assay.analyse.possible import without_memory_nodes
from assay.model.result import Finding
from assay.model.text import text

_FACTOR = 1.3


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = remote(evidence, "latency", "chase")
    if not pairs:
        why = text("No core's load latency was measured with its own and with another node's memory")
        yield rule.not_assessed(why, "assay run numa", without_memory_nodes(evidence.run))
    slow = sorted((pair for pair in pairs if pair.comparison.lo >= _FACTOR), key=lambda pair: -pair.comparison.lo)
    if slow:
        worst = slow[0]
        claim = text(
            "A load from another node's memory takes longer than one from the own node's ({ratio}; {label} to "
            "{memory}).",
            ratio=paired(worst.comparison),
            label=worst.a.placement.label,
            memory=worst.a.placement.memory,
        )
        yield costs(rule, evidence, slow, (claim, lower(worst.comparison)), _FACTOR)


rule = Rule(
    "numa_latency",
    text("How much longer does a load from another NUMA node take?"),
    text("other node / own node >= {ratio}", ratio=f"{_FACTOR}"),
    _assess,
)
