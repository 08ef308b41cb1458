"""What two runs have in common: the figures that are compared, named before any of them is judged."""

import itertools
from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.analyse import imported, matching, operands, taken
from assay.analyse.comparisons.judging import Pair
from assay.analyse.comparisons.pairing import MEMORY
from assay.analyse.curves import is_headline
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence
from assay.analyse.limits import without_refused
from assay.analyse.refusals import needs
from assay.compare import derivations
from assay.compare.environment import GUARDED, differences, is_declared, is_one_machine, refuse_undeclared
from assay.compare.pairs import DEFAULT
from assay.compare.records import PLACE
from assay.compare.yardsticks import Figures, figures, growth, yardsticks
from assay.model.compared import Compared, ComparedPair, Difference, Taken
from assay.model.comparison import Comparison
from assay.model.errors import UsageError
from assay.model.grouping import grouped
from assay.model.imported import UNSTATED
from assay.model.measurand import QUANTITY, Part, matches
from assay.model.result import RESULT_SCHEMA, Estimate
from assay.model.run import Run
from assay.model.text import text
from assay.report import selection

#: Parts of measurands in which two own runs may differ although machine, toolchain and cases are the same.
_OF_FIGURES = frozenset(("version", "folder", "device"))


class Declared(NamedTuple):
    """What the user says about the differences of two runs.

    Attributes:
        across: the intended difference: a guarded kind, an axis, a factor, `memory`.
        allowed: guarded kinds of differences that are accepted, but not intended.
        names: network of one system -> network of the other that is taken for it, in lower case.
        several: whether more than two systems are compared: two of them may lack these networks.
        prices: of a node of runs, as typed: `RUN=12000 EUR`.
    """

    across: str = ""
    allowed: tuple[str, ...] = ()
    names: Mapping[str, str] = {}
    several: bool = False
    prices: tuple[str, ...] = ()


#: Nothing was said.
NOTHING = Declared()
#: Whatever differs is accepted, as on a page of several systems.
ANYTHING = Declared(allowed=GUARDED)


class Meeting(NamedTuple):
    """Two runs with their headline figures, and the pairs of these that are compared.

    Attributes:
        run: evidence of the judged one.
        base: of the other one.
        declared: what the user says about their differences.
        differences: between them.
        figures: of both.
        met: pairs of figures, each with the levels in which the two runs differ.
        networks: which of the run were taken for which of the base.
        yardsticks: figures of both machines to which speed-ups are compared; none of one machine.
        missing: derived figure of a source -> why the other side has none.
    """

    run: Evidence
    base: Evidence
    declared: Declared
    differences: tuple[Difference, ...]
    figures: tuple[list[Measured], list[Measured]]
    met: tuple[Pair, ...]
    networks: tuple[Taken, ...]
    yardsticks: tuple[Figures, ...] = ()
    missing: Mapping[str, str] = {}

    @property
    def ids(self) -> tuple[str, str]:
        """Ids of the runs."""
        return self.run.run.info.id, self.base.run.info.id

    @property
    def is_foreign(self) -> bool:
        """Whether one of them was imported."""
        return bool(self.run.run.imported or self.base.run.imported)

    def pair(self, one: Measured, other: Measured) -> Pair:
        """Return two figures as a pair with the levels of the declared difference, else the names of the runs."""
        across = self.declared.across
        found = [each for each in self.differences if across and is_declared(each, (across,))]
        level, base = self.ids
        if found:
            level, base = "; ".join(each.a for each in found), "; ".join(each.b for each in found)
        elif across:  # a run may know no levels
            level, base = _level(one.estimate, across) or level, _level(other.estimate, across) or base
        return Pair(one, other, across or "run", level, base, varied=bool(across))


def meet(run: Evidence, base: Evidence, declared: Declared) -> Meeting:
    """Name the figures of two runs that are compared.

    Raises:
        UsageError: a guarded kind differs and was not declared; `across` names nothing.
    """
    across, allowed, names, several, _ = declared
    found = differences(run.run, base.run)
    meeting = Meeting(run, base, declared, found, (_headlines(run), _headlines(base)), (), ())
    if not meeting.is_foreign:
        refuse_undeclared(found, (across, *allowed))
    of_run, of_base = meeting.figures
    stated = {*run.run.plan.levels, *base.run.plan.levels}
    _refuse_unknown(across, [*of_run, *of_base], stated)
    networks: tuple[Taken, ...] = ()
    if meeting.is_foreign:
        own, printed = (of_run, of_base) if base.run.imported else (of_base, of_run)
        own += matching.rates(own, printed)
        networks = taken.networks(of_base, of_run, names, several=several)
        if run.run.imported and not base.run.imported:
            of_run = taken.renamed(of_run, of_base, {pair.a: pair.b for pair in reversed(networks)})
        else:
            of_base = taken.renamed(of_base, of_run, {pair.b: pair.a for pair in reversed(networks)})
    meeting = meeting._replace(figures=(of_run, of_base), networks=networks)
    met = list(_of_source(meeting) if meeting.is_foreign else _of_one_case(meeting))
    missing: dict[str, str] = {}
    if meeting.is_foreign:
        following, missing = derivations.meet((run.run, base.run), meeting.figures, networks)
        refused = _refused(meeting)
        met = [pair for pair in met if not {each.estimate.id for each in pair} & refused.keys()]
        met += following
        missing |= refused
    one_machine = not meeting.is_foreign and is_one_machine(found)
    return meeting._replace(
        met=tuple(meeting.pair(one, other) for one, other in met),
        missing=missing,
        yardsticks=() if one_machine else tuple(figures(meeting.figures)),
    )


