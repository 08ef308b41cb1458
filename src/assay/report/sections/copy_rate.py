"""The curve of memcpy: hot and cold, with the caches of the machine marked."""

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import format_size
from assay.report import choose, figures, words
from assay.report.charts.curve import Boundary, Guides
from assay.report.section import Headline, Section, Table

order = 30
claims = frozenset({"memcpy"})

_WHY = text(
    "A copy inside one node, such as a message between two processes on it, can be no faster than this curve "
    "for its size. Hot copies reuse one source and one target, which stay in cache while they fit; cold ones "
    "always meet new memory."
)


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where no copies were planned."""
    estimates = choose.middle(choose.headline_metric(choose.of_benchmark(analysis, "memcpy")))
    if not estimates:
        return None
    measured = choose.measured(estimates)
    powers = tuple(e for e in measured if not e.params.get("offset"))
    boundaries = _boundaries(run, powers)
    drawn = [figures.curves(powers, "figure-memcpy", text("Copy rate"), Guides(boundaries))] if powers else []
    hot = tuple(e for e in measured if choose.is_usual(e, but=("bytes", "offset")))
    if any(e.params.get("offset") for e in hot):
        title = text("Hot copy rate of powers of two and of sizes beside them")
        drawn.append(figures.curves(hot, "figure-memcpy-offset", title, Guides(boundaries), _beside))
    return Section(
        id="copy-rate",
        title=choose.title("memcpy"),
        meaning=_meaning(powers, boundaries),
        figures=tuple(drawn),
        estimates=estimates,
        headlines=_headlines(powers),
        benchmarks=claims,
    )


def tables(_run: Run, _analysis: Analysis) -> tuple[Table, ...]:
    """None: a terminal lists the best sizes."""
    return ()


def _beside(estimate: Estimate) -> str:
    offset = int(estimate.params.get("offset", 0))
    return f"{offset:+d} B" if offset else text("powers of two")


def _by_buffers(estimates: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    return choose.grouped(estimates, lambda e: choose.level(e, "buffers"))


def _rate(estimate: Estimate) -> str:
    figure, state = words.shown(estimate), choose.state(estimate)
    told = text("{figure} at {size}", figure=figure.full if figure else "", size=_size(estimate))
    return text("{value} ({basis})", value=told, basis=state) if state else told


def _headlines(estimates: tuple[Estimate, ...]) -> tuple[Headline, ...]:
    lines = []
    for buffers, members in _by_buffers(estimates).items():
        best = choose.best(members)
        if best:
            lines.append(
                Headline(
                    text("Copy rate, {buffers} buffers, best size ({size})", buffers=buffers, size=_size(best)),
                    best,
                )
            )
    return tuple(lines)


def _size(estimate: Estimate) -> str:
    return words.param(estimate.params["bytes"], "B")


def _boundaries(run: Run, estimates: tuple[Estimate, ...]) -> tuple[Boundary, ...]:
    """Block size at which source and target together fill each data cache of the core that copied."""
    machine = next(iter(run.machines.values()), None)
    if machine is None or not estimates:
        return ()
    cpu = estimates[0].placement.cpus[0][0]
    largest = max(float(e.params["bytes"]) for e in estimates)
    sizes = {
        cache.level: cache.size_bytes / 2
        for cache in machine.topology.caches
        if cache.kind != "instruction" and cpu in cache.cpus and cache.size_bytes
    }
    return tuple(
        Boundary(size, f"½ L{level} = {format_size(size)}", f"½ L{level}")
        for level, size in sorted(sizes.items())
        if size < largest
    )


def _meaning(estimates: tuple[Estimate, ...], boundaries: tuple[Boundary, ...]) -> tuple[str, ...]:
    if not estimates:
        return (text("No copies could be measured; the reasons are listed under what was not measured."),)
    said = [_WHY]
    for buffers, members in _by_buffers(estimates).items():
        largest = max(float(e.params["bytes"]) for e in members)
        best, last = choose.best(members), choose.best(e for e in members if float(e.params["bytes"]) == largest)
        said += (
            [text("With {buffers} buffers the best rate is {rate}.", buffers=buffers, rate=_rate(best))]
            if best
            else []
        )
        said += [text("The largest blocks get {rate}.", rate=_rate(last))] if last else []
    if boundaries:
        said.append(
            text(
                "The broken upright lines mark the block size at which source and target together fill a cache: "
                "{caches}.",
                caches=words.listed(boundary.label for boundary in boundaries),
            )
        )
    return (joined(" ", said),)
