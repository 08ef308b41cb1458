"""What pages of 4 KiB cost where a program walks through more than the TLB covers."""

from collections.abc import Iterable

from assay.analyse.comparisons import Pair
from assay.analyse.evidence import Evidence, Rule, least, standing
from assay.analyse.experiments import again
from assay.model.result import Finding
from assay.model.text import text
from assay.model.units import format_size

_FACTOR = 1.03
_AXIS = "pages"


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = evidence.differing(_AXIS, a="huge")
    if not pairs:
        yield rule.not_assessed(text("Nothing was measured with small and with huge pages"), "assay run caches")
        return
    costly = [pair for pair in pairs if _least(pair) >= max(_FACTOR, 1 + evidence.resolution(pair.comparison))]
    if not costly:
        return
    largest = max(costly, key=lambda pair: (_size(pair), _least(pair)))
    comparison = largest.comparison
    gain = comparison.ratio if largest.a.better == "higher" else 1 / comparison.ratio
    size = format_size(_size(largest)) if _size(largest) else ""
    yield Finding(
        id=f"{rule.name}:{largest.a.id}",
        rule=rule.name,
        claim=text(
            "Huge pages make random loads from a working set of {size} {gain} times as fast as pages of 4 KiB.",
            size=size,
            gain=f"{gain:.2f}",
        )
        if size
        else text(
            "Huge pages make random loads from a working set {gain} times as fast as pages of 4 KiB.",
            gain=f"{gain:.2f}",
        ),
        severity="advice",
        status=standing(comparison),
        evidence=tuple(pair.comparison.id for pair in costly),
        statistic=text("{least} of small / huge {ratio}", least=least(comparison), ratio=f"{_least(largest):.3g}"),
        threshold=rule.threshold,
        rivals=(text("huge pages lie in one piece: their lines fall into other sets of the caches"),),
        experiment=again(comparison, (largest.a, largest.b), max(_FACTOR, 1 + evidence.resolution(comparison))),
        next=text(
            "let programs with large arrays have huge pages, by `madvise` or for all: `{command}`",
            command="echo always | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        ),
    )


def _least(pair: Pair) -> float:
    """Lower end of what huge pages gain."""
    return pair.comparison.lo if pair.a.better == "higher" else 1 / pair.comparison.hi


def _size(pair: Pair) -> int:
    return int(pair.a.params.get("bytes", 0))


rule = Rule(
    "huge_pages",
    text("Do huge pages help?"),
    text("small / huge >= {ratio} and beyond what two launches of one case differ by", ratio=f"{_FACTOR}"),
    _assess,
)
