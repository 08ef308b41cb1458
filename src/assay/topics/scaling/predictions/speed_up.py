"""Predictions of the rate on more cores or nodes: from fewer of them, from copies, and from messages."""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.curves import RunEstimates, ends, figure, replicates, states_of
from assay.analyse.estimates import Measured
from assay.analyse.messages.steps import MessageLaw
from assay.analyse.noise import stops
from assay.analyse.statistics import Samples, medians
from assay.catalogue import benchmarks
from assay.model import record, roles
from assay.model.benchmark import APART, INDEPENDENT, UNCOUPLED, Exchange
from assay.model.declaration import Declaration, ParamValue
from assay.model.law import Prediction
from assay.model.plan import Case
from assay.model.quantity import Basis, Quantity, distance, exact
from assay.model.text import joined, text
from assay.topics.scaling.laws import most_events, usl
from assay.topics.scaling.message_laws import message_law
from assay.topics.scaling.models.scaling import as_rate, is_speed

LAW = "speed-up"
#: A prediction of this case by a law of another topic replaces it.
GENERAL = True
#: Assumed error of a law, in addition to the noise of launches: without and with a figure on several cores that
#: tests it. The ledger shows how often they hold.
_UNTRIED, _TRIED = 0.05, 0.02


class _Member(NamedTuple):
    """A case and its rate in one state of the machine."""

    case: Case
    rate: Measured

    @property
    def copies(self) -> bool:
        """Whether each rank has a problem of its own."""
        return roles.level_of(self.rate.estimate, "copies") == INDEPENDENT

    @property
    def parts(self) -> bool:
        """Whether each rank has its part of a problem, and passes no messages."""
        return roles.level_of(self.rate.estimate, "copies") == UNCOUPLED


class _Expected(NamedTuple):
    """The expectation for a case: a rate with its ends, and the ids of the estimates that it follows from."""

    rate: Quantity
    of: tuple[str, ...]


class _Work(NamedTuple):
    """The time of a unit of work on some cores, s.

    Attributes:
        value: expected time.
        draws: replicates of it, by the launches that it follows from.
        basis: basis of the ends of the draws.
        of: ids of the estimates that it follows from.
        stopped: longest additional time: ranks wait for stopped ranks, and messages take longer.
    """

    value: float
    draws: Samples
    basis: Basis
    of: tuple[str, ...]
    stopped: float


class _Target(NamedTuple):
    """A predicted case, its base, the known cases between both, and whether nodes are counted, or cores."""

    case: Case
    base: _Member
    more: tuple[_Member, ...]
    by_nodes: bool

    def factor(self, of: Case) -> float:
        """Return the number of cores or nodes over that of the base."""
        one, other = (len(each.placement.hosts) if self.by_nodes else each.cores for each in (of, self.base.case))
        return one / other


def expect(known: RunEstimates, cases: Sequence[Case]) -> Iterable[record.Prediction]:
    """Predict the figure of each case whose problem is known on fewer cores; the ends are those of all states."""
    members = _members(known)
    states = states_of(each.rate.estimate for each in members)
    for case in cases:
        by_state = [
            expected
            for state in states
            if (
                expected := _expected(
                    known, [e for e in members if e.rate.estimate.state in {None, state}], case, state
                )
            )
        ]
        metric = next(iter(known.run.plan.declared(case.benchmark).metrics), None)
        if not by_state or metric is None:
            continue
        low, high = min(each.rate.lo for each in by_state), max(each.rate.hi for each in by_state)
        middle = by_state[0].rate.value if len(by_state) == 1 else (low + high) / 2
        parts = (middle, low, high) if metric.better == "higher" else (1 / middle, 1 / high, 1 / low)
        sources = dict.fromkeys(source for each in by_state for source in each.of)
        yield record.Prediction(
            *parts, metric.unit, "derived", of=case.id, metric=metric.name, models=tuple(sources), law=LAW
        )


def _members(known: RunEstimates) -> list[_Member]:
    cases = {case.id: case for case in known.run.plan.cases}
    return [
        _Member(cases[each.estimate.case], as_rate(each))
        for each in known.measured
        if is_speed(each.estimate) and each.estimate.case in cases
    ]


def _expected(known: RunEstimates, members: Sequence[_Member], case: Case, state: str | None) -> _Expected | None:
    if over := _from_network(known, members, case, state):
        return over
    target = _target(known, members, case)
    if target is None:
        return None
    return _from_copies(known, target, members, state) or (_from_fewer(target) if target.more else None)


