"""The places of labels in a figure: near their marks, over no data and no other label, inside the frame."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.report.charts.theme import FAINT, INK, PAPER, Spec, mark

#: Places in pixels, shape (n, 2).
Marks = npt.NDArray[np.float64]
#: Height of a line, and what is kept free around a label.
LINE, _FREE = 13.0, 3.0
#: Widths of letters of 11 px in the figures' font: thin ones, capitals and the like, ideographs, all others.
_THIN, _BROAD = frozenset(" .,:;|!'()[]ijlt"), frozenset("mwMW=\u00d7")
_WIDTHS = 3.2, 7.7, 11.0, 6.1
_IDEOGRAPHS = "\u2e80"
#: How many lines away from what it names a label may stand, and from which distance on a thin line leads to it.
_FARTHEST, _LEADER = 9, 11.0
#: What a label would rather not do, in pixels of way that it goes to avoid it: cover a mark, cross an upright,
#: stand beside a stroke in place of above or below.
_COVER, _CROSS, _BESIDE = 60.0, 12.0, 22.0
#: Members of a row that are the ends of its leading line.
_ENDS = ("from_x", "from_y", "to_x", "to_y")
#: Lines between marks are marks each so many pixels.
_STEP = 3.0


class Frame(NamedTuple):
    """The plot of two logarithmic axes: pixels, and the ends of its axes."""

    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Pixels from the left and from the top."""
        across = math.log(x / self.x[0]) / math.log(self.x[1] / self.x[0])
        up = math.log(y / self.y[0]) / math.log(self.y[1] / self.y[0])
        return self.width * across, self.height * (1 - up)


class Wish(NamedTuple):
    """A label, and in pixels what it names: a stroke from `left` to `right` at `down`, or a point."""

    text: str
    left: float
    right: float
    down: float


class Place(NamedTuple):
    """A label's left end and middle line, and the line from its edge to what it names where that is far."""

    x: float
    y: float
    leader: tuple[float, float, float, float] | None


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float


def wide(text: str) -> float:
    """The approximate width of a text in pixels."""
    thin, broad, ideograph, other = _WIDTHS
    return sum(
        thin
        if letter in _THIN
        else broad
        if letter in _BROAD or letter.isupper()
        else ideograph
        if letter >= _IDEOGRAPHS
        else other
        for letter in text
    )


def along(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The places of a line through points, in pixels."""
    found: list[tuple[float, float]] = []
    for (x, y), (to_x, to_y) in pairwise(points):
        count = max(1, math.ceil(math.hypot(to_x - x, to_y - y) / _STEP))
        found += [(x + (to_x - x) * at / count, y + (to_y - y) * at / count) for at in range(count + 1)]
    return found


def placed(
    wishes: Sequence[Wish],
    marks: Sequence[tuple[float, float]],
    size: tuple[float, float],
    uprights: Sequence[float] = (),
) -> list[Place | None]:
    """A place for each label, in order; None if every place would cover another label.

    Args:
        wishes: in the order in which they choose.
        marks: what should stay uncovered.
        size: of the plot.
        uprights: lines from top to bottom, which are crossed rather than a mark is covered.
    """
    known: Marks = np.array(marks, dtype=float).reshape(-1, 2)
    taken: list[_Box] = []
    places: list[Place | None] = []
    for wish in wishes:
        best: tuple[float, _Box] | None = None
        for cost, box in _candidates(wish):
            free = box.left >= _FREE and box.top >= 0 and box.right <= size[0] and box.bottom <= size[1]
            if not free or (best and cost >= best[0]) or any(_meet(box, other) for other in taken):
                continue
            total = cost + _COVER * _covered(box, known)
            total += _CROSS * sum(box.left < upright < box.right for upright in uprights)
            if best is None or total < best[0]:
                best = total, box
        if best is None:
            places.append(None)
            continue
        taken.append(best[1])
        box = best[1]
        places.append(Place(box.left, (box.top + box.bottom) / 2, _leader(wish, box)))
    return places


def drawn(texts: Sequence[str], places: Sequence[Place | None], *, narrow: bool) -> list[Spec]:
    """Layers of the labels that have a place, and the lines that lead from them; seen in one of the two widths."""
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
    """A channel that is a place in the plot, whatever its axes."""
    return {"value": {"expr": f"datum.{name}"}}


def _candidates(wish: Wish) -> Iterable[tuple[float, _Box]]:
    """What standing there costs, and where: above and below what is named, then beside it, line by line away."""
    width, half = wide(wish.text), LINE / 2
    starts = {wish.left, (wish.left + wish.right - width) / 2, wish.right - width}
    starts |= {wish.left - width - 2 * _FREE, wish.right + 2 * _FREE}
    ways = (_FREE + 3 + half + step * LINE / 2 for step in range(2 * _FARTHEST))
    for start, way, side in product(sorted(starts), ways, (-1, 1)):
        beside = max(wish.left - start - width, start - wish.right, 0.0)
        outside = max(wish.left - start, start + width - wish.right, 0.0)
        middle = wish.down + side * way
        cost = way + 0.4 * beside + 0.2 * outside + (0.5 if side > 0 else 0.0)
        yield cost, _Box(start, middle - half, start + width, middle + half)
    for start in (wish.left - width - 3 * _FREE, wish.right + 3 * _FREE):
        yield (
            _BESIDE if wish.right > wish.left else half,
            _Box(start, wish.down - half, start + width, wish.down + half),
        )


def _covered(box: _Box, marks: Marks) -> int:
    inside = (marks[:, 0] > box.left - _FREE) & (marks[:, 0] < box.right + _FREE)
    inside &= (marks[:, 1] > box.top - 1) & (marks[:, 1] < box.bottom + 1)
    return int(inside.sum())


def _meet(one: _Box, other: _Box) -> bool:
    across = one.left - _FREE < other.right and other.left - _FREE < one.right
    return across and one.top < other.bottom and other.top < one.bottom


def _leader(wish: Wish, box: _Box) -> tuple[float, float, float, float] | None:
    """From the nearest edge of a label to what it names; None where that is near."""
    x = min(max((box.left + box.right) / 2, wish.left), wish.right)
    edge = min(max(x, box.left), box.right), min(max(wish.down, box.top), box.bottom)
    return None if math.hypot(edge[0] - x, edge[1] - wish.down) < _LEADER else (*edge, x, wish.down)
