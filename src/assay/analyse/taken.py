"""Networks of two systems meet by role: the fast one of each is taken for the other, whatever their names."""

import itertools
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.analyse.curves import is_headline
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence
from assay.model.compared import Taken
from assay.model.errors import UsageError
from assay.model.imported import UNSTATED
from assay.model.measurand import ONE_WAY, Level
from assay.model.result import Estimate
from assay.model.text import filled, text

NETWORK = "network"
#: Two networks are in a plain order if one is faster than the other by more than this factor.
_PLAIN = 1.1
_TWO = 2
_NAMELESS = text("its only network")
_SOME = "NAME"
_SENTENCES = {
    "rate": text("Network {theirs} of {base} is taken for {own} of {system}, by the order of their rates."),
    "given": text("Network {theirs} of {base} is taken for {own} of {system}, as the user says."),
    "guess": text(
        "Network {theirs} of {base} is taken for {own} of {system}. This is not certain; {option} decides it."
    ),
}


class _Network(NamedTuple):
    """A network of a system: its level, with its rate by facts, and the rate by figures."""

    level: Level
    measured: float

    @property
    def name(self) -> str:
        return self.level.level


def networks(
    base: Sequence[Measured], judged: Sequence[Measured], given: Mapping[str, str], *, several: bool = False
) -> tuple[Taken, ...]:
    """Return which networks of the judged system are taken for which ones of the base.

    Names that are equal and those that the user gives decide; else the order of their rates, as stated or as
    messages were measured. Where one system has more networks, its slower ones are taken for none.

    Args:
        base: its headline figures.
        judged: those of the judged system.
        given: network of one system -> network of the other, in lower case.
        several: whether there are further systems, which may have the networks that these two lack.

    Raises:
        UsageError: the user names a network that neither system has.
    """
    ours, theirs = _networks(judged), _networks(base)
    found = _given(ours, theirs, given, several=several)
    left = [each for each in ours if each.name not in {taken.a for taken in found}]
    right = [each for each in theirs if each.name not in {taken.b for taken in found}]
    for one in list(left):
        same = next((each for each in right if each.name.casefold() == one.name.casefold()), None)
        if same:
            found.append(Taken(NETWORK, one.name, same.name, "name"))
            left.remove(one)
            right.remove(same)
    plain = all(_ordered(side) for side in (left, right)) and len(left) == len(right)
    for one, other in zip(_by_rate(left), _by_rate(right), strict=False):
        found.append(Taken(NETWORK, one.name, other.name, "rate" if plain else "guess"))
    if ours and _of_any(base, theirs):
        found.append(Taken(NETWORK, _by_rate(ours)[0].name, UNSTATED, "guess"))
    if theirs and _of_any(judged, ours):
        found.append(Taken(NETWORK, UNSTATED, _by_rate(theirs)[0].name, "guess"))
    return tuple(found)


def by_rate(measured: Sequence[Measured]) -> list[str]:
    """Return the networks of some figures, the fastest first."""
    return [each.name for each in _by_rate(_networks(measured)) if each.name != UNSTATED]


def _of_any(measured: Sequence[Measured], networks: Sequence[_Network]) -> bool:
    """Whether some figures do not state their network, which can be any of these."""
    levels = (_level(each.estimate) for each in measured)
    return UNSTATED not in {each.name for each in networks} and any(
        level is not None and level.level == UNSTATED for level in levels
    )


def _given(
    ours: Sequence[_Network], theirs: Sequence[_Network], given: Mapping[str, str], *, several: bool
) -> list[Taken]:
    found = []
    for name, other in given.items():
        for a, b in ((name, other), (other, name)):
            one = next((each.name for each in ours if each.name.casefold() == a), None)
            base = next((each.name for each in theirs if each.name.casefold() == b), None)
            if one is not None and base is not None:
                found.append(Taken(NETWORK, one, base, "given"))
                break
        else:
            if several:
                continue
            known = ", ".join(each.name for each in (*theirs, *ours))
            raise UsageError(
                f"--as {name}={other} names no networks of these systems",
                why=f"they have: {known or 'none'}",
                remedy=f"--as {theirs[0].name}={ours[0].name}".lower()
                if theirs and ours
                else "assay list references",
            )
    return found


