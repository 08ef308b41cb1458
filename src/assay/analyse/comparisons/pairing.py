"""The pairs of a run that are compared: estimates that differ in one dimension, measured in the same blocks."""

import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence

import msgspec

from assay.analyse.comparisons.effects import resolution
from assay.analyse.comparisons.judging import Pair, in_blocks
from assay.analyse.curves import is_headline, machine_of
from assay.analyse.estimates import Measured
from assay.analyse.statistics import medians
from assay.model.application import Beside
from assay.model.compared import ComparedPair
from assay.model.comparison import CONTROL, Comparison
from assay.model.grouping import grouped
from assay.model.machine import Machine
from assay.model.measurand import COUNTS, SHARE
from assay.model.placement import Word
from assay.model.plan import Factor
from assay.model.result import Estimate
from assay.model.run import Run

#: Dimensions that are neither an axis nor a factor.
CORES, MEMORY, CARD = "cores", "memory", "card"
#: The other program and Assay's, whose figures are declared to be of the same.
PROGRAM = "program"
_CORES = ("all", "half", "all-threads", "one-core")
#: Levels of `card`: cores near the network card, and far from it.
NEAR, FAR = "near-nic", "far-nic"
_CARDS = {"near": NEAR, "far": FAR}
#: A pair of two nodes uses cores near the card, if far ones are known.
_BESIDE_CARD = "pair:other-node"
#: Dimension -> the parts of a measurand that it changes, if they have other names.
_PARTS = {CORES: COUNTS | {SHARE, "relation"}}


def pairs(run: Run, measured: Sequence[Measured], controls: Sequence[Measured] = ()) -> list[ComparedPair]:
    """Return the pairs of a headline metric that differ in one dimension; the base has the default level.

    Levels are the levels of axes without numbers and of factors, `half` and `all-threads` against `all` cores,
    memory policies against first touch or the cores' own node, and cores far from the network card against near
    ones. The base of a factor that is varied on purpose is its first level. No difference is claimed that is
    smaller than the difference of the first level to itself (A against A).

    Args:
        run: as it was stored.
        measured: estimates of its cases.
        controls: estimates of the cases that were measured twice in each block.
    """
    varied = {factor.name: factor for factor in run.plan.factors}
    subjects = {case.id: case.subject for case in run.plan.cases}
    repeats = {case.id: case.repeats for case in run.plan.cases if case.repeats}
    repeated = grouped(_controls(measured, controls, repeats), lambda pair: _figure(pair.b.estimate, subjects))
    named = [*itertools.chain(*repeated.values())]
    for pair in _named(run, measured, varied):
        own = repeated.get(_figure(pair.b.estimate, subjects), ()) if pair.varied else ()
        named.append(pair._replace(resolution=_resolution(own, pair.b.estimate.state)))
    return [
        ComparedPair(pair.a.estimate, pair.b.estimate, _with_figures(pair, comparison))
        for pair, comparison in zip(named, in_blocks(named), strict=True)
        if comparison
    ]


def _resolution(repeats: Sequence[Pair], state: str | None) -> float | None:
    """The result of A against A for a subject, in this state if there are several."""
    known = [(each.b.estimate.state == state, found) for each in repeats if (found := resolution(each.a, each.b))]
    return max(known)[1] if known else None


def _controls(
    measured: Sequence[Measured], controls: Sequence[Measured], repeats: Mapping[str, str]
) -> Iterator[Pair]:
    """Each control paired with the estimates that it repeats, one for each of their states.

    Args:
        measured: estimates that may be repeated.
        controls: of cases of that role.
        repeats: case of a control -> the case that it repeats.
    """
    headlines = (each for each in measured if each.launches and is_headline(each.estimate))
    firsts = grouped(headlines, lambda each: _figure(each.estimate))
    for again in filter(lambda each: each.launches, controls):
        for first in firsts.get(_figure(again.estimate, repeats), ()):
            yield Pair(again, first, CONTROL, "again", "first")


def _figure(estimate: Estimate, subjects: Mapping[str, str] = {}) -> Hashable:
    """The identity of an estimate without the state of the machine; by its subject if these are given."""
    case = subjects.get(estimate.case, estimate.case)
    return case, estimate.kernel, estimate.metric, estimate.placement.hosts


def _named(run: Run, measured: Sequence[Measured], varied: Mapping[str, Factor]) -> Iterator[Pair]:
    places = (folded.places for folded in run.plan.folded)
    halves = {into.text: request for request, into in places if request.share == "half"}
    groups: dict[tuple[str, Hashable], list[tuple[str, Measured]]] = {}
    order: dict[tuple[str, str], int] = {}
    for each in measured:
        if each.launches and each.estimate.median and is_headline(each.estimate):
            for name, level in _levels(each.estimate, halves).items():
                groups.setdefault((name, _rest(each.estimate, name)), []).append((level, each))
                order.setdefault((name, level), len(order))
    for (name, _), group in groups.items():
        group.sort(key=lambda each: order[name, each[0]])
        yield from _against_base(name, group, varied.get(name), run.machines)
    for application in run.plan.applications:
        if application.beside:
            yield from _beside(application.name, application.beside, measured)


