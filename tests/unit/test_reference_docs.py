"""docs/references.md states how many figures a run of each reference compares, and with which options."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.unit.test_like import GIVEN, MET, SHAPES
from tests.unit.test_like_2003 import ROWS, SYSTEMS

from assay import references

DOCS = (Path(__file__).parents[2] / "docs/references.md").read_text("utf-8")
#: Field of the options of a plan -> how the user says it.
WORDS = {"networks": "--network", "nic_nodes": "--nic-node", "toolchains": "--toolchain", "factors": "--vary"}


def row(name: str) -> list[str]:
    """The cells of a reference in the table of the counts: nodes, options, figures, compared, refused."""
    (line,) = re.findall(rf"^\| `{name}` \| (\d+ \| .*) \|$", DOCS, re.MULTILINE)
    return [cell.strip() for cell in f" {line}".split(" |")]


def counted(name: str) -> tuple[int, Mapping[str, object], int, int]:
    """The nodes and options of the simulated run that is counted, its figures, and those that are compared."""
    if name in SYSTEMS:
        return SYSTEMS[name].nodes, SYSTEMS[name].options, *ROWS[name][:2]
    met, figures = MET[name]
    return SHAPES[name][1], GIVEN.get(name, {}), figures, met


@pytest.mark.parametrize("name", references.names())
def test_the_counts_stand_beside_the_options_that_they_need(name: str) -> None:
    nodes, given, figures, met = counted(name)
    stated_nodes, options, stated, compared, refused = row(name)
    assert (int(stated_nodes), int(stated), int(compared)) == (nodes, figures, met)
    assert set(re.findall(r"--[a-z-]+", options)) == {WORDS[each] for each in given if each in WORDS}
    lacking = sum(map(int, re.findall(r"(\d+) needs? ", refused)))
    assert lacking == figures - met


def test_the_number_of_conclusions_is_that_of_the_files() -> None:
    count = sum(len(references.get(name).conclusions) for name in references.names())
    assert f"The files have {count} conclusions" in DOCS
