"""What each launch yielded of each case: whether it counts, and the samples of each kernel on each host."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from assay import benchmarks
from assay.analyse import joint
from assay.analyse.states import state
from assay.analyse.statistics import Samples, median_intervals
from assay.analyse.steady import FEWEST, steady_starts
from assay.model.last_words import telling
from assay.model.plan import Case, PlannedLaunch
from assay.model.record import Bracket, Header, Launch, Rank, Traffic
from assay.model.result import CaseStatus
from assay.model.run import CaseRecords, LaunchRecords, Run

#: Pages found elsewhere than on the nodes asked for, as a share of all: more is a placement that did not happen.
_STRAY_PAGES = 0.01


class Sampled(msgspec.Struct, frozen=True):
    """Samples of one kernel on one host in one launch.

    Attributes:
        seconds: of one iteration, measured phase, in the order taken.
        median: of `seconds`.
        precision: relative half-width of the median's own interval; None with too few samples for one.
        steady: whether the series, warm-up joined, became steady; None with too few samples to know.
        stop: why sampling ended.
        work: quantity -> amount in one iteration.
    """

    seconds: Samples
    median: float
    precision: float | None
    steady: bool | None
    stop: str
    work: Mapping[str, float]


class Yield(msgspec.Struct, frozen=True):
    """What one attempt of a launch gave for one case.

    Attributes:
        launch: id.
        attempt: see Launch.
        block: see Launch.
        bracket: what the machine did around it.
        state: of the machine, see assay.analyse.states.
        status: of this attempt; only `complete` ones make estimates.
        reason: why it is not complete.
        header: None where the case did not start.
        sampled: (kernel, host) -> samples; of ranks that work together (kernel, `slowest` or `mean` of them).
        traffic: what the networks carried; None where no messages were passed.
        disturbance: of the bracket, empty where it was quiet.
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
    traffic: Traffic | None = None
    disturbance: str = ""


def yields(run: Run, border: float | None) -> dict[str, list[Yield]]:
    """Case -> what its launches gave, in the order they were made. Every case of the plan has an entry."""
    cases = {case.id: case for case in run.plan.cases}
    found: dict[str, list[Yield]] = {case: [] for case in cases}
    began = [{each.header.case: each for each in launch.cases} for launch in run.launches]
    whole = {
        (at, case): _parts(records, cases.get(case))
        for at, cases_begun in enumerate(began)
        for case, records in cases_begun.items()
    }
    sampled = _sampled(
        {place: (parts, began[place[0]][place[1]].header.work) for place, (parts, _) in whole.items()}
    )
    for at, launch in enumerate(run.launches):
        made = launch.launch
        shown, disturbance = state(made.bracket, border), made.bracket.disturbance
        for case in filter(cases.__contains__, made.cases):
            records = began[at].get(case)
            _, disagreement = whole.get((at, case), ({}, ""))
            status, reason = _judge(launch, cases[case], records, disagreement)
            found[case].append(
                Yield(
                    launch=made.id,
                    attempt=made.attempt,
                    block=made.block,
                    bracket=made.bracket,
                    state=shown,
                    status=status,
                    reason=reason,
                    header=records.header if records else None,
                    sampled=sampled.get((at, case), {}),
                    traffic=records.traffic if records else None,
                    disturbance=disturbance,
                )
            )
    return found


def planned(run: Run) -> dict[str, list[PlannedLaunch]]:
    """Case -> its launches in the plan."""
    launches: dict[str, list[PlannedLaunch]] = {case.id: [] for case in run.plan.cases}
    for launch in run.plan.order:
        for case in launch.cases:
            if case in launches:
                launches[case].append(launch)
    return launches


def used(attempts: Iterable[Yield]) -> list[Yield]:
    """The attempts that make estimates: of each planned launch the quiet ones, all of them where none was quiet.

    So a disturbed attempt is set aside only where its own repeat was quiet, and no case loses a launch by it.
    """
    complete = [each for each in attempts if each.status == "complete"]
    quiet = {each.launch for each in complete if not each.disturbance}
    return [each for each in complete if each.launch not in quiet or not each.disturbance]


