"""Roles of figures and axes, as benchmarks declare them, for code that knows no benchmark by name."""

from collections.abc import Mapping
from functools import cache
from typing import Literal

from assay.model import benchmarks
from assay.model.benchmark import Benchmark
from assay.model.declaration import Metric, ParamValue, Pattern
from assay.model.result import Estimate
from assay.model.role_words import WORK_OF, WORK_RATES, AxisRole, LevelRole, Role

_USUAL_PRECISION = "fp64"
#: Transports of messages, in the order in which figures are shown.
_BY = ("MPI", "TCP", "")


@cache
def metric(benchmark: str, kernel: str, name: str) -> Metric | None:
    """The declared metric of this name of a kernel; None if no declaration knows it."""
    every = benchmarks.of(benchmark).metrics
    return next((each for each in every if each.name == name and kernel in (each.kernels or (kernel,))), None)


def role(estimate: Estimate) -> Role | None:
    """What an estimate says about a machine; None if undeclared."""
    found = metric(estimate.benchmark, estimate.kernel, estimate.metric)
    return found.role if found else None


def is_main(estimate: Estimate) -> bool:
    """Whether it is of the main kernel of its benchmark."""
    return estimate.kernel == benchmarks.of(estimate.benchmark).main_kernel


def solved_by(estimate: Estimate) -> frozenset[Role]:
    """Rates of problems that do most of their work at the rate of an estimate; empty for most estimates."""
    found = role(estimate)
    return WORK_OF.get(found, frozenset()) if found else frozenset()


def solves(estimate: Estimate) -> bool:
    """Whether its benchmark solves a problem, so that the bytes it moves do not show the speed of memory."""
    return bool(WORK_RATES & {each.role for each in benchmarks.of(estimate.benchmark).metrics} - {"memory-rate"})


@cache
def axis(benchmark: str, wanted: AxisRole) -> str:
    """Name of the axis with a role in a benchmark, empty without one; for undeclared benchmarks the usual name."""
    declared = benchmarks.of(benchmark)
    found = declared.axis(wanted)
    return found.name if found else "" if declared.is_known else usual_axis(wanted)


@cache
def usual_axis(wanted: AxisRole) -> str:
    """Name of the axis with this role in the first benchmark that has one; empty if none has one."""
    found = (benchmarks.get(each).axis(wanted) for each in benchmarks.names())
    return next((each.name for each in found if each), "")


def level(benchmark: str, params: Mapping[str, ParamValue], wanted: AxisRole) -> ParamValue | None:
    """The value of the axis with a role; None if there is no such axis or no value."""
    return params.get(axis(benchmark, wanted))


def level_of(estimate: Estimate, wanted: AxisRole) -> ParamValue | None:
    """The value of an estimate on the axis with a role; None if it has none."""
    return level(estimate.benchmark, estimate.params, wanted)


def has_level(benchmark: str, params: Mapping[str, ParamValue], wanted: LevelRole) -> bool:
    """Whether one of the params is a level with this role."""
    axes = benchmarks.of(benchmark).axes
    return any(axis.level_roles.get(params.get(axis.name, "")) == wanted for axis in axes)


def size(estimate: Estimate) -> int:
    """Bytes of a message, or of a copied block, including the size offset; 0 if it has neither."""
    whole = level_of(estimate, "message-size") or level_of(estimate, "block-size") or 0
    return int(whole) + int(level_of(estimate, "size-offset") or 0)


@cache
def message_curves() -> Mapping[str, Literal["", "MPI", "TCP"]]:
    """Benchmarks with curves of messages between two ranks -> transport; one-sided ones are last."""
    every = (each for each in map(benchmarks.get, benchmarks.names()) if each.between_two)
    return {each.name: each.two_sided for each in sorted(every, key=lambda each: _BY.index(each.two_sided))}


def between_two(benchmark: str) -> bool:
    """Whether its figures are curves of messages from one rank to another; see `Benchmark.between_two`."""
    return benchmark in message_curves()


def by_sockets(estimate: Estimate) -> bool:
    """Whether TCP sockets pass its messages, without an MPI."""
    return benchmarks.of(estimate.benchmark).two_sided == "TCP"


@cache
def patterns() -> Mapping[str, Pattern]:
    """Pattern -> its meaning: first those that Assay measures, then those of imported figures."""
    axes = [found for each in benchmarks.names() if (found := benchmarks.get(each).axis("message-pattern"))]
    own = {name: axis.patterns[str(name)] for axis in axes for name in axis.values if name in axis.patterns}
    return {str(name): each for name, each in own.items()} | {
        name: each for axis in axes for name, each in axis.patterns.items() if name not in own
    }


def pattern_name(estimate: Estimate) -> str:
    """The name of an estimate's pattern in its benchmark; empty if it has none."""
    return str(level_of(estimate, "message-pattern") or "")


def pattern(estimate: Estimate) -> Pattern | None:
    """The pattern of an estimate; None if it has no known one."""
    return patterns().get(pattern_name(estimate))


def of_one_pair(name: str) -> str:
    """The pattern of one pair that corresponds to this one of all pairs; the pattern itself if there is none."""
    found, every = patterns().get(name), patterns().items()
    if found is None or found.pairs != "all":
        return name
    wanted = ("one", found.figure, found.directions)
    return next((each for each, other in every if (other.pairs, other.figure, other.directions) == wanted), name)


def precision(estimate: Estimate) -> str:
    """The precision of an estimate's arithmetic: its level on that axis, else that of its metric."""
    found = metric(estimate.benchmark, estimate.kernel, estimate.metric)
    declared = found.precision if found and found.precision else _USUAL_PRECISION
    return str(level_of(estimate, "precision") or declared)


@cache
def measuring(wanted: Role) -> tuple[Benchmark, ...]:
    """The benchmarks that have a metric of this role, by name."""
    every = map(benchmarks.get, benchmarks.names())
    return tuple(each for each in every if any(found.role == wanted for found in each.metrics))


@cache
def probe() -> Benchmark:
    """The benchmark whose hand-overs show the state of the machine around every launch."""
    return measuring("hand-over-time")[0]


@cache
def sentinel() -> Benchmark:
    """The benchmark that declares the fixed work between blocks; the first by name if there are several."""
    return next(each for each in map(benchmarks.get, benchmarks.names()) if each.sentinel)
