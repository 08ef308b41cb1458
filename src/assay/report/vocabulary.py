"""Words that pages take from records: a page can say them in another language, though no code writes them."""

from functools import cache
from itertools import chain
from typing import get_args

from assay import benchmarks, studies
from assay.model import text as texts
from assay.model.result import CaseStatus
from assay.report.verdicts import ORDER

_STATUSES = (
    *get_args(CaseStatus),
    *("complete", "cut", "interrupted", "not ended"),
    *("candidate", "confirmed", "refuted", "observed", "not assessed"),
)


@cache
def vocabulary() -> frozenset[str]:
    """Statuses, verdicts, titles of benchmarks, titles and questions of stored studies."""
    stored = [studies.get(name) for name in studies.names()]
    titles = (benchmarks.get(name).title for name in benchmarks.names())
    asked = chain.from_iterable((study.title, study.question) for study in stored)
    return frozenset(chain(_STATUSES, ORDER, titles, asked))


def known(word: str) -> str:
    """The word as a text where it is one of the vocabulary; what is a text already stays."""
    return texts.text(word) if word in vocabulary() and not isinstance(word, texts.Text) else word
