"""Whether nodes can be measured together: each fault is found on the node that has it, and on no other."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from assay.cli import assay
from assay.cli.support import fitness
from assay.cli.support.nodes import merged
from assay.launch.command import Site
from assay.launch.starter import Starter
from assay.machine import node
from assay.machine.cluster import NodeReply, Requirements, clock_offset_s, examine
from assay.machine.node import Interface, Node
from assay.model.errors import UnfitEnvironmentError
from assay.model.facts import Check, Checks

WANTED = Requirements(
    assay="assay, version 1",
    sha256={"/cache/pt2pt": "aa", "/cache/stream": "bb"},
    mpis={"/cache/pt2pt": "openmpi-5"},
    launchers={"/opt/mpiexec": "openmpi-5"},
    build="assay build --mpi openmpi-5 --deploy --hosts {hosts}",
)
SOUND = Node(
    host="n1",
    kernel="6.1",
    boot_id="one",
    cpus=(8, 8),
    lockable="unlimited",
    shm_bytes=2**30,
    clock_s=(100.1, 100.2),
    assay="assay, version 1",
    interfaces={"eth0": Interface(up=True, mtu=1500, rate=1000.0), "mlx5_0:1": Interface(up=True, rate=100.0)},
    transports={"mlx5_0:1": ("rc_mlx5", "ud_mlx5"), "eth0": ("tcp",)},
    verbs=("/dev/infiniband/uverbs0",),
    addresses={"n2": "10.0.0.2"},
    programs={"/cache/pt2pt": "aa", "/cache/stream": "bb"},
    starts=("/cache/pt2pt",),
    files=("/opt/mpiexec",),
)
OTHER = msgspec.structs.replace(SOUND, host="n2", boot_id="two", addresses={"n1": "10.0.0.1"})
ASKED = (100.0, 100.5)


def checks(second: Node | None, wanted: Requirements = WANTED, why: str = "") -> dict[str, dict[str, Check]]:
    """Host -> name -> check, of a sound node and a second one."""
    answers = {"n1": NodeReply(SOUND, "", ASKED), "n2": NodeReply(second, why, ASKED)}
    return {host: {one.name: one for one in found} for host, found in examine(answers, wanted).items()}


def test_nodes_without_fault_have_neither_warning_nor_problem() -> None:
    found = checks(OTHER)
    assert {one.state for each in found.values() for one in each.values()} == {"ok"}
    assert all(one.why and not one.remedy for each in found.values() for one in each.values())


FAULTS: list[tuple[str, str, dict[str, object], str, str]] = [
    ("clock", "warning", {"clock_s": (103.1, 103.2)}, "2.7 s ahead of this machine", "timedatectl"),
    ("clock", "warning", {"clock_s": (96.0, 96.2)}, "4.0 s behind this machine", "timedatectl"),
    ("kernel", "warning", {"kernel": "5.4"}, "5.4; n1 has 6.1", "boot the same kernel"),
    ("Assay", "warning", {"assay": "No module named assay"}, "No module named assay; here: ", "install it"),
    ("programs", "problem", {"programs": {"/cache/pt2pt": "aa"}}, "lacks stream", "--deploy --hosts {hosts}"),
    (
        "programs",
        "problem",
        {"programs": {"/cache/pt2pt": "aa", "/cache/stream": "old"}},
        "has another stream",
        "assay build",
    ),
    (
        "MPI",
        "problem",
        {"starts": (), "refuses": {"/cache/pt2pt": "libmpi.so.40: cannot open"}},
        "openmpi-5 does not start: libmpi.so.40",
        "LD_LIBRARY_PATH",
    ),
    ("launcher", "problem", {"files": ()}, "openmpi-5 has no /opt/mpiexec there", "same path"),
    ("lockable memory", "warning", {"lockable": "64"}, "64 KiB, with mlx5_0:1", "ulimit -l unlimited"),
    (
        "UCX",
        "warning",
        {"transports": {"eth0": ("tcp",), "memory": ("posix",)}},
        "UCX reaches mlx5_0:1 by posix, tcp alone: its part for RDMA (libuct_ib) is not there",
        "load an MPI whose UCX has it",
    ),
    (
        "UCX",
        "warning",
        {"transports": {"eth0": ("tcp",)}, "verbs": ()},
        "this user may not open /dev/infiniband/uverbs*",
        "--device /dev/infiniband",
    ),
    (
        "UCX",
        "warning",
        {"transports": {"eth0": ("tcp",), "mlx5_1:1": ("rc_mlx5",)}},
        "it cannot use this one",
        "on {host}: UCX_LOG_LEVEL=debug ucx_info -d",
    ),
    (
        "UCX",
        "warning",
        {"variables": {"UCX_TLS": "tcp,sm,self"}},
        "UCX_TLS=tcp,sm,self keeps UCX from mlx5_0:1",
        "unset it",
    ),
    (
        "UCX",
        "warning",
        {"variables": {"UCX_TLS": "rc_x,self", "UCX_NET_DEVICES": "eth0"}},
        "UCX_NET_DEVICES=eth0 keeps UCX from mlx5_0:1",
        "unset it",
    ),
    ("names", "warning", {"addresses": {"n1": ""}}, "does not know n1", "/etc/hosts"),
    ("names", "warning", {"addresses": {"n1": "127.0.1.1"}}, "takes n1 for itself (127.0.1.1)", "/etc/hosts"),
    ("shared memory", "problem", {"shm_bytes": 2**20}, "1 MiB free", "on {hosts}: ls -l /dev/shm"),
    ("shared memory", "warning", {"shm_bytes": 2**25}, "32 MiB free", "on {hosts}: ls -l /dev/shm"),
    ("other runs", "warning", {"processes": ((7, "r1", "pt2pt"), (8, "r1", "pt2pt"))}, "of r1", "kill 7 8"),
    (
        "MTU",
        "warning",
        {"interfaces": SOUND.interfaces | {"eth0": Interface(up=True, mtu=9000, rate=1000.0)}},
        "eth0 has 9000 B, on n1 1500",
        "on {hosts}: sudo ip link set eth0 mtu 1500",
    ),
    (
        "speed of links",
        "warning",
        {"interfaces": SOUND.interfaces | {"mlx5_0:1": Interface(up=True, rate=40.0)}},
        "mlx5_0:1 has 40, on n1 100",
        "ibstat",
    ),
]


@pytest.mark.parametrize(("name", "state", "changed", "found", "remedy"), FAULTS)
def test_a_fault_is_found_on_the_node_that_has_it(
    name: str, state: str, changed: dict[str, object], found: str, remedy: str
) -> None:
    told = checks(msgspec.structs.replace(OTHER, **changed))
    assert {one.state for one in told["n1"].values()} == {"ok"}
    assert [one.name for one in told["n2"].values() if one.state != "ok"] == [name]
    assert told["n2"][name].state == state
    assert found in told["n2"][name].found
    assert remedy in told["n2"][name].remedy


def test_an_interface_that_one_node_lacks_is_named() -> None:
    alone = msgspec.structs.replace(OTHER, interfaces={"eno1": SOUND.interfaces["eth0"]})
    told = checks(alone)["n2"]["interfaces"]
    assert (told.state, told.found) == ("warning", "no: eth0, mlx5_0:1; more: eno1, compared with n1")
    asked = msgspec.structs.replace(WANTED, networks={"gbe": "eth0"})
    told = checks(alone, asked)["n2"]["interfaces"]
    assert (told.state, told.found) == ("problem", "has no eth0; there are eno1")
    assert checks(OTHER, asked)["n2"]["interfaces"].found == "eth0"


def test_an_interface_that_is_asked_for_must_be_up() -> None:
    down = msgspec.structs.replace(OTHER, interfaces={"eth0": Interface(up=False, mtu=1500)})
    told = checks(down, msgspec.structs.replace(WANTED, networks={"gbe": "eth0"}))["n2"]["interfaces"]
    assert (told.state, told.found) == ("problem", "eth0 is down")


def test_little_lockable_memory_matters_only_beside_infiniband() -> None:
    bare = {"eth0": SOUND.interfaces["eth0"]}
    told = checks(msgspec.structs.replace(OTHER, lockable="64", interfaces=bare))["n2"]["lockable memory"]
    assert (told.state, told.found) == ("ok", "64 KiB")


def test_hosts_of_one_kernel_are_said_on_each_of_them() -> None:
    told = checks(msgspec.structs.replace(OTHER, boot_id="one"))
    assert {each["boot id"].found for each in told.values()} == {"one kernel: n1, n2"}


def test_a_node_that_does_not_answer_has_one_problem_and_its_reason() -> None:
    told = checks(None, why="Permission denied (publickey).")["n2"]
    assert list(told) == ["reached"]
    assert (told["reached"].state, told["reached"].found) == ("problem", "Permission denied (publickey).")


def test_what_cannot_be_known_is_no_fault() -> None:
    blank = msgspec.structs.replace(OTHER, shm_bytes=None, programs={}, starts=())
    told = checks(blank, Requirements(assay="assay, version 1"))["n2"]
    assert {name for name, one in told.items() if one.state == "unknown"} == {"programs", "MPI", "shared memory"}
    assert not [one for one in told.values() if one.state in {"warning", "problem"}]


def test_a_clock_is_wrong_only_where_the_way_to_the_node_cannot_explain_it() -> None:
    assert clock_offset_s((10.0, 11.0), (9.0, 12.0)) == 0
    assert clock_offset_s((13.0, 14.0), (9.0, 12.0)) == 2
    assert clock_offset_s((5.0, 6.0), (9.0, 12.0)) == -4


def test_what_several_nodes_say_alike_is_told_once() -> None:
    why = Check("reached", "problem", "no route to host", "why", "ssh {host} true")
    told = merged([Checks(1, host, fit=False, checks=(why,)) for host in ("n1", "n2", "n3", "login")])
    assert [(one.name, one.remedy) for one in told] == [("reached on login,n[1-3]", "ssh login true")]


@pytest.fixture
def ask(tmp_path: Path) -> Callable[[], Node]:
    """Ask this machine, for two programs that stand for those of an MPI."""
    for name, shell in (("good", "true"), ("bad", "echo 'libmpi.so: no such file' >&2; exit 127")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{shell}\n")
        (tmp_path / name).chmod(0o755)
    programs = [str(tmp_path / name) for name in ("good", "bad", "absent")]

    def told() -> Node:
        words = node.query_command(
            sys.executable, ["localhost", "no.such.host.invalid"], programs, programs[:2], programs
        )
        done = subprocess.run(["sh", "-c", shlex.join(words)], capture_output=True, text=True, check=False)
        found = node.read(done.stdout)
        assert found, done.stderr
        return found

    return told


def test_any_shell_tells_what_a_node_is(
    ask: Callable[[], Node], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assay.py").write_text("raise SystemExit('of the folder in which a shell begins')")
    monkeypatch.chdir(tmp_path)
    found = ask()
    assert found.host == os.uname().nodename
    assert found.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert found.assay.startswith("assay, version ")
    assert 0 <= found.clock_s[1] - found.clock_s[0] < 60
    assert found.addresses["localhost"]
    assert not found.addresses["no.such.host.invalid"]
    assert {Path(path).name for path in found.programs} == {"good", "bad"}
    assert {Path(path).name for path in found.files} == {"good", "bad"}
    assert found.starts == (str(tmp_path / "good"),)
    assert found.refuses == {str(tmp_path / "bad"): "libmpi.so: no such file"}
    assert set(found.interfaces) >= {path.name for path in Path("/sys/class/net").iterdir() if path.name == "eth0"}


UCX_INFO = """#
# Memory domain: mlx5_0
#      Component: ib
#             register: unlimited, cost: 16000 + 0.060 * N nsec
#
#      Transport: rc_mlx5
#         Device: mlx5_0:1
#           Type: network
#  System device: mlx5_0 (0)
#
#      Transport: ud_mlx5
#         Device: mlx5_0:1
#           Type: network
#
#      Transport: tcp
#         Device: eth0
#           Type: network
"""


def test_ucx_tells_the_transports_of_each_device(
    ask: Callable[[], Node], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As version 1.15 prints them."""
    (tmp_path / "ucx_info").write_text(f"#!/bin/sh\n[ $1 = -d ] && cat <<'END'\n{UCX_INFO}END\n")
    (tmp_path / "ucx_info").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("UCX_TLS", "^tcp")
    monkeypatch.delenv("UCX_NET_DEVICES", raising=False)
    assert ask().variables == {"UCX_TLS": "^tcp"}
    assert ask().transports == {"mlx5_0:1": ("rc_mlx5", "ud_mlx5"), "eth0": ("tcp",)}


