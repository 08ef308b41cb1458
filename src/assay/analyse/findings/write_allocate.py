"""Ordinary stores read what they overwrite; non-temporal stores do not."""

from collections.abc import Iterable

from assay.analyse.comparisons import Pair
from assay.analyse.evidence import Evidence, Rule, lower, paired, standing
from assay.analyse.experiments import again
from assay.model.result import Finding
from assay.model.text import text

_FACTOR = 1.02
#: Triad reads two arrays and writes one; write-allocate reads that one too: 32 B an element for 24.
_EXPECTED = 4 / 3
#: How far both ends of a ratio may lie from it for the ratio to be called that.
_NEAR = 0.05


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = evidence.differing("stores", "triad", a="non-temporal")
    if not pairs:
        yield rule.not_assessed(text("Triad was not measured with both kinds of stores"), "assay run memory")
        return
    faster = [pair for pair in pairs if pair.comparison.lo > _FACTOR]
    if not faster:
        return
    best = max(faster, key=lambda pair: (len(pair.a.placement.cpus[0]), pair.comparison.lo))
    yield _finding(best, faster)


def _finding(pair: Pair, faster: list[Pair]) -> Finding:
    comparison = pair.comparison
    explained = all(abs(end / _EXPECTED - 1) <= _NEAR for end in (comparison.lo, comparison.hi))
    cause = text(
        "near the 4/3 that write-allocate explains" if explained else "write-allocate alone would explain x1.33"
    )
    return Finding(
        id=f"{rule.name}:{pair.a.id}",
        rule=rule.name,
        claim=text(
            "Non-temporal stores lift triad on {label} ({ratio}): {cause}, for 32 B are moved where 24 B are "
            "counted.",
            label=pair.a.placement.label,
            ratio=paired(comparison),
            cause=cause,
        ),
        severity="advice",
        status=standing(comparison),
        evidence=tuple(each.comparison.id for each in faster),
        statistic=lower(comparison),
        threshold=rule.threshold,
        rivals=()
        if explained
        else (text("the compiler turns loops into calls of memcpy"), text("another state of the prefetchers")),
        experiment=again(comparison, (pair.a, pair.b), _FACTOR),
        next=text(
            "use non-temporal stores for arrays that are written and not soon read again "
            "(`#pragma omp simd nontemporal`, `-qopt-streaming-stores=always`)"
        ),
    )


rule = Rule(
    "write_allocate",
    text("Do ordinary stores cost the reading of what they overwrite?"),
    text("non-temporal / ordinary > {ratio}", ratio=f"{_FACTOR}"),
    _assess,
)
