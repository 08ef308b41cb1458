"""The share of a node's bandwidth that a single core can draw."""

import math
from collections.abc import Iterable

from assay.analyse.comparisons import CORES
from assay.analyse.evidence import FEWEST_BLOCKS, Evidence, Rule, decide, numbers, paired, standing
from assay.model.compared import ComparedPair
from assay.model.result import Estimate, Finding
from assay.model.role_words import Role
from assay.model.text import cli, joined, text
from assay.model.units import format_quantity
from assay.topics.memory.models.lines_in_flight import LinesInFlight

_ROLES: tuple[Role, ...] = ("memory-rate",)
#: From here on one core nearly fills the memory's bandwidth.
_MOST = 0.9
#: Two cores of 49.9 % each do fill it.
_ALMOST = 0.1


def _assess(evidence: Evidence) -> Iterable[Finding]:
    # On two cores `half` is one core, and pairs carry that word.
    pairs = [pair for pair in evidence.differing(CORES, _ROLES) if pair.a.placement.word.text == "one-core"]
    if not pairs:
        yield rule.not_assessed(
            text(
                "Memory bandwidth was not measured on both one core and all cores in {blocks} or more blocks",
                blocks=FEWEST_BLOCKS,
            ),
            cli("run", "quick"),
        )
        return
    # One core is compared with the kind of stores that is fastest on all cores.
    pair = max(pairs, key=lambda pair: pair.b.median or 0)
    if pair.comparison.ratio > 1:
        yield rule.not_assessed(
            text(
                "One core reached {ratio} of the bandwidth of all cores: something else limited all cores",
                ratio=f"x{pair.comparison.ratio:.2f}",
            ),
            text("measure again while the machine is idle: `{command}`", command=cli("run", "quick")),
        )
        return
    yield _finding(evidence, pair)


def _finding(evidence: Evidence, pair: ComparedPair) -> Finding:
    comparison = pair.comparison
    one, everyone = (format_quantity(each.median or 0, each.unit) for each in (pair.a, pair.b))
    cores = len(pair.b.placement.cpus[0])
    flight = _flight(evidence, pair.a)
    claim: str = text(
        "One core reaches {one} in {kernel}, all {cores} cores reach {everyone} with the same stores; in the same "
        "block one core has {share} % of it ({ratio}): {meaning}.",
        one=one,
        kernel=pair.a.kernel,
        share=f"{100 * comparison.ratio:.0f}",
        everyone=everyone,
        cores=cores,
        ratio=paired(comparison),
        meaning=meaning(comparison.lo, comparison.hi, cores),
    )
    return rule.finding(
        pair.a.id,
        claim=joined(" ", (claim, _in_flight(flight) if flight else "")),
        status=standing(comparison),
        evidence=(comparison.id, pair.a.id, pair.b.id, *([flight.id] if flight else [])),
        numbers=numbers(comparison.value),
        statistic=paired(comparison),
        next=decide(evidence, comparison),
    )


def _flight(evidence: Evidence, one: Estimate) -> LinesInFlight | None:
    """Return the lines in flight of the core of an estimate, in its state."""
    here = one.placement.cpus, one.placement.hosts
    placed = ((each, evidence.estimates[each.of[0]].placement) for each in evidence.fitted(LinesInFlight))
    found = (each for each, place in placed if (place.cpus, place.hosts) == here)
    return next((each for each in found if each.state in {None, one.state}), None)


def _in_flight(model: LinesInFlight) -> str:
    lines, low, high = (f"{number:.1f}" for number in model.lines)
    return text(
        "The core moves {bandwidth} at most and waits {latency} for a line of {line} B in a random walk: if a "
        "line of a stream takes as long, {lines} lines are in flight ({low} to {high}).",
        bandwidth=format_quantity(model.bandwidth.value, "B/s"),
        latency=format_quantity(model.latency.value, "s"),
        line=str(model.line_bytes),
        lines=lines,
        low=low,
        high=high,
    )


def meaning(lo: float, hi: float, cores: int) -> str:
    """Say how many cores saturate memory, as far as both ends of the ratio agree."""
    if lo > _MOST:
        return text("more cores add little")
    fewest, most = (math.ceil(1 / min(end, 1.0) - _ALMOST) for end in (hi, lo))
    if 1 / lo > cores - _ALMOST or (fewest, most) == (1, cores):
        return text("this does not tell whether all cores saturate the memory bandwidth")
    if fewest == most:
        return text("at least {cores} cores are needed to saturate the memory bandwidth", cores=fewest)
    return text(
        "at least {fewest} to {most} cores are needed to saturate the memory bandwidth", fewest=fewest, most=most
    )


rule = Rule(
    "one_core", text("What share of the node's bandwidth does one core reach?"), text("none: a fact"), _assess
)
