"""Roles are open words of declarations; the engine asks for those of the list."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from assay.catalogue import benchmarks

ROOT = Path(__file__).parents[2]
#: Kind -> role -> its meaning.
LISTED: dict[str, dict[str, str]] = json.loads((ROOT / "schema" / "roles.json").read_text())
ROLES, AXIS_ROLES, LEVEL_ROLES = LISTED["metrics"], LISTED["axes"], LISTED["levels"]

#: Functions that take the role of a metric, of an axis, and of a level of an axis.
ASKED = {
    r'\b(?:of_role|having|measuring|best|best_on|same_case)\((?:[\w.]+, )?"([a-z-]+)"': ROLES,
    r'\.axis\("([a-z-]+)"\)|level_of\([\w.]+, "([a-z-]+)"\)|roles\.level\([^()]*, "([a-z-]+)"\)': AXIS_ROLES,
    r'has_level\([^()]*, "([a-z-]+)"\)': LEVEL_ROLES,
}


@pytest.mark.parametrize(("asked", "words"), ASKED.items())
def test_a_role_that_is_asked_for_is_a_word_of_the_list(asked: str, words: Mapping[str, str]) -> None:
    sources = {path: path.read_text() for path in (ROOT / "src" / "assay").rglob("*.py")}
    found = {
        (str(path), next(filter(None, match.groups())))
        for path, text in sources.items()
        for match in re.finditer(asked, text)
    }
    assert found
    assert {(path, role) for path, role in found if role not in words} == set()


def test_our_declarations_give_roles_of_the_list() -> None:
    declared = [benchmarks.get(name) for name in benchmarks.names()]
    assert {metric.role for one in declared for metric in one.metrics if metric.role} <= ROLES.keys()
    assert {axis.role for one in declared for axis in one.axes if axis.role} <= AXIS_ROLES.keys()
    levels = {role for one in declared for axis in one.axes for role in axis.level_roles.values()}
    assert levels
    assert levels <= LEVEL_ROLES.keys()
