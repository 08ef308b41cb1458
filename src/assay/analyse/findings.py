"""The findings of the rules of all topics, checked and sorted."""

from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

from assay.analyse.evidence import Concern, Evidence, Rule
from assay.analyse.experiments import decided
from assay.analyse.paired import PairedRatio
from assay.catalogue import topics
from assay.model.result import Finding
from assay.model.text import text

#: Problems come first.
_SEVERITIES = ("problem", "advice", "fact")
#: Figures with fewer samples, over all launches, support no claim.
_FEWEST_SAMPLES = 3


@cache
def rules() -> tuple[Rule | PairedRatio, ...]:
    """Return every rule, in the order of their names."""
    return tuple(module.rule for module in topics.modules("rules").values())


@cache
def concerning(concern: Concern) -> frozenset[str]:
    """Return the names of the rules with this concern."""
    return frozenset(rule.name for rule in rules() if isinstance(rule, Rule) and rule.concerns == concern)


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """Return the findings of all rules: problems, then advice, then facts, then those not assessed.

    A range alone makes no problem: a candidate is advice until an interval decides, possibly that of its
    experiment. A refuted finding is a fact.
    """
    found = (finding for rule in _asked(evidence) for finding in _of_rule(rule, evidence))
    return tuple(sorted(found, key=lambda each: (not each.assessed, _SEVERITIES.index(each.severity))))


def concerned(evidence: Evidence, concern: Concern) -> Iterator[Finding]:
    """Yield the assessed findings of the rules with this concern."""
    asked = (rule for rule in _asked(evidence) if rule.name in concerning(concern))
    return (finding for rule in asked for finding in _of_rule(rule, evidence) if finding.assessed)


def _of_rule(rule: Rule | PairedRatio, evidence: Evidence) -> Iterator[Finding]:
    return (_weighed(guarded(decided(each, evidence), rule, evidence)) for each in rule.assess(evidence))


def tested(evidence: Evidence, found: Sequence[Finding]) -> tuple[str, ...]:
    """Return the names of the rules that had evidence, whether they found anything or nothing."""
    assessed = {each.rule for each in found if each.assessed}
    without_evidence = {each.rule for each in found} - assessed
    return tuple(rule.name for rule in _asked(evidence) if rule.name not in without_evidence)


def _asked(evidence: Evidence) -> Iterator[Rule | PairedRatio]:
    return (rule for rule in rules() if not isinstance(rule, Rule) or rule.applies(evidence))


def guarded(finding: Finding, rule: Rule | PairedRatio, evidence: Evidence) -> Finding:
    """Return the finding; `not assessed` if its figures are too poor for its claim, or its statistic is unsure."""
    if finding.severity == "fact":
        return finding
    figures = [evidence.estimates[name] for name in finding.evidence if name in evidence.estimates]
    statistic, threshold = finding.numbers.get("statistic"), finding.numbers.get("threshold")
    low, high = (statistic.lo, statistic.hi) if statistic else (None, None)
    timed = not isinstance(rule, Rule) or rule.timed
    why: str = ""
    if threshold and low is not None and high is not None and low < threshold.value < high:
        why = text("The threshold lies within the interval of the statistic")
    elif statistic and statistic.basis == "range" and statistic.is_wide:
        why = text("The interval of its statistic is wider than the statistic itself")
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
