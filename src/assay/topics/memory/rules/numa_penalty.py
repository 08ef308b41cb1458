"""How much bandwidth the memory of another node costs."""

from assay.analyse.comparisons import MEMORY
from assay.analyse.paired import Claim, PairedRatio, Tested
from assay.analyse.possible import without_memory_nodes
from assay.model.text import cli, text
from assay.topics.memory.far import bound, is_far

_SHARE = 0.80


def _words(tested: Tested) -> dict[str, str]:
    shares = sorted(pair.comparison.ratio for pair in rule.pairs(tested.evidence))
    low, high = (f"{100 * each:.0f}" for each in (shares[0], shares[-1]))
    share = low if low == high else text("{low} to {high}", low=low, high=high)
    return {"share": share, **bound(tested)}


rule = PairedRatio(
    name="numa_penalty",
    asks=text("What does the memory of another NUMA node cost?"),
    threshold=text("own node / other node >= {ratio}", ratio=f"{1 / _SHARE:.2f}"),
    differ=MEMORY,
    roles=("memory-rate",),
    only=is_far,
    border=1 / _SHARE,
    group=lambda _tested: None,
    claims=(
        Claim(
            "less",
            text("Remote memory gives {share} % of the local bandwidth. The lowest: {label}, {memory}."),
            text("keep each process and its memory on one node: `{command}`"),
        ),
    ),
    words=_words,
    missing=text("No cores were measured with both local and remote memory"),
    measure=cli("run", "memory"),
    cannot=without_memory_nodes,
)
