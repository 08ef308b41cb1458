"""The first page, computed from the run: verdict on the figures, problems, next steps."""

import shlex
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from assay import references
from assay.analyse.evidence import CONFIDENT
from assay.analyse.findings import concerning, rules
from assay.analyse.flaws import is_misplaced
from assay.model.flaw import OF_NAMES
from assay.model.grouping import grouped
from assay.model.result import Analysis, CaseStatus, Finding, Outcome
from assay.model.run import Run
from assay.model.text import Command, cli, commands, is_rooted, joined, text
from assay.report import formatting, remedies
from assay.report.section import Headline
from assay.report.vocabulary import known

#: Options of a study on several nodes.
_NODES = ("--hosts", "NODE1,NODE2")
#: A smaller loss is not named.
_SMALL = 0.05


class Action(msgspec.Struct, frozen=True):
    """A next step, and the finding that asks for it (empty if the step says it)."""

    do: str
    why: str = ""

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands of the step."""
        return tuple(commands(self.do))


class Verdict(msgspec.Struct, frozen=True):
    """Whether the figures of a run may be used.

    Attributes:
        grade: `good`, `care` (with the reason in mind), `bad` (they are not what they are called).
        sentence: the same in words.
        reason: the worst problem, or why the figures are good.
        beyond: the part of the study without figures; empty if there is none.
    """

    grade: Literal["good", "care", "bad"]
    sentence: str
    reason: str = ""
    beyond: str = ""


class Summary(msgspec.Struct, frozen=True):
    """The first page.

    Attributes:
        verdict: whether the figures may be used.
        wrong: problems of performance or trust.
        worth: the largest loss that is no problem; empty if it is small.
        tested: how many rules could be tested.
        checked: whether rules tested samples, so that no finding means no problem.
        next: steps, each with its reason; the first is the most important one.
        notices: to be read before any figure, e.g. that messages used another network than requested.
    """

    verdict: Verdict
    wrong: tuple[str, ...] = ()
    worth: str = ""
    tested: str = ""
    checked: bool = False
    next: tuple[Action, ...] = ()
    notices: tuple[str, ...] = ()


def summary(run: Run, analysis: Analysis, headlines: Sequence[Headline] = ()) -> Summary:
    """Return the first page of a run with these headline figures."""
    wrong = _wrong(run, analysis)
    return Summary(
        verdict(run, analysis),
        wrong,
        worth="" if wrong else _largest_loss(analysis, headlines),
        tested=rules_tested(run, analysis),
        checked=bool(run.launches),
        next=_next(run, analysis),
        notices=tuple(each.claim for each in notices(analysis)),
    )


def rules_tested(run: Run, analysis: Analysis) -> str:
    """Return how many rules could be tested, as a sentence."""
    count, of = len(analysis.tested), len(rules())
    if not run.launches:
        return text("Means without samples decide {tested} of {rules} rules.", tested=count, rules=of)
    return text(
        "{tested} of {rules} rules were tested; the others need what this run did not measure.",
        tested=count,
        rules=of,
    )


def _largest_loss(analysis: Analysis, headlines: Sequence[Headline]) -> str:
    """The largest loss: of advice, relative to what is faster, or of a headline, relative to its limit."""
    pairs = {each.id: each for each in analysis.comparisons}
    found: list[tuple[float, str]] = []
    for finding in by_severity(analysis):
        of = [pairs[name].ratio for name in finding.evidence if name in pairs]
        if of and finding.severity == "advice":
            found.append((max(1 - min(ratio, 1 / ratio) for ratio in of), finding.claim))
    for each in headlines:
        if part := formatting.bar(each.estimate):
            share = formatting.share_text(each.estimate)
            farthest = text("The farthest from its limit: {what}, {share}.", what=each.label, share=share)
            found.append((1 - part.share / 100, farthest))
    loss, claim = max(found, key=lambda each: each[0], default=(0.0, ""))
    return claim if loss > _SMALL else ""


def verdict(run: Run, analysis: Analysis) -> Verdict:
    """Return whether the figures may be used, whether they are simulated, and what they do not cover."""
    found = usable(run, analysis)
    if run.simulated:
        simulated = text("These figures are simulated.")
        found = (
            Verdict("care", simulated, text("The machine is a model: no hardware has these figures."))
            if found.grade == "good"
            else replace(found, sentence=joined(" ", (simulated, found.sentence)))
        )
    if one_node(run):
        found = replace(found, beyond=text("Nothing was measured between nodes: this run has one node."))
    return found


def heading(run: Run) -> str:
    """Return the title of the study; with the measured part if it is of several nodes and the run has one."""
    title = known(run.plan.title, run.plan.study)
    if one_node(run) and _of_messages(run):
        return text("{title}: messages inside one node", title=title)
    return text("{title}: one node", title=title) if one_node(run) else title


def one_node(run: Run) -> bool:
    """Whether the run has one node, though it measures messages or its study asks for more nodes."""
    return len(run.plan.hosts) == 1 and not run.imported and (_of_messages(run) or more_nodes(run))


def _of_messages(run: Run) -> bool:
    return any(run.plan.declared(case.benchmark).between_two for case in run.plan.cases)


def more_nodes(run: Run) -> bool:
    """Whether its study measures more on more nodes."""
    return any(each.nodes for each in run.plan.left_out)


def usable(run: Run, analysis: Analysis) -> Verdict:
    """Return whether the figures may be used, by the worst problem: placement, noise, a cut, intervals."""
    measured = [e for e in analysis.estimates if e.median is not None]
    if not measured:
        return Verdict("bad", text("There are no figures to use."))
    if run.imported:
        read = text("Assay has read them and has not measured them: neither placement nor noise is proven.")
        return Verdict("care", text("Use these figures with care."), read)
    if analysis.flaw in OF_NAMES:
        misnamed = next((each.claim for each in notices(analysis) if each.severity == "problem"), "")
        where = text(
            "{count} figure is not of the cpus asked.|{count} figures are not of the cpus asked.",
            count=sum(map(is_misplaced, measured)),
        )
        return Verdict("bad", text("Do not use these figures for what they are called."), misnamed or where)
    heard = [each for each in by_severity(analysis) if each.rule in concerning("noise")]
    noise = next((each.claim for each in heard if each.severity != "fact"), "")
    if analysis.flaw == "disturbed":
        return Verdict("bad", text("Do not use these figures."), noise)
    missing = sum(each.status != "complete" for each in planned(run, analysis))
    bare = sum(not (e.value and e.value.has_interval) for e in measured)
    against = [
        noise,
        shortfall(run, analysis),
        text("{count} case was not measured.|{count} cases were not measured.", count=missing) if missing else "",
        text("Most of them have no interval: the launches were too few.") if 2 * bare > len(measured) else "",
        "" if heard else text("It is not known whether the machine was quiet."),
    ]
    if why := next(filter(None, against), ""):
        return Verdict("care", text("Use these figures with care."), why)
    how = text(
        "Every case was measured, each on the cpus asked. {disturbed} of {launches} launches were disturbed."
        if analysis.noise.disturbed or analysis.noise.is_open
        else "Every case was measured, each on the cpus asked, and the machine was quiet.",
        disturbed=analysis.noise.disturbed,
        launches=analysis.noise.launches,
    )
    return Verdict("good", text("These figures can be used."), how)


def notices(analysis: Analysis) -> tuple[Finding, ...]:
    """Return findings to be read before any figure: nodes that are one machine, messages on another network."""
    return tuple(finding for finding in by_severity(analysis) if finding.rule in concerning("figures"))


def by_severity(analysis: Analysis) -> tuple[Finding, ...]:
    """Return the assessed findings: problems, then advice, then facts."""
    rank = {"problem": 0, "advice": 1, "fact": 2}
    assessed = (finding for finding in analysis.findings if finding.assessed)
    return tuple(sorted(assessed, key=lambda finding: rank[finding.severity]))


def unmeasured(analysis: Analysis) -> dict[CaseStatus, tuple[Outcome, ...]]:
    """Return the cases of the plan that are not complete, with control measurements, by their status."""
    missing = (outcome for outcome in analysis.outcomes if outcome.status != "complete")
    return grouped(missing, lambda outcome: outcome.status)


def counted(run: Run, outcomes: Collection[Outcome]) -> str:
    """Return `3 of 157 cases` of the study; if there are none, `1 of 2 control measurements`."""
    studied = {case.id for case in run.plan.studied}
    cases = sum(outcome.case in studied for outcome in outcomes)
    if cases or not outcomes:
        return f"{cases:,} of {formatting.count(len(studied), 'case', 'cases')}"
    controls = formatting.count(len(run.plan.cases) - len(studied), "control measurement", "control measurements")
    return f"{len(outcomes):,} of {controls}"


def gathered(run: Run, reasons: Iterable[tuple[str, str]]) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Group cases of one benchmark and placement with the same reason: name, reason and cases of each group.

    Args:
        run: that has the cases.
        reasons: (id of a case or launch, reason).
    """
    places, names = {case.id: case.place for case in run.plan.cases}, run.plan.names
    groups = grouped(reasons, lambda each: (places.get(each[0], each[0]), each[1]))
    return tuple(
        (place if len(of) > 1 else names.get(of[0][0], of[0][0]), why, tuple(name for name, _ in of))
        for (place, why), of in groups.items()
    )


