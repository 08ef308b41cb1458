"""The exit code of a run: findings that the user does not accept, launches that failed, cases that are missing."""

import msgspec
import pytest
from click.testing import CliRunner
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.cli import assay
from assay.cli.support import gate
from assay.model.errors import MeasurementError, PartialRunError, ThresholdError
from assay.model.result import Analysis, Finding, Severity
from assay.model.run import Run

FINDING = Finding("rule:subject", "rule", "It is so", "problem", "observed", (), "", "")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Analysis]:
    run = store.load(simulated_run(tmp_path_factory.mktemp("made")))
    analysis = analyse(run, {})
    assert not [each for each in analysis.findings if each.severity == "problem"]
    return run, msgspec.structs.replace(analysis, findings=())


@pytest.mark.parametrize(
    ("severity", "fail_on", "fails"),
    [
        ("problem", "problem", True),
        ("problem", "advice", True),
        ("advice", "advice", True),
        ("advice", "problem", False),
        ("fact", "advice", False),
        ("problem", None, False),
    ],
)
def test_a_finding_of_the_named_severity_or_above_fails(
    measured: tuple[Run, Analysis], severity: Severity, fail_on: str | None, *, fails: bool
) -> None:
    run, analysis = measured
    found = msgspec.structs.replace(FINDING, severity=severity)
    judged = msgspec.structs.replace(analysis, findings=(found,))
    if not fails:
        gate.judge(run, judged, fail_on)
        return
    with pytest.raises(ThresholdError, match="1 finding") as raised:
        gate.judge(run, judged, fail_on)
    assert found.id in raised.value.why


def test_a_finding_without_evidence_does_not_fail(measured: tuple[Run, Analysis]) -> None:
    run, analysis = measured
    unknown = msgspec.structs.replace(FINDING, status="not assessed")
    gate.judge(run, msgspec.structs.replace(analysis, findings=(unknown,)), "problem")


def test_a_complete_case_that_lacks_a_launch_that_failed_is_a_failure(measured: tuple[Run, Analysis]) -> None:
    run, analysis = measured
    gate.judge(run, analysis)
    first, *others = analysis.outcomes
    lacking = msgspec.structs.replace(
        first, launches=first.planned - 1, failed=1, reason="5 of 6 launches: killed"
    )
    with pytest.raises(MeasurementError, match="lack launches that failed") as raised:
        gate.judge(run, msgspec.structs.replace(analysis, outcomes=(lacking, *others)))
    assert "killed" in raised.value.why
    skipped = msgspec.structs.replace(first, status="skipped", reason="no time")
    with pytest.raises(PartialRunError, match="not measured"):
        gate.judge(run, msgspec.structs.replace(analysis, outcomes=(skipped, *others)))


@pytest.mark.usefixtures("undrawn")
def test_show_prints_the_run_whole_and_then_judges_it(measured: tuple[Run, Analysis]) -> None:
    run, _ = measured
    shown = CliRunner().invoke(assay, ["show", run.path])
    judged = CliRunner().invoke(assay, ["show", run.path, "--fail-on", "problem"])
    assert judged.exit_code == 0, judged.exception
    assert judged.stdout == shown.stdout
