"""Compare runs, imports and published systems: pairs of curves, shared figures, contrasts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec

from assay.analyse.comparisons.judging import Pair
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence
from assay.analyse.messages.steps import MessageLaw, steps
from assay.analyse.models import causes
from assay.compare.contrasts import Shared, contrasts, shared
from assay.compare.curves import MeasuredCurve, of_messages, over_axes
from assay.compare.pairs import Judged, Matched, across, compared, within
from assay.compare.records import (
    RUN,
    SIDE_BY_SIDE_SCHEMA,
    Curve,
    CurveStep,
    MessageCurve,
    SharedLawFigure,
    SideBySide,
)
from assay.model.grouping import grouped
from assay.model.law import Model


class OfRuns(NamedTuple):
    """Two figures of two runs; `exact`: at the same place and with the same factors."""

    a: Measured
    b: Measured
    exact: bool


class Named(NamedTuple):
    """The curves of runs, and all that is compared beside their figures, before it is judged.

    Attributes:
        messages: curves of messages, for each run.
        by_axis: curves over other axes, for each run.
        matched: pairs of curves.
        shared: figures on no curve that several runs have.
    """

    messages: list[list[MeasuredCurve]]
    by_axis: list[list[MeasuredCurve]]
    matched: list[Matched]
    shared: list[Shared]

    @property
    def curves(self) -> tuple[Curve, ...]:
        """All curves."""
        return tuple(each.curve for each in chain.from_iterable((*self.messages, *self.by_axis)))

    def between(self, run: str, base: str) -> Iterator[OfRuns]:
        """Return the pairs of figures of two runs."""
        for pair in self.matched:
            if pair.differ == RUN and (pair.a.curve.run, pair.b.curve.run) == (run, base):
                yield from (OfRuns(a, b, pair.exact) for _, a, b in pair.points)
        for each in self.shared:
            yield from (OfRuns(a, b, exact=True) for of, a, first, b in each.pairs if (of, first) == (run, base))

    def inside(self, run: str) -> list[Pair]:
        """Return the pairs of figures of one run."""
        return [
            Pair(a, b, pair.differ, *pair.levels)
            for pair in self.matched
            if pair.differ != RUN and pair.a.curve.run == run
            for _, a, b in pair.points
        ]


def named(sides: Sequence[Evidence], factor: str = "") -> Named:
    """Return the curves of the runs, and the pairs of figures that they and other figures make.

    Args:
        sides: the evidence of each run; ratios are to the first. Of a single run, its own curves of messages are
            compared.
        factor: whose levels the sides are; empty if they are runs.
    """
    messages = [of_messages(side) for side in sides]
    on_curves = frozenset((each.curve.run, name) for of in messages for each in of for name in each.curve.of)
    by_axis = over_axes(sides, on_curves) if len(sides) > 1 else []
    found = Named(
        messages, by_axis, [*across(messages), *chain.from_iterable(map(within, messages)), *across(by_axis)], []
    )
    return found._replace(shared=shared(sides, found.curves, factor))


def side_by_side(sides: Sequence[Evidence], named: Named, judged: Judged) -> SideBySide:
    """Return the curves of the runs, pairs of them, and the other figures that they share, as they were judged."""
    return SideBySide(
        schema=SIDE_BY_SIDE_SCHEMA,
        runs=tuple(side.run.info.id for side in sides),
        curves=named.curves,
        pairs=tuple(pair for each in named.matched if (pair := compared(each, judged))),
        steps=tuple(step for side, of in zip(sides, named.messages, strict=True) for step in _steps(side, of)),
        shared=tuple(each.record(judged) for each in named.shared),
        contrasts=tuple(contrasts(sides, [each.curve for each in chain.from_iterable(named.messages)])),
        law_figures=tuple(_law_figures(sides)) if len(sides) > 1 else (),
    )


def _steps(side: Evidence, found: Sequence[MeasuredCurve]) -> Iterator[CurveStep]:
    """Steps in the laws of a run's curves that exceed the scatter, each with its possible causes."""
    laws = {model.id: model for model in side.fitted(MessageLaw)}
    for each in found:
        law = each.curve.law if isinstance(each.curve, MessageCurve) else ""
        for step in steps(laws[law]) if law else ():
            rivals = causes(laws[law], side, each.members[0].estimate, step)
            yield CurveStep(each.curve.id, step.before, step.after, step.factor, step.seconds, rivals)


def _law_figures(sides: Sequence[Evidence]) -> Iterator[SharedLawFigure]:
    """Figures of laws that two runs or more have at the same coordinates; their problems may differ."""
    own = [list(_of_laws(side)) for side in sides]
    coordinates = {each.metric: tuple(each.at) for of in own for each in of}
    every = (each for side, of in zip(sides, own, strict=True) for each in (*of, *_published(side, coordinates)))
    for of in grouped(every, lambda each: (each.benchmark, each.metric, frozenset(each.at.items()))).values():
        figures = tuple(chain.from_iterable(each.of for each in of))
        if len({run for run, _, _ in figures}) > 1:
            yield msgspec.structs.replace(of[0], of=figures)


def _of_laws(side: Evidence) -> Iterator[SharedLawFigure]:
    for model in side.fitted(Model):
        for each in model.figures:
            own = (side.run.info.id, each.estimate, each.value)
            yield SharedLawFigure(side.estimates[each.estimate].benchmark, each.metric, dict(each.at), (own,))


def _published(side: Evidence, coordinates: Mapping[str, Sequence[str]]) -> Iterator[SharedLawFigure]:
    """Figures of the same metrics that a source states with all coordinates."""
    for estimate in side.estimates.values():
        wanted = coordinates.get(estimate.metric, ())
        if estimate.basis == "imported" and wanted and estimate.value and estimate.params.keys() >= set(wanted):
            at = {name: estimate.params[name] for name in wanted}
            own = (side.run.info.id, estimate.id, estimate.value)
            yield SharedLawFigure(estimate.measurand.program, estimate.metric, at, (own,))
