"""Two runs side by side: the same cases, launches that share no blocks, and what else is not the same."""

import itertools
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence

import msgspec

from assay.analyse import imported, states, strata
from assay.analyse.comparisons.effects import adjusted, compare, compare_unpaired
from assay.analyse.comparisons.pairing import MEMORY, headline
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
from assay.model import benchmarks, roles
from assay.model.compared import Compared, ComparedPair, Difference
from assay.model.errors import UsageError
from assay.model.grouping import grouped
from assay.model.imported import RANGE_END, UNSTATED
from assay.model.result import RESULT_SCHEMA, Analysis, Estimate
from assay.model.run import Run

#: Axis of the size of a message.
_SIZE = roles.usual_axis("message-size")


class NothingInCommonError(UsageError):
    """No figure of one run can be compared with one of the other."""


def within(run: Run, analysis: Analysis) -> Compared:
    """The comparisons of one run; the estimate of a control is that of the case which it repeats."""
    estimates = {each.id: each for each in analysis.estimates}
    pairs = tuple(
        ComparedPair(estimates.get(each.a, estimates[each.b]), estimates[each.b], each)
        for each in analysis.comparisons
        if each.b in estimates and not (run.imported and each.differ == RANGE_END)
    )
    pairs += tuple(_places(imported.measured(run.imported))) if run.imported else ()
    cases = {case.id for case in run.plan.cases if case.factors}
    lost = {
        each.case: each.reason for each in analysis.outcomes if each.case in cases and each.status != "complete"
    }
    return Compared(RESULT_SCHEMA, run.info.id, "", "", (), (), pairs, lost)


def _places(measured: Sequence[Measured]) -> Iterator[ComparedPair]:
    """The same figure in two places of an import, the earlier one as the base; one cannot ask for more of them."""
    figures = (each for each in measured if each.launches and headline(each.estimate))
    groups = grouped(figures, lambda each: (_key(each.estimate, PLACE, {}), len(each.estimate.placement.hosts)))
    for base, one in (pair for group in groups.values() for pair in itertools.combinations(group, 2)):
        if comparison := compare(one, base):
            level, first = (each.estimate.placement.label for each in (one, base))
            told = msgspec.structs.replace(comparison, differ=PLACE, level=level, base=first)
            yield ComparedPair(one.estimate, base.estimate, told)


def between(run: Run, base: Run, across: str = "", allowed: Sequence[str] = ()) -> Compared:
    """The headline figures that both runs have, as ratios to the base; see `against`."""
    return against([run], base, across, allowed)[0]


