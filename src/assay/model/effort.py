"""What the time of a run was spent on, and what it did not suffice for."""

import msgspec


class Effort(msgspec.Struct, frozen=True):
    """Samples and seconds of a run, from its records.

    Attributes:
        series: measured series of kernels: one of each launch and host, or of all ranks that work together.
        short: of them those with fewer samples than promised.
        promised: samples of a series that the plan promises.
        budget_s: seconds; None without a budget.
        elapsed_s: seconds that the run took; None where it has not ended.
        grown_s: seconds beyond the budget: for launches that make intervals where it is the study's own, which
            `grows`; else those of the launch that was not over.
        grows: see Plan.
    """

    series: int
    short: int
    promised: int
    budget_s: float | None = None
    elapsed_s: float | None = None
    grown_s: float = 0.0
    grows: bool = False
