"""Launchers are found by their files."""

import sys
from pathlib import Path

import msgspec
import pytest
from tests.simulation import plan_for

from assay import launch
from assay.launch.local import Local
from assay.model.errors import UnfitEnvironmentError, UsageError

ANOTHER = """
from assay.launch.local import Local

class Abroad(Local):
    name = "abroad"

    def fits(self, plan):
        return len(plan.hosts) > 1

launcher = Abroad()
"""


@pytest.fixture
def abroad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with one more launcher."""
    (tmp_path / "abroad.py").write_text(ANOTHER)
    monkeypatch.setattr(launch, "__path__", [*launch.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "assay.launch.abroad", raising=False)
    launch.names.cache_clear()
    launch.get.cache_clear()


def test_a_plan_for_one_host_is_started_here() -> None:
    assert isinstance(launch.fitting(plan_for()), Local)
    assert "simulated" not in launch.names()


def test_a_plan_for_hosts_that_nothing_reaches_is_refused() -> None:
    plan = msgspec.structs.replace(plan_for(), hosts=("n1", "n2"))
    with pytest.raises(UnfitEnvironmentError, match="2 hosts") as refused:
        launch.fitting(plan)
    assert refused.value.remedy.startswith("assay run quick")


def test_an_unknown_launcher_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UsageError) as refused:
        launch.get("nonesuch")
    assert "local" in refused.value.why


@pytest.mark.usefixtures("abroad")
def test_a_launcher_is_a_new_file_and_no_edit() -> None:
    try:
        assert "abroad" in launch.names()
        plan = msgspec.structs.replace(plan_for(), hosts=("n1", "n2"))
        assert launch.fitting(plan).name == "abroad"
        assert launch.fitting(plan_for()).name == "local"
    finally:
        launch.names.cache_clear()
        launch.get.cache_clear()
