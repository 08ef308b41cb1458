"""Whether cores answer slower where they may sleep."""

from collections.abc import Iterable

from assay.analyse.comparisons import Pair
from assay.analyse.evidence import Evidence, Rule, least, standing
from assay.analyse.experiments import again
from assay.model.result import Finding
from assay.model.text import text

_FACTOR = 1.2
_FACTOR_NAME = "cstates"


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = [pair for pair in evidence.differing(_FACTOR_NAME) if pair.a.unit == "s"]
    if not pairs:
        why = text(
            "No latency was measured at two levels of a factor '{factor}'; no benchmark leaves cores idle",
            factor=_FACTOR_NAME,
        )
        yield rule.not_assessed(why, text("describe the factor in assay.toml (docs/configuration.md)"))
    kinds: dict[tuple[str, str, str, str], list[Pair]] = {}
    for pair in pairs:
        if _least(pair) >= max(_FACTOR, 1 + evidence.resolution(pair.comparison)):
            kinds.setdefault((pair.a.benchmark, pair.a.kernel, *_levels(pair)), []).append(pair)
    for costly in kinds.values():
        yield _finding(evidence, costly)


def _finding(evidence: Evidence, costly: list[Pair]) -> Finding:
    """The level that is slower is named, for nobody but who wrote its command knows what it does."""
    largest = max(costly, key=_least)
    comparison, (slow, fast) = largest.comparison, _levels(largest)
    ratio = max(comparison.ratio, 1 / comparison.ratio)
    command = next(each.commands[fast] for each in evidence.run.plan.factors if each.name == _FACTOR_NAME)
    return Finding(
        id=f"{rule.name}:{largest.a.id}",
        rule=rule.name,
        claim=text(
            "{benchmark} ({kernel}) takes {ratio} times as long with {slow} as with {fast}.",
            benchmark=largest.a.benchmark,
            kernel=largest.a.kernel,
            ratio=f"{ratio:.2f}",
            slow=f"{_FACTOR_NAME}={slow}",
            fast=f"{_FACTOR_NAME}={fast}",
        ),
        severity="advice",
        status=standing(comparison),
        evidence=tuple(pair.comparison.id for pair in costly),
        statistic=text(
            "{least} of {a} / {b} {ratio}", least=least(comparison), a=slow, b=fast, ratio=f"{_least(largest):.3g}"
        ),
        threshold=rule.threshold,
        rivals=(text("the clock rises only after a while"),),
        experiment=again(comparison, (largest.a, largest.b), max(_FACTOR, 1 + evidence.resolution(comparison))),
        next=text(
            "keep the nodes of programs that wait for messages at {level}: `{command}`",
            level=f"{_FACTOR_NAME}={fast}",
            command=command,
        ),
    )


def _least(pair: Pair) -> float:
    """Lower end of how much longer the slower level takes."""
    return pair.comparison.lo if pair.comparison.ratio > 1 else 1 / pair.comparison.hi


def _levels(pair: Pair) -> tuple[str, str]:
    """The slower level and the faster one."""
    levels = (pair.level, pair.comparison.base)
    return levels if pair.comparison.ratio > 1 else levels[::-1]


rule = Rule(
    "c_states",
    text("Do cores answer slower where they may sleep?"),
    text(
        "latency at one level of {factor} / at the other >= {ratio} and beyond what two launches of one case "
        "differ by",
        factor=_FACTOR_NAME,
        ratio=f"{_FACTOR}",
    ),
    _assess,
)
