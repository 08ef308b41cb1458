"""Comparisons of two runs, case by case, whose launches share no blocks; and of levels inside one run."""

import itertools
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence

import msgspec

from assay.analyse import imported, states, strata
from assay.analyse.comparisons.effects import adjusted, compare, compare_unpaired
from assay.analyse.comparisons.pairing import MEMORY
from assay.analyse.curves import is_headline
from assay.analyse.estimates import Measured, measure
from assay.analyse.history import BetweenRuns, History, RunLogs, logs
from assay.analyse.launches import CaseAttempt, yields
from assay.analyse.limits import bound, without_refused
from assay.analyse.outcomes import outcomes
from assay.compare.curves import chosen, policy
from assay.compare.environment import GUARDED, differences, is_one_machine, refuse_undeclared
from assay.compare.pairs import DEFAULT
from assay.compare.records import PLACE
from assay.compare.yardsticks import growth, yardsticks
from assay.model import roles
from assay.model.compared import Compared, ComparedPair, Difference
from assay.model.declaration import ParamValue
from assay.model.errors import UsageError
from assay.model.grouping import grouped
from assay.model.imported import RANGE_END, UNSTATED
from assay.model.result import RESULT_SCHEMA, Analysis, Estimate
from assay.model.role_words import USUAL_AXES
from assay.model.run import Run
from assay.model.text import text
from assay.report import selection

#: Axis of the size of a message.
_SIZE = USUAL_AXES["message-size"]


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
    groups = grouped(figures, lambda each: (_key(each.estimate, PLACE, {}), len(each.estimate.placement.hosts)))
    for base, one in (pair for group in groups.values() for pair in itertools.combinations(group, 2)):
        if comparison := compare(one, base):
            level, first = (each.estimate.placement.label for each in (one, base))
            comparison = msgspec.structs.replace(comparison, differ=PLACE, level=level, base=first)
            yield ComparedPair(one.estimate, base.estimate, comparison)


def between(run: Run, base: Run, across: str = "", allowed: Sequence[str] = ()) -> Compared:
    """Compare one run with the base; see `against`."""
    return against([run], base, across, allowed)[0]


def against(
    runs: Sequence[Run],
    base: Run,
    across: str = "",
    allowed: Sequence[str] = (),
    earlier: Iterable[Run] = (),
) -> list[Compared]:
    """Compare the headline figures of each run with those of the base; return one result for each run.

    Args:
        runs: that are judged. p is adjusted among all their figures together.
        base: the run that all ratios are to.
        across: the intended difference: a guarded kind, an axis, a factor, `memory`.
        allowed: guarded kinds of differences that are accepted, but not intended.
        earlier: other runs. Those of the same machine and programs show the variance from run to run.

    Raises:
        UsageError: a guarded kind differs and was not declared; `across` names nothing; no figure can be compared
            (NothingInCommonError).
    """
    judged = {each.info.id for each in (*runs, base)}
    others = [each for each in earlier if each.info.id not in judged]
    of_base = history_of(base, others)
    found = []
    for run in runs:
        of_run = of_base if is_like(run, base) else history_of(run, others)
        same_day = day_of(run) == day_of(base)
        found.append(_against(run, base, across, tuple(allowed), BetweenRuns(of_run, of_base, same_day)))
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


def _against(run: Run, base: Run, across: str, allowed: tuple[str, ...], between: BetweenRuns) -> Compared:
    """Compare one run with the base; p is not adjusted."""
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
    bases = _by_key(of_base, base, across, foreign=foreign)
    pairs: list[ComparedPair] = []
    uncompared: dict[str, str] = {}
    new: set[str] = set()
    for key, ones in _by_key(of_run, run, across, foreign=foreign).items():
        others = bases.pop(key, ())
        for one in ones:
            own = list(filter(None, (_pair(one, other, between) for other in others)))
            pairs += own
            if not own:
                uncompared[one.estimate.id] = _why(one, others, base)
                new |= set() if others else {one.estimate.id}
    only_base = [each for others in bases.values() for each in others]
    uncompared |= {each.estimate.id: text("only in {run}", run=base.info.id) for each in only_base}
    new -= {each.estimate.id for each in only_base}
    if foreign:
        unmatched = [each for each in of_run if each.estimate.id in uncompared]
        unequal = [*_less_stated(unmatched, only_base, between), *_unsized(unmatched, only_base, between)]
        unequal += [] if pairs or unequal else _nearest(of_run, of_base, between)
        found += tuple(_contradictions(unequal))
        pairs += unequal
        for each in (estimate.id for pair in unequal for estimate in (pair.a, pair.b)):
            uncompared.pop(each, None)
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
        tuple(sorted(new & uncompared.keys())),
        ratios,
        growth(pairs, ratios),
    )


