"""The law of messages for the ranks of a case."""

from assay.analyse.curves import RunEstimates
from assay.analyse.messages import place
from assay.analyse.messages.steps import MessageLaw
from assay.model.plan import Case


def message_law(known: RunEstimates, case: Case, state: str | None) -> MessageLaw | None:
    """Return the law of single messages inside a node, or between nodes over the network of a case."""
    between = len(case.placement.hosts) > 1
    laws = [
        (len(first.factors), law)
        for law in known.fitted(MessageLaw)
        if (first := known.estimates.get(law.of[0]))
        and place.is_single(first)
        and place.between(first) == between
        and law.state in {None, state}
        and first.factors.items() <= case.factors.items()
    ]
    return max(laws, key=lambda each: each[0])[1] if laws else None
