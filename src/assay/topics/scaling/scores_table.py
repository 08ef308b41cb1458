"""Predictions of runs and the measured figures, in a terminal."""

from collections.abc import Iterator

from rich.console import Console

from assay.catalogue import benchmarks
from assay.report import formatting
from assay.report.screen import Screen
from assay.topics.scaling.scores import Score, Scores

_COLUMNS = (
    ("run", "left"),
    ("case", "left"),
    ("predicted", "right"),
    ("measured", "right"),
    ("error", "right"),
    ("interval", "left"),
)


def render(known: Scores, console: Console) -> None:
    """Print the ledger: a row for each prediction, then a summary."""
    page = Screen(console)
    if not known.entries:
        page.say(
            "No run here holds a prediction. Studies make them that go on to larger problems, or to more nodes."
        )
        return
    page.rows(_COLUMNS, map(_row, known.entries))
    page.say()
    for sentence in _sentences(known):
        page.say(sentence)


def _row(each: Score) -> tuple[str, ...]:
    predicted = formatting.interval(each.predicted, "").short
    units = benchmarks.of(each.benchmark).units
    problem = (f"{name} {formatting.param(value, units.get(name, ''))}" for name, value in each.problem.items())
    case = ", ".join((each.benchmark, *problem, each.placement))
    if each.measured is None or each.error is None:
        return each.run, case, predicted, "not measured", "", ""
    held = ("held" if each.held else "missed") + (", disturbed" if each.disturbed else "")
    measured = formatting.interval(each.measured, "").plain
    return each.run, case, predicted, measured, f"{100 * each.error:+.1f} %", held


def _sentences(known: Scores) -> Iterator[str]:
    measured = sum(each.error is not None for each in known.entries)
    yield f"{measured} of {formatting.count(len(known.entries), 'prediction', 'predictions')} measured."
    if known.error and known.coverage:
        yield f"Median error {formatting.percent(known.error.value)} ({_ends(known.error.lo, known.error.hi)})."
        held = sum(bool(each.held) for each in known.entries)
        share, ends = formatting.percent(known.coverage.value), _ends(known.coverage.lo, known.coverage.hi)
        yield (
            f"Predicted and measured intervals overlap in {held} of {measured}, {share}; exact 95 % interval "
            f"{ends} if predictions were independent. Those of one run are not."
        )
        if disturbed := [each for each in known.entries if each.disturbed]:
            missed = sum(not each.held for each in disturbed)
            yield f"{len(disturbed)} of them have disturbed launches, and {missed} of these missed."


def _ends(low: float, high: float) -> str:
    return f"{formatting.percent(low)} to {formatting.percent(high)}"
