"""Cores bound to the memory of another node against their own: what the rules of such memory share."""

from collections.abc import Callable

from assay.analyse.comparisons import Pair, own_node
from assay.analyse.evidence import Evidence
from assay.analyse.paired import Tested
from assay.model.result import Estimate


def is_bound(estimate: Estimate, node: int | None) -> bool:
    """Whether its memory was bound to this node alone."""
    policy = estimate.placement.policy
    return policy.policy == "bind" and policy.nodes == (node,)


def is_far(benchmark: str) -> Callable[[Evidence, Pair], bool]:
    """What tells pairs of a benchmark that are the same cores with a far (a) and with their own memory (b)."""

    def found(evidence: Evidence, pair: Pair) -> bool:
        bound = pair.a.placement.policy.policy == "bind"
        own = own_node(pair.a, evidence.run.machines)
        return pair.a.benchmark == benchmark and bound and is_bound(pair.b, own)

    return found


def bound(tested: Tested) -> dict[str, str]:
    """The command that keeps a program on the node of the cores."""
    own = own_node(tested.pair.a, tested.evidence.run.machines)
    return {"command": f"numactl --cpunodebind={own} --membind={own} PROGRAM"}
