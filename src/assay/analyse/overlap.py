"""The share of an operation that computing hides: the result of its law, and those shares by size."""

from typing import NamedTuple

import numpy as np

from assay.analyse.curves import RunEstimates
from assay.analyse.messages import place
from assay.analyse.statistics import Samples
from assay.model import roles
from assay.model.law import Model
from assay.model.plan import Case
from assay.model.quantity import Quantity

LAW = "overlap"
#: Hidden shares of an operation among more ranks are those of several messages.
_RANKS = 2


class Overlap(Model, frozen=True, kw_only=True, tag=LAW):
    """The hidden share of a collective operation.

    Attributes:
        hidden: (pure + computing - overlapped) / min(pure, computing), by launches of one block: 1 where the
            shorter one is fully hidden, 0 where one follows the other, negative where they slow each other down.
    """

    hidden: Quantity


class HiddenShares(NamedTuple):
    """The hidden shares of an operation by size.

    Attributes:
        sizes: in B, ascending, shape (sizes,).
        parts: share and its ends, shape (sizes, 3).
    """

    sizes: Samples
    parts: Samples

    def at(self, sizes: Samples, end: int = 0) -> Samples:
        """Return the shares at these sizes, from 0 to 1: interpolated; beyond all sizes that of the nearest.

        Args:
            sizes: in B.
            end: 0 for the value, 1 and 2 for its ends.
        """
        shares: Samples = np.clip(np.interp(sizes, self.sizes, self.parts[:, end]), 0.0, 1.0)
        return shares


def hidden_shares(known: RunEstimates, operation: str, case: Case, state: str | None) -> HiddenShares | None:
    """Return the hidden shares of an operation between two nodes, over the network of a case; None if unknown.

    They are those with the most calls of MPI during computing.
    """
    found = [
        (int(roles.level_of(estimate, "mpi-calls") or 0), roles.size(estimate), each.hidden)
        for each in known.fitted(Overlap)
        if each.state in {None, state}
        and (estimate := known.estimates.get(each.of[0])) is not None
        and place.between(estimate)
        and estimate.placement.ranks == _RANKS
        and roles.level_of(estimate, "operation-name") == operation
        and all(case.factors.get(name, level) == level for name, level in estimate.factors.items())
    ]
    if not found:
        return None
    most = max(calls for calls, _, _ in found)
    by_size = {size: hidden.parts for calls, size, hidden in found if calls == most}
    sizes = sorted(by_size)
    return HiddenShares(np.array(sizes, dtype=np.float64), np.array([by_size[each] for each in sizes]))
