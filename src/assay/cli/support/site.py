"""The place of a run: named hosts, an allocation, or this machine; and the facts of the hosts."""

import os
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from assay import launch, machine
from assay.cli.support import settings
from assay.cli.support.hosts import read
from assay.cli.support.output import say
from assay.launch.allocation import Allocation, allocation
from assay.launch.command import Site
from assay.launch.remote import AT_ONCE, doctor_command
from assay.launch.starter import Starter
from assay.machine import files, given, job_limits
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.job import JOB_VARIABLE
from assay.model.machine import Machine
from assay.model.node_sets import folded
from assay.model.other_programs import output
from assay.model.units import count_of

#: Host -> its facts, and hwloc's XML if there is one.
Machines = dict[str, tuple[Machine, str]]
#: The same for one host, or why there are none.
_Answer = tuple[Machine, str] | str

#: Time limit for a node to report its facts.
_PATIENCE_S = 60.0

#: Exit code of ssh if ssh itself fails.
_OF_SSH = 255

_LONGEST_FOLDER = 48


def find(launcher: str | None = None, ssh_config: str | None = None, run: str = "") -> Site:
    """The place where Assay runs: this machine, and the scheduler of the current allocation.

    Raises:
        UsageError: the configuration of ssh is not a file, or there is no such launcher.
    """
    if launcher:
        launch.get(launcher)
    if ssh_config and not os.path.isfile(ssh_config):  # noqa: PTH113 (a path as the user wrote it)
        raise UsageError(f"there is no file '{ssh_config}'", remedy="name the file that ssh -F would take")
    scheduler = allocated().scheduler
    return Site(
        host=os.uname().nodename,
        scheduler=scheduler,
        launcher=launcher or "",
        run=run,
        ssh_config=os.path.abspath(ssh_config) if ssh_config else "",  # noqa: PTH100
        sockets=_sockets(),
        root=os.geteuid() == 0,
        job=os.environ.get(JOB_VARIABLE, ""),
        task_starter=(shutil.which("pbs_tmrsh") or "") if scheduler == "pbs" else "",
    )


def other_machine(xml: str | None, synthetic: str | None, why: str) -> Machine | None:
    """A machine from a file or a description; None for a real one.

    Args:
        xml: file of hwloc's XML.
        synthetic: description.
        why: why there can be only one machine.

    Raises:
        UsageError: there are both, or the machine cannot be read.
    """
    if xml is not None and synthetic is not None:
        raise UsageError("--from and --synthetic describe two machines", why=why, remedy="give only one of them")
    if xml is not None:
        return machine.load_xml(xml)
    return None if synthetic is None else machine.synthetic(synthetic)


def allocated() -> Allocation:
    """The scheduler's allocation in which this process runs."""
    return allocation(os.environ, lambda path: files.text(Path(path)) or "", output, os.uname().nodename)


def _sockets() -> str:
    """A private folder for the connections that ssh keeps open; empty if it cannot be made."""
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"assay-ssh-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return ""
    private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    # The path of a socket may have 107 characters; ssh's name needs 41, and 17 more while it is made.
    return str(folder) if private and len(str(folder)) < _LONGEST_FOLDER else ""


def node_names(hosts: tuple[str, ...], hostfile: str | None) -> tuple[str, ...]:
    """The nodes that a user names, else those of the allocation; empty for this machine alone.

    Raises:
        UsageError: both options, an invalid node set, or a file that cannot be read.
        UnfitEnvironmentError: the scheduler does not report its nodes.
    """
    return named_nodes(hosts, hostfile) or _allocated_nodes()


def named_nodes(hosts: tuple[str, ...], hostfile: str | None) -> tuple[str, ...]:
    """The nodes that a user names; empty for none.

    Raises:
        UsageError: both options, an invalid node set, or a file that cannot be read.
    """
    if hostfile is None:
        return hosts
    if hosts:
        raise UsageError(
            "--hosts and --hostfile both name nodes", why="a run has one set", remedy="give only one of them"
        )
    try:
        lines = Path(hostfile).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read '{hostfile}'", why=str(error), remedy="--hosts 'node[01-02]'") from error
    return read(
        None, None, " ".join(line.split("#")[0].split()[0] for line in lines if line.split("#")[0].strip())
    )


def _allocated_nodes() -> tuple[str, ...]:
    found = allocated()
    if found.scheduler and not found.hosts:
        raise UnfitEnvironmentError(
            f"the nodes of job {found.job} are not known",
            why=f"{found.scheduler} gives no readable node list",
            remedy="name them: --hosts 'node[01-02]'",
        )
    return found.hosts


