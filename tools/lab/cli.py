"""The command: up, down, enter, status, env."""

import argparse
import fcntl
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import machines, networks, programs, services
from .errors import LabError
from .layout import CONTROLLER, HEAD, MOST_NODES, NETWORKS, Lab, load

FOLDER = Path("/run/assay-lab")


def main(words: list[str] | None = None) -> int:
    """Run the requested command; return the exit code."""
    asked = parser().parse_args(words)
    try:
        code: int = asked.verb(asked)
    except LabError as error:
        say(f"{error}\nnext: {error.remedy}")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return code


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    whole = argparse.ArgumentParser(prog="tools/lab/lab", description="A cluster on one machine; see docs/lab.md.")
    whole.add_argument("--folder", type=Path, default=FOLDER, help="of its state (default: %(default)s)")
    verbs = whole.add_subparsers(required=True, metavar="VERB")
    verb = verbs.add_parser("up", help="make the lab")
    verb.add_argument("--nodes", type=int, default=2, help="how many (default: %(default)s)")
    verb.add_argument("--own-cpus", action="store_true", help="give each node a share of the cpus, and no other's")
    verb.set_defaults(verb=up)
    verbs.add_parser("down", help="remove the lab and all that runs in it").set_defaults(verb=down)
    verb = verbs.add_parser("enter", help="run a command in a node, or with the lab's settings here (head)")
    verb.add_argument("machine", help="node01, node02, ..., ctl or head")
    verb.add_argument("command", nargs=argparse.REMAINDER, help="a shell when not given")
    verb.set_defaults(verb=enter)
    verbs.add_parser("status", help="say what is there").set_defaults(verb=status)
    verbs.add_parser("env", help="print what a shell of this machine needs").set_defaults(verb=env)
    return whole


def up(asked: argparse.Namespace) -> int:
    """Make the lab; if anything fails, nothing of it remains."""
    programs.require()
    if not 1 <= asked.nodes <= MOST_NODES:
        raise LabError(f"a lab has 1 to {MOST_NODES} nodes, not {asked.nodes}", "tools/lab/lab up --nodes 2", 2)
    if asked.own_cpus and asked.nodes > (cpus := len(os.sched_getaffinity(0))):
        why = f"{cpus} cpus are too few for {asked.nodes} nodes with cpus of their own"
        raise LabError(why, f"tools/lab/lab up --own-cpus --nodes {cpus}", 2)
    folder: Path = asked.folder.resolve()
    with alone():
        if (folder / "lab.json").exists():
            return already(load(folder), asked)
        remove(folder)  # left by a killed `up`
        try:
            lab = make(folder, asked.nodes, shared_cpus=not asked.own_cpus)
        except BaseException:
            remove(folder)
            raise
    say(f"{lab.count} nodes are up; tools/lab/lab status shows them, tools/lab/lab down removes them")
    return 0


def already(lab: Lab, asked: argparse.Namespace) -> int:
    """Check an existing lab: it must be the requested one."""
    if (lab.count, lab.shared_cpus) != (asked.nodes, not asked.own_cpus):
        cpus = "shared cpus" if lab.shared_cpus else "cpus of their own"
        raise LabError(f"a lab of {lab.count} nodes with {cpus} is up in {lab.folder}", "tools/lab/lab down", 2)
    say(f"{lab.count} nodes are up already, in {lab.folder}")
    return 0


def make(folder: Path, count: int, *, shared_cpus: bool) -> Lab:
    """Make all of it: files, machines, networks, services."""
    lab = Lab(folder, networks.free_range(), count, shared_cpus)
    folder.mkdir(mode=0o755, parents=True)
    services.write_files(lab)
    for machine in lab.machines:
        machines.start(lab, machine)
    networks.connect(lab)
    for node in lab.nodes:
        services.start_sshd(lab, node)
    services.start_slurm(lab)
    lab.save()
    return lab


def down(asked: argparse.Namespace) -> int:
    """Remove the lab."""
    programs.require()
    with alone():
        remove(asked.folder.resolve())
    return 0


def remove(folder: Path) -> None:
    """End all processes, which also ends namespaces, links and mounts; then remove the folder."""
    machines.end(folder)
    networks.disconnect(folder)
    if folder.exists():
        shutil.rmtree(folder)


def enter(asked: argparse.Namespace) -> int:
    """Become the command, in a node."""
    lab = running(asked.folder)
    known = (*lab.nodes, CONTROLLER, HEAD)
    if asked.machine not in known:
        raise LabError(f"no machine {asked.machine} in this lab: {', '.join(known)}", "tools/lab/lab status", 2)
    command = asked.command or [os.environ.get("SHELL", "sh")]
    if asked.machine != HEAD:
        command = [*machines.inside_here(lab, asked.machine, machines.first_process(lab, asked.machine)), *command]
    os.environ.update(lab.environment())
    try:
        os.execvp(command[0], command)  # noqa: S606 (a shell would parse the words again)
    except OSError as error:
        raise LabError(f"{command[0]}: {error.strerror}", "tools/lab/lab enter --help", 2) from None


def status(asked: argparse.Namespace) -> int:
    """Print nodes, addresses and their state in Slurm."""
    lab = running(asked.folder)
    states = services.node_states(lab)
    for node in lab.nodes:
        addresses = "  ".join(f"{network.name} {lab.address(node, network)}" for network in NETWORKS)
        print(f"{node}  {addresses}  slurm {states.get(node, 'does not answer')}")
    heads = ", ".join(lab.head_link(network) for network in NETWORKS)
    print(f"this machine is `{HEAD}` to them, by {heads}\nssh -F {lab.ssh_config} {lab.nodes[0]}")
    return 0


def env(asked: argparse.Namespace) -> int:
    """Print lines for `eval`."""
    for name, value in running(asked.folder).environment().items():
        print(f"export {name}={shlex.quote(value)}")
    return 0


def running(folder: Path) -> Lab:
    """The lab; LabError if there is none."""
    programs.require()
    try:
        return load(folder.resolve())
    except FileNotFoundError:
        raise LabError(f"no lab is up in {folder}", "sudo make lab") from None


@contextmanager
def alone() -> Iterator[None]:
    """Only one lab is made or removed at a time: they share this machine's addresses and link names."""
    handle = os.open("/sys/class/net", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def say(text: str) -> None:
    """Print a message for the user."""
    print(f"lab: {text}", file=sys.stderr)
