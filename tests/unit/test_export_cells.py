"""Exports hold each figure, fate and finding as it is: every cell against the estimate, every status."""

import csv
import io
from xml.etree import ElementTree as ET

import msgspec
import pyarrow.parquet  # type: ignore[import-untyped]
import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.model.result import Analysis, Estimate, Finding
from assay.model.run import Run
from assay.simulation import Law
from assay.topics.interchange.exports import csv_, junit, openmetrics, parquet

STREAM = Measure("stream", ("one-core", "all"), axes={"elements": 1000})
NUMBERS = ("median", "lo", "hi", "confidence", "mean", "min", "max", "p99", "precision")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    study = Study("Cells", "?", (STREAM,), launches=3)
    return store.load(simulated_run(tmp_path_factory.mktemp("cells"), Law(sampled_s=0.0), study=study))


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


def counted(e: Estimate) -> dict[str, int | None]:
    """The layout as numbers; None where it is not stated."""
    layout = e.measurand.layout
    names = ("nodes", "ranks", "ranks_per_node", "threads_per_rank", "devices_per_rank")
    found = {name: getattr(layout, name) for name in names}
    return {name: value if isinstance(value, int) else None for name, value in found.items()}


def test_each_row_of_csv_has_the_fields_of_its_estimate(run: Run, analysis: Analysis) -> None:
    rows = list(csv.DictReader(io.StringIO("".join(csv_.figures(run, analysis)))))
    assert [row["id"] for row in rows] == [e.id for e in analysis.estimates]
    for row, e in zip(rows, analysis.estimates, strict=True):
        for name in NUMBERS:
            value = getattr(e, name)
            assert row[name] == ("" if value is None else str(value))
        assert row["params"] == " ".join(f"{name}={value}" for name, value in e.params.items())
        assert row["cpus"] == " ".join(",".join(map(str, host)) for host in e.placement.cpus)
        assert row["hosts"] == " ".join(e.placement.hosts)
        assert row["launches"] == str(e.launches)
        proven = e.placement.proven
        assert proven
        assert row["as_asked"] == str(proven.as_asked)
        assert row["page_nodes"] == " ".join(f"{node}={pages}" for node, pages in proven.page_nodes.items())
        for name, value in counted(e).items():
            assert row[name] == ("" if value is None else str(value))
        assert row["limit"] == (str(e.limit.value) if e.limit else "")
    assert {"all", "one-core"} == {row["placement"] for row in rows}


def test_each_sample_has_a_row_with_its_number(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO("".join(csv_.samples(run)))))
    series = [(each, case) for records in run.made for case in records.cases for each in case.series]
    wanted = [
        (case.header.case, each.kernel, each.phase, str(each.iterations), str(number), str(start), str(seconds))
        for each, case in series
        for number, (start, seconds) in enumerate(zip(each.start_s, each.seconds, strict=True))
    ]
    names = ("case", "kernel", "phase", "iterations", "sample", "start_s", "seconds")
    assert [tuple(row[name] for name in names) for row in rows] == wanted
    assert {row["host"] for row in rows} == set(run.plan.hosts)


def test_each_row_of_parquet_has_the_fields_of_its_estimate(run: Run, analysis: Analysis) -> None:
    found = pyarrow.parquet.read_table(io.BytesIO(b"".join(parquet.figures(run, analysis)))).to_pylist()
    assert len(found) == len(analysis.estimates)
    for row, e in zip(found, analysis.estimates, strict=True):
        assert {name: row[name] for name in NUMBERS} == {name: getattr(e, name) for name in NUMBERS}
        assert row["cores"] == sum(len(host) for host in e.placement.cpus)
        assert row["hosts"] == list(e.placement.hosts)
        assert row["as_asked"] == (e.placement.proven.as_asked if e.placement.proven else None)
        assert row["limit"] == (e.limit.value if e.limit else None)
        assert row["limit_of"] == (e.limit.of if e.limit else None)
        assert {name: row[name] for name in counted(e)} == counted(e)
        assert row["param_elements"] == e.params.get("elements")
        assert row["run"] == run.info.id