def _target(known: RunEstimates, members: Sequence[_Member], case: Case) -> _Target | None:
    """Return the target with the same problem on fewer cores, or one that grows to it; None if none is near."""
    declared = known.run.plan.declared(case.benchmark)
    fewer = [
        each
        for each in members
        if each.case.benchmark == case.benchmark
        and each.case.cores < case.cores
        and each.case.placement.memory == case.placement.memory
        and each.case.factors.items() <= case.factors.items()
        and not each.copies
        and not each.parts
        and roles.level(declared, case.params, "copies") not in APART
    ]
    by_nodes = len(case.placement.hosts) > 1
    if by_nodes:
        layout = case.placement.host_ranks[0]
        fewer = [each for each in fewer if each.case.placement.host_ranks[0] == layout]
    else:
        fewer = [each for each in fewer if len(each.case.placement.hosts) == 1]
    fewer.sort(key=lambda each: each.case.cores)
    same = [each for each in fewer if declared.problem(each.case.params) == declared.problem(case.params)]
    if not same:
        base = next((e for e in fewer if _is_grown(declared, case, e.case)), None)
        same = [e for e in fewer if base and (e is base or _is_grown(declared, e.case, base.case))]
    if not same or case.cores > known.farthest * same[-1].case.cores:
        return None
    base_cores = same[0].case.cores
    return _Target(case, same[0], tuple(each for each in same if each.case.cores > base_cores), by_nodes)


def _from_network(
    known: RunEstimates, members: Sequence[_Member], case: Case, state: str | None
) -> _Expected | None:
    """Expect the rate of the same case over another network, with the time of messages replaced."""
    networks = {factor.name for factor in known.run.plan.factors if factor.kind == "network"}

    def key(of: Case) -> object:  # equal for cases that differ only in the network
        factors = frozenset((name, level) for name, level in of.factors.items() if name not in networks)
        return of.benchmark, tuple(of.params.items()), factors, of.placement.hosts, of.placement.host_ranks

    if len(case.placement.hosts) == 1:
        return None
    there = next((e for e in members if e.case.id != case.id and key(e.case) == key(case)), None)
    exchange = benchmarks.of(case.benchmark).growth.exchange(case.params, case.placement)
    if there is None or exchange is None or not exchange.messages:
        return None
    before, after = (message_law(known, each, state) for each in (there.case, case))
    if before is None or after is None:
        return None
    draws, basis = replicates([there.rate])
    old, new = (_message_time(exchange, law) for law in (before, after))
    low, high = ends(draws[:, 0], basis)
    # The time of messages is a part of the whole: no case is faster than its messages alone.
    changed = _UNTRIED * abs(new.value - old.value)
    middle = max(1 / figure(there.rate.estimate).value + new.value - old.value, new.value)
    slow = max(1 / low + new.hi - old.lo + changed, middle)
    fast = min(max(1 / high + new.lo - old.hi - changed, new.lo), middle)
    rate = Quantity(1 / middle, 1 / slow, 1 / fast, "", "derived")
    return _Expected(rate, (there.rate.estimate.id, *before.of[:1], *after.of[:1]))


def _message_time(exchange: Exchange, law: MessageLaw) -> Quantity:
    """Return the time of messages for a unit of work."""
    numbers = np.array([each.number for each in exchange.messages])
    sizes = np.array([float(each.bytes) for each in exchange.messages])
    value, low, high = (float(numbers @ law.seconds(sizes, end)) / exchange.work for end in range(3))
    return Quantity(value, low, high, "s", "derived")


def _is_grown(declared: Declaration, case: Case, base: Case) -> bool:
    return declared.is_grown(case.params, base.params, case.cores / base.cores)


def _from_copies(
    known: RunEstimates, target: _Target, members: Sequence[_Member], state: str | None
) -> _Expected | None:
    """Expect the rate from copies on the same cores, or separate nodes, and messages; tested on fewer cores."""
    alone = _seconds_of_work(known, target, target.case, members, state)
    if alone is None:
        return None
    scale, of, form = 1.0, alone.of, _UNTRIED
    slower, at, trend = 1.0, 1.0, 0.0  # measured time over the law's, at this factor of cores or nodes
    for tried in target.more:
        if target.factor(tried.case) > at and (
            before := _seconds_of_work(known, target, tried.case, members, state)
        ):
            factor, measured = target.factor(tried.case), 1 / (figure(tried.rate.estimate).value * before.value)
            trend = float(np.log(measured / slower) / np.log(factor / at))
            slower, at, of = measured, factor, (*of, tried.rate.estimate.id, *before.of)
    if at > 1:
        # The last trend continues: the slowest of more nodes is slower.
        further = float((target.factor(target.case) / at) ** trend)
        scale = slower * further
        # Nodes that were not measured may differ more than those of one measured number of nodes.
        least = _UNTRIED if target.by_nodes and len(target.more) == 1 else _TRIED
        form = max(least, abs(slower - 1), abs(further - 1))
    low, high = ends(scale * alone.draws, alone.basis)
    slowest = (1 + form) * high + scale * alone.stopped
    rate = Quantity(1 / (scale * alone.value), 1 / slowest, (1 + form) / low, "", "derived")
    return _Expected(rate, tuple(dict.fromkeys(of)))


