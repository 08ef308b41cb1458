"""Cores of each memory node with the memory of every node: bandwidth, latency, and distances of firmware."""

from collections.abc import Iterable, Sequence

from assay.model.quantity import Quantity
from assay.model.result import Analysis
from assay.model.text import joined, text
from assay.report import formatting
from assay.report.charts.heatmap import Cell
from assay.report.declared import Declared, Listing, Matrix, Scene
from assay.report.fitted import Fitted, kind
from assay.report.section import headings
from assay.topics.memory.models.numa_matrix import NodeClass, NumaMatrix

_SURE = 0.05


def cells(analysis: Analysis) -> frozenset[str]:
    """Ids of the estimates that a matrix of memory nodes shows."""
    return frozenset(name for model in analysis.models if isinstance(model, NumaMatrix) for name in model.of)


def _classes(each: Fitted[NumaMatrix]) -> list[tuple[NodeClass, Quantity]]:
    """Return the classes of pairs that have a ratio to the cores' own memory, and this ratio."""
    return [(pairs, pairs.ratio) for pairs in each.model.classes if pairs.ratio]


def _median(pairs: NodeClass) -> str:
    return formatting.quantity(pairs.value.value, pairs.value.unit)


def _rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    for each, pairs, ratio in ((law, *both) for law in scene.found for both in _classes(law)):
        points = [point for point in each.model.points if point.at["class"] == pairs.name]
        away = sorted({int(point.at["distance"]) for point in points if "distance" in point.at})
        middle, low, high = ratio
        yield (
            scene.name(each),
            pairs.name,
            ", ".join(map(str, away)) or text("none given"),
            f"{len(points)}",
            _median(pairs),
            f"{middle:.2f}" if len(points) == 1 else f"{middle:.2f} ({low:.2f} to {high:.2f})",
        )


def _is_latency(each: Fitted[NumaMatrix]) -> bool:
    return each.estimates[0].better == "lower"


def _caption(scene: Scene, each: Fitted[NumaMatrix], drawn: Sequence[Cell], unit: str) -> str:
    measure = text("Latency of a load") if _is_latency(each) else text("Triad bandwidth")
    what = text("{what} in {unit}", what=measure, unit=unit)
    if scene.name(each) not in {"", kind(each)}:
        what = text("{value} ({basis})", value=what, basis=scene.name(each))
    sentences = (
        text("{what}: cores of the node in the row, memory of the node in the column.", what=what),
        text(
            "Below each figure: its ratio to local memory and the firmware distance."
            if any(cell.note for cell in drawn)
            else "Below each figure: its ratio to local memory."
        ),
        text("Dark is slow. Intervals are in the table."),
    )
    return joined(" ", sentences)


def _result(_scene: Scene, _each: Fitted[NumaMatrix], drawn: Sequence[Cell], unit: str) -> str:
    cells = [
        text(
            "cores of node {row} with memory of node {column}: {figure} {ratio}",
            row=cell.row,
            column=cell.column,
            figure=f"{cell.text} {unit}",
            ratio=cell.ratio,
        )
        for cell in drawn
    ]
    return joined("; ", cells)


_MATRIX = Matrix(
    anchor="figure-numa",
    ends=("cpu node", "memory node"),
    mirrored=False,
    least=2,
    heads=lambda each, unit: (
        text("cores of node"),
        text("memory of node"),
        text("latency ({unit})" if _is_latency(each) else "bandwidth ({unit})", unit=unit),
    ),
    caption=_caption,
    result=_result,
    note=lambda point: (
        text("distance {distance}", distance=str(point.at["distance"])) if "distance" in point.at else ""
    ),
    kind=lambda point: point.at["class"] if isinstance(point.at["class"], str) else f"{point.at['class']}",
)


def _sentences(scene: Scene) -> tuple[str, ...]:
    # The cores of a single node are one row, not a matrix.
    shown = [e for e in scene.found if len({point.at["cpu node"] for point in e.model.points}) > 1] or scene.found
    return joined(" ", [_meaning(scene, each) for each in shown]), _agreement(scene)


def _meaning(scene: Scene, each: Fitted[NumaMatrix]) -> str:
    parts = formatting.listed(
        text(
            "{value} for {kind} ({ratio})",
            value=_median(pairs),
            kind=pairs.name,
            ratio=f"×{ratio.value:.2f}",  # noqa: RUF001 (a factor)
        )
        for pairs, ratio in _classes(each)
    )
    return text("Median {what}: {figures}.", what=scene.name(each), figures=parts)


def _agreement(scene: Scene) -> str:
    """Say whether the distances of firmware rank the pairs as measured."""
    sentences = []
    for each in (each for each in scene.found if each.model.agreement):
        tau, p = each.model.agreement.tau, each.model.agreement.p
        agree = text(
            "the firmware distances order the pairs as measured"
            if tau > 0
            else "the firmware distances do not order the pairs as measured"
        )
        sure = text("too few pairs to compare with the firmware distances") if p > _SURE else agree
        sentences.append(
            text(
                "{what}: {verdict} (Kendall's τ {tau}, p = {p})",
                what=scene.name(each),
                verdict=sure,
                tau=f"{tau:.2f}",
                p=f"{p:.2g}",
            )
        )
    if not sentences:
        return text("The firmware gives equal distances, so there is no order to compare with.")
    return text("{sentence}.", sentence=joined("; ", sentences))


declared = Declared(
    order=20,
    id="memory-nodes",
    title=text("Local and remote memory"),
    introduction=text(
        "Cores reach the memory of another die or socket over a link, which is slower than local memory."
    ),
    law=NumaMatrix,
    sentences=_sentences,
    charts=_MATRIX.figures,
    shared_tables=(
        Listing(
            text("Classes of pairs of memory nodes: median over the pairs, and their ratio to local memory"),
            headings("What", "Between", "Distance", "Pairs", "Median", "Ratio to local"),
            _rows,
            {2, 3, 4, 5},
        ),
    ),
    rules=frozenset({"numa_penalty", "numa_latency"}),
    exclusive=cells,
)
