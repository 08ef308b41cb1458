"""Estimates: for each case, kernel, metric (and host, and state) a median over launches with its interval.

The unit of inference is the median of a launch, since samples of one launch are correlated. Everything is judged
as time; a rate is monotone in time, so its median, interval and percentiles are those of the time.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from assay.analyse import joint
from assay.analyse.launches import CaseAttempt, Sampled, misplaced, used, worst_stop
from assay.analyse.modes import two_modes
from assay.analyse.slowest import slowest_thread
from assay.analyse.states import FAR, NEAR
from assay.analyse.statistics import FEWEST_FOR_TAIL, Samples, median_interval, medians, percentile
from assay.model import measurands
from assay.model.application import Statistic
from assay.model.declaration import Declaration, Metric, keep
from assay.model.grouping import grouped
from assay.model.measurand import Measurand
from assay.model.placed import Placed, Proof
from assay.model.placement import Placement
from assay.model.plan import Case
from assay.model.quantity import Quantity
from assay.model.rank import Rank
from assay.model.result import Estimate, Outcome
from assay.model.run import Run
from assay.model.text import text


class LaunchMedian(msgspec.Struct, frozen=True):
    """The median of one launch as a value of the metric, with its block and the state of the machine.

    Attributes:
        block: see Launch.
        state: see CaseAttempt.
        value: in the unit of the metric.
        threads: share of an iteration in which each thread works without waiting for others; empty if not timed.
        mean: mean of its samples, and
        best: the best one, of a benchmark beside which programs of others are measured, which print these.
    """

    block: int
    state: str | None
    value: float
    threads: tuple[float, ...] = ()
    mean: float | None = None
    best: float | None = None


class Measured(msgspec.Struct, frozen=True):
    """An estimate with its launches, which comparisons pair by block."""

    estimate: Estimate
    launches: tuple[LaunchMedian, ...]

    def by(self, statistic: Statistic) -> "Measured":
        """Return the launches with another statistic of their samples as value; the estimate stays."""
        if statistic == "median":
            return self
        values = ((each, getattr(each, statistic)) for each in self.launches)
        return Measured(
            self.estimate,
            tuple(each if value is None else msgspec.structs.replace(each, value=value) for each, value in values),
        )


def measure(
    run: Run,
    attempts: Mapping[str, Sequence[CaseAttempt]],
    outcomes: Mapping[str, Outcome],
    explained: Collection[str] = (),
    role: Literal["measure", "control"] = "measure",
) -> list[Measured]:
    """Return every estimate of the cases of a role, in the plan's order. The sentinel belongs to the noise.

    Args:
        run: as it was stored.
        attempts: of its launches, by case.
        outcomes: of its cases.
        explained: benchmarks that the states of the machine explain: they have figures for each state.
        role: of the cases.
    """
    return [
        measured
        for case in run.plan.cases
        if case.role == role
        for measured in _of_case(
            run, case, attempts[case.id], outcomes[case.id], split=case.benchmark in explained
        )
    ]


def _of_case(
    run: Run,
    case: Case,
    attempts: Sequence[CaseAttempt],
    outcome: Outcome,
    *,
    split: bool,
) -> Iterable[Measured]:
    """Figures of each host; for ranks that work together one for all hosts."""
    benchmark = run.plan.declared(case.benchmark)
    counted = used(attempts)
    common = measurands.of_case(run, case, benchmark, alone=benchmark.launcher != "mpi")
    if outcome.status != "complete" or not counted:
        yield from _without_figures(case, benchmark, common, attempts, outcome)
        return
    groups = _by_state(counted) if split else {None: counted}
    aside = sum(each.status == "complete" for each in attempts) - sum(map(len, groups.values()))
    present = {key for each in counted for key in each.sampled}
    hosts = sorted({host for _, host in present})
    beside = any(each.beside and each.beside.benchmark == case.benchmark for each in run.plan.applications)
    ranks, libraries = _ranks(attempts), _libraries(attempts)
    for host in [None] if benchmark.launcher == "mpi" else hosts:
        alone = host if len(hosts) > 1 else None
        placed = as_placed(case, ranks.get(host, ()), alone, libraries) if host else _placed_ranks(case, attempts)
        for kernel in benchmark.kernels:
            part = _Part(case, benchmark, kernel, alone, placed, common, outcome.reason, aside, beside)
            for over in (joint.SLOWEST, *([] if host else [joint.MEAN])):
                key = kernel, host or over
                for state, group in groups.items() if key in present else ():
                    having = [(each, each.sampled[key]) for each in group if key in each.sampled]
                    yield from _of_state(part, state, having, over)


def _by_state(attempts: Iterable[CaseAttempt]) -> Mapping[str | None, Sequence[CaseAttempt]]:
    """State -> its launches; those in which it changed, or is unknown, count only if there are no others."""
    groups = grouped(attempts, lambda each: each.state)
    return {state: groups[state] for state in (NEAR, FAR) if state in groups} or groups


class _Part(msgspec.Struct, frozen=True):
    """One kernel of a case on one host; `beside`: whether programs of others are measured beside the benchmark."""

    case: Case
    benchmark: Declaration
    kernel: str
    host: str | None
    placed: Placed
    measurand: Measurand
    reason: str
    set_aside: int = 0
    beside: bool = False


def _of_state(
    part: _Part, state: str | None, group: Sequence[tuple[CaseAttempt, Sampled]], over: str = joint.SLOWEST
) -> Iterable[Measured]:
    if not group:
        return
    summary = _Summary.of([sampled for _, sampled in group])
    disturbed = sum(bool(each.disturbance) for each, _ in group)
    for metric in part.benchmark.metrics_of(part.kernel, part.case.params):
        if metric.over != over:
            continue
        estimate = _estimate(part, metric, state, summary)
        launches = tuple(
            LaunchMedian(
                each.block,
                each.state,
                value(metric, sampled.median, sampled.work),
                _shares(part, each, sampled),
                *(_others(metric, sampled) if part.beside else ()),
            )
            for each, sampled in group
            if estimate.value
        )
        estimate = msgspec.structs.replace(
            estimate,
            disturbed=disturbed,
            set_aside=part.set_aside,
            threads=_threads(part, [each for each, _ in group]),
            slowest=slowest_thread([each.threads for each in launches], part.placed),
        )
        yield Measured(estimate, launches)


def _threads(part: _Part, attempts: Sequence[CaseAttempt]) -> tuple[float, ...]:
    """The median over launches of each thread's own time, if all launches had the same number of threads."""
    timed = [own for each in attempts for own in _timed(part, each)]
    if not timed or len({len(own) for own in timed}) > 1:
        return ()
    return tuple(map(float, medians(np.array(timed).T)))


