"""The rate on more cores or nodes before it is measured: from fewer of them, from copies, and from messages."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.curves import RunEstimates, ends, figure, replicates, states_of
from assay.analyse.estimates import Measured
from assay.analyse.messages.steps import MessageLaw
from assay.analyse.noise import stops
from assay.analyse.statistics import Samples, medians
from assay.model import benchmarks, record, roles
from assay.model.benchmark import ParamValue
from assay.model.declarations import INDEPENDENT
from assay.model.growth import Exchange
from assay.model.law import Prediction
from assay.model.plan import Case
from assay.model.quantity import Basis, Quantity, distance, exact
from assay.model.text import joined, text
from assay.topics.scaling.laws import most_events, usl
from assay.topics.scaling.message_laws import message_law
from assay.topics.scaling.models.scaling import as_rate, is_speed

LAW = "speed-up"
#: Where a law of another topic predicts a case, that counts.
GENERAL = True
#: How far a law may be wrong beside the noise of launches: where nothing on several cores has tried it, and where
#: such figures have. Both are assumed; the ledger says how often they hold.
_UNTRIED, _TRIED = 0.05, 0.02


class _Member(NamedTuple):
    """A case and its rate in one state of the machine."""

    case: Case
    rate: Measured

    @property
    def copies(self) -> bool:
        """Whether its ranks share nothing."""
        return roles.level(self.case.benchmark, self.case.params, "copies") == INDEPENDENT


class _Said(NamedTuple):
    """What is expected of a case: a rate with its ends, and the estimates that it follows from."""

    rate: Quantity
    of: tuple[str, ...]


class _Work(NamedTuple):
    """A unit of work on some cores, in s.

    Attributes:
        value: expected.
        draws: what it might be by the launches that it follows from.
        basis: what the ends of the draws are.
        of: ids of these.
        stopped: what it may take beyond that: ranks wait for those that are stopped, and messages take longer.
    """

    value: float
    draws: Samples
    basis: Basis
    of: tuple[str, ...]
    stopped: float


class _Place(NamedTuple):
    """A case that is predicted, what is known of the same problem, and what is counted: cores, or nodes."""

    case: Case
    base: _Member
    more: tuple[_Member, ...]
    by_nodes: bool

    def factor(self, of: Case) -> float:
        """Of cores or nodes, over the base."""
        one, other = (len(each.placement.hosts) if self.by_nodes else each.cores for each in (of, self.base.case))
        return one / other


def expect(known: RunEstimates, cases: Sequence[Case]) -> Iterable[record.Prediction]:
    """The figure of each case whose problem is known on fewer cores; from all states where these differ."""
    every = _members(known)
    states = states_of(each.rate.estimate for each in every)
    for case in cases:
        here = [
            said
            for state in states
            if (said := _said(known, [e for e in every if e.rate.estimate.state in {None, state}], case, state))
        ]
        metric = next(iter(benchmarks.get(case.benchmark).metrics), None)
        if not here or metric is None:
            continue
        low, high = min(each.rate.lo for each in here), max(each.rate.hi for each in here)
        middle = here[0].rate.value if len(here) == 1 else (low + high) / 2
        parts = (middle, low, high) if metric.better == "higher" else (1 / middle, 1 / high, 1 / low)
        sources = dict.fromkeys(source for each in here for source in each.of)
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


def _said(known: RunEstimates, members: Sequence[_Member], case: Case, state: str | None) -> _Said | None:
    if over := _over_network(known, members, case, state):
        return over
    place = _place(known, members, case)
    if place is None:
        return None
    return _by_copies(known, place, members, state) or (_by_fewer(place) if place.more else None)


def _place(known: RunEstimates, members: Sequence[_Member], case: Case) -> _Place | None:
    """The same problem on fewer cores, or the one that grew to it; None where nothing near enough is known."""
    declared = benchmarks.get(case.benchmark)
    fewer = [
        each
        for each in members
        if each.case.benchmark == case.benchmark
        and each.case.cores < case.cores
        and each.case.placement.memory == case.placement.memory
        and each.case.factors.items() <= case.factors.items()
        and not each.copies
        and roles.level(case.benchmark, case.params, "copies") != INDEPENDENT
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
        base = next((e for e in fewer if _is_grown(case, e.case)), None)
        same = [e for e in fewer if base and (e is base or _is_grown(e.case, base.case))]
    if not same or case.cores > known.farthest * same[-1].case.cores:
        return None
    base_cores = same[0].case.cores
    return _Place(case, same[0], tuple(each for each in same if each.case.cores > base_cores), by_nodes)


def _over_network(known: RunEstimates, members: Sequence[_Member], case: Case, state: str | None) -> _Said | None:
    """The same case over another network: what its messages take there in place of what they take here."""
    networks = {factor.name for factor in known.run.plan.factors if factor.kind == "network"}

    def but_networks(of: Case) -> object:
        factors = frozenset((name, level) for name, level in of.factors.items() if name not in networks)
        return of.benchmark, tuple(of.params.items()), factors, of.placement.hosts, of.placement.host_ranks

    if len(case.placement.hosts) == 1:
        return None
    there = next((e for e in members if e.case.id != case.id and but_networks(e.case) == but_networks(case)), None)
    exchange = benchmarks.get(case.benchmark).growth.exchange(case.params, case.placement)
    if there is None or exchange is None or not exchange.messages:
        return None
    before, after = (message_law(known, each, state) for each in (there.case, case))
    if before is None or after is None:
        return None
    draws, basis = replicates([there.rate])
    less, more = (_passing(exchange, law) for law in (before, after))
    low, high = ends(draws[:, 0], basis)
    # What messages take is a part of the time: no case is faster than its messages alone.
    changed = _UNTRIED * abs(more.value - less.value)
    middle = max(1 / figure(there.rate.estimate).value + more.value - less.value, more.value)
    slow = max(1 / low + more.hi - less.lo + changed, middle)
    fast = min(max(1 / high + more.lo - less.hi - changed, more.lo), middle)
    rate = Quantity(1 / middle, 1 / slow, 1 / fast, "", "derived")
    return _Said(rate, (there.rate.estimate.id, *before.of[:1], *after.of[:1]))


def _passing(exchange: Exchange, law: MessageLaw) -> Quantity:
    """Seconds of messages for a unit of work."""
    numbers = np.array([each.number for each in exchange.messages])
    sizes = np.array([float(each.bytes) for each in exchange.messages])
    value, low, high = (float(numbers @ law.seconds(sizes, end)) / exchange.work for end in range(3))
    return Quantity(value, low, high, "s", "derived")


def _is_grown(case: Case, base: Case) -> bool:
    return benchmarks.get(case.benchmark).is_grown(case.params, base.params, case.cores / base.cores)


def _by_copies(known: RunEstimates, place: _Place, members: Sequence[_Member], state: str | None) -> _Said | None:
    """What copies on the same cores leave, nodes sharing nothing, and messages; tried by the most cores known."""
    alone = _seconds_of_work(known, place, place.case, members, state)
    if alone is None:
        return None
    scale, of, form = 1.0, alone.of, _UNTRIED
    slower, at, trend = 1.0, 1.0, 0.0  # than the law, on so many times the cores or nodes of the base
    for tried in place.more:
        if place.factor(tried.case) > at and (
            before := _seconds_of_work(known, place, tried.case, members, state)
        ):
            factor, measured = place.factor(tried.case), 1 / (figure(tried.rate.estimate).value * before.value)
            trend = float(np.log(measured / slower) / np.log(factor / at))
            slower, at, of = measured, factor, (*of, tried.rate.estimate.id, *before.of)
    if at > 1:
        # As it has gone on since the number before: of more nodes the slowest is slower.
        further = float((place.factor(place.case) / at) ** trend)
        scale = slower * further
        # Nodes that nobody has measured may differ more than those of one number of them did.
        least = _UNTRIED if place.by_nodes and len(place.more) == 1 else _TRIED
        form = max(least, abs(slower - 1), abs(further - 1))
    low, high = ends(scale * alone.draws, alone.basis)
    slowest = (1 + form) * high + scale * alone.stopped
    rate = Quantity(1 / (scale * alone.value), 1 / slowest, (1 + form) / low, "", "derived")
    return _Said(rate, tuple(dict.fromkeys(of)))


def _seconds_of_work(
    known: RunEstimates, place: _Place, case: Case, members: Sequence[_Member], state: str | None
) -> _Work | None:
    """A unit of work on a case's cores, from copies there, else from the base where nodes share nothing."""
    exchange = benchmarks.get(case.benchmark).growth.exchange(case.params, case.placement)
    if exchange is None:
        return None
    law = message_law(known, case, state) if exchange.messages else None
    if exchange.messages and law is None:
        return None
    copies = _copies(members, place.base, case)
    if copies is None and not place.by_nodes:
        return None
    sharing = copies or [place.base]
    factor = 1.0 if copies else place.factor(case)
    draws, basis = replicates([each.rate for each in sharing])
    middles = [float(medians([one.value for one in each.rate.launches])) for each in sharing]
    # Copies tell by how much less they do than fewer of them, or that problem alone.
    value, drawn = (
        each[0] if len(sharing) == 1 else each[0] * each[1] / each[2] for each in (np.array(middles), draws.T)
    )
    passing = _passing(exchange, law) if law else exact(0.0, "s")
    of = tuple(each.rate.estimate.id for each in sharing) + (law.of[:1] if law else ())
    working = float(1 / (factor * value))
    return _Work(
        value=working + passing.value,
        draws=1 / (factor * drawn) + passing.value,
        basis=basis,
        of=of,
        stopped=passing.hi - passing.value + working * _waiting_for_stops(known, case) if law else 0.0,
    )


