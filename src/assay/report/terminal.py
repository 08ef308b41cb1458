"""The report in a terminal of 80 columns: figures, findings, missing cases."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.model.left_out import Folded
from assay.model.noise import Noise
from assay.model.result import Analysis, Estimate, Finding
from assay.model.run import Run
from assay.model.text import joined
from assay.model.units import format_share_with_ends
from assay.report import formatting, provenance, remedies, repetition_screen, selection
from assay.report.screen import Screen
from assay.report.sections import cards, contrast, declared, drawn_elsewhere
from assay.report.summary import by_severity, heading, notices, shortfall, spent, unmeasured, verdict

#: Rows of one benchmark, and lines on their limits, at most; the HTML report has all.
_ROWS, _LIMITS = 12, 3
_GRADE = {"good": "bold green", "care": "bold yellow", "bad": "bold red"}
_SEVERITY = {"problem": ("✗", "x", "red"), "advice": ("▲", "!", "yellow"), "fact": ("•", "*", "blue")}


def render(run: Run, analysis: Analysis, console: Console) -> None:
    """Print the report of a run."""
    page = Screen(console)
    dot = "·" if page.unicode else "-"
    page.say(Text(str(heading(run)), style="bold"), Text(f" {dot} run {run.info.id}", style="dim"))
    page.say(_machine(run, dot))
    usable = verdict(run, analysis)
    page.say(Text(joined(" ", (usable.sentence, usable.reason, usable.beyond)), style=_GRADE[usable.grade]))
    if (cut := shortfall(run, analysis)) and cut != usable.reason:
        page.say(Text(cut, style="bold yellow"))
    _claims(notices(analysis), run, page)
    if analysis.repetition:
        repetition_screen.render(analysis.repetition, page, run)
    _topics(run, analysis, page)
    if selection.measured(analysis.estimates) and not run.imported:
        page.say()
        page.say(
            Text(
                "[a, b]: 95 % interval of n launches; a to b: min to max of them (not a confidence interval)",
                "dim",
            )
        )
    _paths(analysis, page)
    noticed = notices(analysis)
    _claims(tuple(each for each in by_severity(analysis) if each not in noticed), run, page, "Findings")
    _missing(run, analysis, page)
    if not run.imported:
        page.say()
        page.say(f"Noise: {_noise(analysis.noise)}.")
    if sentence := spent(analysis):
        page.say(sentence)


def _machine(run: Run, dot: str) -> str:
    """The machine in one line."""
    machine = next(iter(run.machines.values()), None)
    if machine is None:
        return run.plan.machine
    topology, model = machine.topology, machine.fact("processor", "model")
    parts = [
        machine.host if len(run.plan.hosts) <= 1 else formatting.count(len(run.plan.hosts), "node", "nodes"),
        str(model.value) if model.known else "",
        formatting.count(len(topology.packages), "package", "packages"),
        formatting.count(len(topology.numa_nodes), "memory node", "memory nodes"),
        formatting.count(len(topology.cores), "core", "cores"),
        f"{formatting.count(len(topology.allowed_cpus), 'cpu', 'cpus')} allowed",
        *provenance.levels(run),
    ]
    return f" {dot} ".join(filter(None, parts))


def _topics(run: Run, analysis: Analysis, page: Screen) -> None:
    """The tables of each topic; for benchmarks without one the headline figures, at the place of their topic."""
    if not selection.measured(analysis.estimates):
        page.say()
        page.say("Nothing was measured.")
    names = list(dict.fromkeys(e.benchmark for e in analysis.estimates))
    for topic in declared():
        found = topic.tables(run, analysis)
        for table in found:
            page.table(table, table.short)
        for name in [name for name in names if name in topic.claims]:
            names.remove(name)
            if not found:
                _figures(run, analysis, name, page)
    for name in names:
        _figures(run, analysis, name, page)


def _figures(run: Run, analysis: Analysis, name: str, page: Screen) -> None:
    """The headline figures of a benchmark, without those that a topic shows as a matrix or a curve."""
    elsewhere = drawn_elsewhere(analysis)
    estimates = selection.headline_metric(selection.of_benchmark(analysis, name))
    rows, more = _rows(tuple(e for e in estimates if e.id not in elsewhere))
    if not rows:
        return
    page.heading(selection.named(run, estimates[0]))
    page.rows(_COLUMNS, rows)
    for limit in _limits(analysis, name):
        page.say(Text(limit, style="dim"), indent=2)
    if more:
        page.say(Text(f"{more} more: assay report, assay show --json", style="dim"), indent=2)


def _limits(analysis: Analysis, name: str) -> tuple[str, ...]:
    """The limits of a benchmark's table, part by part; none if there are many."""
    headline = selection.headline_kernel(selection.headline_metric(selection.of_benchmark(analysis, name)))
    known = dict.fromkeys((e.limit, e.unit) for e in headline if e.limit)
    texts = (f"limit {formatting.limit_text(limit, unit)}: {limit.of}" for limit, unit in known if limit)
    return tuple(texts) if len(known) <= _LIMITS else ()


_COLUMNS = (
    ("what", "left"),
    ("placement", "left"),
    ("median", "right"),
    ("interval", "right"),
    ("of limit", "right"),
)


def _rows(estimates: tuple[Estimate, ...]) -> tuple[list[tuple[str, ...]], int]:
    """Rows of a benchmark, and how many were left out: the best of a curve, the spread of many nodes."""
    headline = selection.measured(selection.headline_kernel(estimates))
    axis = headline[0].declared.swept if headline else ""
    names = tuple(name for name in selection.varied(headline) if name != axis)
    groups = selection.grouped(headline, lambda e: (formatting.placed(e), selection.series(e, names)))
    if axis:
        return [_curve_row(members, axis, names) for members in groups.values()], 0
    rows = [_row(members, names) for members in groups.values()]
    return rows[:_ROWS], max(0, len(rows) - _ROWS)


