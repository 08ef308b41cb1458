"""Comparisons of two runs, case by case, whose launches share no blocks; and of levels inside one run."""

import itertools
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.analyse import imported, matching, states, strata, taken
from assay.analyse.comparisons.effects import adjusted, compare, compare_unpaired
from assay.analyse.comparisons.pairing import MEMORY
from assay.analyse.curves import is_headline
from assay.analyse.estimates import Measured, measure
from assay.analyse.history import BetweenRuns, History, RunLogs, logs
from assay.analyse.launches import CaseAttempt, yields
from assay.analyse.limits import bound, without_refused
from assay.analyse.outcomes import outcomes
from assay.compare import derivations
from assay.compare.environment import GUARDED, differences, is_one_machine, refuse_undeclared
from assay.compare.pairs import DEFAULT
from assay.compare.records import PLACE
from assay.compare.yardsticks import growth, yardsticks
from assay.model.compared import Compared, ComparedPair, Difference, Taken
from assay.model.errors import UsageError
from assay.model.grouping import grouped
from assay.model.imported import RANGE_END, UNSTATED
from assay.model.measurand import PLACEMENT, QUANTITY, matches
from assay.model.result import RESULT_SCHEMA, Analysis, Estimate
from assay.model.run import Run
from assay.model.text import text
from assay.report import selection

#: Parts of measurands in which two own runs may differ although machine, toolchain and cases are the same.
_OF_FIGURES = frozenset(("version", "folder", "device"))


class NothingInCommonError(UsageError):
    """The runs share no figure that can be compared; `compared` has the reasons of each run's figures."""

    compared: tuple[Compared, ...] = ()


def within(run: Run, analysis: Analysis) -> Compared:
    """Return the comparisons of one run; the estimate of a control is that of the case that it repeats."""
    estimates = {each.id: each for each in analysis.estimates}
    pairs = tuple(
        ComparedPair(estimates.get(each.a, estimates[each.b]), estimates[each.b], each)
        for each in analysis.comparisons
        if each.b in estimates and not (run.imported and each.differ == RANGE_END)
    )
    pairs += tuple(_places(imported.measured(run, run.imported))) if run.imported else ()
    cases = {case.id for case in run.plan.cases if case.factors}
    missing = {
        each.case: each.reason for each in analysis.outcomes if each.case in cases and each.status != "complete"
    }
    return Compared(RESULT_SCHEMA, run.info.id, "", "", (), (), pairs, missing)


def _places(measured: Sequence[Measured]) -> Iterator[ComparedPair]:
    """The same figure at two places of an import; the earlier one is the base."""
    figures = (each for each in measured if each.launches and is_headline(each.estimate))
    groups = grouped(figures, lambda each: matching.rest(each.estimate, PLACEMENT))
    for base, one in (pair for group in groups.values() for pair in itertools.combinations(group, 2)):
        if comparison := compare(one, base):
            level, first = (each.estimate.placement.label for each in (one, base))
            comparison = msgspec.structs.replace(comparison, differ=PLACE, level=level, base=first)
            yield ComparedPair(one.estimate, base.estimate, comparison)


class Declared(NamedTuple):
    """What the user says about the differences of two runs.

    Attributes:
        across: the intended difference: a guarded kind, an axis, a factor, `memory`.
        allowed: guarded kinds of differences that are accepted, but not intended.
        names: network of one system -> network of the other that is taken for it, in lower case.
        several: whether more than two systems are compared: two of them may lack these networks.
    """

    across: str = ""
    allowed: tuple[str, ...] = ()
    names: Mapping[str, str] = {}
    several: bool = False


#: Nothing was said.
NOTHING = Declared()


def between(run: Run, base: Run, declared: Declared = NOTHING) -> Compared:
    """Compare one run with the base; see `against`."""
    return against([run], base, declared)[0]


def against(
    runs: Sequence[Run], base: Run, declared: Declared = NOTHING, earlier: Iterable[Run] = ()
) -> list[Compared]:
    """Compare the headline figures of each run with those of the base; return one result for each run.

    Args:
        runs: that are judged. p is adjusted among all their figures together.
        base: the run that all ratios are to.
        declared: differences that are intended or accepted.
        earlier: other runs. Those of the same machine and programs show the variance from run to run.

    Raises:
        UsageError: a guarded kind differs and was not declared; `across` names nothing; no figure can be compared
            (NothingInCommonError).
    """
    judged = {each.info.id for each in (*runs, base)}
    others = [each for each in earlier if each.info.id not in judged]
    of_base = history_of(base, others)
    declared = declared._replace(several=len(runs) > 1)
    found = []
    for run in runs:
        of_run = of_base if is_like(run, base) else history_of(run, others)
        same_day = day_of(run) == day_of(base)
        found.append(_against(run, base, declared, BetweenRuns(of_run, of_base, same_day)))
    if not any(each.pairs for each in found):
        first = next(iter(found[0].uncompared.items()), ("nothing", "neither run has a figure"))
        error = NothingInCommonError(
            f"the {'two ' if len(runs) == 1 else ''}runs have nothing in common that could be compared",
            why=f"{first[0]}: {first[1]}",
            remedy=f"assay show {runs[0].info.id}; assay show {base.info.id}",
        )
        error.compared = tuple(found)
        raise error
    every = iter(adjusted([pair.comparison for each in found for pair in each.pairs], binding=True))
    return [
        msgspec.structs.replace(
            each, pairs=tuple(msgspec.structs.replace(pair, comparison=next(every)) for pair in each.pairs)
        )
        for each in found
    ]


