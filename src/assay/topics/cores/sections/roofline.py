"""Every kernel of the run under the roofs of its machine: measured peak, measured bandwidth of each level."""

from collections.abc import Iterable

from assay.model.law import Point
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.model.units import scale
from assay.report import formatting, selection
from assay.report.declared import Declared, Listing, Scene
from assay.report.fitted import Fitted
from assay.report.section import Figure, headings
from assay.topics.cores.models import roofline as models
from assay.topics.cores.models.roofline import Roofline
from assay.topics.cores.roofline_chart import Kernel, Roof, roofline


def _widest_first(scene: Scene) -> tuple[Fitted[Roofline], ...]:
    return tuple(sorted(scene.found, key=lambda each: -len(each.estimates[0].placement.cpus[0])))


def _roofs(scene: Scene) -> Iterable[tuple[str, ...]]:
    for each in _widest_first(scene):
        where, peak = _where(each), each.shown(each.model.peak)
        yield text("{where}: peak", where=where), peak.plain, peak.ends, ""
        for roof in _lowest_first(each):
            rate, ridge = each.shown(roof.bandwidth), each.shown(roof.ridge.scaled(1.0, ""))
            name = text("{where}: {level}", where=where, level=_named(roof.level))
            yield name, rate.plain, rate.ends, ridge.short


def _where(each: Fitted[Roofline]) -> str:
    label = each.estimates[0].placement.label
    return joined(", ", (label, each.state)) if each.state else label


def _named(level: str) -> str:
    return text("memory") if level == "memory" else level


def _lowest_first(each: Fitted[Roofline]) -> list[models.Roof]:
    return sorted(each.model.roofs, key=lambda roof: roof.bandwidth.value)


def _figure(each: Fitted[Roofline], number: int) -> Figure:
    peak = each.model.peak.value
    scaled, unit = scale(peak, "flop/s")
    factor = scaled / peak
    roofs = []
    for roof in _lowest_first(each):
        name = joined(" ", (_named(roof.level), formatting.quantity(roof.bandwidth.value, "B/s")))
        roofs.append(Roof(roof.level, factor * roof.bandwidth.value, roof.ridge.value, name))
    kernels = [_kernel(each, point, factor) for point in each.model.points if _drawn(each.estimate(point))]
    top = each.shown(each.model.peak)
    caption = text(
        "Roofline of “{where}”, both axes logarithmic: rate against flops per byte of memory traffic. The dark "
        "lines are measured: the peak in double precision and the bandwidth of each level. A dot marks each "
        "ridge point. Kernels are at their medians with their intervals. Other memory options are in the table "
        "only.",
        where=_where(each),
    )
    reached = [
        text(
            "{kernel} {figure} at {intensity}",
            kernel=kernel.label,
            figure=kernel.text,
            intensity=f"{kernel.intensity:.3g} flop/B",
        )
        for kernel in kernels
    ]
    result = joined("; ", (text("Peak {figure}", figure=top.full), *reached))
    spec = roofline(kernels, roofs, (scaled, text("peak {rate}", rate=formatting.quantity(peak, "flop/s"))), unit)
    return Figure(f"figure-roofline{f'-{number}' if number else ''}", caption, result, spec)


def _drawn(estimate: Estimate) -> bool:
    """Whether it used the default memory options: others are only in the table, as the chart has no room."""
    return estimate.placement.memory == "first-touch" and selection.is_usual(estimate, but=("stores", "size"))


def _kernel(each: Fitted[Roofline], point: Point, factor: float) -> Kernel:
    estimate, figure = each.estimate(point), each.figure(point)
    value, lo, hi = (factor * end for end in point.value)
    return Kernel(
        intensity=float(point.at["intensity"]),
        value=value,
        lo=lo,
        hi=hi,
        series=joined(", ", [estimate.benchmark, selection.levels(estimate, ["stores"])]),
        label=_name(estimate),
        text=figure.short,
        basis=figure.basis,
        share=_share(point),
    )


def _name(estimate: Estimate) -> str:
    """Return `triad`, `himeno L`: the kernel where a benchmark has several, else the benchmark and its size."""
    if len(estimate.declared.kernels) > 1:
        return estimate.kernel
    size = estimate.params.get("size", "")
    return f"{estimate.benchmark} {size}".strip()


