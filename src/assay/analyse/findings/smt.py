"""Whether the second hardware thread of each core helps."""

from collections.abc import Iterable

from assay.analyse.comparisons import CORES, Pair
from assay.analyse.evidence import Evidence, Rule, lower, standing, upper
from assay.analyse.experiments import again
from assay.analyse.possible import without_threads
from assay.model.result import Finding
from assay.model.text import text

_FACTOR = 1.02
_PERCENT = 100


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = evidence.differing(CORES, a="all-threads")
    if not pairs:
        why = text(
            "Nothing was measured on all hardware threads and on all cores; many machines have one thread a core"
        )
        yield rule.not_assessed(why, "assay run memory", without_threads(evidence.run))
    kinds: dict[tuple[str, str], Pair] = {}
    for pair in pairs:
        floor = max(_FACTOR, 1 + evidence.resolution(pair.comparison))
        ratio = pair.comparison
        lo, hi = (ratio.lo, ratio.hi) if pair.a.better == "higher" else (1 / ratio.hi, 1 / ratio.lo)
        if hi < 1 / floor:
            kinds.setdefault((pair.a.benchmark, "slower"), pair)
        elif lo > floor:
            kinds.setdefault((pair.a.benchmark, "faster"), pair)
    for (_, direction), pair in kinds.items():
        yield _finding(evidence, pair, direction)


def _finding(evidence: Evidence, pair: Pair, direction: str) -> Finding:
    comparison = pair.comparison
    change = abs(_PERCENT * (comparison.ratio - 1))
    end = lower(comparison) if (direction == "faster") == (pair.a.better == "higher") else upper(comparison)
    cores = len(pair.b.placement.cpus[0])
    start = text(
        "start one thread for each core: `{command}`",
        command=f"OMP_NUM_THREADS={cores} OMP_PLACES=cores PROGRAM",
    )
    use = text("use all hardware threads for programs like this one: `OMP_PLACES=threads PROGRAM`")
    return Finding(
        id=f"{rule.name}:{pair.a.id}",
        rule=rule.name,
        claim=text(
            "Two threads on each core make {benchmark} ({kernel}) {change} % slower than one."
            if direction == "slower"
            else "Two threads on each core make {benchmark} ({kernel}) {change} % faster than one.",
            benchmark=pair.a.benchmark,
            kernel=pair.a.kernel,
            change=f"{change:.0f}",
        ),
        severity="advice",
        status=standing(comparison),
        evidence=(comparison.id, pair.a.id, pair.b.id),
        statistic=end,
        threshold=rule.threshold,
        rivals=(text("the threads of a core share its caches: another size of problem may differ"),),
        experiment=again(comparison, (pair.a, pair.b), max(_FACTOR, 1 + evidence.resolution(comparison))),
        next=start if direction == "slower" else use,
    )


rule = Rule(
    "smt",
    text("Does the second hardware thread of each core help?"),
    text(
        "all threads / all cores beyond {ratio} and beyond what two launches of one case differ by",
        ratio=f"{_FACTOR}",
    ),
    _assess,
)
