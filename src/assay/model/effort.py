"""How the time of a run was used, and which samples are missing."""

import msgspec


class Effort(msgspec.Struct, frozen=True):
    """Samples and seconds of a run, from its records.

    Attributes:
        series: number of measured series of kernels: one for each launch and host, or for all ranks that work
            together.
        short: series with fewer samples than promised.
        promised: samples of a series that the plan promises.
        budget_s: seconds; None without a budget.
        elapsed_s: seconds that the run took; None if it has not ended.
        grown_s: seconds beyond the budget: for launches that make intervals, if it is the study's own budget,
            which `grows`; else for the launch that was still running.
        grows: see Plan.
    """

    series: int
    short: int
    promised: int
    budget_s: float | None = None
    elapsed_s: float | None = None
    grown_s: float = 0.0
    grows: bool = False
