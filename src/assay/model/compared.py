"""Figures of two runs, or levels of one, beside each other: what `assay compare --json` has of them."""

from typing import Literal

import msgspec

from assay.model.quantity import Quantity
from assay.model.result import Comparison, Estimate


class ComparedPair(msgspec.Struct, frozen=True):
    """A comparison with the two estimates that it compares."""

    a: Estimate
    b: Estimate
    comparison: Comparison


class Difference(msgspec.Struct, frozen=True):
    """What is not the same in two runs.

    Attributes:
        kind: `machine`, `topology`, `toolchain`, `sources`, `schema`: such runs are compared only where the user
            declares it; else `fact`, `environment`, `setting`, which are shown; `axis` of figures that are
            compared though nothing in both runs is alike.
        name: of what differs, e.g. `kernel release`.
        a: in the run that is judged.
        b: in the base.
    """

    kind: str
    name: str
    a: str
    b: str


class Yardstick(msgspec.Struct, frozen=True):
    """What tells how much more one machine is than another.

    Attributes:
        name: `clock`, `FMA peak`, `memory rate`.
        a: of the run that is judged, in `unit`.
        b: of the base.
        unit: of both.
        ratio: a / b.
        stated: whether a source states them; else they were measured, as `of` says.
        of: where: `loaded clock, all`; of a statement `nominal`.
    """

    name: str
    a: float
    b: float
    unit: str
    ratio: Quantity
    stated: bool
    of: str


#: Whether a figure grew more than a yardstick; `open` where the intervals do not tell.
Growth = Literal["more", "less", "alike", "open"]


class Compared(msgspec.Struct, frozen=True):
    """`assay compare --json`: the comparisons of one run, or of two.

    Attributes:
        schema: version of this record.
        run: that is judged.
        base: the other run; empty where levels are compared inside one.
        across: what was declared to differ, as the factor; empty without.
        allowed: kinds of differences that were allowed.
        differences: between the runs.
        pairs: what was compared.
        uncompared: estimate or case -> why it was not.
        yardsticks: of two machines, what they are beside their figures; none of one machine.
        growth: id of a comparison -> yardstick -> how the speed-up is beside it.
    """

    schema: int
    run: str
    base: str
    across: str
    allowed: tuple[str, ...]
    differences: tuple[Difference, ...]
    pairs: tuple[ComparedPair, ...]
    uncompared: dict[str, str] = {}
    yardsticks: tuple[Yardstick, ...] = ()
    growth: dict[str, dict[str, Growth]] = {}
