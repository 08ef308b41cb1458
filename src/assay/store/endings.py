"""Endings of runs as they are stored, those of older versions too."""

import re

from assay.model.run import Cause, Ending, Shortfall


class Stored(Ending, frozen=True):
    """An ending as versions before 2026-11-22 wrote it: shortfalls as sentences."""

    cut: dict[str, Shortfall | str]  # type: ignore[assignment] # wider than what it becomes


#: How those sentences begin, and what tells their causes.
_SHORTFALL = re.compile(r"(?:not measured|(\d+) of (\d+) launches): (.*)", re.DOTALL)
_CAUSES: tuple[tuple[str, Cause], ...] = (
    ("the budget of", "budget"),
    ("failed", "failures"),
    ("interrupted", "interrupted"),
    ("its program ended", "unreached"),
)


def current(stored: Stored) -> Ending:
    """The ending as this version has it: each sentence of an older one taken apart."""
    cut = {name: _shortfall(each) if isinstance(each, str) else each for name, each in stored.cut.items()}
    return Ending(stored.status, stored.ended, stored.elapsed_s, cut, stored.needed_s)


def _shortfall(told: str) -> Shortfall:
    match = _SHORTFALL.fullmatch(told)
    made, planned, why = match.groups("0") if match else ("0", "0", told)
    cause: Cause = next((cause for words, cause in _CAUSES if why.startswith(words)), "other")
    return Shortfall(cause, why, int(made), int(planned))
