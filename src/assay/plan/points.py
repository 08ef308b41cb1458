"""The requested points of a benchmark's axes: each combination of values, and sizes chosen by memory."""

import itertools
from collections.abc import Callable, Iterator, Mapping

import msgspec

from assay.model.benchmark import Benchmark, Resources
from assay.model.declaration import Axis, ParamValue
from assay.model.errors import UsageError, hint
from assay.model.machine import Machine
from assay.model.placement import Placement
from assay.model.plan import LARGEST, Measure
from assay.model.units import parse_range

#: `first:huge,small`, `first:XL,L,M`: the first of these values that this machine supports.
_FIRST = "first:"
#: Share of memory for a size chosen to fit: to fill all memory takes minutes, and the 14 GiB that were published
#: on nodes of 64 GiB are within this share.
MEMORY_SHARE = 0.3
#: Share of a host's memory for the largest order: the system needs the rest.
_FILLED = 0.8


class First(msgspec.Struct, frozen=True):
    """Several values: the first one counts that the machine supports and that fits into memory."""

    values: tuple[ParamValue, ...]


Point = dict[str, ParamValue]
Combination = Mapping[str, ParamValue | First]


class ExpandedPoint(msgspec.Struct, frozen=True):
    """A point with the values that follow from its placement.

    Attributes:
        named: values that identify the case: those of the study, and those that distinguish points.
        params: every axis with its value, in the order of the axes.
    """

    named: Point
    params: Point


class TooLarge(msgspec.Struct, frozen=True):
    """A value that is too large, the bytes that it needs, and the value that replaces it."""

    axis: str
    value: ParamValue
    needed: int
    instead: ParamValue


def combinations(benchmark: Benchmark, measure: Measure) -> Iterator[Combination]:
    """Each combination of the measure's axis values, in the order of the benchmark's axes.

    Raises:
        UsageError: unknown axis or value.
    """
    axes = {axis.name: axis for axis in benchmark.axes}
    for name in measure.axes:
        if name not in axes:
            what = f"{benchmark.name} has no axis '{name}'"
            raise UsageError(what, why=hint(name, axes), remedy="assay list benchmarks")
    chosen = {
        axis.name: _values(benchmark, axis, measure.axes.get(axis.name, axis.default))
        for axis in benchmark.axes
        if axis.name in measure.axes or axis.default is not None
    }
    for combination in itertools.product(*chosen.values()):
        yield dict(zip(chosen, combination, strict=True))


def fit_sizes(
    request: Combination, needed: Callable[[Point], int], available: int
) -> tuple[Point, tuple[TooLarge, ...]]:
    """The point with its sizes chosen to fit memory, and the values that were too large.

    Args:
        request: one of `combinations`.
        needed: bytes of memory that a point needs.
        available: bytes that may be used.

    If no value fits, the one that needs least is taken: the case is then left out with the memory it needs.
    """
    point: Point = {axis: value for axis, value in request.items() if not isinstance(value, First)}
    passed: list[TooLarge] = []
    for axis, value in request.items():
        if isinstance(value, First):
            sizes = {each: needed({**point, axis: each}) for each in value.values}
            fits = (each for each in value.values if sizes[each] <= MEMORY_SHARE * available)
            point[axis] = next(fits, min(value.values, key=sizes.__getitem__))
            larger = itertools.takewhile(lambda each: each != point[axis], value.values)  # noqa: B023 (used at once)
            passed += [TooLarge(axis, each, sizes[each], point[axis]) for each in larger]
    return {axis: point[axis] for axis in request}, tuple(passed)


def largest_order(benchmark: Benchmark, params: Point, placement: Placement, memory_bytes: float) -> int:
    """The largest order whose case leaves a fifth of a host's memory; 0 if none does, or it has no order."""
    axis = benchmark.axis("order")
    grain, size = int(params.get(benchmark.order_grain, 1)), 0

    def fits(order: int) -> bool:
        known = params | {axis.name: order} if axis else params
        return benchmark.host_memory_bytes(known, placement) <= _FILLED * memory_bytes

    step = grain if axis else 0
    while step and fits(step):
        step *= 2
    while step >= grain and axis:
        size += step if fits(size + step) else 0
        step //= 2
    return size // grain * grain


def with_largest(benchmark: Benchmark, resources: Resources, point: Point) -> Point:
    """The point with the order that fills the memory in place of `largest`."""
    axis = benchmark.axis("order")
    if axis is None or point.get(axis.name) != LARGEST:
        return point
    others = {name: value for name, value in point.items() if name != axis.name}
    known = next(iter(expand(benchmark, resources, others)), None)
    params = known.params if known else others
    return {**point, axis.name: largest_order(benchmark, params, resources.placement, resources.memory_bytes)}


