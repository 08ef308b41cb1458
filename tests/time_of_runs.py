"""The parts of the time of a run add up to it."""

import msgspec
import pytest

from assay.analyse.effort import time_spent
from assay.model.result import TimeSpent
from assay.model.run import Run


def closed(run: Run) -> TimeSpent:
    """The parts; none is negative, and they are the time of the run within one per cent."""
    spent = time_spent(run)
    assert spent is not None
    assert run.ending is not None
    assert spent.whole_s == pytest.approx(run.ending.elapsed_s, rel=0.01)
    assert min(msgspec.structs.astuple(spent)) >= 0
    return spent
