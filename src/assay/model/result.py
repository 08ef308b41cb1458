"""Results of a run: estimates with intervals, models, findings. `assay show --json` prints `Analysis`."""

from collections.abc import Hashable
from typing import Literal

import msgspec

from assay.model.comparison import Comparison
from assay.model.declaration import Declaration, ParamValue, kept
from assay.model.derivation import Derivation
from assay.model.flaw import Flaw
from assay.model.imported import Printed
from assay.model.law import Model, Prediction
from assay.model.measurand import Measurand
from assay.model.noise import Noise
from assay.model.placed import Placed
from assay.model.plan import Experiment
from assay.model.profile import Profile
from assay.model.quantity import Basis, Quantity
from assay.model.record import FailureCause
from assay.model.repetition import Repetition

RESULT_SCHEMA = 2

CaseStatus = Literal["complete", "failed", "invalid", "incomplete", "timed-out", "skipped"]


#: The part of a machine that has a limit: `core` and `cores` for computing, `numa-node` and `numa-nodes` for
#: memory, `package`, `machine`, `link` between nodes. The set is open: a package may name others, as `folder`.
Scope = str


#: What sets a limit: the `wire` of a link, a traffic `shaper` of the kernel, the slot of a card (`pcie`),
#: `memory`, arithmetic units (`flop-rate`), a `clock`, a core that copies (`copy`), the `user`, or the source of
#: imported figures (`stated`). The set is open, as that of scopes.
LimitKind = str


#: Whether a figure above the rate of a traffic shaper can be the burst that it lets pass: what passed beyond the
#: rate `fits` its bucket, or the bucket is `unknown`; empty: no burst explains it.
Burst = Literal["", "fits", "unknown"]


class Limit(msgspec.Struct, frozen=True):
    """The limit of a figure: of the part of the machine that the figure is about, never of a larger part.

    Attributes:
        value: in the estimate's unit.
        source: `derived` from facts, `measured` (or `simulated`) in this run, or `given` by the user.
        of: what it is and how it was found, as text.
        kind: what sets it.
        scope: the part of the machine that it limits; `link` for messages between nodes.
        framed: whether it is of TCP in Ethernet frames, each of which costs the kernel time.
        reference: whether a figure may exceed it, as turbo exceeds the nominal clock; else it is a ceiling.
        measured_by: id of the estimate whose figure it is; empty if it is not the figure of an estimate.
        burst: of a ceiling that a figure exceeds.
    """

    value: float
    source: Literal["derived", "measured", "simulated", "given"]
    of: str
    kind: LimitKind
    scope: Scope = "machine"
    framed: bool = False
    reference: bool = False
    measured_by: str = ""
    burst: Burst = ""


