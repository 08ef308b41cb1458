"""`assay show ledger`: what all runs predicted before their launches, and how good it was."""

from collections.abc import Iterable

from assay import store
from assay.model.answers import Answer, View
from assay.model.result import Analysis
from assay.model.run import Run
from assay.topics.scaling import scores_table
from assay.topics.scaling.scores import scores, together


def _answer(runs: Iterable[tuple[Run, Analysis]]) -> Answer:
    known = together(score for run, analysis in runs for score in scores(run, analysis))
    return Answer(known, lambda console: scores_table.render(known, console))


view = View("predictions of all runs, and how good they were", _answer, store.predicting)
