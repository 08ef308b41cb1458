"""Processes that launches leave behind: find them by the run's id, and end them."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import NamedTuple

from assay.launch.command import Command, Executor, Outcome
from assay.launch.remote import AT_ONCE, doctor_command
from assay.launch.starter import Starter
from assay.launch.sweep import LIMIT_S
from assay.model.errors import UnfitEnvironmentError
from assay.model.plan import Case, Plan

_SHOWN = 200
_LOOK_LIMIT_S = 10.0
#: State of a process in proc(5) -> its meaning.
_STUCK = {
    "T": "is stopped (on a signal: kill -CONT goes on with it)",
    "t": "is stopped by a debugger",
    "D": "waits for a device or a file system",
    "Z": "has ended, and its launcher does not know",
}
#: Schedulers whose daemons reach the hosts; ssh may be refused there, which means nothing.
_OWN_DAEMONS = ("pbs", "flux", "lsf")


class Cleanup(NamedTuple):
    """The result of the search for processes that a failed launch left behind.

    Attributes:
        sentences: one for each host where something was left, or that could not be searched.
        unreached: host -> why it does not answer any more.
        down: those of them that the scheduler gave up.
    """

    sentences: tuple[str, ...] = ()
    unreached: Mapping[str, str] = MappingProxyType({})
    down: tuple[str, ...] = ()


def end_leftovers(cases: tuple[Case, ...], starter: Starter, executor: Executor) -> Cleanup:
    """End the processes that a launch of `cases` left behind."""
    found = _sweep(starter.sweep(_hosts(cases, starter)), executor)
    sentences = (_sentence(host, outcome) for host, outcome in found.items())
    unreached = {
        host: _last_output_line(outcome) for host, outcome in found.items() if _unreached(host, outcome, starter)
    }
    down = _down(tuple(unreached), starter, executor)
    # When a Slurm job loses a node, it ends, and all of its nodes become unreachable.
    lost = {host: why for host, why in unreached.items() if host in down} or unreached
    return Cleanup(tuple(f"assay: {sentence}" for sentence in sentences if sentence), lost, down)


def _down(unreached: tuple[str, ...], starter: Starter, executor: Executor) -> tuple[str, ...]:
    """The hosts that Slurm gave up; none if another scheduler is used."""
    if starter.site.scheduler != "slurm" or not unreached:
        return ()
    words = ("sinfo", "--noheader", "--Node", "--states=down", f"--nodes={','.join(unreached)}", "--format=%N")
    named = executor.execute(Command(words, {}), _LOOK_LIMIT_S).stdout.decode(errors="replace").split()
    return tuple(host for host in unreached if host in named)


def find_stuck(cases: tuple[Case, ...], starter: Starter, executor: Executor) -> str:
    """The rank that blocks a launch of `cases` at its time limit; empty if none differs from the others.

    Call it before anything of the launch is ended.
    """
    placed = cases[0].placement
    hosts = placed.hosts if placed.ranks else ()
    found = _sweep(starter.look(hosts), executor, _LOOK_LIMIT_S)
    for host, outcome in found.items():
        if outcome.exit_code != 0:
            return f"{host} does not answer ({_last_output_line(outcome)})"
    states = {host: _states(outcome) for host, outcome in found.items()}
    for host, ranks in states.items():
        for rank, state in ranks.items():
            if state in _STUCK:
                return f"rank {rank} on {host} {_STUCK[state]}"
    missing = {
        host: len(ranks) - len(states[host])
        for host, ranks in zip(placed.hosts, placed.host_ranks, strict=True)
        if host in states and 0 < len(states[host]) < len(ranks)
    }
    return next((f"{count} of the ranks on {host} have ended" for host, count in missing.items()), "")


def _states(outcome: Outcome) -> dict[str, str]:
    """Rank -> its state; a rank's children count as the rank itself."""
    lines = (line.split() for line in outcome.stdout.decode(errors="replace").splitlines())
    return {words[0]: words[1] for words in lines if len(words) == 2}  # noqa: PLR2004 (a rank and its state)


def require_clear(plan: Plan, starter: Starter, executor: Executor) -> None:
    """End what an earlier part of the run left behind on its hosts, because it would disturb measurements.

    Raises:
        UnfitEnvironmentError: a host cannot be reached, or something on it cannot be ended.
    """
    hosts = tuple(dict.fromkeys(host for case in plan.cases for host in _hosts((case,), starter)))
    for host, outcome in _sweep(starter.sweep(hosts), executor).items():
        unreached = _unreached(host, outcome, starter)
        own = host == starter.site.host
        if unreached or (outcome.exit_code != 0 and (own or _search_ran(outcome))):
            raise UnfitEnvironmentError(
                f"'{host}' cannot be reached" if unreached else f"'{host}' is not clear of this run's processes",
                why=_last_output_line(outcome),
                remedy=doctor_command((host,), starter.site),
            )


def _hosts(cases: tuple[Case, ...], starter: Starter) -> tuple[str, ...]:
    """Hosts where processes may remain: none if the program ends with this process, else all, and this one."""
    placed = cases[0].placement
    by_others = bool(placed.ranks) or not starter.is_local(cases)
    return tuple(dict.fromkeys((starter.site.host, *placed.hosts))) if by_others else ()


def _sweep(commands: Mapping[str, Command], executor: Executor, limit_s: float = LIMIT_S) -> dict[str, Outcome]:
    if not commands:
        return {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(
            zip(commands, pool.map(lambda one: executor.execute(one, limit_s), commands.values()), strict=True)
        )


def _unreached(host: str, outcome: Outcome, starter: Starter) -> bool:
    """Whether a host is lost. This host, and hosts where only ssh is refused, are not."""
    return host != starter.site.host and starter.site.scheduler not in _OWN_DAEMONS and not _search_ran(outcome)


def _search_ran(outcome: Outcome) -> bool:
    """Whether the search ran: it exits 0, or 1 with processes; all else comes from ssh, srun or the shell."""
    return outcome.exit_code == 0 or (outcome.exit_code == 1 and bool(outcome.stdout))


def _sentence(host: str, outcome: Outcome) -> str:
    if not _search_ran(outcome):
        return f"nobody could look for what is left on {host}: {_last_output_line(outcome)}"
    left = "; ".join(outcome.stdout.decode(errors="replace").splitlines())[:_SHOWN]
    if not left:
        return ""
    return f"ended on {host}: {left}" if outcome.exit_code == 0 else f"cannot be ended on {host}: {left}"


def _last_output_line(outcome: Outcome) -> str:
    lines = (outcome.stderr or outcome.stdout).decode(errors="replace").strip().splitlines()
    if lines:
        return lines[-1][:_SHOWN]
    return "no answer in time" if outcome.exit_code is None else "without a message"