def _timed(part: _Part, attempt: CaseAttempt) -> list[tuple[float, ...]]:
    """The threads' own seconds of an iteration in one launch, on each host of the part."""
    wanted = {part.kernel} if part.host is None else {part.kernel, part.host}
    return [own for at, own in attempt.threads.items() if wanted <= set(at)]


def _shares(part: _Part, attempt: CaseAttempt, sampled: Sampled) -> tuple[float, ...]:
    """The same as shares of an iteration, of the threads of one host; empty if there are several."""
    timed = _timed(part, attempt)
    return tuple((np.array(timed[0]) / sampled.seconds.mean()).tolist()) if len(timed) == 1 else ()


def _others(metric: Metric, sampled: Sampled) -> tuple[float, float]:
    """The mean and the best of the samples of a launch, as values of the metric."""
    mean, best = float(sampled.seconds.mean()), float(sampled.seconds.min())
    return value(metric, mean, sampled.work), value(metric, best or mean, sampled.work)


class _Summary(msgspec.Struct, frozen=True):
    """Statistics of the seconds of one iteration, over launches and over all their samples."""

    work: Mapping[str, float]
    problem: str
    seconds: Quantity
    mean: float
    min: float
    max: float
    p99: float | None
    modes: tuple[float, ...]
    launches: int
    samples: int
    stop: str
    precision: float | None
    steady: bool | None

    @classmethod
    def of(cls, sampled: Sequence[Sampled]) -> "_Summary":
        """Summarise the launches of one kernel."""
        ordered = np.sort(np.concatenate([each.seconds for each in sampled]))
        precisions, steady = [each.precision for each in sampled], [each.steady for each in sampled]
        return cls(
            work=sampled[0].work,
            problem=_problem(sampled, ordered),
            seconds=median_interval([each.median for each in sampled], "s"),
            mean=math.fsum(np.add.reduce(each.seconds) / each.seconds.size for each in sampled) / len(sampled),
            min=float(ordered[0]),
            max=float(ordered[-1]),
            p99=percentile(ordered, 0.99) if ordered.size >= FEWEST_FOR_TAIL else None,
            modes=two_modes(ordered),
            launches=len(sampled),
            samples=ordered.size,
            stop=worst_stop(each.stop for each in sampled),
            precision=None if None in precisions else max(filter(None, precisions), default=0.0),
            steady=False if False in steady else None if None in steady else True,
        )


