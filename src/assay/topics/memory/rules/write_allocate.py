"""Ordinary stores read what they overwrite; non-temporal stores do not."""

from assay.analyse.paired import Claim, PairedRatio, Tested
from assay.model.text import cli, text

_FACTOR = 1.02
#: Triad reads two arrays and writes one; write-allocate reads that one too: 32 B an element for 24.
_EXPECTED = 4 / 3
#: A ratio is explained by write-allocate if both of its ends are this near to it.
_NEAR = 0.05


def _explained(tested: Tested) -> bool:
    comparison = tested.pair.comparison
    return all(abs(end / _EXPECTED - 1) <= _NEAR for end in (comparison.lo, comparison.hi))


_EXPLAINED, _NOT = text("close to the factor 4/3 of write-allocate"), text("write-allocate alone explains x1.33")
_OTHERS = text("the compiler turns loops into calls of memcpy"), text("another state of the prefetchers")

rule = PairedRatio(
    name="write_allocate",
    asks=text("Do ordinary stores read the lines that they overwrite?"),
    threshold=text("non-temporal / ordinary > {ratio}", ratio=f"{_FACTOR}"),
    differ="stores",
    level="non-temporal",
    roles=("memory-rate",),
    border=_FACTOR,
    group=lambda _tested: None,
    clearest=lambda tested: (len(tested.pair.a.placement.cpus[0]), tested.ratio.lo),
    claims=(
        Claim(
            "more",
            text(
                "Non-temporal stores speed up {kernel} on {label} ({ratio}): {cause}. Ordinary stores move 32 B "
                "where 24 B are counted."
            ),
            text(
                "use non-temporal stores for arrays that are written and not read soon (`#pragma omp simd "
                "nontemporal`, `-qopt-streaming-stores=always`)"
            ),
        ),
    ),
    rivals=lambda tested: () if _explained(tested) else _OTHERS,
    words=lambda tested: {"cause": _EXPLAINED if _explained(tested) else _NOT},
    missing=text("Memory bandwidth was not measured with both kinds of stores"),
    measure=cli("run", "memory"),
)
