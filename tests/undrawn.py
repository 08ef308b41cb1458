"""Pages without drawings, for tests that read their text, or look at what scripts draw instead."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest
from tests.impatient import Undrawn

from assay.report import plotters, vega


@contextmanager
def undrawn_charts() -> Generator[None]:
    """Drawing the charts of a page takes CPU seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vega, "plain", Undrawn.vegalite_to_svg)
        patch.setattr(plotters, "_started", lambda: None)
        yield
