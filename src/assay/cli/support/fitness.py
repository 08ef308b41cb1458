"""The doctor for several nodes: what prevents measuring on them, and between them."""

from collections.abc import Mapping, Sequence

import msgspec

from assay import launch, toolchain
from assay import plan as planning
from assay.cli.support import settings
from assay.cli.support.here import problems
from assay.cli.support.nodes import PATIENCE_S, ask, by_hand, wanted
from assay.cli.support.together import Between, try_launches
from assay.launch.command import Command, Layout
from assay.launch.starter import Starter
from assay.machine import cluster
from assay.machine.cluster import NodeReply, Requirements
from assay.model.errors import UnfitEnvironmentError
from assay.model.facts import CHECKS_SCHEMA, Check, Checks, Verdict
from assay.model.ranks_seen import PROGRAM
from assay.model.toolchain import SLURM_PMI, Build, Mpi
from assay.run.process import Processes


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


def _mpis(names: tuple[str, ...]) -> tuple[Mpi, ...]:
    """The requested MPIs, or the default one; empty if there is none."""
    declared = settings.table("mpi")
    try:
        return tuple(toolchain.get_mpi(name, declared) for name in names or ("",))
    except UnfitEnvironmentError:
        if names:
            raise
        return ()


def _builds(mpis: Sequence[Mpi]) -> list[Build]:
    """The builds in the cache: nothing is compiled for a check."""
    declared, tables = settings.table("toolchain"), settings.table("mpi")
    names = [toolchain.with_mpi("", mpi.name) for mpi in mpis] or [""]
    try:
        found = [toolchain.cached_build(toolchain.get(name, declared, tables)) for name in names]
    except UnfitEnvironmentError:
        return []
    return [build for build in found if build]


def _with_ports(wanted: Requirements, answers: Mapping[str, NodeReply]) -> Requirements:
    """A card that is named without its port becomes its first port, as in a run."""
    there = {name for answer in answers.values() if answer.node for name in answer.node.interfaces}
    return msgspec.structs.replace(wanted, networks=planning.with_ports(wanted.networks, there))


def _launching(mpi: Mpi, starter: Starter) -> Check:
    """Whether a launcher here can start programs of this MPI on nodes."""
    why = "the launcher of another MPI starts single ranks that do not find each other"
    verdict = _slurm(mpi, starter) if starter.site.scheduler == "slurm" else _own(mpi, starter)
    return verdict.check(f"launcher of {mpi.name}", why)


def _own(mpi: Mpi, starter: Starter) -> Verdict:
    """Check its own launcher, or that of the scheduler."""
    try:
        found = launch.select(Layout((starter.site.host,), ((),), mpi), starter.site)
    except UnfitEnvironmentError:
        remedy = "install it, or measure inside an allocation of Slurm"
        return Verdict("problem", "its mpiexec is not here", remedy)
    return Verdict("ok", mpi.launcher or found.name)


def _slurm(mpi: Mpi, starter: Starter) -> Verdict:
    """Check that Slurm supports the PMI of the MPI."""
    if starter.site.launcher not in {"", "srun"}:
        return _own(mpi, starter)
    try:
        outcome = Processes().execute(Command(("srun", "--mpi=list"), {}), PATIENCE_S)
    except UnfitEnvironmentError as error:
        return Verdict("problem", error.what, "module load slurm")
    supported = (outcome.stdout + outcome.stderr).decode(errors="replace").split()
    pmi = SLURM_PMI[mpi.kind]
    if not pmi or pmi in supported:
        return Verdict("ok", f"srun --mpi={pmi}" if pmi else "srun, as the site has it for HPE's MPI")
    remedy = f"--launcher {mpi.kind}" if mpi.launcher else f"ask the site for Slurm with {pmi}"
    return Verdict("problem", f"srun --mpi=list has no {pmi}", remedy)
