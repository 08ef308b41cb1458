"""Declarations as files: what they hold, what they share, and what is refused."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from tools.schemas import declaration_schema

from assay.catalogue import benchmarks, declaration_files
from assay.model.declaration import Declaration
from assay.model.errors import UsageError

PUBLISHED = Path(__file__).parents[2] / "schema" / "declaration.schema.json"
FILES = declaration_files.files()
#: A small declaration, as a package has it.
FILL: dict[str, Any] = {
    "name": "fill",
    "title": "Fill rate",
    "measures": "how fast one core fills memory",
    "program": "fill",
    "kernels": ["memset"],
    "work": {"memset": {"bytes": None}},
    "axes": [{"name": "bytes", "meaning": "size", "values": [4096], "default": 4096, "unit": "B"}],
    "metrics": [{"name": "bandwidth", "unit": "B/s", "better": "higher", "work": "bytes", "meaning": "written"}],
}


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(PUBLISHED.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def written(folder: Path, **changed: object) -> Path:
    file = folder / "fill.json"
    file.write_text(json.dumps(FILL | changed))
    return file


def test_the_published_schema_is_the_one_of_the_types() -> None:
    assert PUBLISHED.read_text() == declaration_schema()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_is_taken_by_the_schema(file: Path, validator: jsonschema.Draft202012Validator) -> None:
    validator.validate(declaration_files.resolved(file))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_a_declaration_names_is_declared(file: Path) -> None:
    declared = declaration_files.read(file)
    native = declared.program != "start"
    axes = {axis.name for axis in declared.axes}
    assert declared.work.keys() <= set(declared.kernels)
    for metric in declared.metrics:
        assert set(metric.kernels) <= set(declared.kernels)
        assert metric.when.keys() <= axes
        for kernel in metric.kernels or declared.kernels:
            assert not native or not metric.work or metric.work in declared.work[kernel], (kernel, metric.name)
    named = {*declared.touch_axes, *declared.sentinel, declared.order_grain, declared.message_threads} - {""}
    assert named <= axes


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_program_has_a_value_for_each_axis_and_it_is_one_of_its_words(file: Path) -> None:
    for axis in declaration_files.read(file).axes:
        usual = axis.default if axis.program_default is None else axis.program_default
        assert usual is not None, axis.name
        if isinstance(usual, str):
            assert usual in axis.values
        else:
            assert axis.minimum <= usual <= (axis.maximum or usual)


def test_each_benchmark_has_a_file_and_each_file_a_benchmark() -> None:
    applications = benchmarks.applications()
    assert {file.stem for file in FILES} == set(benchmarks.names()) - applications.keys()


def test_a_declaration_comes_back_from_json() -> None:
    for file in FILES:
        declared = declaration_files.read(file)
        assert msgspec.json.decode(msgspec.json.encode(declared), type=Declaration) == declared


def test_amounts_are_those_of_the_definitions() -> None:
    """At order 100 LINPACK counts 686,667 operations, HPL 681,667; Himeno 34 flops a point; STREAM 2 for 24 B."""
    assert benchmarks.get("linpack").amount("solve", "flops", {"n": 100}) == pytest.approx(686_666.67)
    assert benchmarks.get("hpl").amount("rate", "flops", {"n": 100}) == pytest.approx(681_666.67)
    assert benchmarks.get("mxp").amount("rate", "flops", {"n": 1000}) == pytest.approx(2e9 / 3 + 1.5e6)
    assert benchmarks.get("dgemm").amount("multiply", "flops", {"n": 100}) == 2e6
    assert benchmarks.get("himeno").amount("jacobi", "flops") == 34
    stream = benchmarks.get("stream")
    assert stream.work_of("triad", 10) == {"flops": 20, "bytes": 240, "traffic_bytes": 320}
    assert stream.work_of("copy") == {"bytes": 16, "traffic_bytes": 24}


def test_what_the_program_counts_has_no_amount() -> None:
    with pytest.raises(KeyError, match="bytes"):
        benchmarks.get("dgemm").amount("multiply", "bytes", {"n": 3})


def test_a_polynomial_without_one_of_its_numbers_is_an_error() -> None:
    assert benchmarks.get("dgemm").amount("multiply", "flops", {"n": 3}) == 2 * 3**3
    with pytest.raises(KeyError, match="n"):
        benchmarks.get("dgemm").amount("multiply", "flops", {"order": 3})


def test_a_record_is_like_one_beside_it_and_its_own_members_count(tmp_path: Path) -> None:
    shared = {"axes": {"size": {"name": "bytes", "meaning": "size", "values": [1], "default": 1, "unit": "B"}}}
    (tmp_path / "shared.json").write_text(json.dumps(shared))
    file = written(tmp_path, axes=[{"like": "size", "values": [8], "default": 8}, {"like": "touch"}])
    size, touch = declaration_files.read(file).axes
    assert (size.name, size.unit, size.values, size.default) == ("bytes", "B", (8,), 8)
    assert touch.values == ("parallel", "serial")  # of Assay's own


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"kernel": ["memset"]}, "kernels"),
        ({"axes": [{"like": "nothing"}]}, "nothing"),
        ({"metrics": [{"name": "bandwidth"}]}, "metrics"),
        ({"name": "other"}, "other"),
        ({"work": {"memset": {"bytes": "many"}}}, "work"),
    ],
)
def test_a_wrong_file_is_refused_by_name(changed: dict[str, object], named: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        declaration_files.read(written(tmp_path, **changed))
    assert named in f"{refused.value} {refused.value.why}"


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fill.json").write_text("{")
    with pytest.raises(UsageError, match=r"fill\.json"):
        declaration_files.read(tmp_path / "fill.json")


def test_a_benchmark_without_a_file_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="nothing"):
        declaration_files.declaration("nothing")
