"""Which law of messages holds for the ranks of a case."""

from assay.analyse.curves import RunEstimates
from assay.analyse.messages.steps import MessageLaw
from assay.model import roles
from assay.model.plan import Case


def message_law(known: RunEstimates, case: Case, state: str | None) -> MessageLaw | None:
    """Of single messages inside a node, or between two over the network of a case."""
    between = len(case.placement.hosts) > 1
    able = []
    for law in known.fitted(MessageLaw):
        first = known.estimates.get(law.of[0])
        pattern = roles.pattern(first) if first else None
        if (
            first
            and pattern
            and (pattern.figure, pattern.directions, pattern.pairs) == ("time", 1, "one")
            and roles.between_two(first.benchmark)
            and not roles.by_sockets(first)
            and (first.placement.nodes > 1) == between
            and law.state in {None, state}
            and first.factors.items() <= case.factors.items()
        ):
            able.append((len(first.factors), law))
    return max(able, key=lambda each: each[0])[1] if able else None
