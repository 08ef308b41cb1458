"""The section of a benchmark without its own section: a curve if an axis is swept, else a plot by placement."""

from collections.abc import Iterator

from assay.model import places
from assay.model.declaration import Declaration
from assay.model.imported import UNSTATED
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, selection
from assay.report.declared import Declared, Scene
from assay.report.section import Figure, Headline
from assay.report.vocabulary import known

_ORDER = 80


def declared(name: str, title: str) -> Declared:
    """Return the general section of benchmark `name`."""
    return Declared(
        order=_ORDER,
        id=name.replace("_", "-"),
        title=title,
        benchmark=name,
        applies=lambda _scene: True,
        sentences=lambda scene: _sentences(scene.run.plan.declared(name), scene.best),
        charts=_charts,
        headlines=_headlines,
    )


def _headlines(scene: Scene) -> tuple[Headline, ...]:
    """The best figure with its place, and with levels that vary and differ from their defaults."""
    best = scene.best
    if best is None:
        return ()
    defaults = best.declared.defaults
    names = [name for name in selection.varied(scene.estimates) if best.params.get(name, "") != defaults.get(name)]
    label = joined(", ", (selection.named(scene.run, best), selection.levels(best, names)))
    where = best.placement.label
    return (Headline(label, best, "" if where == UNSTATED else places.cores(where)),)


def _charts(scene: Scene) -> Iterator[Figure]:
    by_kernel = selection.grouped(scene.measured, lambda e: e.kernel)
    for kernel, members in by_kernel.items():
        metric, name = known(members[0].metric), members[0].benchmark
        title = metric if len(by_kernel) == 1 else text("{metric} of {kernel}", metric=metric, kernel=kernel)
        draw = figures.curves if members[0].declared.swept else figures.placements
        yield draw(members, f"figure-{name}-{kernel}".replace("_", "-"), title)


def _sentences(declared: Declaration, best: Estimate | None) -> str:
    """What the benchmark measures, and the best figure."""
    measures = known(declared.measures)
    sentences: list[str] = [text("This is {what}.", what=measures)] if measures else []
    figure = formatting.shown(best)
    if best is None or not figure:
        sentences.append(text('Nothing could be measured. The section "What was not measured" lists the reasons.'))
        return joined(" ", sentences)
    sentences.append(
        text(
            "The best figure is {figure} ({kernel}, placement {where}).",
            figure=figure.full,
            kernel=best.kernel,
            where=formatting.placed(best),
        )
    )
    if selection.meaning(best):
        sentences.append(
            text("{metric} counts {what}.", metric=best.metric.capitalize(), what=selection.meaning(best))
        )
    return joined(" ", sentences)
