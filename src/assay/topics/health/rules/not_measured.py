"""Cases of the plan that the run did not measure."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.model.grouping import grouped
from assay.model.plan import Plan
from assay.model.result import Finding, Outcome
from assay.model.text import REMARK, Text, cli, filled, joined, text

_SHOWN = 3
_STATUSES = {
    "failed": text("failed"),
    "invalid": text("invalid"),
    "incomplete": text("incomplete"),
    "timed-out": text("timed-out"),
    "skipped": "",
    "complete": "",
}


def _assess(evidence: Evidence) -> Iterable[Finding]:
    run, studied = evidence.run, {case.id for case in evidence.run.plan.studied}
    wrong = [each for each in evidence.outcomes if each.status in {"failed", "invalid"}]
    of_study = [each for each in wrong if each.case in studied]
    planned = [each for each in evidence.outcomes if each.case in studied]
    missing = [each for each in planned if each.status not in {"complete", "failed", "invalid"}]
    short = [each for each in planned if each.status == "complete" and each.failed]
    if wrong:
        claim = text(
            "{count} of {all} cases gave no valid figure: {reasons}."
            if of_study
            else "{count} of {all} control measurements gave no valid figure: {reasons}."
        )
        shown = joined(REMARK, [cli("show", run.info.id, "--json"), text("status and reason of each case")])
        yield _finding(run.plan, "wrong", claim, of_study or wrong, shown)
    if missing:
        claim = (
            text("{count} of {all} printed figures are left out: {reasons}.")
            if run.imported
            else text("{count} of {all} cases were not measured: {reasons}.")
        )
        resume = "" if run.imported else cli("resume", run.info.id, *evidence.budget())
        yield _finding(run.plan, "missing", claim, missing, resume)
    if short:
        claim = text("{count} of {all} cases lack launches that failed: {reasons}.")
        logs = text("the output of the programs is in the folder `logs` of the run")
        yield _finding(run.plan, "short", claim, short, logs)


def _finding(plan: Plan, subject: str, claim: Text, outcomes: list[Outcome], remedy: str) -> Finding:
    studied = {case.id for case in plan.studied}
    every = len(studied) if outcomes[0].case in studied else len(plan.cases) - len(studied)
    return rule.finding(
        subject,
        claim=filled(claim, {"count": len(outcomes), "all": every, "reasons": _reasons(plan, outcomes)}),
        severity="problem" if subject == "wrong" else "fact",
        numbers=numbers(len(outcomes), 0),
        statistic=text("{count} case|{count} cases", count=len(outcomes)),
        next=remedy,
    )


def _reasons(plan: Plan, outcomes: list[Outcome]) -> str:
    """List the most frequent reasons with one case of each."""
    cases = grouped(outcomes, lambda each: (each.status, each.reason or ""))
    ranked = sorted(cases.items(), key=lambda item: -len(item[1]))
    names = plan.names
    shown = [
        _reason(_STATUSES.get(status, status), reason, names.get(found[0].case, found[0].case), len(found) - 1)
        for (status, reason), found in ranked
    ]
    others = len(shown) - _SHOWN
    rest = text("{count} other reason|{count} other reasons", count=others) if others > 0 else ""
    return joined("; ", [*shown[:_SHOWN], rest])


def _reason(status: str, reason: str, case: str, more: int) -> str:
    reason = text("{status}: {reason}", status=status, reason=reason) if status else reason
    if not more:
        return text("{reason} ({case})", reason=reason, case=case)
    return text("{reason} ({case} and {count} more)", reason=reason, case=case, count=more)


rule = Rule(
    "not_measured",
    text("Did every case of the plan succeed?"),
    text("every case complete"),
    _assess,
    concerns="missing",
)