def _parts(records: CaseRecords, case: Case | None) -> tuple[joint.Parts, str]:
    """(kernel, host) -> its series, warm-up first; of ranks that work together what `joint.together` says."""
    benchmark = benchmarks.get(case.benchmark) if case else None
    if benchmark and benchmark.joint:
        return joint.together(records, {metric.over for metric in benchmark.metrics})
    hosts = {rank.rank: rank.host for rank in records.header.ranks}
    parts: joint.Parts = {}
    for series in records.series:
        parts.setdefault((series.kernel, hosts.get(series.rank, f"rank {series.rank}")), []).append(
            joint.part(series)
        )
    return parts, ""


#: (position of a launch, case)
_Place = tuple[int, str]


def _sampled(
    whole: Mapping[_Place, tuple[joint.Parts, Mapping[str, Mapping[str, float]]]],
) -> dict[_Place, dict[tuple[str, str], Sampled]]:
    """Of each case of each launch what its measured samples say, kernel by kernel; all series together.

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
            interval.median,
            half_width / interval.median if interval.confidence and interval.median else None,
            starts[at] is not None if at in starts else None,
            worst_stop(part.stop for part in measured),
            whole[place][1].get(key[0], {}),
        )
    return found


def _joined(parts: Sequence[joint.Part]) -> Samples:
    return parts[0].seconds if len(parts) == 1 else np.concatenate([part.seconds for part in parts])


def worst_stop(stops: Iterable[str]) -> str:
    """Of the reasons why sampling ended, the one that leaves most to be wished."""
    return max(stops, key=("precision", "steady", "samples", "time").index, default="")


def _judge(
    launch: LaunchRecords, case: Case, records: CaseRecords | None, disagreement: str
) -> tuple[CaseStatus, str]:
    """Status of one case in one launch, and why it is not complete; `disagreement` of ranks that work together."""
    if records and records.verdict and not records.verdict.passed:
        wrong = records.verdict
        return "failed", f"wrong result: error {wrong.error:.2g}, tolerated {wrong.tolerance:.2g}"
    end = records.end if records else launch.unstarted.get(case.id)
    if end is None:
        return _broken_off(launch.launch, begun=records is not None)
    if end.status != "complete":
        return end.status, end.reason or "the program gives no reason"
    if records is None or not any(each.phase == "measured" and each.seconds for each in records.series):
        return "incomplete", "it recorded no samples"
    if disagreement:
        return "incomplete", disagreement
    stray = elsewhere(records.header, case)
    return ("invalid", stray) if stray else ("complete", "")


def _broken_off(launch: Launch, *, begun: bool) -> tuple[CaseStatus, str]:
    words = telling(launch.message, launch.program)
    said = f": {words}" if words else ""
    if launch.exit_code is None:
        return "timed-out", f"ended at its time limit{said}"
    if launch.exit_code < 0:
        return "incomplete", f"ended by signal {-launch.exit_code}{said}"
    if launch.exit_code and not begun:
        return "failed", f"the program ended with exit code {launch.exit_code}{said}"
    return "incomplete", f"its records break off{said}"


def elsewhere(header: Header, case: Case) -> str:
    """How a case ran otherwise than asked: on other hosts, cpus or memory nodes; empty when it did not."""
    found = {joint.short(rank.host) for rank in header.ranks}
    absent = [host for host in case.placement.hosts if joint.short(host) not in found]
    if absent:
        return f"asked for {', '.join(absent)}, ran on {', '.join(sorted(found)) or 'nothing'}"
    if case.placement.ranks:
        astray = joint.astray(header.ranks, case.placement.hosts, case.placement.rank_cpus)
        if astray:
            return astray
    return next(filter(None, map(misplaced, header.ranks)), "")


def misplaced(rank: Rank) -> str:
    """How a process was placed otherwise than asked; empty when it was not."""
    if rank.requested_cpus and rank.cpus != rank.requested_cpus:
        return f"asked for cpus {list(rank.requested_cpus)}, ran on {list(rank.cpus)}"
    policy, _, nodes = rank.requested_memory.partition(":")
    pages = sum(rank.page_nodes.values())
    if policy == "first-touch" or not nodes or not pages:
        return ""
    stray = pages - sum(rank.page_nodes.get(node, 0) for node in nodes.split(","))
    if stray > _STRAY_PAGES * pages:
        return (
            f"asked for memory {rank.requested_memory}, but {100 * stray / pages:.0f} % of its pages lie elsewhere"
        )
    return ""
