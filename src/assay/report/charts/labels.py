"""The places of labels in a figure: near their marks, inside the frame, without covering data or other labels."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.report.charts.theme import FAINT, INK, PAPER, Spec, mark

#: Left, top, right and bottom in pixels, shape (n, 4).
Boxes = npt.NDArray[np.float64]
#: Height of a line, and free space around a label.
LINE, _FREE = 13.0, 3.0
#: Widths of letters of 11 px in the figures' font: thin ones, capitals and the like, ideographs, all others.
_THIN, _BROAD = frozenset(" .,:;|!'()[]ijlt"), frozenset("mwMW=\u00d7")
_OTHER = 6.1
_WIDTHS = 3.2, 7.7, 11.0, _OTHER
_IDEOGRAPHS = "\u2e80"
#: Largest distance of a label from its mark in lines; distance in pixels from which a thin line leads to it.
_FARTHEST, _LEADER = 9, 11.0
#: Costs of a place in pixels of distance: covering a mark, crossing an upright, a place at the side of a stroke
#: instead of above or below.
_COVER, _CROSS, _BESIDE = 60.0, 12.0, 22.0
#: Members of a row that are the ends of its leading line.
_ENDS = ("from_x", "from_y", "to_x", "to_y")
#: Pixels between the marks that replace a line.
_STEP = 3.0


#: A name of more letters has two lines on a phone.
_LONG = 16
#: Splits a name at its commas; Japanese has other ones.
_PARTS = "split(replace(datum.row, regexp('\u3001', 'g'), ', '), ', ')"
#: Centres two lines of a name in its row.
TWO_LINES: Spec = {"lineHeight": 12, "dy": {"expr": "isArray(datum.lines) ? -6 : 0"}}


def in_lines(room: int) -> list[Spec]:
    """Return transforms that split the `row` of a datum to `lines`: two short ones for a long name.

    Args:
        room: pixels for a name on a page.
    """

    def parted(at: str) -> str:
        return ", ".join(f"join(slice(datum.parts, {span}), ', ')" for span in (f"0, {at}", at))

    def longest(of: str) -> str:
        return f"max(length(datum.{of}[0]), length(datum.{of}[1]))"

    middle = "length(datum.parts) / 2"
    shorter = f"{longest('early')} < {longest('late')} ? datum.early : datum.late"
    is_long = f"length(datum.row) > (narrow ? {_LONG} : {room / _OTHER:.0f}) && length(datum.parts) > 1"
    return [
        {"calculate": _PARTS, "as": "parts"},
        {"calculate": f"[{parted(f'floor({middle})')}]", "as": "early"},
        {"calculate": f"[{parted(f'ceil({middle})')}]", "as": "late"},
        {"calculate": f"{is_long} ? ({shorter}) : datum.row", "as": "lines"},
    ]


class Frame(NamedTuple):
    """A plot with two logarithmic axes: pixels, and the ends of its axes."""

    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return pixels from the left and from the top."""
        across = math.log(x / self.x[0]) / math.log(self.x[1] / self.x[0])
        up = math.log(y / self.y[0]) / math.log(self.y[1] / self.y[0])
        return self.width * across, self.height * (1 - up)


class Label(NamedTuple):
    """A label, and its mark in pixels: a stroke from `left` to `right` at `down`, or a point."""

    text: str
    left: float
    right: float
    down: float


class Place(NamedTuple):
    """A label's left end and middle line, and the line from its edge to a distant mark."""

    x: float
    y: float
    leader: tuple[float, float, float, float] | None


def wide(text: str) -> float:
    """Return the approximate width of a text in pixels."""
    thin, broad, ideograph, other = _WIDTHS

    def width(letter: str) -> float:
        if letter in _THIN:
            return thin
        if letter in _BROAD or letter.isupper():
            return broad
        return ideograph if letter >= _IDEOGRAPHS else other

    return sum(map(width, text))


