"""How much slower copies become once they leave the caches: the rates that a program can expect."""

from collections.abc import Iterable

from assay.analyse.bounds import cached_bytes, fits_caches
from assay.analyse.comparisons.judging import Pair, in_blocks
from assay.analyse.curves import machine_of
from assay.analyse.evidence import FEWEST_BLOCKS, Evidence, Rule, decide, digits, numbers, paired, standing
from assay.analyse.plateaus import CachePlateaus
from assay.model.comparison import Comparison
from assay.model.result import Estimate, Finding
from assay.model.text import cli, joined, text
from assay.model.units import format_quantity, format_size

#: The time of smaller cold blocks is also that of their calls and of the bytes around them.
_LEAST_COLD = 64 * 2**10


def _assess(evidence: Evidence) -> Iterable[Finding]:
    copies = evidence.of_role("copy-rate")
    copies = [each for each in copies if each.estimate.median and each.estimate.launches >= FEWEST_BLOCKS]
    beyond = [each for each in copies if _is_in_memory(each.estimate, evidence)]
    # The largest blocks; of one size the cold ones.
    by_size = sorted(beyond, key=lambda each: each.estimate.params.get("buffers") != "cold")
    memory = max(by_size, key=lambda each: int(each.estimate.params["bytes"]), default=None)
    here = _place(memory.estimate) if memory else None
    hot = [each for each in copies if each.estimate.params.get("buffers") == "hot" and each not in beyond]
    hot = [each for each in hot if _place(each.estimate) == here]
    cached = max(hot, key=lambda each: each.estimate.median or 0.0, default=None)
    (comparison,) = in_blocks([Pair(cached, memory)]) if cached and memory else (None,)
    if cached and memory and comparison and comparison.blocks >= FEWEST_BLOCKS:
        yield _finding(evidence, cached.estimate, memory.estimate, comparison)
        return
    why = text(
        "Memcpy was not measured both in cache and in memory (cold blocks of {size} or more) in {launches} or "
        "more launches",
        size=format_size(_LEAST_COLD),
        launches=FEWEST_BLOCKS,
    )
    yield rule.not_assessed(why, cli("run", "quick", *evidence.budget()))


def _finding(evidence: Evidence, cached: Estimate, memory: Estimate, comparison: Comparison) -> Finding:
    model = next((each for each in evidence.fitted(CachePlateaus) if cached.id in each.of), None)
    ends = [plateau.end for plateau in model.plateaus if plateau.end] if model else []
    caches = [f" ({each.cause}, {format_size(each.cache_bytes)})" if each.cache_bytes else "" for each in ends]
    between = [
        text("{low} to {high}", low=format_size(each.size.lo), high=format_size(each.size.hi)) for each in ends
    ]
    falls = [joined("", [sizes, cache]) for sizes, cache in zip(between, caches, strict=True)]
    claim = text(
        "With memcpy one core copies {cached} in cache and {memory} in memory (cache / memory {ratio}). For "
        "data larger than the caches expect {memory}.",
        cached=_rate(cached),
        memory=_rate(memory),
        ratio=paired(comparison),
    )
    where = text("The rate falls at {sizes}.", sizes=joined(", ", falls)) if falls else ""
    return rule.finding(
        memory.id,
        claim=joined(" ", (claim, where)),
        status=standing(comparison),
        evidence=(cached.id, memory.id, *([model.id] if model else [])),
        numbers=numbers(comparison.value),
        statistic=text("cache / memory {ratio}", ratio=digits(comparison.ratio)),
        next=decide(evidence, comparison),
    )


def _is_in_memory(estimate: Estimate, evidence: Evidence) -> bool:
    """Whether its blocks are in memory: large cold ones, or hot ones that no cache holds."""
    machine = machine_of(estimate, evidence.run.machines)
    if machine is None or fits_caches(estimate, machine.topology):
        return False
    if estimate.params.get("buffers") == "cold":
        return int(estimate.params["bytes"]) >= _LEAST_COLD
    return cached_bytes(estimate, machine.topology) > 0


def _place(estimate: Estimate) -> tuple[object, ...]:
    """Return the cores, factors and state of an estimate."""
    return estimate.placement.cpus, estimate.placement.hosts, estimate.factors, estimate.state


def _rate(estimate: Estimate) -> str:
    cold = estimate.params["buffers"] == "cold"
    return text(
        "{rate} (cold blocks of {size})" if cold else "{rate} (hot blocks of {size})",
        rate=format_quantity(estimate.median or 0.0, "B/s"),
        size=format_size(int(estimate.params["bytes"])),
    )


rule = Rule(
    "cache_and_memory",
    text("How fast are copies in cache and in memory?"),
    text("none: a fact; a candidate below 6 launches"),
    _assess,
)
