"""What a curve of speed-ups consists of, and what it says as a whole."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from assay.analyse.curves import FARTHEST, replicates, with_ends
from assay.analyse.estimates import LaunchMedian, Measured
from assay.model import places
from assay.model.grouping import grouped
from assay.model.quantity import Quantity, exact
from assay.topics.scaling.laws import usl

#: So many steps are needed beside the base to tell both coefficients of the universal law from chance.
_FEWEST, _COEFFICIENTS = 3, 2
_SEED = 1
#: A step beyond which cores are not worth it.
WORTH = 0.5


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
        node_time: what the same work costs, nodes times time over the base's.
        seconds: of a step, a solution or a program, where the benchmark times one; else None.
        serial: the fraction of Karp and Flatt; None of copies, of problems that grow, and of speed-ups whose
            interval, or the lack of one, leaves it open.
        shared: what cores leave of the efficiency without messages: that of independent copies on them. Cores of a
            node share it, and nodes differ. 1 where nobody measured copies on nodes as full as the base's, None
            where nobody did on fuller ones.
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
    node_time: Quantity = exact(1.0)
    seconds: Quantity | None = None
    serial: Quantity | None = None
    shared: Quantity | None = None
    messages: Quantity | None = None
    as_full: bool = False

    @property
    def where(self) -> str:
        """Its cores in words: `one core on each of 2 nodes`."""
        return places.cores(self.label, self.nodes)

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


class Universal(msgspec.Struct, frozen=True):
    """The universal law of scalability, fitted to ranks of one node, or to more and more nodes.

    Attributes:
        cores_of_node: of each node, where nodes are counted; 0 where the cores of one node are.
        points: speed-ups that it was fitted to.
        sigma: share of the work that one does after the other.
        kappa: cost of keeping each pair in agreement.
        residual: largest relative distance of a speed-up from the law.
        most: cores beyond which it becomes slower; None where the ends of kappa hold 0, or of what they allow lies
            beyond four times what was measured.
    """

    cores_of_node: int
    points: int
    sigma: Quantity
    kappa: Quantity
    residual: float
    most: Quantity | None = None


class Advice(msgspec.Struct, frozen=True):
    """Which of the measured placements to take.

    Attributes:
        fastest: id of an estimate.
        as_fast: those of fewer cores whose ends overlap with its.
        cheapest: the one with least time times nodes; of several that overlap the one with fewest cores.
        worth: the most cores that have an efficiency of a half or more.
        worth_is_sure: whether the lower end of that efficiency is no less.
    """

    fastest: str
    as_fast: tuple[str, ...]
    cheapest: str
    worth: int
    worth_is_sure: bool


class Ratio(NamedTuple):
    """A step and its speed-ups by block."""

    step: Step
    measured: Measured


def ratio(step: Step, member: Measured, base: Measured) -> Ratio:
    """The speed-ups of the blocks that have both, in the same state."""
    of = {(each.block, each.state): each.value for each in base.launches}
    launches = tuple(
        LaunchMedian(each.block, each.state, each.value / of[each.block, each.state])
        for each in member.launches
        if of.get((each.block, each.state))
    )
    value = msgspec.structs.replace(step.speed_up, unit="")
    return Ratio(step, Measured(msgspec.structs.replace(member.estimate, value=value), launches))


Course = Literal["constant", "rises", "falls", ""]


def course(steps: Sequence[Step]) -> Course:
    """How the serial fraction goes on from the fewest cores to the most; empty where there are not two of it."""
    fractions = [each.serial for each in steps if each.serial]
    if len(fractions) <= 1:
        return ""
    first, last = fractions[0], fractions[-1]
    if last.lo > first.hi:
        return "rises"
    return "falls" if last.hi < first.lo else "constant"


def universal(ratios: Sequence[Ratio], base_cores: int) -> Iterator[Universal]:
    """The law of the cores of one node, and that of nodes, each where enough speed-ups are known."""
    together = [each for each in ratios if not each.step.copies]
    here = [each for each in together if each.step.nodes == 1]
    if len({each.step.cores for each in here}) >= _FEWEST:
        yield _fitted(here, [each.step.cores / base_cores for each in here], base_cores, 0)
    over = [each for each in together if each.step.nodes > 1]
    for of_node, alike in grouped(over, lambda each: each.step.cores // each.step.nodes).items():
        if of_node == base_cores and len({each.step.nodes for each in alike}) >= _FEWEST:
            yield _fitted(alike, [each.step.cores / base_cores for each in alike], base_cores, of_node)


def _fitted(ratios: Sequence[Ratio], factors: Sequence[float], base_cores: int, of_node: int) -> Universal:
    at = np.array(factors)
    values = np.array([each.step.speed_up.value for each in ratios])
    law = usl(at, values[None, :])
    off = np.log(values / [float(law.speed_up(each)[0]) for each in at])
    draws, basis = replicates([each.measured for each in ratios])
    # What points lie off the law counts as noise of each, beside that of launches.
    scatter = float(np.sqrt(off @ off / (at.size - _COEFFICIENTS)))
    draws *= np.exp(np.random.default_rng(_SEED).normal(0, scatter, draws.shape))
    drawn = usl(at, draws)
    sigma, kappa = (
        with_ends(float(one[0]), each, basis) for one, each in ((law.sigma, drawn.sigma), (law.kappa, drawn.kappa))
    )
    most = None
    if kappa.lo > 0:
        found = with_ends(float(law.most[0]), drawn.most, basis).scaled(base_cores, "")
        most = found if found.hi <= FARTHEST * base_cores * at.max() else None
    return Universal(of_node, len(ratios), sigma, kappa, float(np.max(np.abs(np.expm1(off)))), most)


def advice(base: str, base_cores: int, steps: Sequence[Step]) -> Advice | None:
    """What to take of placements that share one problem; None where there is only the base."""
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
