"""Predictions for another network or more nodes, in a terminal."""

from collections.abc import Sequence

from rich.console import Console

from assay.report import formatting
from assay.report.screen import Screen
from assay.topics.scaling.what_if import WhatIf

_COLUMNS = (
    ("case", "left"),
    ("measured", "right"),
    ("at", "left"),
    ("predicted", "right"),
    ("ratio", "right"),
    ("messages now", "right"),
    ("messages then", "right"),
)


def render(found: Sequence[WhatIf], console: Console) -> None:
    """Print a row for each case, and the meaning of the columns."""
    page = Screen(console)
    page.rows(_COLUMNS, map(_row, found))
    page.say()
    page.say(
        "Predicted by the laws of this run, with the interval that these allow. Ratio: predicted over measured. "
        "Messages: the share of the time that would be gone if messages took none."
    )


def _row(each: WhatIf) -> tuple[str, ...]:
    measured = formatting.interval(each.measured, "").plain if each.measured else ""
    ratio = f"{each.predicted.value / each.measured.value:.3g}" if each.measured else ""
    return (
        each.case,
        measured,
        each.label,
        formatting.interval(each.predicted, "").short,
        ratio,
        _share(each.messages_before),
        _share(each.messages_after),
    )


def _share(value: float | None) -> str:
    return "" if value is None else formatting.percent(value)
