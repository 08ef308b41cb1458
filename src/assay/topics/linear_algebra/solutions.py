"""The solutions of a run that one law is fitted to: by order, or on several numbers of nodes over any network."""

import math
from collections.abc import Hashable, Iterable
from functools import partial
from itertools import chain
from typing import NamedTuple

from assay.analyse.curves import RunEstimates, curves, states_of
from assay.analyse.estimates import Measured
from assay.analyse.messages.curves import BYTES, PATTERN, unusual
from assay.analyse.messages.steps import MessageLaw
from assay.model import benchmarks, roles
from assay.model.declarations import works_together
from assay.model.grouping import grouped
from assay.model.plan import Case
from assay.model.result import Estimate
from assay.model.units import format_cpu_list
from assay.topics.linear_algebra.orders import (
    FEWEST,
    Messages,
    Solution,
    Solutions,
    Steps,
    Work,
    nothing,
    steps_of,
    without_messages,
)

NAME, PRODUCT = "hpl", "dgemm"


class _Solved(NamedTuple):
    """A case with its figures in one state of the machine."""

    case: Case
    rate: Measured
    update: Measured
    panel: Measured

    def solution(self, work: Work) -> Solution:
        return Solution(self.rate, self.update, self.panel, work.typical)


class Network(NamedTuple):
    """What a run knows of nodes and of what is between them.

    Attributes:
        known: the run.
        state: of the machine; None where states do not matter.
    """

    known: RunEstimates
    state: str | None

    def work(self, case: Case) -> Work | None:
        """The work of a solution with its messages; None where these pass between nodes and no law says how."""
        along_row, along_column = _between_nodes(case)
        law = self._law(case) if along_row or along_column else None
        if law is None and (along_row or along_column):
            return None

        def steps(end: int) -> Steps:
            messages: Messages = partial(law.seconds, end=end) if law else nothing
            row, column = (messages if crosses else nothing for crosses in (along_row, along_column))
            return steps_of(case.params, row, column, self._slow(case))

        return Work(steps(0), steps(1), steps(2))

    def _law(self, case: Case) -> MessageLaw | None:
        """Of single messages between nodes, over the same network."""
        able = [
            (unusual(first, (PATTERN, BYTES)), law)
            for law in self.known.fitted(MessageLaw)
            if law.state in {None, self.state}
            and (first := self.known.estimates.get(law.of[0])) is not None
            and _is_alone(first)
            and all(case.factors.get(name, level) == level for name, level in first.factors.items())
        ]
        return min(able, key=lambda pair: pair[0])[1] if able else None

    def _slow(self, case: Case) -> tuple[float, float]:
        """How much longer its ranks take than those of the fastest node: mean, slowest; 1 if nothing tells."""
        mean = slowest = 1.0
        rates = self._rates_of_nodes(case)
        if set(case.placement.hosts) <= rates.keys():
            slow = [max(rates.values()) / rates[host] for host in case.placement.rank_hosts]
            mean, slowest = sum(slow) / len(slow), max(slow)
        shared = max(1.0, self._slow_at_once(case) / slowest)
        return shared * mean, shared * slowest

    def _slow_at_once(self, case: Case) -> float:
        """How much longer independent solutions take on all its nodes at once than on one of them.

        Nodes that are one machine share its memory and its clock, which the product on one node after the other
        does not show. Of the orders that both were measured at, the nearest counts.
        """
        nodes = len(case.placement.hosts)
        layout = _layout(case)
        rates: dict[int, dict[int, float]] = {1: {}, nodes: {}}
        for each in self.known.of(NAME, "rate", "rate"):
            estimate = each.estimate
            of = self.known.run.plan.case(estimate.case)
            if (
                estimate.median
                and estimate.state in {None, self.state}
                and _layout(of) == layout
                and of.placement.memory == case.placement.memory
                and of.factors.items() <= case.factors.items()
                and (of.placement.hosts == case.placement.hosts or len(of.placement.hosts) == 1)
                and (len(of.placement.rank_cpus) == 1 or not works_together(of.params))
            ):
                rates[len(of.placement.hosts)][int(of.params["n"])] = estimate.median
        both = rates[1].keys() & rates[nodes].keys() if nodes > 1 else ()
        order = min(both, key=lambda n: abs(n - int(case.params["n"])), default=None)
        return nodes * rates[1][order] / rates[nodes][order] if order else 1.0

    def _rates_of_nodes(self, case: Case) -> dict[str, float]:
        """Node -> rate of the product that was measured on most nodes, each by itself; the largest of these."""
        products = [
            each.estimate
            for each in self.known.of(PRODUCT)
            if len(each.estimate.placement.hosts) == 1
            and each.estimate.state in {None, self.state}
            and all(case.factors.get(name, level) == level for name, level in each.estimate.factors.items())
        ]
        alike = grouped(products, lambda e: (e.placement.label, e.placement.memory, tuple(e.params.items())))
        best = max(
            alike.values(),
            key=lambda group: (len({e.placement.hosts for e in group}), int(group[0].params["n"])),
            default=(),
        )
        return {e.placement.hosts[0]: e.median for e in best if e.median}