def _less_stated(
    ones: Sequence[Measured], others: Sequence[Measured], between: BetweenRuns
) -> Iterator[ComparedPair]:
    """Pairs of figures of which one source states fewer words than the other, without a contradiction.

    A word is, for example, the order of a matrix. Of several possible peers, a figure is paired with the one that
    has the fewest further words, and of these with the best. Each figure has one pair.
    """
    bases = grouped(others, _kind)
    for kind, judged in grouped(ones, _kind).items():
        of_both = enumerate((judged, bases.get(kind, ())))
        sides = {(at, each.estimate.id): each for at, side in of_both for each in side}
        estimates = {name: each.estimate for name, each in sides.items()}
        # without default values
        words = {name: {*chosen(e).items(), *e.factors.items()} for name, e in estimates.items()}
        for name in sorted(sides, key=lambda each: -len(words[each])):
            more = [each for each in sides if each[0] != name[0] and words[name] < words[each]]
            if name in sides and more:
                other = min(more, key=lambda each: (len(words[each]), -estimates[each].merit))
                one, base = (sides.pop(each) for each in sorted((name, other)))
                yield from filter(None, (_pair(one, base, between),))


def _unsized(ones: Sequence[Measured], others: Sequence[Measured], between: BetweenRuns) -> Iterator[ComparedPair]:
    """Pairs of a bandwidth whose source states no size of messages with the best of all sizes of the other side.

    The other words of one are all among those of the other.
    """
    for one, base in (
        *((one, _best_size(one, others)) for one in ones),
        *((_best_size(base, ones), base) for base in others),
    ):
        if one and base:
            yield from filter(None, (_pair(one, base, between),))


def _best_size(unsized: Measured, others: Sequence[Measured]) -> Measured | None:
    """The peer of a bandwidth without a size; None if it has a size or no peer."""
    if roles.role(unsized.estimate) != "message-bandwidth" or _SIZE in unsized.estimate.params:
        return None
    own = _but_size(unsized)
    same = (each for each in others if _SIZE in each.estimate.params and _place(each) == _place(unsized))
    peers = [each for each in same if _but_size(each) <= own or own <= _but_size(each)]
    return max(peers, key=lambda each: each.estimate.merit, default=None)


def _but_size(measured: Measured) -> frozenset[tuple[str, ParamValue]]:
    estimate = measured.estimate
    return frozenset(item for item in (chosen(estimate) | estimate.factors).items() if item[0] != _SIZE)


def _place(measured: Measured) -> Hashable:
    return _quantity(measured), measured.estimate.placement.label, policy(measured.estimate)


def _nearest(ones: Sequence[Measured], others: Sequence[Measured], between: BetweenRuns) -> Iterator[ComparedPair]:
    """Pairs of two runs without equal figures: the only figure of a quantity in one run with its nearest peer.

    The nearest peer differs in the fewest words, and is the best of these. Figures at different sizes of messages
    are not paired: they are points of curves.
    """
    bases = grouped(others, _quantity)
    for kind, judged in grouped(ones, _quantity).items():
        both = [(one.estimate, base.estimate, one, base) for one in judged for base in bases.get(kind, ())]
        if both and 1 in {len(judged), len(bases[kind])}:
            a, b, one, base = min(
                both, key=lambda each: (len(_differing(*each[:2])), -each[0].merit - each[1].merit)
            )
            if _SIZE not in _differing(a, b):
                yield from filter(None, (_pair(one, base, between),))


def _quantity(measured: Measured) -> Hashable:
    estimate = measured.estimate
    return estimate.benchmark, estimate.kernel, estimate.metric, RANGE_END in estimate.params


