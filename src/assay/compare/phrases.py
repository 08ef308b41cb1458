"""Numbers in sentences: factors, differences, and values of an axis."""

import math

from assay.compare.curves import CORES, NODES, RANKS
from assay.compare.records import Curve, MessageCurve
from assay.model.result import Estimate
from assay.model.text import text
from assay.model.units import scale
from assay.report import formatting, selection

#: Two published figures with a smaller relative difference are nearly the same.
SAME = 0.02
#: Larger ratios are written as whole numbers; from `TWICE` on a ratio is written as a factor.
_MANY, TWICE = 10.0, 2.0
#: Larger sizes are written in KiB and MiB.
_PLAIN_BYTES = 16384


def times(ratio: float) -> str:
    """A factor in words: `1.52 times`, `3.0 times`, `25 times`, `more than 28 times`."""
    if ratio < _MANY:
        return text("{factor} times", factor=f"{ratio:.1f}" if ratio >= TWICE else f"{ratio:.2f}")
    whole = math.floor(ratio + 1e-6)
    if ratio - whole > 0.05:  # noqa: PLR2004 (a rounded figure)
        return text("more than {count} time|more than {count} times", count=whole)
    return text("{count} time|{count} times", count=whole)


def roughly(seconds: float) -> str:
    """A time to a tenth of a microsecond, below that to two digits: `0.6 µs`, `24 µs`, `83 ns`."""
    micros = 1e6 * seconds
    if 0.1 <= micros < _MANY:  # noqa: PLR2004 (the last digit that is written)
        return f"{micros:.1f} µs"
    value, unit = scale(float(f"{seconds:.2g}"), "s")
    return f"{value:g} {unit}"


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
