"""The options of the job of `assay submit`; all others are for the run in it."""

from dataclasses import dataclass

import click

from assay.cli.support.options import packed


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


_OPTIONS = (
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
job_options = packed("job", JobOptions, _OPTIONS)
