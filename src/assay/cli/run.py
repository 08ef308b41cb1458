"""`assay run`: plan, build, measure, analyse, report."""

import click

from assay.cli.support import opened, output
from assay.cli.support.options import RunOptions, packed


@click.command()
@click.argument("study", required=False)
@packed("options", RunOptions)
@click.option(
    "--resume",
    metavar="RUN",
    help="Continue a stopped run: its id, a prefix, or last. If a budget cut it, give a larger --budget for the "
    "whole run.",
)
@opened.runs_option
@output.fail_on_option
@click.option("--dry-run", is_flag=True, help="Print the exact commands; measure nothing.")
def command(  # noqa: PLR0913 (one parameter an option)
    study: str | None,
    resume: str | None,
    runs: str | None,
    fail_on: str | None,
    *,
    dry_run: bool,
    options: RunOptions,
) -> None:
    """Measure STUDY on this machine or on nodes, and explain the result.

    STUDY is the name of a stored study (see assay list studies), scale:BENCHMARK, like:REFERENCE, beside:NAME (an
    original program beside Assay), or the path of your own (.toml).
    Every launch is saved as soon as it ends. After Ctrl-C, SIGTERM, SIGHUP or a crash, continue with --resume
    last.

    The last line of the output is the path of the report. Exit codes: 0 all cases were measured; 1 a case or one
    of its launches failed; 3 there is a finding of the severity of --fail-on; 5 a case was not measured; 130
    interrupted by a signal.
    """
    from assay.cli.support import gate, running

    measured = running.run(study, resume, opened.folder_of(runs), options, dry=dry_run)
    if measured:
        gate.judge(*measured, fail_on)
