"""The doctor for several nodes: it queries all of them at once and reports what prevents measuring."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from assay.cli import settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.launch.starter import Starter
    from assay.machine.cluster import NodeReply, Requirements
    from assay.machine.verdicts import Verdict
    from assay.model.check import Check, Checks
    from assay.model.toolchain import Build, Mpi

#: The consequence of a problem.
UNFIT = "nothing can be measured here yet"
#: Time limit for the answer of a node.
_PATIENCE_S = 60.0


def examine(
    hosts: Sequence[str], starter: Starter, mpis: tuple[str, ...], networks: Mapping[str, str]
) -> tuple[Checks, ...]:
    """The checks of this machine and of every node.

    Args:
        hosts: nodes.
        starter: reaches them.
        mpis: MPIs to check; empty: the default one.
        networks: name -> device that they must have.
    """
    from assay.cli.together import Between, try_launches
    from assay.machine import cluster
    from assay.model.check import CHECKS_SCHEMA, Checks
    from assay.model.ranks_seen import PROGRAM

    chosen = _mpis(mpis)
    builds = _builds(chosen)
    needed = wanted(hosts, chosen, builds, networks, starter)
    answers = ask(hosts, starter, needed)
    needed = _with_ports(needed, answers)
    found = cluster.examine(answers, needed, by_hand(starter))
    here = tuple(_launching(mpi, starter) for mpi in chosen)
    if len(hosts) > 1 and all(answer.node for answer in answers.values()):
        between = [
            Between(build, network, tuple(hosts))
            for build in builds
            for network in needed.networks.values() or ("",)
            if PROGRAM in build.programs
        ]
        here += try_launches(between, starter, lambda: any(map(problems, found.values())))
    by_host = {
        starter.site.host: here,
        **{host: checks for host, checks in found.items() if host != starter.site.host},
    }
    by_host[starter.site.host] += found.get(starter.site.host, ())
    return tuple(
        Checks(CHECKS_SCHEMA, host, all(one.state != "problem" for one in checks), checks)
        for host, checks in by_host.items()
        if checks
    )


def merged(all_checks: Sequence[Checks]) -> list[Check]:
    """The checks for a reader: equal checks of several nodes become one, which names the nodes."""
    import msgspec

    from assay.model import node_sets
    from assay.model.grouping import grouped

    every = [(checks.host, one) for checks in all_checks for one in checks.checks]
    order = list(dict.fromkeys(one.name for _, one in every))
    equal = grouped(every, lambda each: (each[1].name, each[1].state, each[1].found, each[1].remedy))
    found = []
    for (name, _state, _found, remedy), same in sorted(equal.items(), key=lambda each: order.index(each[0][0])):
        hosts = node_sets.folded(host for host, _ in same)
        own = _for(remedy, hosts, node_sets.expanded(hosts)[0])
        found.append(msgspec.structs.replace(same[0][1], name=f"{name} on {hosts}", remedy=own))
    return found


def require_fit(checks: Sequence[Check], unfit: str = UNFIT) -> None:
    """UnfitEnvironmentError, with the first remedy, if a check is a problem."""
    from assay.model.errors import UnfitEnvironmentError

    if found := problems(checks):
        why = "; ".join(f"{check.name}: {check.found}" for check in found)
        raise UnfitEnvironmentError(unfit, why=why, remedy=found[0].remedy)


def problems(checks: Sequence[Check]) -> list[Check]:
    """The checks that prevent measuring."""
    return [check for check in checks if check.state == "problem"]


def addressed(checks: Checks) -> Checks:
    """The checks of a node, with its name in their remedies."""
    import msgspec

    named = (
        msgspec.structs.replace(one, remedy=_for(one.remedy, checks.host, checks.host)) for one in checks.checks
    )
    return msgspec.structs.replace(checks, checks=tuple(named))


def _for(remedy: str, hosts: str, first: str) -> str:
    return remedy.replace("{hosts}", hosts).replace("{host}", first)


def _mpis(names: tuple[str, ...]) -> tuple[Mpi, ...]:
    """The requested MPIs, or the default one; empty if there is none."""
    from assay import toolchain
    from assay.model.errors import UnfitEnvironmentError

    declared = settings.table("mpi")
    try:
        return tuple(toolchain.get_mpi(name, declared) for name in names or ("",))
    except UnfitEnvironmentError:
        if names:
            raise
        return ()


def by_hand(starter: Starter) -> str:
    """The command that shows why a node cannot be reached."""
    config = ("-F", starter.site.ssh_config) if starter.site.ssh_config else ()
    return " ".join(("ssh", *config, "{host}", "true"))


def wanted(
    hosts: Sequence[str],
    mpis: Sequence[Mpi],
    builds: Sequence[Build],
    networks: Mapping[str, str],
    starter: Starter,
) -> Requirements:
    """The requirements of every node."""
    from assay import __version__
    from assay.machine.cluster import Requirements
    from assay.model.ranks_seen import PROGRAM

    named = " ".join(f"--mpi {mpi.name}" for mpi in mpis)
    by_ssh = starter.site.scheduler != "slurm"
    return Requirements(
        assay=f"assay, version {__version__}",
        sha256={path: build.sha256[name] for build in builds for name, path in build.programs.items()},
        mpis={
            build.programs[PROGRAM]: build.toolchain.mpi.name
            for build in builds
            if build.toolchain.mpi and PROGRAM in build.programs
        },
        launchers={mpi.launcher: mpi.name for mpi in mpis if mpi.launcher and by_ssh and len(hosts) > 1},
        networks=dict(networks),
        build=f"assay build {named} --deploy --hosts {{hosts}}".replace("  ", " "),
        cpus=_granted(starter),
        whole=f"salloc -N{len(hosts)} --exclusive" if not by_ssh else "",
    )


def _granted(starter: Starter) -> dict[str, int]:
    """Node -> cpus of a Slurm job; empty outside a job."""
    from assay.cli import site

    if starter.site.scheduler != "slurm":
        return {}
    job = site.allocated()
    return dict(zip(job.hosts, job.cpus, strict=False))


def _with_ports(wanted: Requirements, answers: Mapping[str, NodeReply]) -> Requirements:
    """A card that is named without its port becomes its first port, as in a run."""
    import msgspec

    from assay import plan as planning

    there = {name for answer in answers.values() if answer.node for name in answer.node.interfaces}
    return msgspec.structs.replace(wanted, networks=planning.with_ports(wanted.networks, there))


def _builds(mpis: Sequence[Mpi]) -> list[Build]:
    """The builds in the cache: nothing is compiled for a check."""
    from assay import toolchain
    from assay.model.errors import UnfitEnvironmentError

    declared, tables = settings.table("toolchain"), settings.table("mpi")
    names = [toolchain.with_mpi("", mpi.name) for mpi in mpis] or [""]
    try:
        found = [toolchain.cached_build(toolchain.get(name, declared, tables)) for name in names]
    except UnfitEnvironmentError:
        return []
    return [build for build in found if build]


def ask(hosts: Sequence[str], starter: Starter, wanted: Requirements) -> dict[str, NodeReply]:
    """The answer of every node."""
    from concurrent.futures import ThreadPoolExecutor

    from assay.launch.remote import AT_ONCE
    from assay.machine import node

    def one(host: str) -> NodeReply:
        others = [other for other in hosts if other != host]
        words = node.query_command(
            sys.executable, others, list(wanted.sha256), list(wanted.mpis), list(wanted.launchers)
        )
        return _answer(host, starter, words)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(hosts, pool.map(one, hosts), strict=True))


def _answer(host: str, starter: Starter, words: tuple[str, ...]) -> NodeReply:
    from assay.machine import node
    from assay.machine.cluster import NodeReply
    from assay.model.errors import UnfitEnvironmentError
    from assay.run.process import Processes

    began = time.time()
    try:
        outcome = Processes().execute(starter.on_host(host, words), _PATIENCE_S)
    except UnfitEnvironmentError as error:
        return NodeReply(None, error.why or error.what)
    ended = time.time()
    reported = node.read(outcome.stdout.decode(errors="replace"))
    if reported:
        return NodeReply(reported, "", (began, ended))
    silent = (
        "no answer in time" if outcome.exit_code is None else f"exit code {outcome.exit_code}, without a message"
    )
    return NodeReply(None, outcome.last_error_line or silent)


def _launching(mpi: Mpi, starter: Starter) -> Check:
    """Whether a launcher here can start programs of this MPI on nodes."""
    from assay.model.check import Check

    why = "the launcher of another MPI starts single ranks that do not find each other"
    verdict = _slurm(mpi, starter) if starter.site.scheduler == "slurm" else _own(mpi, starter)
    return Check(f"launcher of {mpi.name}", verdict.state, verdict.found, why, verdict.remedy)


def _own(mpi: Mpi, starter: Starter) -> Verdict:
    """Check its own launcher, or that of the scheduler."""
    from assay import launch
    from assay.launch.command import Layout
    from assay.machine.verdicts import Verdict
    from assay.model.errors import UnfitEnvironmentError

    try:
        found = launch.select(Layout((starter.site.host,), ((),), mpi), starter.site)
    except UnfitEnvironmentError:
        remedy = "install it, or measure inside an allocation of Slurm"
        return Verdict("problem", "its mpiexec is not here", remedy)
    return Verdict("ok", mpi.launcher or found.name)


def _slurm(mpi: Mpi, starter: Starter) -> Verdict:
    """Check that Slurm supports the PMI of the MPI."""
    from assay.launch.command import Command
    from assay.machine.verdicts import Verdict
    from assay.model.errors import UnfitEnvironmentError
    from assay.model.toolchain import SLURM_PMI
    from assay.run.process import Processes

    if starter.site.launcher not in {"", "srun"}:
        return _own(mpi, starter)
    try:
        outcome = Processes().execute(Command(("srun", "--mpi=list"), {}), _PATIENCE_S)
    except UnfitEnvironmentError as error:
        return Verdict("problem", error.what, "module load slurm")
    supported = (outcome.stdout + outcome.stderr).decode(errors="replace").split()
    pmi = SLURM_PMI[mpi.kind]
    if not pmi or pmi in supported:
        return Verdict("ok", f"srun --mpi={pmi}" if pmi else "srun, as the site has it for HPE's MPI")
    remedy = f"--launcher {mpi.kind}" if mpi.launcher else f"ask the site for Slurm with {pmi}"
    return Verdict("problem", f"srun --mpi=list has no {pmi}", remedy)
