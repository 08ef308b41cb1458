"""Figures that follow from others, of a source and of the run that it is compared with."""

from collections.abc import Sequence

from assay.analyse import derived, operands
from assay.analyse.estimates import Measured
from assay.analyse.refusals import needs
from assay.model.agreement import scale
from assay.model.compared import Taken
from assay.model.imported import Figure
from assay.model.run import Run
from assay.model.text import text
from assay.report import printed


def meet(
    runs: tuple[Run, Run], sides: tuple[Sequence[Measured], Sequence[Measured]], networks: Sequence[Taken]
) -> tuple[list[tuple[Measured, Measured]], dict[str, str]]:
    """Return the derived figures of a source, each with that of the other side, and why others have none.

    Args:
        runs: the judged one and the base; one of them is the source.
        sides: their headline figures.
        networks: of the judged run that are taken for those of the base.
    """
    met: list[tuple[Measured, Measured]] = []
    missing: dict[str, str] = {}
    if all(run.imported for run in runs):  # figures of one publication are of other systems than those of another
        return met, missing
    base_is_source = runs[1].imported is not None
    source, own = (1, 0) if base_is_source else (0, 1)
    pairs = [(each.b, each.a) if base_is_source else (each.a, each.b) for each in reversed(networks)]
    figures = operands.Figures(runs[own], sides[own], dict(pairs))
    for stated, figure, other in derived.figures_of(runs[source], figures):
        lack = needs(stated.estimate, runs[source], runs[own])
        lack = lack or (other if isinstance(other, str) else _without_ratio(figure, other))
        if lack or isinstance(other, str):
            missing[stated.estimate.id] = lack
        else:
            met.append((other, stated) if base_is_source else (stated, other))
    return met, missing


def _without_ratio(figure: Figure, own: Measured) -> str:
    """Why two values of a quantity are not compared as a ratio; empty if they are."""
    unit, derivation, value = figure.printed_unit or "", figure.derivation, own.estimate.value
    if value is None or derivation is None or scale(derivation, unit) not in {"place", "difference"}:
        return ""
    ours = printed.in_unit(value, unit, derivation.printed)
    theirs = printed.number(figure.printed, unit)
    return text("it has no ratio: {theirs} published, {ours} here", theirs=theirs, ours=ours)
