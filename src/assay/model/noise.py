"""How much the machine disturbed a run."""

import msgspec

from assay.model.quantity import Quantity


class Noise(msgspec.Struct, frozen=True):
    """How quiet the machine was.

    Attributes:
        sentinel_p99: 99th percentile over median of the sentinel's samples; None with fewer than 1,000 of them.
        drift: Theil-Sen slope x duration of the sentinel's launch medians, relative; None with fewer than 4.
        drift_p: Kendall's p of that drift.
        steal: share of cpu time taken by the hypervisor, over all launches.
        foreign: largest share of cpu time used by other processes during a launch.
        states: state -> [launches, median hand-over in s]; one entry if there is one state.
        disturbed: launches labelled as disturbed.
        launches: number of all launches.
        resolution: relative difference of two launches of one case that 95 % of all such pairs of this run stay
            below. Smaller effects may be chance. None if no case has two launches.
        probed_s: seconds of the sentinel's quanta of fixed work, over all launches and cores that ran it.
        lost: share of that time lost to stops and slower moments: excess over the median of quanta that took
            10 % longer. Its interval is that of the launches of the sentinel; one launch has none. None without
            launches.
        longest_stop_s: largest such excess.
        stops_per_s: quanta per second that took 10 % longer.
        figures_drift: Theil-Sen slope x duration of the median slowness of all figures, block by block; None with
            fewer than 4 blocks.
        figures_drift_p: Kendall's p of that.
        made: launches of the plan that were made, repeats not counted.
        spoilt: launches that were disturbed at every attempt; their figures count nevertheless.
        crowded: launches that other processes disturbed at every attempt.
        waited_s: seconds of all waiting for other processes, in experiments too.
    """

    sentinel_p99: float | None
    drift: float | None
    drift_p: float | None
    steal: float | None
    foreign: float | None
    states: dict[str, tuple[int, float]]
    disturbed: int
    launches: int
    resolution: float | None = None
    probed_s: float = 0.0
    lost: Quantity | None = None
    longest_stop_s: float | None = None
    stops_per_s: float | None = None
    figures_drift: float | None = None
    figures_drift_p: float | None = None
    made: int = 0
    spoilt: int = 0
    crowded: int = 0
    waited_s: float = 0.0

    #: Stops and slower moments that take more than this share of the time spoil the figures.
    SPOILS = 0.1
    #: On a steady machine they take at most this share.
    STEADY = 0.02

    @property
    def spoils(self) -> bool:
        """Whether figures are spoilt: most launches were disturbed at every attempt, or too much time was lost."""
        return 2 * self.spoilt > self.made or self.loses(self.SPOILS)

    @property
    def is_open(self) -> bool:
        """Whether the launches of the sentinel leave open if the machine was steady."""
        return self.lost is not None and self.lost.hi > self.STEADY and not self.loses(self.STEADY)

    def loses(self, share: float) -> bool:
        """Whether more than this share of the time was lost by both ends; one launch shows only itself."""
        return self.lost is not None and self.lost.has_ends and self.lost.lo > share
