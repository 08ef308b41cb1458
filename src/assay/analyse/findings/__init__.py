"""The rules: one a file, found by its name. Nothing else needs to know that one exists."""

import importlib
import pkgutil
from functools import cache

import msgspec

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.experiments import decided
from assay.model.result import Finding

#: What costs performance comes first, what could not be assessed last.
_SEVERITIES = ("problem", "advice", "fact")


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(importlib.import_module(f"{__name__}.{name}").rule for name in names)


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """What all rules find: problems, then advice, then facts, then what was not assessed.

    Nothing is called a problem on a range alone: a candidate is advice until an interval decides, that of its
    experiment too. What was refuted is a fact.
    """
    found = [_weighed(decided(finding, evidence)) for rule in rules() for finding in rule.assess(evidence)]
    return tuple(sorted(found, key=lambda each: (each.status == "not assessed", _SEVERITIES.index(each.severity))))


def _weighed(finding: Finding) -> Finding:
    if finding.severity == "problem" and finding.status == "candidate":
        return msgspec.structs.replace(finding, severity="advice")
    if finding.status == "refuted":
        return msgspec.structs.replace(finding, severity="fact")
    return finding