def _setting(estimate: Estimate, *, whole: bool = False) -> str:
    """Its levels and memory; the whole has also the sizes that have no default."""
    declared, memory = estimate.declared, estimate.placement.memory
    levels = {name: value for name, value in estimate.params.items() if whole or name in declared.defaults}
    settings = formatting.params(levels, declared.units)
    return ", ".join(filter(None, [settings, "" if memory == "first-touch" else memory]))


def _kernels(scene: Scene) -> Iterable[tuple[str, ...]]:
    points = [(law, point) for law in _widest_first(scene) for point in law.model.points]
    names = [(_name(law.estimate(point)), _where(law), _setting(law.estimate(point))) for law, point in points]
    for (each, point), name in zip(points, names, strict=True):
        estimate, figure = each.estimate(point), each.figure(point)
        yield (
            joined(", ", name[:2]),
            _setting(estimate, whole=names.count(name) > 1),
            f"{float(point.at['intensity']):.3f}",
            figure.plain,
            figure.ends,
            figure.basis,
            _share(point),
        )


def _share(point: Point) -> str:
    return formatting.percent(point.ratio) if point.ratio is not None else ""


def _sentences(scene: Scene) -> str:
    found = _widest_first(scene)
    sentences: list[str] = []
    for each in found:
        peak, ridge = each.shown(each.model.peak), each.shown(each.model.roofs[0].ridge.scaled(1.0, ""))
        sentences.append(
            text(
                "The peak of “{where}” is {peak}; a kernel needs {ridge} flops per byte of memory traffic to "
                "reach it.",
                where=_where(each),
                peak=peak.full,
                ridge=ridge.short,
            )
        )
        sentences.append(_set_by(each))
    sentences += [_without_caches(each) for each in found if len(each.model.roofs) == 1]
    return joined(" ", sentences)


def _without_caches(each: Fitted[Roofline]) -> str:
    """Say why memory is the only roof."""
    return text(
        "No cache has a roof on “{where}”: memcpy, which measures the bandwidth of caches, runs on one core."
        if len(each.estimates[0].placement.cpus[0]) > 1
        else "No cache has a roof on “{where}”: no level of memcpy ends at the size of a cache.",
        where=_where(each),
    )


def _set_by(each: Fitted[Roofline]) -> str:
    """Name the measurement of the memory roof: the second estimate of the model."""
    found = next((estimate for estimate in each.estimates if estimate.id == each.model.of[1]), None)
    if found is None:
        return ""
    setting = _setting(found)
    return text(
        "The roof of memory is {kernel} ({setting})." if setting else "The roof of memory is {kernel}.",
        kernel=f"{found.benchmark} {found.kernel}",
        setting=setting,
    )


declared = Declared(
    order=46,
    id="roofline",
    title=text("Roofline"),
    introduction=text(
        "A kernel with few operations per byte runs at the speed of memory, a kernel with many runs at the "
        "speed of the arithmetic units. The ridge point separates them. Peak and bandwidths were measured on "
        "the same cpus, so a kernel can reach its roof. Something else limits a kernel far below its roof."
    ),
    law=Roofline,
    sentences=_sentences,
    charts=lambda scene: [_figure(each, number) for number, each in enumerate(_widest_first(scene))],
    shared_tables=(
        Listing(
            text(
                "Roofs: measured peak in double precision, measured bandwidth of each level, and their ridge "
                "points"
            ),
            headings("Roof", "Rate", "Interval", "Ridge (flop/B)"),
            _roofs,
            {1, 2, 3},
        ),
    ),
    page_tables=(
        Listing(
            text(
                "Kernels on the roofline: flops per byte, rate, and share of min(peak, intensity × memory "  # noqa: RUF001
                "bandwidth)"
            ),
            headings("Kernel", "Setting", "flop/B", "Rate", "Interval", "Basis", "Of its roof"),
            _kernels,
            {2, 3, 4, 6},
            short=text("Kernels on the roofline"),
        ),
    ),
    listed=False,
)
