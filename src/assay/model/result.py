"""What may be said of a run: estimates with intervals, models, findings. `assay show --json` is `Analysis`."""

from typing import Literal

import msgspec

from assay.model.benchmark import ParamValue
from assay.model.plan import Experiment
from assay.model.profile import Profile

RESULT_SCHEMA = 1

CaseStatus = Literal["complete", "failed", "invalid", "incomplete", "timed-out", "skipped"]


#: Part of a machine that a limit is of: of computing its cores, of memory the memory nodes that are used.
Scope = Literal["core", "cores", "numa-node", "numa-nodes", "package", "machine", "link"]


class Limit(msgspec.Struct, frozen=True):
    """What a figure stands against: a limit of the part of the machine that the figure is of, never of more.

    Attributes:
        value: in the estimate's unit.
        source: `derived` from facts, `measured` in this run, or `given` by the user.
        of: what it is and how it came about, in words.
        scope: the part that it is a limit of; `link` for messages between nodes.
    """

    value: float
    source: Literal["derived", "measured", "given"]
    of: str
    scope: Scope = "machine"


class Proof(msgspec.Struct, frozen=True):
    """Placement as the programs read it back, over all launches of the estimate.

    Attributes:
        cpus: distinct affinity lists found, one list per host.
        page_nodes: memory node -> share of the touched pages found on it; empty where the kernel does not say.
        as_asked: whether every launch was placed as asked.
        machines: number of kernels that it ran on, by their boot ids: two hosts of one kernel are one machine.
        carried: interface or port -> bytes that it sent while the case was sampled, over those of all messages;
            empty where nothing was passed, or all of it through memory.
    """

    cpus: tuple[tuple[int, ...], ...]
    page_nodes: dict[str, float]
    as_asked: bool
    machines: int = 1
    carried: dict[str, float] = {}


class Placed(msgspec.Struct, frozen=True):
    """Placement of an estimate: asked and proven.

    Attributes:
        label: portable word.
        hosts: nodes.
        cpus: asked for, one list per host.
        memory: policy asked for, e.g. `first-touch`, `bind:0`.
        proven: what was found.
    """

    label: str
    hosts: tuple[str, ...]
    cpus: tuple[tuple[int, ...], ...]
    memory: str
    proven: Proof | None

    @property
    def nodes(self) -> int:
        """How many; by the word where no source names them."""
        return len(self.hosts) or (
            2 if self.label == "pair:other-node" else int(self.label.partition("@")[2] or 1)
        )


class Estimate(msgspec.Struct, frozen=True):
    """A figure with everything it must carry. There is no bare-number form.

    Attributes:
        id: unique in its run: case, kernel, metric, host where there are several, state where stratified.
        case: id of the case.
        benchmark: name.
        kernel: name.
        metric: name.
        unit: SI base unit.
        better: direction.
        params: every axis with its value.
        placement: asked and proven.
        factors: factor -> level.
        state: state of the machine in which all of its launches were made (`near`, `far`; `unsettled` where it
            changed during each of them); None where states do not explain its benchmark.
        median: median over launches of the launch's median; None unless complete.
        lo: lower end of the interval.
        hi: upper end of the interval.
        method: `order-statistics` interval of the launch medians (6 launches or more), else their `range`, which
            claims no confidence; `single` launch; `imported` from a source without samples.
        confidence: nominal, None for a range.
        min: least sample.
        max: largest sample.
        p99: the sample that 99 % are at least as good as.
        launches: number of launches.
        samples: number of measured samples.
        stop: why sampling ended in the launches: the worst of `precision`, `samples`, `time`.
        precision: largest relative half-width reached by a launch's own interval, None where it has none.
        steady: whether every launch reached a steady state.
        modes: medians of the modes of the samples where there are two, else empty.
        disturbed: how many of its launches were disturbed: they count where no repeat was quiet.
        set_aside: disturbed launches of the case that do not count, since their own repeat was quiet, or the state
            of the machine changed during them where figures are given for each.
        limit: what it stands against, None where nothing bounds it yet.
        status: of the case.
        reason: why the status is not complete.
    """

    id: str
    case: str
    benchmark: str
    kernel: str
    metric: str
    unit: str
    better: Literal["higher", "lower"]
    params: dict[str, ParamValue]
    placement: Placed
    factors: dict[str, str]
    state: str | None
    median: float | None
    lo: float | None
    hi: float | None
    method: Literal["order-statistics", "range", "single", "imported"] | None
    confidence: float | None
    min: float | None
    max: float | None
    p99: float | None
    launches: int
    samples: int
    stop: str
    precision: float | None
    steady: bool | None
    modes: tuple[float, ...]
    limit: Limit | None
    status: CaseStatus
    reason: str | None
    disturbed: int = 0
    set_aside: int = 0