def _differing(one: Estimate, base: Estimate) -> dict[str, tuple[str, str]]:
    """Word in which two figures differ -> its value for each of them."""
    sides = _words(one, _usual(one)), _words(base, _usual(base))
    values = {name: tuple(side.get(name, UNSTATED) for side in sides) for name in sides[0] | sides[1]}
    return {name: (a, b) for name, (a, b) in values.items() if a != b}


def _words(estimate: Estimate, usual: Mapping[str, str]) -> dict[str, str]:
    """Words of a figure: chosen axes (`usual` where it states none), levels, memory and place."""
    derived = estimate.declared.derived
    words = {name: str(value) for name, value in estimate.params.items() if name not in derived}
    words = {**usual, **words, **{name: level for name, level in estimate.factors.items() if level != DEFAULT}}
    return words | {MEMORY: words.get(MEMORY, policy(estimate)), PLACE: estimate.placement.label}


def _contradictions(pairs: Sequence[ComparedPair]) -> Iterator[Difference]:
    """The axes in which compared figures differ."""
    found: dict[str, list[tuple[str, str]]] = {}
    for pair in pairs:
        for name, values in _differing(pair.a, pair.b).items():
            found.setdefault(name, []).append(values)
    for name, levels in found.items():
        a, b = (", ".join(dict.fromkeys(side)) for side in zip(*levels, strict=True))
        yield Difference("axis", name, a, b)


def _kind(measured: Measured) -> Hashable:
    estimate = measured.estimate
    return _quantity(measured), estimate.placement.label, estimate.params.get(_SIZE)  # also a default size


def _measured(
    run: Run, attempts: Mapping[str, Sequence[CaseAttempt]], explained: Collection[str]
) -> list[Measured]:
    """The headline estimates of a run; by state for benchmarks that states explain."""
    found = (
        imported.measured(run, run.imported)
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


def _by_key(
    measured: Sequence[Measured], run: Run, across: str, *, foreign: bool
) -> dict[Hashable, tuple[Measured, ...]]:
    """Estimates by what must be equal in both runs: one for each key, or one for each state of the machine."""
    hosts = len(run.plan.hosts) > 1 and not foreign
    groups = grouped(
        measured,
        lambda each: _key(each.estimate, across, _usual(each.estimate) if foreign else {}, hosts=hosts),
    )
    for group in groups.values():
        if len({each.estimate.case for each in group}) > 1:
            raise UsageError(
                f"{run.info.id} has several levels of '{across}' itself",
                why=", ".join(dict.fromkeys(_level(each.estimate, across) for each in group)),
                remedy=f"assay compare {run.info.id}",
            )
    return groups


def _usual(estimate: Estimate) -> dict[str, str]:
    """Values of axes that a source does not state: their defaults, but not of the swept axis."""
    declared = estimate.declared
    return {name: str(value) for name, value in declared.defaults.items() if name != declared.swept}


def _key(estimate: Estimate, across: str, usual: Mapping[str, str], *, hosts: bool = False) -> Hashable:
    """Kernel, place, memory, chosen axes and levels, without `across`; absent ones are `usual`."""
    words = _words(estimate, usual)
    host = estimate.placement.hosts if hosts else ()
    same = (estimate.benchmark, estimate.kernel, estimate.metric, host)
    words.pop(across, None)
    return (*same, frozenset(words.items()))


def _pair(one: Measured, other: Measured, between: BetweenRuns) -> ComparedPair | None:
    """Compare the two; None if one has no figure, or none in the state of the other."""
    comparison = compare_unpaired(one, other, between) if one.launches and other.launches else None
    return ComparedPair(one.estimate, other.estimate, comparison) if comparison else None


def _why(one: Measured, others: Sequence[Measured], base: Run) -> str:
    """The reason why an estimate is not compared."""
    if not others:
        return text("{run} has no such figure", run=base.info.id)
    for each in (one, *others):
        if not each.launches:
            return each.estimate.reason or each.estimate.status
        if not each.estimate.median:
            return text("it is 0, of which nothing is a multiple")
    return text("the machine was in different states: {a} against {b}", a=_seen([one]), b=_seen(others))


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
