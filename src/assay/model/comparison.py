"""The comparison of two figures of a run, or of two runs: one result for every output."""

from typing import Literal

import msgspec

from assay.model.quantity import Quantity

#: Value of `Comparison.differ` for a control and the case that it repeats.
CONTROL = "control"


#: What forbids a claim: a figure has no `samples`; too few blocks or `launches` for an interval; a difference that
#: can be chance `among` the comparisons of its family; an interval that reaches into the `margin`, mostly
#: because `runs` vary.
Obstacle = Literal["samples", "launches", "among", "margin", "runs"]


class Lack(msgspec.Struct, frozen=True):
    """Why a comparison claims no difference, and what decides whether there is one.

    Attributes:
        why: each obstacle.
        more: blocks, or launches of each run, in addition to those that were made, with which a difference as seen
            becomes a claim; None if no reasonable number does, or if there are no samples.
        runs: other runs of the machine that are missing to know the variance between runs, where an assumption
            of it forbids the claim; else 0.
        disturbed: launches of both figures that were disturbed and had no quiet repeat.
    """

    why: tuple[Obstacle, ...]
    more: int | None = None
    runs: int = 0
    disturbed: int = 0


class Comparison(msgspec.Struct, frozen=True):
    """Two things measured in the same blocks, or in two runs: the one result that every output shows.

    A claim needs an adjusted p of 5 % at most, and an interval beyond the margin.

    Attributes:
        id: unique among all comparisons of one run, or of several runs with their base.
        a: estimate id; of the control if `differ` is `control` (it has no estimate of its own in the run).
        b: estimate id, the base of the ratio.
        value: a / b, Hodges-Lehmann over the blocks (over all pairs of launches between two runs), with the exact
            signed-rank interval (Mann-Whitney between runs), or the range of the ratios with fewer than 6 blocks,
            or 4 launches in a run.
        blocks: pairs; 0 between two runs, which have no blocks in common.
        verdict: `faster`, `slower`, `trivially different`, `equivalent` or `inconclusive`.
        differ: what differs between a and b: an axis, a factor, `cores`, `memory`, `control` (A against A), or
            `run`.
        level: level of a.
        base: level of b.
        varied: whether it was varied on purpose; other pairs are those that the study happens to contain.
        state: state of the machine, if the comparison is within one.
        launches: numbers of launches of a and of b.
        margin: smallest difference that counts as one: 1 %, or the resolution if that is larger.
        resolution: 95th percentile of the effects of A against A, relative; None without such pairs.
        detectable: smallest relative difference that is found four times in five under the noise seen here; None
            if there are too few pairs to find any.
        p: two-sided, of this comparison alone; None for a range.
        adjusted_p: in its family, after Westfall and Young: the probability that chance alone makes any figure
            that is no more significant as significant as this one.
        among: number of comparisons of its family that have a p: those of the same two levels, or of the same two
            runs.
        between_runs: relative standard deviation between runs of the same machine, which is part of p and of the
            interval; None within one run.
        history: number of earlier runs that give it; 0 if it is assumed.
        lack: why it is inconclusive, and what decides; None if it is not.
        figures: of a and b, medians over launches of the statistic that is compared, where it is not the median of
            the samples of a launch.
    """

    id: str
    a: str
    b: str
    value: Quantity
    blocks: int
    verdict: str
    differ: str = ""
    level: str = ""
    base: str = ""
    varied: bool = False
    state: str | None = None
    launches: tuple[int, int] = (0, 0)
    margin: float = 0.01
    resolution: float | None = None
    detectable: float | None = None
    p: float | None = None
    adjusted_p: float | None = None
    between_runs: float | None = None
    history: int = 0
    among: int = 1
    lack: Lack | None = None
    figures: tuple[float, float] | None = None

    @property
    def is_claim(self) -> bool:
        """Whether a difference beyond the margin is claimed."""
        return self.verdict in {"faster", "slower"}

    @property
    def is_assumed(self) -> bool:
        """Whether the variance between runs is assumed, not measured."""
        return self.between_runs is not None and not self.history

    @property
    def is_control(self) -> bool:
        """Whether it is A against A."""
        return self.differ == CONTROL

    @property
    def ratio(self) -> float:
        """The ratio a / b, without its ends."""
        return self.value.value

    @property
    def lo(self) -> float:
        """Lower end of the ratio."""
        return self.value.lo

    @property
    def hi(self) -> float:
        """Upper end of the ratio."""
        return self.value.hi

    @property
    def confidence(self) -> float | None:
        """Nominal confidence of the interval; None for a range."""
        return self.value.confidence

    def inverse(self) -> "Comparison":
        """Return the same comparison, seen from b."""
        return msgspec.structs.replace(
            self,
            a=self.b,
            b=self.a,
            level=self.base,
            base=self.level,
            value=self.value.inverse(self.value.unit),
            verdict={"faster": "slower", "slower": "faster"}.get(self.verdict, self.verdict),
            launches=self.launches[::-1],
            figures=self.figures and self.figures[::-1],
        )
