"""Which figures of a run, or of a reference, an operand describes: as two figures of two systems meet."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.analyse import aspects, imported, matching, taken
from assay.analyse.curves import headline
from assay.analyse.estimates import Measured
from assay.analyse.history import BetweenRuns
from assay.catalogue import benchmarks
from assay.model.derivation import Derivation, Operand
from assay.model.flaw import Flaw
from assay.model.imported import UNSTATED, Figure, Table
from assay.model.left_out import Folded, LeftOut
from assay.model.measurands import FACTOR_ROLES
from assay.model.placement import Word, parsed, starred_memory, studied_memory
from assay.model.result import Estimate
from assay.model.run import Run, Shortfall
from assay.model.text import joined, text

_TWO = 2
_TWO_NETWORKS = text("it needs two networks: --vary network=NAME,NAME")
#: Word for a level of a factor whose levels differ from system to system -> the level among those of a run.
_OF_VARIED: Mapping[str, Callable[[Sequence[str]], str]] = {
    "any": lambda _levels: "",
    "largest": lambda levels: max(levels, key=_number),
    "smallest": lambda levels: min(levels, key=_number),
}


def _number(level: str) -> float:
    return float(level) if level.replace(".", "", 1).isdigit() else 0.0


class MissingError(Exception):
    """A derived figure that a system does not have; the message is the reason.

    Attributes:
        operand: that has no figure, if it is one.
    """

    def __init__(self, reason: str, operand: Operand | None = None) -> None:
        super().__init__(reason)
        self.operand = operand


class Figures(NamedTuple):
    """The figures of a run or of a reference, in which operands are looked for.

    Attributes:
        run: that has them.
        measured: headline figures.
        networks: network as a reference names it -> the one of this run that is taken for it.
        exact: whether operands are found by the words that the source has, not by what these mean.
        levels: (factor, level) as a reference names them -> those of this run that are the same.
        flaws: id of a figure -> why it is not to be used.
        between: of another system: how figures of the judged run, and of this one as the base, vary from run to
            run; None if it is unknown.
    """

    run: Run
    measured: Sequence[Measured]
    networks: Mapping[str, str] = {}
    exact: bool = False
    levels: Mapping[tuple[str, str], tuple[str, str]] = {}
    flaws: Mapping[str, Flaw] = {}
    between: BetweenRuns | None = None

    def flaw(self, of: Iterable[str]) -> Flaw:
        """Why the first of these figures that is not to be used is not; empty if all can be."""
        return next((self.flaws[each] for each in of if each in self.flaws), "")


def of_reference(run: Run) -> Figures:
    """Return the figures that a reference or an import states itself."""
    if run.imported is None:
        return Figures(run, ())
    return Figures(run, imported.measured(run, run.imported), exact=True)


def select(figures: Figures, operand: Operand) -> list[Measured]:
    """Return the figures that an operand describes, the best first; of those that fit only in part the nearest.

    Raises:
        MissingError: there is none.
    """
    if figures.exact:
        stated = [each for each in figures.measured if each.launches and _is_stated(operand, each.estimate)]
        if not stated:
            raise _missing(operand, figures.run)
        return sorted(stated, key=lambda each: -each.estimate.merit)
    words = parsed(operand.placement).each_over
    if len(words) > 1:
        found = [each for word in words for each in _some(figures, operand, word)]
        if not found:
            raise _missing(operand, figures.run)
        return found
    seeking = _described(operand, figures)
    fitting = [
        (price, each)
        for each in figures.measured
        if each.launches
        and each.estimate.exceeds is None
        and _quantity(each.estimate) == _quantity(seeking)
        and _has_levels(operand, each.estimate, figures)
        and aspects.is_where(operand, each.estimate, figures.run)
        and _is_part(operand, each.estimate)
        and _is_layout(operand, each.estimate, figures.run)
        and (price := matching.cost(seeking, each.estimate)) is not None
    ]
    if not fitting:
        raise _missing(operand, figures.run)
    least = min(price for price, _ in fitting)
    nearest = [each for price, each in fitting if price == least]
    return sorted(nearest, key=lambda each: -each.estimate.merit)


def _is_stated(operand: Operand, estimate: Estimate) -> bool:
    """Whether a printed figure has the words of an operand; derived ones by their metric."""
    words = (
        (operand.kernel or estimate.kernel, estimate.kernel),
        (operand.metric or headline(estimate), estimate.metric),
        (operand.placement or estimate.placement.label, estimate.placement.label),
        (operand.memory or estimate.placement.memory, estimate.placement.memory),
    )
    return (
        operand.benchmark == estimate.benchmark
        and all(wanted == found for wanted, found in words)
        and operand.params.items() <= estimate.params.items()
        and operand.factors.items() <= estimate.factors.items()
    )


def _some(figures: Figures, operand: Operand, word: str) -> list[Measured]:
    """The same at one of several numbers of nodes; none where there is none."""
    try:
        return select(figures, msgspec.structs.replace(operand, placement=word))
    except MissingError:
        return []


def counts(operand: Operand) -> tuple[int, ...]:
    """Return the numbers of nodes at which an operand is asked for, in ascending order."""
    over = (parsed(word).nodes for word in parsed(operand.placement).each_over)
    return tuple(sorted(count for count in over if count))


def without(derivation: Derivation, figures: Figures, at: float) -> MissingError:
    """The reason why the curve of a derivation does not reach a value of its axis."""
    axis, operand = derivation.along, derivation.a
    if axis != "nodes":
        return MissingError(text("it needs {axis} {value}", axis=axis, value=f"{at:g}"), operand)
    there = msgspec.structs.replace(operand, placement=f"{parsed(operand.placement).plain}@{at:g}")
    if at > len(figures.run.plan.hosts):
        return MissingError(text("it needs {count} node|it needs {count} nodes", count=int(at)), there)
    return _missing(there, figures.run)


def _missing(operand: Operand, run: Run) -> MissingError:
    return MissingError(_why(operand, run), operand)


def _quantity(estimate: Estimate) -> tuple[str, str, str]:
    return estimate.measurand.program, estimate.measurand.kernel, estimate.measurand.metric


def _described(operand: Operand, figures: Figures) -> Estimate:
    """An estimate without a value, of what an operand describes, as if a source had stated it."""
    declared = figures.run.plan.declared(operand.benchmark)
    if not declared.is_known:
        raise _missing(operand, figures.run)
    kernel = operand.kernel or declared.main_kernel
    metric = operand.metric or declared.headline_name(kernel, operand.params, "")
    unit = next((each.unit for each in declared.metrics if each.name == metric), "")
    figure = Figure(kernel, metric, unit, 1.0, "1")
    any_memory = operand.is_of_each_node
    table = Table(
        source="",
        where="",
        tool="",
        benchmark=operand.benchmark,
        figures=(figure,),
        params=operand.params,
        factors=_levels(operand, figures),
        placement=operand.placement or UNSTATED,
        memory="first-touch" if any_memory else operand.memory or "first-touch",
    )
    (found,) = imported.estimates_of(table, declared)
    if any_memory:
        places = msgspec.structs.replace(found.measurand.places, memory=UNSTATED)
        found = msgspec.structs.replace(found, measurand=msgspec.structs.replace(found.measurand, places=places))
    return found


def _levels(operand: Operand, figures: Figures) -> dict[str, str]:
    """Levels of factors, with the names of this system's networks."""
    name = operand.factors.get(taken.NETWORK, "")
    others = _chosen(operand, figures)
    if name in {"fastest", "slowest"}:
        networks = taken.by_rate(figures.measured)
        if len(networks) <= 1 and figures.run.imported:
            return others
        if len(networks) <= 1:
            raise MissingError(_TWO_NETWORKS)
        return {**others, taken.NETWORK: networks[0 if name == "fastest" else -1]}
    own = figures.networks.get(name, name)
    return others | ({taken.NETWORK: own} if own and own != UNSTATED else {})


