"""How a figure agrees with a published one: by their ratio, by their difference, or by a range."""

from typing import Literal

import msgspec

from assay.model.derivation import Derivation
from assay.model.quantity import Quantity

#: How two values of a quantity are compared: by their `ratio`; what is printed in percent by the difference in
#: percentage `points`; what can have either sign by the `difference`; a value of an axis, as the size at which
#: a curve is best, by its `place` alone.
Scale = Literal["ratio", "points", "difference", "place"]
#: Where a figure lies: inside the published range, partly inside, above or below it; empty beside a single number.
Position = Literal["", "inside", "partly", "above", "below"]
_PERCENT = "%"


class Agreement(msgspec.Struct, frozen=True):
    """A figure beside a published one.

    Attributes:
        scale: how they are compared.
        apart: their ratio or their difference, of a range from its nearest end; in points and differences as the
            source states it. None inside a range, and of a place.
        side: of the published range.
    """

    scale: Scale
    apart: Quantity | None = None
    side: Position = ""


def scale(derivation: Derivation | None, unit: str) -> Scale:
    """Return how values of a quantity are compared.

    Args:
        derivation: how it follows from others; None if it was measured.
        unit: as printed.
    """
    if derivation and derivation.operation == "best at":
        return "place"
    if derivation and derivation.operation == "difference":
        return "difference"
    return "points" if unit == _PERCENT else "ratio"
