"""Figures that laws derive, such as speed-ups, and the same figures of other runs and of publications."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.analyse.evidence import Evidence
from assay.compare.records import SharedLawFigure
from assay.model.declaration import ParamValue
from assay.model.grouping import grouped
from assay.model.law import Model
from assay.model.quantity import Quantity


class _Found(NamedTuple):
    """A figure of a run, see `SharedLawFigure`."""

    benchmark: str
    metric: str
    at: Mapping[str, ParamValue]
    of: tuple[str, str, Quantity]


def law_figures(sides: Sequence[Evidence]) -> list[SharedLawFigure]:
    """Return the figures that two runs or more have at the same coordinates; their problems may differ."""
    own = [list(_of_laws(side)) for side in sides]
    coordinates = {each.metric: tuple(each.at) for of in own for each in of}
    found = [[*of, *_published(side, coordinates)] for side, of in zip(sides, own, strict=True)]
    every = (each for of in found for each in of)
    groups = grouped(every, lambda each: (each.benchmark, each.metric, frozenset(each.at.items()))).values()
    return [
        SharedLawFigure(of[0].benchmark, of[0].metric, dict(of[0].at), tuple(each.of for each in of))
        for of in groups
        if len({each.of[0] for each in of}) > 1
    ]


def _of_laws(side: Evidence) -> Iterator[_Found]:
    for model in side.fitted(Model):
        for each in model.figures:
            benchmark = side.estimates[each.estimate].benchmark
            yield _Found(benchmark, each.metric, each.at, (side.run.info.id, each.estimate, each.value))


def _published(side: Evidence, coordinates: Mapping[str, Sequence[str]]) -> Iterator[_Found]:
    """Figures of the same metrics that a source states with all coordinates."""
    for estimate in side.estimates.values():
        wanted = coordinates.get(estimate.metric, ())
        if estimate.basis == "imported" and wanted and estimate.value and estimate.params.keys() >= set(wanted):
            at = {name: estimate.params[name] for name in wanted}
            benchmark = side.run.plan.case(estimate.case).benchmark
            yield _Found(benchmark, estimate.metric, at, (side.run.info.id, estimate.id, estimate.value))
