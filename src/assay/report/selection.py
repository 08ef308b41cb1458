"""The order and grouping of estimates in the report. It knows declarations, but no single benchmark."""

from collections.abc import Iterable, Mapping

from assay.model import benchmarks, grouping, roles
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import format_size
from assay.report.vocabulary import known

#: Estimates, or other things, by what they share.
grouped = grouping.grouped
#: Names that others' axes have where a level needs none: `same socket`, not `same socket where`.
_ASKING = frozenset({"where", "which", "what"})
#: A size in bytes needs no name; another axis in bytes does.
_SIZE = roles.usual_axis("message-size")


def title(name: str) -> str:
    """Heading of a benchmark."""
    return known(benchmarks.of(name).title)


def named(run: Run, estimate: Estimate) -> str:
    """The title of what an estimate is of, with the metric where no section can place it."""
    program = run.plan.case(estimate.case).benchmark if run.imported else estimate.benchmark
    if program == estimate.benchmark:
        return title(program)
    metric = known(estimate.metric)
    if benchmarks.of(program).is_known:
        return text("{program}: {metric}", program=title(program), metric=metric)
    tool = estimate.printed.tool if estimate.printed else program
    told = text("{program}: {metric}", program=tool, metric=metric)
    return told if program.casefold() in tool.casefold() else joined(", ", (told, program))


def swept(name: str) -> str:
    """The name of the axis along which the results of the benchmark are a curve; empty if there is none."""
    return benchmarks.of(name).swept


def units(name: str) -> Mapping[str, str]:
    """Axis -> unit."""
    return benchmarks.of(name).units


def axis_meaning(name: str, axis: str) -> str:
    """The meaning of an axis in a few words."""
    return next((known(each.title) for each in benchmarks.of(name).axes if each.name == axis), axis)


def meaning(estimate: Estimate) -> str:
    """What the estimate's metric counts."""
    metrics = benchmarks.of(estimate.benchmark).metrics
    return next((known(metric.meaning) for metric in metrics if metric.name == estimate.metric), "")


def measure(estimate: Estimate) -> str:
    """`Triad bandwidth`: the kernel and the metric, at the beginning of a title."""
    return text("{kernel} {metric}", kernel=estimate.kernel.capitalize(), metric=known(estimate.metric))


def of_benchmark(analysis: Analysis, name: str) -> tuple[Estimate, ...]:
    """All estimates of a benchmark."""
    return tuple(estimate for estimate in analysis.estimates if estimate.benchmark == name)


