"""One HTML file that stands alone: no server, nothing loaded from outside, its raw data inside."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import chain

import jinja2
import msgspec
from markupsafe import Markup

from assay import __version__
from assay.model.machine import Machine
from assay.model.result import Analysis, Finding
from assay.model.run import Run
from assay.report import choose, drawing, fitted, provenance, raw, remedies, vega, words
from assay.report.rows import Row, Rows, compared
from assay.report.section import Section
from assay.report.sections import sections
from assay.report.summary import by_severity, planned, summary, unmeasured

#: Of more estimates than these, the table has those of the node in the middle; the page's data has them all.
_LISTED = 3000

SEVERITY = {"problem": ("✕", "Problem"), "advice": ("▲", "Advice"), "fact": ("●", "Observation")}


@dataclass(frozen=True)
class _Topic:
    """A section with what the page puts into it."""

    section: Section
    drawn: tuple[vega.Drawn, ...]
    rows: list[Row]
    comparisons: tuple[str, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class _Node:
    """A machine drawn, for all nodes that are like it."""

    machine: Machine
    hosts: tuple[str, ...]
    measured: frozenset[int]


def render(run: Run, analysis: Analysis) -> str:
    """The whole page. Everything from outside is escaped; scripts run by their hash alone."""
    with ThreadPoolExecutor(1) as pool:
        library = pool.submit(vega.library)
        listed = analysis.estimates if len(analysis.estimates) <= _LISTED else choose.middle(analysis.estimates)
        rows = Rows(analysis, listed)
        topics, other = _topics(run, analysis, rows)
        index, samples = raw.pack(run)
        page = {
            "run": run,
            "analysis": analysis,
            "summary": summary(run, analysis),
            "headlines": list(chain.from_iterable(topic.section.headlines for topic in topics)),
            "lead": _lead(run, analysis),
            "nodes": _nodes(run),
            "topics": topics,
            "other_findings": other,
            "not_assessed": [f for f in analysis.findings if f.status == "not assessed"],
            "unmeasured": unmeasured(analysis),
            "unfitted": fitted.unfitted(analysis),
            "all_rows": [
                (choose.title(name), rows.table(members))
                for name, members in choose.grouped(listed, lambda e: e.benchmark).items()
            ],
            "unlisted": len(analysis.estimates) - len(listed),
            "provenance": provenance.provenance(run),
            "sources": provenance.sources(analysis),
            "samples": samples,
            "index": raw.compressed(index),
            "estimates": raw.compressed(msgspec.json.encode(analysis)),
            "sample_count": msgspec.json.decode(index, type=raw.RawIndex).samples,
            "remedy": lambda text: remedies.typed(text, run),
            "version": __version__,
        }
        script = _file("report.js")
        policy = {"script_hashes": [vega.script_hash(script), library.result().sha256]}
        return _template().render(
            page | policy, library=library.result().text, script=script, evidence=rows.evidence
        )


def _topics(run: Run, analysis: Analysis, rows: Rows) -> tuple[list[_Topic], list[Finding]]:
    """Sections with their findings beside them; findings that belong to none."""
    written = sections(run, analysis)
    homes: dict[str, list[Finding]] = {section.id: [] for section in written}
    other: list[Finding] = []
    for finding in by_severity(analysis):
        home = _home(finding, written, rows)
        (homes[home] if home else other).append(finding)
    ids = {e.id: section.id for section in reversed(written) for e in section.estimates}
    topics = [
        _Topic(
            section,
            tuple(vega.drawn(figure) for figure in section.figures),
            rows.table(section.estimates),
            tuple(compared(c) for c in analysis.comparisons if section.id in {ids.get(c.a), ids.get(c.b)}),
            tuple(homes[section.id]),
        )
        for section in written
    ]
    return topics, other


def _home(finding: Finding, written: list[Section], rows: Rows) -> str:
    """The section that claims the rule; else the one that shows most of the evidence; else its benchmark's."""
    subjects, names = rows.subjects(finding), rows.benchmarks(finding)
    claimed = next((section.id for section in written if finding.rule in section.rules), "")
    shared = {section.id: len(subjects & {e.id for e in section.estimates}) for section in written}
    best = max(shared, key=lambda name: shared[name], default="")
    by_name = next((section.id for section in written if section.benchmarks & names), "")
    return claimed or (best if best and shared[best] else by_name)


