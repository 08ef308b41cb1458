"""The ledger: figures predicted from other measurements, and the measured figures."""

from collections.abc import Callable, Iterable

import msgspec

from assay.model.law import Prediction
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.model.units import scale
from assay.report import formatting, selection
from assay.report.charts.intervals import Point, intervals
from assay.report.declared import Listing, Scene
from assay.report.section import Figure, headings
from assay.report.vocabulary import known


class Ledger(msgspec.Struct, frozen=True):
    """The predictions of one law, as a section shows them.

    Attributes:
        law: name.
        name: of the predicted estimate: `himeno L, all`.
        anchor: of the figure.
        short: see `Table`.
    """

    law: str
    name: Callable[[Estimate], str]
    anchor: str = "figure-ledger"
    short: str = ""

    def lines(self, scene: Scene) -> tuple[Prediction, ...]:
        """Return the predictions of estimates that the page shows."""
        shown = {e.id for e in selection.middle(scene.analysis.estimates)}
        return tuple(
            line for line in scene.analysis.predictions if line.law == self.law and line.measured in shown
        )

    def table(self) -> Listing:
        """Return the table of all lines."""
        return Listing(
            text(
                "Predictions: the middle (and the ends) of the predicted interval, the measured figure, its "
                "deviation from the middle, the gap between the two intervals if they do not overlap, the width "
                "of the predicted one, and its interval score: the width plus 40 times the distance of the figure "
                "from the interval, in logarithms; less is better. Ends wider than a factor of 2 are no prediction"
            ),
            headings(
                "Prediction",
                "Predicted",
                "Measured",
                "From the middle",
                "Gap",
                "Width",
                "Score",
                "States: sources, figure",
                "Predicted at",
            ),
            self._rows,
            {1, 2, 3, 4, 5, 6},
            optional={7, 8},
            short=self.short,
        )

    def figure(self, scene: Scene) -> Iterable[Figure]:
        """Yield the chart of bands and measured figures; nothing without a line."""
        ledger = self.lines(scene)
        if not ledger:
            return
        largest = max(line.predicted.hi for line in ledger)
        scaled, unit = scale(largest, ledger[0].predicted.unit)
        rows = [self._point(scene, line, scaled / largest) for line in ledger]
        caption = text(
            "Predictions: the grey band is the prediction from other measurements, the point is the measured "
            "figure with its interval or range."
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
        yield Figure(self.anchor, caption, joined("; ", result), spec)

    def sentences(self, scene: Scene) -> tuple[str, ...]:
        """Return how many hold, the largest error, and the deviations from the middle; nothing without a line."""
        ledger = self.lines(scene)
        if not ledger:
            return ()
        worst = max(ledger, key=lambda line: abs(line.error))
        return (
            text(
                "{inside} of {count} prediction holds.|{inside} of {count} predictions hold.",
                inside=sum(not line.error for line in ledger),
                count=len(ledger),
            ),
            text(
                "The largest error is {error} outside the band ({what}).",
                error=_error(worst),
                what=self._name(scene, worst),
            )
            if worst.error
            else "",
            text(
                "Measured figures deviate by up to {farthest} from the middle of the prediction; its half-width "
                "is at most {widest}.",
                farthest=formatting.percent(max(abs(line.deviation) for line in ledger)),
                widest=formatting.percent(max(line.half_width for line in ledger)),
            ),
            formatting.sentence(ledger[0].derivation),
        )

    def _name(self, scene: Scene, line: Prediction) -> str:
        return self.name(next(e for e in scene.analysis.estimates if e.id == line.measured))

    def _rows(self, scene: Scene) -> Iterable[tuple[str, ...]]:
        ledger = self.lines(scene)
        has_states = any(state for line in ledger for state in line.states)
        for line in ledger:
            # States of the sources, then of the predicted figure: `near and far, any`.
            *sources, predicted = (known(state) if state else text("any") for state in line.states)
            yield (
                self._name(scene, line),
                formatting.interval(line.predicted, "").short,
                formatting.interval(line.value, "").short,
                _signed(line.deviation),
                _error(line),
                formatting.percent(2 * line.half_width),
                text("no prediction") if line.score is None else formatting.percent(line.score),
                joined(", ", (formatting.listed(sources), predicted)) if has_states else "",
                text("before its launch") if line.before else "",
            )

    def _point(self, scene: Scene, line: Prediction, factor: float) -> Point:
        value, lo, hi = (factor * end for end in line.value)
        plain = formatting.interval(line.value, "").plain
        figure = text(
            "{figure}, overlaps the band, {deviation} from its middle"
            if not line.error
            else "{figure}, {error} from the band, {deviation} from its middle",
            figure=plain,
            error=_error(line),
            deviation=_signed(line.deviation),
        )
        band = factor * line.predicted.lo, factor * line.predicted.hi
        return Point(
            row=self._name(scene, line),
            series=text("measured"),
            value=value,
            lo=lo,
            hi=hi,
            limit=None,
            text=figure,
            short=plain,
            basis=line.derivation,
            limit_text=formatting.ends(*band),
            band=band,
        )


def _error(line: Prediction) -> str:
    return _signed(line.error) if line.error else text("none")


def _signed(share: float) -> str:
    return f"{100 * share:+z.1f} %"