def measured(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """The estimates that have a figure."""
    return tuple(estimate for estimate in estimates if estimate.median is not None)


def headline_metric(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """The estimates of the first metric of their kernel; of the first estimate's metric if none is declared."""
    estimates = tuple(estimates)
    own = [estimate for estimate in estimates if _first_metric(estimate, estimate) == estimate.metric]
    first = min(own, key=_place, default=None)
    return tuple(e for e in estimates if first and e.metric == _first_metric(e, first))


def _place(estimate: Estimate) -> int:
    """Of its metric among those of its benchmark."""
    names = [metric.name for metric in benchmarks.of(estimate.benchmark).metrics]
    return names.index(estimate.metric) if estimate.metric in names else len(names)


def _first_metric(estimate: Estimate, first: Estimate) -> str:
    return benchmarks.of(estimate.benchmark).headline_name(estimate.kernel, estimate.params, first.metric)


def headline_kernel(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """The estimates of the main kernel of the benchmark: that of its first metric, else its last one, as triad."""
    estimates = tuple(estimates)
    main = benchmarks.of(estimates[0].benchmark).main_kernel or estimates[-1].kernel if estimates else ""
    return tuple(estimate for estimate in estimates if estimate.kernel == main)


def varied(estimates: Iterable[Estimate]) -> tuple[str, ...]:
    """The axes and factors that differ among the estimates.

    Sizes that follow from the placement do not count, unless one placement has several of them.
    """
    estimates = tuple(estimates)
    if not estimates:
        return ()
    derived = benchmarks.of(estimates[0].benchmark).derived

    def settled(estimate: Estimate) -> tuple[object, ...]:
        others = tuple((name, value) for name, value in estimate.params.items() if name not in derived)
        place = estimate.placement
        return place.label, place.hosts, place.memory, others, tuple(estimate.factors.items())

    alike = grouped(estimates, settled).values()

    def differs(name: str) -> bool:
        among = alike if name in derived else (estimates,)
        return any(len({level(estimate, name) for estimate in members}) > 1 for members in among)

    names = dict.fromkeys(name for estimate in estimates for name in [*estimate.params, *estimate.factors])
    return tuple(filter(differs, names))


def level(estimate: Estimate, name: str) -> str:
    """The estimate's value on an axis or level of a factor."""
    return str(estimate.factors.get(name, estimate.params.get(name, "")))


def series(estimate: Estimate, names: Iterable[str]) -> str:
    """The name of the series of the estimate: its `levels` and the state of the machine."""
    return joined(", ", [levels(estimate, names), state(estimate)])


def state(estimate: Estimate) -> str:
    """The machine state of the estimate, e.g. `near cores`; empty if one estimate covers all states."""
    return known(f"{estimate.state} cores") if estimate.state else ""


def levels(estimate: Estimate, names: Iterable[str]) -> str:
    """Levels in words, e.g. `ordinary stores`: those of the first of `names`, and of others if not the default."""
    usual, unit = benchmarks.of(estimate.benchmark).defaults, units(estimate.benchmark)
    worded = {axis.name: axis.words for axis in benchmarks.of(estimate.benchmark).axes}
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
        parts.append(
            f"{name} {value}"
            if number or name in estimate.factors
            else known(worded.get(name, {}).get(value, f"{value} {name}"))
        )
    return joined(", ", parts)


def is_usual(estimate: Estimate, axis: str = "", but: Iterable[str] = ()) -> bool:
    """Whether an axis (or each axis, if none is named) has its default value, no value, or the machine's value.

    `but` names axes that may have any value.
    """
    usual = benchmarks.of(estimate.benchmark).defaults
    params = {axis: estimate.params.get(axis, usual.get(axis))} if axis else estimate.params
    return all(value == usual.get(name, value) for name, value in params.items() if name not in set(but))


def chosen(estimate: Estimate, among: Iterable[Estimate]) -> tuple[str, ...]:
    """The axes whose word is not the usual one and differs among these, in the same metric; names are no words."""
    alike = [each for each in among if (each.kernel, each.metric) == (estimate.kernel, estimate.metric)]
    axes = (axis for axis in benchmarks.of(estimate.benchmark).axes if not (axis.named or axis.unit))
    words = (a.name for a in axes if isinstance(level := estimate.params.get(a.name), str) and level != a.default)
    return tuple(name for name in words if len({each.params.get(name) for each in alike}) > 1)


def telling_kernel(estimate: Estimate) -> str:
    """The kernel where the benchmark has the same metric of others; else empty."""
    declared = benchmarks.of(estimate.benchmark)
    kernels = next((each.kernels for each in declared.metrics if each.name == estimate.metric), ())
    return estimate.kernel if len(kernels or declared.kernels) > 1 else ""


def middle(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """For each figure of several nodes the estimate of the median node; other estimates unchanged."""
    groups = grouped(estimates, lambda e: (e.case, e.kernel, e.metric, e.state))
    return tuple(
        sorted(measured(members) or members, key=lambda e: e.median or 0.0)[len(measured(members) or members) // 2]
        for members in groups.values()
    )


def best(estimates: Iterable[Estimate]) -> Estimate | None:
    """The estimate with the best median, of those with ends if there are any; None if nothing was measured."""
    found = measured(estimates)
    candidates = [each for each in found if each.lo is not None] or found
    if not candidates:
        return None
    choose = max if candidates[0].better == "higher" else min
    return choose(candidates, key=lambda estimate: estimate.median or 0.0)
