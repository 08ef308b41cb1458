"""Many like nodes: their figures in ascending order, so that the shape of the crowd and its stragglers show."""

from dataclasses import dataclass

from assay.model.text import text
from assay.report.charts.theme import COLOURS, MUTED, Spec, chart

_LABELLED = 1


@dataclass(frozen=True)
class Node:
    """One node's figure in the scaled unit with the text of its interval."""

    node: str
    value: float
    text: str
    basis: str


def ranked(nodes: list[Node], title: str) -> Spec:
    """The figures of `nodes` by rank, the lowest one named; `title` names quantity and unit."""
    ordered = sorted(nodes, key=lambda node: node.value)
    values: list[Spec] = [
        {**vars(node), "rank": rank + 1, "name": node.node if rank < _LABELLED else ""}
        for rank, node in enumerate(ordered)
    ]
    tooltip = [
        {"field": "node", "title": text("node")},
        {"field": "text", "title": text("median")},
        {"field": "basis", "title": text("basis")},
    ]
    x: Spec = {
        "field": "rank",
        "type": "quantitative",
        "axis": {"title": text("nodes, slowest first"), "grid": False, "tickMinStep": 1},
        "scale": {"nice": False},
    }
    y: Spec = {
        "field": "value",
        "type": "quantitative",
        "scale": {"zero": False, "padding": 12},
        "axis": {"title": title},
    }
    layer: list[Spec] = [
        {
            "mark": {"type": "point", "filled": True, "size": 14, "opacity": 0.9, "color": COLOURS[0]},
            "encoding": {"tooltip": tooltip},
        },
        {
            "transform": [{"filter": "datum.name != ''"}],
            "mark": {"type": "text", "align": "left", "dx": 7, "dy": 3, "color": MUTED},
            "encoding": {"text": {"field": "name"}},
        },
    ]
    return chart(values, layer, height=240, encoding={"x": x, "y": y}, usermeta={"narrow": 284})
