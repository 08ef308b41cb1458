"""The share of a collective operation that is hidden behind computing."""

from collections.abc import Iterable, Mapping

import numpy as np

from assay.analyse.curves import Curve, RunEstimates, curves, replicates, with_ends
from assay.analyse.estimates import Measured
from assay.analyse.overlap import LAW, Overlap
from assay.model.law import Model

_PURE, _COMPUTING, _OVERLAPPED = "pure", "computing", "overlapped"


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each operation, size and number of calls of MPI_Test with all three times."""
    for curve in curves(known.of_role("overlap-time")):
        kernels = {each.estimate.kernel: each for each in curve.members}
        if kernels.keys() >= {_PURE, _COMPUTING, _OVERLAPPED}:
            yield _model(curve, kernels)


def _model(curve: Curve, kernels: Mapping[str, Measured]) -> Overlap:
    members = tuple(kernels[each] for each in (_PURE, _COMPUTING, _OVERLAPPED))
    draws, basis = replicates(members)
    own, drawn = (
        (pure + computing - both) / np.minimum(pure, computing)
        for pure, computing, both in (np.array([[each.estimate.median] for each in members]), draws.T)
    )
    # The three medians are of different launches: with few blocks their share may lie outside the range of these.
    hidden = float(own[0]) if basis == "interval" else float(np.median(drawn))
    return Overlap(**curve._replace(members=members).identity(LAW), hidden=with_ends(hidden, drawn, basis))
