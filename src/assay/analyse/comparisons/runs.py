"""Two runs side by side: the same cases, launches that share no blocks, and what else is not the same."""

import itertools
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence

import msgspec

from assay.analyse import curves, imported, states, strata
from assay.analyse.comparisons.effects import adjusted, compare, compare_unpaired
from assay.analyse.comparisons.environment import GUARDED, differences, refuse_undeclared
from assay.analyse.comparisons.pairing import MEMORY, headline
from assay.analyse.estimates import Measured, measure
from assay.analyse.launches import Yield, yields
from assay.analyse.limits import bound
from assay.analyse.outcomes import outcomes
from assay.model.errors import UsageError
from assay.model.result import RESULT_SCHEMA, Analysis, Compared, ComparedPair, Comparison, Difference, Estimate
from assay.model.run import Run

#: Level of a factor that an imported command line left alone.
_DEFAULT = "default"
PLACEMENT = "placement"
#: Of a published range both ends are figures: they are one thing, not two to compare.
_END = "end"


class NothingInCommonError(UsageError):
    """No figure of one run can be compared with one of the other."""


def within(run: Run, analysis: Analysis) -> Compared:
    """The comparisons of one run; the estimate of a control is that of the case which it repeats."""
    estimates = {each.id: each for each in analysis.estimates}
    pairs = tuple(
        ComparedPair(estimates.get(each.a, estimates[each.b]), estimates[each.b], each)
        for each in analysis.comparisons
        if each.b in estimates and not (run.imported and each.differ == _END)
    )
    pairs += tuple(_places(imported.measured(run.imported))) if run.imported else ()
    cases = {case.id for case in run.plan.cases if case.factors}
    lost = {
        each.case: each.reason for each in analysis.outcomes if each.case in cases and each.status != "complete"
    }
    return Compared(RESULT_SCHEMA, run.info.id, "", "", (), (), pairs, lost)


def _places(measured: Sequence[Measured]) -> Iterator[ComparedPair]:
    """The same figure in two places of an import, the earlier one as the base; one cannot ask for more of them."""
    groups: dict[Hashable, list[Measured]] = {}
    for each in measured:
        if each.launches and headline(each.estimate):
            elsewhere = msgspec.structs.replace(each.estimate.placement, label="")
            moved = msgspec.structs.replace(each.estimate, placement=elsewhere)
            key = (_key(moved, "", {}, hosts=False), len(each.estimate.placement.hosts))
            groups.setdefault(key, []).append(each)
    for base, one in (pair for group in groups.values() for pair in itertools.combinations(group, 2)):
        if comparison := compare(one, base):
            labels = (each.estimate.placement.label for each in (one, base))
            yield ComparedPair(one.estimate, base.estimate, _placed(comparison, *labels))


def _placed(comparison: Comparison, level: str, base: str) -> Comparison:
    return msgspec.structs.replace(comparison, differ=PLACEMENT, level=level, base=base)


def between(run: Run, base: Run, across: str = "", allowed: Sequence[str] = ()) -> Compared:
    """The headline figures that both runs have, as ratios to the base.

    Args:
        run: that is judged.
        base: the other one.
        across: what is declared to differ, as the factor: a guarded kind, an axis, a factor, `memory`.
        allowed: guarded kinds of differences that are allowed without being the point.

    Raises:
        UsageError: something guarded differs and was not declared; nothing is called `across`; nothing can be
            compared.
    """
    found = differences(run, base)
    foreign = bool(run.imported or base.imported)
    if not foreign:
        refuse_undeclared(found, (across, *allowed))
    guarded = {each.kind for each in found}
    joint = None
    if not guarded & {"machine", "topology"}:  # near and far mean the same on one machine only
        joint = states.border(msgspec.structs.replace(run, launches=run.launches + base.launches))
    gave = [yields(each, joint or states.border(each)) for each in (run, base)]
    explained = strata.explained((run.plan.cases, gave[0]), (base.plan.cases, gave[1]))
    of_run, of_base = (_measured(each, gave[at], explained) for at, each in enumerate((run, base)))
    _refuse_unknown(across, [*of_run, *of_base])
    sides = _sorted(of_base, base, across, foreign=foreign)
    pairs: list[ComparedPair] = []
    left: dict[str, str] = {}
    for key, ones in _sorted(of_run, run, across, foreign=foreign).items():
        others = sides.pop(key, [])
        for one in ones:
            made = list(filter(None, (_pair(one, other) for other in others)))
            pairs += [_named(pair, across, found, (run.info.id, base.info.id)) for pair in made]
            if not made:
                left[one.estimate.id] = _why(one, others, base)
    left |= {each.estimate.id: f"only in {base.info.id}" for others in sides.values() for each in others}
    if not pairs:
        first = next(iter(left.items()), ("nothing", "neither run has a figure"))
        raise NothingInCommonError(
            "the two runs have nothing in common that could be compared",
            why=f"{first[0]}: {first[1]}",
            remedy=f"assay show {run.info.id}; assay show {base.info.id}",
        )
    told = {each.id: each for each in adjusted([pair.comparison for pair in pairs], binding=True)}
    compared = tuple(
        msgspec.structs.replace(pair, comparison=told.get(pair.comparison.id, pair.comparison)) for pair in pairs
    )
    return Compared(RESULT_SCHEMA, run.info.id, base.info.id, across, tuple(allowed), found, compared, left)


def _measured(run: Run, attempts: Mapping[str, Sequence[Yield]], explained: Collection[str]) -> list[Measured]:
    """The headline estimates of a run; for each state those of the benchmarks that states explain."""
    found = (
        imported.measured(run.imported)
        if run.imported
        else measure(run, attempts, outcomes(run, attempts), explained)
    )
    return [each for each in bound(run, found, {}) if headline(each.estimate)]


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
) -> dict[Hashable, list[Measured]]:
    """By what has to be the same in both runs: one estimate each, or one for each state of the machine."""
    groups: dict[Hashable, list[Measured]] = {}
    for each in measured:
        hosts = len(run.plan.hosts) > 1 and not foreign
        words = _usual(each.estimate) if foreign else {}
        groups.setdefault(_key(each.estimate, across, words, hosts=hosts), []).append(each)
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
    unswept = [axis for axis in curves.axes(estimate) if not axis.swept]
    return {axis.name: str(axis.default) for axis in unswept if axis.default is not None}


def _key(estimate: Estimate, across: str, usual: Mapping[str, str], *, hosts: bool) -> Hashable:
    """Kernel, place, memory, chosen axes and levels, without what is `across`; absent ones are `usual`."""
    computed = {axis.name for axis in curves.axes(estimate) if axis.default is None}
    words = {name: str(value) for name, value in estimate.params.items() if name not in computed}
    words = {**usual, **words, **{name: level for name, level in estimate.factors.items() if level != _DEFAULT}}
    policy, _, nodes = estimate.placement.memory.partition(":")
    words.setdefault(MEMORY, f"{policy}:{nodes}" if policy == "bind" else policy)
    words.pop(across, None)
    host = estimate.placement.hosts if hosts else ()
    same = (estimate.benchmark, estimate.kernel, estimate.metric, estimate.placement.label, host)
    return (*same, frozenset(words.items()))


def _pair(one: Measured, other: Measured) -> ComparedPair | None:
    """The two compared; None where one has no figure, or none in the state of the other."""
    comparison = compare_unpaired(one, other) if one.launches and other.launches else None
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
