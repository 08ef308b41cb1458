"""Levels of whole runs, such as a BIOS profile: a run is a launch of its level, and runs in turn are a block."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.evidence import Evidence
from assay.analyse.flaws import is_misplaced
from assay.analyse.models import models
from assay.analyse.statistics import median_interval
from assay.compare.environment import differences, refuse_undeclared
from assay.model.errors import UsageError
from assay.model.grouping import grouped
from assay.model.plan import Factor
from assay.model.prices import price
from assay.model.run import Run

#: Fewer blocks show nothing of how much they vary.
_FEWEST = 2


def pooled(found: Sequence[Evidence], factor: str) -> tuple[list[Evidence], list[Run]]:
    """Return the evidence of each level, that of the first run first, and the runs that are in no block.

    The launches of a level are the medians of its runs. Runs that follow each other in time are a block as long as
    no level comes twice. A block compares the levels that it has with that of the first run.

    Raises:
        UsageError: a run states no level, there is one level only, the levels do not alternate, or two runs of one
            level differ in a guarded kind.
    """
    for run in (each.run for each in found):
        if factor not in run.plan.levels:
            raise UsageError(
                f"run {run.info.id} does not state its level of '{factor}'",
                why=f"it states: {', '.join(run.plan.levels) or 'nothing'}",
                remedy="" if run.imported else f"assay run {run.plan.study} --level {factor}=LEVEL",
            )
    ordered = sorted(found, key=lambda each: each.run.info.started)
    base = found[0].run.plan.levels[factor]
    blocks = _blocks(ordered, factor)
    others = [level for level in dict.fromkeys(each.run.plan.levels[factor] for each in ordered) if level != base]
    if not others:
        raise UsageError(
            f"all runs have the level {base} of '{factor}'",
            why="a comparison is of two levels",
            remedy=f"assay run {found[0].run.plan.study} --level {factor}=OTHER",
        )
    levels = {
        level: {number: of[level] for number, of in blocks.items() if {level, base} <= of.keys()}
        for level in others
    }
    for level, of in levels.items():
        if len(of) < _FEWEST:
            raise _not_in_turn(blocks.values(), factor, level, base)
    compared = sorted(set().union(*levels.values()))
    levels = {base: {number: blocks[number][base] for number in compared}, **levels}
    used = {each.run.info.id for of in levels.values() for each in of.values()}
    return [_pooled(of) for of in levels.values()], [each.run for each in ordered if each.run.info.id not in used]


def _blocks(ordered: Iterable[Evidence], factor: str) -> dict[int, dict[str, Evidence]]:
    """Number of a block -> level -> its run."""
    blocks: dict[int, dict[str, Evidence]] = {}
    for each in ordered:
        level = each.run.plan.levels[factor]
        if not blocks or level in blocks[len(blocks)]:
            blocks[len(blocks) + 1] = {}
        blocks[len(blocks)][level] = each
    return blocks


def _not_in_turn(blocks: Iterable[Mapping[str, Evidence]], factor: str, level: str, base: str) -> UsageError:
    """The error that names the runs which are missing for two blocks of both levels."""
    parts = [{name: each for name, each in block.items() if name in {level, base}} for block in blocks]
    order = [name for part in parts for name in part]
    last = next(part for part in reversed(parts) if part)
    own, study = order[-1], next(iter(last.values())).run.plan.study
    other = base if own == level else level
    missing = (other,) if len(last) == 1 else (own, other)
    return UsageError(
        f"the levels of '{factor}' do not alternate: {' '.join(order)}",
        why="what changes with time would count as the level; two runs of each are needed, in turn",
        remedy="; then ".join(f"assay run {study} --level {factor}={each}" for each in missing),
    )


def _pooled(blocks: dict[int, Evidence]) -> Evidence:
    """The evidence of a level. What its figures are of is said by the run whose price is stated, else the last."""
    first, *others = (each.run for each in blocks.values())
    for run in others:
        refuse_undeclared(differences(run, first), ())
    shown = next((each for each in blocks.values() if price(each.run)), list(blocks.values())[-1])
    measured = tuple(_figures((number, one) for number, each in blocks.items() for one in each.measured))
    groups = {one.estimate.id: group for each in blocks.values() for group, one in each.members}
    members = _figures((number, one) for number, each in blocks.items() for _, one in each.members)
    return msgspec.structs.replace(
        shown,
        measured=measured,
        models=models(RunEstimates(shown.run, measured)),
        members=tuple((groups[one.estimate.id], one) for one in members),
        pairs=(),
        predictions=(),
        blocks=blocks,
    )


def beside(levels: Sequence[Evidence], factor: str) -> Evidence:
    """Return the evidence of all levels as that of one run that varied the factor in its blocks."""
    base = levels[0]
    names = tuple(each.run.plan.levels[factor] for each in levels)
    others = {name: level for name, level in base.run.plan.levels.items() if name != factor}
    factors = (*base.run.plan.factors, Factor(factor, names, "commands"))
    plan = msgspec.structs.replace(base.run.plan, levels=others, factors=factors)
    measured = tuple(
        _at(one, factor, name) for each, name in zip(levels, names, strict=True) for one in each.measured
    )
    runs = (run for each in levels for run in each.blocks.values())
    return msgspec.structs.replace(
        base,
        run=msgspec.structs.replace(base.run, plan=plan),
        measured=measured,
        blocks=dict(enumerate(runs, 1)),
    )


def _at(figure: Measured, factor: str, level: str) -> Measured:
    """A figure at its level: ids are unique among the levels."""
    estimate = figure.estimate
    named = msgspec.structs.replace(
        estimate, id=f"{estimate.id} {factor}={level}", factors={**estimate.factors, factor: level}
    )
    return Measured(named, figure.launches)


def _figures(of: Iterable[tuple[int, Measured]]) -> list[Measured]:
    """The figures of a level; a figure that no run has does not count beside the same one in a state."""
    named = grouped(of, lambda each: each[1].estimate.id)
    found = [_of_runs(each) for each in named.values()]
    having = {_case(each) for each in found if each.launches}
    return [each for each in found if each.launches or _case(each) not in having]


def _case(figure: Measured) -> tuple[str, str, str]:
    return figure.estimate.case, figure.estimate.kernel, figure.estimate.metric


def _of_runs(of: Sequence[tuple[int, Measured]]) -> Measured:
    """A figure whose launches are the values of runs; it is misplaced if it was in one of them."""
    having = [(block, each.estimate) for block, each in of if each.estimate.median is not None]
    if not having:
        return of[-1][1]
    last = having[-1][1]
    launches = tuple(LaunchMedian(block, last.state, each.median or 0.0) for block, each in having)
    return Measured(
        msgspec.structs.replace(
            last,
            placement=next((each.placement for _, each in having if is_misplaced(each)), last.placement),
            value=median_interval([each.value for each in launches], last.unit),
            launches=len(launches),
            disturbed=sum(bool(each.disturbed) for _, each in having),
        ),
        launches,
    )
