"""What became of each case, and the effort of a run, on attempts by hand."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from assay.analyse.effort import effort
from assay.analyse.joint import MEAN, SOLVED
from assay.analyse.outcomes import mark_invalid, outcomes
from assay.model.plan import PlannedLaunch
from assay.model.result import Outcome
from assay.model.run import Shortfall


def attempt(launch: str, status: str = "complete", reason: str = "", *, begun: bool = True, loud: str = "") -> Any:  # noqa: ANN401
    """An attempt of a launch, in the place of assay.analyse.launches.CaseAttempt."""
    return SimpleNamespace(
        launch=launch, status=status, reason=reason, cause="", header="header" if begun else None, disturbance=loud
    )


def run_of(**changed: object) -> Any:  # noqa: ANN401 (in the place of a run)
    order = tuple(PlannedLaunch(f"l{at}", at, "memcpy", "gcc", ("case",)) for at in range(3))
    plan = SimpleNamespace(cases=[SimpleNamespace(id="case", role="measure")], order=order)
    ending = SimpleNamespace(cut={}, status="complete", elapsed_s=70.0)
    older = SimpleNamespace(launch=SimpleNamespace(engine_s=None))  # by a version that recorded no parts
    return SimpleNamespace(**({"plan": plan, "ending": ending, "damage": (), "made": (older,)} | changed))


def outcome(*attempts: Any, **changed: object) -> Outcome:  # noqa: ANN401 (see attempt)
    return outcomes(run_of(**changed), {"case": attempts})["case"]


def told(found: Outcome) -> tuple[str, str, int, int, int]:
    return found.status, str(found.reason), found.launches, found.planned, found.failed


def test_a_case_with_all_of_its_launches_is_complete() -> None:
    whole = [attempt(f"l{at}") for at in range(3)]
    assert told(outcome(*whole)) == ("complete", "", 3, 3, 0)
    again = attempt("l1", "incomplete", "it broke off")
    assert told(outcome(whole[0], again, *whole[1:])) == ("complete", "", 3, 3, 0)


def test_a_case_that_lacks_launches_says_why() -> None:
    broken = [attempt("l1", "incomplete", "b broke off"), attempt("l2", "timed-out", "a took too long")]
    assert told(outcome(attempt("l0"), *broken)) == (
        "complete",
        "1 of 3 launches: a took too long; b broke off",
        1,
        3,
        2,
    )
    assert told(outcome(attempt("l0"))) == ("complete", "1 of 3 launches: the run did not reach it", 1, 3, 0)


def test_a_case_whose_launches_were_all_disturbed_says_so() -> None:
    loud = [attempt(f"l{at}", loud="others") for at in range(3)]
    assert str(outcome(*loud).reason) == "every launch was disturbed: others"
    assert outcome(*loud[:2], attempt("l2")).reason == ""


@pytest.mark.parametrize("status", ["failed", "invalid"])
def test_one_wrong_result_decides_a_case_but_not_an_attempt_that_never_began(status: str) -> None:
    whole = [attempt("l0"), attempt("l1")]
    assert told(outcome(*whole, attempt("l2", status, "wrong sum"))) == (status, "wrong sum", 2, 3, 1)
    assert outcome(*whole, attempt("l2", status, "no node", begun=False)).status == "complete"
    both = [attempt("l1", "invalid", "elsewhere"), attempt("l2", "failed", "wrong sum")]
    assert outcome(attempt("l0"), *both).status == "failed"
    last = [attempt("l0", "incomplete", "first"), attempt("l1", "timed-out", "second")]
    assert told(outcome(*last))[:2] == ("timed-out", "second")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({}, "the run did not reach it"),
        ({"ending": SimpleNamespace(cut={}, status="interrupted")}, "the run was interrupted"),
        ({"ending": None}, "the run has not ended; `assay run --resume` goes on with it"),
        ({"damage": ("line 7",)}, "its records are damaged: line 7"),
        (
            {"ending": SimpleNamespace(cut={"case": Shortfall("budget", "no time", 0, 3)}, status="cut")},
            "no time",
        ),
        (
            {"ending": SimpleNamespace(cut={"l2": Shortfall("failures", "no node", 0, 3)}, status="cut")},
            "no node",
        ),
    ],
)
def test_a_case_that_never_began_says_why(changed: dict[str, object], why: str) -> None:
    assert told(outcome(**changed)) == ("skipped", why, 0, 3, 0)


def test_the_launches_of_a_case_that_was_cut_are_counted_once() -> None:
    cut = {"case": Shortfall("budget", "no time", 2, 3)}
    ending = SimpleNamespace(cut=cut, status="cut")
    assert outcome(ending=ending).reason == "no time"
    made = [attempt(f"l{at}") for at in range(2)]
    assert outcome(*made, ending=ending).reason == "2 of 3 launches: no time"


def test_a_case_with_an_impossible_figure_is_not_complete() -> None:
    ended = {name: Outcome(name, "complete", "", 3, 3) for name in "ab"} | {"c": Outcome("c", "failed", "x", 3, 3)}
    figures: Any = [
        SimpleNamespace(case="a", status="invalid", reason="too fast"),
        SimpleNamespace(case="b", status="complete", reason=None),
        SimpleNamespace(case="c", status="invalid", reason="too fast"),
    ]
    found = mark_invalid(ended, figures)
    assert [(each.case, each.status, each.reason) for each in found] == [
        ("a", "invalid", "too fast"),
        ("b", "complete", ""),
        ("c", "failed", "x"),
    ]


@pytest.mark.parametrize(
    ("budget_s", "study_s", "grown_s"),
    [(60.0, 70.0, 10.0), (60.0, 50.0, 0.0), (None, 70.0, 0.0), (60.0, None, 0.0)],
)
def test_the_effort_counts_series_with_fewer_samples_than_promised(
    budget_s: float | None, study_s: float | None, grown_s: float
) -> None:
    def sampled(count: int, stop: str = "time") -> SimpleNamespace:
        return SimpleNamespace(seconds=np.zeros(count), stop=stop)

    cases = [SimpleNamespace(id=name, role=role) for name, role in (("a", "measure"), ("s", "sentinel"))]
    plan = SimpleNamespace(cases=cases, min_samples=10, budget_s=budget_s, grows=True)
    kernels = {("x", "n1"): sampled(9), ("y", "n1"): sampled(10), ("z", "slowest"): sampled(11)}
    left_out = {("z", MEAN): sampled(1), ("solved", "n1"): sampled(1, SOLVED)}
    attempts: Any = {
        "a": [SimpleNamespace(sampled=kernels | left_out), SimpleNamespace(sampled={("x", "n1"): sampled(3)})],
        "s": [SimpleNamespace(sampled={("q", "n1"): sampled(1)})],
    }
    found = effort(cast("Any", run_of(plan=plan, study_s=study_s)), attempts)
    assert (found.series, found.short, found.promised) == (4, 2, 10)
    assert (found.budget_s, found.elapsed_s, found.grown_s, found.grows) == (budget_s, 70.0, grown_s, True)
    assert effort(cast("Any", run_of(plan=plan, study_s=study_s, ending=None)), attempts).elapsed_s is None
