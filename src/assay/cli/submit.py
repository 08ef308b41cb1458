"""`assay submit`: one job of a batch scheduler for a whole study, or for the rest of a run."""

import click

from assay.cli.support import opened
from assay.cli.support.options import JobOptions, RunOptions, packed


@click.command()
@click.argument("study", required=False)
@packed("job", JobOptions)
@click.option("--resume", metavar="RUN", help="Continue a run on its own nodes.")
@opened.runs_option
@click.option("--dry-run", is_flag=True, help="Print the job script; submit nothing.")
@packed("options", RunOptions)
def command(  # noqa: PLR0913 (one parameter an option)
    study: str | None,
    resume: str | None,
    runs: str | None,
    *,
    dry_run: bool,
    job: JobOptions,
    options: RunOptions,
) -> None:
    """Submit one job that measures the whole STUDY on its nodes.

    This folder, the folder of runs and the cache of builds must be on a file system that the nodes share. Assay
    builds the programs now if this machine can, else in the job. The scheduler asks the job to end one minute
    before its time limit; the run keeps its launches, and another job continues it with --resume. Options of assay
    run are passed on.

    Prints the id of the job; assay status shows its state. Exit codes: 0 submitted; 2 wrong command line; 4 no
    scheduler, or it refuses the job.
    """
    from assay.cli.support.submitting import Asked, submit

    submit(study, resume, opened.folder_of(runs), Asked(job, options), dry=dry_run)
