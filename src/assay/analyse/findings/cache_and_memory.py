"""How much slower copies become once they leave the caches: what a program may count on."""

from collections.abc import Iterable

from assay.analyse.bounds import cached_bytes, fits_caches
from assay.analyse.comparisons.effects import compare
from assay.analyse.curves import machine_of
from assay.analyse.estimates import Measured
from assay.analyse.evidence import FEWEST_BLOCKS, Evidence, Rule, decide, digits, paired, standing
from assay.analyse.models.cache_plateaus import LAW as PLATEAUS
from assay.model.result import Comparison, Estimate, Finding
from assay.model.text import joined, text
from assay.model.units import format_quantity, format_size

#: Smaller cold blocks cost their calls and what lies around them, not only their bytes.
_LEAST_COLD = 64 * 2**10


def _assess(evidence: Evidence) -> Iterable[Finding]:
    copies = [
        each
        for each in evidence.measured
        if (each.estimate.benchmark, each.estimate.metric) == ("memcpy", "bandwidth")
        and each.estimate.median is not None
        and each.estimate.launches >= FEWEST_BLOCKS
    ]
    beyond = [each for each in copies if _is_in_memory(each.estimate, evidence)]
    memory = max(beyond, key=_largest_cold, default=None)
    hot = [each for each in copies if memory and _is_cached(each.estimate, memory.estimate) and each not in beyond]
    cached = max(hot, key=lambda each: each.estimate.median or 0.0, default=None)
    comparison = compare(cached, memory) if cached and memory else None
    if cached is None or memory is None or comparison is None or comparison.blocks < FEWEST_BLOCKS:
        why = text(
            "Memcpy was not measured in cache and in memory (cold blocks of {size} or more) in {launches} "
            "launches or more",
            size=format_size(_LEAST_COLD),
            launches=FEWEST_BLOCKS,
        )
        yield rule.not_assessed(why, f"assay run quick{evidence.budget()}")
        return
    yield _finding(evidence, cached.estimate, memory.estimate, comparison)


def _finding(evidence: Evidence, cached: Estimate, memory: Estimate, comparison: Comparison) -> Finding:
    model = next(
        (each for each in evidence.models if each.law == PLATEAUS and not each.reason and cached.id in each.of),
        None,
    )
    falls = [
        text("{value} ({basis})", value=format_size(after), basis=name.partition(" (")[2].removesuffix(")"))
        if " (" in name
        else format_size(after)
        for name, (_, _, after) in (model.parameters.items() if model else ())
        if name.startswith("boundary")
    ]
    told = text(
        "With memcpy one core copies {cached} in cache and {memory} in memory (cache / memory {ratio}): for data "
        "beyond the caches count on the latter.",
        cached=_told(cached),
        memory=_told(memory),
        ratio=paired(comparison),
    )
    where = text("The rate falls at {sizes}.", sizes=joined(", ", falls)) if falls else ""
    return Finding(
        id=f"{rule.name}:{memory.id}",
        rule=rule.name,
        claim=joined(" ", (told, where)),
        severity="fact",
        status=standing(comparison),
        evidence=(cached.id, memory.id, *([model.id] if model else [])),
        statistic=text("cache / memory {ratio}", ratio=digits(comparison.ratio)),
        threshold=rule.threshold,
        next=decide(evidence, comparison),
    )


def _is_in_memory(estimate: Estimate, evidence: Evidence) -> bool:
    """Whether its blocks are met in memory: large cold ones, or hot ones that no cache holds."""
    machine = machine_of(estimate, evidence.run.machines)
    if machine is None or fits_caches(estimate, machine.topology):
        return False
    if estimate.params.get("buffers") == "cold":
        return int(estimate.params["bytes"]) >= _LEAST_COLD
    return cached_bytes(estimate, machine.topology) > 0


def _largest_cold(measured: Measured) -> tuple[int, bool]:
    """Order by size of blocks, of one size cold ones last."""
    params = measured.estimate.params
    return int(params["bytes"]), params.get("buffers") == "cold"


def _is_cached(estimate: Estimate, memory: Estimate) -> bool:
    """Whether its blocks are met again, by the same core in the same state."""
    return estimate.params.get("buffers") == "hot" and all(
        one == other
        for one, other in (
            (estimate.placement.cpus, memory.placement.cpus),
            (estimate.placement.hosts, memory.placement.hosts),
            (estimate.factors, memory.factors),
            (estimate.state, memory.state),
        )
    )


def _told(estimate: Estimate) -> str:
    rate, size = format_quantity(estimate.median or 0.0, "B/s"), format_size(int(estimate.params["bytes"]))
    if estimate.params["buffers"] == "cold":
        return text("{rate} (cold blocks of {size})", rate=rate, size=size)
    return text("{rate} (hot blocks of {size})", rate=rate, size=size)


rule = Rule(
    "cache_and_memory",
    text("How fast are copies in cache and in memory?"),
    text("none: a fact; a candidate below 6 launches"),
    _assess,
)