def _seconds_of_work(
    known: RunEstimates, target: _Target, case: Case, members: Sequence[_Member], state: str | None
) -> _Work | None:
    """Return the time of a unit of work on a case's cores, from copies there, else on nodes from the base."""
    exchange = benchmarks.of(case.benchmark).growth.exchange(case.params, case.placement)
    if exchange is None:
        return None
    law = message_law(known, case, state) if exchange.messages else None
    if exchange.messages and law is None:
        return None
    copies = _copies(members, target.base, case)
    if not copies and not target.by_nodes:
        return None
    sharing, powers = zip(*(copies or [(target.base, 1.0)]), strict=True)
    factor = 1.0 if copies else target.factor(case)
    draws, basis = replicates([each.rate for each in sharing])
    middles = [float(medians([one.value for one in each.rate.launches])) for each in sharing]
    value, drawn = (np.exp(np.log(rates) @ np.array(powers)) for rates in (np.array(middles), draws))
    messages = _message_time(exchange, law) if law else exact(0.0, "s")
    of = tuple(each.rate.estimate.id for each in sharing) + (law.of[:1] if law else ())
    working = float(1 / (factor * value))
    return _Work(
        value=working + messages.value,
        draws=1 / (factor * drawn) + messages.value,
        basis=basis,
        of=of,
        stopped=messages.hi - messages.value + working * _waiting_for_stops(known, case) if law else 0.0,
    )


def _waiting_for_stops(known: RunEstimates, case: Case) -> float:
    """Return the largest share of its time for which a rank waits for stopped ranks.

    Ranks that pass messages wait whenever another one is stopped, at worst for one after the other. A copy has its
    own stops only.
    """
    stopped = stops(known.run)
    if not stopped.number:
        return 0.0
    most = most_events(stopped.number) / stopped.number
    return (len(case.placement.rank_cpus) - 1) * most * stopped.lost_s / stopped.probed_s


def _copies(members: Sequence[_Member], base: _Member, case: Case) -> list[tuple[_Member, float]]:
    """Return members, with powers: the product of their rates is that of the parts of a case without messages.

    They are the parts themselves, where these were measured without messages, else copies of the base's problem on
    the cores of a case. A rank that shares a problem has a part of it, which may fit into caches as the whole does
    not: where smaller copies were measured, too, the rate is that of copies as large as a part, between both.
    Without own copies the ratio of copies here to copies on the base's cores, or to one rank alone if the base is
    one rank, scales the base's rate. Their problem is the largest one: copies of smaller ones share caches, not
    memory.
    """
    declared = base.rate.estimate.declared
    copied, larger = roles.axis(declared, "copies"), declared.larger.axis if declared.larger else ""

    def problem(of: Case, *, but: str = "") -> dict[str, ParamValue]:
        return {name: value for name, value in declared.problem(of.params).items() if name not in {copied, but}}

    def is_on(of: Case, where: Case) -> bool:
        same = of.benchmark == case.benchmark and of.factors.items() <= case.factors.items()
        there = of.placement.hosts == where.placement.hosts and of.placement.memory == where.placement.memory
        return same and there and set(of.placement.rank_cpus) == set(where.placement.rank_cpus)

    of_case = (each for each in members if each.parts and problem(each.case) == problem(case))
    of_ranks = (each for each in of_case if each.case.placement.host_ranks == case.placement.host_ranks)
    if parts := next((each for each in of_ranks if is_on(each.case, case)), None):
        return [(parts, 1.0)]
    one_rank = len(base.case.placement.rank_cpus) == 1
    found = [e for e in members if e.copies and is_on(e.case, case)]
    own = next((each for each in found if problem(each.case) == problem(base.case)), None)
    if own and one_rank:
        alike = (each for each in found if problem(each.case, but=larger) == problem(base.case, but=larger))
        return _of_size(case.memory_bytes, sorted(alike, key=lambda each: each.case.memory_bytes)) or [(own, 1.0)]
    others = (
        [(base, 1.0), (each, 1.0), (before, -1.0)]
        for each in sorted(found, key=lambda one: (one is not own, -one.case.memory_bytes / one.case.cores))
        for before in members
        if before.copies != one_rank
        and is_on(before.case, base.case)
        and problem(before.case) == problem(each.case)
    )
    return next(others, None) or ([(own, 1.0)] if own else [])