def machines(hosts: Sequence[str], starter: Starter) -> Machines:
    """The machine of every host, limited to the cpus of a job; a host without facts is assumed to equal another.

    Raises:
        UnfitEnvironmentError: some hosts cannot be reached (all are named), or none gives facts.
    """
    if not hosts or tuple(hosts) == (starter.site.host,):
        here = machine.discover()
        return _granted({here[0].host: here}, starter)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = dict(zip(hosts, pool.map(lambda host: _ask(host, starter), hosts), strict=True))
    reached = _reached(answers)
    known = {host: answer for host, answer in reached.items() if not isinstance(answer, str)}
    if not known:
        host, why = next(iter(reached.items()))
        raise UnfitEnvironmentError(
            f"node '{host}' gives no facts",
            why=str(why),
            remedy=doctor_command(hosts, starter.site),
        )
    first = next(iter(known))
    for host, why in ((host, answer) for host, answer in reached.items() if isinstance(answer, str)):
        say(f"{host} gives no facts ({why}); the plan assumes that it is like {first}")
    _tell_unlike(known, first)
    return _granted(known, starter)


def _granted(known: Machines, starter: Starter) -> Machines:
    """Hosts with the facts of the configuration, limited to the cpus of a job; a limit is printed."""
    configured = given.facts(settings.table("given"))
    known = {host: (given.with_given(each, configured), document) for host, (each, document) in known.items()}
    if not starter.site.scheduler:
        return known
    job = allocated()
    counted = dict(zip(job.hosts, job.cpus, strict=False))
    found = {
        host: (job_limits.limit_to_job(each, counted.get(host, 0)), document)
        for host, (each, document) in known.items()
    }
    partly = [host for host, (each, _) in found.items() if job_limits.is_restricted(each)]
    if partly:
        each = found[partly[0]][0].topology
        whole = sum(len(core.cpus) for core in each.cores)
        say(
            f"the job may use {len(each.allowed_cpus)} of {whole} cpus of {', '.join(partly)}; cases that "
            f"need more are left out{_wider(job)}"
        )
    return found


def _wider(job: Allocation) -> str:
    """How to get whole nodes; or that the job has them, because the rest is reserved."""
    if job.scheduler != "slurm":
        return ""
    if "OverSubscribe=NO" in output(("scontrol", "show", "job", "--oneliner", job.job)):
        return " (it has whole nodes: the rest is kept from all jobs)"
    return f"; next: salloc -N{len(job.hosts)} --exclusive"


def _reached(answers: dict[str, _Answer | UnfitEnvironmentError]) -> dict[str, _Answer]:
    """The answers; if hosts cannot be reached, an error with the names of all and the reason of the first."""
    lost = {host: each for host, each in answers.items() if isinstance(each, UnfitEnvironmentError)}
    if lost:
        first = next(iter(lost.values()))
        raise UnfitEnvironmentError(f"'{folded(lost)}' cannot be reached", why=first.why, remedy=first.remedy)
    return {host: each for host, each in answers.items() if not isinstance(each, UnfitEnvironmentError)}


def _ask(host: str, starter: Starter) -> _Answer | UnfitEnvironmentError:
    """Facts of a host by `assay discover` there, why there are none, or an error if it cannot be reached."""
    from assay.run.process import Processes

    if host == starter.site.host:
        return machine.discover()
    try:
        command = starter.on_host(host, (sys.executable, "-P", "-m", "assay", "discover", "--json"))
        outcome = Processes().execute(command, _PATIENCE_S)
    except UnfitEnvironmentError as error:
        return error.why or error.what
    if outcome.exit_code != 0:
        ended = "it did not answer in time" if outcome.exit_code is None else f"exit {outcome.exit_code}"
        why = outcome.last_error_line or ended
        if not starter.site.scheduler and outcome.exit_code in {None, _OF_SSH}:
            config = ("-F", starter.site.ssh_config) if starter.site.ssh_config else ()
            by_hand = shlex.join(("ssh", *config, host, "true"))
            remedy = f"{by_hand}   # then: {doctor_command((host,), starter.site)}"
            return UnfitEnvironmentError(f"'{host}' cannot be reached", why=why, remedy=remedy)
        return why
    try:
        found = msgspec.json.decode(outcome.stdout, type=Machine)
    except msgspec.MsgspecError as error:
        return f"its answer is invalid: {error}"
    return msgspec.structs.replace(found, host=host), ""


def _tell_unlike(known: Machines, first: str) -> None:
    """Print the nodes that differ from the first: each kind is planned by its own topology."""
    shape = _shape(known[first][0])
    for host, (other, _) in known.items():
        if _shape(other) != shape:
            differs = f"{_shape(other)} against {shape}"
            say(f"{host} differs from {first} ({differs}); each is placed by its own topology")


def _shape(machine: Machine) -> str:
    topology = machine.topology
    return f"{count_of(len(topology.cores), 'core')}, {count_of(len(topology.numa_nodes), 'memory node')}"