def _networks(measured: Sequence[Measured]) -> list[_Network]:
    """The networks between nodes, in the order in which they occur."""
    levels: dict[str, Level] = {}
    best: dict[str, float] = {}
    for estimate in (each.estimate for each in measured):
        level = _level(estimate)
        if level is None:
            continue
        levels.setdefault(level.level, level)
        best[level.level] = max(best.get(level.level, 0.0), _speed(estimate))
    found = [_Network(level, best[name]) for name, level in levels.items()]
    named = [each for each in found if each.name != UNSTATED]
    unknown = [each for each in found if each.name == UNSTATED and (each.measured or not named)]
    return named + unknown  # figures that show nothing of their network could be of any


def _level(estimate: Estimate) -> Level | None:
    """The network that carried its messages between nodes; None if none did."""
    return next((each for each in estimate.measurand.levels if each.role == "network"), None)


def _speed(estimate: Estimate) -> float:
    """The rate at which it passed messages in one direction, in B/s; 0 if it does not show that."""
    one_way = estimate.measurand.direction in {ONE_WAY, UNSTATED}
    return estimate.median or 0.0 if one_way and estimate.measurand.role == "message-bandwidth" else 0.0


def _key(networks: Sequence[_Network]) -> list[float]:
    """Rates by which all of them are ordered: as stated if all state one, else as measured."""
    stated = [each.level.rate for each in networks]
    return stated if all(stated) else [each.measured for each in networks]


def _by_rate(networks: Sequence[_Network]) -> list[_Network]:
    """The fastest first; those whose order is not plain as they are."""
    rates = _key(networks)
    if not _ordered(networks):
        return list(networks)
    return [networks[at] for at in sorted(range(len(networks)), key=lambda at: -rates[at])]


def _ordered(networks: Sequence[_Network]) -> bool:
    """Whether each network is plainly slower than the next faster one."""
    rates = sorted(_key(networks))
    return all(slow * _PLAIN < fast for slow, fast in itertools.pairwise(rates))


def renamed(printed: Sequence[Measured], own: Sequence[Measured], names: Mapping[str, str]) -> list[Measured]:
    """Return printed figures with the names of the networks for which theirs are taken.

    Args:
        printed: figures of a source.
        own: those of the other side. If it has a single network, the figures have no name of a network, either.
        names: network of the source -> network of the other side.
    """
    levels = filter(None, (_level(each.estimate) for each in own))
    varied = {level.level for level in levels if level.varied}
    return [_renamed(each, names, varied) for each in printed]


def _renamed(measured: Measured, names: Mapping[str, str], varied: Container[str]) -> Measured:
    estimate, level = measured.estimate, _level(measured.estimate)
    if level is None or level.level not in names:
        return measured
    others = {name: value for name, value in estimate.factors.items() if name != NETWORK}
    own = {NETWORK: names[level.level]} if names[level.level] in varied else {}
    return msgspec.structs.replace(measured, estimate=msgspec.structs.replace(estimate, factors=others | own))


def renamed_sides(
    evidence: Sequence[Evidence], given: Mapping[str, str]
) -> tuple[list[Evidence], tuple[tuple[int, int, Taken], ...]]:
    """Return the sides; printed ones have the names of the networks of the first measured side, else of the first.

    The second value says what was taken for what: position of the printed side, of the other one, and both names.
    Between two printed sides only the user decides.
    """
    first = next((at for at, side in enumerate(evidence) if not side.run.imported), 0)
    own = [each for each in evidence[first].measured if is_headline(each.estimate)]
    sides, found = list(evidence), list[tuple[int, int, Taken]]()
    for at, side in enumerate(evidence):
        if at == first or not side.run.imported:
            continue
        of_base = [each for each in side.measured if is_headline(each.estimate)]
        both = networks(of_base, own, given, several=len(evidence) > _TWO)
        plain = [pair for pair in both if not evidence[first].run.imported or pair.by == "given"]
        names = {pair.b: pair.a for pair in reversed(plain)}
        sides[at] = msgspec.structs.replace(side, measured=tuple(renamed(side.measured, own, names)))
        found += [(at, first, pair) for pair in plain]
    return sides, tuple(found)


def sentences(found: Iterable[tuple[str, str, Taken]]) -> tuple[str, ...]:
    """Return what was taken for what: of the label of the base, that of the judged system, and both networks."""
    return tuple(
        filled(
            _SENTENCES[each.by],
            {
                "theirs": each.b,
                "base": base,
                "own": _NAMELESS if each.a == UNSTATED else each.a,
                "system": system,
                "option": f"--as {each.b.lower()}={_SOME if each.a == UNSTATED else each.a}",
            },
        )
        for base, system, each in found
        if each.by in _SENTENCES and each.b != UNSTATED and each.a.casefold() != each.b.casefold()
    )
