"""The stencil, and the ledger: what other measurements said that it would do, and what it did."""

from assay.model.result import Analysis, Estimate, Prediction
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import scale
from assay.report import choose, figures, words
from assay.report.charts.banded import Banded, banded
from assay.report.section import Figure, Headline, Section, Table, headings
from assay.report.sections import touch
from assay.report.vocabulary import known as known_word

order = 50
claims = frozenset({"himeno"})

_WHY = text(
    "A Jacobi sweep over a three-dimensional grid does 34 operations a point and moves 14 arrays, as weather, "
    "flow and heat codes do. It has few operations for each byte, so memory bandwidth predicts it: the band was "
    "computed from other measurements alone."
)


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where the stencil was not planned."""
    estimates = choose.middle(choose.headline_metric(choose.of_benchmark(analysis, "himeno")))
    if not estimates:
        return None
    measured = choose.measured(estimates)
    known = {e.id: e for e in analysis.estimates}
    ledger = _ledger(analysis)
    best = choose.best(measured)
    elsewhere = {e.id for members in touch.groups(analysis).values() for e in members}
    apart = measured and not {e.id for e in measured} <= elsewhere
    drawn = [figures.placements(measured, "figure-himeno", text("Rate of the stencil"))] if apart else []
    drawn += [_figure(ledger, known)] if ledger else []
    return Section(
        id="himeno",
        title=choose.title("himeno"),
        meaning=(
            joined(" ", (_WHY, _meaning(ledger, known)))
            if measured
            else joined(" ", (_WHY, text("It could not be measured."))),
        ),
        figures=tuple(drawn),
        tables=tables(run, analysis),
        estimates=estimates,
        headlines=(Headline(text("Stencil, {where}", where=_where(best)), best),) if best else (),
        benchmarks=claims,
    )


def _where(best: Estimate) -> str:
    """The placement for a reader who knows no words for it, and the memory policy."""
    return joined(" · ", [words.cores(best.placement.label), words.memory(best)])


def tables(_run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """The ledger of predictions."""
    known = {e.id: e for e in analysis.estimates}
    ledger = _ledger(analysis)
    told = any(state for line in ledger for state in line.states)
    rows = tuple(
        (
            _row(line, known),
            words.interval(line.middle, (line.lower, line.upper), line.unit, "").short,
            words.interval(line.value[0], (line.value[1], line.value[2]), line.unit, "").short,
            _signed(line.deviation),
            _error(line),
            *((_states(line),) if told else ()),
        )
        for line in ledger
    )
    caption = text(
        "Prediction ledger: the middle (and the ends) of what other measurements predicted, what was measured, "
        "and how far that lies from the middle, and from the nearest end where it is outside"
    )
    columns = headings("Prediction", "Predicted", "Measured", "From the middle", "From the nearest end")
    columns += headings("States: predicting, predicted") if told else ()
    return (Table(caption, columns, rows, frozenset({1, 2, 3, 4})),) if rows else ()


def _ledger(analysis: Analysis) -> tuple[Prediction, ...]:
    shown = {e.id for e in choose.middle(analysis.estimates)}
    return tuple(line for line in analysis.predictions if line.measured in shown)


def _row(line: Prediction, known: dict[str, Estimate]) -> str:
    """What was predicted: `himeno L, all`."""
    e = known[line.measured]
    name = f"{e.benchmark} {e.params.get('size', '')}".strip()
    touched = "" if choose.is_usual(e, "touch") else known_word(f"{e.params['touch']} touch")
    return joined(", ", [name, words.placed(e), touched, choose.state(e)])


def _error(line: Prediction) -> str:
    if line.error == 0:
        return text("inside")
    return _signed(line.error)


def _signed(share: float) -> str:
    return f"{100 * share:+z.1f} %"


def _states(line: Prediction) -> str:
    """States of what predicts, then of the predicted: `near and far, any`; `any` where none counts."""
    *sources, predicted = (known_word(state) if state else text("any") for state in line.states)
    return joined(", ", (words.listed(sources), predicted))


def _figure(ledger: tuple[Prediction, ...], known: dict[str, Estimate]) -> Figure:
    largest = max(line.upper for line in ledger)
    scaled, unit = scale(largest, ledger[0].unit)
    factor = scaled / largest
    rows = []
    for line in ledger:
        value, lo, hi = (factor * end for end in line.value)
        figure = words.interval(line.value[0], (line.value[1], line.value[2]), line.unit, "")
        plain = f"{figure.value} {figure.unit}"
        told = text(
            "{figure}, inside the band, {deviation} from its middle"
            if line.error == 0
            else "{figure}, {error} from the band, {deviation} from its middle",
            figure=plain,
            error=_error(line),
            deviation=_signed(line.deviation),
        )
        rows.append(
            Banded(
                _row(line, known), text("measured"), value, lo, hi, factor * line.lower, factor * line.upper,
                told, plain, line.derivation,
            )
        )  # fmt: skip
    caption = text(
        "Prediction ledger: the grey band is what was predicted from other measurements, the point what was "
        "measured, with its interval or range."
    )
    result = joined(
        "; ",
        [
            text(
                "{row}: predicted {low} to {high}, measured {figure}",
                row=row.row,
                low=f"{row.band_lo:.3g}",
                high=f"{row.band_hi:.3g} {unit}",
                figure=row.text,
            )
            for row in rows
        ],
    )
    return Figure(
        "figure-ledger", caption, result, banded(rows, text("rate ({unit})", unit=unit), text("predicted"))
    )


def _meaning(ledger: tuple[Prediction, ...], known: dict[str, Estimate]) -> str:
    if not ledger:
        return text(
            "Nothing was predicted: bandwidth was not measured at the same placement, or the grid fits the caches."
        )
    inside = sum(line.error == 0 for line in ledger)
    said: list[str] = [
        text(
            "{inside} of {count} prediction holds.|{inside} of {count} predictions hold.",
            inside=inside,
            count=len(ledger),
        )
    ]
    worst = max(ledger, key=lambda line: abs(line.error))
    if worst.error:
        said.append(
            text(
                "The largest error is {error} beyond the band ({what}).",
                error=_error(worst),
                what=_row(worst, known),
            )
        )
    farthest, widest = (
        max(map(abs, each)) for each in zip(*((e.deviation, e.half_width) for e in ledger), strict=True)
    )
    said.append(
        text(
            "What was measured lies up to {farthest} beside the middle of what was predicted, whose half-width is "
            "{widest} at most.",
            farthest=words.percent(farthest),
            widest=words.percent(widest),
        )
    )
    return joined(" ", (*said, words.sentence(ledger[0].derivation)))
