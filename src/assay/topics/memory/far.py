"""Remote memory compared with the own memory of the same cores: what the rules about it share."""

from assay.analyse.comparisons import own_node
from assay.analyse.evidence import Evidence
from assay.analyse.paired import Tested
from assay.model.compared import ComparedPair
from assay.model.result import Estimate


def is_bound(estimate: Estimate, node: int | None) -> bool:
    """Whether its memory was bound to this node alone."""
    policy = estimate.placement.policy
    return policy.policy == "bind" and policy.nodes == (node,)


def is_far(evidence: Evidence, pair: ComparedPair) -> bool:
    """Whether a pair compares remote memory (a) with the own memory (b) of the same cores."""
    own = own_node(pair.a, evidence.run.machines)
    return pair.a.placement.policy.policy == "bind" and is_bound(pair.b, own)


def bound(tested: Tested) -> dict[str, str]:
    """Return the command that keeps a program on the node of its cores, as a word of templates."""
    own = own_node(tested.pair.a, tested.evidence.run.machines)
    return {"command": f"numactl --cpunodebind={own} --membind={own} PROGRAM"}
