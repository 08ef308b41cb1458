"""Runs in the forms of other programs, read by those programs' own libraries."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import junitparser
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.cli import assay
from assay.model.plan import Measure, Study
from assay.model.result import Analysis, Burst, Finding, Limit
from assay.model.run import Run
from assay.topics.interchange.exports import junit, openmetrics, parquet

PAGE = Path(__file__).parents[2] / "docs" / "exporting.md"
STUDY = Study(
    "Small",
    "How?",
    (
        Measure("stream", ("one-core", "all"), axes={"elements": 1000}),
        Measure("memcpy", ("one-core",), axes={"bytes": (1024, 2048)}),
    ),
    launches=6,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated_run(tmp_path_factory.mktemp("runs"), study=STUDY)


@pytest.fixture(scope="module")
def run(path: Path) -> Run:
    return store.load(path)


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


def export(path: Path, *words: str) -> str:
    done = CliRunner().invoke(assay, ["export", str(path), *words])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def sql() -> Iterator[str]:
    return iter(re.findall(r"^```sql\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL))


def test_the_queries_of_the_page_give_the_figures_of_the_run(
    path: Path, analysis: Analysis, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    export(path, "--format", "parquet", "-o", "figures.parquet")
    export(path, "--format", "parquet", "--samples", "-o", "samples.parquet")
    figures, launches = (duckdb.execute(query).fetchall() for query in sql())
    wanted = {(e.benchmark, e.kernel, e.placement.label, e.median, e.lo, e.hi, e.unit) for e in analysis.estimates}
    assert figures
    assert {row[:7] for row in figures} <= wanted
    found = {(case, kernel, launch): (seconds, count) for case, kernel, launch, _, seconds, count in launches}
    series = [
        ((case.header.case, each.kernel, records.launch.id), np.asarray(each.seconds) / each.iterations)
        for records in run.made
        for case in records.cases
        for each in case.series
        if each.phase == "measured"
    ]
    assert len(found) == len(series)
    for key, samples in series:
        assert found[key] == (pytest.approx(float(np.median(samples)), rel=1e-12), len(samples))


def test_columns_of_parquet_have_types_and_axes_are_columns(path: Path, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    export(path, "--format", "parquet", "--samples", "-o", str(file))
    described = duckdb.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(file)]).fetchall()
    types = {name: kind for name, kind, *_ in described}
    assert types["seconds"] == types["start_s"] == "DOUBLE"
    assert types["param_elements"] == types["iterations"] == types["attempt"] == "BIGINT"
    assert types["param_stores"] == types["host"] == types["phase"] == "VARCHAR"
    assert types["started"] == "TIMESTAMP WITH TIME ZONE"
    query = "SELECT count(*), sum(seconds) FROM read_parquet(?)"
    ((count, total),) = duckdb.execute(query, [str(file)]).fetchall()
    series = [each for records in run.made for case in records.cases for each in case.series]
    assert count == sum(len(each.seconds) for each in series)
    assert total == pytest.approx(sum(sum(each.seconds) for each in series), rel=1e-12)


def test_prometheus_reads_each_figure_with_its_ends(run: Run, analysis: Analysis) -> None:
    odd = msgspec.structs.replace(analysis.estimates[0], params={"look-ahead": 'a "b"\\\n'})
    changed = msgspec.structs.replace(analysis, estimates=(odd, *analysis.estimates[1:]))
    text = "".join(openmetrics.figures(run, changed))
    parsed = text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    families = {each.name: each for each in parsed}
    for family, name in (("assay_figure", "median"), ("assay_figure_lower", "lo"), ("assay_figure_upper", "hi")):
        told = {sample.labels["figure"]: sample.value for sample in families[family].samples}
        assert told == {e.id: getattr(e, name) for e in changed.estimates if e.value}
    assert families["assay_figure"].samples[0].labels["param_look_ahead"] == 'a "b"\\\n'
    assert sum(sample.value for sample in families["assay_findings"].samples) == len(analysis.findings)


@pytest.mark.parametrize(("burst", "counts"), [("", (1, 0)), ("unknown", (0, 1)), ("fits", (0, 0))])
def test_the_burst_of_a_shaper_is_no_failure(
    run: Run, analysis: Analysis, tmp_path: Path, burst: Burst, counts: tuple[int, int]
) -> None:
    first, *others = analysis.estimates
    above = msgspec.structs.replace(first, exceeds=Limit(1.0, "derived", "tc", "shaper", burst=burst))
    changed = msgspec.structs.replace(analysis, estimates=(above, *others))
    _, figures, _ = _suites(run, changed, tmp_path)
    assert (figures.failures, figures.skipped) == counts


def test_a_ci_system_sees_what_went_wrong_and_nothing_else(run: Run, analysis: Analysis, tmp_path: Path) -> None:
    ok = _suites(run, analysis, tmp_path)
    assert sum(suite.tests for suite in ok) > 10
    assert sum(suite.failures for suite in ok if "findings" not in suite.name) == 0
    first, second, *rest = analysis.estimates
    above = msgspec.structs.replace(first, exceeds=Limit(1.0, "derived", "a \x07ceiling", "memory"))
    failed, missed, *others = analysis.outcomes
    problem = Finding("p:1", "p", "It is slow & <bad>", "problem", "confirmed", (), "", "")
    doubt = msgspec.structs.replace(problem, id="p:2", status="candidate")
    changed = msgspec.structs.replace(
        analysis,
        estimates=(above, second, *rest),
        outcomes=(
            msgspec.structs.replace(failed, status="failed", reason="it ended"),
            msgspec.structs.replace(missed, status="skipped", reason="no time"),
            *others,
        ),
        findings=(problem, doubt),
    )
    cases, figures, findings = _suites(run, changed, tmp_path)
    assert [(suite.failures, suite.skipped) for suite in (cases, figures, findings)] == [(1, 1), (1, 0), (1, 1)]
    (failure,) = next(case.result for case in findings if case.name == "p:1")
    assert (failure.message, failure.type) == ("It is slow & <bad>", "confirmed")


def _suites(run: Run, analysis: Analysis, folder: Path) -> list[junitparser.TestSuite]:
    (folder / "x.xml").write_text("".join(junit.figures(run, analysis)), "utf-8")
    suites = list(junitparser.JUnitXml.fromfile(str(folder / "x.xml")))
    for suite in suites:
        stated = (suite.tests, suite.failures, suite.skipped)
        suite.update_statistics()  # type: ignore[no-untyped-call]
        assert stated == (suite.tests, suite.failures, suite.skipped)
    return suites


def test_json_is_what_show_prints(path: Path) -> None:
    shown = CliRunner().invoke(assay, ["show", str(path), "--json"]).stdout
    assert json.loads(export(path, "--format", "json")) == json.loads(shown)


def test_without_its_library_parquet_says_what_to_install(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(parquet, "import_module", absent)
    done = CliRunner().invoke(assay, ["export", str(path), "--format", "parquet"])
    assert getattr(done.exception, "exit_code", 0) == 4
    assert "pip install 'assay[parquet]'" in str(vars(done.exception))
    done = CliRunner().invoke(assay, ["export", str(path), "--format", "junit", "--samples"])
    assert getattr(done.exception, "exit_code", 0) == 2


def test_csv_and_parquet_have_the_parts_of_the_measurand(path: Path, analysis: Analysis, tmp_path: Path) -> None:
    file = tmp_path / "figures.parquet"
    export(path, "--format", "parquet", "-o", str(file))
    rows = list(csv.DictReader(io.StringIO(export(path, "--format", "csv"))))
    query = "SELECT id, measurand, threads_per_rank, relation, nodes FROM read_parquet(?)"
    typed = {row[0]: row[1:] for row in duckdb.execute(query, [str(file)]).fetchall()}
    assert len(rows) == len(analysis.estimates)
    for row, e in zip(rows, analysis.estimates, strict=True):
        layout, relation = e.measurand.layout, e.measurand.places.relation
        assert typed[e.id] == (e.measurand.key, layout.threads_per_rank, relation, layout.nodes)
        assert (row["measurand"], row["relation"]) == (e.measurand.key, relation)
        assert row["threads_per_rank"] == str(layout.threads_per_rank)
    assert len({row["measurand"] for row in rows}) == len(rows)
