"""One thread that writes all arrays first puts them on its own memory node."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule, paired, standing
from assay.analyse.experiments import again
from assay.model.result import Finding

_FACTOR = 1.2
_KERNELS = ("triad", "jacobi")


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = [pair for kernel in _KERNELS for pair in evidence.differing("touch", kernel, a="serial")]
    if not pairs:
        yield rule.not_assessed(
            "nothing was measured with serial first touch, which has one memory node to go to on many machines",
            "assay run memory",
        )
    for pair in pairs:
        comparison = pair.comparison
        if 1 / comparison.hi < _FACTOR:
            continue
        least = "lower bound (95 %)" if comparison.confidence else f"least ratio of {comparison.blocks} blocks"
        yield Finding(
            id=f"{rule.name}:{pair.a.id}",
            rule=rule.name,
            claim=f"Arrays first written by one thread give {pair.a.benchmark} on {pair.a.placement.label} "
            f"only part of the rate that they give when each thread first writes its own ({paired(comparison)}).",
            severity="advice",
            status=standing(comparison),
            evidence=(comparison.id, pair.a.id, pair.b.id),
            statistic=f"{least} of parallel / serial {1 / comparison.hi:.3g}",
            threshold=rule.threshold,
            rivals=("NUMA balancing of the kernel moved pages meanwhile",),
            experiment=again(comparison, (pair.a, pair.b), _FACTOR),
            next="initialise arrays in the threads that use them, or deal their pages to all nodes: "
            "`numactl --interleave=all PROGRAM`",
        )


rule = Rule(
    "first_touch",
    "Does it matter which thread writes memory first?",
    f"parallel / serial >= {_FACTOR}",
    _assess,
)
