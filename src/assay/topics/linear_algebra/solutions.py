"""The solutions of a run that one law is fitted to: by order, or on several numbers of nodes over any network."""

from collections.abc import Hashable, Iterable
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from assay.analyse.curves import RunEstimates, curves, states_of
from assay.analyse.estimates import Measured
from assay.analyse.messages import place
from assay.analyse.messages.curves import BYTES, PATTERN, unusual
from assay.analyse.messages.steps import MessageLaw
from assay.analyse.overlap import hidden_shares
from assay.analyse.statistics import Samples
from assay.model.benchmark import works_together
from assay.model.grouping import grouped
from assay.model.plan import Case
from assay.model.result import Estimate
from assay.model.units import format_cpu_list
from assay.topics.linear_algebra.benchmarks.hpl import OVERLAPS
from assay.topics.linear_algebra.orders import (
    FEWEST,
    Messages,
    Solution,
    Solutions,
    Steps,
    Work,
    no_messages,
    steps_of,
    without_messages,
)

NAME, PRODUCT = "hpl", "dgemm"
#: The end of the hidden share that gives the value, and the lower and upper end, of the time that is not hidden.
_ENDS_OF_REST = (0, 2, 1)


class _Solved(NamedTuple):
    """A case with its figures in one state of the machine."""

    case: Case
    rate: Measured
    update: Measured
    panel: Measured

    def solution(self, work: Work) -> Solution:
        return Solution(self.rate, self.update, self.panel, work.typical)


class Network(NamedTuple):
    """What a run knows of the nodes and of the messages between them.

    Attributes:
        known: the run.
        state: state of the machine; None where states do not matter.
        by_ranks: whether its solutions differ in the ranks of one node, not in nodes.
    """

    known: RunEstimates
    state: str | None
    by_ranks: bool = False

    def work(self, case: Case) -> Work | None:
        """Return the work of a solution with its messages; None where no law holds for those between nodes."""
        along_row, along_column = _between_nodes(case)
        law = self._law(case) if along_row or along_column else None
        if law is None and (along_row or along_column):
            return None

        hidden = hidden_shares(self.known, OVERLAPS, case, self.state) if along_row else None
        cores = min(map(len, case.placement.rank_cpus))  # one of them passes messages, the others compute

        def steps(end: int) -> Steps:
            messages: Messages = partial(law.seconds, end=end) if law else no_messages
            row, column = (messages if crosses else no_messages for crosses in (along_row, along_column))

            def busy(sizes: Samples) -> Samples:
                return row(sizes) * (1 - hidden.at(sizes, _ENDS_OF_REST[end])) / cores if hidden else 0.0 * sizes

            return steps_of(case.params, row, column, self._slow(case), busy)

        return Work(steps(0), steps(1), steps(2), hidden is not None)

    def _law(self, case: Case) -> MessageLaw | None:
        """Return the law of single messages between nodes over the network of a case, by the most usual params."""
        laws = [
            (unusual(first, (PATTERN, BYTES)), law)
            for law in self.known.fitted(MessageLaw)
            if law.state in {None, self.state}
            and (first := self.known.estimates.get(law.of[0])) is not None
            and place.between(first)
            and place.is_single(first)
            and all(case.factors.get(name, level) == level for name, level in first.factors.items())
        ]
        return min(laws, key=lambda pair: pair[0])[1] if laws else None

    def _slow(self, case: Case) -> Samples:
        """Return the time of each of its ranks over that of a rank on the fastest node; 1 if unknown."""
        slow = np.ones(len(case.placement.rank_cpus))
        rates = self._rates_of_nodes(case)
        if set(case.placement.hosts) <= rates.keys():
            slow = np.array([max(rates.values()) / rates[host] for host in case.placement.rank_hosts])
        at_once = self.slow_at_once(case) or 1.0
        # All nodes at once are compared with the fastest, as products are; ranks of a node with one rank of it.
        return slow * max(1.0, at_once if self.by_ranks else at_once / float(slow.max()))

    def slow_at_once(self, case: Case) -> float | None:
        """Return the time of independent solutions on all its nodes at once over that on one; None if unknown.

        Nodes that are one machine share its memory and its clock, which products on one node after the other do
        not show. With `by_ranks` the same of the ranks of one node. The order is the nearest one of those measured
        both ways, at most so far as laws are extended; of several single nodes the fastest counts.
        """
        nodes, ranks = len(case.placement.hosts), case.placement.rank_cpus
        alone: dict[int, float] = {}
        at_once: dict[int, float] = {}
        for each in self.known.of(NAME, "rate", "rate"):
            estimate = each.estimate
            other = self.known.run.plan.case(estimate.case)
            place, order = other.placement, int(other.params["n"])
            if (
                not estimate.median
                or estimate.state not in {None, self.state}
                or place.memory != case.placement.memory
                or not other.factors.items() <= case.factors.items()
                or (len(place.rank_cpus) > 1 and works_together(other.params))
            ):
                continue
            if (place.hosts, place.rank_cpus) == (case.placement.hosts, ranks):
                at_once[order] = estimate.median
            of_one_node = len(place.hosts) == 1 and _layout(other) == _layout(case)
            if _is_one_rank(other, case) if self.by_ranks else of_one_node:
                alone[order] = max(estimate.median, alone.get(order, 0.0))
        wanted, farthest = int(case.params["n"]), self.known.farthest
        near = (n for n in alone.keys() & at_once if 1 / farthest <= n / wanted <= farthest)
        nearest = min(near, key=lambda n: (abs(n - wanted), n), default=None)
        parts = len(ranks) if self.by_ranks else nodes
        return parts * alone[nearest] / at_once[nearest] if nearest else None

    def knows_sharing(self, case: Case) -> bool:
        """Whether it is known what ranks of one node take from each other; of nodes the product tells enough."""
        return not self.by_ranks or len(case.placement.rank_cpus) == 1 or self.slow_at_once(case) is not None

    def _rates_of_nodes(self, case: Case) -> dict[str, float]:
        """Return the rate of each node in the largest product of those measured on the most single nodes."""
        products = [
            each.estimate
            for each in self.known.of(PRODUCT)
            if len(each.estimate.placement.hosts) == 1
            and each.estimate.state in {None, self.state}
            and all(case.factors.get(name, level) == level for name, level in each.estimate.factors.items())
        ]
        groups = grouped(products, lambda e: (e.placement.label, e.placement.memory, tuple(e.params.items())))
        best = max(
            groups.values(),
            key=lambda group: (len({e.placement.hosts for e in group}), int(group[0].params["n"])),
            default=(),
        )
        return {e.placement.hosts[0]: e.median for e in best if e.median}