def test_each_sample_of_parquet_has_its_place(run: Run) -> None:
    found = pyarrow.parquet.read_table(io.BytesIO(b"".join(parquet.samples(run)))).to_pylist()
    wanted = [
        (
            records.launch.id,
            records.launch.block,
            case.header.case,
            each.kernel,
            each.phase,
            each.rank,
            number,
            seconds,
        )
        for records in run.made
        for case in records.cases
        for each in case.series
        for number, seconds in enumerate(each.seconds)
    ]
    names = ("launch", "block", "case", "kernel", "phase", "rank", "sample", "seconds")
    assert sorted(tuple(row[name] for name in names) for row in found) == sorted(wanted)
    assert {row["host"] for row in found} == set(run.plan.hosts)


def test_columns_of_axes_have_the_type_of_their_values(run: Run, analysis: Analysis) -> None:
    def kind(*values: object) -> str:
        first = analysis.estimates[0]
        estimates = tuple(
            msgspec.structs.replace(first, id=f"{number}", params={} if value is None else {"some-axis": value})
            for number, value in enumerate(values)
        )
        changed = msgspec.structs.replace(analysis, estimates=estimates)
        table = pyarrow.parquet.read_table(io.BytesIO(b"".join(parquet.figures(run, changed))))
        return str(table.schema.field("param_some_axis").type)

    assert kind(1, 2, None) == "int64"
    assert kind(1, 2.5) == "double"
    assert kind(1.5) == "double"
    assert kind(1, "all") == "string"
    assert kind("all", None) == "string"


def finding(severity: str, status: str) -> Finding:
    return Finding(f"{severity} {status}", "rule", "It is so", severity, status, (), "", "")  # type: ignore[arg-type]


def fates(run: Run, analysis: Analysis) -> dict[str, str]:
    """Name of each test case -> its fate."""
    root = ET.fromstring("".join(junit.figures(run, analysis)))  # noqa: S314 (our own)
    found = {}
    for case in root.iter("testcase"):
        found[str(case.get("name"))] = next((each.tag for each in case if each.tag in {"failure", "skipped"}), "")
    return found


def test_each_status_has_its_fate_for_ci(run: Run, analysis: Analysis) -> None:
    outcome = analysis.outcomes[0]
    statuses = {"complete": "", "failed": "failure", "invalid": "failure", "timed-out": "failure"}
    statuses |= {"skipped": "skipped", "incomplete": "skipped"}
    outcomes = tuple(
        msgspec.structs.replace(outcome, case=status, status=status, reason="why") for status in statuses
    )
    findings = {
        ("problem", "confirmed"): "failure",
        ("problem", "observed"): "failure",
        ("problem", "refuted"): "",
        ("problem", "candidate"): "skipped",
        ("advice", "confirmed"): "",
        ("fact", "observed"): "",
        ("fact", "not assessed"): "skipped",
    }
    changed = msgspec.structs.replace(
        analysis, estimates=(), outcomes=outcomes, findings=tuple(finding(*each) for each in findings)
    )
    wanted = {**statuses, **{f"{severity} {status}": fate for (severity, status), fate in findings.items()}}
    assert fates(run, changed) == wanted


def test_findings_are_counted_by_severity_and_status(run: Run, analysis: Analysis) -> None:
    kinds = [("problem", "observed"), ("fact", "observed"), ("problem", "observed")]
    changed = msgspec.structs.replace(analysis, findings=tuple(finding(*each) for each in kinds))
    lines = [
        line
        for line in "".join(openmetrics.figures(run, changed)).splitlines()
        if line.startswith("assay_findings{")
    ]
    assert [(line.split('severity="')[1].split('"')[0], line.split()[-1]) for line in lines] == [
        ("fact", "1"),
        ("problem", "2"),
    ]


def test_a_figure_without_a_value_has_no_gauge(run: Run, analysis: Analysis) -> None:
    none = msgspec.structs.replace(analysis.estimates[0], value=None, limit=None)
    changed = msgspec.structs.replace(analysis, estimates=(none,))
    written = "".join(openmetrics.figures(run, changed))
    assert "assay_figure" not in written
    assert "assay_figure_launches" in "".join(openmetrics.figures(run, analysis))
