"""Declarations that several benchmarks share: axes, and metrics of phases, whole programs and memory traffic."""

from collections.abc import Mapping

from assay.model.declaration import Axis, Metric, ParamValue
from assay.model.placement import Placement


def phase_times(phases: Mapping[str, str], each: str = "mean over the ranks") -> tuple[Metric, ...]:
    """Metrics for the seconds of each part of a solution.

    Args:
        phases: kernel -> what the program does in it.
        each: what the figure of a phase is.
    """
    return tuple(
        Metric("time", "s", "lower", "", f"{each}: {what}", kernels=(phase,), role="phase-time")
        for phase, what in phases.items()
    )


def program_times(printed_by: str) -> tuple[Metric, ...]:
    """Metrics for the seconds of a third-party program: its solution, as printed, and the whole run."""
    return (
        Metric(
            "time",
            "s",
            "lower",
            "",
            f"time of the solution, as {printed_by} prints it",
            kernels=("time",),
            role="solution-time",
        ),
        Metric(
            "elapsed",
            "s",
            "lower",
            "",
            "wall time of the whole program",
            kernels=("elapsed",),
            role="program-time",
        ),
    )


#: Prefix of an MPI program that runs as one rank without mpiexec: else Open MPI starts a daemon next to it, and
#: binds its threads by rules of its own.
ONE_RANK = ("env", "OMPI_MCA_ess_singleton_isolated=1", "OMPI_MCA_hwloc_base_binding_policy=none")


#: An axis, and its level at which ranks pass no messages.
_COUPLING, INDEPENDENT = "coupling", "independent"


def coupling(shared: str, own: str) -> Axis:
    """The axis that says whether the ranks share one problem, or each has its own; with a text for both."""
    return Axis(
        _COUPLING,
        f"sharing: {shared}; independent: {own}, without messages",
        ("sharing", INDEPENDENT),
        "sharing",
        role="copies",
        words={"sharing": "one problem for all ranks", INDEPENDENT: "independent copies"},
    )


TOUCH = Axis(
    "touch",
    "who first writes the arrays: each thread its own part, or one thread everything",
    ("parallel", "serial"),
    "parallel",
)
OFFSET = Axis(
    "offset",
    "bytes added to the size, as NetPIPE's perturbation of 3 does",
    (0, -3, 3),
    0,
    "B",
    role="size-offset",
)


def traffic(
    meaning: str,
    work: str = "traffic_bytes",
    *,
    kernels: tuple[str, ...] = (),
    when: Mapping[str, tuple[ParamValue, ...]] | None = None,
) -> Metric:
    """The metric of memory traffic; `meaning` says which bytes count. See `Metric`."""
    return Metric(
        "traffic",
        "B/s",
        "higher",
        work,
        meaning,
        limit="memory-traffic",
        kernels=kernels,
        when=when or {},
        role="memory-traffic",
    )


def works_together(params: Mapping[str, ParamValue]) -> bool:
    """Whether the ranks share one problem; else each has its own, and the rate is the sum over the ranks."""
    return params.get(_COUPLING) != INDEPENDENT


def sharing_ranks(params: Mapping[str, ParamValue], placement: Placement) -> int:
    """How many ranks share one problem."""
    return len(placement.rank_cpus) if works_together(params) else 1
