"""Predictions of runs and the measured figures, in a terminal."""

from collections.abc import Iterator

from rich.console import Console

from assay.catalogue import benchmarks
from assay.model.law import WIDEST
from assay.model.quantity import Quantity
from assay.report import formatting
from assay.report.screen import Screen
from assay.topics.scaling.scores import Score, Scores

_COLUMNS = (
    ("run", "left"),
    ("case", "left"),
    ("predicted", "right"),
    ("its width", "right"),
    ("measured", "right"),
    ("error", "right"),
    ("score", "right"),
    ("interval", "left"),
)
_REFUSED = {
    "twice": "predicted twice: does not count",
    "after its figure": "made after its figure: does not count",
    "broken chain": "records not as written: does not count",
    "too wide": "too wide: no prediction",
}


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
    units = benchmarks.of(each.benchmark).units if each.benchmark in benchmarks.names() else {}
    problem = (f"{name} {formatting.param(value, units.get(name, ''))}" for name, value in each.problem.items())
    case = ", ".join((each.benchmark, *problem, each.placement)) if each.benchmark else each.case
    width = "" if each.width is None else formatting.percent(each.width)
    first = each.run, case, formatting.interval(each.predicted, "").short, width
    if each.refused:
        return *first, "", "", "", _REFUSED[each.refused]
    if each.measured is None or each.error is None or each.score is None:
        return *first, "not measured", "", "", ""
    marks = [
        "held" if each.held else "missed",
        *(["figure disturbed"] if each.disturbed else []),
        *(["inputs disturbed"] if each.disturbed_inputs else []),
    ]
    measured = formatting.interval(each.measured, "").plain
    return *first, measured, f"{100 * each.error:+.1f} %", formatting.percent(each.score), ", ".join(marks)


def _sentences(known: Scores) -> Iterator[str]:
    measured = [each for each in known.entries if each.error is not None]
    yield f"{len(measured)} of {formatting.count(len(known.entries), 'prediction', 'predictions')} measured."
    refused = [each for each in known.entries if each.refused]
    if refused:
        yield (
            f"{formatting.count(len(refused), 'prediction counts', 'predictions count')} as none: made after the "
            f"figure, in records that are not as written, or with ends wider than a factor of {WIDEST:g}."
        )
    if not (known.error and known.coverage and known.width and known.score is not None):
        return
    yield f"Median error {formatting.percent(known.error.value)} ({_ends(known.error)})."
    held = sum(bool(each.held) for each in measured)
    share = formatting.percent(known.coverage.value)
    yield (
        f"Predicted and measured intervals overlap in {held} of {len(measured)}, {share}; exact 95 % interval "
        f"{_ends(known.coverage)} if predictions were independent. Those of one run are not."
    )
    width, score = (formatting.percent(each) for each in (known.width.value, known.score))
    yield (
        f"Median width {width} from end to end; mean interval score {score}. The score is the width, plus 40 "
        "times the distance of the figure from the interval (Gneiting and Raftery, 2007). Both are logarithms: "
        "10 % is a factor of 1.105. Less is better."
    )
    disturbed = [each for each in measured if each.disturbed or each.disturbed_inputs]
    if disturbed:
        missed = sum(not each.held for each in disturbed)
        yield f"{len(disturbed)} have a disturbed figure or disturbed inputs, and {missed} of these missed."


def _ends(of: Quantity) -> str:
    return f"{formatting.percent(of.lo)} to {formatting.percent(of.hi)}"
