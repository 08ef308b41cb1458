"""What laws say of estimates: their results, the points that these rest on, and predictions."""

import msgspec

from assay.model.benchmark import ParamValue
from assay.model.quantity import Quantity

#: What publications, and figures of laws, call the speed-up of a problem.
SPEED_UP = "speed-up over one core"
#: A law that is off by more than this somewhere does not describe its figures.
UNFIT = 0.3


class Point(msgspec.Struct, frozen=True):
    """One estimate as a law sees it.

    Attributes:
        estimate: id.
        at: where it stands, coordinate -> value, e.g. `{"cpu node": 0, "memory node": 1, "class": "one hop"}`.
        value: SI units.
        ratio: value over what the law names for this place (see docs/models.md); None where it names nothing.
    """

    estimate: str
    at: dict[str, ParamValue]
    value: Quantity
    ratio: float | None


class LawFigure(msgspec.Struct, frozen=True):
    """A figure that a law makes of others, and that publications state, too.

    Attributes:
        metric: name, the same in references.
        estimate: id of the one whose problem it is of.
        at: where it stands, coordinate -> value; figures of others have these among their params.
        value: with its ends.
    """

    metric: str
    estimate: str
    at: dict[str, ParamValue]
    value: Quantity


class Model(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """What a law says of some estimates. Each law has a type of its own, with its name as the tag.

    Attributes:
        id: unique in its run.
        of: estimates it was fitted to.
        state: of the machine; None where one law holds in all.
        residual: largest relative residual.
        points: the estimates as the law sees them; empty for laws that add nothing to them.
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
        """What tells models of one law apart, e.g. `compact`; empty where nothing does."""
        return ""

    @property
    def is_unfit(self) -> bool:
        """Whether it is too far from its figures to describe them."""
        return (self.residual or 0.0) > UNFIT

    @property
    def goes_on(self) -> bool:
        """Whether larger values along its curve would tell what it cannot say yet."""
        return False

    @property
    def figures(self) -> tuple[LawFigure, ...]:
        """What it makes of its estimates that others publish, too; none of most laws."""
        return ()

    @property
    def headline(self) -> Quantity | None:
        """The quantity that tells nodes with the same law apart: the first that is known; None where none is."""
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


class Prediction(msgspec.Struct, frozen=True):
    """What other measurements say that a figure must be, held against the figure: a line of the ledger.

    Attributes:
        id: unique in its run.
        law: name.
        what: what is predicted, in words.
        predicted: the middle of what is predicted, with its ends.
        states: of the machine: of each of `of`, then of the predicted one; None where one explains all.
        of: estimates it was computed from; never those of the predicted case.
        derivation: how, with figures.
        measured: id of the estimate that was predicted.
        value: measured.
        deviation: of the measured value from the predicted one, relative; negative below it.
        error: relative distance between the predicted and the measured ends; 0 where they overlap, negative where
            all that was measured lies below.
        by: what it was computed from, in words: `bandwidth`.
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
        """The deviation with the ends that those of both quantities allow."""
        return Quantity(
            self.deviation,
            self.value.lo / self.predicted.hi - 1,
            self.value.hi / self.predicted.lo - 1,
            basis="derived",
        )

    @property
    def half_width(self) -> float:
        """Half of the distance of the predicted ends, relative to the middle: how much is left open."""
        return (self.predicted.hi - self.predicted.lo) / 2 / self.predicted.value
