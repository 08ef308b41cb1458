"""The stencil, and the ledger: what other measurements said that it would do, and what it did."""

from collections.abc import Iterable

from assay.model.law import Prediction
from assay.model.text import joined, text
from assay.model.units import scale
from assay.report import choose, figures, words
from assay.report.charts.intervals import Point, intervals
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Headline, headings
from assay.report.vocabulary import known as known_word
from assay.topics.memory.sections import touch


def _charts(scene: Scene) -> Iterable[Figure]:
    elsewhere = {e.id for members in touch.groups(scene.analysis).values() for e in members}
    if not {e.id for e in scene.measured} <= elsewhere:
        yield figures.placements(scene.measured, "figure-himeno", text("Rate of the stencil"))
    if scene.cached(_ledger):
        yield _figure(scene)


def _ledger(scene: Scene) -> tuple[Prediction, ...]:
    shown = {e.id for e in choose.middle(scene.analysis.estimates)}
    return tuple(line for line in scene.analysis.predictions if line.measured in shown)


def _row(line: Prediction, scene: Scene) -> str:
    """What was predicted: `himeno L, all`."""
    e = next(each for each in scene.analysis.estimates if each.id == line.measured)
    name = f"{e.benchmark} {e.params.get('size', '')}".strip()
    touched = "" if choose.is_usual(e, "touch") else known_word(f"{e.params['touch']} touch")
    return joined(", ", [name, words.placed(e), touched, choose.state(e)])


def _error(line: Prediction) -> str:
    return _signed(line.error) if line.error else text("inside")


def _signed(share: float) -> str:
    return f"{100 * share:+z.1f} %"


def _rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    ledger = scene.cached(_ledger)
    told = any(state for line in ledger for state in line.states)
    for line in ledger:
        # Of what predicts, then of the predicted: `near and far, any`.
        *sources, predicted = (known_word(state) if state else text("any") for state in line.states)
        yield (
            _row(line, scene),
            words.interval(line.predicted, "").short,
            words.interval(line.value, "").short,
            _signed(line.deviation),
            _error(line),
            joined(", ", (words.listed(sources), predicted)) if told else "",
        )


def _figure(scene: Scene) -> Figure:
    ledger = scene.cached(_ledger)
    largest = max(line.predicted.hi for line in ledger)
    scaled, unit = scale(largest, ledger[0].predicted.unit)
    factor = scaled / largest
    rows = []
    for line in ledger:
        value, lo, hi = (factor * end for end in line.value)
        plain = words.interval(line.value, "").plain
        told = text(
            "{figure}, inside the band, {deviation} from its middle"
            if not line.error
            else "{figure}, {error} from the band, {deviation} from its middle",
            figure=plain,
            error=_error(line),
            deviation=_signed(line.deviation),
        )
        band = factor * line.predicted.lo, factor * line.predicted.hi
        rows.append(
            Point(
                row=_row(line, scene),
                series=text("measured"),
                value=value,
                lo=lo,
                hi=hi,
                limit=None,
                text=told,
                short=plain,
                basis=line.derivation,
                limit_text=words.ends(*band),
                band=band,
            )
        )
    caption = text(
        "Predictions: the grey band is the prediction from other measurements, the point is the measured figure "
        "with its interval or range."
    )
    result = [
        text(
            "{row}: predicted {low} to {high}, measured {figure}",
            row=row.row,
            low=f"{row.band[0]:.3g}",
            high=f"{row.band[1]:.3g} {unit}",
            figure=row.text,
        )
        for row in rows
        if row.band
    ]
    spec = intervals(rows, text("rate ({unit})", unit=unit), text("predicted"))
    return Figure("figure-ledger", caption, joined("; ", result), spec)


def _sentences(scene: Scene) -> str:
    ledger = scene.cached(_ledger)
    if not scene.measured:
        return text("It could not be measured.")
    if not ledger:
        return text(
            "There is no prediction: bandwidth was not measured at the same placement, or the grid fits the "
            "caches."
        )
    worst = max(ledger, key=lambda line: abs(line.error))
    said = (
        text(
            "{inside} of {count} prediction holds.|{inside} of {count} predictions hold.",
            inside=sum(not line.error for line in ledger),
            count=len(ledger),
        ),
        text(
            "The largest error is {error} outside the band ({what}).", error=_error(worst), what=_row(worst, scene)
        )
        if worst.error
        else "",
        text(
            "Measured figures deviate by up to {farthest} from the middle of the prediction; its half-width is "
            "at most {widest}.",
            farthest=words.percent(max(abs(line.deviation) for line in ledger)),
            widest=words.percent(max(line.half_width for line in ledger)),
        ),
        words.sentence(ledger[0].derivation),
    )
    return joined(" ", said)


def _headlines(scene: Scene) -> Iterable[Headline]:
    if scene.best:
        where = joined(" · ", [words.cores(scene.best.placement.label), words.memory(scene.best)])
        yield Headline(text("Stencil, {where}", where=where), scene.best)


declared = Declared(
    order=50,
    id="himeno",
    introduction=text(
        "A Jacobi sweep over a three-dimensional grid does 34 operations per point and uses 14 arrays, as "
        "weather, flow and heat codes do. It has few operations per byte, so memory bandwidth predicts its "
        "rate. The band comes from other measurements only."
    ),
    benchmark="himeno",
    sentences=_sentences,
    charts=_charts,
    shared_tables=(
        Listing(
            text(
                "Predictions: the middle (and the ends) of the predicted interval, the measured figure, its "
                "deviation from the middle, and from the nearest end if it is outside"
            ),
            headings(
                "Prediction",
                "Predicted",
                "Measured",
                "From the middle",
                "From the nearest end",
                "States: predicting, predicted",
            ),
            _rows,
            {1, 2, 3, 4},
            optional={5},
        ),
    ),
    headlines=_headlines,
)
