"""What a benchmark is: which program, along which axes, which metrics, what it needs and what limits it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from assay.model.machine import Topology
from assay.model.placement import Placement

ParamValue = int | float | str
Params = Mapping[str, ParamValue]


@dataclass(frozen=True)
class Axis:
    """One parameter of a program.

    Attributes:
        name: as on the program's command line (`--name`).
        meaning: one sentence for people.
        values: the values that exist (a closed set of words), or the default ones (numbers).
        default: the value when a study names none; None where `Benchmark.size` computes it.
        unit: of numbers: `B`, `elements`; empty for words.
        swept: whether results are drawn as a curve along this axis.
        needs: value -> words of which the fact `needs_of` must have one; values that are absent need none.
        needs_of: section and name of that fact; by default the instruction sets that the processor has.
    """

    name: str
    meaning: str
    values: tuple[ParamValue, ...]
    default: ParamValue | None
    unit: str = ""
    swept: bool = False
    needs: Mapping[ParamValue, tuple[str, ...]] = field(default_factory=dict)
    needs_of: tuple[str, str] = ("processor", "vector instructions")

    @property
    def short(self) -> str:
        """The meaning in a few words, for the axis of a chart: `size of a message`, `bytes of a transfer`."""
        first = self.meaning.partition(":")[0]
        return f"{self.name} {first}" if first.startswith("of ") else first


@dataclass(frozen=True)
class Metric:
    """How samples of a kernel become a figure.

    A rate is `work[kernel][work] * iterations / seconds`; a time (unit `s`) is `seconds / iterations`, divided by
    `work[kernel][work]` where `work` is named (operations in one iteration).

    Attributes:
        name: `bandwidth`, `traffic`, `latency`.
        unit: SI base unit: `B/s`, `flop/s`, `s`.
        better: direction.
        work: key in the header's work of one iteration; empty for times.
        meaning: what is counted, one sentence.
        limit: name of the law that bounds it (see assay.analyse.limits); empty where none is known.
        kernels: those that it is a metric of; empty for all of the benchmark.
        when: axis -> values for which it is a metric; axes that are absent do not matter.
        over: of the ranks of a joint benchmark, whose time counts: the slowest one's in each sample, or the mean.
    """

    name: str
    unit: str
    better: Literal["higher", "lower"]
    work: str
    meaning: str
    limit: str = ""
    kernels: tuple[str, ...] = ()
    when: Mapping[str, tuple[ParamValue, ...]] = field(default_factory=dict)
    over: Literal["slowest", "mean"] = "slowest"


def _nothing_each(_placement: Placement) -> dict[str, tuple[ParamValue, ...]]:
    return {}


def _no_size(_topology: Topology, _placement: Placement, _memory_bytes: int) -> dict[str, ParamValue]:
    return {}


@dataclass(frozen=True)
class Benchmark:
    """One benchmark, declared beside nothing else: adding one is this record and one native program.

    Attributes:
        name: noun, equal to the module's name.
        title: for headings.
        measures: what it measures, one sentence.
        source: the public definition or paper it follows.
        program: name of the native executable.
        kernels: in the order that the program runs them.
        axes: every parameter that changes what is measured.
        metrics: the first one is the headline.
        memory_bytes: memory that a case needs, from its params.
        size: params that follow from the machine, e.g. elements from its caches. Arguments: topology,
            placement, bytes of memory that may be used; result: values for axes whose default is None.
        each: values of axes without a default that follow from the placement and are all measured where a study
            names none: the rounds of a tournament.
        min_cpus: fewest cpus of a placement that make sense.
        max_cpus: most cpus it uses, None for as many as the placement has.
        setup_seconds: estimate of the time a case takes before its first sample.
        touch_seconds: what of that the first touch of fresh memory takes. It falls away where an earlier case of
            the launch has left as much, touched alike.
        touch_axes: axes in which cases have to agree for that.
        iteration_seconds: estimate of one iteration of the slowest kernel; where samples are short their number
            ends sampling before the time does. None: sampling is taken to last as long as it may.
        joint: its ranks work on one thing together by messages: it is an MPI program, each cpu of a placement is a
            rank of its own, and a sample lasts as long as its slowest rank. Others are measured host by host.
    """

    name: str
    title: str
    measures: str
    source: str
    program: str
    kernels: tuple[str, ...]
    axes: tuple[Axis, ...]
    metrics: tuple[Metric, ...]
    memory_bytes: Callable[[Params], int]
    size: Callable[[Topology, Placement, int], dict[str, ParamValue]] = field(default=_no_size)
    each: Callable[[Placement], Mapping[str, tuple[ParamValue, ...]]] = field(default=_nothing_each)
    min_cpus: int = 1
    max_cpus: int | None = None
    setup_seconds: Callable[[Params], float] = field(default=lambda _params: 0.01)
    touch_seconds: Callable[[Params], float] = field(default=lambda _params: 0.0)
    touch_axes: tuple[str, ...] = ()
    iteration_seconds: Callable[[Params], float] | None = None
    joint: bool = False

    def metrics_of(self, kernel: str, params: Params) -> tuple[Metric, ...]:
        """The metrics of one kernel at a point of the axes, in the order of `metrics`."""
        return tuple(metric for metric in self.metrics if _counts(metric, kernel, params))

    def headline_of(self, kernel: str, params: Params) -> Metric | None:
        """The first of them, None where there is none; it is asked for of every estimate again and again."""
        for metric in self.metrics:
            if _counts(metric, kernel, params):
                return metric
        return None

    def headline_name(self, kernel: str, params: Params, metric: str) -> str:
        """Name of the first metric of an estimate's kernel and params; `metric` is its own.

        Where none counts there, as at patterns of other tools, its own; but empty for a finer form of one of ours,
        as `latency-t-max` is of `latency`.
        """
        first = self.headline_of(kernel, params)
        if first:
            return first.name
        return "" if any(metric.startswith(f"{each.name}-") for each in self.metrics) else metric


def _counts(metric: Metric, kernel: str, params: Params) -> bool:
    if metric.kernels and kernel not in metric.kernels:
        return False
    for axis, values in metric.when.items():  # noqa: SIM110 (half the time of `all`)
        if params.get(axis) not in values:
            return False
    return True
