"""Daemons of the lab: sshd and slurmd of every node, slurmctld of the controller, munged of all."""

import secrets

from . import files
from .errors import LabError
from .layout import CONTROLLER, Lab
from .machines import inside, waiting
from .programs import call, path_of


def write_files(lab: Lab) -> None:
    """Everything in the state folder before the machines start."""
    for name in ("ssh", "slurm", "own", "shared"):
        (lab.folder / name).mkdir()
    for path, text in files.contents(lab).items():
        (lab.folder / path).write_text(text)
    for name in ("key", "host_key"):
        call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", str(lab.folder / "ssh" / name))
    public = (lab.folder / "ssh" / "host_key.pub").read_text()
    (lab.folder / "ssh" / "known_hosts").write_text(f"* {public}")
    key = lab.folder / "munge.key"
    key.touch(0o400)
    key.write_bytes(secrets.token_bytes(128))


def start_sshd(lab: Lab, node: str) -> None:
    """Let ssh in."""
    call(*inside(lab, node), path_of("sshd"), "-f", str(lab.folder / "ssh" / "sshd_config"))


def start_slurm(lab: Lab) -> None:
    """Start every daemon and wait until every node takes jobs."""
    for machine in lab.machines:
        start_munged(lab, machine)
    own = lab.own_seen_from_here(CONTROLLER)
    (own / "slurmctld").mkdir()
    call(*inside(lab, CONTROLLER), "slurmctld", "-f", str(lab.slurm_conf))
    for node in lab.nodes:
        start_slurmd(lab, node)
    for _ in waiting():
        states = node_states(lab)
        if set(states) == set(lab.nodes) and set(states.values()) == {"idle"}:
            return
    log = (own / "slurmctld.log").read_text().splitlines()
    raise LabError(f"Slurm is not ready: {states}\n" + "\n".join(log[-10:]), f"less {own}/slurmctld.log", 1)


def start_munged(lab: Lab, machine: str) -> None:
    """Let Slurm's programs on a machine authenticate; the controller's munged also serves this machine."""
    own = lab.own_seen_from_here(machine)
    (own / "munge").mkdir()
    options = [f"--{name}={lab.own}/munge/{name.split('-')[0]}" for name in ("socket", "pid-file", "log-file")]
    options += [f"--key-file={lab.folder}/munge.key", f"--seed-file={lab.own}/munge/seed"]
    call(*inside(lab, machine), "munged", "--force", *options)


def start_slurmd(lab: Lab, node: str) -> None:
    """Let a node take jobs."""
    own = lab.own_seen_from_here(node)
    for name in ("slurmd", "pmix"):
        (own / name).mkdir(exist_ok=True)
    call(*inside(lab, node), "slurmd", "-f", str(lab.slurm_conf))


def node_states(lab: Lab) -> dict[str, str]:
    """Node -> its state in Slurm; empty while slurmctld does not answer."""
    try:
        told = call("sinfo", "--Node", "--noheader", "--format=%N %T", variables=lab.environment())
    except LabError:
        return {}
    return dict(line.split() for line in told.splitlines())
