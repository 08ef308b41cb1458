"""Figures whose limit is computed by a package that is not installed: they are shown without one."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.limits import laws, named
from assay.model.grouping import grouped
from assay.model.result import Estimate, Finding
from assay.model.text import text


def _without(evidence: Evidence) -> list[Estimate]:
    figures = (each for each in evidence.estimates.values() if each.median is not None and not each.limit)
    return [each for each in figures if named(each) and named(each) not in laws()]


def _assess(evidence: Evidence) -> Iterable[Finding]:
    by_law = grouped(_without(evidence), lambda each: (each.benchmark, named(each)))
    for (benchmark, law), figures in by_law.items():
        yield rule.finding(
            f"{benchmark}:{law}",
            claim=text(
                "The limit `{law}` of {benchmark} is not known here: {count} figure has no share of a limit.|"
                "The limit `{law}` of {benchmark} is not known here: {count} figures have no share of a limit.",
                law=law,
                benchmark=benchmark,
                count=len(figures),
            ),
            evidence=tuple(each.id for each in figures),
            numbers=numbers(len(figures), 0),
            statistic=text("{count} figure|{count} figures", count=len(figures)),
            next=text("install the package that declares {benchmark}", benchmark=benchmark),
        )


rule = Rule(
    "unknown_limit",
    text("Is the limit of each figure known here?"),
    text("a declared limit without its law"),
    _assess,
    timed=False,
    applies=lambda evidence: bool(_without(evidence)),
)
