"""Publications among the compared systems: their conclusions, judged by each measured run, else by themselves."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from assay import references, store
from assay.analyse import examine, repetition
from assay.analyse.conclusions import systems_of
from assay.analyse.evidence import CONFIDENT
from assay.compare.runs import varying
from assay.compare.sides import Side, Sides, is_reference
from assay.model.conclusion import Judged
from assay.model.grouping import grouped
from assay.model.repetition import Repetition
from assay.model.text import text


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
    systems = _systems(measured)
    by_runs = (
        _selected(found, systems.get(found.reference, ()), of_both=False)
        for own in measured
        for found in _of_run(own, published, given)
    )
    return (*by_runs, *_of_systems(sides, systems, given))


def _systems(measured: Sequence[Side]) -> dict[str, Collection[str]]:
    """Publication that a run repeats -> others with whose systems it compares its own, and which a run repeats."""
    names = dict.fromkeys(each.run.plan.reference for each in measured)
    known = (name for name in names if name in references.names())
    found = {name: names.keys() & systems_of(store.load(references.path(name))) for name in known}
    return {name: systems for name, systems in found.items() if systems}


def _selected(found: Repetition, systems: Collection[str], *, of_both: bool) -> Repetition:
    """The same with its conclusions about these systems too, or with all others; rows name them by positions."""
    kept = [at for at, each in enumerate(found.conclusions) if _names(each, systems) is of_both]
    now = {before: at for at, before in enumerate(kept)}
    rows = (
        msgspec.structs.replace(row, conclusions=tuple(now[at] for at in row.conclusions if at in now))
        for row in found.rows
    )
    return msgspec.structs.replace(
        found, rows=tuple(rows), conclusions=tuple(found.conclusions[at] for at in kept)
    )


def _of_systems(
    sides: Sides, systems: Mapping[str, Collection[str]], given: Mapping[str, str]
) -> Iterator[Repetition]:
    """What a publication says of its system beside another one, judged by a run of each."""
    runs = {each.run.plan.reference: each.run for each in reversed(sides.sides) if each.run.imported is None}
    for name, named in systems.items():
        others = {each: examine(runs[each]) for each in sorted(named)}
        between = {each: varying(runs[name], runs[each], sides.earlier) for each in others}
        found = repetition.repeated(examine(runs[name]), name, given, others, between)
        yield _selected(found, named, of_both=True)


def _names(judged: Judged, systems: Collection[str]) -> bool:
    return any(each.reference in systems for each in judged.conclusion.quantity.operands)


def _of_run(own: Side, published: list[Side], given: Mapping[str, str]) -> Iterator[Repetition]:
    for side in published:
        known = own.analysis.repetition
        if known and known.reference == side.run.info.id and not given:
            yield known
        else:
            yield repetition.repeated(examine(own.run), side.run.info.id, given)


def _of_levels(sides: Sides) -> tuple[Repetition, ...]:
    """What the publications that the runs repeat say of the factor, each sentence judged by the runs of its level.

    What is said of one level is judged by this level, whose machine it is; what is said of two, by all together.
    """
    each_level = filter(None, (side.analysis.repetition for side in sides.sides))
    together = {each.reference: each for each in sides.repeated}
    found = grouped(each_level, lambda each: each.reference)
    about = (_about(of, together.get(name), sides.factor) for name, of in found.items())
    return tuple(each for each in about if each.conclusions)


def _about(levels: Sequence[Repetition], together: Repetition | None, factor: str) -> Repetition:
    stated = references.get(levels[0].reference).factors.items()
    names = {name for name, each in stated if factor.casefold() in {name, *map(str.casefold, each.also)}}

    def names_it(judged: Judged) -> bool:
        return any(names & operand.factors.keys() for operand in judged.conclusion.quantity.operands)

    rows, judged = (
        list(zip(*of, strict=True))
        for of in ((each.rows for each in levels), (each.conclusions for each in levels))
    )
    of_all = together.conclusions if together else (None,) * len(judged)
    return msgspec.structs.replace(
        levels[0],
        rows=tuple(min(of, key=lambda row: row.ours is None) for of in rows if names & of[0].factors.keys()),
        conclusions=tuple(
            _by_runs(_of_one(of) or of_both or of[0])
            for of, of_both in zip(judged, of_all, strict=True)
            if names_it(of[0])
        ),
    )


def _of_one(judged: Sequence[Judged]) -> Judged | None:
    """The judgement of the level that has what is said; None if it is said of several.

    What a machine presents is that of one level: all together have no machine of their own.
    """
    of_machine = any(operand.aspect != "value" for operand in judged[0].conclusion.quantity.operands)
    return next((each for each in judged if each.doubt != "level"), judged[0] if of_machine else None)


def _by_runs(judged: Judged) -> Judged:
    """The words of a level: its launches are runs, and the page names the runs of the next block."""
    if judged.doubt not in {"launches", "straddles"}:
        return judged
    why = text("a level needs {count} runs for an interval", count=CONFIDENT) if judged.doubt == "launches" else ""
    return msgspec.structs.replace(judged, detail=why, command="")
