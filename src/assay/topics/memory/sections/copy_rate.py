"""The curve of memcpy: hot and cold, with the caches of the machine marked."""

from collections.abc import Iterable

from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.model.units import format_size
from assay.report import figures, formatting, messages, selection
from assay.report.charts.curve import Boundary, Guides
from assay.report.declared import Declared, Scene
from assay.report.section import Figure, Headline


def _charts(scene: Scene) -> Iterable[Figure]:
    powers, guides = messages.aligned(scene.measured), Guides(_boundaries(scene))
    if powers:
        yield figures.curves(powers, "figure-memcpy", text("Copy rate"), guides)
    hot = tuple(e for e in scene.measured if selection.is_usual(e, but=("bytes", "offset")))
    if any(e.params.get("offset") for e in hot):
        title = text("Hot copy rate at powers of two and at neighbouring sizes")
        yield figures.curves(hot, "figure-memcpy-offset", title, guides, _offset)


def _offset(estimate: Estimate) -> str:
    offset = int(estimate.params.get("offset", 0))
    return f"{offset:+d} B" if offset else text("powers of two")


def _by_buffers(estimates: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    return selection.grouped(estimates, lambda e: selection.level(e, "buffers"))


def _rate(estimate: Estimate) -> str:
    state = selection.state(estimate)
    figure = text("{figure} at {size}", figure=formatting.shown(estimate).full, size=_size(estimate))
    return text("{value} ({basis})", value=figure, basis=state) if state else figure


def _headlines(scene: Scene) -> Iterable[Headline]:
    for buffers, members in _by_buffers(messages.aligned(scene.measured)).items():
        best = selection.best(members)
        if best:
            label = text("Copy rate, {buffers} buffers, best size ({size})", buffers=buffers, size=_size(best))
            yield Headline(label, best)


def _size(estimate: Estimate) -> str:
    return formatting.param(estimate.params["bytes"], "B")


def _boundaries(scene: Scene) -> tuple[Boundary, ...]:
    """Mark the block size at which source and target together fill each data cache of the core that copied."""
    estimates, machine = messages.aligned(scene.measured), next(iter(scene.run.machines.values()), None)
    if machine is None or not estimates:
        return ()
    largest = max(float(e.params["bytes"]) for e in estimates)
    caches = machine.topology.data_caches(estimates[0].placement.cpus[0][:1])
    sizes = {cache.level: cache.size_bytes / 2 for cache in caches if cache.size_bytes}
    return tuple(
        Boundary(size, f"½ L{level} = {format_size(size)}", f"½ L{level}")
        for level, size in sorted(sizes.items())
        if size < largest
    )


def _sentences(scene: Scene) -> str:
    powers, boundaries = messages.aligned(scene.measured), _boundaries(scene)
    if not powers:
        return text('No copy could be measured. The section "What was not measured" lists the reasons.')
    sentences: list[str] = []
    for buffers, members in _by_buffers(powers).items():
        largest = max(float(e.params["bytes"]) for e in members)
        best = selection.best(members)
        last = selection.best(e for e in members if float(e.params["bytes"]) == largest)
        if best and last:
            sentences += [
                text("With {buffers} buffers the best rate is {rate}.", buffers=buffers, rate=_rate(best)),
                text("The largest blocks get {rate}.", rate=_rate(last)),
            ]
    if boundaries:
        sentences.append(
            text(
                "The dashed vertical lines mark the block size at which source and target together fill a "
                "cache: {caches}.",
                caches=formatting.listed(boundary.label for boundary in boundaries),
            )
        )
    return joined(" ", sentences)


declared = Declared(
    order=30,
    id="copy-rate",
    introduction=text(
        "A copy inside a node, such as a message between two processes, cannot be faster than this curve at its "
        "size. Hot copies reuse one source and one target, which stay in cache if they fit. Cold copies always "
        "use new memory."
    ),
    benchmark="memcpy",
    sentences=_sentences,
    charts=_charts,
    headlines=_headlines,
)
