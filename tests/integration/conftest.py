"""Commands inside the test process also take the machine as it is."""

import pytest
from tests.impatient import IMPATIENCE

from assay.run import ledger


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """See tests/impatient.py."""
    for name, value in IMPATIENCE.items():
        monkeypatch.setattr(ledger, name, value)
