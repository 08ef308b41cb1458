"""Estimates as rows of a table: every figure with its interval, placement, proof and limit."""

from collections.abc import Iterable
from dataclasses import dataclass

from assay.model.benchmark import ParamValue
from assay.model.result import Analysis, Comparison, Estimate, Finding, Proof
from assay.model.text import joined, text
from assay.model.units import format_cpu_list
from assay.report import choose, verdicts, words
from assay.report.vocabulary import known


@dataclass(frozen=True)
class Row:
    """One estimate in words.

    Attributes:
        anchor: of its row in the table of all figures, empty where that has none.
        what: kernel.
        metric: name.
        placed: label and memory policy.
        nodes: hosts.
        setting: axes and factors that vary.
        state: of the machine, empty where one explains all.
        value: median with its unit, empty where there is none.
        ends: interval or range.
        basis: what the ends are.
        limit: value and source, or that none is known.
        limit_of: how the limit came about.
        share: of the limit.
        proof: what the programs read back.
        spread: least and largest sample, and the 99th percentile.
        samples: samples and why sampling stopped.
        note: modes, unsteadiness; or why there is no figure.
    """

    anchor: str
    what: str
    metric: str
    placed: str
    nodes: str
    setting: str
    state: str
    value: str
    ends: str
    basis: str
    limit: str
    limit_of: str
    share: str
    proof: str
    spread: str
    samples: str
    note: str


class Rows:
    """Makes rows; knows the estimates of an analysis and where the page lists them."""

    def __init__(self, analysis: Analysis, listed: Iterable[Estimate]) -> None:
        """Number the estimates of `analysis` that the table of all figures lists."""
        self._anchors = {e.id: f"e{number}" for number, e in enumerate(listed, start=1)}
        self._estimates = {e.id: e for e in analysis.estimates}
        self._comparisons = {c.id: c for c in analysis.comparisons}

    def table(self, estimates: Iterable[Estimate]) -> list[Row]:
        """Rows of estimates that share a table: what they all have in common is left out of `setting`."""
        estimates = tuple(estimates)
        names = choose.varied(estimates)
        several = len({e.placement.hosts for e in estimates}) > 1
        return [self._row(e, names, several) for e in estimates]

    def _row(self, e: Estimate, names: tuple[str, ...], several: bool) -> Row:  # noqa: FBT001 (private)
        figure = words.shown(e)
        units = choose.units(e.benchmark)
        values = {name: value for name in names if (value := e.factors.get(name, e.params.get(name))) is not None}
        return Row(
            anchor=self._anchors.get(e.id, ""),
            what=e.kernel,
            metric=e.metric,
            placed=words.placed(e),
            nodes=", ".join(e.placement.hosts) if several else "",
            setting=", ".join(_setting(name, value, units.get(name, "")) for name, value in values.items()),
            state=known(e.state or ""),
            value=f"{figure.value} {figure.unit}" if figure else "",
            ends=figure.ends if figure else "",
            basis=figure.basis if figure else "",
            limit=words.limit_text(e.limit, e.unit) if figure else "",
            limit_of=e.limit.of if e.limit else "",
            share=words.share_cell(e),
            proof=_proof(e.placement.proven),
            spread=_spread(e),
            samples=text("{count} ({stop})", count=e.samples, stop=known(e.stop)) if e.stop else f"{e.samples:,}",
            note=_note(e),
        )

    def evidence(self, finding: Finding) -> list[tuple[str, str]]:
        """What a finding stands on: anchor (empty for a comparison) and text."""
        lines = []
        for name in finding.evidence:
            if name in self._comparisons:
                lines.append(("", compared(self._comparisons[name])))
            elif name in self._estimates:
                figure = words.shown(self._estimates[name])
                shown = figure.full if figure else text("not measured")
                lines.append((self._anchors.get(name, ""), text("{name}: {value}", name=name, value=shown)))
            else:
                lines.append(("", name))
        return lines

    def subjects(self, finding: Finding) -> set[str]:
        """Ids of the estimates that a finding is about, those inside its comparisons too."""
        found = set()
        for name in finding.evidence:
            comparison = self._comparisons.get(name)
            found |= {comparison.a, comparison.b} if comparison else {name}
        return found & set(self._estimates)

    def benchmarks(self, finding: Finding) -> set[str]:
        """Benchmarks that a finding is about."""
        return {self._estimates[name].benchmark for name in self.subjects(finding)}


def compared(comparison: Comparison) -> str:
    """A comparison in words: ratio, interval or range, pairs, verdict."""
    kind = verdicts.basis(comparison)
    ends = verdicts.alone(comparison) or text(
        "{value} ({basis})", value=verdicts.plain_ends(comparison), basis=kind
    )
    return text(
        "{a} against {b}: {ratio}, {ends}, {verdict}",
        a=comparison.a,
        b=comparison.b,
        ratio=f"×{comparison.ratio:.3f}",  # noqa: RUF001 (a factor)
        ends=ends,
        verdict=known(comparison.verdict),
    )


def _setting(name: str, value: ParamValue, unit: str) -> str:
    """A level; a number that is no size with its name."""
    bare = isinstance(value, str) or unit == "B"
    return words.param(value, unit) if bare else f"{name} {words.param(value)}"


def _proof(proof: Proof | None) -> str:
    if proof is None:
        return text("not read back")
    cpus = "; ".join(dict.fromkeys(format_cpu_list(cpus) for cpus in proof.cpus))
    pages = [
        text("{share} on node {node}", share=words.percent(share), node=node)
        for node, share in proof.page_nodes.items()
    ]
    asked = text("as asked") if proof.as_asked else text("NOT as asked")
    if not pages:
        return text("{asked}: cpus {cpus}", asked=asked, cpus=cpus)
    return text("{asked}: cpus {cpus}; pages {pages}", asked=asked, cpus=cpus, pages=joined(", ", pages))


def _spread(e: Estimate) -> str:
    if e.min is None or e.max is None:
        return ""
    tail = f"p99 {words.quantity(e.p99, e.unit)}" if e.p99 is not None else ""
    ends = text("{low} to {high}", low=words.quantity(e.min, e.unit), high=words.quantity(e.max, e.unit))
    return joined("; ", (ends, tail))


def _note(e: Estimate) -> str:
    notes: list[str] = []
    if e.status != "complete":
        status = known(e.status)
        notes.append(text("{status}: {reason}", status=status, reason=e.reason) if e.reason else status)
    if e.modes:
        notes.append(
            text("modes at {modes}", modes=words.listed(words.quantity(mode, e.unit) for mode in e.modes))
        )
    if e.steady is False:
        notes.append(text("never became steady"))
    return joined("; ", notes)
