"""Messages between every two nodes: pairs alone, and all pairs of a round at once."""

from collections.abc import Iterable

from assay.model.law import Point
from assay.model.text import text
from assay.report import formatting
from assay.report.declared import Declared, Listing, Matrix, Scene
from assay.report.fitted import Fitted
from assay.report.section import headings
from assay.report.vocabulary import known
from assay.topics.messages.models.node_pairs import NodePairs


def _name(scene: Scene, each: Fitted[NodePairs]) -> str:
    return scene.name(each) or known(each.estimates[0].metric)


def _pair(each: Fitted[NodePairs], point: Point) -> str:
    names = text("{a} with {b}", a=str(point.at["a"]), b=str(point.at["b"]))
    return text("{value} ({basis})", value=formatting.quantity(point.value.value, each.unit), basis=names)


def _meaning(scene: Scene, each: Fitted[NodePairs]) -> str:
    middle, low, high = (formatting.quantity(one, each.unit) for one in each.model.all_pairs)
    return text(
        "{name}: median pair {middle}, pairs from {low} to {high}",
        name=_name(scene, each),
        middle=middle,
        low=low,
        high=high,
    )


_MATRIX = Matrix(
    anchor="figure-node-pairs",
    heads=lambda each, unit: (
        *(text("node"), text("node")),
        text("{title} ({unit})", title=known(each.estimates[0].metric), unit=unit),
    ),
    caption=lambda scene, each, _cells, unit: text(
        "{metric} between each two nodes in {unit} ({name}). Each pair was measured once and appears on both "
        "sides of the diagonal. Dark is slow. Below each figure: its ratio to the median.",
        metric=text("Latency") if each.estimates[0].metric == "latency" else text("Bandwidth"),
        unit=unit,
        name=_name(scene, each),
    ),
    result=lambda scene, each, _cells, _unit: text("{sentence}.", sentence=_meaning(scene, each)),
    note=lambda point: text("round {number}", number=str(point.at["round"])),
)


def _rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    for each in scene.found:
        low, *_, high = sorted(each.model.points, key=lambda point: point.value.value)
        middle = formatting.quantity(each.model.all_pairs.value, each.unit)
        yield _name(scene, each), f"{len(each.model.points):,}", middle, _pair(each, low), _pair(each, high)


declared = Declared(
    order=67,
    id="node-pairs",
    title=text("Every pair of nodes"),
    introduction=text(
        "A program on many nodes waits for the slowest path between two of them. Every pair was measured once: "
        "a slow node, cable or switch is visible."
    ),
    benchmark="pairs",
    law=NodePairs,
    charts=_MATRIX.figures,
    shared_tables=(
        Listing(
            text("Every pair: medians of pairs"),
            headings("What", "Pairs", "Median", "Fastest pair", "Slowest pair"),
            _rows,
            {1, 2},
        ),
    ),
)