def planned(run: Run, analysis: Analysis) -> tuple[Outcome, ...]:
    """Return the outcomes of the cases of the study."""
    studied = {case.id for case in run.plan.studied}
    return tuple(outcome for outcome in analysis.outcomes if outcome.case in studied)


def shortfall(run: Run, analysis: Analysis) -> str:
    """Return what a cut or an interruption took from the plan, in one sentence; empty if it took nothing."""
    if run.ending is None or run.ending.status == "complete":
        return ""
    if run.ending.status != "cut":
        how = text("The run was interrupted before the end of its plan")
    elif run.plan.budget_s and any(each.cause == "budget" for each in run.ending.cut.values()):
        how = text("The time budget of {budget} cut the run short", budget=formatting.seconds(run.plan.budget_s))
    else:
        how = text("The run could not measure its whole plan")
    outcomes = planned(run, analysis)
    missing = sum(outcome.status != "complete" for outcome in outcomes)
    fewer = sum(outcome.status == "complete" and outcome.launches < outcome.planned for outcome in outcomes)
    cases = formatting.count(len(outcomes), "case", "cases")
    parts: list[str] = []
    if missing:
        parts.append(
            text(
                "{count} of {cases} was not measured|{count} of {cases} were not measured",
                count=missing,
                cases=cases,
            )
        )
    if fewer and missing:
        parts.append(text("{count} with fewer launches than planned", count=fewer))
    elif fewer:
        parts.append(text("{count} of {cases} with fewer launches than planned", count=fewer, cases=cases))
    return (
        text("{how}: {what}.", how=how, what=formatting.listed(parts))
        if parts
        else text("{sentence}.", sentence=how)
    )


