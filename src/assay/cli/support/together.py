"""Tests before anything is measured between nodes: a launch over each network, and every program."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

import msgspec

from assay import plan as planning
from assay.cli.support import here, nodes, output
from assay.launch.command import Executor
from assay.launch.remote import AT_ONCE
from assay.launch.starter import Starter, network_of
from assay.machine import cluster
from assay.model.facts import CHECKS_SCHEMA, Check, Checks
from assay.model.plan import Plan
from assay.model.toolchain import Build
from assay.run import trial
from assay.run.process import Processes
from assay.run.trial import LONG, SHORT, Patience, Trial


class Between(NamedTuple):
    """A test launch: with the MPI of a build, over a network (its device), a rank on each host."""

    build: Build
    network: str
    hosts: tuple[str, ...]


def require_together(plan: Plan, builds: Mapping[str, Build], starter: Starter) -> None:
    """Test the nodes of a plan before its first launch between them; a plan for one node needs no test.

    Raises:
        UnfitEnvironmentError: a launch fails, or a node lacks a program; with the cause if nodes report it.
    """
    needed = planning.programs(plan)
    between: dict[tuple[str, str], Between] = {}
    for launch in plan.order:
        case = plan.case(launch.cases[0])
        if case.placement.passes_between_hosts:
            build, network = builds[launch.toolchain], network_of(plan, case)
            programs = {name: path for name, path in build.programs.items() if name in needed[launch.toolchain]}
            own = msgspec.structs.replace(build, programs=programs)
            between[launch.toolchain, network] = Between(own, network, case.placement.hosts)
    if not between:
        return
    hosts = tuple(dict.fromkeys(host for each in between.values() for host in each.hosts))
    own_builds = list({id(each.build): each.build for each in between.values()}.values())
    mpis = tuple({mpi.name: mpi for build in own_builds if (mpi := build.toolchain.mpi)}.values())
    wanted = nodes.wanted(hosts, mpis, own_builds, {}, starter)
    with ThreadPoolExecutor(1) as pool:
        answered = pool.submit(nodes.ask, hosts, starter, wanted)

        def found(*, failed: bool) -> list[Check]:
            """Problems of nodes; if launches succeed, only programs that were not tested may be missing."""
            answers = {host: answer for host, answer in answered.result().items() if failed or answer.node}
            needed = wanted if failed else msgspec.structs.replace(wanted, mpis={}, launchers={})
            by_host = cluster.examine(answers, needed, nodes.by_hand(starter))
            every = [Checks(CHECKS_SCHEMA, host, fit=False, checks=each) for host, each in by_host.items()]
            return here.problems(nodes.merged(every))

        @cache
        def lacking() -> bool:
            return bool(found(failed=False))

        tried = try_launches(
            list(between.values()),
            starter,
            lambda: bool(found(failed=True)),
            lambda: answered.done() and lacking(),
        )
        for each in tried:
            if each.state == "warning":  # the run will show its cause
                output.say(f"{each.name}: {each.found}; next: {each.remedy}")
        failed = here.problems(tried)
        here.require_fit(found(failed=bool(failed)) or failed)


def try_launches(
    between: Sequence[Between],
    starter: Starter,
    explained: Callable[[], bool],
    hopeless: Callable[[], bool] = lambda: False,
) -> tuple[Check, ...]:
    """A check for each test launch; one that waits is reported, and repeated with more time if unexplained.

    Args:
        between: test launches.
        starter: makes the commands.
        explained: whether a fault of a node is known, which a longer launch would have, too.
        hopeless: whether a node is known to lack a program, so that nothing can be measured in any case.
    """
    trials = _attempts(between, starter, SHORT, hopeless)
    for patience in (SHORT, LONG):
        failed = [at for at, trial in enumerate(trials) if trial.verdict.state == "problem"]
        if not failed or explained():
            break
        if broken := _broken(between[failed[0]], starter, patience):
            return broken
        waited = [at for at in failed if trials[at].waited] if patience is SHORT else []
        if not waited:
            break
        for verdict in (trials[at].verdict for at in waited):
            output.say(f"{verdict.found}; next: {verdict.remedy}; now trying with {LONG.launch_s:g} s")
        again = _attempts([between[at] for at in waited], starter, LONG, hopeless)
        for at, repeated in zip(waited, again, strict=True):
            trials[at] = repeated
    return tuple(map(_check, between, trials))


def _attempts(
    between: Sequence[Between], starter: Starter, patience: Patience, hopeless: Callable[[], bool]
) -> list[Trial]:
    """Make all test launches at once."""
    executor = Processes(lambda _printed: hopeless())
    with ThreadPoolExecutor(max(1, len(between))) as pool:
        return list(pool.map(lambda each: _attempt(each, each.hosts, starter, patience, executor), between))


def _attempt(
    each: Between, hosts: tuple[str, ...], starter: Starter, patience: Patience, executor: Executor
) -> Trial:
    return trial.attempt(each.build, hosts, each.network, starter, executor, patience)


def _broken(each: Between, starter: Starter, patience: Patience) -> tuple[Check, ...]:
    """Checks of hosts on which a single rank fails; not with a scheduler, which starts ranks in another way."""
    if starter.site.scheduler:
        return ()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        trials = pool.map(lambda host: _attempt(each, (host,), starter, patience, Processes()), each.hosts)
    return tuple(
        Check(f"{_mpi(each)} on {host}", "problem", trial.verdict.found, _WHY, trial.verdict.remedy)
        for host, trial in zip(each.hosts, trials, strict=True)
        if trial.verdict.state == "problem" and not trial.waited
    )


def _check(each: Between, trial: Trial) -> Check:
    over = f" over {each.network}" if each.network else ""
    verdict = trial.verdict
    return verdict.check(f"launch with {_mpi(each)}{over}", _WHY)


def _mpi(each: Between) -> str:
    return each.build.toolchain.mpi.name if each.build.toolchain.mpi else ""


_WHY = "all that passes messages between nodes is started so"