class Point(msgspec.Struct, frozen=True):
    """One estimate as a law sees it.

    Attributes:
        estimate: id.
        at: where it stands, coordinate -> value, e.g. `{"cpu node": 0, "memory node": 1, "class": "one hop"}`.
        value: [value, lo, hi], SI units.
        ratio: value over what the law names for this place (see docs/models.md); None where it names nothing.
    """

    estimate: str
    at: dict[str, ParamValue]
    value: tuple[float, float, float]
    ratio: float | None


class Model(msgspec.Struct, frozen=True):
    """A fitted law.

    Attributes:
        id: unique in its run.
        law: name, e.g. `cache-plateaus`.
        of: estimates it was fitted to.
        parameters: name -> [value, lo, hi], SI units.
        residual: largest relative residual.
        reason: why it could not be fitted; empty when it was.
        points: the estimates as the law sees them; empty for laws that add nothing to them.
    """

    id: str
    law: str
    of: tuple[str, ...]
    parameters: dict[str, tuple[float, float, float]]
    residual: float | None
    reason: str = ""
    points: tuple[Point, ...] = ()


class Prediction(msgspec.Struct, frozen=True):
    """What other measurements say that a figure must be, held against the figure: a line of the ledger.

    Attributes:
        id: unique in its run.
        law: name.
        what: what is predicted, in words.
        unit: SI base unit.
        lower: least value that is predicted.
        upper: largest one.
        middle: of the two.
        half_width: half of their distance, relative to the middle: how much the prediction leaves open.
        states: of the machine: of each of `of`, then of the predicted one; None where one explains all.
        of: estimates it was computed from; never the predicted one, nor any of its benchmark.
        derivation: how, with figures.
        measured: id of the estimate that was predicted.
        value: [value, lo, hi] measured.
        deviation: of the value from the middle, relative to the middle; negative below it.
        error: relative distance of the value from the predicted interval; 0 inside, negative below it.
    """

    id: str
    law: str
    what: str
    unit: str
    lower: float
    upper: float
    middle: float
    half_width: float
    of: tuple[str, ...]
    states: tuple[str | None, ...]
    derivation: str
    measured: str
    value: tuple[float, float, float]
    deviation: float
    error: float


class Comparison(msgspec.Struct, frozen=True):
    """Two things measured in the same blocks, or in two runs.

    Attributes:
        id: unique in its run.
        a: estimate id; of the control where `differ` is `control`, which has no estimate of its own in the run.
        b: estimate id, the base of the ratio.
        ratio: a / b, Hodges-Lehmann over the blocks (over all pairs of launches between two runs).
        lo: lower end of the ratio's interval (exact signed-rank; Mann-Whitney between runs), or least ratio: of
            one pair, and so of one launch in each run, the ratio itself.
        hi: upper end.
        blocks: pairs; 0 between two runs, which have no blocks in common.
        confidence: None for a range (fewer than 6 blocks, or 4 launches in a run).
        verdict: in words of METHODS: `faster`, `slower`, `trivially different`, `equivalent`, `inconclusive`.
        differ: what tells a from b: an axis, a factor, `cores`, `memory`, `control` (A against A), or `run`.
        level: of a.
        base: level of b.
        varied: whether it was varied on purpose; other pairs are those that the study happens to contain.
        state: of the machine, where the comparison is within one.
        launches: of a and of b that it rests on.
        margin: a difference has to exceed it to be called one: 1 %, or the resolution where that is larger.
        resolution: what A against A shows here: the 95th percentile of its effects, relative; None without one.
        detectable: smallest relative difference that is found four times in five under the noise seen here; None
            where so few pairs can find none.
        p: two-sided, of the exact rank test; None for a range.
        adjusted_p: of Benjamini and Yekutieli, among all comparisons of the same kind in the run.
    """

    id: str
    a: str
    b: str
    ratio: float
    lo: float
    hi: float
    blocks: int
    confidence: float | None
    verdict: str
    differ: str = ""
    level: str = ""
    base: str = ""
    varied: bool = False
    state: str | None = None
    launches: tuple[int, int] = (0, 0)
    margin: float = 0.01
    resolution: float | None = None
    detectable: float | None = None
    p: float | None = None
    adjusted_p: float | None = None