def test_without_ports_or_ucx_nothing_is_wrong() -> None:
    bare = msgspec.structs.replace(OTHER, interfaces={"eth0": SOUND.interfaces["eth0"]}, transports={})
    assert checks(bare)["n2"]["UCX"].state == "ok"
    assert checks(msgspec.structs.replace(OTHER, transports={}))["n2"]["UCX"].state == "unknown"
    for name, value in (
        ("UCX_TLS", "^tcp"),
        ("UCX_TLS", "ib,sm"),
        ("UCX_NET_DEVICES", "mlx5_0:1"),
        ("UCX_TLS", "all"),
    ):
        allowed = msgspec.structs.replace(OTHER, variables={name: value})
        assert checks(allowed)["n2"]["UCX"].state == "ok"
    named = msgspec.structs.replace(WANTED, networks={"ib": "mlx5_0:1"})
    elsewhere = msgspec.structs.replace(OTHER, variables={"UCX_NET_DEVICES": "eth0"})
    assert checks(elsewhere, named)["n2"]["UCX"].state == "ok"


def test_processes_of_a_run_are_found_by_its_name(ask: Callable[[], Node]) -> None:
    run = f"run-of-a-test-{os.getpid()}"
    process = subprocess.Popen(["sleep", "60"], env=os.environ | {"ASSAY_RUN": run})
    try:
        mine = [one for one in ask().processes if one[1] == run]
    finally:
        process.kill()
        process.wait()
    assert mine == [(process.pid, run, "sleep 60")]
    assert not [one for one in ask().processes if one[1] == run]