def spent(analysis: Analysis) -> str:
    """Return by how much a run exceeded its budget, and how many series lack samples; else empty."""
    effort = analysis.effort
    if effort is None:
        return ""
    parts = []
    if effort.grown_s >= 1 and effort.budget_s:
        parts.append(
            text(
                "Launches that give intervals took {more} beyond the budget of the study, {budget}."
                if effort.grows
                else "The last launch ended {more} after the budget of {budget}.",
                more=formatting.seconds(effort.grown_s),
                budget=formatting.seconds(effort.budget_s),
            )
        )
    if effort.short:
        parts.append(
            text(
                "{short} of {series} series of samples have fewer than {promised}.",
                short=effort.short,
                series=effort.series,
                promised=effort.promised,
            )
        )
    return joined(" ", parts)


def own_system(runs: Sequence[str], *, by_mpi: bool) -> Action:
    """Return the step that measures the reader's own system and compares it with these runs."""
    published = [each for each in runs if each in references.names()]
    study = f"like:{published[0]}" if published else "network" if by_mpi else "node"
    measure, report = cli("run", study, *(_NODES if by_mpi else ())), cli("report", *runs, "last")
    return Action(
        joined(" ", (measure, report)),
        text("The first command measures your own system, the second compares it with these figures."),
    )


