"""Points of a benchmark's axes that a study asks for: each combination of values, and sizes chosen by memory."""

import difflib
import itertools
from collections.abc import Callable, Iterator, Mapping

import msgspec

from assay.model.benchmark import Axis, Benchmark, ParamValue
from assay.model.errors import UsageError
from assay.model.machine import Machine
from assay.model.plan import Measure
from assay.model.units import parse_range

#: `largest:XL,L,M`: the first of these values whose case leaves memory to spare.
_LARGEST = "largest:"
#: A size that has to fit leaves most memory alone: what fills it takes minutes to touch, and the 14 GiB that
#: were published on nodes of 64 GiB are within this share.
MEMORY_SHARE = 0.3


class Largest(msgspec.Struct, frozen=True):
    """The first of some values, largest first, that memory allows."""

    values: tuple[ParamValue, ...]


Point = dict[str, ParamValue]
Wish = Mapping[str, ParamValue | Largest]


class TooLarge(msgspec.Struct, frozen=True):
    """A value that was passed over, what it needs in bytes, and the value that is taken in its place."""

    axis: str
    value: ParamValue
    needed: int
    instead: ParamValue


def wished(benchmark: Benchmark, measure: Measure) -> Iterator[Wish]:
    """Each combination of the measure's axis values, in the order of the benchmark's axes.

    Raises:
        UsageError: unknown axis or value.
    """
    axes = {axis.name: axis for axis in benchmark.axes}
    for name in measure.axes:
        if name not in axes:
            near = difflib.get_close_matches(name, axes, n=1)
            raise UsageError(
                f"{benchmark.name} has no axis '{name}'",
                why=f"did you mean '{near[0]}'?" if near else f"known: {', '.join(axes)}",
                remedy="assay list benchmarks",
            )
    chosen = {
        axis.name: _values(benchmark, axis, measure.axes.get(axis.name, axis.default))
        for axis in benchmark.axes
        if axis.name in measure.axes or axis.default is not None
    }
    for combination in itertools.product(*chosen.values()):
        yield dict(zip(chosen, combination, strict=True))


def fitted(wish: Wish, needed: Callable[[Point], int], available: int) -> tuple[Point, tuple[TooLarge, ...]]:
    """The point with its sizes chosen, and what was too large.

    Args:
        wish: one of `wished`.
        needed: bytes of memory that a point needs.
        available: bytes that may be used.

    Where no value fits, the last one is taken: whoever makes a case of it will say what it needs.
    """
    point: Point = {axis: value for axis, value in wish.items() if not isinstance(value, Largest)}
    passed: list[TooLarge] = []
    for axis, value in wish.items():
        if isinstance(value, Largest):
            sizes = {each: needed({**point, axis: each}) for each in value.values}
            fits = (each for each in value.values if sizes[each] <= MEMORY_SHARE * available)
            point[axis] = next(fits, value.values[-1])
            larger = itertools.takewhile(lambda each: each != point[axis], value.values)  # noqa: B023 (used at once)
            passed += [TooLarge(axis, each, sizes[each], point[axis]) for each in larger]
    return {axis: point[axis] for axis in wish}, tuple(passed)


def unmet(benchmark: Benchmark, wish: Wish, machine: Machine) -> Iterator[tuple[str, str]]:
    """What this machine lacks for a wish, `axis=value` and why: the declaration says what values need.

    What nobody can know of a machine that is only described is taken to be there.
    """
    for axis in benchmark.axes:
        value = wish.get(axis.name)
        words = () if value is None or isinstance(value, Largest) else axis.needs.get(value, ())
        fact = machine.fact(*axis.needs_of)
        if not words or (not fact.known and machine.origin != "live"):
            continue
        has = fact.value if isinstance(fact.value, tuple | list) else (fact.value,)
        if not set(words) & set(has):
            found = fact.unavailable or ", ".join(map(str, has))
            yield f"{axis.name}={value}", f"it needs {' or '.join(words)} ({axis.needs_of[1]}: {found})"


def _values(
    benchmark: Benchmark, axis: Axis, wanted: tuple[ParamValue, ...] | ParamValue | None
) -> tuple[ParamValue | Largest, ...]:
    values = wanted if isinstance(wanted, tuple) else (wanted,) if wanted is not None else ()
    found: list[ParamValue | Largest] = []
    for value in values:
        if isinstance(value, str) and value.startswith(_LARGEST):
            candidates = value.removeprefix(_LARGEST).split(",")
            found.append(Largest(tuple(each for text in candidates for each in _plain(benchmark, axis, text))))
        else:
            found += _plain(benchmark, axis, value)
    return tuple(found)


def _plain(benchmark: Benchmark, axis: Axis, value: ParamValue) -> tuple[ParamValue, ...]:
    """A word of a closed set, a number, or the numbers of a range."""
    if not any(isinstance(each, str) for each in axis.values):
        return parse_range(value) if isinstance(value, str) else (value,)
    if value not in axis.values:
        raise UsageError(
            f"{benchmark.name} has no {axis.name} '{value}'",
            why=f"known: {', '.join(map(str, axis.values))}",
            remedy="assay list benchmarks",
        )
    return (value,)
