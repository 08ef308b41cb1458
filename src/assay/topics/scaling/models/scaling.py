"""Speed-up and parallel efficiency: a rate of work on more cores over that on the fewest, paired by block.

Efficiency has two factors where independent copies were measured on the same cores: what sharing the node leaves
of each copy's rate, and what messages leave of that. Where each node runs what the base runs, nothing is shared.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

import msgspec

from assay.analyse.comparisons.effects import compare
from assay.analyse.curves import RunEstimates, headline, states_of
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.statistics import median_interval
from assay.model import benchmarks, roles
from assay.model.benchmark import ParamValue
from assay.model.declarations import INDEPENDENT
from assay.model.grouping import grouped
from assay.model.law import LawFigure, Model
from assay.model.quantity import Quantity, exact
from assay.model.result import Estimate
from assay.model.role_words import WORK_RATES

LAW = "scaling"
#: Names that tell problems apart, with their values.
_Problem = tuple[tuple[str, ParamValue], ...]
#: What references call its speed-ups.
SPEED_UP = "speed-up over one core"
#: In place of the size of problems that are as large as each placement has them.
_LARGEST = "largest"
#: Of several hardware threads of a core none is a core more.
_NO_CORES = "all-threads"


class Step(msgspec.Struct, frozen=True):
    """One placement beside the base.

    Attributes:
        estimates: ids; several where each host has a figure of its own, whose rates add up.
        label: placement word.
        cores: of all nodes together.
        nodes: how many.
        ranks: how many; 0 of a program whose ranks pass no messages.
        copies: whether its ranks are independent copies.
        blocks: in which it and the base were both measured.
        speed_up: its rate over the base's.
        efficiency: speed-up over the factor of cores.
        shared: what sharing a node leaves of the efficiency: that of independent copies on the same cores; 1 where
            each node is as full as the base's; None where nobody measured it.
        messages: what messages, and waiting for them, leave of that; None where it is not known apart.
        as_full: whether each node, a machine of its own, runs as many cores as the base.
    """

    estimates: tuple[str, ...]
    label: str
    cores: int
    nodes: int
    ranks: int
    copies: bool
    blocks: int
    speed_up: Quantity
    efficiency: Quantity
    shared: Quantity | None = None
    messages: Quantity | None = None
    as_full: bool = False

    @property
    def by_caches(self) -> bool:
        """Whether ranks that share the problem are faster than copies of it, which no message explains.

        Each has a smaller part then, of which caches hold more: what messages cost is not seen.
        """
        return bool(self.messages and self.messages.lo > 1)

    @property
    def is_superlinear(self) -> bool:
        """Whether the speed-up lies above the factor of cores."""
        return self.efficiency.lo > 1


class Scaling(Model, frozen=True, kw_only=True, tag=LAW):
    """How a rate of work grows with cores.

    Attributes:
        problem: params and factors that tell its curve from others of the benchmark.
        base: id of the estimate on the fewest cores, to which speed-ups refer.
        base_label: its placement word.
        base_cores: how many.
        steps: every other placement, fewest cores first.
        grows: whether each placement has a problem as large as it can.
    """

    problem: dict[str, ParamValue]
    base: str
    base_label: str
    base_cores: int
    steps: tuple[Step, ...]
    grows: bool = False

    @property
    def figures(self) -> tuple[LawFigure, ...]:
        """Speed-ups of one problem over one core; nobody publishes others."""
        if self.base_cores > 1 or self.grows:
            return ()
        return tuple(
            LawFigure(SPEED_UP, each.estimates[0], {"cores": each.cores, "nodes": each.nodes}, each.speed_up)
            for each in self.steps
        )


class _Member(msgspec.Struct, frozen=True):
    """A rate at one placement, of all of its hosts together."""

    measured: Measured
    ids: tuple[str, ...]
    hosts: tuple[str, ...]
    cores: int
    most_of_a_node: int
    copies: bool

    @property
    def place(self) -> Hashable:
        """Where it ran."""
        where = self.measured.estimate.placement
        return where.label, where.cpus, self.hosts


class _Curve(msgspec.Struct, frozen=True):
    """Members that only their placement, and whether they are copies, tells apart."""

    key: Mapping[str, ParamValue]
    members: tuple[_Member, ...]
    state: str | None


def fit(known: RunEstimates) -> Iterable[Scaling]:
    """One model for each benchmark and problem that was measured on several numbers of cores."""
    rates = [each for each in known.measured if _is_rate(each.estimate)]
    for benchmark, of_benchmark in grouped(rates, lambda each: each.estimate.benchmark).items():
        found = [
            (curve, base)
            for curve in _curves(of_benchmark)
            if (base := _base(curve.members)) and any(each.cores > base.cores for each in curve.members)
        ]
        telling = _telling([curve.key for curve, _ in found])
        for curve, base in found:
            problem = {name: value for name, value in curve.key.items() if name in telling}
            steps = tuple(_steps(curve.members, base))
            if steps:
                marks = (f"{name}={value}" for name, value in curve.key.items())
                state = (f"state={curve.state}",) if curve.state else ()
                yield Scaling(
                    id="/".join((LAW, benchmark, *marks, *state)),
                    of=tuple(dict.fromkeys(each for member in curve.members for each in member.ids)),
                    state=curve.state,
                    problem=problem,
                    base=base.ids[0],
                    base_label=base.measured.estimate.placement.label,
                    base_cores=base.cores,
                    steps=steps,
                    grows=_LARGEST in curve.key.values(),
                )


def _is_rate(estimate: Estimate) -> bool:
    """Whether it is the main rate of work of its benchmark, on cores of their own.

    What memory gives to each number of cores is told by the law `saturation`.
    """
    role = roles.role(estimate)
    return (
        role in WORK_RATES
        and (role != "memory-rate" or estimate.placement.word.count is None)
        and bool(estimate.median)
        and estimate.metric == headline(estimate)
        and estimate.kernel == benchmarks.of(estimate.benchmark).main_kernel
        and estimate.placement.word.share != _NO_CORES
        and bool(estimate.placement.cpus)
    )


def _telling(keys: Sequence[Mapping[str, ParamValue]]) -> set[str]:
    """Names whose values differ among curves."""
    names = {name for key in keys for name in key}
    return {name for name in names if len({key.get(name) for key in keys}) > 1}


def _curves(rates: Sequence[Measured]) -> Iterator[_Curve]:
    """What only placements tell apart.

    A value that follows from the placement tells curves apart where one placement has several of it. Levels of
    factors that a placement does not have, as a network inside a node, and states that it was not given, are any.
    """
    declared = benchmarks.of(rates[0].estimate.benchmark)
    copies = roles.axis(declared.name, "copies")
    fixed = [axis.name for axis in declared.axes if axis.default is not None or axis.identifies]
    chosen = {name for name in fixed if name != copies} | _several(rates, declared.computed)
    problems = {
        **grouped(rates, lambda each: _problem(each.estimate, chosen)),
        **_largest(rates, chosen, roles.axis(declared.name, "order")),
    }
    for problem, members in problems.items():
        levels = dict.fromkeys(frozenset(each.estimate.factors.items()) for each in members)
        for most in (each for each in levels if not any(each < other for other in levels)):
            having = [each for each in members if each.estimate.factors.items() <= most]
            for state in states_of(each.estimate for each in having):
                shared = [each for each in having if each.estimate.state in {None, state}]
                yield _Curve(dict(problem) | dict(sorted(most)), tuple(_members(shared, copies)), state)


def _largest(rates: Sequence[Measured], chosen: set[str], order: str) -> dict[_Problem, tuple[Measured, ...]]:
    """Of problems that grow, the largest at each placement; none where all placements have the same ones.

    Args:
        rates: of one benchmark.
        chosen: names that tell its problems apart.
        order: axis of the size of a problem; empty where it has none.
    """
    if order not in chosen:
        return {}
    found: dict[_Problem, tuple[Measured, ...]] = {}
    for problem, members in grouped(rates, lambda each: _problem(each.estimate, chosen - {order})).items():
        places = grouped(members, lambda each: (_place(each.estimate), each.estimate.state))
        most = [max(alike, key=lambda each: int(each.estimate.params[order])) for alike in places.values()]
        if len({each.estimate.params[order] for each in most}) > 1:
            largest = {each.estimate.case for each in most}
            of_them = tuple(each for each in members if each.estimate.case in largest)
            found[(order, _LARGEST), *problem] = of_them
    return found


def _place(estimate: Estimate) -> Hashable:
    where = estimate.placement
    copies = estimate.params.get(roles.axis(estimate.benchmark, "copies"))
    return where.label, where.hosts, copies, tuple(estimate.factors.items())


def _several(rates: Sequence[Measured], computed: Iterable[str]) -> set[str]:
    """Computed axes of which one placement has several values."""
    places = grouped((each.estimate for each in rates), _place)
    return {name for name in computed for each in places.values() if len({e.params.get(name) for e in each}) > 1}


def _problem(estimate: Estimate, chosen: set[str]) -> _Problem:
    params = ((name, value) for name, value in estimate.params.items() if name in chosen)
    usual = estimate.placement.memory
    return (*params, *((("memory", usual),) if usual != "first-touch" else ()))


def _members(rates: Sequence[Measured], copies: str) -> Iterator[_Member]:
    """Each placement once; of programs that stand alone on each host the first host, and all hosts together."""
    for alike in grouped(rates, lambda each: each.estimate.case).values():
        first = alike[0]
        independent = first.estimate.params.get(copies) == INDEPENDENT
        yield _member((first,), copies=independent)
        if len(alike) > 1:
            yield _member(alike, copies=independent)


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
    """The rates of several hosts together, block by block."""
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
    """The fewest cores on the fewest nodes, working together."""
    together = [each for each in members if not each.copies]
    return min(together, key=lambda each: (each.cores, len(each.hosts)), default=None)


def _steps(members: Sequence[_Member], base: _Member) -> Iterator[Step]:
    copies = {each.place: each for each in members if each.copies}
    for each in sorted(members, key=lambda each: (each.cores, len(each.hosts), each.copies)):
        if each.cores > base.cores and each.ids != base.ids:
            step = _step(each, base, copies.get(each.place))
            if step:
                yield step


def _step(member: _Member, base: _Member, copies: _Member | None) -> Step | None:
    found = compare(member.measured, base.measured)
    if found is None:
        return None
    factor = member.cores / base.cores
    place = member.measured.estimate.placement
    by_messages = benchmarks.of(member.measured.estimate.benchmark).launcher == "mpi"
    efficiency = found.value.over(factor)
    shared, messages = _factors(member, base, copies, efficiency) if by_messages else (None, None)
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
        shared=shared,
        messages=messages,
        as_full=_as_full(member, base),
    )


def _as_full(member: _Member, base: _Member) -> bool:
    """Whether each node, a machine of its own, runs as many cores as the base."""
    one_machine = member.measured.estimate.placement.is_one_machine
    return member.most_of_a_node == base.most_of_a_node and not one_machine


def _factors(
    member: _Member, base: _Member, copies: _Member | None, efficiency: Quantity
) -> tuple[Quantity | None, Quantity | None]:
    """What sharing a node leaves, and what messages leave of that: their product is the efficiency."""
    if member.copies:
        return efficiency, None
    if _as_full(member, base):
        return exact(1.0), efficiency
    beside = compare(copies.measured, base.measured) if copies else None
    over = compare(member.measured, copies.measured) if copies else None
    if beside is None or over is None:
        return None, None
    return beside.value.over(member.cores / base.cores), over.value
