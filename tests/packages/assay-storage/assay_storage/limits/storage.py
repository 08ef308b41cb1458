"""Bytes per second between a program and the files of a folder."""

import msgspec

from assay.analyse.bounds import Bounds, Law
from assay.model.result import Estimate, Limit
from assay.model.text import text


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Half of the best rate of memory on these cores: each byte is read from the program and written elsewhere."""
    best = bounds.of_cores(estimate) or bounds.of_memory(estimate)
    if best is None or best.median is None:
        return None
    of = text("half of the best measured memory rate of these cores: a byte is read and written")
    return Limit(best.median / 2, "measured", of, "memory", "core", measured_by=best.id)


def _given(_estimate: Estimate, _bounds: Bounds, given: Limit) -> Limit:
    return msgspec.structs.replace(given, kind="memory")


law = Law(("storage",), _limit, given=_given)
