"""What several benchmarks declare alike: axes, and metrics of phases, of whole programs, of what memory moves."""

from collections.abc import Mapping

from assay.model.benchmark import Axis, Metric, ParamValue
from assay.model.placement import Placement


def phase_times(phases: Mapping[str, str], each: str = "mean over the ranks") -> tuple[Metric, ...]:
    """The seconds of each part of a solution, as metrics.

    Args:
        phases: kernel -> what is done in it.
        each: what its figure is.
    """
    return tuple(
        Metric("time", "s", "lower", "", f"{each}: {what}", kernels=(phase,), role="phase-time")
        for phase, what in phases.items()
    )


def program_times(printed_by: str) -> tuple[Metric, ...]:
    """The seconds of somebody else's program, as metrics: of its solution as it prints them, and of all of it."""
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


#: Before a program with MPI that runs as one rank without mpiexec: else Open MPI starts a daemon beside it, and
#: binds its threads by rules of its own.
ONE_RANK = ("env", "OMPI_MCA_ess_singleton_isolated=1", "OMPI_MCA_hwloc_base_binding_policy=none")


#: Axis, and its level at which ranks pass no messages.
_COUPLING, INDEPENDENT = "coupling", "independent"


def coupling(shared: str, own: str) -> Axis:
    """Whether the ranks share one problem, or each has one of its own; both in words."""
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
    """The rate of what memory must move, with what counts as that; see `Metric`."""
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
    """Whether the ranks share one problem; else each has one of its own, and the rate is the sum of all."""
    return params.get(_COUPLING) != INDEPENDENT


def sharing_ranks(params: Mapping[str, ParamValue], placement: Placement) -> int:
    """How many ranks share one problem."""
    return len(placement.rank_cpus) if works_together(params) else 1
