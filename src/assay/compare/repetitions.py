"""Publications among the compared systems: their conclusions, judged by each measured run, else by themselves."""

from collections.abc import Iterator, Mapping

from assay.analyse import examine, repetition
from assay.compare.sides import Side, Sides, is_reference
from assay.model.repetition import Repetition


def repetitions(sides: Sides, given: Mapping[str, str] = {}) -> tuple[Repetition, ...]:
    """Return what each measured run repeats of each publication; without a measured run, each by itself.

    Args:
        sides: the systems.
        given: network of one system -> network of the other, in lower case, as the user says.
    """
    published = [side for side in sides.sides if is_reference(side.run)]
    measured = [side for side in sides.sides if side.run.imported is None]
    if not measured:
        return tuple(side.analysis.repetition for side in published if side.analysis.repetition)
    return tuple(found for own in measured for found in _of_run(own, published, given))


def _of_run(own: Side, published: list[Side], given: Mapping[str, str]) -> Iterator[Repetition]:
    for side in published:
        known = own.analysis.repetition
        if known and known.reference == side.run.info.id and not given:
            yield known
        else:
            yield repetition.repeated(examine(own.run), side.run.info.id, given)