def _refused(meeting: Meeting) -> dict[str, str]:
    """Printed figure -> what it needs, if the other side was measured and is not that."""
    sides = (meeting.run.run, meeting.base.run)
    sources = [at for at, run in enumerate(sides) if run.imported]
    if len(sources) != 1:
        return {}
    source = sources[0]
    found = (each.estimate for each in meeting.figures[source] if not each.estimate.derivation)
    lacking = ((each.id, needs(each, sides[source], sides[1 - source])) for each in found)
    return {name: lack for name, lack in lacking if lack}


def _headlines(evidence: Evidence) -> list[Measured]:
    """The headline figures of a run; printed ones under the names of their benchmarks."""
    run = evidence.run
    found: Sequence[Measured] = evidence.singly
    if run.imported:
        found = [each for each in imported.measured(run, run.imported) if not each.estimate.derivation]
    return [each for each in without_refused(run, found) if is_headline(each.estimate)]


def compared(meeting: Meeting, judged: Mapping[tuple[str, str], Comparison | None]) -> Compared:
    """Return the comparison of two runs, figure by figure, and say why other figures are not compared.

    Args:
        meeting: of the runs.
        judged: by the ids of two estimates.
    """
    pairs = tuple(
        ComparedPair(pair.a.estimate, pair.b.estimate, found, _parts(pair))
        for pair in meeting.met
        if _is_like(pair) and (found := judged.get(pair.key))
    )
    uncompared, new = _uncompared(meeting, {each.id for pair in pairs for each in (pair.a, pair.b)})
    one_machine = not meeting.is_foreign and is_one_machine(meeting.differences)
    runs = (meeting.run.run, meeting.base.run)
    ratios = yardsticks(runs, meeting.yardsticks, judged, one_machine=one_machine)
    return Compared(
        RESULT_SCHEMA,
        *meeting.ids,
        meeting.declared.across,
        meeting.declared.allowed,
        (
            *meeting.differences,
            *_differences(pairs, meeting),
        ),
        pairs,
        uncompared,
        new,
        ratios,
        growth(pairs, ratios),
        meeting.networks,
    )


def _parts(pair: Pair) -> tuple[Part, ...]:
    return matches(pair.a.estimate.measurand, pair.b.estimate.measurand).parts


def _is_like(pair: Pair) -> bool:
    """Whether both are of one quantity."""
    return matches(pair.a.estimate.measurand, pair.b.estimate.measurand).kind != "different"


def judgeable(meeting: Meeting) -> list[Pair]:
    """Return the pairs of one quantity that both have figures, with those of the machines."""
    met = [pair for pair in meeting.met if _is_like(pair) and pair.a.launches and pair.b.launches]
    return [*met, *(meeting.pair(each.a, each.b) for each in meeting.yardsticks)]


#: A figure of the run and the one of the base with which it is compared.
_Met = tuple[Measured, Measured]


def _of_one_case(meeting: Meeting) -> Iterator[_Met]:
    """Figures of the same case of two runs; or of one measurand under two words, `pair:other-node` and `1x1@2`."""

    def identity(measured: Measured) -> Hashable:
        estimate = measured.estimate
        return estimate.measurand.key, estimate.placement.hosts, estimate.state

    (of_run, of_base), across = meeting.figures, meeting.declared.across
    own, bases = _by_key(of_run, meeting.run.run, across), _by_key(of_base, meeting.base.run, across)
    for key, ones in own.items():
        yield from itertools.product(ones, bases.get(key, ()))
    left, others = (
        grouped((each for key, of in one.items() if key not in other for each in of), identity)
        for one, other in ((own, bases), (bases, own))
    )
    for name, ones in left.items():
        if len(ones) == len(others.get(name, ())) == 1:
            yield ones[0], others[name][0]


def _of_source(meeting: Meeting) -> Iterator[_Met]:
    """Figures of two runs of which one is printed, or both."""
    ones, others = ([each for each in of if each.launches] for of in meeting.figures)
    across = meeting.declared.across
    found = matching.pairs(ones, others, across) or matching.pairs(ones, others, across, nearest=True)
    return ((ones[one], others[other]) for one, other in found)


