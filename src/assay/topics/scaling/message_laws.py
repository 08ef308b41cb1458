"""The law of messages for the ranks of a case."""

from assay.analyse.curves import RunEstimates
from assay.analyse.messages import place
from assay.analyse.messages.steps import MessageLaw
from assay.model import roles
from assay.model.plan import Case


def message_law(known: RunEstimates, case: Case, state: str | None) -> MessageLaw | None:
    """Return the law of single messages inside a node, or between nodes over the network of a case.

    That of messages which are not in caches comes first: a rank has worked on other data since it passed the last.
    """
    between = len(case.placement.hosts) > 1
    laws = [
        (len(first.factors), roles.has_level(first.declared, first.params, "beyond-caches"), law)
        for law in known.fitted(MessageLaw)
        if (first := known.estimates.get(law.of[0]))
        and place.is_single(first)
        and place.between(first) == between
        and law.state in {None, state}
        and first.factors.items() <= case.factors.items()
    ]
    return max(laws, key=lambda each: each[:2])[2] if laws else None