class ComparedPair(msgspec.Struct, frozen=True):
    """A comparison with the two estimates that it compares."""

    a: Estimate
    b: Estimate
    comparison: Comparison


class Difference(msgspec.Struct, frozen=True):
    """What is not the same in two runs.

    Attributes:
        kind: `machine`, `topology`, `toolchain`, `sources`, `schema`: such runs are compared only where the user
            declares it; else `fact`, `environment`, `setting`, which are shown.
        name: of what differs, e.g. `kernel release`.
        a: in the run that is judged.
        b: in the base.
    """

    kind: str
    name: str
    a: str
    b: str


class Compared(msgspec.Struct, frozen=True):
    """`assay compare --json`: the comparisons of one run, or of two.

    Attributes:
        schema: version of this record.
        run: that is judged.
        base: the other run; empty where levels are compared inside one.
        across: what was declared to differ, as the factor; empty without.
        allowed: kinds of differences that were allowed.
        differences: between the runs.
        pairs: what was compared.
        uncompared: estimate or case -> why it was not.
    """

    schema: int
    run: str
    base: str
    across: str
    allowed: tuple[str, ...]
    differences: tuple[Difference, ...]
    pairs: tuple[ComparedPair, ...]
    uncompared: dict[str, str] = {}


class Finding(msgspec.Struct, frozen=True):
    """A claim with its evidence.

    Attributes:
        id: unique in its run: rule and subject.
        rule: name of the rule.
        claim: one sentence with the figures that carry it.
        severity: `problem` costs performance, `advice` offers some, `fact` is worth knowing.
        status: `candidate` until its experiment makes it `confirmed` or `refuted`; `observed` for what was
            measured directly and needs no cause; `not assessed` where evidence is missing.
        evidence: ids of estimates or comparisons.
        statistic: what was tested, with its value: the bound of an interval.
        threshold: what it was tested against.
        rivals: other causes not excluded.
        next: the experiment or remedy that comes next, a command where there is one.
        experiment: that decides a candidate, as data; None where Assay can make none.
    """

    id: str
    rule: str
    claim: str
    severity: Literal["problem", "advice", "fact"]
    status: Literal["candidate", "confirmed", "refuted", "observed", "not assessed"]
    evidence: tuple[str, ...]
    statistic: str
    threshold: str
    rivals: tuple[str, ...] = ()
    next: str = ""
    experiment: Experiment | None = None


class Outcome(msgspec.Struct, frozen=True):
    """How a case of the plan ended. Every case has one.

    Attributes:
        case: id.
        status: see CaseStatus.
        reason: in words, empty when complete.
        launches: launches that yielded samples.
        planned: launches that were planned.
    """

    case: str
    status: CaseStatus
    reason: str
    launches: int
    planned: int


class Noise(msgspec.Struct, frozen=True):
    """How quiet the machine was.

    Attributes:
        sentinel_p99: 99th percentile over median of the sentinel's samples; None without a sentinel.
        drift: Theil-Sen slope x duration of the sentinel's launch medians, relative; None with fewer than 4.
        drift_p: Kendall's p of that drift.
        steal: largest share of cpu time taken by the hypervisor during a launch.
        foreign: largest share used by other processes during a launch.
        states: state -> [launches, median hand-over in s]; one entry when there is one.
        disturbed: launches labelled as disturbed.
        launches: all launches.
        resolution: what two launches of one case differ by, relative: 95 % of all such pairs of this run differ by
            less. Effects smaller than this may be chance. None where no case has two launches.
    """

    sentinel_p99: float | None
    drift: float | None
    drift_p: float | None
    steal: float | None
    foreign: float | None
    states: dict[str, tuple[int, float]]
    disturbed: int
    launches: int
    resolution: float | None = None


class Analysis(msgspec.Struct, frozen=True):
    """All that may be said of a run."""

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
