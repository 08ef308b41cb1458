"""Figures that follow from others, of a source and of the run that it is compared with."""

from collections.abc import Sequence

from assay.analyse import derived, operands, source_levels
from assay.analyse.estimates import Measured
from assay.analyse.refusals import needs
from assay.model.compared import Taken
from assay.model.run import Run


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
    levels = source_levels.own(runs[source], runs[own])
    figures = operands.Figures(runs[own], sides[own], dict(pairs), levels=levels)
    for printed, other in derived.figures_of(runs[source], figures):
        lack = needs(printed.estimate, runs[source], runs[own]) or (other if isinstance(other, str) else "")
        if lack or isinstance(other, str):
            missing[printed.estimate.id] = lack
        else:
            met.append((other, printed) if base_is_source else (printed, other))
    return met, missing
