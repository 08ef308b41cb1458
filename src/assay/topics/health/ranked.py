"""The figures of many identical nodes, the slowest first, so that slow nodes stand out."""

import msgspec
from msgspec.structs import asdict

from assay.model.text import text
from assay.report.charts.theme import COLOURS, MUTED, Spec, chart, mark, numeric, tooltip


class Node(msgspec.Struct, frozen=True):
    """One node's figure in the scaled unit with the text of its interval."""

    node: str
    value: float
    text: str
    basis: str


def ranked(nodes: list[Node], title: str) -> Spec:
    """Draw the figures of `nodes`, the slowest first and with its name; `title`: quantity and unit."""
    values: list[Spec] = [
        {**asdict(node), "rank": rank + 1, "name": "" if rank else node.node} for rank, node in enumerate(nodes)
    ]
    axis = {"title": text("nodes, slowest first"), "grid": False, "tickMinStep": 1}
    x = numeric("rank", {"nice": False}, axis)
    y = numeric("value", {"zero": False, "padding": 12}, {"title": title})
    hover = tooltip(node=text("node"), text=text("median"), basis=text("basis"))
    point = {"filled": True, "size": 14, "opacity": 0.9, "color": COLOURS[0]}
    name = mark("text", {"align": "left", "dx": 7, "dy": 3, "color": MUTED}, text={"field": "name"})
    layer = [mark("point", point, tooltip=hover), {"transform": [{"filter": "datum.name != ''"}], **name}]
    return chart(values, layer, height=240, encoding={"x": x, "y": y}, usermeta={"narrow": 284})
