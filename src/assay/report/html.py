"""The report as one self-contained HTML file with its raw data."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from functools import cache
from itertools import chain

import jinja2
import msgspec

from assay.analyse.findings import concerning
from assay.model import roles
from assay.model.comparison import Comparison
from assay.model.imported import UNSTATED, Printed
from assay.model.machine import Machine
from assay.model.result import Analysis, Estimate, Finding
from assay.model.run import Run
from assay.model.text import encoded, joined, text
from assay.report import (
    drawing,
    fitted,
    formatting,
    provenance,
    published,
    raw,
    remedies,
    repetition,
    selection,
    vega,
    verdicts,
)
from assay.report.ahead import Ahead
from assay.report.environment import environment, file, rendered
from assay.report.plotters import Plotters
from assay.report.rows import Row, Rows, note, proof, spread
from assay.report.section import Headline, Section
from assay.report.sections import cards, contrast, sections
from assay.report.summary import by_severity, gathered, heading, spent, summary, unmeasured
from assay.report.vocabulary import known

#: If a page has more figures, only the first few have a version for phones.
_MANY, _FEW = 24, 8
#: A section with more estimates has no table of its own: all figures are in the last table.
_ROWS = 1000
#: Maximum number of comparisons in a section, claims first; the data of the page has all.
_COMPARED = 200
#: If there are more estimates, the table has those of the median node; if these are still more, the first ones and
#: those that findings name. The data of the page has all.
_LISTED = 3000
#: More points of models are left out of the data of the page: `assay show --json` has them.
_POINTS = 10_000

SEVERITY = {
    "problem": ("✕", text("Problem")),
    "advice": ("▲", text("Advice")),
    "fact": ("●", text("Observation")),
}


class _Topic(msgspec.Struct, frozen=True):
    """A section with its content on the page; `compared`: the number of comparisons."""

    section: Section
    drawing: tuple[Future[vega.Drawn], ...]
    rows: list[Row]
    comparisons: tuple[str, ...]
    compared: int
    findings: tuple[Finding, ...]


class _Node(msgspec.Struct, frozen=True):
    """A drawn machine with all nodes of the same topology."""

    machine: Machine
    hosts: tuple[str, ...]
    measured: frozenset[int]


def render(
    run: Run,
    analysis: Analysis,
    language: str = "en",
    compared: Section | None = None,
    ahead: Ahead | None = None,
) -> str:
    """Return the whole page as HTML. Foreign content is escaped; scripts run by their hash only.

    It opens in `language`, one of `LANGUAGES`, if its reader has chosen none. `compared`: the section with the
    curves of an import, before all topics. `ahead`: the parts that were made during the analysis.
    """
    with closing(ahead or Ahead(run)) as prepared:
        packed = prepared.packed(run)
        listed = _listed(analysis)
        rows = Rows(run, analysis, listed)
        written = [*([compared] if compared else []), *sections(run, analysis)]
        topics, other = _topics(analysis, rows, written, prepared.plotters)
        index, samples = packed.result()
        headlines = _headlines(run, topics)
        page = {
            "run": run,
            "analysis": analysis,
            "summary": summary(run, analysis, headlines),
            "heading": heading(run),
            "headlines": headlines,
            "repeated": repetition.glance(analysis.repetition, (run,)),
            "legend": tuple(_legend([each.estimate for each in headlines])),
            "nodes_of_machine": provenance.nodes(run),
            "kind": provenance.kind(run),
            "in_words": list(chain.from_iterable(topic.section.summary for topic in topics)),
            "contrast": contrast(analysis),
            "cards": cards(analysis),
            "nodes": _nodes(run),
            "topics": topics,
            "other_findings": [each for each in other if each.rule not in concerning("missing")],
            "missing_findings": [each for each in other if each.rule in concerning("missing")],
            "not_assessed": [f for f in analysis.findings if not f.assessed],
            "unmeasured": {
                status: gathered(run, ((each.case, each.reason) for each in outcomes))
                for status, outcomes in unmeasured(analysis).items()
            },
            "spent": spent(analysis),
            "cut": gathered(
                run, ((case, str(why)) for case, why in (run.ending.cut if run.ending else {}).items())
            ),
            "unfitted": fitted.unfitted(analysis),
            "all_rows": [
                (selection.named(run, members[0]), rows.table(members))
                for members in selection.grouped(listed, lambda e: e.benchmark).values()
            ],
            "listed": len(listed),
            "stated": provenance.machine(run),
            "provenance": provenance.provenance(run),
            "sources": provenance.sources(analysis),
            "samples": samples,
            "index": raw.compressed(index),
            "estimates": raw.compressed(encoded(_without_many_points(analysis))),
            "many_points": _points(analysis) > _POINTS,
            "held": msgspec.json.decode(index, type=raw.RawIndex),
            "remedy": lambda text: remedies.typed(text, run),
            "resumed": remedies.resumed(run),
            # curves that a reader can add to the figures of messages
            "published": published.curves() if any(f.pattern for each in written for f in each.figures) else (),
            "evidence": rows.evidence,
        }
        scripts = {"script": file("report.js"), "published_script": file("published.js")}
        return rendered(_template(), page, scripts, language, prepared.library.result())


def _headlines(run: Run, topics: list[_Topic]) -> list[Headline]:
    """Each figure once: figures with a limit first, limits of other figures last, else in the order of the study.

    Where a publication is repeated, whole problems come first: such studies end with them. A problem comes before
    the work that it mostly does. In an import, bare numbers come last, limits of other
    figures are left out, and the second figures of programs follow the first figures of all programs.
    """
    once: dict[str, Headline] = {}
    for each in (each for topic in topics for each in topic.section.headlines):
        once.setdefault(each.estimate.id, each)
    order = {name: at for at, name in enumerate(dict.fromkeys(case.benchmark for case in run.plan.cases))}
    every = sorted(once.values(), key=lambda each: order.get(each.estimate.measurand.program, len(order)))
    if run.imported:
        of = selection.grouped(every, lambda each: each.estimate.measurand.program).values()
        turn = {each.estimate.id: at for members in of for at, each in enumerate(members)}
        every.sort(key=lambda each: (each.estimate.unit in {"", "share"}, turn[each.estimate.id]))
    known = [(each.estimate, each.estimate.limit) for each in every if each.estimate.limit]
    measured, stated = {limit.measured_by for _, limit in known}, {(e.unit, limit.value) for e, limit in known}
    kept = [each for each in every if not (run.imported and (each.estimate.unit, each.estimate.median) in stated)]
    solved = {roles.role(each.estimate) for each in kept}
    kept.sort(key=lambda each: bool(solved & roles.solved_by(each.estimate)))
    kept.sort(key=lambda each: (formatting.bar(each.estimate) is None, each.estimate.id in measured))
    if run.plan.reference:
        kept.sort(key=lambda each: not each.estimate.declared.solves)
        kept.sort(key=lambda each: each.estimate.unit == "")
    return [_with_details(run, each) for each in kept]


def _legend(shown: Sequence[Estimate]) -> Iterator[str]:
    """How to read the headline figures, for the marks that they have."""
    drawn, bases = any(map(formatting.bar, shown)), {each.basis for each in shown}
    if drawn:
        yield text("Black line: the limit.")
    if "interval" in bases:
        yield text("[a, b], thin line: 95 % interval." if drawn else "[a, b]: 95 % interval.")
    if "range" in bases:
        yield text("a to b: min to max of the launches (not a confidence interval).")
    if any(map(formatting.vague, shown)):
        yield text("Grey: wider than 10 % of the figure, or one launch.")


def _details(headline: Headline, analysis: Analysis) -> str:
    """The small type of a headline: the kernel if others have the metric, levels if there are several, details."""
    e = headline.estimate
    names = selection.chosen(e, selection.of_benchmark(analysis, e.benchmark))
    levels = selection.levels(e, names) if names else ""
    further = (each for each in (selection.kernel_among_several(e), levels) if each not in headline.label)
    return joined(", ", (*further, selection.state(e), headline.detail))


def _with_details(run: Run, headline: Headline) -> Headline:
    """The headline with the number of its nodes if there are several; in an import with its tool and place."""
    placed, printed = headline.estimate.placement, headline.estimate.printed
    is_clear = headline.counts_nodes or placed.word.over or placed.label == UNSTATED or provenance.nodes(run) <= 1
    nodes = "" if is_clear else formatting.count(placed.nodes, "node", "nodes")
    details = (headline.detail, nodes, *(_printed(run, headline, printed) if printed else ()))
    return msgspec.structs.replace(headline, detail=joined(", ", details))


def _printed(run: Run, headline: Headline, printed: Printed) -> tuple[str, str]:
    """The tool that printed a headline, and the place."""
    tool = "" if printed.tool in headline.label else printed.tool
    if not run.info.command and run.plan.declared(headline.estimate.measurand.program).is_known:
        return tool, ""  # the place in a publication is long: only names of its authors have it
    return tool, f"{printed.source}:{printed.line}" if printed.line else printed.place


def _points(analysis: Analysis) -> int:
    return sum(len(model.points) for model in analysis.models)


def _without_many_points(analysis: Analysis) -> Analysis:
    """The analysis in the data of the page: without the points of models if they are very many."""
    if _points(analysis) <= _POINTS:
        return analysis
    models = tuple(msgspec.structs.replace(model, points=()) for model in analysis.models)
    return msgspec.structs.replace(analysis, models=models)


def _listed(analysis: Analysis) -> tuple[Estimate, ...]:
    """The estimates in the table of all figures."""
    every = analysis.estimates
    listed = every if len(every) <= _LISTED else selection.middle(every)
    if len(listed) <= _LISTED:
        return listed
    named = set(chain.from_iterable(finding.evidence for finding in analysis.findings))
    return tuple(e for at, e in enumerate(listed) if at < _LISTED or e.id in named)


def _topics(
    analysis: Analysis, rows: Rows, written: list[Section], plotters: Plotters
) -> tuple[list[_Topic], list[Finding]]:
    """Sections with their findings, and the findings that belong to no section."""
    homes: dict[str, list[Finding]] = {section.id: [] for section in written}
    other: list[Finding] = []
    for finding in by_severity(analysis):
        home = _home(finding, written, rows)
        (homes[home] if home else other).append(finding)
    ids = {e.id: section.id for section in reversed(written) for e in section.estimates}
    compared_in: dict[str, list[Comparison]] = {}
    for comparison in rows.comparisons.values():
        for name in {ids.get(comparison.a, ""), ids.get(comparison.b, "")}:
            compared_in.setdefault(name, []).append(comparison)
    topics = []
    room = _MANY if sum(len(section.figures) for section in written) <= _MANY else _FEW
    for section in written:
        pairs = compared_in.get(section.id, [])
        topics.append(
            _Topic(
                section,
                tuple(plotters.draw(figure, twice=at < room) for at, figure in enumerate(section.figures)),
                rows.table(section.estimates) if len(section.estimates) <= _ROWS else [],
                tuple(map(rows.compared, _first(pairs))),
                len(pairs),
                tuple(homes[section.id]),
            )
        )
        room -= len(section.figures)
    return topics, other


def _first(pairs: list[Comparison]) -> list[Comparison]:
    """If there are many comparisons, those with a claim first, the largest first."""
    if len(pairs) <= _COMPARED:
        return pairs
    return sorted(pairs, key=lambda c: (c.verdict not in verdicts.CLAIMS, -abs(math.log(c.ratio))))[:_COMPARED]


def _home(finding: Finding, written: list[Section], rows: Rows) -> str:
    """The section that names the rule; else the one with most of the evidence in its list or its benchmarks."""
    subjects = rows.subjects(finding)

    def shown(section: Section) -> tuple[int, bool]:
        own, here = {e.id for e in section.estimates}, section.benchmarks
        count = sum(name in own if own else of in here for name, of in subjects.items())
        return count, bool(here & {*subjects.values()})

    claimed = next((section.id for section in written if finding.rule in section.rules), "")
    best = max(written, key=shown, default=None)
    return claimed or (best.id if best and any(shown(best)) else "")


def _nodes(run: Run) -> list[_Node]:
    """Machines to draw; equal ones once."""
    used: dict[str, frozenset[int]] = {}
    for case in run.plan.cases:
        for host in case.placement.hosts:
            used[host] = used.get(host, frozenset()) | frozenset(case.placement.cpus)
    anywhere = frozenset().union(*used.values())
    groups = selection.grouped(run.machines, lambda host: msgspec.json.encode(run.machines[host].topology))
    return [
        _Node(run.machines[hosts[0]], hosts, frozenset().union(*(used.get(host, anywhere) for host in hosts)))
        for hosts in groups.values()
    ]


@cache
def _template() -> jinja2.Template:
    return environment(
        boxes=drawing.boxes,
        described=drawing.described,
        severity=SEVERITY,
        shown=formatting.shown,
        count=formatting.count,
        seconds=formatting.seconds,
        against=formatting.against,
        bar=formatting.bar,
        vague=formatting.vague,
        details=_details,
        placed=formatting.placed,
        note=note,
        proof=proof,
        spread=spread,
        fact=provenance.fact,
        sentence=formatting.sentence,
        known=known,
    ).get_template("report.html")
