"""How much longer a load from the memory of another node takes."""

from assay.analyse.comparisons import MEMORY
from assay.analyse.paired import Claim, PairedRatio
from assay.analyse.possible import without_memory_nodes
from assay.model.text import cli, text
from assay.topics.memory.far import bound, is_far

_FACTOR = 1.3

rule = PairedRatio(
    name="numa_latency",
    asks=text("How much longer does a load from another NUMA node take?"),
    threshold=text("other node / own node >= {ratio}", ratio=f"{_FACTOR}"),
    differ=MEMORY,
    roles=("load-latency",),
    only=is_far,
    border=_FACTOR,
    group=lambda _tested: None,
    claims=(
        Claim(
            "more",
            text(
                "A load from the memory of another node takes longer than a local load ({ratio}; {label}, "
                "{memory})."
            ),
            text("keep each process and its memory on one node: `{command}`"),
        ),
    ),
    words=bound,
    missing=text("No core was measured with both local and remote load latency"),
    measure=cli("run", "numa"),
    cannot=without_memory_nodes,
)
