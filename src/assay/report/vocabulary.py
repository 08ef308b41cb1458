"""Words of records and declarations that a page can translate, although they are no literals of the code."""

from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import get_args

from assay import studies
from assay.catalogue import benchmarks
from assay.model import text as texts
from assay.model.declaration import Declaration
from assay.model.result import CaseStatus

#: Verdicts of comparisons, the most important first.
VERDICTS = ("slower", "faster", "trivially different", "inconclusive", "equivalent")
_STATUSES = (
    *get_args(CaseStatus),
    *("complete", "cut", "interrupted", "not ended"),
    *("candidate", "confirmed", "refuted", "observed", "not assessed"),
    *("near", "far", "unsettled", "near cores", "far cores", "unsettled cores"),
    *("precision", "samples", "time"),
)


def vocabulary() -> frozenset[str]:
    """Return statuses, verdicts, the declared words of benchmarks, titles and questions of stored studies."""
    stored = map(studies.get, studies.names())
    return _words().union(*((study.title, study.question) for study in stored))


@cache
def _words() -> frozenset[str]:
    return frozenset(chain(_STATUSES, VERDICTS, *(_declared(benchmarks.get(name)) for name in benchmarks.names())))


def _declared(benchmark: Declaration) -> Iterator[str]:
    """Its title, the meaning of it and its metrics, its swept axes, and its levels: `ordinary stores`."""
    metrics = ((metric.name, metric.meaning) for metric in benchmark.metrics)
    yield from (benchmark.title, benchmark.measures, *chain.from_iterable(metrics))
    for axis in benchmark.axes:
        yield from (axis.title,) if axis.swept else ()
        for pattern in axis.patterns.values():
            yield from filter(None, (pattern.counted, pattern.within))
        levels = [value for value in axis.values if isinstance(value, str) and not axis.named]
        yield from (axis.words.get(value, f"{value} {axis.name}") for value in levels)


def known(word: str, study: str = "") -> str:
    """Return the word as a text if it is in the vocabulary, or is the title of this study; a text unchanged."""
    titled = study in studies.names() and studies.get(study).title == word if study else word in _words()
    return texts.text(word) if titled and not isinstance(word, texts.Text) else word
