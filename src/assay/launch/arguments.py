"""Command lines of the native programs."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from assay.catalogue import benchmarks
from assay.launch.command import Sampling
from assay.model.benchmark import ForeignProgram
from assay.model.placement import Placement
from assay.model.plan import Case
from assay.model.resource import GivenDevice
from assay.model.units import format_cpu_list

#: Samples of the probe take some µs each: more of them do not improve the state of the cores that they show.
_PROBE_SAMPLES = ("--min-samples", "10", "--max-samples", "50")


def measure_command(  # noqa: PLR0913, PLR0917 (what a launch is made of)
    program: str,
    cases: tuple[Case, ...],
    sampling: Sampling,
    network: str = "",
    libraries: Mapping[str, str] = MappingProxyType({}),
    prefix: str = "",
) -> tuple[str, ...]:
    """The command line that measures `cases`, which share a placement; common parameters are given once.

    Some launchers fail at a thousand words (the mpiexec of MPICH 4.0): command lines must be much shorter.

    Args:
        program: path of the executable.
        cases: cases in the order in which they run.
        sampling: limits of sampling.
        network: requested device, for programs that pass messages.
        libraries: role -> shared library that the program loads.
        prefix: folder where Assay installed an application; empty if it did not.
    """
    if foreign := benchmarks.get(cases[0].benchmark).foreign:
        return _start_command(program, cases[0], foreign, network, prefix)
    argv = [program, *_placement_options(cases[0].placement, network), "--precision", f"{sampling.precision:g}"]
    argv += [word for role, file in libraries.items() for word in ("--library", f"{role}={file}")]
    argv += _resource_options(cases[0].placement)
    argv += ["--min-samples", str(sampling.min_samples)]
    argv += ["--max-samples", str(sampling.max_samples)]
    shared = {axis for axis, value in cases[0].params.items() if all(case.params[axis] == value for case in cases)}
    argv += _axis_options(cases[0], shared)
    for case in cases:
        argv += ["--case", case.id, *_axis_options(case, case.params.keys() - shared)]
        argv += ["--seconds", f"{sampling.seconds[case.id]:.3f}"]
    return tuple(argv)


def _start_command(
    starter: str, case: Case, foreign: ForeignProgram, network: str, prefix: str
) -> tuple[str, ...]:
    """Assay's starter with a third-party command, its files, and the figures in its output."""
    given = (case.params, case.placement, prefix)
    options = [("--benchmark", case.benchmark), ("--case", case.id)]
    options += [("--param", f"{axis}={value}") for axis, value in case.params.items()]
    options += [("--figure", kernel) for kernel in benchmarks.get(case.benchmark).kernels]
    options += [("--input", f"{name}={content}") for name, content in foreign.inputs(*given).items()]
    options += [("--file", f"{name}={path}") for name, path in foreign.files.items()]
    optional = {
        "--prologue": foreign.prologue(*given),
        "--output": foreign.output,
        "--prefix": prefix,
        "--limit": f"{foreign.limit_s:g}" if foreign.limit_s else "",
        "--mpi-calls": "uncounted" if foreign.application and not foreign.application.counted else "",
    }
    options += [(option, value) for option, value in optional.items() if value]
    words = (word for option in options for word in option)
    placed = _placement_options(case.placement, network)
    return (starter, *placed, *words, "--", *foreign.command(*given))


def probe_command(program: str, cpus: tuple[int, ...], seconds: float) -> tuple[str, ...]:
    """The hand-over probe between two cpus, for `seconds`."""
    return (program, "--cpus", cpu_list(cpus), *_PROBE_SAMPLES, "--seconds", f"{seconds:.3f}")


def on_host(argv: tuple[str, ...], placement: Placement, host: int) -> tuple[str, ...]:
    """The command line of a program without MPI, with cpus, devices and folder of a host, by its number."""
    own = {"--cpus": cpu_list(placement.host_ranks[host][0])} if placement.by_host else {}
    if placement.devices:
        own["--devices"] = device_words(placement.devices_on(host))
    for option, value in own.items():
        at = argv.index(option) + 1
        argv = (*argv[:at], value, *argv[at + 1 :])
    if folder := placement.folder_of(host):
        first, count = argv.index("--folder"), 2 * len(placement.folders)
        argv = (*argv[:first], "--folder", folder.path, *argv[first + count :])
    return argv


def device_words(devices: Sequence[Sequence[GivenDevice]]) -> str:
    """`0000:01:00.0/0000:81:00.0`: the devices of each rank."""
    return "/".join(",".join(device.word for device in own) for own in devices)


def cpu_list(cpus: tuple[int, ...]) -> str:
    """The kernel's list form if it keeps the order of the threads, else every cpu in thread order."""
    return format_cpu_list(cpus) if cpus == tuple(sorted(cpus)) else ",".join(map(str, cpus))


def _axis_options(case: Case, chosen: AbstractSet[str]) -> list[str]:
    return [word for axis, value in case.params.items() if axis in chosen for word in (f"--{axis}", f"{value}")]


def _resource_options(placement: Placement) -> list[str]:
    devices = ["--devices", device_words(placement.devices)] if placement.devices else []
    return devices + [word for folder in placement.folders for word in ("--folder", folder.path)]


def _placement_options(placement: Placement, network: str) -> tuple[str, ...]:
    if not placement.ranks:
        return ("--cpus", cpu_list(placement.cpus), "--memory", str(placement.memory))
    cpus = "/".join(map(cpu_list, placement.rank_cpus if placement.by_host else placement.ranks))
    expected = str(len(placement.rank_cpus))
    asked = ("--network", network) if network else ()
    return ("--expect-ranks", expected, "--cpus", cpus, "--memory", str(placement.memory), *asked)