def _curve_row(members: tuple[Estimate, ...], axis: str, names: tuple[str, ...]) -> tuple[str, ...]:
    best = selection.best(members) or members[0]
    size = formatting.param(best.params[axis], best.declared.units.get(axis, ""))
    what, *rest = _row((best,), names)
    return (f"{what}, best at {size}", *rest)


def _row(members: tuple[Estimate, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """One row: an estimate, or the median of many nodes with their spread."""
    ordered = selection.slowest_first(members)
    middle = ordered[len(ordered) // 2]
    figure = formatting.shown(middle)
    if not figure:
        return ("", "", "", "", "")
    series = selection.series(middle, names)
    what = f"{middle.kernel}{f', {series}' if series else ''}"
    hosts = len({e.placement.hosts for e in members})
    if hosts > 1:
        low, high = ordered[0].median, ordered[-1].median
        spread = f"{formatting.quantity(low, middle.unit)} to {formatting.quantity(high, middle.unit)}"
        placed = f"{formatting.placed(middle)}, {hosts:,} nodes"
        return (what, placed, figure.plain, f"nodes {spread}", formatting.share_cell(middle))
    limit = formatting.share_cell(middle)
    ends = f"{figure.ends} n={middle.launches}"
    return (what, formatting.placed(middle), figure.plain, ends, limit)


def _paths(analysis: Analysis, page: Screen) -> None:
    """The performance of each path of messages, and its limits."""
    found = cards(analysis)
    if not found:
        return
    page.heading("The network in words")
    for line in contrast(analysis):
        page.say(formatting.sentence(line), indent=2)
    for card in found:
        page.say()
        page.say(Text(card.name, style="bold"), Text(f"  {card.where}", style="dim"), indent=2)
        grid = Table.grid(padding=(0, 2, 0, 0))
        for row in card.rows:
            grid.add_row(Text(row.name, style="dim", no_wrap=True), Text(page.text(row.sentence)))
        page.indented(grid, 4)


def _claims(findings: tuple[Finding, ...], run: Run, page: Screen, title: str = "") -> None:
    """Findings with their remedies under a title; nothing without findings."""
    if findings:
        page.say()
    if findings and title:
        page.say(Text(title, style="bold"))
    grid = Table.grid(padding=(0, 2, 0, 0))
    for finding in findings:
        symbol, plain, colour = _SEVERITY[finding.severity]
        tag = Text(f"{symbol if page.unicode else plain} {finding.severity}", style=f"bold {colour}", no_wrap=True)
        doubt = "Candidate: " if finding.status == "candidate" else ""
        claim = Text(page.text(doubt + formatting.sentence(finding.claim)))
        if finding.next:
            claim.append(page.text(f"\nnext: {formatting.apart(remedies.typed(finding.next, run))}"), style="dim")
        grid.add_row(tag, claim)
    page.indented(grid, 2)


def _missing(run: Run, analysis: Analysis, page: Screen) -> None:
    """Cases that were not measured, by their status and reason."""
    lines = []
    ended = [(status, each) for status, outcomes in unmeasured(analysis).items() for each in outcomes]
    studied = {case.id for case in run.plan.studied}
    groups = selection.grouped(ended, lambda end: (end[0], end[1].case in studied, end[1].reason))
    for (status, known, reason), outcomes in groups.items():
        why = reason or "no reason recorded"
        count = (
            formatting.count(len(outcomes), "case", "cases")
            if known
            else formatting.count(len(outcomes), "control measurement", "control measurements")
        )
        lines.append(f"{count} {status}: {why}")
    lines += [f"{out.request}: {out.reason}" for out in run.plan.left_out]
    if run.plan.folded:
        lines.append(f"equivalent here, measured once: {_folded(run.plan.folded)}")
    if run.ending is None:
        lines.append(f"the run did not end; continue with: assay run --resume {remedies.resumed(run)}")
    lines += [f"damaged: {damage}" for damage in run.damage]
    if lines:
        page.heading("Not measured")
        for line in lines:
            page.say(line, indent=2)


def _folded(folds: tuple[Folded, ...]) -> str:
    """`half and cores:1 as one-core; all:numa:0 as all`."""
    groups = selection.grouped(folds, lambda fold: fold.into)
    return "; ".join(
        f"{formatting.listed(fold.request for fold in members)} as {into}" for into, members in groups.items()
    )


def _noise(noise: Noise) -> str:
    parts = [f"{noise.disturbed} of {formatting.count(noise.launches, 'launch', 'launches')} disturbed"]
    if noise.lost is not None:
        parts.append(f"{format_share_with_ends(noise.lost)} % of the time lost to stops and slower moments")
    if noise.drift is not None:
        parts.append(f"drift {100 * noise.drift:+z.1f} %")
    if noise.steal is not None:
        parts.append(f"steal {formatting.percent(noise.steal)}")
    if noise.foreign is not None:
        parts.append(f"other processes at most {formatting.percent(noise.foreign)}")
    if noise.waited_s:
        parts.append(f"waited {formatting.quantity(noise.waited_s, 's')} for them")
    if len(noise.states) > 1:
        parts.append(
            "states "
            + ", ".join(f"{name} {formatting.quantity(at, 's')}" for name, (_, at) in noise.states.items())
        )
    return ", ".join(parts)