def _uncompared(meeting: Meeting, compared: Container[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Why figures are not compared, and those of them that only the run has."""
    base = meeting.base.run
    peers = grouped(meeting.met, lambda pair: pair.a.estimate.id)
    uncompared = {
        each.estimate.id: _why(each, [pair.b for pair in peers.get(each.estimate.id, ())], base)
        for each in meeting.figures[0]
        if each.estimate.id not in compared
    }
    with_peers = {pair.b.estimate.id for pair in meeting.met}
    only_base = {
        each.estimate.id: (base.imported and operands.why_without(each.estimate, meeting.run.run))
        or text("only in {run}", run=base.info.id)
        for each in meeting.figures[1]
        if each.estimate.id not in with_peers
    }
    return uncompared | only_base | dict(meeting.missing), tuple(sorted(uncompared.keys() - peers.keys()))


def _differences(pairs: Sequence[ComparedPair], meeting: Meeting) -> Iterator[Difference]:
    """The parts in which compared figures differ, and those that a side does not state.

    What a figure does not state, its source may state as a fact of the machine, as the link of its only network.
    """
    sources = (each.run.imported for each in (meeting.run, meeting.base))
    of_machine = [each.facts if each else {} for each in sources]
    values: dict[str, list[tuple[str, str]]] = {}
    for part in (part for pair in pairs for part in pair.parts):
        values.setdefault(part.name, []).append((part.a, part.b))
    silent: dict[tuple[bool, bool], list[str]] = {}
    for name, both in values.items():
        stated = [(a, b) for a, b in both if UNSTATED not in {a, b}]
        if stated and (meeting.is_foreign or name in _OF_FIGURES):
            a, b = (", ".join(filter(None, dict.fromkeys(side))) for side in zip(*stated, strict=True))
            yield Difference("part", name, a or UNSTATED, b or UNSTATED)
        of_run, of_base = (
            UNSTATED in side and name not in facts
            for side, facts in zip(zip(*both, strict=True), of_machine, strict=True)
        )
        if of_run or of_base:
            silent.setdefault((of_run, of_base), []).append(name)
    for (of_run, of_base), names in silent.items():
        a, b = (UNSTATED if is_silent else "" for is_silent in (of_run, of_base))
        yield Difference("unstated", ", ".join(names), a, b)


def _refuse_unknown(across: str, measured: Sequence[Measured], stated: Collection[str]) -> None:
    known = {name for each in measured for name in (*each.estimate.params, *each.estimate.factors)} | set(stated)
    if across and across not in known | {*GUARDED, MEMORY}:
        raise UsageError(
            f"nothing is called '{across}' that two runs could differ in",
            why=f"known: {', '.join([*GUARDED, MEMORY, *sorted(known)])}",
            remedy="assay compare RUN RUN --across toolchain",
        )


def _by_key(measured: Sequence[Measured], run: Run, across: str) -> dict[Hashable, tuple[Measured, ...]]:
    """Estimates by what must be equal in both runs: one for each key, or one for each state of the machine."""
    hosts = len(run.plan.hosts) > 1
    groups = grouped(measured, lambda each: _key(each.estimate, across, hosts=hosts))
    for group in groups.values():
        if len({each.estimate.case for each in group}) > 1:
            raise UsageError(
                f"{run.info.id} has several levels of '{across}' itself",
                why=", ".join(dict.fromkeys(_level(each.estimate, across) for each in group)),
                remedy=f"assay compare {run.info.id}",
            )
    return groups


def _key(estimate: Estimate, across: str, *, hosts: bool = False) -> Hashable:
    """Kernel, place, memory, chosen axes and levels, without `across`."""
    derived = estimate.declared.derived
    words = {name: str(value) for name, value in estimate.params.items() if name not in derived}
    words |= {name: level for name, level in estimate.factors.items() if level != DEFAULT}
    words |= {MEMORY: words.get(MEMORY, estimate.measurand.places.memory), PLACE: estimate.placement.label}
    words.pop(across, None)
    host = estimate.placement.hosts if hosts else ()
    return (estimate.benchmark, estimate.kernel, estimate.metric, host, frozenset(words.items()))


def _why(one: Measured, others: Sequence[Measured], base: Run) -> str:
    """The reason why an estimate is not compared."""
    if not others:
        return text("{run} has no such figure", run=base.info.id)
    for each in (one, *others):
        if not each.launches:
            return each.estimate.reason or each.estimate.status
        if not each.estimate.median:
            return text("it is 0: it has no ratio")
    for other in others:
        match = matches(one.estimate.measurand, other.estimate.measurand)
        if match.kind == "different":
            part = next(part for part in match.parts if part.name in QUANTITY)
            return text("another quantity: {part} {a} against {b}", part=part.name, a=str(part.a), b=str(part.b))
    seen, there = _seen([one]), _seen(others)
    if seen == there:
        return text("no launch of it stayed in one state of the machine: {states}", states=seen)
    return text("the machine was in different states: {a} against {b}", a=seen, b=there)


def _seen(measured: Iterable[Measured]) -> str:
    return ", ".join(sorted({launch.state or "unknown" for each in measured for launch in each.launches}))


def _level(estimate: Estimate, name: str) -> str:
    if name == MEMORY:
        return estimate.factors.get(MEMORY, estimate.placement.memory)
    return selection.level(estimate, name)
