"""Compare runs, imports and published systems: pairs of curves, shared figures, contrasts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from assay.analyse.evidence import Evidence
from assay.analyse.messages.steps import MessageLaw, steps
from assay.analyse.models import causes
from assay.compare.contrasts import contrasts, shared
from assay.compare.curves import MeasuredCurve, of_messages, over_axes
from assay.compare.pairs import across, within
from assay.compare.records import SIDE_BY_SIDE_SCHEMA, CurveStep, MessageCurve, SharedLawFigure, SideBySide
from assay.model.grouping import grouped
from assay.model.law import Model


def side_by_side(sides: Sequence[Evidence]) -> SideBySide:
    """Return the curves of the runs, pairs of them, and the other figures that they share.

    Args:
        sides: the evidence of each run; ratios are to the first. Of a single run, its own curves of messages are
            compared.
    """
    messages = [of_messages(side) for side in sides]
    message_curves = [each.curve for each in chain.from_iterable(messages)]
    on_curves = frozenset((curve.run, name) for curve in message_curves for name in curve.of)
    by_axis = over_axes(sides, on_curves) if len(sides) > 1 else []
    curves = (*message_curves, *(each.curve for each in chain.from_iterable(by_axis)))
    return SideBySide(
        schema=SIDE_BY_SIDE_SCHEMA,
        runs=tuple(side.run.info.id for side in sides),
        curves=curves,
        pairs=(*across(messages), *chain.from_iterable(map(within, messages)), *across(by_axis)),
        steps=tuple(step for side, of in zip(sides, messages, strict=True) for step in _steps(side, of)),
        shared=tuple(shared(sides, curves)),
        contrasts=tuple(contrasts(sides, message_curves)),
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
