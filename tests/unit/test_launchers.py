"""Launchers are found by their files."""

import sys
from pathlib import Path

import pytest

from assay import launch
from assay.launch.command import Layout, Site
from assay.launch.local import Local
from assay.model.errors import UnfitEnvironmentError, UsageError

ANOTHER = """
from assay.launch.local import Local

class Abroad(Local):
    name = "abroad"

    def fits(self, layout, site):
        return len(layout.hosts) > 1

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


SITE = Site("n1")
HERE = Layout(("n1",), ((0,),))
ON_TWO = Layout(("n1", "n2"), ((0,),))


def test_a_program_that_stands_alone_is_started_here() -> None:
    assert isinstance(launch.select(HERE, SITE), Local)
    assert "simulated" not in launch.names()


def test_a_layout_that_nothing_starts_is_refused() -> None:
    with pytest.raises(UnfitEnvironmentError, match="2 processes on n1, n2") as refused:
        launch.select(ON_TWO, SITE)
    assert refused.value.remedy == "assay doctor --hosts n1,n2"


def test_an_unknown_launcher_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UsageError) as refused:
        launch.get("nonesuch")
    assert "local" in refused.value.why


@pytest.mark.usefixtures("abroad")
def test_a_launcher_is_a_new_file_and_no_edit() -> None:
    try:
        assert "abroad" in launch.names()
        assert launch.select(ON_TWO, SITE).name == "abroad"
        assert launch.select(HERE, SITE).name == "local"
    finally:
        launch.names.cache_clear()
        launch.get.cache_clear()
