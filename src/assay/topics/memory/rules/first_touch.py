"""If one thread writes all arrays first, they are all on its own memory node."""

from assay.analyse.paired import Claim, PairedRatio
from assay.analyse.possible import without_memory_nodes
from assay.model.text import cli, text

_FACTOR = 1.2

rule = PairedRatio(
    name="first_touch",
    asks=text("Does it matter which thread writes memory first?"),
    threshold=text("parallel / serial >= {ratio}", ratio=f"{_FACTOR}"),
    differ="touch",
    level="serial",
    roles=("memory-rate", "stencil-rate"),
    border=_FACTOR,
    claims=(
        Claim(
            "less",
            text(
                "First touch by one thread lowers the rate of {benchmark} on {label}, compared with first touch "
                "by each thread ({ratio})."
            ),
            text(
                "initialise arrays in the threads that use them, or interleave their pages: `numactl "
                "--interleave=all PROGRAM`"
            ),
        ),
    ),
    rivals=(text("NUMA balancing of the kernel moved pages during the measurement"),),
    missing=text("Nothing was measured with serial first touch; many machines have one memory node only"),
    measure=cli("run", "memory"),
    cannot=without_memory_nodes,
)
