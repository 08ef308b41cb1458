"""What figures and axes mean to those who know no benchmark by name: roles as their benchmarks declare them."""

from collections.abc import Mapping
from functools import cache
from typing import Literal

from assay.model import benchmarks
from assay.model.benchmark import Benchmark, Metric, ParamValue, Pattern
from assay.model.result import Estimate
from assay.model.role_words import WORK_OF, WORK_RATES, AxisRole, LevelRole, Role

_USUAL_PRECISION = "fp64"
#: What passes messages, in the order in which figures are shown.
_BY = ("MPI", "TCP", "")


@cache
def metric(benchmark: str, kernel: str, name: str) -> Metric | None:
    """The declared metric of this name of a kernel; None where no declaration knows it."""
    every = benchmarks.of(benchmark).metrics
    return next((each for each in every if each.name == name and kernel in (each.kernels or (kernel,))), None)


def role(estimate: Estimate) -> Role | None:
    """What an estimate says of a machine; None where no declaration tells."""
    found = metric(estimate.benchmark, estimate.kernel, estimate.metric)
    return found.role if found else None


def solved_by(estimate: Estimate) -> frozenset[Role]:
    """Rates of the problems that do most of their work at the rate of an estimate; none for most."""
    found = role(estimate)
    return WORK_OF.get(found, frozenset()) if found else frozenset()


def solves(estimate: Estimate) -> bool:
    """Whether its benchmark solves a problem: the bytes that it moves do not show how fast memory is."""
    return bool(WORK_RATES & {each.role for each in benchmarks.of(estimate.benchmark).metrics} - {"memory-rate"})


@cache
def axis(benchmark: str, wanted: AxisRole) -> str:
    """Name of the axis that has a role in a benchmark, empty where none has; of others' benchmarks our name."""
    declared = benchmarks.of(benchmark)
    found = declared.axis(wanted)
    return found.name if found else "" if declared.is_known else usual_axis(wanted)


@cache
def usual_axis(wanted: AxisRole) -> str:
    """What the first benchmark that has an axis of this role calls it; empty where none has one."""
    found = (benchmarks.get(each).axis(wanted) for each in benchmarks.names())
    return next((each.name for each in found if each), "")


def level(benchmark: str, params: Mapping[str, ParamValue], wanted: AxisRole) -> ParamValue | None:
    """The value of the axis that has a role; None where there is no such axis, or no value of it."""
    return params.get(axis(benchmark, wanted))


def level_of(estimate: Estimate, wanted: AxisRole) -> ParamValue | None:
    """The value that an estimate has on the axis of a role; None where it has none."""
    return level(estimate.benchmark, estimate.params, wanted)


def has_level(benchmark: str, params: Mapping[str, ParamValue], wanted: LevelRole) -> bool:
    """Whether one of the params is a level that means this."""
    axes = benchmarks.of(benchmark).axes
    return any(axis.level_roles.get(params.get(axis.name, "")) == wanted for axis in axes)


def size(estimate: Estimate) -> int:
    """Bytes of a message, or of what is copied at once, with what is added to its size; 0 where it has none."""
    whole = level_of(estimate, "message-size") or level_of(estimate, "block-size") or 0
    return int(whole) + int(level_of(estimate, "size-offset") or 0)


@cache
def message_curves() -> Mapping[str, Literal["", "MPI", "TCP"]]:
    """Benchmark of curves of messages between two ranks -> what passes them; one-sided ones are last."""
    every = (each for each in map(benchmarks.get, benchmarks.names()) if each.between_two)
    return {each.name: each.two_sided for each in sorted(every, key=lambda each: _BY.index(each.two_sided))}


def between_two(benchmark: str) -> bool:
    """Whether its figures are curves of messages from one rank to another; see `Benchmark.between_two`."""
    return benchmark in message_curves()


def by_sockets(estimate: Estimate) -> bool:
    """Whether sockets of TCP pass its messages, without an MPI."""
    return benchmarks.of(estimate.benchmark).two_sided == "TCP"


@cache
def patterns() -> Mapping[str, Pattern]:
    """Pattern -> what it means: those that ours measure first, then those of others' figures."""
    axes = [found for each in benchmarks.names() if (found := benchmarks.get(each).axis("message-pattern"))]
    own = {name: of.patterns[str(name)] for of in axes for name in of.values if name in of.patterns}
    return {str(name): each for name, each in own.items()} | {
        name: each for of in axes for name, each in of.patterns.items() if name not in own
    }


def pattern_name(estimate: Estimate) -> str:
    """The pattern of an estimate as its benchmark calls it; empty where it has none."""
    return str(level_of(estimate, "message-pattern") or "")


def pattern(estimate: Estimate) -> Pattern | None:
    """What the pattern of an estimate means; None where it has none that is known."""
    return patterns().get(pattern_name(estimate))


def of_one_pair(name: str) -> str:
    """The pattern in which one pair does what all pairs do in this one; the pattern itself where there is none."""
    found, every = patterns().get(name), patterns().items()
    if found is None or found.pairs != "all":
        return name
    wanted = ("one", found.figure, found.directions)
    return next((each for each, other in every if (other.pairs, other.figure, other.directions) == wanted), name)


def precision(estimate: Estimate) -> str:
    """The precision that an estimate's arithmetic is in: its level on that axis, else what its metric declares."""
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
    """The benchmark whose hand-overs tell the state of the machine around every launch."""
    return measuring("hand-over-time")[0]


@cache
def sentinel() -> Benchmark:
    """The benchmark that declares the fixed piece of work between blocks; of several the first by name."""
    return next(each for each in map(benchmarks.get, benchmarks.names()) if each.sentinel)