def _between_nodes(case: Case) -> tuple[bool, bool]:
    """Whether messages along the rows of the grid, and along its columns, pass between nodes."""
    p, q, hosts = int(case.params["p"]), int(case.params["q"]), case.placement.rank_hosts
    ranks = range(p * q)
    along_row = any(hosts[rank] != hosts[rank + 1] for rank in ranks if (rank + 1) % q)
    return along_row, any(hosts[rank] != hosts[rank + q] for rank in ranks[: (p - 1) * q])


def by_order(known: RunEstimates) -> Iterable[Solutions]:
    """Yield every curve over orders, of each grid, whose phases are known; one order is no curve."""
    for state, solved in _by_state(known).items():
        network, by_id = Network(known, state), {each.rate.estimate.id: each for each in solved}
        for curve in curves((each.rate for each in solved), "n"):
            of_curve = [by_id[each.estimate.id] for each in curve.members]
            grids = grouped(of_curve, lambda each: (each.case.params["p"], each.case.params["q"]))
            for (p, q), members in grids.items():
                ordered = sorted(members, key=lambda each: int(each.case.params["n"]))
                marks = (*curve.marks, f"grid={p}x{q}")
                works = [network.work(each.case) or without_messages(each.case.params) for each in ordered]
                with_work = tuple(each.solution(work) for each, work in zip(ordered, works, strict=True))
                yield Solutions(marks, state, with_work, _product(known, ordered[0].rate.estimate))


def over_nodes(known: RunEstimates) -> Iterable[Solutions]:
    """Yield solutions on several numbers of nodes, with the same ranks on each, whose messages are known."""
    for state, solved in _by_state(known).items():
        network = Network(known, state)
        for group in grouped(solved, lambda each: _group(known, each.case)).values():
            result = _with_messages(known, network, group)
            if len({each.steps.p * each.steps.q for each in result.members}) > 1:
                yield result


def predictors(known: RunEstimates, case: Case) -> Iterable[tuple[Solutions, Work]]:
    """Yield solutions by fewer ranks, or over another network, that predict a case, and its work; in each state.

    They need two orders, panels factored by the same code, and enough ranks; for a grid of several rows also a
    solution by several ranks, which exchange rows; for more ranks of one node independent solutions by as many.
    """
    ranks, levels = len(case.placement.rank_cpus), _network_levels(known, case)
    by_ranks = len(case.placement.hosts) == 1
    for state, solved in _by_state(known).items():
        network = Network(known, state, by_ranks)
        work = network.work(case)
        if work is None or not network.knows_sharing(case):
            continue
        others = [
            each
            for each in solved
            if network.knows_sharing(each.case)
            and _group(known, each.case, by_ranks=by_ranks) == _group(known, case, by_ranks=by_ranks)
            and (
                (count := len(each.case.placement.rank_cpus)) < ranks
                or (count == ranks and _network_levels(known, each.case) != levels)
            )
        ]
        result = _with_messages(known, network, others)
        steps = [each.steps for each in result.members]
        if (
            len(result.orders) >= FEWEST
            and (work.typical.p == 1 or any(each.p * each.q > 1 for each in steps))
            and known.farthest * max(each.p * each.q for each in steps) >= ranks
            and any(each.panel_coefficient == work.typical.panel_coefficient for each in steps)
        ):
            yield result, work


