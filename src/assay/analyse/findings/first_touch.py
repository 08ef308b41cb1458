"""One thread that writes all arrays first puts them on its own memory node."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule, least, paired, standing
from assay.analyse.experiments import again
from assay.analyse.possible import without_memory_nodes
from assay.model.result import Finding
from assay.model.text import text

_FACTOR = 1.2
_KERNELS = ("triad", "jacobi")


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = [pair for kernel in _KERNELS for pair in evidence.differing("touch", kernel, a="serial")]
    if not pairs:
        yield rule.not_assessed(
            text(
                "Nothing was measured with serial first touch, which has one memory node to go to on many machines"
            ),
            "assay run memory",
            without_memory_nodes(evidence.run),
        )
    for pair in pairs:
        comparison = pair.comparison
        if 1 / comparison.hi < _FACTOR:
            continue
        yield Finding(
            id=f"{rule.name}:{pair.a.id}",
            rule=rule.name,
            claim=text(
                "Arrays first written by one thread give {benchmark} on {label} only part of the rate that they "
                "give when each thread first writes its own ({ratio}).",
                benchmark=pair.a.benchmark,
                label=pair.a.placement.label,
                ratio=paired(comparison),
            ),
            severity="advice",
            status=standing(comparison),
            evidence=(comparison.id, pair.a.id, pair.b.id),
            statistic=text(
                "{least} of parallel / serial {ratio}", least=least(comparison), ratio=f"{1 / comparison.hi:.3g}"
            ),
            threshold=rule.threshold,
            rivals=(text("NUMA balancing of the kernel moved pages meanwhile"),),
            experiment=again(comparison, (pair.a, pair.b), _FACTOR),
            next=text(
                "initialise arrays in the threads that use them, or deal their pages to all nodes: "
                "`numactl --interleave=all PROGRAM`"
            ),
        )


rule = Rule(
    "first_touch",
    text("Does it matter which thread writes memory first?"),
    text("parallel / serial >= {ratio}", ratio=f"{_FACTOR}"),
    _assess,
)