def _problem(sampled: Sequence[Sampled], ordered: Samples) -> str:
    if ordered[0] <= 0:
        return text("a sample lasted 0 s: it was shorter than the clock's resolution")
    if any(each.work != sampled[0].work for each in sampled):
        return text("its launches did different amounts of work")
    return ""


def value(metric: Metric, seconds: float, work: Mapping[str, float]) -> float:
    """Return a metric's value when one iteration of `work` lasts `seconds`: a time per operation or a rate."""
    amount = work[metric.work] if metric.work else 1.0
    return seconds / amount if metric.unit == "s" else amount / seconds


def _estimate(part: _Part, metric: Metric, state: str | None, summary: _Summary) -> Estimate:
    problem = summary.problem
    if not problem and metric.work and metric.work not in summary.work:
        problem = text("the program does not state its work in {work}", work=metric.work)
    if problem:
        return _blank(part, metric, "invalid", problem)

    def convert(seconds: float) -> float:
        return value(metric, seconds, summary.work)

    median, *ends = map(convert, summary.seconds)
    lo, hi = sorted(ends)
    least, most = sorted((convert(summary.min), convert(summary.max)))
    return msgspec.structs.replace(
        _blank(part, metric, "complete", part.reason or None),
        id=_identity(part, metric, state),
        state=state,
        value=Quantity(median, lo, hi, metric.unit, summary.seconds.basis),
        mean=convert(summary.mean),
        min=least,
        max=most,
        p99=None if summary.p99 is None else convert(summary.p99),
        launches=summary.launches,
        samples=summary.samples,
        stop=summary.stop,
        precision=summary.precision,
        steady=summary.steady,
        modes=tuple(sorted(map(convert, summary.modes))),
    )


def _identity(part: _Part, metric: Metric, state: str | None) -> str:
    marks = [f"host={part.host}"] if part.host else []
    marks += [f"state={state}"] if state else []
    return "/".join([part.case.id, part.kernel, metric.name, *marks])


def _without_figures(
    case: Case,
    benchmark: Declaration,
    common: Measurand,
    attempts: Sequence[CaseAttempt],
    outcome: Outcome,
) -> Iterable[Measured]:
    placed = _placed_ranks(case, attempts)
    for kernel in benchmark.kernels:
        part = _Part(case, benchmark, kernel, None, placed, common, outcome.reason)
        for metric in benchmark.metrics_of(kernel, case.params):
            yield Measured(_blank(part, metric, outcome.status, outcome.reason), ())


