"""What the memory of another node costs in bandwidth, and what is common to all such costs."""

from collections.abc import Iterable, Sequence

from assay.analyse.comparisons import MEMORY, Pair, own_node
from assay.analyse.evidence import Evidence, Rule, digits, standing, upper
from assay.analyse.experiments import again
from assay.analyse.possible import without_memory_nodes
from assay.model.result import Finding
from assay.model.text import text

_SHARE = 0.80


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = remote(evidence, "stream", "triad")
    if not pairs:
        why = text("No cores were measured against their own and another node's memory")
        yield rule.not_assessed(why, "assay run memory", without_memory_nodes(evidence.run))
        return
    slow = sorted((pair for pair in pairs if pair.comparison.hi < _SHARE), key=lambda pair: pair.comparison.hi)
    if slow:
        worst, shares = slow[0], sorted(pair.comparison.ratio for pair in pairs)
        claim = text(
            "Memory of another node gives {low} to {high} of the cores' own bandwidth, least {label} to {memory}.",
            low=digits(shares[0]),
            high=digits(shares[-1]),
            label=worst.a.placement.label,
            memory=worst.a.placement.memory,
        )
        yield costs(rule, evidence, slow, (claim, upper(worst.comparison)), 1 / _SHARE)


def remote(evidence: Evidence, benchmark: str, kernel: str) -> list[Pair]:
    """The same cores bound to the memory of another node (a) and to that of their own (b)."""
    return [
        pair
        for pair in evidence.differing(MEMORY, kernel)
        if pair.a.benchmark == benchmark
        and pair.a.placement.memory.startswith("bind:")
        and pair.b.placement.memory == f"bind:{own_node(pair.a, evidence.run.machines)}"
    ]


def costs(rule: Rule, evidence: Evidence, slow: Sequence[Pair], told: tuple[str, str], factor: float) -> Finding:
    """That remote memory costs something, with its remedy.

    Args:
        rule: that says so.
        evidence: that it looks at.
        slow: pairs that are slow, the worst first.
        told: the claim and its statistic.
        factor: from which on a pair is slow.
    """
    claim, statistic = told
    worst = slow[0]
    own = own_node(worst.a, evidence.run.machines)
    return Finding(
        id=f"{rule.name}:{worst.a.id}",
        rule=rule.name,
        claim=claim,
        severity="advice",
        status=standing(worst.comparison),
        evidence=tuple(pair.comparison.id for pair in slow),
        statistic=statistic,
        threshold=rule.threshold,
        experiment=again(worst.comparison, (worst.a, worst.b), factor),
        next=text(
            "keep each process and its memory on one node: `{command}`",
            command=f"numactl --cpunodebind={own} --membind={own} PROGRAM",
        ),
    )


rule = Rule(
    "numa_penalty",
    text("What does the memory of another NUMA node cost?"),
    text("other node / own node < {share}", share=f"{_SHARE:.2f}"),
    _assess,
)
