"""Every kernel of the run under the roofs of its machine: measured peak, measured bandwidth of each level."""

from assay.model.result import Analysis, Estimate, Point
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import scale
from assay.report import choose, fitted, words
from assay.report.charts.roofline import Kernel, Roof, roofline
from assay.report.fitted import Fitted
from assay.report.section import Figure, Section, Table, headings

order = 45
claims: frozenset[str] = frozenset()

LAW = "roofline"
_BANDWIDTH = "bandwidth "

_WHY = text(
    "A kernel that does few operations on each byte runs at the speed of memory, one that does many at the speed "
    "of the arithmetic units; the ridge is where one turns into the other. Peak and bandwidths are those "
    "measured here on the same cpus, so a kernel can stand on its roof, and one that stands well below it is "
    "held back by something else."
)


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where peak and bandwidth were not both measured on the same cpus."""
    found = _widest_first(fitted.fitted(analysis, LAW))
    if not found:
        return None
    return Section(
        id="roofline",
        title=text("Roofline"),
        meaning=(joined(" ", (_WHY, _meaning(found))),),
        figures=tuple(_figure(each, number) for number, each in enumerate(found)),
        tables=(*tables(run, analysis), _kernels(found)),
        rules=frozenset({"roofline"}),
    )


def tables(_run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """Each roof: its bandwidth, and the flops a byte at which it meets the peak."""
    rows: list[tuple[str, ...]] = []
    for each in _widest_first(fitted.fitted(analysis, LAW)):
        where = _where(each)
        peak = each.shown("peak", "flop/s")
        rows.append((text("{where}: peak", where=where), f"{peak.value} {peak.unit}", peak.ends, ""))
        for level in _levels(each):
            rate, ridge = each.shown(f"{_BANDWIDTH}{level}", "B/s"), each.shown(f"ridge {level}", "")
            rows.append(
                (
                    text("{where}: {level}", where=where, level=_named(level)),
                    f"{rate.value} {rate.unit}",
                    rate.ends,
                    ridge.short,
                )
            )
    caption = text(
        "Roofs: measured peak in double precision, measured bandwidth of each level, and where they meet"
    )
    columns = headings("Roof", "Rate", "Interval", "Ridge (flop/B)")
    return (Table(caption, columns, tuple(rows), frozenset({1, 2, 3})),) if rows else ()


def _widest_first(found: tuple[Fitted, ...]) -> tuple[Fitted, ...]:
    return tuple(sorted(found, key=lambda each: -len(each.estimates[0].placement.cpus[0])))


def _where(each: Fitted) -> str:
    label = each.estimates[0].placement.label
    return joined(", ", (label, each.state)) if each.state else label


def _named(level: str) -> str:
    return text("memory") if level == "memory" else level


def _levels(each: Fitted) -> list[str]:
    names = [name.removeprefix(_BANDWIDTH) for name in each.model.parameters if name.startswith(_BANDWIDTH)]
    return sorted(names, key=lambda name: each.model.parameters[_BANDWIDTH + name][0])


def _figure(each: Fitted, number: int) -> Figure:
    peak = each.model.parameters["peak"][0]
    scaled, unit = scale(peak, "flop/s")
    factor = scaled / peak
    roofs = [
        Roof(
            level,
            factor * each.model.parameters[_BANDWIDTH + level][0],
            each.model.parameters[f"ridge {level}"][0],
            joined(" ", (_named(level), words.quantity(each.model.parameters[_BANDWIDTH + level][0], "B/s"))),
        )
        for level in _levels(each)
    ]
    kernels = [_kernel(each, point, factor) for point in each.model.points if _drawn(each.estimate(point))]
    top = each.shown("peak", "flop/s")
    caption = text(
        "Roofline of “{where}”, both axes logarithmic: rate against flops per byte that memory must move. Red "
        "lines are measured: the peak in double precision and the bandwidth of each level; a dot marks each "
        "ridge. Kernels stand at their medians with their intervals; other ways of touching memory are in the "
        "table alone.",
        where=_where(each),
    )
    result = joined(
        "; ",
        (
            text("Peak {figure}", figure=top.full),
            *(
                text(
                    "{kernel} {figure} at {intensity}",
                    kernel=kernel.label,
                    figure=kernel.text,
                    intensity=f"{kernel.intensity:.3g} flop/B",
                )
                for kernel in kernels
            ),
        ),
    )
    spec = roofline(kernels, roofs, (scaled, text("peak {rate}", rate=words.quantity(peak, "flop/s"))), unit)
    return Figure(f"figure-roofline{f'-{number}' if number else ''}", caption, result, spec)


def _drawn(estimate: Estimate) -> bool:
    """Whether memory was touched and dealt in the usual way: others crowd the figure and stand in the table."""
    return estimate.placement.memory == "first-touch" and choose.is_usual(estimate, but=("stores", "size"))


def _kernel(each: Fitted, point: Point, factor: float) -> Kernel:
    estimate = each.estimate(point)
    value, lo, hi = point.value
    figure = words.interval(value, (lo, hi), "flop/s", words.basis(estimate))
    return Kernel(
        intensity=float(point.at["intensity"]),
        value=factor * value,
        lo=factor * lo,
        hi=factor * hi,
        series=joined(", ", [estimate.benchmark, choose.levels(estimate, ["stores"])]),
        label=_name(estimate),
        text=figure.short,
        basis=figure.basis,
        share=words.percent(point.ratio) if point.ratio is not None else "",
    )


def _name(estimate: Estimate) -> str:
    """`triad`, `himeno L`: the kernel where a benchmark has several, else the benchmark and what it was run at."""
    declared = choose.declaration(estimate.benchmark)
    if declared and len(declared.kernels) > 1:
        return estimate.kernel
    size = estimate.params.get("size", "")
    return f"{estimate.benchmark} {size}".strip()


def _setting(estimate: Estimate) -> str:
    units = choose.units(estimate.benchmark)
    declared = choose.declaration(estimate.benchmark)
    chosen = {axis.name for axis in declared.axes if axis.default is not None} if declared else set()
    levels = {name: value for name, value in estimate.params.items() if name in chosen}
    memory = estimate.placement.memory
    return ", ".join(filter(None, [words.params(levels, units), "" if memory == "first-touch" else memory]))


def _kernels(found: tuple[Fitted, ...]) -> Table:
    rows = []
    for each in found:
        for point in each.model.points:
            estimate = each.estimate(point)
            value, lo, hi = point.value
            figure = words.interval(value, (lo, hi), "flop/s", words.basis(estimate))
            share = words.percent(point.ratio) if point.ratio is not None else ""
            name = joined(", ", (_name(estimate), _where(each)))
            intensity = f"{float(point.at['intensity']):.3f}"
            rate = f"{figure.value} {figure.unit}"
            rows.append((name, _setting(estimate), intensity, rate, figure.ends, figure.basis, share))
    columns = headings("Kernel", "Setting", "flop/B", "Rate", "Interval", "Basis", "Of its roof")
    caption = text(
        "Kernels on the roofline: flops per byte, rate, and share of min(peak, intensity × memory bandwidth)"  # noqa: RUF001
    )
    short = text("Kernels on the roofline")
    return Table(caption, columns, tuple(rows), frozenset({2, 3, 4, 6}), short=short)


def _meaning(found: tuple[Fitted, ...]) -> str:
    told: list[str] = []
    for each in found:
        peak, ridge = each.shown("peak", "flop/s"), each.shown("ridge memory", "")
        told.append(
            text(
                "“{where}” peaks at {peak} and needs {ridge} flops for each byte of memory traffic to get there.",
                where=_where(each),
                peak=peak.full,
                ridge=ridge.short,
            )
        )
        told.append(_set_by(each))
    told += [_without_caches(each) for each in found if _levels(each) == ["memory"]]
    return joined(" ", told)


def _without_caches(each: Fitted) -> str:
    """Why there is no roof but that of memory."""
    if len(each.estimates[0].placement.cpus[0]) > 1:
        return text(
            "On “{where}” no cache has a roof: memcpy, whose levels show the bandwidth of caches, runs on one "
            "core.",
            where=_where(each),
        )
    return text("On “{where}” no cache has a roof: no level of memcpy ends at one.", where=_where(each))


def _set_by(each: Fitted) -> str:
    """Which measurement is the roof of memory: the second that the law was fitted to."""
    found = next((estimate for estimate in each.estimates if estimate.id == each.model.of[1]), None)
    if found is None:
        return ""
    kernel, setting = f"{found.benchmark} {found.kernel}", _setting(found)
    if not setting:
        return text("The roof of memory is {kernel}.", kernel=kernel)
    return text("The roof of memory is {kernel} ({setting}).", kernel=kernel, setting=setting)
