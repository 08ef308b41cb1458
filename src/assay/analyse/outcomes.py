"""The outcome of each case of the plan. No case goes missing in silence."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.analyse.launches import CaseAttempt, planned
from assay.model.record import FailureCause
from assay.model.result import CaseStatus, Estimate, Outcome
from assay.model.run import Run, Shortfall
from assay.model.text import joined, text

#: A single launch with this status decides the case: a wrong result or a wrong place is not chance.
_DECISIVE: tuple[CaseStatus, ...] = ("failed", "invalid")


def outcomes(run: Run, attempts: Mapping[str, Sequence[CaseAttempt]]) -> dict[str, Outcome]:
    """Return the outcome of every case of the plan, by case."""
    plan = planned(run)
    cut = run.ending.cut if run.ending else {}
    return {
        case.id: _outcome(
            case.id,
            attempts[case.id],
            [launch.id for launch in plan[case.id]],
            _why_missing(run, [case.id, *(launch.id for launch in plan[case.id])], cut),
        )
        for case in run.plan.cases
    }


def _outcome(case: str, attempts: Sequence[CaseAttempt], launches: Sequence[str], missing: str) -> Outcome:
    complete = {each.launch for each in attempts if each.status == "complete"}
    status, reason, cause = _status(attempts, missing)
    broken = [each for each in attempts if each.status != "complete" and each.launch not in complete]
    if status == "complete" and len(complete) < len(launches):
        why = joined("; ", sorted({each.reason for each in broken})) or missing
        reason = text("{made} of {planned} launches: {why}", made=len(complete), planned=len(launches), why=why)
    elif status == "complete" and all(each.disturbance for each in attempts if each.status == "complete"):
        reason = text("every launch was disturbed: {why}", why=attempts[-1].disturbance)
    failed = len({each.launch for each in broken if each.status != "skipped"})
    return Outcome(case, status, reason, len(complete), len(launches), cause, failed)


def _status(attempts: Sequence[CaseAttempt], missing: str) -> tuple[CaseStatus, str, FailureCause]:
    begun = [each for each in attempts if each.header]  # an attempt may end by chance before it begins
    worst = next((each for status in _DECISIVE for each in begun if each.status == status), None)
    if worst is None and any(each.status == "complete" for each in attempts):
        return "complete", "", ""
    last = worst or next(reversed(attempts), None)
    return (last.status, last.reason, last.cause) if last else ("skipped", missing, "")


def _why_missing(run: Run, names: Sequence[str], cut: Mapping[str, Shortfall]) -> str:
    for name in names:
        if name in cut:
            return cut[name].why
    if run.ending is None:
        return text("the run has not ended; `assay run --resume` goes on with it")
    if run.damage:
        return text("its records are damaged: {why}", why=run.damage[0])
    interrupted = run.ending.status == "interrupted"
    return text("the run was interrupted") if interrupted else text("the run did not reach it")


def mark_invalid(ended: Mapping[str, Outcome], estimates: Iterable[Estimate]) -> tuple[Outcome, ...]:
    """Return the outcomes; a case with an impossible figure is not complete."""
    found = dict(ended)
    for estimate in estimates:
        if estimate.status != "complete" and found[estimate.case].status == "complete":
            found[estimate.case] = msgspec.structs.replace(
                found[estimate.case], status=estimate.status, reason=estimate.reason or ""
            )
    return tuple(found.values())
