"""The command lines of the native programs."""

from collections.abc import Set as AbstractSet

from assay.launch.command import Sampling
from assay.model.placement import Placement
from assay.model.plan import Case
from assay.model.units import format_cpu_list

#: The probe runs hand-overs in samples of some µs: more of them tell no more about which state the cores are in.
_PROBE_SAMPLES = ("--min-samples", "10", "--max-samples", "50")


def measuring(program: str, cases: tuple[Case, ...], sampling: Sampling, network: str = "") -> tuple[str, ...]:
    """The program with all that it needs to measure `cases`, which share a placement; what they share stands once.

    Some launchers break at a thousand words (MPICH 4.0's mpiexec does): a launch must be far from them.

    Args:
        program: path of the executable.
        cases: in the order in which they run.
        sampling: how much of each.
        network: device that messages were asked to use, for programs that pass any.
    """
    argv = [program, *_placed(cases[0].placement, network), "--precision", f"{sampling.precision:g}"]
    argv += ["--min-samples", str(sampling.min_samples)]
    argv += ["--max-samples", str(sampling.max_samples)]
    shared = {axis for axis, value in cases[0].params.items() if all(case.params[axis] == value for case in cases)}
    argv += _axes(cases[0], shared)
    for case in cases:
        argv += ["--case", case.id, *_axes(case, case.params.keys() - shared)]
        argv += ["--seconds", f"{sampling.seconds[case.id]:.3f}"]
    return tuple(argv)


def probing(program: str, cpus: tuple[int, ...], seconds: float) -> tuple[str, ...]:
    """The hand-over probe between two cpus, for so many seconds."""
    return (program, "--cpus", cpu_list(cpus), *_PROBE_SAMPLES, "--seconds", f"{seconds:.3f}")


def cpu_list(cpus: tuple[int, ...]) -> str:
    """The kernel's list form where it keeps the order of the threads, else every cpu in thread order."""
    return format_cpu_list(cpus) if cpus == tuple(sorted(cpus)) else ",".join(map(str, cpus))


def _axes(case: Case, chosen: AbstractSet[str]) -> list[str]:
    return [word for axis, value in case.params.items() if axis in chosen for word in (f"--{axis}", f"{value}")]


def _placed(placement: Placement, network: str) -> tuple[str, ...]:
    if not placement.ranks:
        return ("--cpus", cpu_list(placement.cpus), "--memory", str(placement.memory))
    cpus = "/".join(map(cpu_list, placement.rank_cpus if placement.by_host else placement.ranks))
    expected = str(len(placement.rank_cpus))
    asked = ("--network", network) if network else ()
    return ("--expect-ranks", expected, "--cpus", cpus, "--memory", str(placement.memory), *asked)
