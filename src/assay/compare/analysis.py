"""One analysis for runs, imports and published systems: which curves show the same, which figures they share."""

from collections.abc import Iterator, Sequence
from itertools import chain

from assay.analyse.evidence import Evidence
from assay.analyse.messages.steps import MessageLaw, causes, steps
from assay.compare.contrasts import contrasts, shared
from assay.compare.curves import Found, of_messages, over_axes
from assay.compare.law_figures import law_figures
from assay.compare.pairs import across, within
from assay.compare.records import SIDE_BY_SIDE_SCHEMA, CurveStep, MessageCurve, SideBySide


def side_by_side(sides: Sequence[Evidence]) -> SideBySide:
    """All curves of the runs, pairs of them, and what else they have in common.

    Args:
        sides: what is known of each run, the base of ratios first; of a single one its own curves of messages are
            compared.
    """
    messages = [of_messages(side) for side in sides]
    between_two = [each.curve for each in chain.from_iterable(messages)]
    taken = frozenset((curve.run, name) for curve in between_two for name in curve.of)
    others = over_axes(sides, taken) if len(sides) > 1 else []
    curves = (*between_two, *(each.curve for each in chain.from_iterable(others)))
    return SideBySide(
        schema=SIDE_BY_SIDE_SCHEMA,
        runs=tuple(side.run.info.id for side in sides),
        curves=curves,
        pairs=(*across(messages), *chain.from_iterable(map(within, messages)), *across(others)),
        steps=tuple(step for side, of in zip(sides, messages, strict=True) for step in _steps(side, of)),
        shared=tuple(shared(sides, curves)),
        contrasts=tuple(contrasts(sides, between_two)),
        law_figures=tuple(law_figures(sides)) if len(sides) > 1 else (),
    )


def _steps(side: Evidence, found: Sequence[Found]) -> Iterator[CurveStep]:
    """Steps of the laws of a run's curves that are more than scatter, each with what may be its cause."""
    laws = {model.id: model for model in side.fitted(MessageLaw)}
    for each in found:
        law = each.curve.law if isinstance(each.curve, MessageCurve) else ""
        for step in steps(laws[law]) if law else ():
            rivals = tuple(causes(side, each.members[0].estimate, step))
            yield CurveStep(each.curve.id, step.before, step.after, step.factor, step.seconds, rivals)
