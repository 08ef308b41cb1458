"""Where the time of whole solutions goes: their phases, as seconds and as parts of a bar."""

from collections.abc import Iterable, Mapping

from assay.model import roles
from assay.model.result import Analysis, Estimate
from assay.model.text import Text, text
from assay.report import figures, formatting
from assay.report.charts.shares import Share, shares
from assay.report.section import Figure


def seconds_of(analysis: Analysis, solution: Estimate) -> dict[str, float]:
    """Phase -> its median seconds, of the case and the state of a solution."""
    return {
        each.kernel: each.median
        for each in analysis.estimates
        if each.case == solution.case
        and each.state == solution.state
        and each.median
        and roles.role(each) == "phase-time"
    }


def shares_of(row: str, seconds: Mapping[str, float], names: Mapping[str, str]) -> Iterable[Share]:
    """The phases as shares of their sum, beside each other in the order of their names.

    Args:
        row: name of the bar.
        seconds: of each phase; one that is missing took none.
        names: phase -> what people call it.
    """
    whole, begin = sum(seconds.values()), 0.0
    for phase, name in names.items():
        if share := 100 * seconds.get(phase, 0.0) / whole if whole else 0.0:
            figure = f"{share:.1f} %, {formatting.seconds(seconds[phase])}"
            yield Share(row, name, begin, begin + share, figure)
            begin += share


def figure(
    name: str, caption: Text, bars: Iterable[tuple[str, Mapping[str, float]]], names: Mapping[str, str]
) -> Iterable[Figure]:
    """The phases of solutions, a bar for each; nothing where none of them told any.

    Args:
        name: of the figure.
        caption: below it.
        bars: each solution's name and the seconds of its phases.
        names: phase -> what people call it, in the order of the parts.
    """
    parts = [part for row, seconds in bars for part in shares_of(row, seconds, names)]
    if parts:
        result = figures.alternative_text((part.row, part.series, part.text) for part in parts)
        yield Figure(name, caption, result, shares(parts, text("share of the time (%)")))
