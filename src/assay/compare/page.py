"""The page of several runs, and the section of an import: charts, tables, and the source of each figure."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from functools import cache
from itertools import chain, islice, zip_longest

import jinja2
import msgspec

from assay.compare import charts, origins, tables
from assay.compare.figure_rows import different, figure_tables, uncompared
from assay.compare.following import following
from assay.compare.phrases import axis_title
from assay.compare.repetitions import repetitions
from assay.compare.sides import Side, Sides
from assay.compare.statements import NO_SAMPLES, Statement, jump, statements
from assay.compare.widest import conclusion, widest
from assay.model.compared import Compared
from assay.model.imported import UNSTATED
from assay.model.text import cli, joined, text
from assay.report import formatting, repetition, selection, vega
from assay.report.ahead import Ahead
from assay.report.environment import environment, file, rendered
from assay.report.plotters import Plotters
from assay.report.section import Section, Table
from assay.report.summary import Action, Summary, Verdict, own_system, rules_tested, summary

#: Charts of more systems are drawn once, without a version for phones.
_TWICE = 12
#: Sentences on the first page of an import.
_FIRST = 10
_KINDS = {
    "rate": text("Bandwidth"),
    "time": text("Latency"),
    "curve": text("Curves"),
    "figure": text("Other figures"),
    "crossover": text("Where curves cross"),
    "jump": text("Where the time of a message jumps"),
    "saturated": text("Where curves saturate"),
}


_OF_RUNS = text(
    "A figure with `[a, b]` has a 95 % interval over launches; `a to b` is min to max of a few launches (not a "
    "confidence interval); a bare figure has no samples. Two runs share no blocks: ratios are Hodges-Lehmann "
    "shifts of the logarithms of all launches, and their intervals contain the variance from run to run. Curves "
    "of one run are paired by block. p is adjusted among all figures of two systems (Westfall and Young)."
)
_IN_BLOCKS = text(
    "A figure with `[a, b]` has a 95 % interval over runs; `a to b` is min to max of a few runs (not a "
    "confidence interval). Runs that follow each other in time, each with another level, are a block, and the "
    "difference of a figure in a block is one value: ratios are Hodges-Lehmann estimates over the blocks. p is "
    "adjusted among all figures of two levels (Westfall and Young)."
)


class _Topic(msgspec.Struct, frozen=True):
    """A section of the page."""

    id: str
    title: str
    drawing: tuple[Future[vega.Drawn], ...]
    tables: tuple[Table, ...]


def render(sides: Sides, language: str = "en", ahead: Ahead | None = None) -> str:
    """Return the whole page as HTML. It loads nothing, and its scripts run by their hash only.

    It opens in `language` if its reader has chosen none. `ahead`: the parts that were made during the analysis.
    """
    with closing(ahead or Ahead(*(side.run for side in sides.sides))) as prepared:
        by_kind = selection.grouped(statements(sides), lambda each: each.kind)
        topics, repeated = _topics(sides, prepared.plotters), repetitions(sides)
        page = {
            "summary": _summary(sides),
            "widest": widest(sides),
            "overlay": next((each.drawing[0] for each in topics if each.drawing), None),
            "levels": bool(sides.factor),
            "title": text("{systems} side by side", systems=formatting.listed(side.label for side in sides.sides)),
            "machines": [(side.label, origins.machine(side.run)) for side in sides.sides],
            "lead": _lead(sides),
            "reading": _IN_BLOCKS if sides.factor else _OF_RUNS,
            "base": sides.sides[0].label,
            "has_common": sides.have_common,
            "statements": {_KINDS[kind]: [each.text for each in of] for kind, of in by_kind.items()},
            "systems": origins.systems(sides),
            "ratios": tables.machines((side.label, each) for side in sides.sides for each in side.yardsticks),
            "topics": topics,
            "laws": tables.laws(sides),
            "jumps": [jump(sides, each).text for each in sides.found.steps],
            "compared": [
                (side.label, _figures(sides, each, (sides.sides[0].label, side.label)))
                for side, each in zip(sides.sides[1:], sides.compared, strict=True)
            ],
            "shared": tables.law_figures(sides),
            "states": origins.states(sides),
            "origins": origins.origins(sides),
            "repeated": repetition.glance(repeated[0], sides.runs) if repeated else None,
            "conclusions": [repetition.conclusions(each, sides.runs) for each in repeated if each.conclusions],
        }
        return rendered(_template(), page, {"script": file("report.js")}, language, prepared.library.result())


def _figures(sides: Sides, compared: Compared, labels: tuple[str, str]) -> tuple[Table, ...]:
    """The rows of the figures of a system, why others have none, and what differs."""
    return (*figure_tables(compared), *uncompared(compared, sides.runs), *different(compared, labels))


#: Parts of a measurand that say how it was measured, in words.
_HOW = {
    "nodes": text("the nodes"),
    "ranks": text("the ranks"),
    "ranks per node": text("the ranks of a node"),
    "threads per rank": text("the threads of a rank"),
    "share of cores": text("which cores work"),
    "relation": text("what the cores share"),
    "card": text("how near the network card is"),
    "network": text("the network"),
    "mpi": text("the MPI"),
    "compiler": text("the compiler"),
    "blas": text("the BLAS"),
}


def _lead(sides: Sides) -> str:
    """What the page compares, and the base of ratios."""
    axes = dict.fromkeys(map(axis_title, sides.found.curves))
    silent = (
        text("{system} does not state: {parts}.", system=side.label, parts=formatting.listed(parts))
        for side in sides.sides
        if side.run.imported and (parts := _unstated(side))
    )
    return joined(" ", (_compared(sides, axes), *sides.taken, *silent))


def _unstated(side: Side) -> tuple[str, ...]:
    """What its source does not state of how its figures were measured, in words; without axes of the programs."""
    parts = (part for each in side.analysis.estimates for part in each.measurand.parts.items())
    facts = side.run.imported.facts if side.run.imported else {}
    silent = {name for name, value in parts if value == UNSTATED and name not in facts}
    return tuple(words for name, words in _HOW.items() if name in silent)


def _compared(sides: Sides, axes: Iterable[str]) -> str:
    return text(
        "{curves} of {systems}, by {axes}. Ratios are to {base}, which was named first. Curves of two systems are "
        "compared if placement and factors are the same, else the best curve of each."
        if axes
        else "{systems} have no curve. Ratios are to {base}, which was named first.",
        curves=formatting.count(len(sides.found.curves), "curve", "curves"),
        systems=formatting.count(len(sides.sides), "system", "systems"),
        base=sides.sides[0].label,
        **({"axes": formatting.listed(axes)} if axes else {}),
    )


def _summary(sides: Sides) -> Summary:
    """Whether the systems may be compared, the problems of each, and the next steps."""
    measured = [side for side in sides.singly if not side.run.imported]
    least = min(sides.singly, key=lambda side: len(side.analysis.tested))
    summaries = [(side, summary(side.run, side.analysis)) for side in measured]
    wrong = tuple(_with_system(side, line) for side, each in summaries for line in each.wrong)
    steps = following(sides)
    if not sides.factor:
        steps = [
            Action(step.do, _with_system(side, step.why)) for side, each in summaries for step in each.next[:1]
        ]
    if not measured:
        names = [side.run.info.id for side in sides.sides]
        steps.append(own_system(names, by_mpi=bool(sides.of_messages)))
    elif len(measured) > 1:
        factor = ("--factor", sides.factor) if sides.factor else ()
        command = cli("compare", *(side.run.info.id for side in measured), *factor, "--fail-below", "5%")
        steps.append(Action(command, text("It fails if a figure is certainly slower by more than 5 %.")))
    return Summary(
        _verdict(sides, summaries),
        wrong,
        worth=conclusion(sides),
        tested=rules_tested(least.run, least.analysis),
        checked=not sides.without_samples,
        next=tuple(steps),
    )


def _verdict(sides: Sides, summaries: Sequence[tuple[Side, Summary]]) -> Verdict:
    if sides.without_samples:
        return Verdict("care", text("Compare these figures with care."), NO_SAMPLES)
    empty = [side for side, _ in summaries if sides.factor and not selection.measured(side.analysis.estimates)]
    having = [each for each in summaries if each[0] not in empty]
    if not having:
        return Verdict("bad", text("Do not compare these figures."), text("There are no figures to use."))
    side, worst = max(having, key=lambda each: ("good", "care", "bad").index(each[1].verdict.grade))
    if empty and worst.verdict.grade != "bad":  # the other blocks are what they are
        why = _with_system(empty[0], text("There are no figures to use."))
        return Verdict("care", text("Compare these figures with care."), why)
    if worst.verdict.grade == "good":
        return Verdict("good", text("These figures can be compared."), worst.verdict.reason)
    how = (
        text("Do not compare these figures.")
        if worst.verdict.grade == "bad"
        else text("Compare these figures with care.")
    )
    return Verdict(worst.verdict.grade, how, _with_system(side, worst.verdict.reason))


def _with_system(side: Side, line: str) -> str:
    """The line with the label of its system."""
    return text("{system}: {what}", system=side.label, what=line) if line else ""


def _topics(sides: Sides, plotters: Plotters) -> list[_Topic]:
    """One for each group of curves, with their charts and tables."""
    found = []
    twice = len(sides.sides) <= _TWICE
    for number, (title, curves) in enumerate(tables.groups(sides).items()):
        pairs = tables.against_base(sides, curves)
        figures = [
            charts.overlay(sides, title, f"figure-curves-{number}", curves),
            charts.ratio_curves(sides, title, f"figure-ratio-{number}", pairs) if pairs else None,
        ]
        shown = [tables.side_by_side(sides, title, curves)]
        shown += [tables.ratios(sides, title, pairs)] if pairs else []
        drawing = tuple(plotters.draw(figure, twice=twice) for figure in figures if figure)
        found.append(_Topic(f"curves-{number}", title, drawing, tuple(shown)))
    return found


def section(sides: Sides) -> Section | None:
    """Return the section of a single import with its curves and figures; None if no two can be compared."""
    sentences = statements(sides)
    if not sentences:
        return None
    figures, ratios = [], []
    for number, (title, curves) in enumerate(tables.groups(sides).items()):
        pairs = tables.against_base(sides, curves)
        if pairs:
            figures.append(charts.ratio_curves(sides, title, f"figure-paths-{number}", pairs))
            ratios.append(tables.ratios(sides, title, pairs))
    return Section(
        id="paths",
        title=text("Paths compared"),
        meaning=(NO_SAMPLES,),
        figures=tuple(figure for figure in figures if figure),
        tables=(*ratios, *tables.laws(sides)),
        sentences=tuple(each.text for each in sentences),
        summary=tuple(_first(sentences)),
    )


def _first(sentences: Sequence[Statement]) -> Iterator[str]:
    """The sentences of the first page: the first of each kind, then the second of each kind, and so on."""
    kinds = selection.grouped(sentences, lambda each: each.kind).values()
    chosen = set(islice((each.text for each in chain(*zip_longest(*kinds)) if each), _FIRST))
    return (each.text for each in sentences if each.text in chosen)


@cache
def _template() -> jinja2.Template:
    return environment(own_style=file("compare.css")).get_template("compare.html")
