"""Whether the second hardware thread of each core helps."""

from assay.analyse.comparisons import CORES
from assay.analyse.paired import Claim, PairedRatio
from assay.analyse.possible import without_threads
from assay.model.text import cli, text

_FACTOR = 1.02

rule = PairedRatio(
    name="smt",
    asks=text("Does the second hardware thread of each core help?"),
    threshold=text(
        "all threads / all cores beyond {ratio} and beyond the difference of two launches of a case",
        ratio=f"{_FACTOR}",
    ),
    differ=CORES,
    level="all-threads",
    border=_FACTOR,
    group=lambda tested: (tested.pair.a.benchmark, tested.claim.direction),
    clearest=lambda _tested: 0.0,  # the first one
    claims=(
        Claim(
            "slower",
            text("Two threads on each core make {benchmark} ({kernel}) {change} % slower than one."),
            text("start one thread per core: `{command}`"),
        ),
        Claim(
            "faster",
            text("Two threads on each core make {benchmark} ({kernel}) {change} % faster than one."),
            text("use all hardware threads for programs like this one: `OMP_PLACES=threads PROGRAM`"),
        ),
    ),
    rivals=(text("the threads of a core share its caches: another problem size can give another result"),),
    words=lambda tested: {
        "command": f"OMP_NUM_THREADS={len(tested.pair.b.placement.cpus[0])} OMP_PLACES=cores PROGRAM"
    },
    missing=text(
        "Nothing was measured on both all hardware threads and all cores; many machines have one thread per core"
    ),
    measure=cli("run", "memory"),
    cannot=without_threads,
)
