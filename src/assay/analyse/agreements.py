"""Compares a figure with a published one as their quantity allows: not every quantity has a ratio."""

from typing import NamedTuple

import msgspec

from assay.model.agreement import Agreement, Position, Scale
from assay.model.conclusion import Region
from assay.model.derivation import Printed, as_printed
from assay.model.quantity import Quantity
from assay.model.repetition import AS_PUBLISHED, AS_PUBLISHED_POINTS, Standing


class Published(NamedTuple):
    """A published number.

    Attributes:
        value: of a range its middle and both ends.
        scale: how it is compared.
        form: how it states a ratio.
        is_least: whether it is the lower end of a range without an upper one, as `up to 8 nodes at least`.
    """

    value: Quantity
    scale: Scale
    form: Printed = "ratio"
    is_least: bool = False

    @property
    def printed(self) -> Quantity:
        """The number as it is printed: of `30 % lower` .3, not the .7 that are left."""
        return as_printed(self.value, self.form)

    @property
    def places(self) -> Region:
        """Where a place on an axis is as published."""
        return Region(self.value.lo, None if self.is_least else self.value.hi)


def agreement(published: Published, ours: Quantity) -> Agreement:
    """Return how far a figure is from a published number, and on which side of a published range it is."""
    mine, range_ = as_printed(ours, published.form), published.printed
    is_place = published.scale == "place"
    within = published.places if is_place else Region(range_.lo, range_.hi)
    side = _side(mine, within) if is_place or range_.lo < range_.hi else ""
    if is_place or side in {"inside", "partly"}:
        return Agreement(published.scale, None, side)
    nearest = {"": range_.value, "above": range_.hi, "below": range_.lo}[side]
    if published.scale == "ratio":
        return Agreement(published.scale, mine.over(nearest) if nearest > 0 else None, side)
    value, low, high = (each - nearest for each in mine)
    return Agreement(published.scale, msgspec.structs.replace(mine, value=value, lo=low, hi=high), side)


def _side(mine: Quantity, within: Region) -> Position:
    holds = within.holds(mine)
    if holds is None:
        return "partly"
    if holds:
        return "inside"
    return "above" if within.most is not None and mine.value > within.most else "below"


def standing(published: Published, ours: Quantity, better: str, *, is_sure: bool) -> Standing:
    """Return where the interval of a figure is; only a fact of the machine, such as a distance, needs none."""
    if not is_sure:
        return "few"
    mine, range_ = as_printed(ours, published.form), published.printed
    low, high = range_.lo - _allowed(published.scale, range_.lo), range_.hi + _allowed(published.scale, range_.hi)
    is_place = published.scale == "place"
    holds = (published.places if is_place else Region(low, high)).holds(mine)
    if holds is None:
        return "open"
    if holds:
        return "as published"
    if is_place:
        return "elsewhere"
    is_more = (mine.lo > high) != (published.form == "loss")
    return "better" if is_more == (better == "higher") else "worse"


def _allowed(scale: Scale, end: float) -> float:
    """How far a figure as published may be from an end."""
    return max(AS_PUBLISHED * abs(end), AS_PUBLISHED_POINTS if scale == "points" else 0.0)