def _wrong(run: Run, analysis: Analysis) -> tuple[str, ...]:
    lines: list[str] = []
    if not any(e.median is not None for e in analysis.estimates):
        lines.append(text('Nothing could be measured. The section "What was not measured" lists the reasons.'))
    if run.ending is None:
        lines.append(
            text(
                "The run has not ended: it is still running, or it was killed. This page shows what it has "
                "measured."
            )
        )
    if run.damage:
        lines.append(
            text(
                "{parts} of the run directory are damaged, or not as they were written.",
                parts=formatting.count(len(run.damage), "part", "parts"),
            )
        )
    problems = [finding.claim for finding in by_severity(analysis) if finding.severity == "problem"]
    return tuple(filter(None, [shortfall(run, analysis), *problems, *lines]))


def _next(run: Run, analysis: Analysis) -> tuple[Action, ...]:
    """The steps: the rest of a run, remedies of problems, then of advice, then repeats; commands come first.

    What a fact offers is a step only where there is no other.
    """
    steps: list[Action] = []
    if not (run.ending and run.ending.status == "complete") and not analysis.noise.spoils:
        rest = cli("resume", *shlex.split(remedies.resumed(run)))
        steps.append(Action(rest, text("It measures what is missing and keeps what this run has measured.")))
    offered = grouped((f for f in by_severity(analysis) if f.next), lambda f: f.severity == "fact")
    nodes = _NODES if one_node(run) and more_nodes(run) else ()
    steps += _remedies(run, offered.get(False, ()), nodes)
    ranges = any(e.basis == "range" for e in analysis.estimates)
    repeated = any("--launches" in command.options for step in steps for command in step.commands)
    if ranges and run.plan.launches < CONFIDENT and not repeated:
        command = remedies.typed(cli("run", run.info.study, "--launches", str(CONFIDENT)), run, nodes)
        steps.append(Action(command, text("A range of few launches becomes a 95 % interval.")))
    if nodes and not any(command.options[:2] == nodes for step in steps for command in step.commands):
        several = remedies.typed(cli("run", run.info.study, *nodes), run)
        steps.append(Action(several, text("It measures between nodes, too.")))
    if run.imported and not steps:
        by_mpi = any(estimate.declared.launcher == "mpi" for estimate in analysis.estimates)
        steps.append(own_system((run.info.id,), by_mpi=by_mpi))
    if not steps:
        steps += _remedies(run, offered.get(True, ()), nodes)
    # A command that another step contains needs no step of its own, nor does a repeated one.
    once = {step.do: step for step in reversed(steps)}
    named = {command for step in once.values() if not isinstance(step.do, Command) for command in step.commands}
    return tuple(step for step in steps if once[step.do] is step and step.do not in named)


def _remedies(run: Run, findings: Iterable[Finding], nodes: tuple[str, ...]) -> list[Action]:
    """What these findings offer; commands come first, those that need root last."""
    offered = (Action(remedies.typed(each.next, run, nodes), each.claim) for each in findings)
    return sorted(offered, key=lambda step: (not step.commands, is_rooted(step.do)))
