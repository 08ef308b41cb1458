"""Comparisons of two runs, or of levels of one: the records of `assay compare --json`."""

from typing import Literal

import msgspec

from assay.model.comparison import Comparison
from assay.model.measurand import Part
from assay.model.quantity import Quantity
from assay.model.result import Estimate


class ComparedPair(msgspec.Struct, frozen=True):
    """A comparison with the two estimates that it compares.

    Attributes:
        a: the judged one.
        b: the base.
        comparison: the ratio a / b.
        parts: in which their measurands differ; a part may be `not stated` by one or by both.
    """

    a: Estimate
    b: Estimate
    comparison: Comparison
    parts: tuple[Part, ...] = ()


class Taken(msgspec.Struct, frozen=True):
    """A level of the judged run that is taken for a level of the base, which has another name.

    Attributes:
        role: of their factor: `network`.
        a: level of the run; `not stated` if it has a single one without a name.
        b: level of the base.
        by: their `name`; their order by `rate`; what the user has `given`; or a `guess`, because the order is not
            plain.
    """

    role: str
    a: str
    b: str
    by: Literal["name", "rate", "given", "guess"]


class Difference(msgspec.Struct, frozen=True):
    """One difference between two runs.

    Attributes:
        kind: `machine`, `topology`, `toolchain`, `sources`, `schema`: such runs are compared only if the user
            declares the difference; else `fact`, `environment`, `setting`, which are shown; `part` for a part of
            the measurands of compared figures, `unstated` for those that a side does not state.
        name: what differs, e.g. `kernel release`.
        a: its value in the run that is judged.
        b: its value in the base.
    """

    kind: str
    name: str
    a: str
    b: str


class Yardstick(msgspec.Struct, frozen=True):
    """A ratio of two machines to which the speed-ups of figures are compared.

    Attributes:
        name: `clock`, `FMA peak`, `memory rate`, `node price`.
        a: value of the run that is judged, in `unit`.
        b: value of the base.
        unit: unit of both.
        ratio: a / b.
        stated: whether a source, or the user, states them; else they were measured.
        of: the figure it was measured by, `loaded clock, all`; `nominal` if it is stated.
    """

    name: str
    a: float
    b: float
    unit: str
    ratio: Quantity
    stated: bool
    of: str


#: Whether a figure grew more than a yardstick; `open` if the intervals cannot decide.
Growth = Literal["more", "less", "equal", "open"]


class Compared(msgspec.Struct, frozen=True):
    """`assay compare --json`: the comparisons of one run, or of two.

    Attributes:
        schema: version of this record.
        run: run that is judged.
        base: the other run; empty if levels inside one run are compared.
        across: what was declared to differ, as the factor; empty if nothing was.
        allowed: kinds of differences that were allowed.
        differences: between the runs.
        pairs: what was compared.
        uncompared: estimate or case -> why it was not compared.
        new: those of them of which the base has no such figure.
        yardsticks: ratios of the two machines; none for one machine.
        growth: id of a comparison -> yardstick -> how the speed-up compares with it.
        taken: levels of the run that were taken for levels of the base.
        blocks: of levels of whole runs: the judged run and the base run of each block.
    """

    schema: int
    run: str
    base: str
    across: str
    allowed: tuple[str, ...]
    differences: tuple[Difference, ...]
    pairs: tuple[ComparedPair, ...]
    uncompared: dict[str, str] = {}
    new: tuple[str, ...] = ()
    yardsticks: tuple[Yardstick, ...] = ()
    growth: dict[str, dict[str, Growth]] = {}
    taken: tuple[Taken, ...] = ()
    blocks: tuple[tuple[str, str], ...] = ()
