"""The files in a lab's state folder: pure texts."""

import os
import socket

from .layout import CONTROLLER, HEAD, NETWORKS, Lab, Network

FAST = NETWORKS[0]


def hosts(lab: Lab) -> str:
    """/etc/hosts of every machine: `node01` and `node01-fast` are one address, `node01-gbe` another."""
    lines = [
        f"{lab.address(machine, network)} {' '.join(names(machine, network))}\n"
        for machine in (HEAD, *lab.machines)
        for network in NETWORKS
    ]
    return "".join(("127.0.0.1 localhost\n", *lines))


def names(machine: str, network: Network) -> list[str]:
    """Names of an address; this machine also has the name that its own programs use."""
    short = [machine] if network is FAST else []
    return [*short, f"{machine}-{network.name}", *([socket.gethostname()] if short == [HEAD] else [])]


def ssh_config(lab: Lab) -> str:
    """The ssh client of every node and of this machine, which cannot resolve the names: with addresses."""
    blocks = [
        f"Host {' '.join(names(node, network))}\n    HostName {lab.address(node, network)}\n"
        for node in lab.nodes
        for network in NETWORKS
    ]
    return (
        "".join(blocks)
        + f"""
Host *
    User root
    IdentityFile {lab.folder}/ssh/key
    IdentitiesOnly yes
    UserKnownHostsFile {lab.folder}/ssh/known_hosts
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    BatchMode yes
    ConnectTimeout 5
    LogLevel ERROR
"""
    )


def sshd_config(lab: Lab) -> str:
    """The ssh server, the same in every node."""
    environment = " ".join(f"{name}={value}" for name, value in lab.environment().items())
    return f"""HostKey {lab.folder}/ssh/host_key
PidFile {lab.own}/sshd.pid
AuthorizedKeysFile {lab.folder}/ssh/key.pub
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PrintMotd no
MaxStartups 100
MaxSessions 100
SetEnv {environment}
Subsystem sftp internal-sftp
"""


def slurm_conf(lab: Lab) -> str:
    """One partition of all nodes, each with all cpus of this machine; control groups are not used."""
    nodes = "\n".join(
        f"NodeName={node} NodeAddr={lab.address(node, FAST)} CPUs={os.cpu_count()} State=UNKNOWN"
        for node in lab.nodes
    )
    return f"""ClusterName=lab
SlurmctldHost={CONTROLLER}({lab.address(CONTROLLER, FAST)})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={lab.own}/munge/socket
CredType=cred/munge
StateSaveLocation={lab.own}/slurmctld
SlurmdSpoolDir={lab.own}/slurmd
SlurmctldPidFile={lab.own}/slurmctld.pid
SlurmdPidFile={lab.own}/slurmd.pid
SlurmctldLogFile={lab.own}/slurmctld.log
SlurmdLogFile={lab.own}/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=2
MpiDefault=none
ReturnToService=2
SlurmdTimeout=300
KillWait=5
{nodes}
PartitionName=lab Nodes=ALL Default=YES DefaultTime=10 MaxTime=60 State=UP
"""


def mpi_conf(lab: Lab) -> str:
    """Where Slurm's PMIx puts its sockets: next to the other files of a node."""
    return f"PMIxCliTmpDirBase={lab.own}/pmix\n"


def contents(lab: Lab) -> dict[str, str]:
    """Path below the state folder -> text."""
    return {
        "hosts": hosts(lab),
        "ssh/config": ssh_config(lab),
        "ssh/sshd_config": sshd_config(lab),
        "slurm/slurm.conf": slurm_conf(lab),
        "slurm/mpi.conf": mpi_conf(lab),
    }
