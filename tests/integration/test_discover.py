"""Discovery of the machine that the tests run on, against what other programs and the kernel say of it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay import machine
from assay.machine import hwloc, kernel
from assay.model.machine import Machine, Topology

MACHINES = Path(__file__).parents[1] / "machines"
needs_hwloc = pytest.mark.skipif(hwloc.library() is None, reason="libhwloc is not installed")
ASSAY = (sys.executable, "-c", "from assay.cli import main; main()", "discover")


def discover(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*ASSAY, *arguments], capture_output=True, text=True, check=False, env=os.environ | environment
    )


def without_sizes_of_memory(topology: Topology) -> Topology:
    """The kernel may still be bringing memory up between two readings."""
    nodes = tuple(msgspec.structs.replace(node, memory_bytes=0) for node in topology.numa_nodes)
    return msgspec.structs.replace(topology, numa_nodes=nodes)


def test_the_cpus_that_may_be_used_are_those_of_the_affinity_mask() -> None:
    assert set(machine.discover()[0].topology.allowed_cpus) == os.sched_getaffinity(0)


def test_a_narrower_affinity_mask_is_seen_and_the_other_cores_stay_in_sight() -> None:
    mask = os.sched_getaffinity(0)
    cores = len(machine.discover()[0].topology.cores)
    try:
        os.sched_setaffinity(0, {min(mask)})
        topology = machine.discover()[0].topology
    finally:
        os.sched_setaffinity(0, mask)
    assert topology.allowed_cpus == (min(mask),)
    assert len(topology.cores) == cores


def test_memory_that_may_be_used_is_no_more_than_the_kernel_has() -> None:
    lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    total = int(lines["MemTotal"].split()[0]) * 1024
    found = machine.discover()[0]
    assert found.fact("memory", "total").value == total
    assert isinstance(found.memory.value, int)
    assert 0 < found.memory.value <= total


def test_a_limit_of_the_address_space_bounds_the_memory() -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**30, -1)); "
        "from assay.machine import discover; print(discover()[0].memory.value, discover()[0].memory.source)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    size, _, source = told.strip().partition(" ")
    assert int(size) <= 2**30
    assert source == "ulimit -v" or int(size) < 2**30


@pytest.mark.skipif(shutil.which("lscpu") is None, reason="lscpu is not installed")
def test_packages_cores_and_memory_nodes_are_those_of_lscpu() -> None:
    told = subprocess.run(
        ["lscpu", "--parse=CPU,CORE,SOCKET,NODE"], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(",") for line in told.splitlines() if not line.startswith("#")]
    topology = machine.discover()[0].topology
    assert sorted(int(row[0]) for row in rows) == sorted(cpu for core in topology.cores for cpu in core.cpus)
    assert len({(row[2], row[1]) for row in rows}) == len(topology.cores)
    assert len({row[2] for row in rows}) == len(topology.packages)
    for cpu, node in ((int(row[0]), row[3]) for row in rows if row[3]):
        assert [each.index for each in topology.numa_nodes if cpu in each.cpus] == [int(node)]


@needs_hwloc
def test_without_libhwloc_the_topology_is_the_same_and_a_fact_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_hwloc, document = machine.discover()
    monkeypatch.setattr(hwloc, "library", lambda: None)
    without, nothing = machine.discover()
    assert document.startswith("<?xml")
    assert nothing == ""
    assert without_sizes_of_memory(without.topology) == without_sizes_of_memory(with_hwloc.topology)
    assert with_hwloc.fact("system", "hwloc").known
    assert "install" in without.fact("system", "hwloc").unavailable


@needs_hwloc
def test_variables_that_lead_hwloc_to_another_machine_do_not_mislead_us() -> None:
    told = discover("--json", HWLOC_SYNTHETIC="pack:3 core:7 pu:1")
    assert told.returncode == 0
    live = msgspec.json.decode(told.stdout, type=Machine)
    assert without_sizes_of_memory(live.topology) == without_sizes_of_memory(machine.discover()[0].topology)


@needs_hwloc
def test_a_machine_that_is_saved_and_loaded_again_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "here.xml"
    saved = discover("--json", "--xml", str(path))
    assert saved.returncode == 0
    live = msgspec.json.decode(saved.stdout, type=Machine).topology
    loaded = machine.load_xml(path).topology
    assert (loaded.cores, loaded.caches, loaded.packages) == (live.cores, live.caches, live.packages)


def test_json_has_a_schema_and_decodes_to_a_machine_in_which_every_fact_has_a_value_or_a_reason() -> None:
    told = discover("--json")
    assert told.returncode == 0, told.stderr
    document: dict[str, Any] = json.loads(told.stdout)
    assert document["schema"] == 1
    found = msgspec.json.decode(told.stdout, type=Machine)
    assert found.origin == "live"
    assert list(found.facts) == ["processor", "frequency", "memory", "system", "mitigations"]
    assert all(found.facts.values())
    for fact in (fact for section in found.facts.values() for fact in section.values()):
        assert fact.known != bool(fact.unavailable)
        assert fact.source or not fact.known


def test_what_the_terminal_shows_is_80_wide_and_names_what_is_not_known() -> None:
    shown = discover(COLUMNS="80")
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "topology" in lines
    found = machine.discover()[0]
    unknown = [fact for facts in found.facts.values() for fact in facts.values() if not fact.known]
    assert ("not known" in lines) == bool(
        unknown or any(not f.known for d in found.devices for f in d.facts.values())
    )


@needs_hwloc
def test_a_dual_epyc_with_two_threads_a_core_stays_below_60_lines() -> None:
    shown = discover(
        "--synthetic", "pack:2 numa:4(memory=32GB) l3:4(size=32MB) l2:4(size=512KB) core:1 pu:2", COLUMNS="80"
    )
    assert "128 cores, 256 threads" in shown.stdout
    assert shown.stdout.count("4 x L3 32 MiB, 4 cores of 2 threads (L2 512 KiB each)") == 8
    assert len(shown.stdout.splitlines()) < 60


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--from", "nothing.xml"), ("nothing.xml", "No such file")),
        (("--from", str(MACHINES / "hybrid.xml"), "--synthetic", "core:2"), ("two machines",)),
        (("--from", str(MACHINES / "hybrid.xml"), "--xml", "copy.xml"), ("--xml saves",)),
        (("--synthetic", "nonsense"), ("nonsense", "pack:2")),
    ],
)
def test_a_wrong_request_ends_with_2_and_says_what_to_type(
    arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    if "nonsense" in arguments and hwloc.library() is None:
        pytest.skip("libhwloc is not installed")
    ended = discover(*arguments)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr
    for word in (*words, "next:"):
        assert word in ended.stderr


def test_a_folder_that_cannot_be_written_is_named() -> None:
    ended = discover("--xml", "/nowhere/at/all.xml")
    assert ended.returncode == 4
    assert "Traceback" not in ended.stderr


def test_a_file_is_shown_without_libhwloc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hwloc, "library", lambda: None)
    loaded = machine.load_xml(MACHINES / "hybrid.xml")
    assert loaded.origin == "file"
    assert len(loaded.topology.cores) == 8


def test_the_kernels_own_list_of_online_cpus_is_the_topology() -> None:
    told = os.sysconf("SC_NPROCESSORS_ONLN")
    assert len(kernel.online(Path("/"))) == told