def _is_alone(estimate: Estimate) -> bool:
    """Whether it is of one message after the other between two ranks of an MPI on two nodes."""
    pattern = roles.pattern(estimate)
    return (
        estimate.placement.nodes > 1
        and roles.between_two(estimate.benchmark)
        and not roles.by_sockets(estimate)
        and pattern is not None
        and (pattern.figure, pattern.directions, pattern.pairs) == ("time", 1, "one")
    )


def _between_nodes(case: Case) -> tuple[bool, bool]:
    """Whether messages along the rows of the grid, and along its columns, pass between nodes."""
    p, q, hosts = int(case.params["p"]), int(case.params["q"]), case.placement.rank_hosts
    ranks = range(p * q)
    along_row = any(hosts[rank] != hosts[rank + 1] for rank in ranks if (rank + 1) % q)
    return along_row, any(hosts[rank] != hosts[rank + q] for rank in ranks[: (p - 1) * q])


def found(known: RunEstimates) -> Iterable[Solutions]:
    """Every curve over orders whose phases are known; one order is no curve, and copies pass no messages."""
    for state, solved in _by_state(known).items():
        network, of = Network(known, state), {each.rate.estimate.id: each for each in solved}
        for curve in curves((each.rate for each in solved), "n"):
            here = [of[each.estimate.id] for each in curve.members]
            grids = grouped(here, lambda each: (each.case.params["p"], each.case.params["q"]))
            for (p, q), members in grids.items():
                ordered = sorted(members, key=lambda each: int(each.case.params["n"]))
                marks = (*curve.marks, f"grid={p}x{q}")
                works = [network.work(each.case) or without_messages(each.case.params) for each in ordered]
                solved_here = tuple(each.solution(work) for each, work in zip(ordered, works, strict=True))
                yield Solutions(marks, state, solved_here, _product(known, ordered[0].rate.estimate))


def over_nodes(known: RunEstimates) -> Iterable[Solutions]:
    """All solutions with the same ranks on each node, on several numbers of nodes, whose messages are known."""
    for state, solved in _by_state(known).items():
        network = Network(known, state)
        for alike in grouped(solved, lambda each: _alike(known, each.case)).values():
            result = _together(known, network, alike)
            if len({each.steps.p * each.steps.q for each in result.members}) > 1:
                yield result