def _lead(run: Run, analysis: Analysis) -> str:
    """What was measured, where and when, in two sentences; of figures of others where they come from."""
    measured = choose.measured(analysis.estimates)
    topics = words.listed(dict.fromkeys(choose.title(e.benchmark) for e in measured)) or "nothing"
    if run.imported:
        sources = words.listed(source.name for source in run.imported.sources)
        return (
            f"Assay measured none of this: the figures are of {run.plan.machine}, as they stand in {sources}. "
            f"They have no samples, so nothing is said to be significant. The topics: {topics}."
        )
    hosts = len(run.plan.hosts)
    where = run.plan.machine if hosts <= 1 else f"{hosts:,} nodes such as {run.plan.hosts[0]}"
    wished = planned(run, analysis)
    complete = sum(outcome.status == "complete" for outcome in wished)
    cases = words.count(len(wished), "case", "cases")
    launches = words.count(len(run.launches), "launch", "launches")
    took = f", which took {words.seconds(run.ending.elapsed_s)}" if run.ending else ""
    return (
        f"On {run.info.started[:10]} Assay measured {where}{_kind(run)}. {launches} in random order measured "
        f"{'' if complete == len(wished) else f'{complete:,} of '}{cases}{took}. The topics: {topics}."
    )


def _kind(run: Run) -> str:
    """What the machine is, in a bracket: processor, cores, memory."""
    machine = next(iter(run.machines.values()), None)
    if machine is None:
        return ""
    model = machine.fact("processor", "model")
    memory = f"{provenance.fact(machine.memory)} of memory" if machine.memory.known else ""
    cores = words.count(len(machine.topology.cores), "core", "cores")
    parts = [str(model.value) if model.known else "", cores, memory]
    return f" ({', '.join(filter(None, parts))})"


def _nodes(run: Run) -> list[_Node]:
    """Machines to draw, like ones once."""
    used: dict[str, frozenset[int]] = {}
    for case in run.plan.cases:
        for host in case.placement.hosts:
            used[host] = used.get(host, frozenset()) | frozenset(case.placement.cpus)
    anywhere = frozenset().union(*used.values())
    groups: dict[bytes, list[str]] = {}
    for host, machine in run.machines.items():
        groups.setdefault(msgspec.json.encode(machine.topology), []).append(host)
    return [
        _Node(
            run.machines[hosts[0]],
            tuple(hosts),
            frozenset().union(*(used.get(host, anywhere) for host in hosts)),
        )
        for hosts in groups.values()
    ]


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("assay.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals |= {
        "draw": drawing.draw,
        "described": drawing.described,
        "narrow": drawing.NARROW,
        "style": _file("report.css"),
        "severity": SEVERITY,
        "shown": words.shown,
        "limit_text": words.limit_text,
        "against": words.against,
        "placed": words.placed,
        "fact": provenance.fact,
        "sentence": words.sentence,
        "prose": prose,
    }
    return environment.get_template("report.html")


def prose(text: str) -> Markup:
    """A sentence in HTML, what stands between backticks as code."""
    if words.is_command(text):
        return Markup("<code>{}</code>").format(text)
    parts = re.split(r"`([^`]+)`", words.sentence(text))
    return Markup().join(
        Markup("<code>{}</code>").format(part) if number % 2 else part for number, part in enumerate(parts)
    )


def _file(name: str) -> str:
    return resources.files("assay.report").joinpath("templates", name).read_text("utf-8")
