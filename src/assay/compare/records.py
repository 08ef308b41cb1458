"""Comparisons of curves and figures of several runs, or of one import, in `assay compare --json`."""

import msgspec

from assay.model.compared import Compared
from assay.model.comparison import Comparison
from assay.model.declaration import Declaration, ParamValue, kept
from assay.model.quantity import Quantity
from assay.model.repetition import Repetition

SIDE_BY_SIDE_SCHEMA = 3
#: Words in which two curves or figures differ, besides names of factors and axes. `program`: MPI or TCP sockets
#: between the same partners.
RUN, PLACE, PROGRAM = "run", "placement", "program"


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of one kernel and run that differ only in one number: a size, cores, ranks, nodes, a program's N.

    Attributes:
        id: unique among the runs.
        run: id of its run.
        benchmark: that measured it, or measures the same.
        declaration: key of its declaration.
        kernel: of the benchmark.
        metric: name of the quantity.
        unit: SI base unit.
        better: direction.
        axis: an axis of the benchmark, a param that an import states, `cores` (of each node) or `nodes`.
        label: word of the placement of its first figure.
        place: meaning of the label in every study: `nodes`, `nodes:near-nic`, `sockets`, `near` ... for messages;
            how cores are added for curves over cores; else the label.
        memory: policy, `bind:NODE` with its node.
        factors: factor -> level.
        params: chosen axes that do not have their usual value.
        state: of the machine; None if one state explains all.
        at: values on the axis, ascending (sizes in B); there may be only one.
        of: ids of the estimates in its run's analysis, in the same order.
    """

    id: str
    run: str
    benchmark: str
    declaration: str
    kernel: str
    metric: str
    unit: str
    better: str
    axis: str
    label: str
    place: str
    memory: str
    factors: dict[str, str]
    params: dict[str, ParamValue]
    state: str | None
    at: tuple[int, ...]
    of: tuple[str, ...]

    @property
    def declared(self) -> Declaration:
        """The declaration of its benchmark that its run has."""
        return kept(self.declaration)


class MessageCurve(Curve, frozen=True, kw_only=True):
    """Messages of every size between the same partners, over the same network, by the same program.

    Attributes:
        pattern: to and fro, in one direction, in both.
        between: whether the messages go from node to node.
        law: id of the model that was fitted to it; empty if there is none.
    """

    pattern: str
    between: bool
    law: str = ""


class PairPoint(msgspec.Struct, frozen=True):
    """Two curves at one value of their axis.

    Attributes:
        at: the value, e.g. the size of a message in B.
        comparison: the ratio a / b, with its interval if both have samples; the same result that figures have.
        difference: a - b, in the unit of the curves.
    """

    at: int
    comparison: Comparison
    difference: Quantity


class Crossover(msgspec.Struct, frozen=True):
    """A value of the axis at which the better of two curves changes.

    Attributes:
        at: crossing of the lines between the two neighbours, in logarithms; its ends are the last value before
            and the first one after.
        before: id of the curve that is better below.
        after: id of the curve that is better above.
        certain: whether the intervals on both sides exclude that the curves are equal there.
    """

    at: Quantity
    before: str
    after: str
    certain: bool


class CurvePair(msgspec.Struct, frozen=True):
    """Two curves of the same quantity.

    Attributes:
        a: id of the curve that is judged.
        b: id of the base.
        differ: the word in which they differ: `run`, `placement`, `program` or the name of a factor.
        exact: whether place and factors are the same; else each is the best curve of its run.
        points: by value.
        crossovers: by value.
    """

    a: str
    b: str
    differ: str
    exact: bool
    points: tuple[PairPoint, ...]
    crossovers: tuple[Crossover, ...]


class CurveStep(msgspec.Struct, frozen=True):
    """A size at which the time of a message jumps.

    Attributes:
        curve: id.
        before: last size before it, in B.
        bytes: first size after it.
        factor: on the time.
        seconds: that it adds.
        rivals: possible causes; first those that are configured near this size.
    """

    curve: str
    before: int
    bytes: int
    factor: Quantity
    seconds: float
    rivals: tuple[str, ...]


class Contrast(msgspec.Struct, frozen=True):
    """Figures on no curve that differ in one word, or in their run.

    Attributes:
        differ: the word in which they differ: `run`, `placement`, `program`, the name of a factor or of an axis.
        of: (run, id of an estimate); of contrasts the largest first, of shared figures that of the first run.
        exact: whether place and factors of two runs are the same; else each figure is the best of its run.
        comparisons: of shared figures: run -> its comparison with the first run, if they are compared.
    """

    differ: str
    of: tuple[tuple[str, str], ...]
    exact: bool = True
    comparisons: dict[str, Comparison] = {}


class SharedLawFigure(msgspec.Struct, frozen=True):
    """A figure that laws of several runs, or sources, state at the same coordinates; their problems may differ.

    Attributes:
        benchmark: that was measured, or measures the same.
        metric: that the law derives.
        at: coordinate -> value, e.g. `{"cores": 2, "nodes": 1}`.
        of: run, id of the estimate whose problem it is, the figure with its ends; runs in their order.
    """

    benchmark: str
    metric: str
    at: dict[str, ParamValue]
    of: tuple[tuple[str, str, Quantity], ...]


class SideBySide(msgspec.Struct, frozen=True):
    """The comparison of the runs.

    Attributes:
        schema: version of this record.
        runs: ids; ratios are to the first.
        curves: all curves; those that are not of messages only for several runs.
        pairs: of curves of the same quantity.
        steps: of all curves of messages.
        shared: figures on no curve that several runs have.
        contrasts: of figures on no curve without samples, the widest of each kind: of rates and times before
            others, the widest first.
        law_figures: figures of laws that several runs have. Problems may differ, so there are no ratios.
    """

    schema: int
    runs: tuple[str, ...]
    curves: tuple[Curve, ...]
    pairs: tuple[CurvePair, ...]
    steps: tuple[CurveStep, ...]
    shared: tuple[Contrast, ...]
    contrasts: tuple[Contrast, ...] = ()
    law_figures: tuple[SharedLawFigure, ...] = ()


class ComparedRuns(Compared, frozen=True):
    """`assay compare --json` of one run or two: figure by figure, and curves side by side.

    Attributes:
        side_by_side: curves, pairs, crossovers and steps; None if there is neither a curve nor a contrast.
        statements: the comparison in sentences.
        repetitions: conclusions of each publication among the systems, judged.
    """

    side_by_side: SideBySide | None = None
    statements: tuple[str, ...] = ()
    repetitions: tuple[Repetition, ...] = ()


class ComparedToFirst(msgspec.Struct, frozen=True):
    """`assay compare --json` of three runs or more.

    Attributes:
        schema: version of this record.
        runs: ids; the first is the base.
        compared: each other run against the first, figure by figure.
        side_by_side: as of two runs.
        statements: as of two runs.
        repetitions: as of two runs.
    """

    schema: int
    runs: tuple[str, ...]
    compared: tuple[Compared, ...]
    side_by_side: SideBySide | None
    statements: tuple[str, ...]
    repetitions: tuple[Repetition, ...] = ()