def _chosen(operand: Operand, figures: Figures) -> dict[str, str]:
    """The levels of all factors but the network, as the run calls them."""
    factors = (item for item in operand.factors.items() if item[0] != taken.NETWORK)
    mine = (figures.levels.get((name, level), (name, level)) for name, level in factors)
    return {name: own for name, level in mine if (own := _level(name, level, figures.run))}


def _level(factor: str, wanted: str, run: Run) -> str:
    """The level of a factor: `largest` and `smallest` of those that were varied; empty for `any` of them."""
    if wanted not in _OF_VARIED:
        return wanted
    levels = next((each.levels for each in run.plan.factors if each.name == factor), ())
    if len(levels) < _TWO:
        raise MissingError(_not_varied(factor))
    return _OF_VARIED[wanted](levels)


def _not_varied(factor: str) -> str:
    return text("{factor} was not varied: --vary {factor}=LEVEL,LEVEL (docs/factors.md)", factor=factor)


def _has_levels(operand: Operand, estimate: Estimate, figures: Figures) -> bool:
    """Whether a figure is at the levels that an operand names; parts of the system meet by role elsewhere."""
    if figures.run.imported:
        return True
    wanted = {name: own for name, own in _chosen(operand, figures).items() if name not in FACTOR_ROLES}
    return wanted.items() <= (figures.run.plan.levels | estimate.factors).items()