def test_an_answer_that_breaks_off_is_none() -> None:
    assert node.read("start 1.0\nhost n1\n") is None
    assert node.read("") is None


def test_a_host_that_refuses_ends_the_command_with_exit_code_4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ssh").write_text(
        "#!/bin/sh\necho 'ssh: connect to host n1 port 22: Connection refused' >&2; exit 255\n"
    )
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr("assay.cli.support.fitness._mpis", lambda _names: ())
    result = CliRunner().invoke(assay, ["doctor", "--hosts", "n[1-2]"])
    assert isinstance(result.exception, UnfitEnvironmentError)
    assert result.exception.exit_code == 4
    assert "problem: reached on n[1-2]: ssh: connect to host n1 port 22: Connection refused" in result.stdout
    assert result.exception.remedy == "ssh n1 true"


def test_the_next_command_keeps_what_says_where_and_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ssh").write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    (tmp_path / "ssh").chmod(0o755)
    (tmp_path / "config").write_text("")
    (tmp_path / "nodes").write_text("n1\nn2\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.setattr("assay.cli.support.fitness._mpis", lambda _names: ())
    monkeypatch.setattr("assay.cli.support.fitness._builds", lambda _mpis: [])
    for where in (["--hosts", "n[1-2]"], ["--hostfile", str(tmp_path / "nodes")]):
        words = [*where, "--ssh-config", str(tmp_path / "config")]
        result = CliRunner().invoke(assay, ["doctor", *words])
        assert result.exit_code == 0, result.output
        # What is typed next can be read by the command that it names.
        (_, _, following) = result.stdout.rstrip().rpartition("next: ")
        assert sorted(shlex.split(following)) == sorted(["assay", "run", "network", *words])


def test_a_card_that_is_asked_for_without_its_port_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitness, "_mpis", lambda _names: ())
    monkeypatch.setattr(fitness, "_builds", lambda _mpis: [])
    monkeypatch.setattr(
        fitness, "ask", lambda *_: {"n1": NodeReply(SOUND, "", ASKED), "n2": NodeReply(OTHER, "", ASKED)}
    )
    told = fitness.examine(("n1", "n2"), Starter(Site("login")), (), {"ib": "mlx5_0"})
    found = {checks.host: {one.name: one for one in checks.checks} for checks in told}
    assert found["n2"]["interfaces"].found == "mlx5_0:1"


def test_cpus_that_a_job_has_not_are_told_with_the_command_for_whole_nodes() -> None:
    job = msgspec.structs.replace(WANTED, cpus={"n1": 8, "n2": 1}, whole="salloc -N2 --exclusive")
    told = checks(OTHER, job)
    assert told["n1"]["cpus"].found == "all 8 may be used"
    assert (told["n2"]["cpus"].state, told["n2"]["cpus"].found) == ("warning", "1 of 8 may be used")
    assert told["n2"]["cpus"].remedy == "salloc -N2 --exclusive"
    kept = checks(msgspec.structs.replace(OTHER, cpus=(2, 8)))["n2"]["cpus"]
    assert (kept.state, kept.found) == ("warning", "2 of 8 may be used")


def test_a_node_tells_the_cpus_that_it_may_use() -> None:
    words = node.query_command(sys.executable, [], [], [], [])
    said = subprocess.run(["taskset", "-c", "0", *words], capture_output=True, text=True, check=True)
    told = node.read(said.stdout)
    assert told is not None
    assert told.cpus == (1, os.cpu_count())