def against(
    runs: Sequence[Run],
    base: Run,
    across: str = "",
    allowed: Sequence[str] = (),
    earlier: Iterable[Run] = (),
) -> list[Compared]:
    """The headline figures that each run shares with the base, as ratios to the base; one result for each run.

    Args:
        runs: that are judged. p is adjusted among all their figures together.
        base: the run that all ratios are to.
        across: what is declared to differ, as the factor: a guarded kind, an axis, a factor, `memory`.
        allowed: guarded kinds of differences that are allowed without being the point.
        earlier: other runs: those of the same machine and programs show how much figures differ from run to run.

    Raises:
        UsageError: something guarded differs and was not declared; nothing is called `across`; no run has any
            figure that can be compared (NothingInCommonError).
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
        raise NothingInCommonError(
            f"the {'two ' if len(runs) == 1 else ''}runs have nothing in common that could be compared",
            why=f"{first[0]}: {first[1]}",
            remedy=f"assay show {runs[0].info.id}; assay show {base.info.id}",
        )
    every = iter(adjusted([pair.comparison for each in found for pair in each.pairs], binding=True))
    return [
        msgspec.structs.replace(
            each, pairs=tuple(msgspec.structs.replace(pair, comparison=next(every)) for pair in each.pairs)
        )
        for each in found
    ]


def is_like(run: Run, other: Run) -> bool:
    """Whether nothing differs between two runs that would forbid a comparison: one machine, the same programs."""
    return bool(run.launches and other.launches) and not any(
        each.kind in GUARDED for each in differences(run, other)
    )


def history_of(run: Run, earlier: Iterable[Run]) -> History:
    """What those of the earlier runs that are like this one show of the variance between runs."""
    return History(run_logs(each) for each in earlier if is_like(run, each))


def run_logs(run: Run) -> RunLogs:
    """The headline figures of a run as its launches gave them, in ln."""
    attempts = yields(run, states.border(run))
    found = _measured(run, attempts, strata.explained((run.plan.cases, attempts)))
    return RunLogs(
        run.info.id,
        day_of(run),
        {each.estimate.id: logs([launch.value for launch in each.launches]) for each in found if each.launches},
        {each.estimate.id: (each.estimate.benchmark, each.estimate.placement.label) for each in found},
    )


def day_of(run: Run) -> str:
    """The date on which it began, UTC."""
    return run.info.started[: len("2000-01-01")]


def _against(run: Run, base: Run, across: str, allowed: tuple[str, ...], between: BetweenRuns) -> Compared:
    """The pairs of one run and the base, p as it is alone."""
    found = differences(run, base)
    foreign = bool(run.imported or base.imported)
    if not foreign:
        refuse_undeclared(found, (across, *allowed))
    joint = None
    alike = not foreign and is_one_machine(found)
    if alike or foreign:  # near and far mean the same on one machine only
        joint = states.border(msgspec.structs.replace(run, launches=run.launches + base.launches))
    gave = [yields(each, joint or states.border(each)) for each in (run, base)]
    explained = strata.explained((run.plan.cases, gave[0]), (base.plan.cases, gave[1]))
    of_run, of_base = (_measured(each, gave[at], explained) for at, each in enumerate((run, base)))
    _refuse_unknown(across, [*of_run, *of_base])
    sides = _sorted(of_base, base, across, foreign=foreign)
    pairs: list[ComparedPair] = []
    left: dict[str, str] = {}
    for key, ones in _sorted(of_run, run, across, foreign=foreign).items():
        others = sides.pop(key, ())
        for one in ones:
            made = list(filter(None, (_pair(one, other, between) for other in others)))
            pairs += [_named(pair, across, found, (run.info.id, base.info.id)) for pair in made]
            if not made:
                left[one.estimate.id] = _why(one, others, base)
    alone = [each for others in sides.values() for each in others]
    left |= {each.estimate.id: f"only in {base.info.id}" for each in alone}
    if foreign:
        unmatched = [each for each in of_run if each.estimate.id in left]
        unlike = list(_less_stated(unmatched, alone, between))
        unlike += [] if pairs or unlike else _unlike(of_run, of_base, between)
        found += tuple(_contradictions(unlike))
        pairs += [_named(pair, across, found, (run.info.id, base.info.id)) for pair in unlike]
        left = {name: why for name, why in left.items() if name not in {e.id for p in unlike for e in (p.a, p.b)}}
    known = () if alike else yardsticks((run, base), (of_run, of_base), between)
    return Compared(
        RESULT_SCHEMA,
        run.info.id,
        base.info.id,
        across,
        allowed,
        found,
        tuple(pairs),
        left,
        known,
        growth(pairs, known),
    )


def _less_stated(
    ones: Sequence[Measured], others: Sequence[Measured], between: BetweenRuns
) -> Iterator[ComparedPair]:
    """Figures that one source tells less of than the other, each beside the one there that may be the same thing.

    What is said of one, as the order of a matrix, is said of the other or is not; nothing contradicts. Of several
    the one counts of which least more is said, and of those the best. Each figure counts once.
    """
    bases = grouped(others, _kind)
    for kind, judged in grouped(ones, _kind).items():
        of_both = enumerate((judged, bases.get(kind, ())))
        sides = {(at, each.estimate.id): each for at, side in of_both for each in side}
        estimates = {name: each.estimate for name, each in sides.items()}
        # what is said of a figure beyond what is usual
        words = {name: {*chosen(e).items(), *e.factors.items()} for name, e in estimates.items()}
        for name in sorted(sides, key=lambda each: -len(words[each])):
            more = [each for each in sides if each[0] != name[0] and words[name] < words[each]]
            if name in sides and more:
                other = min(more, key=lambda each: (len(words[each]), _standing(estimates[each])))
                one, base = (sides.pop(each) for each in sorted((name, other)))
                yield from filter(None, (_pair(one, base, between),))


def _unlike(ones: Sequence[Measured], others: Sequence[Measured], between: BetweenRuns) -> Iterator[ComparedPair]:
    """The only figure of a kind in a run beside the one of the other run that is most like it; no two are alike.

    That differs in the fewest words, and of those it is the best. What differs in the size of a message lies on
    curves, which are compared as such.
    """
    bases = grouped(others, _what)
    for kind, judged in grouped(ones, _what).items():
        both = [(one.estimate, base.estimate, one, base) for one in judged for base in bases.get(kind, ())]
        if both and 1 in {len(judged), len(bases[kind])}:
            # that differs in the fewest words; of as many the better ones
            a, b, one, base = min(
                both, key=lambda each: (len(_differing(*each[:2])), sum(map(_standing, each[:2])))
            )
            if _SIZE not in _differing(a, b):
                yield from filter(None, (_pair(one, base, between),))


def _what(measured: Measured) -> Hashable:
    estimate = measured.estimate
    return estimate.benchmark, estimate.kernel, estimate.metric, RANGE_END in estimate.params


def _differing(one: Estimate, base: Estimate) -> dict[str, tuple[str, str]]:
    """Word in which two figures differ -> what it is for each of them."""
    sides = _words(one, _usual(one)), _words(base, _usual(base))
    told = {name: tuple(side.get(name, UNSTATED) for side in sides) for name in sides[0] | sides[1]}
    return {name: (a, b) for name, (a, b) in told.items() if a != b}


def _words(estimate: Estimate, usual: Mapping[str, str]) -> dict[str, str]:
    """What is said of a figure: chosen axes, `usual` where nothing is; levels, memory and place."""
    derived = benchmarks.of(estimate.benchmark).derived
    words = {name: str(value) for name, value in estimate.params.items() if name not in derived}
    words = {**usual, **words, **{name: level for name, level in estimate.factors.items() if level != DEFAULT}}
    return words | {MEMORY: words.get(MEMORY, policy(estimate)), PLACE: estimate.placement.label}


def _contradictions(pairs: Sequence[ComparedPair]) -> Iterator[Difference]:
    """The axes at which figures that are compared all the same are not alike."""
    found: dict[str, list[tuple[str, str]]] = {}
    for pair in pairs:
        for name, told in _differing(pair.a, pair.b).items():
            found.setdefault(name, []).append(told)
    for name, levels in found.items():
        a, b = (", ".join(dict.fromkeys(side)) for side in zip(*levels, strict=True))
        yield Difference("axis", name, a, b)


def _standing(estimate: Estimate) -> float:
    """Less for better ones."""
    value = estimate.median or 0.0
    return -value if estimate.better == "higher" else value


def _kind(measured: Measured) -> Hashable:
    estimate = measured.estimate
    ranged = RANGE_END in estimate.params
    size = estimate.params.get(_SIZE)  # a usual one, too, is a size
    return estimate.benchmark, estimate.kernel, estimate.metric, estimate.placement.label, ranged, size


def _measured(
    run: Run, attempts: Mapping[str, Sequence[CaseAttempt]], explained: Collection[str]
) -> list[Measured]:
    """The headline estimates of a run; for each state those of the benchmarks that states explain."""
    found = (
        imported.measured(run.imported)
        if run.imported
        else measure(run, attempts, outcomes(run, attempts), explained)
    )
    return [each for each in without_refused(run, bound(run, found, {})) if headline(each.estimate)]


def _refuse_unknown(across: str, measured: Sequence[Measured]) -> None:
    known = {name for each in measured for name in (*each.estimate.params, *each.estimate.factors)}
    if across and across not in known | {*GUARDED, MEMORY}:
        raise UsageError(
            f"nothing is called '{across}' that two runs could differ in",
            why=f"known: {', '.join([*GUARDED, MEMORY, *sorted(known)])}",
            remedy="assay compare RUN RUN --across toolchain",
        )


def _sorted(
    measured: Sequence[Measured], run: Run, across: str, *, foreign: bool
) -> dict[Hashable, tuple[Measured, ...]]:
    """By what has to be the same in both runs: one estimate each, or one for each state of the machine."""
    hosts = len(run.plan.hosts) > 1 and not foreign
    groups = grouped(
        measured,
        lambda each: _key(each.estimate, across, _usual(each.estimate) if foreign else {}, hosts=hosts),
    )
    for group in groups.values():
        if len({each.estimate.case for each in group}) > 1:
            raise UsageError(
                f"{run.info.id} has several levels of '{across}' itself",
                why=", ".join(dict.fromkeys(_word(each.estimate, across) for each in group)),
                remedy=f"assay compare {run.info.id}",
            )
    return groups


def _usual(estimate: Estimate) -> dict[str, str]:
    """What axes are where a source does not say it; but no size is taken for one that it leaves out."""
    declared = benchmarks.of(estimate.benchmark)
    return {name: str(value) for name, value in declared.defaults.items() if name != declared.swept}


def _key(estimate: Estimate, across: str, usual: Mapping[str, str], *, hosts: bool = False) -> Hashable:
    """Kernel, place, memory, chosen axes and levels, without what is `across`; absent ones are `usual`."""
    words = _words(estimate, usual)
    host = estimate.placement.hosts if hosts else ()
    same = (estimate.benchmark, estimate.kernel, estimate.metric, host)
    words.pop(across, None)
    return (*same, frozenset(words.items()))


def _pair(one: Measured, other: Measured, between: BetweenRuns) -> ComparedPair | None:
    """The two compared; None where one has no figure, or none in the state of the other."""
    comparison = compare_unpaired(one, other, between) if one.launches and other.launches else None
    return ComparedPair(one.estimate, other.estimate, comparison) if comparison else None


def _why(one: Measured, others: Sequence[Measured], base: Run) -> str:
    """Why an estimate is not compared."""
    if not others:
        return _new(base.info.id)
    for each in (one, *others):
        if not each.launches:
            return each.estimate.reason or each.estimate.status
        if not each.estimate.median:
            return "it is 0, of which nothing is a multiple"
    return f"the machine was in different states: {_seen([one])} against {_seen(others)}"


def _seen(measured: Iterable[Measured]) -> str:
    return ", ".join(sorted({launch.state or "unknown" for each in measured for launch in each.launches}))


def _new(base: str) -> str:
    return f"{base} has no such figure"


def unjudged(compared: Compared) -> dict[str, str]:
    """What was not compared though the base has it (in one run: though it was planned), with the reason."""
    return {name: why for name, why in compared.uncompared.items() if why != _new(compared.base)}


def _named(pair: ComparedPair, across: str, found: Sequence[Difference], runs: tuple[str, str]) -> ComparedPair:
    """With the word that tells the two apart: of what was declared to differ, else the names of the runs."""
    declared = [each for each in found if each.kind == across]
    level, base = runs
    if declared:
        level, base = "; ".join(each.a for each in declared), "; ".join(each.b for each in declared)
    elif across:
        level, base = _word(pair.a, across) or level, _word(pair.b, across) or base  # a run may know no levels
    comparison = msgspec.structs.replace(
        pair.comparison, differ=across or "run", level=level, base=base, varied=bool(across)
    )
    return msgspec.structs.replace(pair, comparison=comparison)


def _word(estimate: Estimate, name: str) -> str:
    if name == MEMORY:
        return estimate.factors.get(MEMORY, estimate.placement.memory)
    return str(estimate.factors.get(name, estimate.params.get(name, "")))