def elsewhere(known: RunEstimates, case: Case, before: float = math.inf) -> Iterable[tuple[Solutions, Work]]:
    """What predicts a case, and its work: solutions by fewer ranks, or over another network; in each state.

    It needs two orders, panels that are factored alike, and enough of its ranks; for a grid of several rows also a
    solution by several ranks, which exchange rows.

    Args:
        known: the run.
        case: that is predicted.
        before: only solutions that were launched before this block.
    """
    first = first_blocks(known)
    ranks, levels = len(case.placement.rank_cpus), _levels(known, case)
    for state, solved in _by_state(known).items():
        network = Network(known, state)
        work = network.work(case)
        if work is None:
            continue
        others = [
            each
            for each in solved
            if first[each.case.id] < before
            and _alike(known, each.case) == _alike(known, case)
            and (
                (count := len(each.case.placement.rank_cpus)) < ranks
                or (count == ranks and _levels(known, each.case) != levels)
            )
        ]
        result = _together(known, network, others)
        of = [each.steps for each in result.members]
        if (
            len(result.orders) >= FEWEST
            and (work.typical.p == 1 or any(each.p * each.q > 1 for each in of))
            and known.farthest * max(each.p * each.q for each in of) >= ranks
            and any(each.panel_coefficient == work.typical.panel_coefficient for each in of)
        ):
            yield result, work


def first_blocks(known: RunEstimates) -> dict[str, int]:
    """Case -> the first block that holds a launch of it."""
    launches = reversed(known.run.plan.order)
    return {case: launch.block for launch in launches for case in launch.cases}


def _together(known: RunEstimates, network: Network, solved: Iterable[_Solved]) -> Solutions:
    """Those whose messages are known."""
    able = [(each, work) for each in solved if (work := network.work(each.case))]
    members = sorted(
        (each.solution(work) for each, work in able), key=lambda each: (each.steps.p * each.steps.q, each.order)
    )
    marks = _marks(known, able[0][0].case, network.state) if able else ()
    return Solutions(marks, network.state, tuple(members), None)


def _by_state(known: RunEstimates) -> dict[str | None, list[_Solved]]:
    """State of the machine -> the solutions that count in it."""
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


def _levels(known: RunEstimates, case: Case) -> dict[str, str]:
    """The networks that it is solved over."""
    return {name: case.factors[name] for name in _networks(known) & case.factors.keys()}


def _alike(known: RunEstimates, case: Case) -> Hashable:
    """Equal for cases that only their order, the number of nodes and the network tell apart."""
    networks, free = _networks(known), {"n", *benchmarks.get(NAME).derived}
    return (
        case.benchmark,
        frozenset((name, value) for name, value in case.params.items() if name not in free),
        frozenset((name, level) for name, level in case.factors.items() if name not in networks),
        _layout(case),
        case.placement.memory,
    )


def _layout(case: Case) -> Hashable:
    """Cpus of the ranks of its first node, and how many the ranks of others have: jobs get other cpus on each."""
    of_hosts = case.placement.host_ranks
    return of_hosts[0], frozenset(tuple(map(len, ranks)) for ranks in of_hosts)


def _marks(known: RunEstimates, case: Case, state: str | None) -> tuple[str, ...]:
    """What `_alike` cases share, in words."""
    ranks, networks = case.placement.host_ranks[0], _networks(known)
    free = {"n", *benchmarks.get(NAME).derived}
    return (
        f"{len(ranks)}x{len(ranks[0])}@*",
        f"cpus={format_cpu_list(tuple(chain.from_iterable(ranks)))}",
        case.placement.memory.policy,
        *(f"{name}={value}" for name, value in case.params.items() if name not in free),
        *(f"{name}={level}" for name, level in case.factors.items() if name not in networks),
        *((f"state={state}",) if state else ()),
    )


def _product(known: RunEstimates, solution: Estimate) -> Measured | None:
    """The fastest product in double precision by the same library on the same cores."""
    alike = (each for each in known.of(PRODUCT) if is_of_same(each.estimate, solution, "fp64"))
    return max(alike, key=lambda each: each.estimate.median or 0.0, default=None)


def is_of_same(product: Estimate, solution: Estimate, precision: str) -> bool:
    """Whether a product of matrices is of this precision, by the library, cores and state of a solution."""
    return (
        product.params.get("format") == precision
        and product.placement.cpus == solution.placement.cpus
        and product.placement.hosts == solution.placement.hosts
        and product.factors.items() <= solution.factors.items()  # inside a node there is no network
        and product.state in {None, solution.state}
    )
