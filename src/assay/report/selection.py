"""Order and groups of estimates in the report, from declarations of benchmarks."""

from collections.abc import Iterable

from assay.model import grouping
from assay.model.declaration import Declaration
from assay.model.result import Analysis, Estimate
from assay.model.role_words import USUAL_AXES
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import format_size
from assay.report.vocabulary import known

#: See `assay.model.grouping`.
grouped = grouping.grouped
#: Names of imported axes whose level needs no name: `same socket`, not `same socket where`.
_ASKING = frozenset({"where", "which", "what"})
#: A size in bytes needs no name; another axis in bytes does.
_SIZE = USUAL_AXES["message-size"]


def title(declared: Declaration) -> str:
    """Return the heading of a benchmark."""
    return known(declared.title)


def named(run: Run, estimate: Estimate) -> str:
    """Return the title of an estimate's benchmark, with the metric if no section can place it."""
    program = estimate.measurand.program if run.imported else estimate.benchmark
    if program == estimate.benchmark:
        return title(estimate.declared)
    metric, declared = known(estimate.metric), run.plan.declared(program)
    if declared.is_known:
        return text("{program}: {metric}", program=title(declared), metric=metric)
    tool = estimate.printed.tool if estimate.printed else program
    name = text("{program}: {metric}", program=tool, metric=metric)
    return name if program.casefold() in tool.casefold() else joined(", ", (name, program))


def axis_meaning(declared: Declaration, axis: str) -> str:
    """Return the meaning of an axis in a few words."""
    return next((known(each.title) for each in declared.axes if each.name == axis), axis)


def meaning(estimate: Estimate) -> str:
    """Return the meaning of the estimate's metric."""
    metrics = estimate.declared.metrics
    return next((known(metric.meaning) for metric in metrics if metric.name == estimate.metric), "")


def measure(estimate: Estimate) -> str:
    """Return the kernel and the metric for the beginning of a title: `Triad bandwidth`, `HPL: rate`."""
    if estimate.kernel == estimate.metric:
        return text("{kernel}: {metric}", kernel=title(estimate.declared), metric=known(estimate.metric))
    return text("{kernel} {metric}", kernel=estimate.kernel.capitalize(), metric=known(estimate.metric))


def of_benchmark(analysis: Analysis, name: str) -> tuple[Estimate, ...]:
    """Return all estimates of a benchmark."""
    return tuple(estimate for estimate in analysis.estimates if estimate.benchmark == name)


def measured(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """Return the estimates that have a figure."""
    return tuple(estimate for estimate in estimates if estimate.median is not None)


def headline_metric(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """Return the estimates of the first metric of their kernel; if none is declared, of the first estimate's."""
    estimates = tuple(estimates)
    own = [estimate for estimate in estimates if _first_metric(estimate, estimate) == estimate.metric]
    first = min(own, key=_place, default=None)
    return tuple(e for e in estimates if first and e.metric == _first_metric(e, first))


def _place(estimate: Estimate) -> int:
    """The place of its metric among those of its benchmark."""
    names = [metric.name for metric in estimate.declared.metrics]
    return names.index(estimate.metric) if estimate.metric in names else len(names)


def _first_metric(estimate: Estimate, first: Estimate) -> str:
    return estimate.declared.headline_name(estimate.kernel, estimate.params, first.metric)


def headline_kernel(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """Return the estimates of the main kernel: that of the first metric, else the last one, such as triad."""
    estimates = tuple(estimates)
    main = estimates[0].declared.main_kernel or estimates[-1].kernel if estimates else ""
    return tuple(estimate for estimate in estimates if estimate.kernel == main)


def varied(estimates: Iterable[Estimate]) -> tuple[str, ...]:
    """Return the axes and factors that differ among the estimates.

    Sizes that follow from the placement do not count, unless one placement has several of them.
    """
    estimates = tuple(estimates)
    if not estimates:
        return ()
    derived = estimates[0].declared.derived

    def settings(estimate: Estimate) -> tuple[object, ...]:
        others = tuple((name, value) for name, value in estimate.params.items() if name not in derived)
        place = estimate.placement
        return place.label, place.hosts, place.memory, others, tuple(estimate.factors.items())

    same_settings = grouped(estimates, settings).values()

    def differs(name: str) -> bool:
        among = same_settings if name in derived else (estimates,)
        return any(len({level(estimate, name) for estimate in members}) > 1 for members in among)

    names = dict.fromkeys(name for estimate in estimates for name in [*estimate.params, *estimate.factors])
    return tuple(filter(differs, names))


def level(estimate: Estimate, name: str) -> str:
    """Return the estimate's value on an axis, or its level of a factor."""
    return str(estimate.factors.get(name, estimate.params.get(name, "")))


def series(estimate: Estimate, names: Iterable[str]) -> str:
    """Return the name of its series: its `levels` and the state of the machine."""
    return joined(", ", [levels(estimate, names), state(estimate)])


def state(estimate: Estimate) -> str:
    """Return its machine state, e.g. `near cores`; empty if one estimate covers all states."""
    return known(f"{estimate.state} cores") if estimate.state else ""


def levels(estimate: Estimate, names: Iterable[str]) -> str:
    """Return levels in words, e.g. `ordinary stores`: of the first name, and of others if not the default."""
    usual, unit = estimate.declared.defaults, estimate.declared.units
    worded = {axis.name: axis.words for axis in estimate.declared.axes}
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
    usual = estimate.declared.defaults
    params = {axis: estimate.params.get(axis, usual.get(axis))} if axis else estimate.params
    return all(value == usual.get(name, value) for name, value in params.items() if name not in set(but))


def chosen(estimate: Estimate, among: Iterable[Estimate]) -> tuple[str, ...]:
    """Return the axes whose word is not the default and differs among these, in the same metric."""
    same_metric = [each for each in among if (each.kernel, each.metric) == (estimate.kernel, estimate.metric)]
    axes = (axis for axis in estimate.declared.axes if not (axis.named or axis.unit))
    words = (a.name for a in axes if isinstance(level := estimate.params.get(a.name), str) and level != a.default)
    return tuple(name for name in words if len({each.params.get(name) for each in same_metric}) > 1)


def kernel_among_several(estimate: Estimate) -> str:
    """Return the kernel if the benchmark has several with this metric; else empty."""
    declared = estimate.declared
    kernels = next((each.kernels for each in declared.metrics if each.name == estimate.metric), ())
    return estimate.kernel if len(kernels or declared.kernels) > 1 else ""


def middle(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """Return for each figure of several nodes the estimate of the median node; other estimates unchanged."""
    groups = grouped(estimates, lambda e: (e.case, e.kernel, e.metric, e.state))
    ordered = (slowest_first(measured(members) or members) for members in groups.values())
    return tuple(members[len(members) // 2] for members in ordered)


def slowest_first(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """Return estimates of one metric from the worst median to the best."""
    return tuple(sorted(estimates, key=lambda each: each.merit))


def best(estimates: Iterable[Estimate]) -> Estimate | None:
    """Return the estimate with the best median, of those with ends if there are any; None without figures.

    One above its ceiling is taken only if there is no other.
    """
    found = measured(estimates)
    candidates = [each for each in found if each.lo is not None] or found
    return max(candidates, key=lambda each: each.rank, default=None)
