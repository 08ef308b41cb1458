"""What the rules of all topics find, weighed and sorted."""

from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

from assay.analyse.evidence import Concern, Evidence, Rule
from assay.analyse.experiments import decided
from assay.analyse.paired import PairedRatio
from assay.model import topics
from assay.model.result import Finding
from assay.model.text import text

#: What costs performance comes first, what could not be assessed last.
_SEVERITIES = ("problem", "advice", "fact")
#: Figures of fewer samples, over all launches, show nothing but themselves.
_FEWEST_SAMPLES = 3


@cache
def rules() -> tuple[Rule | PairedRatio, ...]:
    """Every rule, by name."""
    return tuple(module.rule for module in topics.modules("rules").values())


@cache
def concerning(concern: Concern) -> frozenset[str]:
    """Names of the rules whose findings are about this."""
    return frozenset(rule.name for rule in rules() if isinstance(rule, Rule) and rule.concerns == concern)


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """What all rules find: problems, then advice, then facts, then what was not assessed.

    Nothing is called a problem on a range alone: a candidate is advice until an interval decides, that of its
    experiment too. What was refuted is a fact.
    """
    found = [
        _weighed(guarded(decided(finding, evidence), rule, evidence))
        for rule in _asked(evidence)
        for finding in rule.assess(evidence)
    ]
    return tuple(sorted(found, key=lambda each: (each.status == "not assessed", _SEVERITIES.index(each.severity))))


def tested(evidence: Evidence, found: Sequence[Finding]) -> tuple[str, ...]:
    """Names of the rules that had what they judge by, whether they found anything or nothing."""
    told = {each.rule: False for each in found}
    told |= {each.rule: True for each in found if each.status != "not assessed"}
    return tuple(rule.name for rule in _asked(evidence) if told.get(rule.name, True))


def _asked(evidence: Evidence) -> Iterator[Rule | PairedRatio]:
    return (rule for rule in rules() if not isinstance(rule, Rule) or rule.applies(evidence))


def guarded(finding: Finding, rule: Rule | PairedRatio, evidence: Evidence) -> Finding:
    """The finding; `not assessed` where its figures are too poor for its claim, or its statistic is unsure."""
    if finding.severity == "fact":
        return finding
    known = {each.estimate.id: each.estimate for each in evidence.measured}
    figures = [known[name] for name in finding.evidence if name in known]
    statistic, threshold = finding.numbers.get("statistic"), finding.numbers.get("threshold")
    low, high = (statistic.lo, statistic.hi) if statistic else (None, None)
    timed = not isinstance(rule, Rule) or rule.timed
    why: str = ""
    if threshold and low is not None and high is not None and low < threshold.value < high:
        why = text("The threshold lies within the interval of the statistic")
    elif statistic and statistic.basis == "range" and statistic.is_wide:
        why = text("The ends of its statistic are farther apart than the statistic is large")
    elif timed and figures and all(0 < each.launches == each.disturbed for each in figures):
        why = text("Other processes disturbed all launches of its figures")
    elif figures and all(0 < each.samples < _FEWEST_SAMPLES for each in figures):
        why = text("Its figures have fewer than {samples} samples", samples=_FEWEST_SAMPLES)
    return msgspec.structs.replace(rule.not_assessed(why, finding.next), id=finding.id) if why else finding


def _weighed(finding: Finding) -> Finding:
    if finding.severity == "problem" and finding.status == "candidate":
        return msgspec.structs.replace(finding, severity="advice")
    if finding.status == "refuted":
        return msgspec.structs.replace(finding, severity="fact")
    return finding
