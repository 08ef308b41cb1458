"""Many like nodes: who is in the middle, who falls behind."""

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import choose, figures, words
from assay.report.section import Section, Table, headings

order = 5
claims: frozenset[str] = frozenset()


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where one node was measured."""
    nodes = len(run.plan.hosts)
    crowds = _crowds(analysis)
    if nodes <= 1 or not crowds:
        return None
    largest = max(crowds.values(), key=lambda crowd: max(sum(map(len, e.placement.cpus)) for e in crowd))
    title = joined(", ", (choose.measure(largest[0]), words.placed(largest[0])))
    return Section(
        id="nodes",
        title=text("Node by node"),
        meaning=(_meaning(nodes, largest),),
        figures=(figures.nodes(largest, "figure-nodes", title),),
        tables=(_table(crowds),),
        rules=frozenset({"slow_node"}),
    )


def tables(_run: Run, _analysis: Analysis) -> tuple[Table, ...]:
    """None: a terminal says how far the nodes of a figure lie apart."""
    return ()


def _crowds(analysis: Analysis) -> dict[str, tuple[Estimate, ...]]:
    """Headline figures that several nodes have and that are no point of a curve, by what they are."""
    names = dict.fromkeys(e.benchmark for e in analysis.estimates if not choose.swept(e.benchmark))
    crowds: dict[str, tuple[Estimate, ...]] = {}
    for name in names:
        headline = choose.headline_kernel(choose.headline_metric(choose.of_benchmark(analysis, name)))
        crowds |= _labelled(choose.measured(headline))
    return {label: crowd for label, crowd in crowds.items() if len(crowd) > 1}


def _labelled(estimates: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    varied = choose.varied(estimates)
    return choose.grouped(estimates, lambda e: _label(e, varied))


def _label(estimate: Estimate, varied: tuple[str, ...]) -> str:
    series = choose.series(estimate, varied)
    return joined(", ", (estimate.kernel, words.placed(estimate), series))


def _table(crowds: dict[str, tuple[Estimate, ...]]) -> Table:
    rows = []
    for label, crowd in crowds.items():
        ordered = sorted(crowd, key=lambda e: e.median or 0.0)
        chosen = (ordered[0], ordered[len(ordered) // 2], ordered[-1])
        cells = [f"{', '.join(e.placement.hosts)}: {figure.short}" for e in chosen if (figure := words.shown(e))]
        rows.append((label, f"{len(crowd):,}", *cells))
    columns = headings("Figure", "Nodes", "Lowest", "Middle", "Highest")
    caption = text("Nodes with the lowest, the middle and the highest median")
    return Table(caption, columns, tuple(rows), frozenset({1}))


def _meaning(nodes: int, crowd: tuple[Estimate, ...]) -> str:
    ordered = sorted(crowd, key=lambda e: e.median or 0.0)
    low, high = words.shown(ordered[0]), words.shown(ordered[-1])
    told = text(
        "All {nodes} nodes ran the same programs. A parallel program waits for its slowest node, so the low end "
        "counts. Everywhere else in this report a figure is that of the node in the middle of them.",
        nodes=nodes,
    )
    if not low or not high:
        return told
    first, last = (", ".join(e.placement.hosts) for e in (ordered[0], ordered[-1]))
    here = text(
        "Here {where} lies between {low} on {first} and {high} on {last}.",
        where=words.placed(ordered[0]),
        low=low.full,
        first=first,
        high=high.full,
        last=last,
    )
    return joined(" ", (told, here))
