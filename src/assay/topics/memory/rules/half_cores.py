"""Half of the cores get more memory bandwidth than all of them: contention."""

from assay.analyse.comparisons import CORES
from assay.analyse.paired import Claim, PairedRatio, Tested
from assay.model.text import Text, cli, text
from assay.model.units import format_quantity

_FACTOR = 1.02
#: From this ratio on the loss with all cores is a problem.
_COSTS = 1.10


def _claim(tested: Tested) -> Text:
    if len(tested.pair.a.placement.cpus[0]) == 1:
        return text("One core ({half}) gets more bandwidth than {whole} ({all}, {everyone}; {ratio}).")
    return text(
        "Fewer cores, {label} ({cores}, {half}), get more bandwidth than {whole} ({all}, {everyone}; {ratio})."
    )


def _words(tested: Tested) -> dict[str, str]:
    half, everyone = (format_quantity(each.median or 0, each.unit) for each in (tested.pair.a, tested.pair.b))
    threads = len(tested.pair.a.placement.cpus[0])
    command = f"OMP_NUM_THREADS={threads} OMP_PLACES=cores OMP_PROC_BIND=spread PROGRAM"
    return {"half": half, "everyone": everyone, "command": command}


rule = PairedRatio(
    name="half_cores",
    asks=text("Do all cores get more bandwidth than half of them?"),
    threshold=text(
        "half / all > {ratio} and beyond the difference of two launches of a case; from {costs} it is a problem",
        ratio=f"{_FACTOR}",
        costs=f"{_COSTS:.2f}",
    ),
    differ=CORES,
    level="half",
    roles=("memory-rate",),
    border=_FACTOR,
    problem_from=_COSTS,
    # One finding for both kinds of stores: the clearer one.
    group=lambda each: (each.pair.b.placement.label, each.pair.b.placement.hosts, each.pair.comparison.state),
    claims=(
        Claim(
            "more",
            _claim,
            text("run memory-bound programs on half of the cores, spread over the caches: `{command}`"),
        ),
    ),
    rivals=(
        text("another program on some of the cores"),
        text("virtual cores that the hypervisor does not always run"),
    ),
    words=_words,
    missing=text("Memory bandwidth was not measured on both half and all cores"),
    measure=cli("run", "memory"),
)