def _waiting_for_stops(known: RunEstimates, case: Case) -> float:
    """The largest share of its time for which a rank waits for others that were stopped.

    Who passes messages waits whenever another one is stopped, at worst never for two at a time. A copy, and what
    this is a share of, has only its own stops.
    """
    stopped = stops(known.run)
    if not stopped.number:
        return 0.0
    most = most_events(stopped.number) / stopped.number
    return (len(case.placement.rank_cpus) - 1) * most * stopped.lost_s / stopped.probed_s


def _copies(members: Sequence[_Member], base: _Member, case: Case) -> list[_Member] | None:
    """Copies of the base's problem on the cores of a case; else the base, copies there, and what these add to.

    Copies on the cores of a case stand beside those on the cores of the base, or one that is alone where these are
    one rank's. The other problem is the largest of those that fit: copies of smaller ones share caches, and not
    memory.
    """
    declared = benchmarks.get(case.benchmark)
    axis = roles.axis(case.benchmark, "copies")

    def problem(of: Case) -> dict[str, ParamValue]:
        return {name: value for name, value in declared.problem(of.params).items() if name != axis}

    def is_on(of: Case, where: Case) -> bool:
        same = of.benchmark == case.benchmark and of.factors.items() <= case.factors.items()
        there = of.placement.hosts == where.placement.hosts and of.placement.memory == where.placement.memory
        return same and there and set(of.placement.rank_cpus) == set(where.placement.rank_cpus)

    one_rank = len(base.case.placement.rank_cpus) == 1
    found = [e for e in members if e.copies and is_on(e.case, case)]
    own = next((each for each in found if problem(each.case) == problem(base.case)), None)
    if own and one_rank:
        return [own]
    others = (
        [base, each, before]
        for each in sorted(found, key=lambda one: (one is not own, -one.case.memory_bytes / one.case.cores))
        for before in members
        if before.copies != one_rank
        and is_on(before.case, base.case)
        and problem(before.case) == problem(each.case)
    )
    return next(others, None) or ([own] if own else None)


