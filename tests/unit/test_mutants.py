"""`make mutants`: its faults, and the tests near one; the table of `make coverage`; the end of `make test`."""

from pathlib import Path

import pytest
import scipy.stats
from coverage import Coverage, CoverageData
from tests.alone import told
from tools.coverage_by_room import counted
from tools.mutants.__main__ import wilson
from tools.mutants.near import Near
from tools.mutants.operators import mutants
from tools.mutants.runner import Trial, run


def faults(source: str) -> list[str]:
    """The changes of a source; each gives a source that compiles."""
    found = mutants("one.py", source.encode())
    for each in found:
        compile(each.applied(source.encode()), each.file, "exec")
    return [each.change for each in found]


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("x = a < b <= c", ["x = a [< -> <=] b <= c", "x = a < b [<= -> <] c"]),
        ("x = (a) is not (b)", ["x = (a) [is not -> is] (b)"]),
        ("x = a not in b", ["x = a [not in -> in] b"]),
        ("x = a * (b + 2)", ["x = a [* -> /] (b + 2)", "x = a * (b [+ -> -] 2)", "x = a * (b + [2 -> 3])"]),
        ("x = -(a // b)", ["x = [- -> ](a // b)", "x = -(a [// -> *] b)"]),
        ("x = not (a and b)", ["x = [not -> ] (a and b)", "x = not (a [and -> or] b)"]),
        ("_SHARE = 0.01", ["_SHARE = [0.01 -> 0.015]"]),
        ("_NONE = 0.0", ["_NONE = [0.0 -> 1.0]"]),
        ("x = f(frozen=True)", ["x = f(frozen=[True -> False])"]),
        (
            "x = np.maximum(a, max(b))",
            ["x = np.[maximum -> minimum](a, max(b))", "x = np.maximum(a, [max -> min](b))"],
        ),
        ("x = 'ä', 1  # why", ["x = 'ä', [1 -> 2]"]),
    ],
)
def test_a_fault_turns_a_border_an_operator_a_number_or_a_condition(source: str, changes: list[str]) -> None:
    assert faults(source) == changes


@pytest.mark.parametrize(
    "source",
    [
        "x: Literal[1] | None",
        "@cache(size=1)\ndef f(a: 'X' | 3) -> tuple[int, 2]: ...",
        "class A(Struct, frozen=True): '''Doc 1 + 1.'''",
        "x = f'{1 + 1:.2f}' + 'text'",
        "x = 'a' + b",
        "raise Error(1 + 1)",
        "x = zip(a, b, strict=True)",
        "import a.b\nfrom c import d",
    ],
)
def test_texts_types_and_imports_have_no_fault(source: str) -> None:
    assert faults(source) == []


@pytest.mark.parametrize(("count", "total"), [(0, 10), (3, 40), (24, 300), (10, 10)])
def test_the_interval_of_the_survivors_is_wilsons(count: int, total: int) -> None:
    wanted = scipy.stats.binomtest(count, total).proportion_ci(0.95, "wilson")
    assert wilson(count, total) == pytest.approx((wanted.low, wanted.high), abs=1e-6)


SOURCE = """\
BORDER = 2
OTHER = 3

def above(x):
    return x > BORDER

def below(x):
    return x < OTHER
"""


@pytest.fixture
def near(tmp_path: Path) -> Near:
    (tmp_path / "one.py").write_text(SOURCE)
    data = CoverageData(str(tmp_path / "coverage"))
    file = str(tmp_path / "one.py")
    for context, lines in (("", {1, 2, 4, 7}), ("t.py::test_above|run", {5}), ("t.py::test_both|run", {5, 8})):
        data.set_context(context)
        data.add_lines({file: lines})
    data.write()
    cases = "".join(f'<testcase classname="t" name="test_{name}" time="2"/>' for name in ("above", "both"))
    (tmp_path / "times.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    return Near(tmp_path, tmp_path / "coverage", tmp_path / "times.xml", 10)


def test_the_tests_near_a_line_ran_it_and_the_most_specific_come_first(near: Near) -> None:
    assert near.of("one.py", 5) == ["t.py::test_above", "t.py::test_both"]
    assert near.of("one.py", 8) == ["t.py::test_both", "t.py::test_above"], "then the rest of its file"
    assert near.of("one.py", 5, without=["t.py::test_above"]) == ["t.py::test_both"]


def test_the_tests_near_a_constant_ran_the_lines_that_use_it(near: Near) -> None:
    assert near.of("one.py", 1)[0] == "t.py::test_above"
    assert near.of("one.py", 2)[0] == "t.py::test_both"


def test_a_trial_sees_the_fault_in_memory_and_the_file_stays(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(SOURCE)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (tmp_path / "test_one.py").write_text(
        "import one\ndef test_above(): assert one.above(3) and not one.above(2)\n"
    )
    tests = (f"{tmp_path}/test_one.py::test_above", "-c", f"{tmp_path}/pytest.ini", "--rootdir", str(tmp_path))
    file, source = str(tmp_path / "one.py"), SOURCE.encode()
    trials = [
        Trial(0, "", b"", tests, 1.0),
        Trial(1, file, source.replace(b">", b">="), tests, 1.0),
        Trial(2, file, source.replace(b"x <", b"x <="), tests, 1.0),
    ]
    verdicts = {each.key: each for each in run(trials, 2)}
    assert [verdicts[key].fate for key in range(3)] == ["survived", "killed", "survived"]
    assert verdicts[1].test.endswith("test_one.py::test_above")
    assert (tmp_path / "one.py").read_text() == SOURCE


def test_coverage_is_counted_by_room(tmp_path: Path) -> None:
    sources = tmp_path / "assay"
    for name, source in (("a/one.py", "x = 1\nif x:\n    y = 2\n"), ("a/two.py", "z = 1\n"), ("b.py", "w = 1\n")):
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / name).write_text(source)
    measured = Coverage(data_file=str(tmp_path / "data"))
    measured.save()
    data = CoverageData(str(tmp_path / "data"))
    data.add_lines({str(sources / "a" / "one.py"): {1, 2}, str(sources / "b.py"): {1}})
    data.write()
    assert counted(tmp_path / "data", sources) == {"a": (4, 2), "assay": (1, 1), "all": (5, 3)}


def test_make_test_names_what_passed_only_alone() -> None:
    assert told(0, ["a"], 0) == told(1, ["a"], 2) == []
    assert told(1, ["a", "b"], 0) == ["0 tests passed only when run alone"]
    assert told(2, ["b", "a"], 1) == ["2 tests passed only when run alone:", "a", "b"]
    assert told(2, ["a"], 0) == ["1 test passed only when run alone:", "a"]
    assert told(2, [], 3) == ["0 tests passed only when run alone"]
