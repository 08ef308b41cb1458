"""The steps of a curve of speed-ups, and its laws and advice."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from assay.analyse.curves import FARTHEST, replicates, with_ends
from assay.analyse.estimates import LaunchMedian, Measured
from assay.model import places
from assay.model.benchmark import UNCOUPLED
from assay.model.grouping import grouped
from assay.model.quantity import Quantity, exact
from assay.topics.scaling.laws import usl

#: Fewest steps, without the base, for both coefficients of the universal law.
_FEWEST, _COEFFICIENTS = 3, 2
_SEED = 1
#: Lowest efficiency at which cores are worth it.
WORTH = 0.5


class Step(msgspec.Struct, frozen=True):
    """One placement compared with the base.

    Attributes:
        estimates: ids; several where each host has its own figure, whose rates are added.
        label: placement word.
        cores: number of cores on all nodes together.
        nodes: number of nodes.
        ranks: number of ranks; 0 of a program whose ranks pass no messages.
        copies: whether its ranks pass no messages: each has a copy of the problem, or its part of it.
        blocks: number of blocks with both it and the base.
        speed_up: its rate over that of the base.
        efficiency: speed-up over the factor of cores.
        node_time: cost of the same work, nodes times time, over that of the base.
        seconds: time of a step, a solution or a program, where the benchmark measures one; else None.
        serial: serial fraction of Karp and Flatt; None for copies, for problems that grow, and where the interval
            of the speed-up is missing or too wide.
        shared: factor of the efficiency without messages: the efficiency of `apart` on the same cores,
            which share a node, or whose nodes differ. Without them it is 1 on nodes with as many busy
            cores as the base's, and None on nodes with more.
        messages: factor of the efficiency by messages and waiting; None where it is not known separately.
        apart: what both factors were measured by: `independent` copies, `uncoupled` parts, or empty.
        as_full: whether each node, a separate machine, runs as many cores as the base.
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
    node_time: Quantity = exact(1.0)
    seconds: Quantity | None = None
    serial: Quantity | None = None
    shared: Quantity | None = None
    messages: Quantity | None = None
    apart: str = ""
    as_full: bool = False

    @property
    def where(self) -> str:
        """Words for its cores: `one core on each of 2 nodes`."""
        return places.cores(self.label, self.nodes)

    @property
    def by_caches(self) -> bool:
        """Whether ranks that share the problem are faster than independent copies of it.

        Each rank has a smaller part then, and caches hold more of it. This hides the cost of messages.
        """
        return bool(self.apart != UNCOUPLED and self.messages and self.messages.lo > 1)

    @property
    def is_superlinear(self) -> bool:
        """Whether the speed-up is above the factor of cores."""
        return self.efficiency.lo > 1


class Universal(msgspec.Struct, frozen=True):
    """The universal law of scalability, fitted to numbers of cores of one node, or to numbers of nodes.

    Attributes:
        cores_of_node: cores of each node, where the law is over nodes; 0 where it is over the cores of one node.
        points: number of speed-ups that it was fitted to.
        sigma: serial share of the work.
        kappa: cost of coherency for each pair.
        residual: largest relative distance of a speed-up from the law.
        most: number of cores with the highest speed-up; None where the interval of kappa includes 0, or where the
            upper end is above four times the largest measured number.
    """

    cores_of_node: int
    points: int
    sigma: Quantity
    kappa: Quantity
    residual: float
    most: Quantity | None = None


class Advice(msgspec.Struct, frozen=True):
    """The recommended placements of those measured.

    Attributes:
        fastest: id of the estimate of the fastest one.
        as_fast: ids of those on fewer cores whose intervals overlap with it.
        cheapest: id of the one with the lowest nodes times time; of several that overlap, the one on fewest cores.
        worth: largest number of cores with an efficiency of at least 0.5.
        worth_is_sure: whether the lower end of that efficiency is at least 0.5, too.
    """

    fastest: str
    as_fast: tuple[str, ...]
    cheapest: str
    worth: int
    worth_is_sure: bool


class Ratio(NamedTuple):
    """A step, and its speed-up in each block."""

    step: Step
    measured: Measured


