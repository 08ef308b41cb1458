"""Checks of several nodes: all of them are queried at once, and their answers are merged for a reader."""

import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from assay import __version__
from assay.cli.support import site
from assay.launch.remote import AT_ONCE
from assay.launch.starter import Starter
from assay.machine import node
from assay.machine.cluster import NodeReply, Requirements
from assay.model import node_sets
from assay.model.errors import UnfitEnvironmentError
from assay.model.facts import Check, Checks
from assay.model.grouping import grouped
from assay.model.ranks_seen import PROGRAM
from assay.model.toolchain import Build, Mpi
from assay.run.process import Processes

#: Time limit for the answer of a node.
PATIENCE_S = 60.0


def merged(all_checks: Sequence[Checks]) -> list[Check]:
    """The checks for a reader: equal checks of several nodes become one, which names the nodes."""
    every = [(checks.host, one) for checks in all_checks for one in checks.checks]
    order = list(dict.fromkeys(one.name for _, one in every))
    equal = grouped(every, lambda each: (each[1].name, each[1].state, each[1].found, each[1].remedy))
    found = []
    for (name, _state, _found, remedy), same in sorted(equal.items(), key=lambda each: order.index(each[0][0])):
        hosts = node_sets.folded(host for host, _ in same)
        own = _for(remedy, hosts, node_sets.expanded(hosts)[0])
        found.append(msgspec.structs.replace(same[0][1], name=f"{name} on {hosts}", remedy=own))
    return found


def addressed(checks: Checks) -> Checks:
    """The checks of a node, with its name in their remedies."""
    named = (
        msgspec.structs.replace(one, remedy=_for(one.remedy, checks.host, checks.host)) for one in checks.checks
    )
    return msgspec.structs.replace(checks, checks=tuple(named))


def _for(remedy: str, hosts: str, first: str) -> str:
    return remedy.replace("{hosts}", hosts).replace("{host}", first)


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
    if starter.site.scheduler != "slurm":
        return {}
    job = site.allocated()
    return dict(zip(job.hosts, job.cpus, strict=False))


def ask(hosts: Sequence[str], starter: Starter, wanted: Requirements) -> dict[str, NodeReply]:
    """The answer of every node."""

    def one(host: str) -> NodeReply:
        others = [other for other in hosts if other != host]
        words = node.query_command(
            sys.executable, others, list(wanted.sha256), list(wanted.mpis), list(wanted.launchers)
        )
        return _answer(host, starter, words)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(hosts, pool.map(one, hosts), strict=True))


def _answer(host: str, starter: Starter, words: tuple[str, ...]) -> NodeReply:
    began = time.time()
    try:
        outcome = Processes().execute(starter.on_host(host, words), PATIENCE_S)
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