class SlowestThread(msgspec.Struct, frozen=True):
    """The slowest thread of a kernel whose threads wait for each other.

    Attributes:
        thread: its number, by the median over launches.
        cpu: on which it runs; None if unknown.
        launches: in which it was the slowest.
        over_mean: time that the slowest thread of a launch works, over the mean of all threads.
        of_iteration: the same over the time of an iteration. Near 1 the others wait for one thread, which decides
            the time; else threads are the slowest in turn.
    """

    thread: int
    cpu: int | None
    launches: int
    over_mean: Quantity
    of_iteration: Quantity


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A figure with everything that belongs to it. Figures are never bare numbers.

    Attributes:
        id: unique in its run: case, kernel, metric, host if there are several, state where stratified.
        case: id of the case.
        benchmark: name.
        declaration: key of the benchmark's declaration, as the run has it.
        kernel: name.
        metric: name.
        unit: SI base unit.
        better: direction.
        measurand: what the figure is of; by it figures of other runs and sources are compared.
        memory_bytes: memory that its case needs on each host; 0 if unknown.
        params: every axis with its value.
        placement: asked and proven.
        factors: factor -> level.
        state: state of the machine in which all of its launches were made (`near`, `far`; `unsettled` where it
            changed during each of them); None if states do not explain its benchmark.
        value: median over launches of the launch's median, with the interval of the launch medians by order
            statistics (6 launches or more), else their range; None unless complete.
        mean: mean of the measured samples, with equal weight for each launch; of a rate: all work over all time.
            Other programs print this value. It includes disturbed samples.
        min: smallest sample.
        max: largest sample.
        p99: the value that 99 % of the samples reach or better; None with fewer than 1,000 samples.
        threads: seconds of an iteration that each thread works without waiting for others, median over launches,
            in the order of the cpus; empty if they are not timed.
        slowest: the slowest of them, and whether it decides the time; None if they are not timed.
        launches: number of launches.
        samples: number of measured samples.
        stop: why sampling ended in the launches: the worst of `precision`, `samples`, `time`.
        precision: largest relative half-width reached by a launch's own interval, None if it has none.
        steady: whether every launch reached a steady state.
        modes: medians of the modes of the samples if there are two, else empty.
        disturbed: number of its launches that were disturbed; they count because no repeat was quiet.
        set_aside: disturbed launches of the case that do not count: their repeat was quiet, or the state of the
            machine changed during them and figures are given for each state.
        limit: its limit; None if none is known. It exceeds no ceiling by more than 2 %.
        exceeds: a ceiling that it exceeds by more than that, which is therefore wrong and not its `limit`; else
            None.
        status: of the case.
        reason: why the status is not complete.
        printed: where an imported figure was printed; None if it was measured.
        derivation: how it follows from other figures; None if it was measured.
    """

    id: str
    case: str
    benchmark: str
    kernel: str
    metric: str
    unit: str
    better: Literal["higher", "lower"]
    measurand: Measurand
    params: dict[str, ParamValue]
    placement: Placed
    factors: dict[str, str]
    state: str | None
    value: Quantity | None = None
    mean: float | None = None
    min: float | None = None
    max: float | None = None
    p99: float | None = None
    threads: tuple[float, ...] = ()
    slowest: SlowestThread | None = None
    launches: int = 0
    samples: int = 0
    stop: str = ""
    precision: float | None = None
    steady: bool | None = None
    modes: tuple[float, ...] = ()
    limit: Limit | None = None
    exceeds: Limit | None = None
    status: CaseStatus
    reason: str | None = None
    disturbed: int = 0
    set_aside: int = 0
    printed: Printed | None = None
    derivation: Derivation | None = None
    declaration: str = ""
    memory_bytes: int = 0

    @property
    def declared(self) -> Declaration:
        """The declaration of its benchmark that its run has."""
        return kept(self.declaration)

    def signature(self, *but: str) -> Hashable:
        """A key that estimates share if they differ in nothing but the named params, factors or attributes.

        Attributes are `kernel`, `metric`, `memory`, `hosts` and `state`.
        """
        where = self.placement
        own = {"kernel": self.kernel, "metric": self.metric, "memory": where.memory, "state": self.state}
        words = {**own, "hosts": where.hosts, **self.params, **self.factors}
        shared = frozenset((name, word) for name, word in words.items() if name not in but)
        return self.benchmark, where.label, shared

    @property
    def by_host(self) -> tuple["Estimate", ...]:
        """The estimate for each of its hosts alone; none if all hosts are one machine and share its cores."""
        where = self.placement
        if len(where.hosts) <= 1:
            return (self,)
        parts = [] if where.is_one_machine else zip(where.hosts, where.cpus, strict=True)
        return tuple(
            msgspec.structs.replace(
                self, placement=msgspec.structs.replace(where, hosts=(host,), cpus=(cpus,), laid_out=0)
            )
            for host, cpus in parts
        )

    @property
    def median(self) -> float | None:
        """The value alone; None without one."""
        return self.value.value if self.value else None

    @property
    def merit(self) -> float:
        """A number that is larger for better figures of one metric; 0 without a value."""
        return (self.median or 0.0) * (1 if self.better == "higher" else -1)

    @property
    def rank(self) -> tuple[bool, float]:
        """A key that is larger for better figures of one metric; one above its ceiling is never the best.

        A traffic shaper lets a burst pass, and bytes stay in a cache: such a figure is no rate of what bounds it.
        """
        return self.exceeds is None, self.merit

    @property
    def lo(self) -> float | None:
        """Lower end; None without a value, and where its source printed no ends."""
        return self.value.lo if self.value and self.value.basis != "imported" else None

    @property
    def hi(self) -> float | None:
        """Upper end; None without a value, and where its source printed no ends."""
        return self.value.hi if self.value and self.value.basis != "imported" else None

    @property
    def basis(self) -> Basis | None:
        """What the ends are; None without a value."""
        return self.value.basis if self.value else None

    @property
    def confidence(self) -> float | None:
        """Nominal confidence of the interval; None if there is none."""
        return self.value.confidence if self.value else None


#: A finding costs performance, offers some, or is worth knowing.
Severity = Literal["problem", "advice", "fact"]


class Finding(msgspec.Struct, frozen=True):
    """A claim with its evidence.

    Attributes:
        id: unique in its run: rule and subject.
        rule: name of the rule.
        claim: one sentence with the figures that support it.
        severity: `problem` costs performance, `advice` offers some, `fact` is worth knowing.
        status: `candidate` until its experiment makes it `confirmed` or `refuted`; `observed` if it was measured
            directly and needs no cause; `not assessed` if evidence is missing.
        evidence: ids of estimates or comparisons.
        statistic: what was tested, with its value: the bound of an interval.
        threshold: the value that it was compared with.
        rivals: other causes not excluded.
        next: the experiment or remedy that comes next, a command if there is one.
        experiment: the experiment that decides a candidate, as data; None if Assay can make none.
        numbers: `statistic` with its ends, and `threshold`, in one unit, and further numbers of a rule; empty if
            nothing was tested.
    """

    id: str
    rule: str
    claim: str
    severity: Severity
    status: Literal["candidate", "confirmed", "refuted", "observed", "not assessed"]
    evidence: tuple[str, ...]
    statistic: str
    threshold: str
    rivals: tuple[str, ...] = ()
    next: str = ""
    experiment: Experiment | None = None
    numbers: dict[str, Quantity] = {}

    @property
    def assessed(self) -> bool:
        """Whether there was evidence for it."""
        return self.status != "not assessed"


class Outcome(msgspec.Struct, frozen=True):
    """How a case of the plan ended. Every case has one.

    Attributes:
        case: id.
        status: see CaseStatus.
        reason: as text; empty if complete.
        launches: launches with samples.
        planned: planned launches.
        cause: the reason as a name, if the program gave one.
        failed: launches that failed and were not replaced by a later one.
    """

    case: str
    status: CaseStatus
    reason: str
    launches: int
    planned: int
    cause: FailureCause = ""
    failed: int = 0


class TimeSpent(msgspec.Struct, frozen=True):
    """What the time of a run was spent on, seconds; the sum is the time of the run.

    Attributes:
        sampled_s: sampling, from the first sample of each case to its last.
        setup_s: the rest of the programs: starts, launchers, first touch, checks of results; and the passes that
            measured the capacity of caches before the first launch.
        probes_s: probes of the machine around launches.
        waited_s: waiting until other processes used little cpu time.
        engine_s: all else that Assay did: choosing launches, setting levels, checking and storing records.
    """

    sampled_s: float
    setup_s: float
    probes_s: float
    waited_s: float
    engine_s: float

    @property
    def whole_s(self) -> float:
        """The sum of the parts."""
        return self.sampled_s + self.setup_s + self.probes_s + self.waited_s + self.engine_s


class Effort(msgspec.Struct, frozen=True):
    """Samples and seconds of a run, from its records.

    Attributes:
        series: number of measured series of kernels: one for each launch and host, or for all ranks that work
            together.
        short: series with fewer samples than promised.
        promised: samples of a series that the plan promises.
        budget_s: seconds; None without a budget.
        elapsed_s: seconds that the run took; None if it has not ended.
        time: parts of these seconds; None if it has not ended, or if an earlier version measured a part of it.
        grown_s: seconds beyond the budget: for launches that make intervals, if it is the study's own budget,
            which `grows`; else for the launch that was still running.
        grows: see Plan.
    """

    series: int
    short: int
    promised: int
    budget_s: float | None = None
    elapsed_s: float | None = None
    time: TimeSpent | None = None
    grown_s: float = 0.0
    grows: bool = False


class Analysis(msgspec.Struct, frozen=True):
    """All results of a run.

    Attributes:
        schema: version of this document.
        run: id.
        study: name.
        status: how the run ended: `complete`, `cut` by its budget, `interrupted`, or `incomplete`.
        estimates: every figure.
        models: fitted laws, each with its own type.
        comparisons: comparisons of figures from the same blocks.
        findings: claims with their evidence.
        members: figures of single members of a group, as pairs of nodes, of which an estimate is the slowest.
        tested: names of the rules that had the figures they need, whether they found something or not.
        outcomes: how each case of the plan ended.
        noise: what disturbed the machine.
        predictions: what models expected before the measurements.
        profiles: profiles of paths of messages.
        effort: samples and time of the run; None for an import.
        repetition: of a published study, if the run was made for it; of a published study itself, its conclusions.
        flaw: why its figures are not to be used.
    """

    schema: int
    run: str
    study: str
    status: str
    estimates: tuple[Estimate, ...]
    models: tuple[Model, ...]
    comparisons: tuple[Comparison, ...]
    findings: tuple[Finding, ...]
    outcomes: tuple[Outcome, ...]
    noise: Noise
    predictions: tuple[Prediction, ...] = ()
    profiles: tuple[Profile, ...] = ()
    effort: Effort | None = None
    tested: tuple[str, ...] = ()
    members: tuple[Estimate, ...] = ()
    repetition: Repetition | None = None
    flaw: Flaw = ""
