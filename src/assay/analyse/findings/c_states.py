"""Whether cores answer slower after they slept."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule, decide, lower, standing
from assay.model.result import Finding

_FACTOR = 1.2
_FACTOR_NAME = "cstates"


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = [pair for pair in evidence.differing(_FACTOR_NAME) if pair.a.unit == "s"]
    if not pairs:
        why = f"no latency was measured at two levels of a factor '{_FACTOR_NAME}'; no benchmark leaves cores idle"
        yield rule.not_assessed(why, "describe the factor in assay.toml (docs/configuration.md)")
    for pair in pairs:
        slower = pair.comparison.lo if pair.comparison.ratio > 1 else 1 / pair.comparison.hi
        if slower < _FACTOR:
            continue
        ratio = max(pair.comparison.ratio, 1 / pair.comparison.ratio)
        yield Finding(
            id=f"{rule.name}:{pair.a.id}",
            rule=rule.name,
            claim=f"Idle states cost {pair.a.benchmark} x{ratio:.2f} in latency.",
            severity="advice",
            status=standing(pair.comparison),
            evidence=(pair.comparison.id, pair.a.id, pair.b.id),
            statistic=lower(pair.comparison),
            threshold=rule.threshold,
            rivals=("the clock rises only after a while",),
            next=decide(evidence, pair.comparison) or "sudo cpupower idle-set --disable-by-latency 10",
        )


rule = Rule(
    "c_states",
    "Do cores answer slower after idle gaps?",
    f"latency with idle states / without >= {_FACTOR}",
    _assess,
)