def _of_size(memory_bytes: int, copies: Sequence[_Member]) -> list[tuple[_Member, float]]:
    """Return the two copies between which this memory lies, with powers by its logarithm; none outside of them."""
    for smaller, greater in itertools.pairwise(copies):
        low, high = smaller.case.memory_bytes, greater.case.memory_bytes
        if 0 < low <= memory_bytes < high:
            power = math.log(memory_bytes / low) / math.log(high / low)
            return [(smaller, 1 - power), (greater, power)]
    return []


def _from_fewer(target: _Target) -> _Expected:
    """Expect the range of the laws of Amdahl and of scalability, of a power of the cores, and of a full node."""
    known = (target.base, *target.more)
    draws, basis = replicates([each.rate for each in known])
    values = np.array([[float(medians([one.value for one in each.rate.launches])) for each in known]])
    factors, at = np.array([target.factor(each.case) for each in target.more]), target.factor(target.case)
    found = []
    for rates in (values, draws):
        speed_ups = rates[:, 1:] / rates[:, :1]
        by_law = [usl(factors, speed_ups, coherent=False).speed_up(at)]
        if len(target.more) > 1:
            by_law.append(usl(factors, speed_ups).speed_up(at))
        by_law.append(np.exp(np.log(speed_ups[:, -1]) / np.log(factors[-1]) * np.log(at)))
        if len(target.more) == 1 and not target.by_nodes:  # more cores of a full node are no faster
            by_law.append(speed_ups[:, -1])
        found.append(np.array(by_law) * rates[:, 0])
    middle, drawn = found
    low = min(ends(each, basis)[0] for each in drawn) * (1 - _TRIED)
    high = max(ends(each, basis)[1] for each in drawn) * (1 + _TRIED)
    rate = Quantity(float(np.exp(np.log(middle).mean())), low, high, "", "derived")
    return _Expected(rate, tuple(each.rate.estimate.id for each in known))


def predict(known: RunEstimates) -> Iterable[Prediction]:
    """Compare the prediction before the launches of each case with its figure in each state."""
    stated = {(each.of, each.metric): each for each in known.run.predictions if each.law == LAW}
    names = known.run.plan.names
    for measured in known.measured if stated else ():
        estimate = measured.estimate
        before = stated.get((estimate.case, estimate.metric))
        if before and estimate.value and is_speed(estimate):
            yield _compared(known, measured, before, names[estimate.case])


def _compared(known: RunEstimates, measured: Measured, before: record.Prediction, case: str) -> Prediction:
    estimate, value = measured.estimate, figure(measured.estimate)
    predicted = Quantity(*before.parts, before.unit, before.basis)
    sources = tuple(known.estimates[each] for each in before.models if each in known.estimates)
    by_messages = any(each.declared.between_two for each in sources)
    apart = {roles.level_of(each, "copies") for each in sources}
    by_copies, by_parts = INDEPENDENT in apart, UNCOUPLED in apart
    parts = [
        text("the same parts without messages") if by_parts else "",
        text("independent copies on the same cores") if by_copies else "",
        text("fewer cores or nodes") if len(sources) > by_messages + by_copies + by_parts else "",
        text("the law of messages") if by_messages else "",
    ]
    return Prediction(
        id=f"{LAW}:{estimate.id}",
        law=LAW,
        what=text("{metric} of {case}", metric=estimate.metric, case=case),
        predicted=predicted,
        of=tuple(each.id for each in sources),
        states=(*(each.state for each in sources), estimate.state),
        derivation=text(
            "From {sources}. Besides the noise of launches, the assumed error of a law is {untested} if no figure "
            "on several cores tests it, else {tested} or the deviation of that figure",
            sources=joined(", ", [each for each in parts if each]),
            untested=f"{100 * _UNTRIED:.0f} %",
            tested=f"{100 * _TRIED:.0f} %",
        ),
        measured=estimate.id,
        value=value,
        deviation=value.value / predicted.value - 1,
        error=distance(value, predicted),
        by=joined(", ", [each for each in parts if each]),
        before=True,
    )