def along(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return points along a line through `points`, in pixels."""
    found: list[tuple[float, float]] = []
    for (x, y), (to_x, to_y) in pairwise(points):
        count = max(1, math.ceil(math.hypot(to_x - x, to_y - y) / _STEP))
        found += [(x + (to_x - x) * at / count, y + (to_y - y) * at / count) for at in range(count + 1)]
    return found


def placed(
    requests: Sequence[Label],
    marks: Sequence[tuple[float, float]],
    size: tuple[float, float],
    uprights: Sequence[float] = (),
) -> list[Place | None]:
    """Return a place for each label, in order; None if every place would cover another label.

    Args:
        requests: labels; earlier ones choose first.
        marks: points that should not be covered.
        size: of the plot.
        uprights: vertical lines; a label crosses one rather than cover a mark.
    """
    known = np.repeat(np.array(marks, dtype=float).reshape(-1, 2), 2, axis=0).reshape(-1, 4)
    lines = np.array([(at, -math.inf, at, math.inf) for at in uprights]).reshape(-1, 4)
    taken = np.empty((0, 4))
    places: list[Place | None] = []
    for request in requests:
        found = np.array(list(_candidates(request)))
        costs, boxes = found[:, 0], found[:, 1:]
        free = (boxes[:, 0] >= _FREE) & (boxes[:, 1] >= 0) & (boxes[:, 2:] <= size).all(axis=1)
        free &= _met(boxes, taken, _FREE, 0) == 0
        if not free.any():
            places.append(None)
            continue
        costs += _COVER * _met(boxes, known, _FREE, 1) + _CROSS * _met(boxes, lines, 0, 0)
        box = boxes[np.where(free, costs, math.inf).argmin()]
        taken = np.vstack([taken, box])
        left, top, right, bottom = box.tolist()
        places.append(Place(left, (top + bottom) / 2, _leader(request, (left, top, right, bottom))))
    return places


def _met(boxes: Boxes, others: Boxes, across: float, down: float) -> npt.NDArray[np.intp]:
    """The number of other boxes that each box overlaps, or is nearer to than so many pixels."""
    left, top, right, bottom = boxes.T[:, :, None]
    in_columns = (left - across < others[:, 2]) & (others[:, 0] < right + across)
    in_rows = (top - down < others[:, 3]) & (others[:, 1] < bottom + down)
    met: npt.NDArray[np.intp] = (in_columns & in_rows).sum(axis=1)
    return met


def drawn(texts: Sequence[str], places: Sequence[Place | None], *, narrow: bool) -> list[Spec]:
    """Return layers of the labels with a place, and the lines that lead from them, for one of the two widths."""
    found = [(text, place) for text, place in zip(texts, places, strict=True) if place]
    seen: list[Spec] = [{"filter": "narrow" if narrow else "!narrow"}]
    rows = [{"label": text, "px": place.x, "py": place.y} for text, place in found]
    lines = [dict(zip(_ENDS, place.leader, strict=True)) for _, place in found if place.leader]
    ends = dict(zip(("x", "y", "x2", "y2"), map(_pixels, _ENDS), strict=True))
    style: Spec = {"align": "left", "baseline": "middle"}
    content = {"x": _pixels("px"), "y": _pixels("py"), "text": {"field": "label"}}
    layers = [
        mark("rule", {"color": FAINT}, lines, **ends),
        mark("text", {**style, "color": PAPER, "stroke": PAPER, "strokeWidth": 3}, rows, **content),
        mark("text", {**style, "color": INK}, rows, **content),
    ]
    return [{**layer, "transform": seen} for layer in layers]


def _pixels(name: str) -> Spec:
    """A channel in pixels, independent of the axes."""
    return {"value": {"expr": f"datum.{name}"}}


def _candidates(request: Label) -> Iterator[tuple[float, float, float, float, float]]:
    """The cost and the box of each place: above and below the mark, line by line, then at its sides."""
    width, half = wide(request.text), LINE / 2
    starts = {request.left, (request.left + request.right - width) / 2, request.right - width}
    starts |= {request.left - width - 2 * _FREE, request.right + 2 * _FREE}
    distances = (_FREE + 3 + half + step * LINE / 2 for step in range(2 * _FARTHEST))
    for start, distance, side in product(sorted(starts), distances, (-1, 1)):
        gap = max(request.left - start - width, start - request.right, 0.0)
        outside = max(request.left - start, start + width - request.right, 0.0)
        middle = request.down + side * distance
        cost = distance + 0.4 * gap + 0.2 * outside + (0.5 if side > 0 else 0.0)
        yield cost, start, middle - half, start + width, middle + half
    for start in (request.left - width - 3 * _FREE, request.right + 3 * _FREE):
        cost = _BESIDE if request.right > request.left else half
        yield cost, start, request.down - half, start + width, request.down + half


def _leader(request: Label, box: tuple[float, float, float, float]) -> tuple[float, float, float, float] | None:
    """The line from the nearest edge of a label to its mark; None if that is near."""
    left, top, right, bottom = box
    x = min(max((left + right) / 2, request.left), request.right)
    edge = min(max(x, left), right), min(max(request.down, top), bottom)
    return None if math.hypot(edge[0] - x, edge[1] - request.down) < _LEADER else (*edge, x, request.down)