def _with_figures(pair: Pair, comparison: Comparison) -> Comparison:
    """Return a comparison with a program of others with the figures that it compares."""
    if pair.differ != PROGRAM:
        return comparison
    a, b = (float(medians([launch.value for launch in each.launches])) for each in (pair.a, pair.b))
    return msgspec.structs.replace(comparison, figures=(a, b))


def _beside(name: str, beside: Beside, measured: Sequence[Measured]) -> Iterator[Pair]:
    """Each figure of a program, as the base, with Assay's own of the same: same places, levels and axes."""

    def place(estimate: Estimate) -> Hashable:
        placement = estimate.placement
        return placement.label, placement.memory, placement.hosts, frozenset(estimate.factors.items())

    always = {key: value for key, value in beside.axes.items() if not isinstance(value, tuple)}
    theirs = [each for each in measured if each.launches and each.estimate.benchmark == name]
    ours = grouped(
        (each for each in measured if each.launches and each.estimate.benchmark == beside.benchmark),
        lambda each: (each.estimate.kernel, each.estimate.metric, place(each.estimate)),
    )
    for b in theirs:
        figure = beside.figures.get(b.estimate.kernel)
        if figure is None:
            continue
        for a in ours.get((figure.kernel, figure.metric, place(b.estimate)), ()):
            axes = a.estimate.params
            same = always | b.estimate.params | figure.axes
            wanted = {key: value for key, value in same.items() if key in axes}
            if axes.items() >= wanted.items() and a.estimate.unit == b.estimate.unit:
                yield Pair(a.by(figure.statistic), b, PROGRAM, beside.benchmark, name, varied=True)


def _levels(estimate: Estimate, halves: Mapping[str, Word]) -> dict[str, str]:
    """Dimension -> level, for the dimensions along which pairs are made; `halves`: words that mean `half`.

    The problem is none of them, nor its size: a larger problem is not a slower machine.
    """
    problem = estimate.declared.problem_axes
    levels = {
        name: level for name, level in estimate.params.items() if isinstance(level, str) and name not in problem
    }
    # Numbers of idle time are levels to compare, not points of a curve.
    gaps = (axis.name for axis in estimate.declared.axes if axis.role == "idle-gap")
    levels |= {name: str(estimate.params[name]) for name in gaps if name in estimate.params}
    word = halves.get(estimate.placement.label, estimate.placement.word)
    if word.share in _CORES and (word.group or not word.over):
        levels[CORES] = word.share
    card = "near" if word.text == _BESIDE_CARD else estimate.measurand.places.card
    if card in _CARDS:
        levels[CARD] = _CARDS[card]
    return levels | {MEMORY: estimate.placement.memory} | estimate.factors


def _rest(estimate: Estimate, name: str) -> Hashable:
    """What both must share: hosts, and all parts of the measurand but those in which this dimension differs."""
    found = estimate.measurand
    parts = {name, *_PARTS.get(name, ())}
    for axis in found.axes:
        if axis.name == name:  # the pattern of messages says how bytes pass
            parts |= {axis.part, "direction"} if axis.role == "message-pattern" else {axis.part}
    parts |= {level.role for level in found.levels if level.factor == name or not level.varied}
    # What was asked is more exact than its parts: on one cache all pairs of cores are the same, on any node all
    # interleaved memory.
    asked = estimate.placement
    label, memory = "" if name in {CORES, CARD} else asked.label, "" if name == MEMORY else asked.memory
    return asked.hosts, label, memory, found.but(parts)


def _against_base(
    name: str, group: Sequence[tuple[str, Measured]], factor: Factor | None, machines: Mapping[str, Machine]
) -> Iterator[Pair]:
    levels = list(dict.fromkeys(level for level, _ in group))
    if len(levels) == 1:
        return
    base = factor.levels[0] if factor else _base(name, levels, group[0][1].estimate, machines)
    bases = [each for level, each in group if level == base]
    for level, a in group:
        if level != base:
            # A computed number follows from the placement; where a study chose several, equal ones are compared.
            equal = [b for b in bases if _computed(b.estimate) == _computed(a.estimate)]
            yield from (Pair(a, b, name, level, base, varied=factor is not None) for b in equal or bases)


def _computed(estimate: Estimate) -> tuple[object, ...]:
    return tuple(estimate.params.get(name) for name in sorted(estimate.declared.derived))


def _base(name: str, levels: Sequence[str], estimate: Estimate, machines: Mapping[str, Machine]) -> str:
    declared = estimate.declared.defaults.get(name)
    memory = (f"bind:{own_node(estimate, machines)}", "first-touch")
    usual = {CORES: ("all",), CARD: (NEAR,), MEMORY: memory}.get(name, (str(declared),))
    return next((level for level in usual if level in levels), levels[0])


def own_node(estimate: Estimate, machines: Mapping[str, Machine]) -> int | None:
    """Return the NUMA node of all cpus of an estimate; None if they are spread over several nodes."""
    machine = machine_of(estimate, machines)
    if machine is None or not estimate.placement.cpus:
        return None
    nodes = {core.numa for core in machine.topology.cores if set(core.cpus) & set(estimate.placement.cpus[0])}
    return nodes.pop() if len(nodes) == 1 else None
