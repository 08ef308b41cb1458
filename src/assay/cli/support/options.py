"""The options of a run, as one record: `assay run`, `plan` and `submit` share them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click

from assay.cli.support.hosts import hosts_option

#: Maximum launches of each case.
_MOST_LAUNCHES = 1000
#: Longer words are not repeated in a message.
_LONGEST = 100

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


@dataclass(frozen=True)
class RunOptions:
    """The options of a run, as they were typed; None or empty where an option is not given."""

    budget: str | None
    precision: str | None
    launches: int | None
    seed: int | None
    toolchains: tuple[str, ...]
    vary: tuple[str, ...]
    mpis: tuple[str, ...]
    blas: str | None
    networks: str | None
    messages: str
    values: tuple[str, ...]
    sweeps: tuple[str, ...]
    nic_node: str | None
    folders: tuple[str, ...]
    full: bool
    refine: int | None
    confirm: bool
    confirm_budget: str | None
    nodes: tuple[str, ...]
    hostfile: str | None
    launcher: str | None
    ssh_config: str | None


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


mpis_option = click.option(
    "--mpi",
    "mpis",
    metavar="NAME",
    multiple=True,
    callback=each_once,
    help="MPI of the MPI programs, by its name in assay list mpis; several become a factor.",
)
networks_option = click.option(
    "--network",
    "networks",
    metavar="NAME=DEVICE,...",
    help="Network between nodes, by interface or port: gbe=eth0,ib=mlx5_0:1. Several become a factor.",
)
_PLACE = (
    hosts_option,
    click.option("--hostfile", metavar="FILE", help="File with the nodes to measure, one per line."),
    click.option(
        "--launcher",
        metavar="NAME",
        help="Launcher of MPI programs: openmpi, mpich, intel, srun, flux, jsrun, pals.",
    ),
    click.option("--ssh-config", metavar="FILE", help="Configuration file for ssh to the nodes."),
)
_OPTIONS = (
    click.option(
        "--budget",
        metavar="DURATION",
        help="Time budget of the whole run: 60s, 5m, 1h. The run reports what it cuts.",
    ),
    click.option(
        "--precision", metavar="SHARE", help="Half-width to reach for the interval of a launch: 1% or 0.01."
    ),
    click.option(
        "--launches",
        metavar="N",
        callback=_whole(1, _MOST_LAUNCHES),
        help=f"Launches of each case, at most {_MOST_LAUNCHES}.",
    ),
    click.option(
        "--seed", metavar="N", callback=_whole(0, 2**63 - 1), help="Seed of the random order.  [default: random]"
    ),
    click.option(
        "--toolchain",
        "toolchains",
        metavar="NAME",
        multiple=True,
        callback=each_once,
        help="Toolchain of the programs; several become a factor.",
    ),
    click.option(
        "--vary",
        metavar="NAME[=A,B]",
        multiple=True,
        help="Vary this factor in the same blocks: memory=first-touch,interleave, toolchain=gcc,clang, "
        "flags='-O3|-O2', an axis, an environment variable (UCX_RNDV_THRESH=default,65536), or a factor of "
        "assay.toml. Several factors give all combinations.",
    ),
    mpis_option,
    click.option(
        "--blas",
        metavar="NAME,...",
        help="BLAS that programs load: its name in assay list blas, or a path of a library. Several become a "
        "factor.",
    ),
    networks_option,
    click.option(
        "-m",
        "--messages",
        metavar="FROM:TO",
        default="",
        help="Message sizes, instead of those of the study: 1:4M.",
    ),
    click.option(
        "--set",
        "values",
        metavar="AXIS=VALUE,...",
        multiple=True,
        help="Values of an axis, instead of those of the study: hpl.n=8192, nb=256. Can be given several times.",
    ),
    click.option(
        "--sweep",
        "sweeps",
        metavar="WHAT=NUMBERS",
        multiple=True,
        help="For scale:BENCHMARK: ranks=1,2,4,all (of a node), threads=1,2,4 (of a rank), nodes=1,2,all.",
    ),
    click.option(
        "--nic-node",
        metavar="N|NETWORK=N,...",
        help="NUMA node of the network card, if the machine does not report it; one for each network: ib=1,gbe=0.",
    ),
    click.option(
        "--folder",
        "folders",
        metavar="PATH",
        multiple=True,
        callback=each_once,
        help="Folder for benchmarks that write files; each rank makes its own there and removes it at the end. "
        "With several, each rank gets the next one.",
    ),
    click.option(
        "--full",
        is_flag=True,
        help="After the study, solve the largest system that fits the memory, once, beyond the budget.",
    ),
    click.option(
        "--refine",
        metavar="ROUNDS",
        callback=_whole(0, 10),
        help="Rounds that add sizes where curves have steps or go on; 0 for none.  [default: that of the study]",
    ),
    click.option(
        "--confirm",
        is_flag=True,
        help="After the study, run experiments that confirm or refute the candidate findings.",
    ),
    click.option(
        "--confirm-budget",
        metavar="DURATION",
        help="Time for these experiments, in addition to the budget of the study; implies --confirm.  "
        "[default: that of the study, else 5m]",
    ),
    *_PLACE,
)


def place_options(command: Command) -> Command:
    """Add the options of the place, for a command with `nodes`, `hostfile`, `launcher`, `ssh_config`."""
    for option in reversed(_PLACE):
        command = option(command)
    return command


def packed(name: str, record: type[Any], options: Sequence[Decorator]) -> Decorator:
    """A decorator that adds options to a command, which gets their values as one record.

    Args:
        name: parameter of the command that takes the record.
        record: a dataclass with a field for each option.
        options: in the order of the help.
    """
    names = [field.name for field in fields(record)]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(*arguments: object, **values: object) -> object:
            own = {each: values.pop(each) for each in names}
            return command(*arguments, **{name: record(**own)}, **values)

        made: Command = call
        for option in reversed(options):
            made = option(made)
        return made

    return decorate


#: The options of a run, for a command with a parameter `options`.
run_options = packed("options", RunOptions, _OPTIONS)


@dataclass(frozen=True)
class JobOptions:
    """The options of the job, as they were typed; None or empty where an option is not given."""

    count: int | None
    queue: str | None
    time: str | None
    account: str | None
    cpus: int | None
    words: tuple[str, ...]
    prologue: tuple[str, ...]
    scheduler: str | None


_OF_JOB = (
    click.option(
        "-N", "--nodes", "count", metavar="N", type=click.IntRange(1), help="Number of nodes.  [default: 1]"
    ),
    click.option("-p", "--partition", "queue", metavar="NAME", help="Partition or queue."),
    click.option(
        "-t",
        "--time",
        metavar="TIME",
        help="Time limit: 30m, 2h, 1:30:00; less a reserve it is the budget of the run.  [default: by the plan]",
    ),
    click.option("-A", "--account", metavar="NAME", help="Account to charge."),
    click.option(
        "--cpus-per-node", "cpus", metavar="N", type=click.IntRange(1), help="Cpus of each node, for PBS."
    ),
    click.option(
        "--scheduler-option",
        "words",
        metavar="WORD",
        multiple=True,
        help="A further option of the scheduler, passed on unchanged.",
    ),
    click.option(
        "--prologue",
        metavar="LINE",
        multiple=True,
        help="A line of bash that the job runs first: 'module load gcc openmpi'. Can be given several times.",
    ),
    click.option("--scheduler", metavar="NAME", help="slurm, pbs or flux.  [default: the installed one]"),
)


#: The options of the job, for a command with a parameter `job`.
job_options = packed("job", JobOptions, _OF_JOB)
