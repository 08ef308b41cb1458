"""Pages dealt to all memory nodes against pages that one thread wrote first: a study's table in one rule."""

from collections.abc import Iterable

from assay.analyse.comparisons import MEMORY, Pair
from assay.analyse.evidence import Evidence, Rule, lower, paired, standing
from assay.analyse.experiments import again
from assay.analyse.possible import without_memory_nodes
from assay.model.result import Finding
from assay.model.text import text
from assay.model.units import format_quantity

_FACTOR = 1.2
_KERNELS = ("triad", "jacobi")


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = [pair for kernel in _KERNELS for pair in evidence.differing(MEMORY, kernel) if _serial(pair)]
    if not pairs:
        why = text("Nothing was measured with serial first touch and with interleaved pages")
        yield rule.not_assessed(why, "assay run interleave", without_memory_nodes(evidence.run))
    best: dict[str, Pair] = {}
    for pair in sorted(pairs, key=lambda pair: pair.comparison.lo):
        if pair.comparison.lo >= _FACTOR:
            best[pair.a.benchmark] = pair
    for pair in best.values():
        dealt, heaped = (format_quantity(each.median or 0, each.unit) for each in (pair.a, pair.b))
        yield Finding(
            id=f"{rule.name}:{pair.a.id}",
            rule=rule.name,
            claim=text(
                "Interleaved pages lift {benchmark} on {label} where one thread writes the arrays first ({ratio}; "
                "medians {heaped} and {dealt}).",
                benchmark=pair.a.benchmark,
                label=pair.a.placement.label,
                ratio=paired(pair.comparison),
                heaped=heaped,
                dealt=dealt,
            ),
            severity="advice",
            status=standing(pair.comparison),
            evidence=(pair.comparison.id, pair.a.id, pair.b.id),
            statistic=lower(pair.comparison),
            threshold=rule.threshold,
            rivals=(text("NUMA balancing of the kernel moved pages meanwhile"),),
            experiment=again(pair.comparison, (pair.a, pair.b), _FACTOR),
            next=text(
                "initialise arrays in the threads that use them, or deal their pages to all nodes: "
                "`numactl --interleave=all PROGRAM`"
            ),
        )


def _serial(pair: Pair) -> bool:
    """Whether interleaved pages are held against first touch by one thread."""
    return (
        pair.a.placement.memory.startswith("interleave")
        and pair.b.placement.memory == "first-touch"
        and pair.a.params.get("touch") == "serial"
    )


rule = Rule(
    "interleave",
    text("Do interleaved pages help programs that write their arrays with one thread?"),
    text("interleave / first touch by one thread >= {ratio}", ratio=f"{_FACTOR}"),
    _assess,
)
