"""The exit code of a run: a finding that the user does not accept, cases that failed or were not measured."""

from pathlib import Path

from assay import store
from assay.model.errors import MeasurementError, PartialRunError, ThresholdError
from assay.model.result import Analysis
from assay.model.run import Run
from assay.model.units import count_of
from assay.report.summary import counted

#: Severity that `--fail-on` names -> severities with which a run fails.
_FAILING = {"problem": ("problem",), "advice": ("problem", "advice")}


def judge(run: Run, analysis: Analysis, fail_on: str | None = None) -> None:
    """Raise the error for the exit code of a run; its report is already written.

    Args:
        run: that was measured.
        analysis: its analysis.
        fail_on: severity of findings that the user does not accept; None for none.

    Raises:
        ThresholdError: there is such a finding.
        MeasurementError: a case gave no valid result, or lacks a launch that failed.
        PartialRunError: a case was not measured.
    """
    remedy = f"assay show {store.typed(Path(run.path))}"
    failing = [
        each for each in analysis.findings if each.assessed and each.severity in _FAILING.get(fail_on or "", ())
    ]
    if failing:
        found = count_of(len(failing), "finding")
        why = f"the first, {failing[0].id}: {failing[0].claim}"
        raise ThresholdError(f"{found} of severity {fail_on}", why=why, remedy=remedy)
    ended = {
        "skipped": [one for one in analysis.outcomes if one.status == "skipped"],
        "invalid": [one for one in analysis.outcomes if one.status not in {"complete", "skipped"}],
        "broken": [one for one in analysis.outcomes if one.status == "complete" and one.failed],
    }
    for kind, error, words in (
        ("invalid", MeasurementError, "gave no valid result"),
        ("broken", MeasurementError, "lack launches that failed"),
        ("skipped", PartialRunError, "were not measured"),
    ):
        if outcomes := ended[kind]:
            why = f"the first, {run.plan.names[outcomes[0].case]}: {outcomes[0].reason}"
            raise error(f"{counted(run, outcomes)} {words}", why=why, remedy=remedy)
