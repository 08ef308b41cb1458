"""The lab is a cluster: nodes with names, files and networks of their own, and a scheduler."""

import re

import pytest
from tests.cluster.lab_cluster import Lab, tool

pytestmark = pytest.mark.cluster

#: Sends, or receives, bytes over one connection. The last word comes back when all has arrived: the rate is no
#: buffer's. The receiver says the port that it got.
RECEIVER = """
import socket
server = socket.create_server(("", 0))
print(server.getsockname()[1], flush=True)
connection, _peer = server.accept()
while connection.recv(1 << 20):
    pass
connection.sendall(b"all")
"""
SENDER = """
import socket, sys, time
host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
connection = socket.create_connection((host, port), 10)
connection.settimeout(50)
piece = bytes(1 << 16)
began = time.perf_counter()
for _ in range(count // len(piece)):
    connection.sendall(piece)
connection.shutdown(socket.SHUT_WR)
connection.recv(3)
print(count / (time.perf_counter() - began))
"""


def rate(lab: Lab, network: str, count: int) -> float:
    """Bytes a second from node01 to node02."""
    receiver = lab.start("node02", ["python3", "-c", RECEIVER])
    assert receiver.stdout
    port = receiver.stdout.readline().strip()
    result = lab.output("node01", "python3", "-c", SENDER, f"node02-{network}", port, str(count))
    receiver.communicate()
    return float(result)


def test_ssh_reaches_every_node_under_each_of_its_names_with_the_lab_s_own_key(lab: Lab) -> None:
    for name in ("node01", "node01-fast", "node01-gbe", "node01-fe", "node02"):
        assert lab.output("head", "ssh", "-F", lab.ssh_config, name, "hostname").split() == [
            name.partition("-")[0]
        ]
    assert lab.output("node01", "ssh", "node02", "hostname").split() == ["node02"]
    assert (lab.folder / "ssh" / "key").stat().st_mode & 0o077 == 0


def test_every_node_has_files_of_its_own_where_programs_leave_traces(lab: Lab) -> None:
    for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run"):  # noqa: S108 (that they are private is what is asked)
        lab.output("node01", "touch", f"{folder}/mine")
        for machine in ("node02", "head"):
            assert lab.run(machine, ["test", "-e", f"{folder}/mine"]).returncode == 1
        lab.output("node01", "rm", f"{folder}/mine")
    (lab.shared / "ours").touch()
    assert lab.output("node01", "ls", lab.shared) == lab.output("node02", "ls", lab.shared)


def test_a_node_sees_its_own_interfaces_and_processes_only(lab: Lab) -> None:
    assert set(lab.bytes_sent("node01")) == {"lo", "fast0", "gbe0", "fe0"}
    sleeper = lab.start("node01", ["sleep", "61.5"])
    assert sleeper.poll() is None
    while lab.foreign_processes("node01") != ["sleep 61.5"]:
        assert sleeper.poll() is None
    assert lab.foreign_processes("node02") == []
    lab.output("node01", "pkill", "-f", "sleep 61.5")
    sleeper.communicate()
    assert lab.foreign_processes("node01") == []


def most(lab: Lab, network: str, size: int, wanted: float) -> float:
    """The largest rate of transfers, until one reaches what is wanted, of ten."""
    rates: list[float] = []
    while len(rates) < 10 and max(rates, default=0.0) <= wanted:
        rates.append(rate(lab, network, size))
    return max(rates)


@pytest.mark.long
def test_each_network_has_the_rate_of_its_name(lab: Lab) -> None:
    """No transfer is faster than the limit; other work slows some, so one of ten has to reach it."""
    gbe, fe = most(lab, "gbe", 60_000_000, 100e6), most(lab, "fe", 6_000_000, 10e6)
    assert 100e6 < gbe < 125e6
    assert 10e6 < fe < 12.5e6


@pytest.mark.long
def test_only_the_cpus_bound_the_network_without_a_rate(lab: Lab) -> None:
    """Other tests use them, too: for `make test-long`."""
    assert most(lab, "fast", 600_000_000, 375e6) > 3 * 125e6


