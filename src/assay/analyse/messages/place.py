"""The places between which messages pass."""

from assay.analyse.evidence import Evidence
from assay.model import roles
from assay.model.result import Estimate
from assay.model.text import joined, text


def between(estimate: Estimate) -> bool:
    """Whether messages pass between nodes."""
    return estimate.placement.nodes > 1


def is_single(estimate: Estimate) -> bool:
    """Whether it times one message after the other between two ranks of an MPI."""
    pattern = roles.pattern(estimate)
    return (
        estimate.declared.between_two
        and not roles.by_sockets(estimate)
        and pattern is not None
        and (pattern.figure, pattern.directions, pattern.pairs) == ("time", 1, "one")
    )


def path_name(estimate: Estimate) -> str:
    """Return benchmark, pattern, placement, factors and state: `pt2pt latency, pair:other-node, network=gbe`."""
    words = [f"{estimate.benchmark} {roles.pattern_name(estimate)}".strip(), estimate.placement.label]
    words += [f"{factor}={level}" for factor, level in estimate.factors.items()]
    words += [text("state {state}", state=estimate.state)] if estimate.state else []
    return joined(", ", words)


def passed(evidence: Evidence) -> bool:
    """Whether the study passes messages; else rules about messages do not apply."""
    planned = any(case.placement.ranks for case in evidence.run.plan.cases)
    return planned or any(each.estimate.declared.between_two for each in evidence.measured)
