"""Pages without drawings, for tests that read their words, or look at what scripts draw in place of them."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest
from tests.impatient import Undrawn

from assay.report import plotters, vega


@contextmanager
def undrawn_charts() -> Generator[None]:
    """To draw the charts of a page takes seconds of a core."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vega, "plain", Undrawn.vegalite_to_svg)
        patch.setattr(plotters, "_started", lambda: None)
        yield
