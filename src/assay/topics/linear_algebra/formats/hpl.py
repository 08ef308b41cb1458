"""The table of HPL's output, for programs that read it."""

from collections.abc import Iterator

from assay.model.benchmark import works_together
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.report import formatting
from assay.topics.linear_algebra.benchmarks.hpl import operations
from assay.topics.linear_algebra.products import closest_check
from assay.topics.linear_algebra.variants import NUMBERS

#: What a run without such a table lacks, and the command that measures it.
needs, remedy = "a complete solution of a system of equations", "assay run hpl"

_WIDTH = 80
_HEAD = "T/V                N    NB     P     Q               Time                 Gflops"
_RESIDUAL = "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)="


def tables(analysis: Analysis, run: Run) -> Iterator[str]:
    """Yield the heading and a row for each solution, with its largest residual; placement as comments."""
    found = [
        each
        for each in analysis.estimates
        if each.benchmark == "hpl" and each.kernel == "rate" and each.median and works_together(each.params)
    ]
    if not found or run.imported:
        return
    yield "# HPL's table, by Assay: medians of launches, by the operations that HPL counts"
    if any(NUMBERS[str(each.params["broadcast"])] > max(range(6)) for each in found):
        yield "# The broadcasts 6 (MPI_Ibcast) and 7 (panels are read where they are) are not HPL's"
    yield "=" * _WIDTH
    yield _HEAD
    for each in found:
        yield "-" * _WIDTH
        yield from _solution(run, each)
    yield "=" * _WIDTH


def _solution(run: Run, e: Estimate) -> Iterator[str]:
    rate = e.median or 0.0
    numbers = "".join(f"{e.params[name]!s:>{width}}" for name, width in (("n", 12), ("nb", 6), ("p", 6), ("q", 6)))
    seconds = operations(int(e.params["n"])) / rate
    placed = [formatting.placed(e), *e.factors.values(), formatting.count(e.launches, "launch", "launches")]
    yield f"# {', '.join(filter(None, map(str, placed)))}"
    yield f"{_variant(e):<8}{numbers}{seconds:19.2f}{rate / 1e9:23.4e}"
    if verdict := closest_check(run, e):
        yield f"{_RESIDUAL}{verdict.error:15.8f} ...... PASSED"


def _variant(e: Estimate) -> str:
    """Return `WR17R2L8`: row-major, look-ahead, broadcast; left-looking LU of 8 columns in recursive halves."""
    depth = int(e.params["look-ahead"] == "one")
    return f"WR{depth}{NUMBERS[str(e.params['broadcast'])]}R2L8"
