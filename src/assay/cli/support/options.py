"""The options that commands share, as records: of a run, of the nodes, and of the job of `assay submit`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import wraps
from typing import Any

import click

from assay.cli.support.hosts import HOSTS, read

#: Maximum launches of each case.
_MOST_LAUNCHES = 1000
#: Longer words are not repeated in a message.
_LONGEST = 100
#: Keys of the metadata of a field: names of its option, and click's settings.
_NAMES, _SETTINGS = "names", "settings"

Command = Callable[..., Any]


def option(names: str | tuple[str, str], metavar: str | None, meaning: str, **settings: Any) -> Any:  # noqa: ANN401 (a field of any type)
    """A field of a record that is an option of a command.

    Args:
        names: `--budget`, or a short one and a long one.
        metavar: of its value; None for a flag.
        meaning: for its help.
        settings: further ones of click.
    """
    kind = {"is_flag": True} if metavar is None else {"metavar": metavar}
    return field(
        metadata={
            _NAMES: names if isinstance(names, tuple) else (names,),
            _SETTINGS: {"help": meaning, **kind, **settings},
        }
    )


def packed(name: str, record: type[Any]) -> Callable[[Command], Command]:
    """A decorator that adds the options of a record to a command, which gets their values as the record.

    Args:
        name: parameter of the command that takes the record.
        record: a dataclass whose fields are options, in the order of the help.
    """

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(*arguments: object, **values: object) -> object:
            own = {each.name: values.pop(each.name) for each in fields(record)}
            return command(*arguments, **{name: record(**own)}, **values)

        made: Command = call
        for each in reversed(fields(record)):
            made = click.option(*each.metadata[_NAMES], each.name, **each.metadata[_SETTINGS])(made)
        return made

    return decorate


def _whole(least: int, most: int) -> Callable[[click.Context, click.Parameter, str | None], int | None]:
    """A callback that reads an option as a whole number within bounds, both included."""

    def number(ctx: click.Context, param: click.Parameter, text: str | None) -> int | None:
        if text is None:
            return None
        try:
            value = int(text)
        except ValueError:  # also more digits than Python reads
            value = least - 1
        if not least <= value <= most:
            shown = f"'{text}'" if len(text) <= _LONGEST else "this"
            raise click.BadParameter(f"{shown} is not a whole number from {least} to {most}", ctx, param)
        return value

    return number


def each_once(ctx: click.Context, param: click.Parameter, names: Sequence[str]) -> tuple[str, ...]:
    """A callback that returns the names; none may be empty or repeated."""
    for name in names:
        if not name.strip():
            raise click.BadParameter("a name is empty", ctx, param)
        if names.count(name) > 1:
            raise click.BadParameter(f"'{name}' is given twice", ctx, param)
    return tuple(names)


_HOSTFILE = ("--hostfile", "FILE", "File with the nodes to measure, one per line.")
_LAUNCHER = ("--launcher", "NAME", "Launcher of MPI programs: openmpi, mpich, intel, srun, flux, jsrun, pals.")
_SSH = ("--ssh-config", "FILE", "Configuration file for ssh to the nodes.")
_MPIS = ("--mpi", "NAME", "MPI of the MPI programs, by its name in assay list mpis; several become a factor.")
_NETWORKS = (
    "--network",
    "NAME=DEVICE,...",
    "Network between nodes, by interface or port: gbe=eth0,ib=mlx5_0:1. Several become a factor.",
)


@dataclass(frozen=True)
class PlaceOptions:
    """The nodes of a command and how they are reached; None or empty where an option is not given."""

    nodes: tuple[str, ...] = option("--hosts", "NODES", HOSTS, callback=read)
    hostfile: str | None = option(*_HOSTFILE)
    launcher: str | None = option(*_LAUNCHER)
    ssh_config: str | None = option(*_SSH)


@dataclass(frozen=True)
class CheckedOptions(PlaceOptions):
    """The same, with the MPIs and the networks that `assay doctor` checks."""

    mpis: tuple[str, ...] = option(*_MPIS, multiple=True, callback=each_once)
    networks: str | None = option(*_NETWORKS)


@dataclass(frozen=True)
class RunOptions:
    """The options of a run, as they were typed; None or empty where an option is not given."""

    budget: str | None = option(
        "--budget", "DURATION", "Time budget of the whole run: 60s, 5m, 1h. The run reports what it cuts."
    )
    precision: str | None = option(
        "--precision", "SHARE", "Half-width to reach for the interval of a launch: 1% or 0.01."
    )
    launches: int | None = option(
        "--launches", "N", f"Launches of each case, at most {_MOST_LAUNCHES}.", callback=_whole(1, _MOST_LAUNCHES)
    )
    seed: int | None = option(
        "--seed", "N", "Seed of the random order.  [default: random]", callback=_whole(0, 2**63 - 1)
    )
    toolchains: tuple[str, ...] = option(
        "--toolchain",
        "NAME",
        "Toolchain of the programs; several become a factor.",
        multiple=True,
        callback=each_once,
    )
    vary: tuple[str, ...] = option(
        "--vary",
        "NAME[=A,B]",
        "Vary this factor in the same blocks: memory=first-touch,interleave, toolchain=gcc,clang, "
        "flags='-O3|-O2', an axis, an environment variable (UCX_RNDV_THRESH=default,65536), a command "
        "for each level ('NAME=LEVEL:COMMAND|LEVEL:COMMAND'), or a factor of assay.toml. Several factors give all "
        "combinations.",
        multiple=True,
    )
    levels: tuple[str, ...] = option(
        "--level",
        "NAME=LEVEL",
        "Name a state of the machine that no command sets: nps=4, bios=hpc, os=rocky9. assay compare --factor "
        "compares the levels of several runs.",
        multiple=True,
    )
    mpis: tuple[str, ...] = option(*_MPIS, multiple=True, callback=each_once)
    blas: str | None = option(
        "--blas",
        "NAME,...",
        "BLAS that programs load: its name in assay list blas, or a path of a library. Several become a factor.",
    )
    networks: str | None = option(*_NETWORKS)
    messages: str = option(
        ("-m", "--messages"), "FROM:TO", "Message sizes, instead of those of the study: 1:4M.", default=""
    )
    values: tuple[str, ...] = option(
        "--set",
        "AXIS=VALUE,...",
        "Values of an axis, instead of those of the study: hpl.n=8192, nb=256. Can be given several times.",
        multiple=True,
    )
    sweeps: tuple[str, ...] = option(
        "--sweep",
        "WHAT=NUMBERS",
        "For scale:BENCHMARK: ranks=1,2,4,all (of a node), threads=1,2,4 (of a rank), nodes=1,2,all.",
        multiple=True,
    )
    nic_node: str | None = option(
        "--nic-node",
        "N|NETWORK=N,...",
        "NUMA node of the network card, if the machine does not report it; one for each network: ib=1,gbe=0.",
    )
    folders: tuple[str, ...] = option(
        "--folder",
        "PATH",
        "Folder for benchmarks that write files; each rank makes its own there and removes it at the end. "
        "With several, each rank gets the next one.",
        multiple=True,
        callback=each_once,
    )
    peers: tuple[str, ...] = option(
        "--peer",
        "DIR",
        "Folder with programs of others, in it or in its bin, searched before PATH. Can be given several times.",
        multiple=True,
        callback=each_once,
    )
    full: bool = option(
        "--full", None, "After the study, solve the largest system that fits the memory, once, beyond the budget."
    )
    refine: int | None = option(
        "--refine",
        "ROUNDS",
        "Rounds that add sizes where curves have steps or go on; 0 for none.  [default: that of the study]",
        callback=_whole(0, 10),
    )
    confirm: bool = option(
        "--confirm", None, "After the study, run experiments that confirm or refute the candidate findings."
    )
    confirm_budget: str | None = option(
        "--confirm-budget",
        "DURATION",
        "Time for these experiments, in addition to the budget of the study; implies --confirm.  "
        "[default: that of the study, else 5m]",
    )
    nodes: tuple[str, ...] = option("--hosts", "NODES", HOSTS, callback=read)
    hostfile: str | None = option(*_HOSTFILE)
    launcher: str | None = option(*_LAUNCHER)
    ssh_config: str | None = option(*_SSH)


@dataclass(frozen=True)
class JobOptions:
    """The options of the job, as they were typed; None or empty where an option is not given."""

    count: int | None = option(("-N", "--nodes"), "N", "Number of nodes.  [default: 1]", type=click.IntRange(1))
    queue: str | None = option(("-p", "--partition"), "NAME", "Partition or queue.")
    time: str | None = option(
        ("-t", "--time"),
        "TIME",
        "Time limit: 30m, 2h, 1:30:00; less a reserve it is the budget of the run.  [default: by the plan]",
    )
    account: str | None = option(("-A", "--account"), "NAME", "Account to charge.")
    cpus: int | None = option("--cpus-per-node", "N", "Cpus of each node, for PBS.", type=click.IntRange(1))
    words: tuple[str, ...] = option(
        "--scheduler-option", "WORD", "A further option of the scheduler, passed on unchanged.", multiple=True
    )
    prologue: tuple[str, ...] = option(
        "--prologue",
        "LINE",
        "A line of bash that the job runs first: 'module load gcc openmpi'. Can be given several times.",
        multiple=True,
    )
    scheduler: str | None = option("--scheduler", "NAME", "slurm, pbs or flux.  [default: the installed one]")