def fitting(
    benchmark: Benchmark, point: ExpandedPoint, placement: Placement, memory_bytes: int
) -> tuple[str, ParamValue] | None:
    """Axis and value of the largest problem that fits, to replace a point that does not; None if none fits."""
    order = benchmark.axis("order")
    if order:
        size = largest_order(benchmark, point.params, placement, memory_bytes)
        return (order.name, size) if size else None
    axis, values = benchmark.swept, next((each.values for each in benchmark.axes if each.swept), ())
    needed = {each: benchmark.host_memory_bytes(point.params | {axis: each}, placement) for each in values}
    fits = [value for value, bytes_ in needed.items() if bytes_ <= memory_bytes]
    return (axis, max(fits, key=needed.__getitem__)) if fits else None


def expand(benchmark: Benchmark, resources: Resources, point: Point) -> tuple[ExpandedPoint, ...]:
    """A point with all values that follow from its placement: one or several distinct points."""
    given = tuple(benchmark.points(resources, point))
    values = {axis.name: {each[axis.name] for each in given if axis.name in each} for axis in benchmark.axes}
    naming = [axis.name for axis in benchmark.axes if axis.identifies or len(values[axis.name]) > 1]
    found: dict[tuple[object, ...], ExpandedPoint] = {}
    for each in given:
        every = {**each, **point}
        params = {axis.name: every[axis.name] for axis in benchmark.axes if axis.name in every}
        named = point | {name: params[name] for name in naming if name in params}
        found.setdefault(tuple(params.values()), ExpandedPoint(named, params))
    return tuple(found.values())


class Unsupported(msgspec.Struct, frozen=True):
    """A value that a combination cannot have, the reason, and the value that replaces it, if any."""

    axis: str
    value: ParamValue
    why: str
    instead: ParamValue | None = None


def supported(
    benchmark: Benchmark, request: Combination, machine: Machine
) -> tuple[Combination | None, tuple[Unsupported, ...]]:
    """The combination without the values that are unsupported on this machine, and these values.

    None if an axis has no value left. For a machine that is only described, unknown properties are assumed to be
    there.
    """
    kept: dict[str, ParamValue | First] = dict(request)
    lacking: list[Unsupported] = []
    for axis in benchmark.axes:
        value = request.get(axis.name)
        values = value.values if isinstance(value, First) else () if value is None else (value,)
        reasons = {
            each: why for each in values if (why := _unmet(axis, each, machine) or _clash(axis, each, request))
        }
        left = tuple(each for each in values if each not in reasons)
        lacking += [Unsupported(axis.name, each, why, next(iter(left), None)) for each, why in reasons.items()]
        if isinstance(value, First):
            kept[axis.name] = First(left)
    lost = any(each.instead is None for each in lacking)
    return None if lost else kept, tuple(lacking)


def _unmet(axis: Axis, value: ParamValue, machine: Machine) -> str:
    """Why a machine does not support a value of an axis; empty if it does."""
    words, fact = axis.needs.get(value, ()), machine.fact(*axis.needs_of)
    if not words or (not fact.known and machine.origin != "live"):
        return ""
    has = fact.value if isinstance(fact.value, tuple | list) else (fact.value,)
    if set(words) & set(has):
        return ""
    found = fact.unavailable or ", ".join(map(str, has))
    return f"it needs {' or '.join(words)} ({axis.needs_of[1]}: {found})"


def _clash(axis: Axis, value: ParamValue, request: Combination) -> str:
    """Why the value is impossible with those of other axes; empty if it is possible."""
    for other, (values, why) in axis.clashes.items():
        if value != axis.default and request.get(other) in values:
            return f"not with {other}={request[other]}: {why}"
    return ""


def _values(
    benchmark: Benchmark, axis: Axis, wanted: tuple[ParamValue, ...] | ParamValue | None
) -> tuple[ParamValue | First, ...]:
    values = wanted if isinstance(wanted, tuple) else (wanted,) if wanted is not None else ()
    found: list[ParamValue | First] = []
    for value in values:
        if isinstance(value, str) and value.startswith(_FIRST):
            candidates = value.removeprefix(_FIRST).split(",")
            found.append(First(tuple(each for text in candidates for each in _plain(benchmark, axis, text))))
        else:
            found += _plain(benchmark, axis, value)
    return tuple(found)


def _plain(benchmark: Benchmark, axis: Axis, value: ParamValue) -> tuple[ParamValue, ...]:
    """The values of a word of a closed set, a number, or a range."""
    if value == LARGEST and axis.role == "order":
        return (value,)
    if not any(isinstance(each, str) for each in axis.values):
        return parse_range(value) if isinstance(value, str) else (value,)
    if value not in axis.values:
        raise UsageError(
            f"{benchmark.name} has no {axis.name} '{value}'",
            why=f"known: {', '.join(map(str, axis.values))}",
            remedy="assay list benchmarks",
        )
    return (value,)
