"""A lab that is removed, or that fails to be made, leaves nothing; one that cannot be made says why."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.cluster.lab_cluster import TOOL, Lab, read, tool

pytestmark = pytest.mark.cluster


@pytest.fixture
def folder(lab: Lab) -> Generator[Path]:
    """Of a lab beside the one that other tests use, which shows that there can be one."""
    chosen = lab.folder.with_name(f"{lab.folder.name}-other")
    yield chosen
    tool(chosen, "down")


def namespaces(folder: Path) -> set[str]:
    """Those of all processes whose first one says that it is of this lab."""
    return {str(link.readlink()) for process in ours(folder) for link in (process / "ns").iterdir()} - here()


def here() -> set[str]:
    """The namespaces of these tests."""
    return {str(link.readlink()) for link in Path("/proc/self/ns").iterdir()}


def ours(folder: Path) -> list[Path]:
    """Folders in /proc of the processes that the lab is known by."""
    return [entry for entry in processes() if f"LAB_FOLDER={folder}\0".encode() in content(entry / "environ")]


def inhabitants(kinds: set[str]) -> list[str]:
    """Command lines of the processes that live in any of these namespaces."""
    found = []
    for entry in processes():
        try:
            within = {str(link.readlink()) for link in (entry / "ns").iterdir()}
        except OSError:
            continue
        if within & kinds:
            found.append(content(entry / "cmdline").decode())
    return found


def processes() -> list[Path]:
    return list(Path("/proc").glob("[0-9]*"))


def content(path: Path) -> bytes:
    """Empty for a process that has just ended."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def traces(folder: Path) -> list[str]:
    """Lines with the folder, or with the addresses and links of its lab, in what this machine says of itself."""
    marks = [str(folder)]
    if (folder / "lab.json").exists():
        marks += [read(folder).addresses["head"].rsplit(".", 2)[0] + "."]
    listed = [
        ("ip", "-o", "address"),
        ("ip", "route"),
        ("ip", "-o", "link"),
        ("ip", "netns"),
        ("ps", "-eo", "args"),
    ]
    lines = [line for words in listed for line in subprocess.check_output(words, text=True).splitlines()]
    lines += Path("/proc/self/mountinfo").read_text().splitlines()
    return [line for line in lines if any(mark in line for mark in marks)]


def test_down_leaves_no_process_namespace_link_mount_or_folder(folder: Path) -> None:
    before = Path("/proc/self/mountinfo").read_text()
    assert tool(folder, "up", "--nodes", "3").returncode == 0
    other = read(folder)
    other.output("head", "sbatch", "-N3", "--output=/dev/null", "--wrap", "srun sleep 1000")
    orphan = "setsid sleep 1000 </dev/null >/dev/null 2>&1 &"
    other.output("head", "ssh", "-F", other.ssh_config, "node03", orphan)
    assert other.foreign_processes("node03").count("sleep 1000") >= 1
    made, mark = namespaces(folder), other.addresses["head"].rsplit(".", 2)[0] + "."
    assert len(made) >= 5 * 4  # net, uts, mnt, ipc and pid of three nodes and of the controller
    assert inhabitants(made)
    assert [line for line in traces(folder) if mark in line]

    assert tool(folder, "down").returncode == 0
    assert not folder.exists()
    assert inhabitants(made) == []
    assert traces(folder) == []
    assert mark not in subprocess.check_output(["ip", "-4", "address"], text=True)
    assert Path("/proc/self/mountinfo").read_text() == before
    assert tool(folder, "down").returncode == 0  # and nothing is no error


def test_labs_side_by_side_have_addresses_and_nodes_can_have_cpus_of_their_own(lab: Lab, folder: Path) -> None:
    assert tool(folder, "up", "--own-cpus").returncode == 0
    other = read(folder)
    cpus = [other.output("head", "ssh", "-F", other.ssh_config, node, "taskset -p $$") for node in other.nodes]
    masks = [int(said.split()[-1], 16) for said in cpus]
    assert all(masks)
    assert masks[0] & masks[1] == 0
    assert not set(other.addresses.values()) & set(lab.addresses.values()) - {"127.0.0.1"}
    assert other.output("head", "srun", "--nodelist=node01", "hostname").split() == ["node01"]
    assert lab.output("head", "ssh", "-F", lab.ssh_config, "node02", "hostname").split() == ["node02"]


def test_a_lab_that_fails_half_way_is_taken_down(folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "tc"
    broken.write_text("#!/bin/sh\necho 'no tbf in this kernel' >&2; exit 2\n")
    broken.chmod(0o755)
    done = tool(folder, "up", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert "no tbf in this kernel" in done.stderr
    assert "Traceback" not in done.stderr
    assert not folder.exists()
    assert ours(folder) == []
    assert traces(folder) == []


def test_what_an_up_that_was_killed_left_is_removed_by_the_next(folder: Path) -> None:
    killed = subprocess.Popen([TOOL, "--folder", folder, "up"], stderr=subprocess.DEVNULL)
    while not ours(folder):
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    left = {entry.name for entry in ours(folder)}
    assert left
    assert tool(folder, "up").returncode == 0
    assert not left & {entry.name for entry in ours(folder)}
    assert sorted(read(folder).output("head", "srun", "-Q", "-N2", "hostname").split()) == ["node01", "node02"]


def test_without_root_the_lab_says_so(tmp_path: Path) -> None:
    nobody = ["unshare", "--user", str(TOOL), "--folder", str(tmp_path / "lab"), "up"]
    done = subprocess.run(nobody, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert (
        done.stderr == "lab: the lab needs root: it makes namespaces and network interfaces\nnext: sudo make lab\n"
    )


def test_programs_that_are_missing_are_named_with_the_line_that_installs_them(tmp_path: Path) -> None:
    (tmp_path / "python3").symlink_to(sys.executable)
    done = tool(tmp_path / "lab", "up", PATH=str(tmp_path))
    assert done.returncode == 4
    assert "the lab needs unshare, nsenter" in done.stderr
    assert "next: sudo apt install " in done.stderr
    assert {"openssh-client", "slurm-wlm", "util-linux"} <= set(done.stderr.split())
    assert not (tmp_path / "lab").exists()


def test_a_number_of_nodes_that_makes_no_lab_is_refused(folder: Path) -> None:
    done = tool(folder, "up", "--nodes", "0")
    assert done.returncode == 2
    assert done.stderr == "lab: a lab has 1 to 99 nodes, not 0\nnext: tools/lab/lab up --nodes 2\n"
    done = tool(folder, "up", "--own-cpus", "--nodes", "99")
    assert done.returncode == (2 if len(os.sched_getaffinity(0)) < 99 else 0)


def test_where_no_lab_is_status_says_how_to_make_one(folder: Path) -> None:
    done = tool(folder, "status")
    assert done.returncode == 4
    assert done.stderr == f"lab: no lab is up in {folder}\nnext: sudo make lab\n"