def ratio(step: Step, member: Measured, base: Measured) -> Ratio:
    """Return the speed-ups in the blocks that have both, in the same state."""
    before = {(each.block, each.state): each.value for each in base.launches}
    launches = tuple(
        LaunchMedian(each.block, each.state, each.value / before[each.block, each.state])
        for each in member.launches
        if before.get((each.block, each.state))
    )
    value = msgspec.structs.replace(step.speed_up, unit="")
    return Ratio(step, Measured(msgspec.structs.replace(member.estimate, value=value), launches))


Course = Literal["constant", "rises", "falls", "none", ""]


def course(steps: Sequence[Step]) -> Course:
    """Return how the serial fraction changes from the fewest cores to the most; empty for one number of cores."""
    fractions = [(each.cores, each.serial) for each in steps if each.serial]
    if len({cores for cores, _ in fractions}) <= 1:
        return ""
    (_, first), (_, last) = fractions[0], fractions[-1]
    if last.lo > first.hi:
        return "rises"
    if last.hi < first.lo:
        return "falls"
    return "constant" if last.lo > 0 else "none"


def universal(ratios: Sequence[Ratio], base_cores: int) -> Iterator[Universal]:
    """Fit the law of the cores of one node, and that of nodes, each where enough speed-ups are known."""
    together = [each for each in ratios if not each.step.copies]
    one_node = [each for each in together if each.step.nodes == 1]
    if len({each.step.cores for each in one_node}) >= _FEWEST:
        yield _fitted(one_node, base_cores, 0)
    several = [each for each in together if each.step.nodes > 1]
    for of_node, group in grouped(several, lambda each: each.step.cores // each.step.nodes).items():
        if of_node == base_cores and len({each.step.nodes for each in group}) >= _FEWEST:
            yield _fitted(group, base_cores, of_node)


def _fitted(ratios: Sequence[Ratio], base_cores: int, of_node: int) -> Universal:
    factors = np.array([each.step.cores / base_cores for each in ratios])
    values = np.array([each.step.speed_up.value for each in ratios])
    law = usl(factors, values[None, :])
    deviations = np.log(values / [float(law.speed_up(factor)[0]) for factor in factors])
    draws, basis = replicates([each.measured for each in ratios])
    # The scatter of points about the law counts as noise of each point, in addition to the noise of launches.
    scatter = float(np.sqrt(deviations @ deviations / (factors.size - _COEFFICIENTS)))
    draws *= np.exp(np.random.default_rng(_SEED).normal(0, scatter, draws.shape))
    drawn = usl(factors, draws)
    sigma, kappa = (
        with_ends(float(one[0]), each, basis) for one, each in ((law.sigma, drawn.sigma), (law.kappa, drawn.kappa))
    )
    most = None
    if kappa.lo > 0:
        found = with_ends(float(law.most[0]), drawn.most, basis).scaled(base_cores, "")
        most = found if found.hi <= FARTHEST * base_cores * factors.max() else None
    return Universal(of_node, len(ratios), sigma, kappa, float(np.max(np.abs(np.expm1(deviations)))), most)


def advice(base: str, base_cores: int, steps: Sequence[Step]) -> Advice | None:
    """Recommend placements of those that solve one problem; None where there is only the base."""
    together = [each for each in steps if not each.copies]
    if not together:
        return None
    one = exact(1.0)
    speeds = [(base, base_cores, one), *((each.estimates[0], each.cores, each.speed_up) for each in together)]
    costs = [(base, base_cores, one), *((each.estimates[0], each.cores, each.node_time) for each in together)]
    fastest = max(speeds, key=lambda each: each[2].value)
    cheapest = min(costs, key=lambda each: each[2].value)
    as_cheap = [each for each in costs if each[2].lo <= cheapest[2].hi and each[1] <= cheapest[1]]
    worth = max(
        (each for each in together if each.efficiency.value >= WORTH), key=lambda each: each.cores, default=None
    )
    return Advice(
        fastest=fastest[0],
        as_fast=tuple(each[0] for each in speeds if each[2].hi >= fastest[2].lo and each[1] < fastest[1]),
        cheapest=min(as_cheap, key=lambda each: each[1])[0],
        worth=worth.cores if worth else base_cores,
        worth_is_sure=worth is None or worth.efficiency.lo >= WORTH,
    )
