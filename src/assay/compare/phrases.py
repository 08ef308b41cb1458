"""Numbers in sentences: factors, differences, and values of an axis."""

from assay.compare.curves import CORES, NODES, RANKS
from assay.compare.records import Curve, MessageCurve
from assay.model.result import Estimate
from assay.model.text import text
from assay.report import formatting, selection

#: Larger sizes are written in KiB and MiB.
_PLAIN_BYTES = 16384


def near(size: float) -> str:
    """An interpolated size: `2048 B`, `17.3 KiB`."""
    if size < _PLAIN_BYTES:
        return f"{round(size)} B"
    return f"{size / 2**20:.3g} MiB" if size >= 2**20 else f"{size / 2**10:.4g} KiB"


def figure(estimate: Estimate) -> str:
    """An estimate with its interval: `3.40 GB/s [3.38, 3.41]`; empty without a figure."""
    return formatting.shown(estimate).short


def unit(curve: Curve) -> str:
    """The unit of its axis; sizes are in B."""
    return curve.declared.units.get(curve.axis, "")


def value(curve: Curve, at: float) -> str:
    """A value on the axis of a curve: `64 KiB`, `4 cores`, `N 1000`."""
    return number(curve.axis, round(at), unit(curve))


def number(axis: str, at: float | str, unit: str = "") -> str:
    """`4 cores`, `16 ranks`, `64 KiB`; other axes with their name: `window 64`."""
    if axis == CORES:
        return formatting.count(int(at), "core", "cores")
    if axis == NODES:
        return formatting.count(int(at), "node", "nodes")
    if axis == RANKS:
        return formatting.count(int(at), "rank", "ranks")
    return formatting.param(int(at), unit) if unit == "B" else f"{axis} {at}"


def axis_title(curve: Curve) -> str:
    """The title of its axis."""
    if isinstance(curve, MessageCurve):
        return text("size of a message")
    if curve.axis == CORES:
        return text("cores")
    if curve.axis == RANKS:
        return text("ranks")
    return text("nodes") if curve.axis == NODES else selection.axis_meaning(curve.declared, curve.axis)