def is_like(run: Run, other: Run) -> bool:
    """Whether two runs have the same machine and programs: no difference forbids a comparison."""
    return bool(run.launches and other.launches) and not any(
        each.kind in GUARDED for each in differences(run, other)
    )


def history_of(run: Run, earlier: Iterable[Run]) -> History:
    """Return the variance between the earlier runs with the machine and programs of this run."""
    return History(run_logs(each) for each in earlier if is_like(run, each))


def run_logs(run: Run) -> RunLogs:
    """Return the headline figures of the launches of a run, as logarithms."""
    attempts = yields(run, states.border(run))
    found = _measured(run, attempts, strata.explained((run.plan.cases, attempts)))
    return RunLogs(
        run.info.id,
        day_of(run),
        {each.estimate.id: logs([launch.value for launch in each.launches]) for each in found if each.launches},
        {each.estimate.id: (each.estimate.benchmark, each.estimate.placement.label) for each in found},
    )


def day_of(run: Run) -> str:
    """Return the date on which it began, UTC."""
    return run.info.started[: len("2000-01-01")]


def _against(run: Run, base: Run, declared: Declared, between: BetweenRuns) -> Compared:
    """Compare one run with the base; p is not adjusted."""
    across, allowed, names, several = declared
    found = differences(run, base)
    foreign = bool(run.imported or base.imported)
    if not foreign:
        refuse_undeclared(found, (across, *allowed))
    joint = None
    one_machine = not foreign and is_one_machine(found)
    if one_machine or foreign:  # near and far mean the same on one machine only
        joint = states.border(msgspec.structs.replace(run, launches=run.launches + base.launches))
    attempts = [yields(each, joint or states.border(each)) for each in (run, base)]
    explained = strata.explained((run.plan.cases, attempts[0]), (base.plan.cases, attempts[1]))
    of_run, of_base = (_measured(each, of, explained) for each, of in zip((run, base), attempts, strict=True))
    _refuse_unknown(across, [*of_run, *of_base])
    networks: tuple[Taken, ...] = ()
    if foreign:
        own, printed = (of_run, of_base) if base.imported else (of_base, of_run)
        own += matching.rates(own, printed)
        networks = taken.networks(of_base, of_run, names, several=several)
        if run.imported and not base.imported:
            of_run = taken.renamed(of_run, of_base, {pair.a: pair.b for pair in reversed(networks)})
        else:
            of_base = taken.renamed(of_base, of_run, {pair.b: pair.a for pair in reversed(networks)})
    sides = _Sides(run, base, of_run, of_base, between)
    met = list(_of_source(sides, across) if foreign else _of_one_case(sides, across))
    following, missing = derivations.meet((run, base), (of_run, of_base), networks) if foreign else ([], {})
    pairs, uncompared, new = _compared(sides, met + following)
    uncompared |= missing
    found += tuple(_differences(pairs, foreign=foreign))
    ratios = () if one_machine else yardsticks((run, base), (of_run, of_base), between)
    return Compared(
        RESULT_SCHEMA,
        run.info.id,
        base.info.id,
        across,
        allowed,
        found,
        tuple(_with_levels(pair, across, found, (run.info.id, base.info.id)) for pair in pairs),
        uncompared,
        new,
        ratios,
        growth(pairs, ratios),
        networks,
    )


class _Sides(NamedTuple):
    """Two runs with their headline figures."""

    run: Run
    base: Run
    of_run: list[Measured]
    of_base: list[Measured]
    between: BetweenRuns


#: A figure of the run and the one of the base with which it is compared.
_Met = tuple[Measured, Measured]


class _Found(NamedTuple):
    """What two runs have in common: pairs, why other figures are not compared, and those that only the run has."""

    pairs: list[ComparedPair]
    uncompared: dict[str, str]
    new: tuple[str, ...]


def _of_one_case(sides: _Sides, across: str) -> Iterator[_Met]:
    """Figures of the same case of two runs; or of one measurand under two words, `pair:other-node` and `1x1@2`."""

    def identity(measured: Measured) -> Hashable:
        estimate = measured.estimate
        return estimate.measurand.key, estimate.placement.hosts, estimate.state

    own, bases = _by_key(sides.of_run, sides.run, across), _by_key(sides.of_base, sides.base, across)
    for key, ones in own.items():
        yield from itertools.product(ones, bases.get(key, ()))
    left, others = (
        grouped((each for key, of in one.items() if key not in other for each in of), identity)
        for one, other in ((own, bases), (bases, own))
    )
    for name, ones in left.items():
        if len(ones) == len(others.get(name, ())) == 1:
            yield ones[0], others[name][0]


