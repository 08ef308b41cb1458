"""Published numbers in words, and figures of a run in the unit in which a source prints its own."""

from assay import references
from assay.model.agreement import Agreement, Position
from assay.model.derivation import Printed, as_printed
from assay.model.quantity import Quantity
from assay.model.text import joined, text
from assay.model.units import decimals
from assay.report import formatting

#: Units of whole numbers: sizes and counts.
_SIZES = frozenset(("KiB", "MB"))
_NODES = "nodes"
#: Sign of a ratio that has no unit: 28 times.
_TIMES = "×"  # noqa: RUF001 (a factor)
#: Units as sources type them -> as they are shown.
_SHOWN = {"us": "µs"}
#: Numbers of three digits or more have no decimals.
_WHOLE = 100
#: Ratios nearer to 1 have three decimals.
_NEAR = 0.02
_SIDES: dict[Position, str] = {
    "": "",
    "inside": text("inside"),
    "partly": text("partly inside"),
    "above": text("above"),
    "below": text("below"),
}


def number(typed: str, unit: str, *, is_ratio: bool = False) -> str:
    """Return a number as a source prints it, with its unit as it is shown: `25.3 µs`, a ratio with its sign."""
    if is_ratio and typed and not unit:
        return f"{_TIMES}{typed}"
    return f"{typed.removesuffix(unit)}{_SHOWN[unit]}" if unit in _SHOWN else typed


def in_unit(figure: Quantity, unit: str, form: Printed = "ratio", *, is_ratio: bool = False) -> str:
    """Return a figure in the unit of a source, `0.59 µs [0.58, 0.60]`; a ratio as it is printed, `30.1 %`."""
    if is_ratio and not unit:
        return f"{_TIMES}{in_unit(figure, unit, form)}"
    if unit == _NODES and not (figure.has_interval and figure.lo < figure.hi):
        return text("{count} node|{count} nodes", count=int(figure.value))
    shown = as_printed(figure, form).over(_factor(unit), _SHOWN.get(unit, unit))
    is_number = not unit and not shown.has_ends and shown.value.is_integer()
    is_near = not unit and abs(shown.value - 1) < _NEAR and not is_number
    if not (is_number or is_near or unit in {*_SIZES, _NODES}):
        return formatting.interval(shown, "").short
    near = ".3f" if shown.has_ends else ".4g"
    value, low, high = (f"{each:{near}}" if is_near else _whole(each) for each in shown)
    if not shown.has_ends or shown.lo == shown.hi:
        return f"{value} {unit}".strip()
    ends = f"[{low}, {high}]" if shown.has_interval else f"({low} to {high})"
    return " ".join(filter(None, (value, unit, ends)))


def compared(found: Agreement | None, unit: str) -> str:
    """Return how a figure compares with a published one: a factor, `+7.0 points`, `-157 Mbps`, `inside`."""
    if found is None:
        return ""
    return joined(", ", (_SIDES[found.side], _apart(found, unit) if found.apart else ""))


def _apart(found: Agreement, unit: str) -> str:
    value = found.apart.value if found.apart else 0.0
    if found.scale == "ratio":
        return f"{_TIMES}{formatting.factor(value)}"
    if found.scale == "points":
        return text("{difference} points", difference=f"{100 * value:+z.1f}")
    own = value / _factor(unit)
    return f"{own:+z.{decimals(own)}f} {_SHOWN.get(unit, unit)}".strip()


def _factor(unit: str) -> float:
    return references.UNITS.get(unit, ("", 1.0))[1]


def _whole(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= _WHOLE or value.is_integer() else f"{value:.3g}"
