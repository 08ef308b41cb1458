"""The lab of tools/lab for tests: commands in its machines, and faults that are undone."""

import json
import os
import re
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tools.lab import layout, machines

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "lab" / "lab"
PATIENCE_S = 60.0

#: Processes of every node, by the beginning of their command lines.
_DAEMONS = ("sleep infinity", "sshd: ", "munged ", "slurmd ", "ps ")


def tool(
    folder: Path, *words: str, patience_s: float = PATIENCE_S, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run tools/lab/lab for the lab in a folder, with these additional environment variables."""
    return _run([str(TOOL), "--folder", str(folder), *words], variables, patience_s)


@dataclass(frozen=True)
class Lab:
    """A lab that is up.

    Attributes:
        folder: of its state.
        nodes: their names.
        addresses: name, such as `node01`, `node01-gbe` or `head-fast` -> IPv4.
        first: machine -> its first process, of those that were entered.
    """

    folder: Path
    nodes: tuple[str, ...]
    addresses: Mapping[str, str]
    first: dict[str, int] = field(default_factory=dict)

    @property
    def ssh_config(self) -> Path:
        """The file for `ssh -F`."""
        return self.folder / "ssh" / "config"

    @property
    def slurm_conf(self) -> Path:
        """The value of SLURM_CONF; `run` sets it."""
        return self.folder / "slurm" / "slurm.conf"

    @property
    def shared(self) -> Path:
        """A folder that all nodes and this machine share; they do not share /tmp, /var/tmp, /run and /dev/shm."""
        return self.folder / "shared"

    def run(
        self,
        machine: str,
        argv: Sequence[str | Path],
        variables: Mapping[str, str] | None = None,
        patience_s: float = PATIENCE_S,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end in a node, in `ctl`, or as `head` on this machine; variables are added."""
        return _run(self.words(machine, argv), variables or {}, patience_s)

    def start(self, machine: str, argv: Sequence[str | Path]) -> subprocess.Popen[str]:
        """Start a command in a machine; the process becomes nsenter, whose child is the command."""
        return subprocess.Popen(
            self.words(machine, argv), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def words(self, machine: str, argv: Sequence[str | Path]) -> list[str]:
        """The command line, equal to that of `tools/lab/lab enter`, without a Python for each command."""
        lab = layout.load(self.folder)
        result = ["env", *(f"{name}={value}" for name, value in lab.environment().items()), *map(str, argv)]
        if machine == layout.HEAD:
            return result
        if machine not in self.first:
            self.first[machine] = machines.first_process(lab, machine)
        return [*machines.inside_here(lab, machine, self.first[machine]), *result]

    def output(self, machine: str, *argv: str | Path) -> str:
        """The stdout of a command; AssertionError with all output if it fails."""
        done = self.run(machine, argv)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def foreign_processes(self, node: str) -> list[str]:
        """Command lines of all processes of a node that the lab did not start."""
        lines = self.output(node, "ps", "-e", "-o", "stat=,args=").splitlines()
        living = [line.split(maxsplit=1)[1] for line in lines if not line.startswith("Z")]
        return [args for args in living if not args.startswith(_DAEMONS)]

    def bytes_sent(self, node: str) -> dict[str, int]:
        """Interface of a node -> bytes sent by it."""
        lines = self.output(node, "sh", "-c", "cd /sys/class/net && grep -H . */statistics/tx_bytes").splitlines()
        return {line.partition("/")[0]: int(line.rpartition(":")[2]) for line in lines}

    @contextmanager
    def link_down(self, node: str, *interfaces: str) -> Generator[None]:
        """A node with unplugged cables: fast0, gbe0, fe0, or the given ones."""
        chosen = interfaces or ("fast0", "gbe0", "fe0")
        for interface in chosen:
            self.output(node, "ip", "link", "set", interface, "down")
        try:
            yield
        finally:
            for interface in chosen:
                self.output(node, "ip", "link", "set", interface, "up")
            self._wait_for_slurm()

    def _wait_for_slurm(self) -> None:
        """Slurm gives up a node that does not answer for long, and takes it back after it answers again."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            states = self.output("head", "sinfo", "--noheader", "--Node", "--format=%T").split()
            if all(state.isalpha() and state != "down" for state in states):  # `idle*`: it does not answer
                return
            time.sleep(1)

    @contextmanager
    def impatient_slurm(self, seconds: int) -> Generator[None]:
        """Slurm gives up a node that does not answer for so long."""
        usual = self.slurm_conf.read_text()
        self._configure(re.sub(r"(?m)^SlurmdTimeout=.*", f"SlurmdTimeout={seconds}", usual))
        try:
            yield
        finally:
            self._configure(usual)

    def _configure(self, text: str) -> None:
        self.slurm_conf.write_text(text)
        self.output("head", "scontrol", "reconfigure")

    @contextmanager
    def no_new_connections(self, node: str, interface: str) -> Generator[None]:
        """A node that drops what comes by an interface between two ports of the system's choice, as firewalls do.

        Open MPI listens at ports from 1024 on, daemons at known ones: they connect as before.
        """
        chosen = f"dev {interface} ipproto tcp sport 32768-60999 dport 32768-60999"
        self.output(
            node, "sh", "-c", f"ip rule add pref 20 lookup local && ip rule add pref 10 {chosen} blackhole"
        )
        self.output(node, "ip", "rule", "del", "pref", "0")  # of this node's own addresses: it would come first
        try:
            yield
        finally:
            self.output(
                node, "sh", "-c", "ip rule add pref 0 lookup local; ip rule del pref 10; ip rule del pref 20"
            )

    @contextmanager
    def wrong_way(self, asked: str, taken: str) -> Generator[None]:
        """Nodes whose routes send what is for the addresses of one network by the interface of another."""
        routes = [
            (node, f"{self.addresses[f'{other}-{asked}']} dev {taken}0", self.addresses[f"{node}-{asked}"])
            for node in self.nodes
            for other in self.nodes
            if node != other
        ]
        for node, there, source in routes:
            self.output(node, "ip", "route", "add", *there.split(), "src", source)
        try:
            yield
        finally:
            for node, there, _ in routes:
                self.output(node, "ip", "route", "del", *there.split())

    @contextmanager
    def mtu(self, node: str, interface: str, size: int) -> Generator[None]:
        """A node whose interface takes packets of another size than those of the others."""
        before = self.output(node, "cat", f"/sys/class/net/{interface}/mtu").strip()
        self.output(node, "ip", "link", "set", interface, "mtu", str(size))
        try:
            yield
        finally:
            self.output(node, "ip", "link", "set", interface, "mtu", before)

    @contextmanager
    def jumbo_frames(self, network: str, size: int = 9000) -> Generator[None]:
        """A network whose nodes and ports of the switch all take packets of that size."""
        ports = [
            (machine, name)
            for node in self.nodes
            for machine, name in (("ctl", f"{node}-{network}"), (node, f"{network}0"))
        ]
        for machine, name in ports:
            self.output(machine, "ip", "link", "set", name, "mtu", str(size))
        try:
            yield
        finally:
            for machine, name in reversed(ports):
                self.output(machine, "ip", "link", "set", name, "mtu", "1500")

    @contextmanager
    def slow_port(self, node: str, network: str, rate: str) -> Generator[None]:
        """A port of the switch that passes less to a node than the node's own end shows; its network is shaped."""
        port = f"{node}-{network}"
        (usual,) = json.loads(self.output("ctl", "tc", "-j", "qdisc", "show", "dev", port))
        change = ("tc", "qdisc", "change", "dev", port, "root", "tbf", "latency", "20ms")
        burst = f"{usual['options']['burst']}b"
        self.output("ctl", *change, "burst", burst, "rate", rate)
        try:
            yield
        finally:
            self.output("ctl", *change, "burst", burst, "rate", f"{usual['options']['rate']}bps")

    @contextmanager
    def costly_frames(self, node: str, network: str, size: int) -> Generator[None]:
        """A port of the switch that takes as long for each frame to a node as for so many bytes more.

        The other nodes send frame by frame: else the kernel carries several as one, and the port counts that.
        """
        senders = [other for other in self.nodes if other != node]
        (usual,) = json.loads(self.output("ctl", "tc", "-j", "qdisc", "show", "dev", f"{node}-{network}"))
        rate, burst = usual["options"]["rate"], usual["options"]["burst"]
        shape = ("tbf", "latency", "20ms", "rate", f"{rate}bps", "burst", f"{burst}b")
        change = ("tc", "qdisc", "change", "dev", f"{node}-{network}", "root", "stab", "linklayer", "ethernet")
        for other in senders:
            self.output(other, "ip", "link", "set", f"{network}0", "gso_max_segs", "1")
        self.output("ctl", *change, "overhead", str(size), *shape)
        try:
            yield
        finally:
            self.output("ctl", *change, "overhead", "0", *shape)
            for other in senders:
                self.output(other, "ip", "link", "set", f"{network}0", "gso_max_segs", "65535")

    @contextmanager
    def large_buffers(self) -> Generator[None]:
        """Nodes whose TCP may buffer 32 MiB: the kernel fills the wire while processes wait for their turn."""
        names = ("net.ipv4.tcp_wmem", "net.ipv4.tcp_rmem")
        before = {
            (node, name): self.output(node, "sysctl", "-n", name).split() for node in self.nodes for name in names
        }
        for node, name in before:
            self.output(node, "sysctl", "-w", f"{name}=4096 4194304 33554432")
        try:
            yield
        finally:
            for (node, name), sizes in before.items():
                self.output(node, "sysctl", "-w", f"{name}={' '.join(sizes)}")

    @contextmanager
    def full_shm(self, node: str) -> Generator[None]:
        """A node with no byte left in /dev/shm."""
        self.run(node, ["dd", "if=/dev/zero", "of=/dev/shm/filled", "bs=1M"])
        try:
            yield
        finally:
            self.output(node, "sh", "-c", "rm /dev/shm/filled")

    @contextmanager
    def no_sshd(self, node: str) -> Generator[None]:
        """A node that refuses ssh; sessions that are open stay so."""
        told = f"{self.folder}/own/sshd.pid"  # sshd removes it when it has stopped listening
        gone = f"timeout 10 sh -c 'while [ -e {told} ]; do sleep .01; done'"
        self.output(node, "sh", "-c", f"kill $(cat {told}); {gone}")
        try:
            yield
        finally:
            self.output(node, "/usr/sbin/sshd", "-f", self.folder / "ssh" / "sshd_config")


def read(folder: Path) -> Lab:
    """The lab whose state is in a folder."""
    lines = [line.split() for line in (folder / "hosts").read_text().splitlines()]
    count = json.loads((folder / "lab.json").read_text())["count"]
    nodes = tuple(f"node{number:02}" for number in range(1, count + 1))
    return Lab(folder, nodes, {name: address for address, *names in lines for name in names})


def _run(words: list[str], variables: Mapping[str, str], patience_s: float) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run(
        words,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=patience_s,
    )