def _with_messages(known: RunEstimates, network: Network, solved: Iterable[_Solved]) -> Solutions:
    """Return the solutions whose messages are known."""
    pairs = [(each, work) for each in solved if (work := network.work(each.case))]
    members = sorted(
        (each.solution(work) for each, work in pairs), key=lambda each: (each.steps.p * each.steps.q, each.order)
    )
    marks = _marks(known, pairs[0][0].case, network.state) if pairs else ()
    return Solutions(marks, network.state, tuple(members), None)


def _by_state(known: RunEstimates) -> dict[str | None, list[_Solved]]:
    """Return the solutions of each state of the machine."""
    cases = {case.id: case for case in known.run.plan.cases}
    parts = {
        part: {(each.estimate.case, each.estimate.state): each for each in known.of(NAME, part, "time")}
        for part in ("update", "panel")
    }
    solved = [
        _Solved(cases[at[0]], rate, parts["update"][at], parts["panel"][at])
        for rate in known.of(NAME, "rate", "rate")
        if (at := (rate.estimate.case, rate.estimate.state))
        and all(at in each for each in parts.values())
        and works_together(rate.estimate.params)
    ]
    states = states_of(each.rate.estimate for each in solved)
    return {state: [each for each in solved if each.rate.estimate.state in {None, state}] for state in states}


def _networks(known: RunEstimates) -> set[str]:
    return {factor.name for factor in known.run.plan.factors if factor.kind == "network"}


def _network_levels(known: RunEstimates, case: Case) -> dict[str, str]:
    """Return the level of each network factor of a case."""
    return {name: case.factors[name] for name in _networks(known) & case.factors.keys()}


def have_same_messages(known: RunEstimates, solution: Solution, case: Case) -> bool:
    """Whether the panels of a solution pass between nodes, over the same network, if those of a case do."""
    along_row, _ = _between_nodes(case)
    factors = solution.rate.estimate.factors
    same = all(factors.get(name) == level for name, level in _network_levels(known, case).items())
    return not along_row or (same and bool(solution.steps.broadcast.any()))


def _group(known: RunEstimates, case: Case, *, by_ranks: bool = False) -> Hashable:
    """Return a key that is equal for cases that differ only in order, number of nodes (of ranks) and network."""
    networks, free = _networks(known), {"n", *known.run.plan.declared(NAME).derived}
    return (
        case.benchmark,
        frozenset((name, value) for name, value in case.params.items() if name not in free),
        frozenset((name, level) for name, level in case.factors.items() if name not in networks),
        (case.placement.hosts, *map(len, case.placement.rank_cpus[:1])) if by_ranks else _layout(case),
        case.placement.memory,
    )


def _is_one_rank(other: Case, case: Case) -> bool:
    """Whether a case has one rank, with as many cpus as each rank of another case on the same nodes."""
    (first, *more), of = other.placement.rank_cpus, case.placement
    return not more and other.placement.hosts == of.hosts and len(first) == len(of.rank_cpus[0])


def _layout(case: Case) -> Hashable:
    """Return the cpus of the ranks of its first node, and their numbers on all: jobs get other cpus on each."""
    of_hosts = case.placement.host_ranks
    return of_hosts[0], frozenset(tuple(map(len, ranks)) for ranks in of_hosts)


def _marks(known: RunEstimates, case: Case, state: str | None) -> tuple[str, ...]:
    """Return the common properties of the cases of a `_group`, in words."""
    ranks, networks = case.placement.host_ranks[0], _networks(known)
    free = {"n", *known.run.plan.declared(NAME).derived}
    return (
        f"{len(ranks)}x{len(ranks[0])}@*",
        f"cpus={format_cpu_list(tuple(chain.from_iterable(ranks)))}",
        case.placement.memory.policy,
        *(f"{name}={value}" for name, value in case.params.items() if name not in free),
        *(f"{name}={level}" for name, level in case.factors.items() if name not in networks),
        *((f"state={state}",) if state else ()),
    )


def _product(known: RunEstimates, solution: Estimate) -> Measured | None:
    """Return the fastest product in double precision by the same library on the same cores."""
    products = (each for each in known.of(PRODUCT) if is_of_same(each.estimate, solution, "fp64"))
    return max(products, key=lambda each: each.estimate.median or 0.0, default=None)


def is_of_same(product: Estimate, solution: Estimate, precision: str) -> bool:
    """Whether a matrix product has this precision, and the library, cores and state of a solution."""
    return (
        product.params.get("format") == precision
        and product.placement.cpus == solution.placement.cpus
        and product.placement.hosts == solution.placement.hosts
        and product.factors.items() <= solution.factors.items()  # inside a node there is no network
        and product.state in {None, solution.state}
    )
