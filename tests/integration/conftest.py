"""What runs inside the process of a test takes the machine as it is, too."""

import pytest
from tests.impatient import IMPATIENCE

from assay.run import ledger


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """See tests/impatient.py."""
    for name, value in IMPATIENCE.items():
        monkeypatch.setattr(ledger, name, value)