def _of_source(sides: _Sides, across: str) -> Iterator[_Met]:
    """Figures of two runs of which one is printed, or both."""
    ones, others = ([each for each in of if each.launches] for of in (sides.of_run, sides.of_base))
    found = matching.pairs(ones, others, across) or matching.pairs(ones, others, across, nearest=True)
    return ((ones[one], others[other]) for one, other in found)


def _compared(sides: _Sides, met: Sequence[_Met]) -> _Found:
    """Compare figures, and say why others are not compared."""
    pairs = [pair for one, other in met if (pair := _pair(one, other, sides.between))]
    compared = {each.id for pair in pairs for each in (pair.a, pair.b)}
    peers = grouped(met, lambda both: both[0].estimate.id)
    uncompared = {
        each.estimate.id: _why(each, [other for _, other in peers.get(each.estimate.id, ())], sides.base)
        for each in sides.of_run
        if each.estimate.id not in compared
    }
    with_peers = {other.estimate.id for _, other in met}
    only_base = {
        each.estimate.id: text("only in {run}", run=sides.base.info.id)
        for each in sides.of_base
        if each.estimate.id not in with_peers
    }
    return _Found(pairs, uncompared | only_base, tuple(sorted(uncompared.keys() - peers.keys())))


def _differences(pairs: Sequence[ComparedPair], *, foreign: bool) -> Iterator[Difference]:
    """The parts in which compared figures differ, and those that a side does not state."""
    values: dict[str, list[tuple[str, str]]] = {}
    for part in (part for pair in pairs for part in pair.parts):
        values.setdefault(part.name, []).append((part.a, part.b))
    silent: dict[tuple[bool, bool], list[str]] = {}
    for name, both in values.items():
        stated = [(a, b) for a, b in both if UNSTATED not in {a, b}]
        if stated and (foreign or name in _OF_FIGURES):
            a, b = (", ".join(filter(None, dict.fromkeys(side))) for side in zip(*stated, strict=True))
            yield Difference("part", name, a or UNSTATED, b or UNSTATED)
        of_run, of_base = (UNSTATED in side for side in zip(*both, strict=True))
        if of_run or of_base:
            silent.setdefault((of_run, of_base), []).append(name)
    for (of_run, of_base), names in silent.items():
        a, b = (UNSTATED if is_silent else "" for is_silent in (of_run, of_base))
        yield Difference("unstated", ", ".join(names), a, b)


def _measured(
    run: Run, attempts: Mapping[str, Sequence[CaseAttempt]], explained: Collection[str]
) -> list[Measured]:
    """The headline estimates of a run; by state for benchmarks that states explain."""
    found = (
        [each for each in imported.measured(run, run.imported) if not each.estimate.derivation]
        if run.imported
        else measure(run, attempts, outcomes(run, attempts), explained)
    )
    return [each for each in without_refused(run, bound(run, found, {})) if is_headline(each.estimate)]


def _refuse_unknown(across: str, measured: Sequence[Measured]) -> None:
    known = {name for each in measured for name in (*each.estimate.params, *each.estimate.factors)}
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


def _pair(one: Measured, other: Measured, between: BetweenRuns) -> ComparedPair | None:
    """Compare the two; None if one has no figure, or none in the state of the other."""
    match = matches(one.estimate.measurand, other.estimate.measurand)
    if match.kind == "different" or not (one.launches and other.launches):
        return None
    comparison = compare_unpaired(one, other, between)
    return ComparedPair(one.estimate, other.estimate, comparison, match.parts) if comparison else None


def _why(one: Measured, others: Sequence[Measured], base: Run) -> str:
    """The reason why an estimate is not compared."""
    if not others:
        return text("{run} has no such figure", run=base.info.id)
    for each in (one, *others):
        if not each.launches:
            return each.estimate.reason or each.estimate.status
        if not each.estimate.median:
            return text("it is 0, of which nothing is a multiple")
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


def unjudged(compared: Compared) -> dict[str, str]:
    """Return the figures of the base (in one run: planned cases) that were not compared, with the reason."""
    return {name: why for name, why in compared.uncompared.items() if name not in compared.new}


def _with_levels(
    pair: ComparedPair, across: str, found: Sequence[Difference], runs: tuple[str, str]
) -> ComparedPair:
    """The pair with the levels of the declared difference; without one, with the names of the runs."""
    declared = [each for each in found if each.kind == across]
    level, base = runs
    if declared:
        level, base = "; ".join(each.a for each in declared), "; ".join(each.b for each in declared)
    elif across:
        level, base = _level(pair.a, across) or level, _level(pair.b, across) or base  # a run may know no levels
    comparison = msgspec.structs.replace(
        pair.comparison, differ=across or "run", level=level, base=base, varied=bool(across)
    )
    return msgspec.structs.replace(pair, comparison=comparison)


def _level(estimate: Estimate, name: str) -> str:
    if name == MEMORY:
        return estimate.factors.get(MEMORY, estimate.placement.memory)
    return selection.level(estimate, name)
