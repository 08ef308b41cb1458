"""A repeated publication in a terminal: its conclusions with their verdicts, then its figures beside the run's."""

from rich.text import Text

from assay.model.conclusion import Judged, Truth
from assay.model.grouping import grouped
from assay.model.repetition import Repetition
from assay.model.run import Run
from assay.report import repetition
from assay.report.screen import Screen

_COLOURS: dict[Truth, str] = {"holds": "green", "does not hold": "red", "cannot be told": "yellow"}
_PLAIN: dict[Truth, str] = {"holds": "+", "does not hold": "x", "cannot be told": "?"}
#: Maximum number of rows on a screen.
_ROWS = 24


def render(found: Repetition, page: Screen, run: Run) -> None:
    """Print the conclusions, and the figures if they are few; commands get the options of the run."""
    conclusions(found, page, run)
    if undecided := repetition.undecided(found):
        page.say()
        page.say(undecided)
    for table in repetition.rows(found) if len(found.rows) <= _ROWS else ():
        page.table(table)
    if len(found.rows) > _ROWS:
        page.say()
        page.say(
            Text(f"{len(found.rows)} published figures beside those of this run: assay report, --json", "dim")
        )


def conclusions(found: Repetition, page: Screen, run: Run | None = None) -> None:
    """Print the conclusions, those first that do not hold."""
    if found.conclusions:
        page.heading(str(repetition.counted(found)))

    def note(judged: Judged) -> str:
        return " ".join(filter(None, (repetition.why(judged), repetition.decides(judged, run))))

    for truth in repetition.ORDER:
        mark = repetition.MARKS[truth] if page.unicode else _PLAIN[truth]
        for why, members in grouped(repetition.of_truth(found, truth), note).items():
            for each in members:
                line = ": ".join(filter(None, (repetition.says(each), repetition.figures(each))))
                style = "dim" if each.flaw else ""
                page.say(
                    Text(f"{repetition.flawed(line, each.flaw)}.", style),
                    indent=2,
                    mark=Text(mark, _COLOURS[truth]),
                )
            if why:
                of = f"These {len(members)}: " if len(members) > 1 else ""
                page.say(Text(page.text(of + why), "dim"), indent=4)
