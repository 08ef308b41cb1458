"""Many similar nodes: the median node and the slow ones."""

from collections.abc import Iterable
from functools import partial

from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, selection
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, headings
from assay.topics.health.ranked import Node, ranked

#: A figure, and its estimates from the slowest node on.
_Crowd = tuple[str, tuple[Estimate, ...]]


def _crowds(scene: Scene) -> list[_Crowd]:
    """Return the headline figures of several nodes that are not points of a curve."""
    analysis, found = scene.analysis, list[_Crowd]()
    for name in dict.fromkeys(e.benchmark for e in analysis.estimates if not e.declared.swept):
        headline = selection.headline_kernel(selection.headline_metric(selection.of_benchmark(analysis, name)))
        measured = selection.measured(headline)
        label_of = partial(_label, varied=selection.varied(measured))
        for label, crowd in selection.grouped(measured, label_of).items():
            if len(crowd) > 1:
                found.append((label, selection.slowest_first(crowd)))
    return found


def _label(estimate: Estimate, varied: tuple[str, ...]) -> str:
    return joined(", ", (estimate.kernel, formatting.placed(estimate), selection.series(estimate, varied)))


def _largest(scene: Scene) -> tuple[Estimate, ...]:
    """Return the estimates of the figure that uses most cpus."""
    crowds = [crowd for _, crowd in scene.cached(_crowds)] if len(scene.run.plan.hosts) > 1 else []
    return max(crowds, key=lambda crowd: max(sum(map(len, e.placement.cpus)) for e in crowd), default=())


def _host(estimate: Estimate) -> str:
    return ", ".join(estimate.placement.hosts)


def _charts(scene: Scene) -> tuple[Figure, ...]:
    """Draw the nodes, the slowest first."""
    crowd = _largest(scene)
    factor, unit = figures.scaled(crowd)
    nodes = [
        Node(_host(e), factor * (e.median or 0.0), formatting.shown(e).plain, formatting.basis(e)) for e in crowd
    ]
    title = joined(", ", (selection.measure(crowd[0]), formatting.placed(crowd[0])))
    caption = text(
        "{title} of each node, slowest first. A point is the median over the launches of one node. The vertical "
        "axis does not start at zero.",
        title=title,
    )
    result = text(
        "{nodes}, from {low} on {slowest} to {high} on {fastest}; middle node {middle}",
        nodes=formatting.count(len(nodes), "node", "nodes"),
        low=nodes[0].text,
        slowest=nodes[0].node,
        high=nodes[-1].text,
        fastest=nodes[-1].node,
        middle=nodes[len(nodes) // 2].text,
    )
    return (Figure("figure-nodes", caption, result, ranked(nodes, figures.titled(title, unit))),)


def _sentences(scene: Scene) -> str:
    return text(
        "All {nodes} nodes ran the same programs. A parallel program waits for its slowest node, so the slow end "
        "matters. All other figures in this report are those of the median node.",
        nodes=len(scene.run.plan.hosts),
    )


def _rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    for label, crowd in scene.cached(_crowds):
        chosen = (crowd[0], crowd[len(crowd) // 2], crowd[-1])
        yield (label, f"{len(crowd):,}", *(f"{_host(e)}: {formatting.shown(e).short}" for e in chosen))


declared = Declared(
    order=5,
    id="nodes",
    title=text("Node by node"),
    applies=_largest,
    sentences=_sentences,
    charts=_charts,
    page_tables=(
        Listing(
            text("The slowest, the middle and the fastest node, by median"),
            headings("What", "Nodes", "Slowest", "Middle", "Fastest"),
            _rows,
            {1},
        ),
    ),
    rules=frozenset({"slow_node"}),
)
