"""Publications among the compared systems: their conclusions, judged by each measured run, else by themselves."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from assay import references
from assay.analyse import examine, repetition
from assay.compare.sides import Side, Sides, is_reference
from assay.model.conclusion import Judged
from assay.model.grouping import grouped
from assay.model.repetition import Repetition


def repetitions(sides: Sides, given: Mapping[str, str] = {}) -> tuple[Repetition, ...]:
    """Return what each measured run repeats of each publication; without a measured run, each by itself.

    Args:
        sides: the systems.
        given: network of one system -> network of the other, in lower case, as the user says.
    """
    if sides.factor:
        return _of_levels(sides)
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


def _of_levels(sides: Sides) -> tuple[Repetition, ...]:
    """What the publications that the runs repeat say of the factor, each sentence judged by a run at its level."""
    found = filter(None, (side.analysis.repetition for side in sides.singly))
    about = (_about(each, sides.factor) for each in grouped(found, lambda each: each.reference).values())
    return tuple(each for each in about if each.conclusions)


def _about(runs: Sequence[Repetition], factor: str) -> Repetition:
    stated = references.get(runs[0].reference).factors.items()
    names = {name for name, each in stated if factor.casefold() in {name, *map(str.casefold, each.also)}}

    def names_it(judged: Judged) -> bool:
        return any(names & operand.factors.keys() for operand in judged.conclusion.quantity.operands)

    rows, judged = (
        list(zip(*of, strict=True)) for of in ((each.rows for each in runs), (each.conclusions for each in runs))
    )
    return msgspec.structs.replace(
        runs[0],
        rows=tuple(min(of, key=lambda row: row.ours is None) for of in rows if names & of[0].factors.keys()),
        conclusions=tuple(min(of, key=lambda each: each.doubt == "level") for of in judged if names_it(of[0])),
    )