def _blank(part: _Part, metric: Metric, status: str, reason: str | None) -> Estimate:
    return Estimate(
        id=_identity(part, metric, None),
        case=part.case.id,
        benchmark=part.benchmark.name,
        declaration=keep(part.benchmark),
        memory_bytes=part.case.memory_bytes,
        kernel=part.kernel,
        metric=metric.name,
        unit=metric.unit,
        better=metric.better,
        measurand=measurands.of_metric(part.measurand, part.benchmark, part.kernel, metric, part.case.params),
        params=part.case.params,
        placement=part.placed,
        factors=part.case.factors,
        state=None,
        status=status,  # type: ignore[arg-type] # one of CaseStatus by construction
        reason=reason,
    )


def _ranks(attempts: Iterable[CaseAttempt]) -> Mapping[str, Sequence[Rank]]:
    """Host -> its processes in all launches, including disturbed and broken ones."""
    headers = (each.header for each in attempts if each.header)
    return grouped((rank for header in headers for rank in header.ranks), lambda rank: rank.host)


def _libraries(attempts: Sequence[CaseAttempt]) -> dict[str, dict[str, str]]:
    """The libraries that the last launch with a header loaded."""
    return next((each.header.libraries for each in reversed(attempts) if each.header), {})


def as_placed(case: Case, ranks: Sequence[Rank], host: str | None, libraries: dict[str, dict[str, str]]) -> Placed:
    """The placement as requested and, from the headers of all launches, as found; of `host` only, if given."""
    hosts = (host,) if host else case.placement.hosts
    pages = Counter[str]()
    once = {id(rank): rank for rank in ranks}  # launches with the same placement share one rank object
    times = Counter(map(id, ranks))
    for number, rank in once.items():
        pages.update({node: count * times[number] for node, count in rank.page_nodes.items()})
    total = pages.total()
    proof = Proof(
        cpus=tuple(dict.fromkeys(rank.cpus for rank in once.values())),
        page_nodes={node: count / total for node, count in sorted(pages.items())} if total else {},
        as_asked=not any(map(misplaced, once.values())),
        machines=len({rank.boot_id for rank in once.values()}),
        libraries=libraries,
        devices=tuple(dict.fromkeys(device for rank in once.values() for device in rank.devices or ())),
        file_systems=tuple(dict.fromkeys(rank.folder.mount for rank in once.values() if rank.folder)),
        of="rank" if any(rank.proof == "rank" for rank in once.values()) else "thread",
    )
    laid_out = case.placement.rank_cpus if case.placement.ranks else ()
    return Placed(
        label=case.placement.label,
        hosts=hosts,
        cpus=_cpus_of(case.placement, hosts),
        memory=str(case.placement.memory),
        proven=proof if ranks else None,
        laid_out=len(laid_out) if any(len(own) > 1 for own in laid_out) else 0,
    )


def _cpus_of(placement: Placement, hosts: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The requested cpus on each of the hosts."""
    if not placement.by_host:
        return (placement.cpus,) * max(len(hosts), 1)
    asked = dict(zip(placement.hosts, placement.by_host, strict=True))
    return tuple(tuple(cpu for cpus in asked.get(host, ()) for cpu in cpus) for host in hosts)


def _placed_ranks(case: Case, attempts: Sequence[CaseAttempt]) -> Placed:
    """Placement of all ranks of a case, with the interfaces that carried its messages."""
    ranks = [rank for found in _ranks(attempts).values() for rank in found]
    placed = as_placed(case, ranks, None, _libraries(attempts))
    if placed.proven is None:
        return placed
    traffic = [each.traffic for each in attempts if each.traffic]
    carried = joint.carried(traffic)
    mtus = joint.mtus(traffic, max(carried, key=lambda name: carried[name], default=""))
    return msgspec.structs.replace(
        placed, proven=msgspec.structs.replace(placed.proven, carried=carried, mtus=mtus)
    )
