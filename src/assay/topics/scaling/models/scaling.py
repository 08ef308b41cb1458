"""Speed-up and parallel efficiency: a rate of work on more cores over that on the fewest, paired by block.

With independent copies on the same cores the efficiency is a product of two factors: the efficiency of the copies,
and the rate of the ranks over that of the copies, lost to messages. Where each node has the same load as the base,
nothing is shared, and copies show how nodes differ.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

import msgspec

from assay.analyse.comparisons.effects import block_ratio
from assay.analyse.curves import RunEstimates, headline, states_of
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.statistics import median_interval
from assay.model import roles
from assay.model.benchmark import APART, INDEPENDENT
from assay.model.declaration import ParamValue
from assay.model.grouping import grouped
from assay.model.law import SPEED_UP, LawFigure, Model
from assay.model.quantity import Quantity, exact
from assay.model.result import Estimate
from assay.model.role_words import WORK_RATES, Role
from assay.topics.scaling.laws import serial_fraction
from assay.topics.scaling.steps import Advice, Course, Ratio, Step, Universal, advice, course, ratio, universal

LAW = "scaling"
#: Roles of times of a whole problem, or of a step of it.
_TIMES: tuple[Role, ...] = ("step-time", "solution-time", "program-time")
#: Names and values of the params that distinguish problems.
_Problem = tuple[tuple[str, ParamValue], ...]
#: Stands for the size of the largest problem of each placement.
_LARGEST = "largest"
#: Share of placements on all hardware threads, which are no more cores.
_NO_CORES = "all-threads"


class Scaling(Model, frozen=True, kw_only=True, tag=LAW):
    """The growth of a rate of work with the number of cores.

    Attributes:
        problem: params and factors that distinguish its curve from others of the benchmark.
        base: id of the estimate on the fewest cores, to which speed-ups refer.
        base_label: its placement word.
        base_cores: its number of cores.
        steps: every other placement, fewest cores first.
        grows: whether each placement has its largest problem.
        weak: whether the problem per core is the same at every placement; else the whole problem is.
        base_seconds: time of a step, a solution or a program on the base, where the benchmark measures one.
        serial: how the serial fraction changes with cores.
        universal: the law of scalability; none where too few placements are known, or problems grow.
        advice: recommended placements; None where problems grow.
    """

    problem: dict[str, ParamValue]
    base: str
    base_label: str
    base_cores: int
    steps: tuple[Step, ...]
    grows: bool = False
    weak: bool = False
    base_seconds: Quantity | None = None
    serial: Course = ""
    universal: tuple[Universal, ...] = ()
    advice: Advice | None = None

    def faster(self, step: Step) -> Step | None:
        """Return the fastest other placement on as many cores whose interval is above that of a step, or None."""
        others = (each for each in self.steps if each.cores == step.cores and each.copies == step.copies)
        known = [each for each in others if each.efficiency.has_ends and step.efficiency.has_ends]
        above = [each for each in known if each.efficiency.lo > step.efficiency.hi]
        return max(above, key=lambda each: each.efficiency.value, default=None)

    @property
    def figures(self) -> tuple[LawFigure, ...]:
        """Speed-ups over one core, of one program on all its nodes; others are not published."""
        if self.base_cores > 1 or self.grows or self.weak:
            return ()
        return tuple(
            LawFigure(SPEED_UP, each.estimates[0], {"cores": each.cores, "nodes": each.nodes}, each.speed_up)
            for each in self.steps
            if len(each.estimates) == 1
        )


class _Member(msgspec.Struct, frozen=True):
    """The rate of one placement, summed over its hosts."""

    measured: Measured
    ids: tuple[str, ...]
    hosts: tuple[str, ...]
    cores: int
    most_of_a_node: int
    copies: bool

    @property
    def place(self) -> Hashable:
        """Placement word, cpus and hosts."""
        where = self.measured.estimate.placement
        return where.label, where.cpus, self.hosts


class _Curve(msgspec.Struct, frozen=True):
    """Members that differ only in their placement, and in whether they are copies."""

    key: Mapping[str, ParamValue]
    members: tuple[_Member, ...]
    state: str | None
    weak: bool = False


def fit(known: RunEstimates) -> Iterable[Scaling]:
    """Fit one model for each benchmark and problem that was measured on several numbers of cores."""
    rates = [as_rate(each) for each in known.measured if is_speed(each.estimate)]
    seconds = _seconds(known)
    for benchmark, of_benchmark in grouped(rates, lambda each: each.estimate.benchmark).items():
        found = [
            (curve, base)
            for curve in _curves(of_benchmark)
            if (base := _base(curve.members)) and any(each.cores > base.cores for each in curve.members)
        ]
        distinguishing = _distinguishing([curve.key for curve, _ in found])
        for curve, base in found:
            problem = {name: value for name, value in curve.key.items() if name in distinguishing}
            same = not curve.weak and _LARGEST not in curve.key.values()
            ratios = tuple(_steps(curve.members, base, seconds, same=same))
            steps = tuple(each.step for each in ratios)
            if steps:
                marks = (f"{name}={value}" for name, value in curve.key.items())
                state = (f"state={curve.state}",) if curve.state else ()
                yield Scaling(
                    id="/".join((LAW, benchmark, *(["weak"] if curve.weak else ()), *marks, *state)),
                    of=tuple(dict.fromkeys(each for member in curve.members for each in member.ids)),
                    state=curve.state,
                    problem=problem,
                    base=base.ids[0],
                    base_label=base.measured.estimate.placement.label,
                    base_cores=base.cores,
                    steps=steps,
                    grows=_LARGEST in curve.key.values(),
                    weak=curve.weak,
                    base_seconds=_member_seconds(seconds, base),
                    serial=course(steps),
                    universal=tuple(universal(ratios, base.cores)) if same else (),
                    advice=advice(base.ids[0], base.cores, steps) if same else None,
                )


def is_speed(estimate: Estimate) -> bool:
    """Whether it is the main rate of work, or the main time, of its benchmark, with one thread per core.

    Memory bandwidth by number of cores belongs to the law `saturation`.
    """
    role = roles.role(estimate)
    return (
        (role in WORK_RATES or role in _TIMES)
        and (role != "memory-rate" or estimate.placement.word.count is None)
        and bool(estimate.median)
        and estimate.metric == headline(estimate)
        and roles.is_main(estimate)
        and estimate.placement.word.share != _NO_CORES
        and bool(estimate.placement.cpus)
    )


def as_rate(measured: Measured) -> Measured:
    """Return a time as its inverse, in 1/s; a rate unchanged."""
    estimate = measured.estimate
    if estimate.better == "higher" or estimate.value is None:
        return measured
    value = estimate.value.inverse("1/s")
    launches = tuple(msgspec.structs.replace(each, value=1 / each.value) for each in measured.launches)
    return Measured(msgspec.structs.replace(estimate, value=value, unit="1/s", better="higher"), launches)


def _seconds(known: RunEstimates) -> dict[tuple[str, str | None], Quantity]:
    """Return the time of a step, else of a solution, else of the program, by case and state."""
    found: dict[tuple[str, str | None], Quantity] = {}
    for wanted in _TIMES:
        for each in known.of_role(wanted):
            if each.estimate.value:
                found.setdefault((each.estimate.case, each.estimate.state), each.estimate.value)
    return found


def _member_seconds(seconds: Mapping[tuple[str, str | None], Quantity], member: _Member) -> Quantity | None:
    """Return the time of a member; None if it is a sum over hosts."""
    estimate = member.measured.estimate
    return seconds.get((estimate.case, estimate.state)) if len(member.ids) == 1 else None


def _distinguishing(keys: Sequence[Mapping[str, ParamValue]]) -> set[str]:
    """Return the names whose values distinguish curves that the names before them do not."""
    chosen: list[str] = []
    for name in dict.fromkeys(name for key in keys for name in key):
        few, more = (len({tuple(map(key.get, names)) for key in keys}) for names in (chosen, (*chosen, name)))
        if more > few:
            chosen.append(name)
    return set(chosen)


def _curves(rates: Sequence[Measured]) -> Iterator[_Curve]:
    """Yield groups of rates that differ only in their placement.

    Values that follow from the placement distinguish curves where one placement has several of them. A placement
    without a factor, as a network inside a node, or without a state belongs to the curves of all levels or states.
    """
    declared = rates[0].estimate.declared
    copies = roles.axis(declared, "copies")
    fixed = [axis.name for axis in declared.axes if axis.default is not None or axis.identifies]
    chosen = {name for name in fixed if name != copies} | _several(rates, declared.computed)
    strong = grouped(rates, lambda each: _problem(each.estimate, chosen))
    largest = _largest(rates, chosen, roles.axis(declared, "order"))
    grown = dict(_grown(strong, rates))
    own = [(problem, members, _is_weak(members)) for problem, members in strong.items()]
    every = (*own, *((*each, False) for each in largest.items()), *((*each, True) for each in grown.items()))
    for problem, members, weak in every:
        levels = dict.fromkeys(frozenset(each.estimate.factors.items()) for each in members)
        for most in (each for each in levels if not any(each < other for other in levels)):
            having = [each for each in members if each.estimate.factors.items() <= most]
            for state in states_of(each.estimate for each in having):
                shared = [each for each in having if each.estimate.state in {None, state}]
                yield _Curve(dict(problem) | dict(sorted(most)), tuple(_members(shared, copies)), state, weak)


def _is_weak(members: Sequence[Measured]) -> bool:
    """Whether the problem grows with the ranks by its definition: each rank has a part of a fixed size."""
    estimate = members[0].estimate
    declared = estimate.declared
    return declared.larger is not None and declared.is_grown(estimate.params, estimate.params, 2)


def _grown(
    problems: Mapping[_Problem, Sequence[Measured]], rates: Sequence[Measured]
) -> Iterator[tuple[_Problem, tuple[Measured, ...]]]:
    """Yield each problem with those that have as many times its memory as they have times its cores."""
    declared = rates[0].estimate.declared
    for problem, members in problems.items():
        if declared.larger is None or _is_weak(members):
            continue
        base = min(members, key=_cores)
        copies = roles.axis(declared, "copies")
        coupled = {name: value for name, value in base.estimate.params.items() if name == copies}
        larger = [
            each
            for each in rates
            if _cores(each) > _cores(base)
            and each.estimate.placement.memory == base.estimate.placement.memory
            and each.estimate.params.get(copies) != INDEPENDENT
            and declared.is_grown(
                {**each.estimate.params, **coupled}, base.estimate.params, _cores(each) / _cores(base)
            )
        ]
        if larger:
            same = (
                each
                for each in members
                if _cores(each) == _cores(base) or roles.level_of(each.estimate, "copies") == INDEPENDENT
            )
            yield problem, (*same, *larger)


def _cores(measured: Measured) -> int:
    return sum(map(len, measured.estimate.placement.cpus))


def _largest(rates: Sequence[Measured], chosen: set[str], order: str) -> dict[_Problem, tuple[Measured, ...]]:
    """Return the largest problem of each placement; none where it is the same at all placements.

    Args:
        rates: rates of one benchmark.
        chosen: names that distinguish its problems.
        order: axis of the size of a problem; empty where it has none.
    """
    if order not in chosen:
        return {}
    found: dict[_Problem, tuple[Measured, ...]] = {}
    for problem, members in grouped(rates, lambda each: _problem(each.estimate, chosen - {order})).items():
        places = grouped(members, lambda each: (_place(each.estimate), each.estimate.state))
        most = [max(group, key=lambda each: int(each.estimate.params[order])) for group in places.values()]
        if len({each.estimate.params[order] for each in most}) > 1:
            cases = {each.estimate.case for each in most}
            found[(order, _LARGEST), *problem] = tuple(each for each in members if each.estimate.case in cases)
    return found


def _place(estimate: Estimate) -> Hashable:
    where = estimate.placement
    copies = estimate.params.get(roles.axis(estimate.declared, "copies"))
    return where.label, where.hosts, copies, tuple(estimate.factors.items())


def _several(rates: Sequence[Measured], computed: Iterable[str]) -> set[str]:
    """Return the computed axes of which one placement has several values."""
    places = grouped((each.estimate for each in rates), _place)
    return {name for name in computed for each in places.values() if len({e.params.get(name) for e in each}) > 1}


def _problem(estimate: Estimate, chosen: set[str]) -> _Problem:
    params = ((name, value) for name, value in estimate.params.items() if name in chosen)
    memory = estimate.placement.memory
    return (*params, *((("memory", memory),) if memory != "first-touch" else ()))


def _members(rates: Sequence[Measured], copies: str) -> Iterator[_Member]:
    """Yield each placement; for programs that run separately on each host the first host, and all together.

    Of such a program each host has a copy: together they solve no larger problem, and no problem sooner.
    """
    for by_host in grouped(rates, lambda each: each.estimate.case).values():
        first = by_host[0]
        apart = first.estimate.params.get(copies) in APART
        yield _member((first,), copies=apart)
        if len(by_host) > 1:
            yield _member(by_host, copies=True)


def _member(measured: Sequence[Measured], *, copies: bool) -> _Member:
    places = [each.estimate.placement for each in measured]
    cpus = [len(host) for place in places for host in place.cpus]
    return _Member(
        _sum(measured),
        tuple(each.estimate.id for each in measured),
        tuple(host for place in places for host in place.hosts),
        sum(cpus),
        max(cpus),
        copies,
    )


def _sum(measured: Sequence[Measured]) -> Measured:
    """Return the sum of the rates of several hosts, block by block."""
    first = measured[0]
    if len(measured) == 1:
        return first
    by_block = [{launch.block: launch for launch in each.launches} for each in measured]
    blocks = sorted(set.intersection(*(set(each) for each in by_block)))
    launches = tuple(
        LaunchMedian(block, by_block[0][block].state, sum(each[block].value for each in by_block))
        for block in blocks
    )
    unit = first.estimate.unit
    value = median_interval([each.value for each in launches], unit) if launches else None
    return Measured(msgspec.structs.replace(first.estimate, value=value), launches)


def _base(members: Sequence[_Member]) -> _Member | None:
    """Return the member on the fewest cores and nodes, of those that are no copies."""
    together = [each for each in members if not each.copies]
    return min(together, key=lambda each: (each.cores, len(each.hosts)), default=None)


def _steps(
    members: Sequence[_Member], base: _Member, seconds: Mapping[tuple[str, str | None], Quantity], *, same: bool
) -> Iterator[Ratio]:
    """Yield every step of a curve; `same`: whether all solve one problem."""
    copies = {each.place: each for each in members if each.copies}
    for each in sorted(members, key=lambda each: (each.cores, len(each.hosts), each.copies)):
        if each.cores > base.cores and each.ids != base.ids:
            step = _step(each, base, copies, same=same)
            if step:
                step = msgspec.structs.replace(step, seconds=_member_seconds(seconds, each))
                yield ratio(step, each.measured, base.measured)


def _step(member: _Member, base: _Member, copies: Mapping[Hashable, _Member], *, same: bool) -> Step | None:
    found = block_ratio(member.measured, base.measured)
    if found is None:
        return None
    factor = member.cores / base.cores
    place = member.measured.estimate.placement
    by_messages = member.measured.estimate.declared.launcher == "mpi"
    efficiency = found.value.over(factor)
    shared, messages = _factors(member, base, copies, efficiency) if by_messages else (None, None)
    here = copies.get(member.place)
    return Step(
        estimates=member.ids,
        label=place.label,
        cores=member.cores,
        nodes=len(member.hosts),
        ranks=place.ranks if by_messages else 0,
        copies=member.copies,
        blocks=found.blocks,
        speed_up=found.value,
        efficiency=efficiency,
        node_time=found.value.inverse("").scaled(len(member.hosts) / max(1, len(base.hosts)), ""),
        serial=serial_fraction(found.value, factor) if same and not member.copies else None,
        shared=shared,
        messages=messages,
        apart=str(roles.level_of(here.measured.estimate, "copies")) if here else "",
        as_full=_is_as_full(member, base),
    )


def _is_as_full(member: _Member, base: _Member) -> bool:
    """Whether each node, a separate machine, runs as many cores as the base."""
    one_machine = member.measured.estimate.placement.is_one_machine
    return member.most_of_a_node == base.most_of_a_node and not one_machine


def _factors(
    member: _Member, base: _Member, copies: Mapping[Hashable, _Member], efficiency: Quantity
) -> tuple[Quantity | None, Quantity | None]:
    """Return the factors of sharing a node and of messages, whose product is the efficiency; None if unknown."""
    if member.copies:
        return efficiency, None
    here, reference = copies.get(member.place), copies.get(base.place, base)  # messages of the base are no loss
    of_copies = block_ratio(here.measured, reference.measured) if here else None
    if here is None or of_copies is None:
        return (exact(1.0), efficiency) if _is_as_full(member, base) else (None, None)
    shared = of_copies.value.over(member.cores / base.cores)
    over = block_ratio(member.measured, here.measured) if reference is base else None
    # Copies that were launched in other blocks are compared with the base in those.
    return shared, over.value if over else efficiency.times(shared.inverse(""), "")
