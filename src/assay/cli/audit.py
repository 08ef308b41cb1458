"""`assay audit`: the ranks that a user's own launch line starts, and what is wrong with it."""

from __future__ import annotations

import shlex
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.support import output, settings
from assay.model.errors import UnfitEnvironmentError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from assay.launch.command import Outcome
    from assay.machine.ranks import LaunchLine
    from assay.model.ranks_seen import RanksSeen
    from assay.model.toolchain import Mpi

#: Time limit; it is long because a scheduler may delay a launch.
_PATIENCE_S = 600.0
#: Seconds from the start of the last rank: ranks give up after 4 s; then the launcher gets SIGTERM, then SIGKILL.
_ANSWER_S, _GRACE_S = 4.5, 0.5
_SHOWN_RANKS = 16
_UNFIT = "this line does not start what it should"
#: Launchers of schedulers; others belong to an MPI.
_SCHEDULERS = {"srun", "flux", "jsrun", "aprun"}
#: Library that programs load -> family of the MPI.
_LIBRARIES = {
    "libmpi.so.40": "openmpi",
    "libmpi.so.80": "openmpi",
    "libmpich.so": "mpich",
    "/cray/pe/": "cray",  # HPE's: libmpi_gnu_91.so.12, libmpi_cray.so.12, and a libmpi.so.12
    "libmpi.so.12": "mpich",
}


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--mpi", "name", metavar="NAME", default="", help="MPI of the program.  [default: found by what it loads]"
)
@click.option("--json", "as_json", is_flag=True, help="Print every rank and every check as JSON.")
@click.argument("words", nargs=-1, required=True, metavar="-- LAUNCHER [OPTION]... [PROGRAM [ARGUMENT]...]")
def command(words: tuple[str, ...], name: str, *, as_json: bool) -> None:
    """Check a launch line: which ranks it starts, and how each is placed.

    Your line starts a small program of Assay instead of yours, in your environment. Within five seconds of the
    start of its ranks it reports which ranks there are, their cpus, threads and memory nodes, the path of
    messages, and the line that corrects what is wrong:

      assay audit -- srun -N2 -n8 ./app input

    Exit codes: 0 nothing is wrong; 4 the line does not start what it should.
    """
    from assay import toolchain
    from assay.cli.support.here import require_fit, show_checks
    from assay.launch.command import Command
    from assay.machine import ranks
    from assay.model.ranks_seen import PROGRAM, read_ranks
    from assay.run.process import Processes
    from assay.run.trial import Answering

    line = _line(words, name)
    chosen = toolchain.get(
        toolchain.with_mpi("", line.mpi.name), settings.table("toolchain"), settings.table("mpi")
    )
    build = toolchain.build(chosen, output.say, programs={PROGRAM})
    outcome = Processes(Answering(_ANSWER_S, time.monotonic).is_over).execute(
        Command((*line.words, *line.wrapper, build.programs[PROGRAM]), {"ASSAY_PARENT": ""}, _GRACE_S), _PATIENCE_S
    )
    seen = read_ranks(outcome.stdout)
    _require_ranks(seen, outcome, line)
    checks = ranks.examine(seen, line)
    if as_json:
        output.print_json({"schema": 1, "ranks": seen.ranks, "checks": checks})
    else:
        screen = output.console()
        _show_ranks(seen, screen)
        show_checks(checks, screen, "the line starts what it should", _UNFIT)
    require_fit(checks, _UNFIT)


def _line(words: tuple[str, ...], name: str) -> LaunchLine:
    """The parsed launch line: the launcher with its options, and the program.

    Raises:
        UsageError: there is no such launcher, or no such program.
    """
    from assay.importing.command import parse_command
    from assay.machine.ranks import LaunchLine

    if not shutil.which(words[0]):
        raise UsageError(f"there is no program '{words[0]}'", remedy="assay audit -- srun -n4 ./app")
    parsed = parse_command(shlex.join(words))
    first = max(0, parsed.launcher_at)
    # The value of an unknown option may be there: the program is the next word that can be executed.
    begins = max(len(words) - len(parsed.options) - 1, first + 1) if parsed.program else len(words)
    at = next((each for each in range(begins, len(words)) if shutil.which(words[each])), len(words))
    named = words[begins:] if parsed.launcher_at >= 0 else ()
    absent = next((word for word in words[begins:] if "/" in word), "".join(named[:1]))
    if absent and at == len(words):
        raise UsageError(
            f"there is no program '{absent}'",
            why="each rank of this line is to start it",
            remedy="build it, correct its path, or leave it out",
        )
    end = at if parsed.wrapper_at < 0 else parsed.wrapper_at
    mpi = _mpi(name, words[at] if at < len(words) else "")
    launcher = Path(words[first]).name
    kind = launcher if launcher in _SCHEDULERS else mpi.kind
    return LaunchLine(words[:end], words[at:], kind, mpi, words[end:at], first)


def _mpi(name: str, program: str) -> Mpi:
    """The named MPI, else the one that the program loads, else the default."""
    from assay import toolchain

    tables = settings.table("mpi")
    kind = "" if name or not program else _kind(program)
    there = {each.kind for each in toolchain.find_mpis(tables)} if kind else set()
    return toolchain.get_mpi(name or (kind if kind in there else ""), tables)


def _kind(program: str) -> str:
    """The family of the MPI that a program loads; empty if it loads no known one."""
    from assay.model.other_programs import output

    loaded = output(("ldd", shutil.which(program) or program), 10.0)
    return next((kind for library, kind in _LIBRARIES.items() if library in loaded), "")


def _require_ranks(seen: RanksSeen, outcome: Outcome, line: LaunchLine) -> None:
    """UnfitEnvironmentError with the error message if no rank has reported."""
    from assay.model.launch_errors import pick_cause
    from assay.run.causes import NO_PMI, cause_of
    from assay.run.records import describe_exit, program_message

    if seen.ranks:
        return
    if seen.stuck or (seen.began and outcome.exit_code is None):
        there = [f"{each.host} ({each.phase})" for each in seen.stuck] or [each.host for each in seen.began]
        raise UnfitEnvironmentError(
            f"{len(there)} ranks began and wait for the others: {', '.join(dict.fromkeys(there))}",
            why="MPI has not connected them in 4 s: a firewall, other networks, or ranks that are absent",
            remedy="assay doctor --hosts 'node[01-02]'",
        )
    message = program_message(outcome.stderr + seen.others)
    cause = cause_of(message)
    why = "; ".join(filter(None, (pick_cause(message) or describe_exit(outcome.exit_code), cause)))
    remedy = line.with_pmi() if cause == NO_PMI else ""
    what = "no rank reports itself" if seen.began else "no rank began"
    raise UnfitEnvironmentError(what, why=why, remedy=remedy or "assay list mpis")


def _show_ranks(seen: RanksSeen, console: Console) -> None:
    """Print a row for each rank, up to a maximum."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("rank", "host", "cpus", "cores", "OpenMP threads", "memory"):
        table.add_column(heading)
    for each in seen.ranks[:_SHOWN_RANKS]:
        threads = ", ".join(f"{count} on {cpus}" for cpus, count in each.threads.items())
        nodes = ",".join(each.page_nodes) or each.memory_nodes
        table.add_row(
            f"{each.rank} of {each.size}", each.host, each.cpus, f"{each.cores}", threads, f"node {nodes}"
        )
    console.print(table)
    if len(seen.ranks) > _SHOWN_RANKS:
        console.print(f"... and {len(seen.ranks) - _SHOWN_RANKS} more; all of them: --json")
    console.print()