def _is_part(operand: Operand, estimate: Estimate) -> bool:
    """Whether a figure is of a part of the kind that the word names, if it names no certain one."""
    word = parsed(operand.placement)
    if word.form != "group" or word.index is not None:
        return True
    return estimate.measurand.places.kind == word.group


def _is_layout(operand: Operand, estimate: Estimate, run: Run) -> bool:
    """Whether a figure is of the ranks of an operand, if it says which: equal words, or folded into each other."""
    word, label = parsed(operand.placement), estimate.placement.label
    if run.imported:
        return word.form != "ranks" or label == operand.placement
    if word.form != "rank-per":
        return True
    nodes = len(run.plan.hosts)
    wanted, found = _on(word, nodes), _on(parsed(label), nodes)
    folds = (
        (_on(request, nodes), _on(into, nodes)) for request, into in (each.places for each in run.plan.folded)
    )
    return wanted == found or (wanted, found) in folds


def _on(word: Word, nodes: int) -> tuple[str, int]:
    """A placement, and on how many nodes of a run."""
    return word.plain, nodes if word.over == "all" else word.nodes or 1


def _why(operand: Operand, run: Run) -> str:
    """The reason why a run has no figure of an operand: that of its plan, if it has one."""
    if planned := _planned(operand, run):
        return planned
    if short := cut(operand, run):
        return short.why
    varied = {each.name for each in run.plan.factors}
    missing = next((name for name in operand.factors if name not in varied), "")
    if missing and not run.imported:
        return _not_varied(missing)
    where = joined(", ", (operand.placement, *(f"{name} {value}" for name, value in operand.params.items())))
    return text("it has no figure of {benchmark} at {place}", benchmark=operand.benchmark, place=where)


def _planned(operand: Operand, run: Run) -> str:
    """Why the plan of a run left out what an operand describes; empty if it did not."""
    left = next((each for each in run.plan.left_out if _is_of(each, operand)), None)
    if left:
        return left.reason
    folded = next((each for each in run.plan.folded if _is_folded(each, operand)), None)
    if folded:
        return text(
            "{request} equals {other} here: {reason}",
            request=folded.request,
            other=folded.into,
            reason=folded.reason,
        )
    return ""


def cut(operand: Operand, run: Run) -> Shortfall | None:
    """Return why a run did not measure what it planned of an operand; None if it did, or planned none."""
    short = run.ending.cut if run.ending else {}
    words = parsed(operand.placement).each_over
    cases = (
        case
        for case in run.plan.studied
        if case.benchmark == operand.benchmark
        and case.placement.label in words
        and operand.params.items() <= case.params.items()
    )
    found = (short[case.id] for case in cases if case.id in short and not short[case.id].made)
    return next(found, None)


def _is_of(left: LeftOut, operand: Operand) -> bool:
    """Whether a plan left out what an operand describes, or its whole benchmark."""
    place = f"{operand.benchmark} at {operand.placement}"
    family = (operand.benchmark, parsed(operand.placement).starred, starred_memory(_memory(operand)))
    named = left.family[: len(family)]
    return left.request in {operand.benchmark, place} or (len(named) > 1 and named == family[: len(named)])


def _is_folded(folded: Folded, operand: Operand) -> bool:
    memory = "" if _memory(operand) == "first-touch" else f", {_memory(operand)}"
    return folded.request == f"{operand.placement}{memory}"


def _memory(operand: Operand) -> str:
    """The memory word of a study for an operand."""
    return studied_memory(operand.memory or "first-touch")


def why_without(printed: Estimate, run: Run) -> str:
    """Return why a run has no figure that a source states; empty if its plan does not say it."""
    if not run.plan.declared(printed.benchmark).is_known and printed.benchmark not in benchmarks.names():
        return text("Assay has no benchmark '{name}'", name=printed.benchmark)
    where = printed.placement
    operand = Operand(printed.benchmark, placement=where.label, memory=where.memory, params=dict(printed.params))
    if planned := _planned(operand, run):
        return planned
    if short := cut(operand, run):
        return short.why
    if taken.NETWORK in printed.factors and taken.NETWORK not in {each.name for each in run.plan.factors}:
        return _TWO_NETWORKS
    return ""
