"""Estimates as rows of a table: each figure with its interval, placement, proof and limit."""

from collections.abc import Iterable

import msgspec

from assay.model.comparison import Comparison
from assay.model.result import Analysis, Estimate, Finding
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import format_cpu_list
from assay.report import formatting, selection, verdicts
from assay.report.vocabulary import known


class Row(msgspec.Struct, frozen=True):
    """An estimate in a table.

    Attributes:
        estimate: with what it carries.
        anchor: of its row in the table of all figures; empty if it is not there.
        nodes: hosts, if they differ in the table.
        setting: axes and factors that vary.
        figure: the median with its ends; false without a figure.
    """

    estimate: Estimate
    anchor: str
    nodes: str
    setting: str
    figure: formatting.Shown

    @property
    def limit(self) -> str:
        """Value and source of the limit, or that none is known; empty without a figure."""
        return formatting.limit_text(self.estimate.limit, self.estimate.unit) if self.figure else ""

    @property
    def share(self) -> str:
        """Its share of the limit."""
        return formatting.share_cell(self.estimate)

    @property
    def samples(self) -> str:
        """The number of samples, and why sampling stopped."""
        e = self.estimate
        return text("{count} ({stop})", count=e.samples, stop=known(e.stop)) if e.stop else f"{e.samples:,}"


class Rows:
    """The maker of rows; it knows the estimates of an analysis and their place on the page."""

    def __init__(self, run: Run, analysis: Analysis, listed: Iterable[Estimate]) -> None:
        """Number the estimates of `analysis` that the table of all figures lists."""
        self._names, self._nodes = run.plan.names, len(run.plan.hosts)
        self._anchors = {e.id: f"e{number}" for number, e in enumerate(listed, start=1)}
        self._estimates = {e.id: e for e in analysis.estimates}
        self.comparisons = {
            c.id: verdicts.speeds(c, self._estimates[c.b].better) if c.b in self._estimates else c
            for c in analysis.comparisons
        }

    def table(self, estimates: Iterable[Estimate]) -> list[Row]:
        """Return the rows of a table of estimates; `setting` leaves out what all of them share."""
        estimates = tuple(estimates)
        names = selection.varied(estimates)
        several = len({e.placement.hosts for e in estimates}) > 1
        return [self._row(e, names, several) for e in estimates]

    def _row(self, e: Estimate, names: tuple[str, ...], several: bool) -> Row:  # noqa: FBT001 (private)
        units = e.declared.units
        values = {name: value for name in names if (value := e.factors.get(name, e.params.get(name))) is not None}
        setting = ", ".join(formatting.setting(name, value, units.get(name, "")) for name, value in values.items())
        nodes = ", ".join(e.placement.hosts) if several else ""
        return Row(e, self._anchors.get(e.id, ""), nodes, setting, formatting.shown(e))

    def evidence(self, finding: Finding) -> list[tuple[str, str]]:
        """Return the evidence of a finding: anchor (empty for a comparison) and text."""
        lines = []
        for name in finding.evidence:
            if name in self.comparisons:
                lines.append(("", self.compared(self.comparisons[name])))
            elif name in self._estimates:
                shown = formatting.shown(self._estimates[name]).full or text("not measured")
                lines.append(
                    (self._anchors.get(name, ""), text("{name}: {value}", name=self._name(name), value=shown))
                )
            else:
                lines.append(("", name))
        return lines

    def subjects(self, finding: Finding) -> dict[str, str]:
        """Return the estimates of a finding and of its comparisons: id -> benchmark."""
        pairs = ((each, self.comparisons.get(each)) for each in finding.evidence)
        found = {name for each, pair in pairs for name in ((pair.a, pair.b) if pair else (each,))}
        return {name: self._estimates[name].benchmark for name in found & self._estimates.keys()}

    def compared(self, comparison: Comparison) -> str:
        """Return a comparison in words: ratio of speeds, interval or range, pairs, verdict."""
        kind = verdicts.basis(comparison)
        ends = verdicts.why_no_interval(comparison) or text(
            "{value} ({basis})", value=verdicts.plain_ends(comparison), basis=kind
        )
        return text(
            "{a} against {b}: {ratio} times as fast, {ends}, {verdict}",
            a=self._name(comparison.a),
            b=self._name(comparison.b),
            ratio=formatting.factor(comparison.ratio),
            ends=ends,
            verdict=verdicts.word(comparison),
        )

    def _name(self, of: str) -> str:
        """An estimate in words, `hpl, all, n 8192 (rate)`; the id if its case is not in the plan."""
        e = self._estimates.get(of)
        if e is None or e.case not in self._names:
            return of
        host = e.placement.hosts if len(e.placement.hosts) == 1 < self._nodes else ()
        figure = " ".join(dict.fromkeys((e.kernel, e.metric)))
        return joined(", ", (f"{self._names[e.case]} ({figure})", *host, selection.state(e)))


def proof(e: Estimate) -> str:
    """Return the placement as the programs read it back."""
    proven = e.placement.proven
    if proven is None:
        return text("not read back")
    cpus = "; ".join(dict.fromkeys(format_cpu_list(cpus) for cpus in proven.cpus))
    pages = [
        text("{share} on node {node}", share=formatting.percent(share), node=node)
        for node, share in proven.page_nodes.items()
    ]
    asked = text("as requested") if proven.as_asked else text("NOT as requested")
    if not pages:
        return text("{asked}: cpus {cpus}", asked=asked, cpus=cpus)
    return text("{asked}: cpus {cpus}; pages {pages}", asked=asked, cpus=cpus, pages=joined(", ", pages))


def spread(e: Estimate) -> str:
    """Return the smallest and the largest sample, and the 99th percentile."""
    if e.min is None or e.max is None:
        return ""
    tail = f"p99 {formatting.quantity(e.p99, e.unit)}" if e.p99 is not None else ""
    ends = text("{low} to {high}", low=formatting.quantity(e.min, e.unit), high=formatting.quantity(e.max, e.unit))
    return joined("; ", (ends, tail))


def note(e: Estimate) -> str:
    """Return notes on modes and unsteadiness; or why there is no figure."""
    notes: list[str] = []
    if e.status != "complete":
        status = known(e.status)
        notes.append(text("{status}: {reason}", status=status, reason=e.reason) if e.reason else status)
    if e.modes:
        notes.append(
            text(
                "modes at {modes}", modes=formatting.listed(formatting.quantity(mode, e.unit) for mode in e.modes)
            )
        )
    if e.exceeds:
        most = formatting.limit_text(e.exceeds, e.unit)
        notes.append(text("beyond its limit, so never the best: {limit}", limit=most))
    if e.steady is False:
        notes.append(text("never reached a steady state"))
    return joined("; ", notes)
