"""Factors in words, as people say them."""

import math

from assay.model.text import text

#: Larger ratios are told as whole numbers, from `TWICE` on as factors.
_MANY, TWICE = 10.0, 2.0


def times(ratio: float) -> str:
    """A factor in words: `1.52 times`, `3.0 times`, `25 times`, `more than 28 times`."""
    if ratio < _MANY:
        return text("{factor} times", factor=f"{ratio:.1f}" if ratio >= TWICE else f"{ratio:.2f}")
    whole = math.floor(ratio + 1e-6)
    if ratio - whole > 0.05:  # noqa: PLR2004 (a rounded figure)
        return text("more than {count} time|more than {count} times", count=whole)
    return text("{count} time|{count} times", count=whole)
