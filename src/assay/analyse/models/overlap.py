"""How much of a collective operation is hidden behind computing, as a share of what could be."""

from collections.abc import Iterable, Mapping

import numpy as np

from assay.analyse.curves import Known, curves, ends, replicates
from assay.analyse.estimates import Measured
from assay.model.result import Model

LAW = "overlap"
_PURE, _COMPUTING, _OVERLAPPED = "pure", "computing", "overlapped"


def fit(known: Known) -> Iterable[Model]:
    """One model for each operation, size and number of calls of MPI_Test, of which all three times are known."""
    for curve in curves(known.of("overlap")):
        kernels = {each.estimate.kernel: each for each in curve.members}
        if kernels.keys() >= {_PURE, _COMPUTING, _OVERLAPPED}:
            yield _model("/".join([LAW, *curve.marks]), kernels)


def _model(name: str, kernels: Mapping[str, Measured]) -> Model:
    """Parameters: `hidden`, (pure + computing - overlapped) / min(pure, computing), by launches of one block.

    1 where the shorter of both is wholly hidden, 0 where one follows the other, below 0 where they hinder.
    """
    members = [kernels[each] for each in (_PURE, _COMPUTING, _OVERLAPPED)]
    draws, confident = replicates(members)
    own, drawn = (
        (pure + computing - both) / np.minimum(pure, computing)
        for pure, computing, both in (np.array([[each.estimate.median] for each in members]), draws.T)
    )
    # The share of three medians, which are of different launches, may lie outside of what any few blocks show.
    hidden = float(own[0]) if confident else float(np.median(drawn))
    parameters = {"hidden": (hidden, *ends(drawn, confident=confident))}
    return Model(name, LAW, tuple(each.estimate.id for each in members), parameters, None)
