"""Pages interleaved over all memory nodes, compared with pages that one thread touched first."""

from assay.analyse.comparisons import MEMORY
from assay.analyse.evidence import Evidence
from assay.analyse.paired import Claim, PairedRatio
from assay.analyse.possible import without_memory_nodes
from assay.model.compared import ComparedPair
from assay.model.text import cli, text
from assay.model.units import format_quantity

_FACTOR = 1.2


def _serial(_evidence: Evidence, pair: ComparedPair) -> bool:
    """Whether a pair compares interleaved pages with first touch by one thread."""
    return (
        pair.a.placement.policy.policy == "interleave"
        and pair.b.placement.memory == "first-touch"
        and pair.a.params.get("touch") == "serial"
    )


rule = PairedRatio(
    name="interleave",
    asks=text("Do interleaved pages help programs that initialise their arrays with one thread?"),
    threshold=text("interleave / first touch by one thread >= {ratio}", ratio=f"{_FACTOR}"),
    differ=MEMORY,
    roles=("memory-rate", "stencil-rate"),
    only=_serial,
    border=_FACTOR,
    group=lambda tested: tested.pair.a.benchmark,
    claims=(
        Claim(
            "more",
            text(
                "Interleaved pages speed up {benchmark} on {label} when one thread initialises the arrays "
                "({ratio}; medians {serial} and {interleaved})."
            ),
            text(
                "initialise arrays in the threads that use them, or interleave their pages: `numactl "
                "--interleave=all PROGRAM`"
            ),
        ),
    ),
    rivals=(text("NUMA balancing of the kernel moved pages during the measurement"),),
    words=lambda tested: {
        "serial": format_quantity(tested.pair.b.median or 0, tested.pair.b.unit),
        "interleaved": format_quantity(tested.pair.a.median or 0, tested.pair.a.unit),
    },
    missing=text("Nothing was measured with both serial first touch and interleaved pages"),
    measure=cli("run", "interleave"),
    cannot=without_memory_nodes,
)
