"""The result of each case in each launch: its status, and the samples of each kernel on each host."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from assay.analyse import joint
from assay.analyse.states import state
from assay.analyse.statistics import Samples, median_intervals
from assay.analyse.steady import FEWEST, steady_starts
from assay.model.bracket import Bracket
from assay.model.declaration import Declaration
from assay.model.grouping import grouped
from assay.model.launch_errors import pick_cause
from assay.model.placement import Memory
from assay.model.plan import Case, PlannedLaunch
from assay.model.rank import Rank
from assay.model.record import End, FailureCause, Header, Launch
from assay.model.result import CaseStatus
from assay.model.run import CaseRecords, LaunchRecords, Run
from assay.model.samples import table_of
from assay.model.text import joined, text
from assay.model.traffic import Traffic

#: Share of pages outside the requested nodes, above which the placement has failed.
_STRAY_PAGES = 0.01


class Sampled(msgspec.Struct, frozen=True):
    """Samples of one kernel on one host in one launch.

    Attributes:
        seconds: of one iteration, measured phase, in the order taken.
        median: of `seconds`.
        precision: relative half-width of the median's own interval; None with too few samples for one.
        steady: whether the series, with its warm-up, became steady; None with too few samples.
        stop: why sampling ended.
        work: quantity -> amount in one iteration.
    """

    seconds: Samples
    median: float
    precision: float | None
    steady: bool | None
    stop: str
    work: Mapping[str, float]


class CaseAttempt(msgspec.Struct, frozen=True):
    """The result of one attempt of a launch for one case.

    Attributes:
        launch: id.
        attempt: see Launch.
        block: see Launch.
        bracket: probes and counters of the machine around it.
        state: of the machine, see assay.analyse.states.
        status: of this attempt; only `complete` ones make estimates.
        reason: why it is not complete.
        cause: the same as a name, if the program gave one.
        header: None if the case did not start.
        sampled: (kernel, host) -> samples; for ranks that work together (kernel, `slowest` or `mean`).
        threads: own seconds of each thread in an iteration, by kernel and host.
        traffic: bytes of messages and of networks; None if they were not counted.
        disturbance: of the bracket; empty if the machine was quiet.
    """

    launch: str
    attempt: int
    block: int
    bracket: Bracket
    state: str | None
    status: CaseStatus
    reason: str
    header: Header | None
    sampled: Mapping[tuple[str, str], Sampled]
    threads: Mapping[tuple[str, str], tuple[float, ...]] = {}
    traffic: Traffic | None = None
    disturbance: str = ""
    cause: FailureCause = ""


def yields(run: Run, border: float | None) -> dict[str, list[CaseAttempt]]:
    """Return the attempts of each case in their order. Every case of the plan has an entry."""
    cases = {case.id: case for case in run.plan.cases}
    found: dict[str, list[CaseAttempt]] = {case: [] for case in cases}
    began = [{each.header.case: each for each in launch.cases} for launch in run.launches]
    declared = {case.id: run.plan.declared(case.benchmark) for case in run.plan.cases}
    sampled, disagreements = _all_sampled(began, declared)
    misplacements: dict[tuple[int, str], str] = {}  # launches with the same placement share their rank objects
    for at, launch in enumerate(run.launches):
        made = launch.launch
        shown, disturbance = state(made.bracket, border), made.bracket.disturbance
        for case in filter(cases.__contains__, made.cases):
            records = began[at].get(case)
            if records and (id(records.header.ranks), case) not in misplacements:
                misplacements[id(records.header.ranks), case] = elsewhere(records.header, cases[case])
            has_samples = bool(sampled.get((at, case)))
            status, reason = _judge(
                launch, case, records, disagreements.get((at, case), ""), has_samples=has_samples
            )
            if (
                records
                and status == "complete"
                and (misplacement := misplacements[id(records.header.ranks), case])
            ):
                status, reason = "invalid", misplacement
            found[case].append(
                CaseAttempt(
                    launch=made.id,
                    attempt=made.attempt,
                    block=made.block,
                    bracket=made.bracket,
                    state=shown,
                    status=status,
                    reason=reason,
                    header=records.header if records else None,
                    sampled=sampled.get((at, case), {}),
                    threads=_threads(records) if records else {},
                    traffic=records.traffic if records else None,
                    disturbance=disturbance,
                    cause=end.cause if (end := _end(launch, case, records)) else "",
                )
            )
    return found


def _threads(records: CaseRecords) -> dict[tuple[str, str], tuple[float, ...]]:
    """(kernel, host) -> own seconds of each thread in an iteration."""
    hosts = {rank.rank: rank.host for rank in records.header.ranks}
    return {
        (each.kernel, hosts.get(each.rank, "")): tuple(seconds / each.iterations for seconds in each.seconds)
        for each in records.threads
    }


def planned(run: Run) -> dict[str, list[PlannedLaunch]]:
    """Return the planned launches of each case."""
    every = ((case, launch) for launch in run.plan.order for case in launch.cases)
    launches = grouped(every, lambda each: each[0])
    return {case.id: [launch for _, launch in launches.get(case.id, ())] for case in run.plan.cases}


def used(attempts: Iterable[CaseAttempt]) -> list[CaseAttempt]:
    """Return the attempts that make estimates: the quiet ones of each planned launch, or all if none was quiet.

    So a disturbed attempt is set aside only if its own repeat was quiet, and no case loses a launch.
    """
    complete = [each for each in attempts if each.status == "complete"]
    quiet = {each.launch for each in complete if not each.disturbance}
    return [each for each in complete if each.launch not in quiet or not each.disturbance]


def parts_of(records: CaseRecords, declared: Declaration | None) -> tuple[joint.Parts, str]:
    """Return the series by (kernel, host), warm-up first; for ranks that work together see `joint.together`."""
    if declared and declared.launcher == "mpi":
        parts, disagreement = joint.together(records, {metric.over for metric in declared.metrics})
        return parts | joint.solutions(records.figures, lambda _: joint.SLOWEST), disagreement
    hosts = {rank.rank: rank.host for rank in records.header.ranks}
    return joint.apart(records) | joint.solutions(records.figures, lambda each: hosts.get(each.rank, "")), ""


#: (position of a launch, case)
_Place = tuple[int, str]
#: Approximate maximum of series that are analysed together: all series of a large run need too much memory.
_TOGETHER = 20_000


def _all_sampled(
    began: Sequence[Mapping[str, CaseRecords]], declared: Mapping[str, Declaration]
) -> tuple[dict[_Place, dict[tuple[str, str], Sampled]], dict[_Place, str]]:
    """The analysed samples of each case of each launch, and the disagreements of ranks that work together."""
    found: dict[_Place, dict[tuple[str, str], Sampled]] = {}
    disagreements: dict[_Place, str] = {}
    waiting: dict[_Place, tuple[joint.Parts, Mapping[str, Mapping[str, float]]]] = {}
    series = 0
    for at, begun in enumerate(began):
        for case, records in begun.items():
            parts, disagreements[at, case] = parts_of(records, declared.get(case))
            waiting[at, case] = parts, records.header.work
            series += len(parts)
        if series > _TOGETHER:
            found |= _sampled(waiting)
            waiting, series = {}, 0
    return found | _sampled(waiting), disagreements


def _sampled(
    whole: Mapping[_Place, tuple[joint.Parts, Mapping[str, Mapping[str, float]]]],
) -> dict[_Place, dict[tuple[str, str], Sampled]]:
    """The analysed samples of each case of each launch, kernel by kernel; all series are analysed together.

    Args:
        whole: samples of all phases, and the work of the kernels.
    """
    series = [
        (place, key, parts, [part for part in parts if part.phase == "measured" and part.seconds.size])
        for place, (of_case, _) in whole.items()
        for key, parts in of_case.items()
    ]
    series = [each for each in series if each[3]]
    joined = [_joined(parts) for _, _, parts, _ in series]
    counted = [_joined(measured) for _, _, _, measured in series]
    enough = [at for at, values in enumerate(joined) if values.size >= FEWEST]
    starts = dict(zip(enough, steady_starts([joined[at] for at in enough]), strict=True))
    found: dict[_Place, dict[tuple[str, str], Sampled]] = {}
    for at, ((place, key, _, measured), values, interval) in enumerate(
        zip(series, counted, median_intervals(counted), strict=True)
    ):
        half_width = (interval.hi - interval.lo) / 2
        found.setdefault(place, {})[key] = Sampled(
            values,
            interval.value,
            half_width / interval.value if interval.confidence and interval.value else None,
            starts[at] is not None if at in starts else None,
            worst_stop(part.stop for part in measured),
            whole[place][1].get(key[0], {}),
        )
    return found


def _joined(parts: Sequence[joint.Part]) -> Samples:
    return parts[0].seconds if len(parts) == 1 else np.concatenate([part.seconds for part in parts])


def worst_stop(stops: Iterable[str]) -> str:
    """Return the worst of the reasons why sampling ended."""
    return max(stops, key=("", "precision", "steady", "samples", "time").index, default="")


def _judge(
    launch: LaunchRecords, case: str, records: CaseRecords | None, disagreement: str, *, has_samples: bool
) -> tuple[CaseStatus, str]:
    """Status of one case in one launch, and why it is not complete; its placement is judged by `elsewhere`.

    `disagreement`: of ranks that work together. `has_samples`: its samples were already found.
    """
    if records and records.verdict and not records.verdict.passed:
        wrong = records.verdict
        reason = records.end.reason if wrong.checks and records.end else ""
        measured = text(
            "error {error}, tolerated {tolerance}", error=f"{wrong.error:.2g}", tolerance=f"{wrong.tolerance:.2g}"
        )
        return "failed", text("wrong result: {reason}", reason=reason or measured)
    end = _end(launch, case, records)
    if end is None:
        return _broken_off(launch.launch, begun=records is not None)
    if end.status != "complete":
        return end.status, end.reason or text("the program gives no reason")
    if records is None or not (has_samples or table_of(records.series).measured()):
        return "incomplete", text("it recorded no samples")
    if disagreement:
        return "incomplete", disagreement
    return "complete", ""


def _end(launch: LaunchRecords, case: str, records: CaseRecords | None) -> End | None:
    """The end record of a case, also of one that never began; None without one."""
    return records.end if records else launch.unstarted.get(case)


def _broken_off(launch: Launch, *, begun: bool) -> tuple[CaseStatus, str]:
    if launch.lost:
        return "failed", text("node failure: {hosts}", hosts=", ".join(launch.lost))
    if launch.over_budget:
        return "skipped", text("ended in its launch, because the budget was used up")
    words = pick_cause(launch.message, launch.program)
    if launch.exit_code is None:
        return "timed-out", joined(": ", (text("ended at its time limit"), words))
    if launch.exit_code < 0:
        return "incomplete", joined(": ", (text("ended by signal {number}", number=str(-launch.exit_code)), words))
    if launch.exit_code and not begun:
        ended = text("the program ended with exit code {code}", code=str(launch.exit_code))
        return "failed", joined(": ", (ended, words))
    return "incomplete", joined(": ", (text("its records break off"), words))


def elsewhere(header: Header, case: Case) -> str:
    """Return how a case differs from the request in hosts, cpus, memory or resources; empty if it does not."""
    found = {joint.short(rank.host) for rank in header.ranks}
    absent = [host for host in case.placement.hosts if joint.short(host) not in found]
    if absent:
        ran = ", ".join(sorted(found)) or text("nothing")
        return text("asked for {hosts}, ran on {found}", hosts=", ".join(absent), found=ran)
    wrong = joint.wrong_ranks(header.ranks, case.placement) if case.placement.ranks else ""
    if wrong or (wrong := joint.wrong_resources(header.ranks, case.placement)):
        return wrong
    return next(filter(None, map(misplaced, header.ranks)), "")


def misplaced(rank: Rank) -> str:
    """Return how the placement of a process differs from the request; empty if it does not."""
    wanted = rank.requested_cpus if rank.proof == "thread" else tuple(sorted(rank.requested_cpus))
    if wanted and rank.cpus != wanted:
        return text("asked for cpus {wanted}, ran on {cpus}", wanted=f"{list(wanted)}", cpus=f"{list(rank.cpus)}")
    memory = Memory.parsed(rank.requested_memory)
    pages = sum(rank.page_nodes.values())
    if not memory.nodes or not pages:
        return ""
    stray = pages - sum(rank.page_nodes.get(str(node), 0) for node in memory.nodes)
    if stray > _STRAY_PAGES * pages:
        return text(
            "asked for memory {memory}, but {share} % of its pages lie elsewhere",
            memory=rank.requested_memory,
            share=f"{100 * stray / pages:.0f}",
        )
    return ""
