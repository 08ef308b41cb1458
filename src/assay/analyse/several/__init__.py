"""Runs, imports and published systems beside each other: which curves are alike, where one overtakes another."""

from collections.abc import Iterator, Sequence
from itertools import chain

from assay.analyse.evidence import Evidence
from assay.analyse.findings.protocol_switch import causes, steps
from assay.analyse.several.alike import alike
from assay.analyse.several.contrasts import contrasts
from assay.analyse.several.pairs import across, within
from assay.analyse.several.ways import Found, ways
from assay.model.several import SEVERAL_SCHEMA, Bend, Several


def beside(sides: Sequence[Evidence]) -> Several:
    """All curves of messages of the runs, pairs of them, and what else they have in common.

    Args:
        sides: what is known of each run, the base of ratios first; of a single one its own ways are compared.
    """
    found = [ways(side) for side in sides]
    curves = tuple(each.way for each in chain.from_iterable(found))
    return Several(
        schema=SEVERAL_SCHEMA,
        runs=tuple(side.run.info.id for side in sides),
        ways=curves,
        besides=(*across(found), *chain.from_iterable(within(each) for each in found)),
        bends=tuple(bend for side, of in zip(sides, found, strict=True) for bend in _bends(side, of)),
        alike=tuple(alike(sides, curves)),
        contrasts=tuple(contrasts(sides, curves)),
    )


def _bends(side: Evidence, found: Sequence[Found]) -> Iterator[Bend]:
    """Steps of the laws of a run's curves that are more than scatter, each with what may be its cause."""
    laws = {model.id: model for model in side.models}
    for each in found:
        for step in steps(laws[each.way.law]) if each.way.law else ():
            rivals = tuple(causes(side, each.members[0].estimate, step))
            yield Bend(each.way.id, step.before, step.after, step.factor, step.seconds, rivals)
