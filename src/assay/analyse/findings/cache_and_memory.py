"""How much slower copies become once they leave the caches: what a program may count on."""

from collections.abc import Iterable

from assay.analyse.evidence import FEWEST_BLOCKS, Evidence, Rule
from assay.analyse.models.cache_plateaus import LAW as PLATEAUS
from assay.model.result import Estimate, Finding
from assay.model.units import format_quantity, format_size


def _assess(evidence: Evidence) -> Iterable[Finding]:
    copies = evidence.estimates("memcpy", "memcpy")
    copies = [each for each in copies if each.launches >= FEWEST_BLOCKS] or copies
    cached = max((each for each in copies if each.params.get("buffers") == "hot"), key=_rate, default=None)
    cold = [each for each in copies if each.params.get("buffers") == "cold"] or copies
    memory = max(cold, key=lambda each: int(each.params["bytes"]), default=None)
    if cached is None or memory is None or memory is cached:
        yield rule.not_assessed("memcpy was not measured in and out of the caches", "assay run quick")
        return
    model = next(
        (each for each in evidence.models if each.law == PLATEAUS and not each.reason and cached.id in each.of),
        None,
    )
    falls = [
        f"{format_size(after)}{name.partition(' (')[1]}{name.partition(' (')[2]}"
        for name, (_, _, after) in (model.parameters.items() if model else ())
        if name.startswith("boundary")
    ]
    where = f" The rate falls at {', '.join(falls)}." if falls else ""
    yield Finding(
        id=f"{rule.name}:{memory.id}",
        rule=rule.name,
        claim=f"With memcpy one core copies {format_quantity(_rate(cached), 'B/s')} in cache (hot blocks of "
        f"{format_size(int(cached.params['bytes']))}) and {format_quantity(_rate(memory), 'B/s')} in memory "
        f"({memory.params.get('buffers', 'unstated')} blocks of {format_size(int(memory.params['bytes']))}), "
        f"{_rate(cached) / _rate(memory):.1f} times less: for data beyond the caches count on the latter.{where}",
        severity="fact",
        status="observed",
        evidence=(cached.id, memory.id, *([model.id] if model else [])),
        statistic=f"cache / memory, both best known: {_rate(cached) / _rate(memory):.3g}",
        threshold=rule.threshold,
    )


def _rate(estimate: Estimate) -> float:
    return estimate.median or 0.0


rule = Rule(
    "cache_and_memory",
    "How fast are copies in cache and in memory?",
    "none: a fact",
    _assess,
)