def test_what_went_over_a_network_is_in_its_counters_and_in_no_other_s(lab: Lab) -> None:
    before = lab.bytes_sent("node01")
    rate(lab, "gbe", 10_000_000)
    sent = {name: count - before[name] for name, count in lab.bytes_sent("node01").items()}
    assert 10_000_000 < sent["gbe0"] < 11_000_000
    assert sent["fe0"] < 100_000
    assert sent["lo"] == 0


def test_slurm_runs_steps_and_jobs_from_here_and_from_a_node(lab: Lab) -> None:
    for machine in ("head", "node02"):
        assert sorted(lab.output(machine, "srun", "-Q", "-N2", "hostname").split()) == ["node01", "node02"]
    output = lab.shared / "job"
    lab.output("head", "sbatch", "--wait", "-N2", f"--output={output}", "--wrap", "srun -Q hostname")
    assert sorted(output.read_text().split()) == ["node01", "node02"]
    assert "DefaultTime=00:10:00" in lab.output("head", "scontrol", "show", "partition", "lab")


def test_a_cable_that_is_pulled_and_an_sshd_that_is_stopped_are_put_back(lab: Lab) -> None:
    asked = ["ssh", "-F", str(lab.ssh_config), "-o", "ConnectTimeout=1"]
    with lab.link_down("node02", "fast0"):
        assert lab.run("head", [*asked, "node02", "true"]).returncode == 255
        assert lab.run("head", [*asked, "node02-gbe", "true"]).returncode == 0
    assert lab.run("head", [*asked, "node02", "true"]).returncode == 0
    with lab.no_sshd("node02"):
        assert "Connection refused" in lab.run("head", [*asked, "node02", "true"]).stderr
    assert lab.run("head", [*asked, "node02", "true"]).returncode == 0


def test_the_shared_memory_of_one_node_can_be_full(lab: Lab) -> None:
    writing = ["dd", "if=/dev/zero", "of=/dev/shm/word", "bs=16", "count=1"]
    with lab.full_shm("node01"):
        assert "No space left" in lab.run("node01", writing).stderr
        assert lab.run("node02", writing).returncode == 0
    for node in lab.nodes:
        assert lab.output(node, "sh", "-c", "rm /dev/shm/word && ls /dev/shm") == ""


def test_a_second_up_says_that_the_lab_is_there_and_another_size_is_refused(lab: Lab) -> None:
    again = tool(lab.folder, "up")
    assert (again.returncode, again.stdout) == (0, "")
    assert f"2 nodes are up already, in {lab.folder}" in again.stderr
    larger = tool(lab.folder, "up", "--nodes", "3")
    assert larger.returncode == 2
    assert "a lab of 2 nodes with shared cpus is up" in larger.stderr
    assert "next: tools/lab/lab" in larger.stderr


def test_status_and_env_tell_what_a_shell_needs(lab: Lab) -> None:
    result = tool(lab.folder, "status").stdout
    assert re.search(rf"node02  fast {lab.addresses['node02']}  .* slurm idle", result)
    assert f"export SLURM_CONF={lab.slurm_conf}\n" in tool(lab.folder, "env").stdout


def test_a_shell_enters_a_node_as_tests_do(lab: Lab) -> None:
    asked = ("sh", "-c", "hostname; pwd; echo $SLURM_CONF")
    for machine in ("node01", "head"):
        assert tool(lab.folder, "enter", machine, *asked).stdout == lab.output(machine, *asked)


def test_a_machine_that_is_not_in_the_lab_is_named(lab: Lab) -> None:
    done = tool(lab.folder, "enter", "node09", "true")
    assert done.returncode == 2
    assert "no machine node09 in this lab: node01, node02, ctl, head" in done.stderr
    assert tool(lab.folder, "enter", "node01", "no-such-program").returncode == 127
    assert "no-such-program" in tool(lab.folder, "enter", "head", "no-such-program").stderr
