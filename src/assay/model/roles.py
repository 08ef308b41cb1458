"""Roles of figures and axes, as their declarations have them, for code that knows no benchmark by name."""

from collections.abc import Iterable, Mapping
from typing import Literal

from assay.model.declaration import Declaration, Metric, ParamValue, Pattern
from assay.model.result import Estimate
from assay.model.role_words import USUAL_AXES, WORK_OF, WORK_RATES, AxisRole, LevelRole, Role

_USUAL_PRECISION = "fp64"
#: Transports of messages, in the order in which figures are shown.
_BY = ("MPI", "TCP", "")


def metric(declared: Declaration, kernel: str, name: str) -> Metric | None:
    """The declared metric of this name of a kernel; None if the declaration has none."""
    return next(
        (metric for metric in declared.metrics if metric.name == name and kernel in (metric.kernels or (kernel,))),
        None,
    )


def role(estimate: Estimate) -> Role | None:
    """What an estimate says about a machine; None if undeclared."""
    counted = metric(estimate.declared, estimate.kernel, estimate.metric)
    return counted.role if counted else None


def is_main(estimate: Estimate) -> bool:
    """Whether it is of the main kernel of its benchmark."""
    return estimate.kernel == estimate.declared.main_kernel


def solved_by(estimate: Estimate) -> frozenset[Role]:
    """Rates of problems that do most of their work at the rate of an estimate; empty for most estimates."""
    own = role(estimate)
    return WORK_OF.get(own, frozenset()) if own else frozenset()


def solves(estimate: Estimate) -> bool:
    """Whether its benchmark solves a problem, so that the bytes it moves do not show the speed of memory."""
    return bool(WORK_RATES & {metric.role for metric in estimate.declared.metrics} - {"memory-rate"})


def axis(declared: Declaration, wanted: AxisRole) -> str:
    """Name of the axis with a role, empty without one; for undeclared benchmarks the usual name."""
    own = declared.axis(wanted)
    return own.name if own else "" if declared.is_known else USUAL_AXES.get(wanted, "")


def level(declared: Declaration, params: Mapping[str, ParamValue], wanted: AxisRole) -> ParamValue | None:
    """The value of the axis with a role; None if there is no such axis or no value."""
    return params.get(axis(declared, wanted))


def level_of(estimate: Estimate, wanted: AxisRole) -> ParamValue | None:
    """The value of an estimate on the axis with a role; None if it has none."""
    return level(estimate.declared, estimate.params, wanted)


def has_level(declared: Declaration, params: Mapping[str, ParamValue], wanted: LevelRole) -> bool:
    """Whether one of the params is a level with this role."""
    return any(axis.level_roles.get(params.get(axis.name, "")) == wanted for axis in declared.axes)


def size(estimate: Estimate) -> int:
    """Bytes of a message, or of a copied block, including the size offset; 0 if it has neither."""
    whole = level_of(estimate, "message-size") or level_of(estimate, "block-size") or 0
    return int(whole) + offset(estimate)


def offset(estimate: Estimate) -> int:
    """Bytes that are added to its size; below 0 if they are taken away."""
    return int(level_of(estimate, "size-offset") or 0)


def problem_size(declared: Declaration, problem: Mapping[str, ParamValue]) -> float | None:
    """How large a problem is, on the axis along which it grows: its number, or the place of its named size.

    None if it has no such axis, or no value of it.
    """
    grows = declared.larger.axis if declared.larger else ""
    value = problem.get(grows)
    if not isinstance(value, str):
        return value
    levels = next(axis.values for axis in declared.axes if axis.name == grows)
    return levels.index(value) if value in levels else None


def size_of_solved(estimate: Estimate) -> float:
    """How large the problem is that a rate of solving is of; 0 of other figures, whose sizes are of no problem."""
    if estimate.better != "higher" or not solves(estimate):
        return 0.0
    return problem_size(estimate.declared, estimate.params) or 0.0


def message_curves(declarations: Iterable[Declaration]) -> Mapping[str, Literal["", "MPI", "TCP"]]:
    """Benchmarks with curves of messages between two ranks -> transport; one-sided ones are last."""
    curves = (declared for declared in declarations if declared.between_two)
    return {
        declared.name: declared.two_sided for declared in sorted(curves, key=lambda one: _BY.index(one.two_sided))
    }


def is_curve_by(declared: Declaration, transport: Literal["MPI", "TCP"]) -> bool:
    """Whether its figures are curves of messages between two ranks that this transport carries."""
    return declared.between_two and declared.two_sided == transport


def by_sockets(estimate: Estimate) -> bool:
    """Whether TCP sockets pass its messages, without an MPI."""
    return estimate.declared.two_sided == "TCP"


def pattern_name(estimate: Estimate) -> str:
    """The name of an estimate's pattern in its benchmark; empty if it has none."""
    return str(level_of(estimate, "message-pattern") or "")


def patterns(declared: Declaration) -> Mapping[str, Pattern]:
    """The patterns of messages of a benchmark, also those of other tools; empty if it has none."""
    axis = declared.axis("message-pattern")
    return axis.patterns if axis else {}


def pattern(estimate: Estimate) -> Pattern | None:
    """The pattern of an estimate; None if it has no known one."""
    return patterns(estimate.declared).get(pattern_name(estimate))


def of_one_pair(declared: Declaration, name: str) -> str:
    """The pattern of one pair that corresponds to this one of all pairs; the pattern itself if there is none."""
    every = patterns(declared)
    own = every.get(name)
    if own is None or own.pairs != "all":
        return name
    wanted = ("one", own.figure, own.directions)
    return next(
        (one for one, other in every.items() if (other.pairs, other.figure, other.directions) == wanted), name
    )


def precision(estimate: Estimate) -> str:
    """The precision of an estimate's arithmetic: its level on that axis, else that of its metric."""
    found = metric(estimate.declared, estimate.kernel, estimate.metric)
    declared = found.precision if found and found.precision else _USUAL_PRECISION
    return str(level_of(estimate, "precision") or declared)
