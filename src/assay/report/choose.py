"""Which estimates a reader sees first, and how the rest is grouped. Knows declarations, no single benchmark."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache
from typing import TypeVar

from assay import benchmarks
from assay.model.benchmark import Benchmark, ParamValue
from assay.model.errors import AssayError
from assay.model.result import Analysis, Estimate
from assay.model.text import joined, text
from assay.model.units import format_size
from assay.report.vocabulary import known

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")
#: Names that others' axes have where a level needs none: `same socket`, not `same socket where`.
_ASKING = frozenset({"where", "which", "what"})
#: A size in bytes needs no name; another axis in bytes does.
_SIZE = "bytes"


@cache
def declaration(name: str) -> Benchmark | None:
    """The benchmark's declaration; None for one that this version does not know (a run of another version)."""
    try:
        return benchmarks.get(name)
    except AssayError:
        return None


def title(name: str) -> str:
    """Heading of a benchmark."""
    declared = declaration(name)
    return known(declared.title) if declared else name


def swept(name: str) -> str:
    """Name of the axis along which the benchmark's results are a curve; empty where there is none."""
    declared = declaration(name)
    return next((axis.name for axis in declared.axes if axis.swept), "") if declared else ""


@cache
def units(name: str) -> Mapping[str, str]:
    """Axis -> unit."""
    declared = declaration(name)
    return {axis.name: axis.unit for axis in declared.axes} if declared else {}


def axis_meaning(name: str, axis: str) -> str:
    """What an axis is, in a few words."""
    declared = declaration(name)
    axes = declared.axes if declared else ()
    return next((known(each.short) for each in axes if each.name == axis), axis)


def meaning(estimate: Estimate) -> str:
    """What the estimate's metric counts."""
    declared = declaration(estimate.benchmark)
    metrics = declared.metrics if declared else ()
    return next((known(metric.meaning) for metric in metrics if metric.name == estimate.metric), "")


def measure(estimate: Estimate) -> str:
    """`Triad bandwidth`: the kernel and the metric, at the beginning of a title."""
    return text("{kernel} {metric}", kernel=estimate.kernel.capitalize(), metric=known(estimate.metric))


def of_benchmark(analysis: Analysis, name: str) -> tuple[Estimate, ...]:
    """All estimates of a benchmark."""
    return tuple(estimate for estimate in analysis.estimates if estimate.benchmark == name)


def measured(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """Those that have a figure."""
    return tuple(estimate for estimate in estimates if estimate.median is not None)


def headline_metric(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """Estimates of the first metric of their kernel; the first one's metric where no declaration knows any."""
    estimates = tuple(estimates)
    own = [estimate for estimate in estimates if _first_metric(estimate, estimate) == estimate.metric]
    first = min(own, key=_place, default=None)
    return tuple(e for e in estimates if first and e.metric == _first_metric(e, first))


def _place(estimate: Estimate) -> int:
    """Of its metric among those of its benchmark."""
    declared = declaration(estimate.benchmark)
    names = [metric.name for metric in declared.metrics] if declared else []
    return names.index(estimate.metric) if estimate.metric in names else len(names)


def _first_metric(estimate: Estimate, first: Estimate) -> str:
    declared = declaration(estimate.benchmark)
    return declared.headline_name(estimate.kernel, estimate.params, first.metric) if declared else first.metric


def headline_kernel(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """Estimates of the kernel that stands for the benchmark: that of its first metric, else its last, as triad."""
    estimates = tuple(estimates)
    declared = declaration(estimates[0].benchmark) if estimates else None
    kernels = (declared.metrics[0].kernels or declared.kernels) if declared else [e.kernel for e in estimates]
    return tuple(estimate for estimate in estimates if estimate.kernel == kernels[-1])


def grouped(things: Iterable[Thing], key: Callable[[Thing], Key]) -> dict[Key, tuple[Thing, ...]]:
    """Estimates, or other things, by key, in order of first appearance."""
    groups: dict[Key, list[Thing]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return {name: tuple(members) for name, members in groups.items()}


def varied(estimates: Iterable[Estimate]) -> tuple[str, ...]:
    """Axes and factors that differ among the estimates, without sizes that follow from the placement."""
    estimates = tuple(estimates)
    if not estimates:
        return ()
    declared = declaration(estimates[0].benchmark)
    computed = {axis.name for axis in declared.axes if axis.default is None} if declared else set()
    names = dict.fromkeys(name for estimate in estimates for name in [*estimate.params, *estimate.factors])
    return tuple(
        name
        for name in names
        if name not in computed and len({level(estimate, name) for estimate in estimates}) > 1
    )


def level(estimate: Estimate, name: str) -> str:
    """The estimate's value on an axis or level of a factor."""
    return str(estimate.factors.get(name, estimate.params.get(name, "")))


def series(estimate: Estimate, names: Iterable[str]) -> str:
    """Name of the series that the estimate belongs to: `levels` and the state of the machine."""
    return joined(", ", [levels(estimate, names), state(estimate)])


def state(estimate: Estimate) -> str:
    """The state of the machine that the estimate holds for, e.g. `near cores`; empty where one explains all."""
    return known(f"{estimate.state} cores") if estimate.state else ""


def levels(estimate: Estimate, names: Iterable[str]) -> str:
    """Levels in words, e.g. `ordinary stores`: of the first of `names`, of others where not the usual one."""
    usual, unit = _defaults(estimate.benchmark), units(estimate.benchmark)
    parts: list[str] = []
    for name in names:
        value = estimate.factors.get(name, estimate.params.get(name))
        if value is None or (parts and value == usual.get(name)):
            continue
        number = isinstance(value, (int, float)) or value.isdigit()
        if number and unit.get(name) == "B":
            size = format_size(int(value))
            parts.append(size if name == _SIZE else f"{name} {size}")
            continue
        if name in _ASKING and not number:
            parts.append(str(value))
            continue
        parts.append(f"{name} {value}" if number or name in estimate.factors else known(f"{value} {name}"))
    return joined(", ", parts)


def is_usual(estimate: Estimate, axis: str = "", but: Iterable[str] = ()) -> bool:
    """Whether an axis (each, where none is named) has its default value, no value, or the machine's.

    `but` names axes that may have any value.
    """
    usual = _defaults(estimate.benchmark)
    params = {axis: estimate.params.get(axis, usual.get(axis))} if axis else estimate.params
    return all(value == usual.get(name, value) for name, value in params.items() if name not in set(but))


@cache
def _defaults(name: str) -> dict[str, ParamValue]:
    declared = declaration(name)
    return {axis.name: axis.default for axis in declared.axes if axis.default is not None} if declared else {}


def middle(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """For each figure that several nodes have, the estimate of the node in the middle; others as they are."""
    groups = grouped(estimates, lambda e: (e.case, e.kernel, e.metric, e.state))
    return tuple(
        sorted(measured(members) or members, key=lambda e: e.median or 0.0)[len(measured(members) or members) // 2]
        for members in groups.values()
    )


def best(estimates: Iterable[Estimate]) -> Estimate | None:
    """The one with the best median, None where nothing was measured."""
    candidates = measured(estimates)
    if not candidates:
        return None
    choose = max if candidates[0].better == "higher" else min
    return choose(candidates, key=lambda estimate: estimate.median or 0.0)
