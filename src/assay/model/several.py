"""Curves of messages beside each other: of several runs and published systems, and of the ways of one run."""

import msgspec

from assay.model.benchmark import ParamValue
from assay.model.result import Compared, Comparison

SEVERAL_SCHEMA = 1
#: What tells two curves apart that are of different runs; others differ in the place or in a factor, by its name.
#: `program` tells MPI from plain sockets between the same partners.
RUN, PLACE, PROGRAM = "run", "placement", "program"


class Way(msgspec.Struct, frozen=True):
    """A curve: messages of every size between the same partners, over the same network, by the same program.

    Attributes:
        id: unique among several runs.
        run: id of its run.
        benchmark: that measured it, or measures the same.
        pattern: to and fro, in one direction, in both.
        unit: SI base unit.
        better: direction.
        label: word of the placement.
        place: what a label means whatever study uses it: `nodes`, `nodes:near-nic`, `sockets`, `near` ...
        between: whether the messages go from node to node.
        factors: factor -> level.
        axes: chosen axes that have no usual value.
        state: of the machine; None where one explains all.
        sizes: in B, ascending; may be one.
        of: ids of the estimates in its run's analysis, by size.
        law: id of the model that was fitted to it; empty where none was.
    """

    id: str
    run: str
    benchmark: str
    pattern: str
    unit: str
    better: str
    label: str
    place: str
    between: bool
    factors: dict[str, str]
    axes: dict[str, ParamValue]
    state: str | None
    sizes: tuple[int, ...]
    of: tuple[str, ...]
    law: str = ""


class AtSize(msgspec.Struct, frozen=True):
    """Two curves at one size.

    Attributes:
        bytes: size of the message.
        comparison: the ratio a / b, with its interval where both have samples.
        difference: a - b, with its ends, in the unit of the curves; all three alike where there is no interval.
    """

    bytes: int
    comparison: Comparison
    difference: tuple[float, float, float]


class Crossover(msgspec.Struct, frozen=True):
    """A size at which the better of two curves changes.

    Attributes:
        bytes: [between the two sizes by a line in logarithms, last size before, first size after].
        before: id of the way that is better below.
        after: of the one that is better above.
        certain: whether the intervals on both sides exclude that the curves are equal there.
    """

    bytes: tuple[float, float, float]
    before: str
    after: str
    certain: bool


class Beside(msgspec.Struct, frozen=True):
    """Two curves that show the same thing.

    Attributes:
        a: id of the way that is judged.
        b: id of the base.
        differ: what tells them apart: `run`, `placement`, `program` or the name of a factor.
        exact: whether place and factors are the same; else each is its run's best way.
        points: by size.
        crossovers: by size.
    """

    a: str
    b: str
    differ: str
    exact: bool
    points: tuple[AtSize, ...]
    crossovers: tuple[Crossover, ...]


class Bend(msgspec.Struct, frozen=True):
    """A size from which on messages of a curve take longer at once.

    Attributes:
        way: id.
        before: last size before it, in B.
        bytes: first size after it.
        factor: [value, lo, hi] on the time.
        seconds: that it adds.
        rivals: what may be its cause, what is configured near it first.
    """

    way: str
    before: int
    bytes: int
    factor: tuple[float, float, float]
    seconds: float
    rivals: tuple[str, ...]


class Alike(msgspec.Struct, frozen=True):
    """A figure on no curve that several runs have.

    Attributes:
        of: run -> id of its estimate.
    """

    of: dict[str, str]


class Contrast(msgspec.Struct, frozen=True):
    """Figures on no curve that differ in one word, or in their run.

    Attributes:
        differ: what tells them apart: `run`, `placement`, `program`, the name of a factor or of an axis.
        of: (run, id of an estimate), the largest first.
        exact: whether place and factors are the same where runs differ; else each is its run's best.
    """

    differ: str
    of: tuple[tuple[str, str], ...]
    exact: bool = True


class Several(msgspec.Struct, frozen=True):
    """Runs beside each other.

    Attributes:
        schema: version of this record.
        runs: ids, the base of ratios first.
        ways: all curves.
        besides: pairs of curves that show the same thing.
        bends: of all curves.
        alike: figures on no curve.
        contrasts: of figures on no curve without samples, the widest of each kind: of rates and times before
            others, the widest first.
    """

    schema: int
    runs: tuple[str, ...]
    ways: tuple[Way, ...]
    besides: tuple[Beside, ...]
    bends: tuple[Bend, ...]
    alike: tuple[Alike, ...]
    contrasts: tuple[Contrast, ...] = ()


class ComparedCurves(Compared, frozen=True):
    """`assay compare --json`: figure by figure, and the curves of messages beside each other.

    Attributes:
        several: curves, pairs, crossovers and bends; None where there is no curve.
        statements: what they show, in plain words.
    """

    several: Several | None = None
    statements: tuple[str, ...] = ()
