"""The engine rooms know no benchmark, axis or pattern by name: they ask declarations for roles."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from tests.unit.report_example import estimates

import assay
from assay.model import benchmarks, roles
from assay.model.benchmark import AxisRole, Role
from assay.model.result import Estimate

SOURCE = Path(assay.__file__).parent
ROOMS = ("analyse", "plan", "run", "store", "simulation", "report", "compare")
#: Ordinary words of another language or of English, by the part of the source that needs them -> why.
ALLOWED = {
    "report/charts/": (
        {"width", "size", "format", "line", "offset", "round", "segment"},
        "properties and marks of Vega-Lite, and fields of charts' own data",
    ),
    "analyse/messages/configured.py": ({"tcp"}, "what Open MPI calls its component, a level of its `btl`"),
    "report/languages/": ({"n"}, "the number in gettext's rules of plurals"),
    "report/published.py": ({"pattern", "source"}, "fields of the data of a page"),
    "compare/charts.py": ({"format", "line", "round"}, "properties and marks of Vega-Lite"),
    "compare/statements.py": ({"size", "bandwidth"}, "a place in the template of a sentence, and a word of one"),
    "compare/figure_rows.py": ({"pairs"}, "the heading of a column: launches side by side"),
    "simulation/machine.py": ({"segment", "threads"}, "fields of what the header says of its MPI"),
    "report/languages/__init__.py": ({"p", "k"}, "prefixes of units: pico and kilo"),
    "report/verdicts.py": ({"pairs"}, "the plural of pair: launches side by side"),
}


def _names() -> set[str]:
    declared = [benchmarks.get(name) for name in benchmarks.names()]
    axes = {axis.name for each in declared for axis in each.axes}
    return {each.name for each in declared} | axes | set(roles.patterns())


def _literals(tree: ast.Module) -> Iterator[ast.Constant]:
    """String literals of the code: no docstrings, and no names that a module exports."""
    skipped = {
        id(node)
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and "__all__" in {getattr(each, "id", "") for each in statement.targets}
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node


def _found(room: str) -> set[tuple[str, str]]:
    names = _names()
    return {
        (str(path.relative_to(SOURCE)), node.value)
        for path in sorted((SOURCE / room).rglob("*.py"))
        for node in _literals(ast.parse(path.read_text()))
        if node.value in names
    }


def _allowed(path: str, word: str) -> bool:
    return any(path.startswith(part) and word in words for part, (words, _) in ALLOWED.items())


@pytest.mark.parametrize("room", [room for room in ROOMS if (SOURCE / room).is_dir()])
def test_no_literal_is_the_name_of_a_benchmark_an_axis_or_a_pattern(room: str) -> None:
    assert {each for each in _found(room) if not _allowed(*each)} == set()


def test_every_word_that_is_allowed_is_needed() -> None:
    found = set[tuple[str, str]]().union(*(_found(room) for room in ROOMS))
    used = {(part, word) for part, (words, _) in ALLOWED.items() for path, word in found if path.startswith(part)}
    for part, (words, _) in ALLOWED.items():
        if (SOURCE / part).exists():
            assert words <= {word for used_part, word in used if used_part == part}


def test_every_metric_of_assays_own_benchmarks_has_a_role() -> None:
    for name in benchmarks.names():
        declared = benchmarks.get(name)
        assert all(metric.role in get_args(Role) for metric in declared.metrics), name
        assert all(axis.role in {None, *get_args(AxisRole)} for axis in declared.axes), name
        given = [axis.role for axis in declared.axes if axis.role]
        assert len(given) == len(set(given)), name


def test_every_level_of_an_axis_of_patterns_is_described() -> None:
    for name in benchmarks.names():
        axis = benchmarks.get(name).axis("message-pattern")
        assert axis is None or set(axis.values) <= axis.patterns.keys(), name


def test_one_benchmark_of_assays_own_is_the_fixed_work_between_blocks() -> None:
    declared = [each for each in map(benchmarks.get, benchmarks.names()) if each.sentinel]
    assert [each.name for each in declared] == [roles.sentinel().name]
    (one,) = declared
    assert one.sentinel.keys() == {axis.name for axis in one.axes}


def test_figures_of_others_benchmarks_have_no_role_and_our_usual_axes(other: Estimate) -> None:
    assert roles.role(other) is None
    assert roles.pattern(other) is None
    assert roles.size(other) == 8
    assert not roles.between_two(other.benchmark)


@pytest.fixture
def other() -> Estimate:
    return msgspec.structs.replace(estimates()[0], benchmark="another: tool", params={"bytes": 8})
