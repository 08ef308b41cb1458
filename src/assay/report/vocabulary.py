"""Words that pages take from records: a page can say them in another language, though no code writes them."""

from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import get_args

from assay import benchmarks, studies
from assay.model import text as texts
from assay.model.benchmark import Benchmark
from assay.model.result import CaseStatus

#: Verdicts of comparisons, in the order in which a reader wants them.
VERDICTS = ("slower", "faster", "trivially different", "inconclusive", "equivalent")
_STATUSES = (
    *get_args(CaseStatus),
    *("complete", "cut", "interrupted", "not ended"),
    *("candidate", "confirmed", "refuted", "observed", "not assessed"),
    *("near", "far", "unsettled", "near cores", "far cores", "unsettled cores"),
    *("precision", "samples", "time"),
)


#: Axes whose levels are names, which no language translates.
_NAMES = frozenset({"operation", "mix", "pattern", "size", "format", "width", "synchronisation"})


@cache
def vocabulary() -> frozenset[str]:
    """Statuses, verdicts, what benchmarks declare in words, titles and questions of stored studies."""
    stored = [studies.get(name) for name in studies.names()]
    declared = chain.from_iterable(_declared(benchmarks.get(name)) for name in benchmarks.names())
    asked = chain.from_iterable((study.title, study.question) for study in stored)
    return frozenset(chain(_STATUSES, VERDICTS, declared, asked))


def _declared(benchmark: Benchmark) -> Iterator[str]:
    """Its title, what it and its metrics measure, its swept axes, and its levels: `ordinary stores`."""
    metrics = ((metric.name, metric.meaning) for metric in benchmark.metrics)
    yield from (benchmark.title, benchmark.measures, *chain.from_iterable(metrics))
    for axis in benchmark.axes:
        yield from (axis.short,) if axis.swept else ()
        levels = [value for value in axis.values if isinstance(value, str) and axis.name not in _NAMES]
        yield from (f"{value} {axis.name}" for value in levels)


def known(word: str) -> str:
    """The word as a text where it is one of the vocabulary; what is a text already stays."""
    return texts.text(word) if word in vocabulary() and not isinstance(word, texts.Text) else word
