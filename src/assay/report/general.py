"""The section of a benchmark without its own section: a curve if an axis is swept, else a plot by placement."""

from assay.model import benchmarks
from assay.model.result import Analysis, Estimate
from assay.model.text import joined, text
from assay.report import choose, figures, words
from assay.report.section import Figure, Headline, Section
from assay.report.vocabulary import known

order = 80


def section(name: str, analysis: Analysis) -> Section | None:
    """Section of benchmark `name`; None where the analysis has no estimate of it."""
    estimates = choose.of_benchmark(analysis, name)
    headline = choose.middle(choose.headline_metric(estimates))
    if not estimates:
        return None
    drawn = choose.measured(headline)
    best = choose.best(headline)
    return Section(
        id=name.replace("_", "-"),
        title=choose.title(name),
        meaning=(_meaning(name, headline),),
        figures=_figures(name, drawn) if drawn else (),
        estimates=headline,
        headlines=(Headline(_label(name, best, headline), best),) if best else (),
        benchmarks=frozenset({name}),
    )


def _label(name: str, best: Estimate, beside: tuple[Estimate, ...]) -> str:
    """What the best figure is of, and what tells it from those beside it."""
    told = choose.levels(best, choose.varied(beside))
    return joined(", ", (joined(": ", (choose.title(name), best.kernel)), told))


def _figures(name: str, drawn: tuple[Estimate, ...]) -> tuple[Figure, ...]:
    by_kernel = choose.grouped(drawn, lambda e: e.kernel)
    written = []
    for kernel, members in by_kernel.items():
        metric = known(members[0].metric)
        title = metric if len(by_kernel) == 1 else text("{metric} of {kernel}", metric=metric, kernel=kernel)
        figure_id = f"figure-{name}-{kernel}".replace("_", "-")
        draw = figures.curves if choose.swept(name) else figures.placements
        written.append(draw(members, figure_id, title))
    return tuple(written)


def _meaning(name: str, estimates: tuple[Estimate, ...]) -> str:
    measures = known(benchmarks.of(name).measures)
    told: list[str] = [text("This is {what}.", what=measures)] if measures else []
    best = choose.best(estimates)
    figure = words.shown(best)
    if best is None or not figure:
        told.append(text('Nothing could be measured. The section "What was not measured" lists the reasons.'))
        return joined(" ", told)
    told.append(
        text(
            "The best figure is {figure} ({kernel}, placement {where}).",
            figure=figure.full,
            kernel=best.kernel,
            where=words.placed(best),
        )
    )
    if choose.meaning(best):
        told.append(text("{metric} counts {what}.", metric=best.metric.capitalize(), what=choose.meaning(best)))
    return joined(" ", told)
