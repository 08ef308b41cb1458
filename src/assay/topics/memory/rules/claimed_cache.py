"""How much of the last-level cache a core gets: virtual machines claim caches that they share with others."""

from collections.abc import Iterable

from assay.analyse.evidence import CONFIDENT, Evidence, Rule, digits, more, numbers
from assay.model.result import Finding
from assay.model.text import cli, joined, text
from assay.model.units import format_size
from assay.topics.memory.models.latency_levels import LatencyLevels

#: A core gets the whole cache if memory begins above this share of its size: small pages fill its sets unevenly.
_ALL = 0.75


def _assess(evidence: Evidence) -> Iterable[Finding]:
    walks = [model for model in evidence.fitted(LatencyLevels) if model.memory_from]
    if not walks:
        yield rule.not_assessed(
            text("No pointer chase by size clearly reached memory"), cli("run", "caches", *evidence.budget())
        )
    # Huge pages exclude the TLB and unevenly filled sets as causes.
    for model in [each for each in walks if each.pages == "huge"] or walks:
        yield from _of_walk(model, evidence)


def _of_walk(model: LatencyLevels, evidence: Evidence) -> Iterable[Finding]:
    if model.memory_from is None or not model.last_cache_bytes:
        return
    share = model.memory_from / model.last_cache_bytes
    if share >= _ALL:
        return
    ends = [level.end.size for level in model.levels if level.end and level.end.cause == model.last_cache]
    launches = min(evidence.estimates[name].launches for name in model.of)
    memory = format_size(model.memory_from)
    gets = memory
    if ends and ends[-1].lo < model.memory_from:  # the twin over huge pages may show where memory begins
        most = min(ends[-1].hi, model.memory_from)
        gets = text("{least} to {most}", least=format_size(ends[-1].lo), most=format_size(most))
    claim = text(
        "{cache}: the system reports {claimed}; a core gets about {gets} of it. From {memory} on, loads come from "
        "memory.",
        cache=model.last_cache,
        claimed=format_size(model.last_cache_bytes),
        gets=gets,
        memory=memory,
    )
    state = text("({state})", state=model.state) if model.state else ""
    yield rule.finding(
        model.id,
        claim=joined(" ", (claim, state)),
        status="observed" if launches >= CONFIDENT else "candidate",
        evidence=(model.id,),
        numbers=numbers(share, _ALL),
        statistic=text("loads reach memory from {share} of the claimed size on", share=digits(share)),
        next="" if launches >= CONFIDENT else more(evidence, CONFIDENT),
    )


rule = Rule(
    "claimed_cache",
    text("How much of the last-level cache does a core get?"),
    text("loads reach memory from < {share} of the claimed size on", share=f"{_ALL:.2f}"),
    _assess,
)
