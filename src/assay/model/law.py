"""Results of laws: the points they were fitted to, the figures that follow, and predictions."""

import math

import msgspec

from assay.model.declaration import ParamValue
from assay.model.quantity import CONFIDENCE, Quantity

#: Metric of the speed-up of a problem, in publications and in figures of laws.
SPEED_UP = "speed-up over one core"
#: A law with a larger relative residual does not describe its figures.
UNFIT = 0.3
#: A predicted interval whose ends differ by more than this factor says nothing: it counts as no prediction.
WIDEST = 2.0


class Point(msgspec.Struct, frozen=True):
    """One estimate as a law uses it.

    Attributes:
        estimate: id.
        at: coordinate -> value, e.g. `{"cpu node": 0, "memory node": 1, "class": "one hop"}`.
        value: SI units.
        ratio: value over the law's reference for this point (see docs/models.md); None if there is none.
    """

    estimate: str
    at: dict[str, ParamValue]
    value: Quantity
    ratio: float | None


class LawFigure(msgspec.Struct, frozen=True):
    """A figure that a law computes from others, and that publications state, too.

    Attributes:
        metric: name, the same in references.
        estimate: id of the estimate with the same problem.
        at: coordinate -> value; published figures have these among their params.
        value: with its ends.
    """

    metric: str
    estimate: str
    at: dict[str, ParamValue]
    value: Quantity


class Model(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """The result of a law for some estimates. Each law has a type of its own, with its name as the tag.

    Attributes:
        id: unique in its run.
        of: estimates it was fitted to.
        state: state of the machine; None if one law holds in all states.
        residual: largest relative residual.
        points: the estimates as the law uses them; empty for laws that add nothing to them.
    """

    id: str
    of: tuple[str, ...]
    state: str | None = None
    residual: float | None = None
    points: tuple[Point, ...] = ()

    @property
    def law(self) -> str:
        """Name of the law, e.g. `cache-plateaus`."""
        return str(self.__struct_config__.tag)

    @property
    def kind(self) -> str:
        """What distinguishes models of one law, e.g. `compact`; empty if there is one only."""
        return ""

    @property
    def is_unfit(self) -> bool:
        """Whether it is too far from its figures to describe them."""
        return (self.residual or 0.0) > UNFIT

    @property
    def goes_on(self) -> bool:
        """Whether larger values along its curve would answer what is still open."""
        return False

    @property
    def figures(self) -> tuple[LawFigure, ...]:
        """Figures that follow from it and that others publish, too; most laws have none."""
        return ()

    @property
    def headline(self) -> Quantity | None:
        """The quantity by which nodes with the same law are compared: the first known one; None without one."""
        values = (getattr(self, name) for name in self.__struct_fields__)
        return next((each for each in values if isinstance(each, Quantity)), None)


class Unfitted(Model, frozen=True, kw_only=True, tag="unfitted"):
    """A law that could not be fitted.

    Attributes:
        wanted: name of the law.
        reason: why it could not be fitted.
    """

    wanted: str
    reason: str

    @property
    def law(self) -> str:
        """Name of the law that was wanted."""
        return self.wanted


def log_width(predicted: Quantity) -> float:
    """The natural logarithm of the upper end over the lower one; infinite if an end is not above 0."""
    return math.log(predicted.hi / predicted.lo) if predicted.lo > 0 else math.inf


def is_too_wide(predicted: Quantity) -> bool:
    """Whether an interval counts as no prediction."""
    return log_width(predicted) > math.log(WIDEST)


def interval_score(predicted: Quantity, value: float) -> float:
    """The interval score of Gneiting and Raftery (2007, equation 43) of logarithms; less is better.

    It is the width plus 2 / alpha times the distance of the value from the interval; alpha is 5 %. It is proper:
    no other ends than the true quantiles have a smaller mean. Logarithms make it relative; they keep quantiles, so
    it stays proper.
    """
    below, above = math.log(predicted.lo / value), math.log(value / predicted.hi)
    return log_width(predicted) + 2 / (1 - CONFIDENCE) * max(below, above, 0.0)


class Prediction(msgspec.Struct, frozen=True):
    """A figure predicted from other measurements, compared with the measured figure: one line of the ledger.

    Attributes:
        id: unique in its run.
        law: name.
        what: what is predicted, in words.
        predicted: the predicted value, with its ends.
        states: state of the machine for each of `of`, then for the predicted estimate; None if states do not
            matter.
        of: estimates it was computed from; never those of the predicted case.
        derivation: how it was computed, with figures.
        measured: id of the estimate that was predicted.
        value: the measured value.
        deviation: measured value over the predicted one, minus 1.
        error: relative distance between the predicted and the measured ends; 0 if they overlap, negative if the
            measured ones lie below.
        by: kind of figures it was computed from: `bandwidth`.
        before: whether it was written to the run before the first launch of the case.
    """

    id: str
    law: str
    what: str
    predicted: Quantity
    of: tuple[str, ...]
    states: tuple[str | None, ...]
    derivation: str
    measured: str
    value: Quantity
    deviation: float
    error: float
    by: str = ""
    before: bool = False

    @property
    def off(self) -> Quantity:
        """The deviation, with ends from those of both quantities."""
        return Quantity(
            self.deviation,
            self.value.lo / self.predicted.hi - 1,
            self.value.hi / self.predicted.lo - 1,
            basis="derived",
        )

    @property
    def score(self) -> float | None:
        """Its interval score; None where it counts as no prediction."""
        return None if is_too_wide(self.predicted) else interval_score(self.predicted, self.value.value)

    @property
    def half_width(self) -> float:
        """Half of the distance between the predicted ends, relative to the value: the uncertainty."""
        return (self.predicted.hi - self.predicted.lo) / 2 / self.predicted.value
