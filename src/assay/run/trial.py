"""A test launch of a rank on each node before anything is measured: do ranks connect, do messages pass?"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from assay.launch.command import Executor, Outcome
from assay.launch.starter import Starter
from assay.model.facts import Verdict
from assay.model.launch_errors import pick_cause
from assay.model.ranks_seen import PROGRAM, RanksSeen, count_begun, read_ranks
from assay.model.toolchain import Build
from assay.run.causes import NO_PMI, cause_of
from assay.run.records import describe_exit, program_message


class Patience(NamedTuple):
    """Time limits: for ranks that have begun, and for the whole launch."""

    ranks_s: int
    launch_s: float


#: Limits of the first attempt; and of a second one if the first was too short, because slowness is no fault.
SHORT, LONG = Patience(4, 6.0), Patience(25, 30.0)
#: Further seconds for each rank. An assumption, as in the engine.
_RANK_START_S = 0.1
_FIREWALL = "open the ports between the nodes (sudo nft list ruleset), or name a network: --network NAME=DEVICE"
_FRAMES = "compare the MTU of all interfaces and ports of switches on the way: assay doctor --hosts"
_MODULES = "install the same MPI at the same path on all nodes, or load its module there, in ~/.bashrc"
_PMI = "take a plugin that Slurm has (srun --mpi=list), or the MPI's own launcher: --launcher openmpi, mpich"


class Answering:
    """Whether the time of ranks is up, counted from when the last of them began.

    Args:
        seconds: their time.
        now: a clock that never goes back.
    """

    def __init__(self, seconds: float, now: Callable[[], float]) -> None:
        self._seconds, self._now = seconds, now
        self._begun, self._since_s = 0, 0.0

    def is_over(self, printed: bytes) -> bool:
        """Whether the time is up for a launch with this output so far."""
        begun = count_begun(printed)
        if begun > self._begun:
            self._begun, self._since_s = begun, self._now()
        return begun > 0 and self._now() - self._since_s >= self._seconds


class Trial(NamedTuple):
    """The result of a test launch.

    Attributes:
        verdict: its verdict.
        waited: whether its time was up, so that a longer one may succeed.
    """

    verdict: Verdict
    waited: bool


def attempt(  # noqa: PLR0913, PLR0917 (what a launch is made of)
    build: Build, hosts: Sequence[str], network: str, starter: Starter, executor: Executor, patience: Patience
) -> Trial:
    """Test whether MPI ranks on these hosts pass messages over a network.

    Args:
        build: build with the program `audit`.
        hosts: hosts with a rank each; a single one is started without a launcher.
        network: device for messages; empty: the MPI chooses.
        starter: makes the command.
        executor: starts it.
        patience: its time limits.

    Raises:
        UnfitEnvironmentError: no launcher here can start it.
    """
    more_s = _RANK_START_S * len(hosts)
    command = starter.trial(build, tuple(hosts), network, patience.ranks_s + round(more_s))
    outcome = executor.execute(command, patience.launch_s + more_s)
    ranks = read_ranks(outcome.stdout)
    return Trial(judge(ranks, outcome, hosts, network), bool(ranks.stuck) or outcome.exit_code is None)


def judge(ranks: RanksSeen, outcome: Outcome, hosts: Sequence[str], network: str) -> Verdict:
    """The verdict on a launch of one rank on each host."""
    over = f" over {network}" if network else ""
    waiting = [*(each.host for each in ranks.stuck), *(each.host for each in ranks.began)]
    there = ", ".join(dict.fromkeys((*ranks.hosts, *waiting)))
    if alone := [each for each in ranks.ranks if each.size < len(hosts)]:
        found = f"{len(alone)} programs on {there}, each of which is rank 0 of {alone[0].size}"
        return Verdict("problem", found, _PMI)
    if paths := ", ".join(f"{each.host} to {each.partner}" for each in ranks.stuck if each.partner):
        return Verdict("warning", f"short messages pass{over}, one of 1 MiB does not ({paths})", _FRAMES)
    if ranks.stuck or (ranks.began and outcome.exit_code is None):
        return Verdict("problem", f"ranks on {there} wait for each other{over}", _FIREWALL)
    passed = len(hosts) == 1 or all(each.messages == "ok" for each in ranks.ranks)
    if len(ranks.ranks) == len(hosts) and passed:
        return Verdict("ok", f"{len(hosts)} ranks, messages pass{over}")
    if outcome.exit_code is None:
        return Verdict("problem", f"no rank began on {', '.join(hosts)}{over}", _FIREWALL)
    message = program_message(outcome.stderr + ranks.others)
    cause = cause_of(message)
    found = cause or pick_cause(message, PROGRAM) or describe_exit(outcome.exit_code)
    return Verdict("problem", found, _PMI if cause == NO_PMI else _MODULES)