def _by_fewer(place: _Place) -> _Said:
    """All that the laws of Amdahl and of scalability, a power of the cores, and a full node allow."""
    known = (place.base, *place.more)
    draws, basis = replicates([each.rate for each in known])
    values = np.array([[float(medians([one.value for one in each.rate.launches])) for each in known]])
    factors, at = np.array([place.factor(each.case) for each in place.more]), place.factor(place.case)
    found = []
    for rates in (values, draws):
        speed_ups = rates[:, 1:] / rates[:, :1]
        told = [usl(factors, speed_ups, coherent=False).speed_up(at)]
        if len(place.more) > 1:
            told.append(usl(factors, speed_ups).speed_up(at))
        told.append(np.exp(np.log(speed_ups[:, -1]) / np.log(factors[-1]) * np.log(at)))
        if len(place.more) == 1 and not place.by_nodes:  # a node that is full gives no more
            told.append(speed_ups[:, -1])
        found.append(np.array(told) * rates[:, 0])
    middle, drawn = found
    low = min(ends(each, basis)[0] for each in drawn) * (1 - _TRIED)
    high = max(ends(each, basis)[1] for each in drawn) * (1 + _TRIED)
    rate = Quantity(float(np.exp(np.log(middle).mean())), low, high, "", "derived")
    return _Said(rate, tuple(each.rate.estimate.id for each in known))


def predict(known: RunEstimates) -> Iterable[Prediction]:
    """What was stated before the launches of each case, held against its figure in each state."""
    stated = {(each.of, each.metric): each for each in known.run.predictions if each.law == LAW}
    names = known.run.plan.names
    for measured in known.measured if stated else ():
        estimate = measured.estimate
        before = stated.get((estimate.case, estimate.metric))
        if before and estimate.value and is_speed(estimate):
            yield _held(known, measured, before, names[estimate.case])


def _held(known: RunEstimates, measured: Measured, before: record.Prediction, case: str) -> Prediction:
    estimate, value = measured.estimate, figure(measured.estimate)
    predicted = Quantity(*before.parts, before.unit, before.basis)
    sources = tuple(known.estimates[each] for each in before.models if each in known.estimates)
    by_messages = any(roles.between_two(each.benchmark) for each in sources)
    by_copies = any(roles.level_of(each, "copies") == INDEPENDENT for each in sources)
    parts = [
        text("independent copies on the same cores") if by_copies else "",
        text("fewer cores or nodes") if len(sources) > by_messages + by_copies else "",
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
