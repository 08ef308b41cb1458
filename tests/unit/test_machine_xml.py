"""Machines that were saved as hwloc's XML, and files that are none."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import machine, plan, studies
from assay.machine import hwloc_xml
from assay.machine.topology_tree import Line, topology_tree
from assay.model.errors import UsageError

MACHINES = Path(__file__).parents[1] / "machines"
SMALLEST = '<topology version="2.0"><object type="Machine"><object type="PU" os_index="0"/></object></topology>'


def texts(lines: tuple[Line, ...]) -> list[str]:
    return [text for line in lines for text in (line.text, *texts(line.below))]


def test_a_hybrid_processor_has_cores_of_two_kinds() -> None:
    topology = machine.load_xml(MACHINES / "hybrid.xml").topology
    assert [core.kind for core in topology.cores] == ["performance"] * 2 + ["efficiency"] * 6
    assert [core.cpus for core in topology.cores[:3]] == [(0, 1), (2, 3), (4,)]


def test_cores_without_the_l3_of_the_others_are_a_group_of_their_own() -> None:
    topology = machine.load_xml(MACHINES / "hybrid.xml").topology
    assert [core.l3 for core in topology.cores] == [0, 0, 0, 0, 0, 0, 1, 1]


def test_each_kind_of_core_is_told_with_its_caches() -> None:
    told = texts(topology_tree(machine.load_xml(MACHINES / "hybrid.xml").topology))
    assert "L2 2 MiB, 2 efficiency cores (L1d 32 KiB each)" in told
    assert any("4 efficiency cores (L1d 32 KiB, L2 4 MiB per 4 cores)" in line for line in told)


def test_the_highest_frequency_is_that_of_the_fastest_kind() -> None:
    loaded = machine.load_xml(MACHINES / "hybrid.xml")
    assert loaded.fact("processor", "highest frequency").value == 5100 * 10**6
    assert loaded.fact("processor", "model").value == "A hybrid processor"


def test_high_bandwidth_and_cxl_memory_have_no_cpus_although_hwloc_puts_them_near_some() -> None:
    topology = machine.load_xml(MACHINES / "memory-tiers.xml").topology
    cpus = {node.index: node.cpus for node in topology.numa_nodes}
    assert cpus == {0: (0, 1, 2, 3, 8, 9, 10, 11), 1: (4, 5, 6, 7, 12, 13, 14, 15), 2: (), 3: (), 4: ()}
    assert [node.package for node in topology.numa_nodes] == [0, 1, 0, 1, None]
    assert {core.numa for core in topology.cores} == {0, 1}


def test_distances_are_read_from_cpu_node_to_memory_node_though_hwloc_writes_them_in_pieces() -> None:
    topology = machine.load_xml(MACHINES / "memory-tiers.xml").topology
    assert topology.distances[0] == (10, 21, 13, 23, 24)
    assert topology.distances[4] == (24, 24, 24, 24, 10)


def test_only_the_memory_of_allowed_nodes_may_be_used() -> None:
    loaded = machine.load_xml(MACHINES / "memory-tiers.xml")
    assert loaded.topology.allowed_cpus == (0, 8)
    assert loaded.topology.allowed_nodes == (0,)
    assert loaded.memory.value == 64 * 2**30
    assert "package 1  4 cores, cpus 4-7,12-15 (may be used: none)" in texts(topology_tree(loaded.topology))


@pytest.mark.parametrize("name", ["devices-v2.xml", "devices-v3.xml"])
def test_both_versions_of_the_form_tell_the_same_machine(name: str) -> None:
    loaded = machine.load_xml(MACHINES / name)
    assert loaded.fact("system", "host name").value == "n1"
    assert loaded.topology.allowed_cpus == (0, 1, 2, 3)
    found = {device.name: (device.kind, device.facts["NUMA node"].value) for device in loaded.devices}
    assert found == {"ens1": ("network", 0), "mlx5_0": ("infiniband", 0), "0000:65:00.0": ("accelerator", 1)}


def test_hardware_addresses_are_left_out() -> None:
    ens1 = machine.load_xml(MACHINES / "devices-v3.xml").devices[0]
    assert "aa:bb" not in str(ens1.facts)


BILLION_LAUGHS = (
    '<!DOCTYPE topology [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><topology version="2.0">&b;</topology>'
)
REFUSED = {
    "empty": ("", "not XML"),
    "not XML": ("package L#0\n  core L#0\n", "not XML"),
    "broken off": (SMALLEST[:60], "broken off"),
    "billion laughs": (BILLION_LAUGHS, "entity 'a'"),
    "foreign file": (
        '<!DOCTYPE topology [<!ENTITY x SYSTEM "file:///etc/passwd">]><topology version="2.0">&x;</topology>',
        "entity 'x'",
    ),
    "wrong root": ("<html/>", "<html>"),
    "hwloc 1": ('<topology><object type="Machine" os_index="0"/></topology>', "hwloc 1"),
    "hwloc 9": ('<topology version="9.0"/>', "'9.0'"),
    "no cpu": ('<topology version="2.0"><object type="Machine"/></topology>', "no processing unit"),
    "a cpu without number": (SMALLEST.replace(' os_index="0"', ""), "os_index"),
    "a cpu with a word for number": (SMALLEST.replace('os_index="0"', 'os_index="first"'), "first"),
    "a negative cpu": (SMALLEST.replace('os_index="0"', 'os_index="-1"'), "-1"),
    "a cpu beyond all machines": (SMALLEST.replace('os_index="0"', 'os_index="99999999999"'), "99999999999"),
    "a set beyond all machines": (
        SMALLEST.replace('type="Machine"', f'type="Machine" allowed_cpuset="{"0x1," * 9999}0x0"'),
        "65536",
    ),
    "a size of 400 digits": (
        SMALLEST.replace(
            '"Machine">', f'"Machine"><object type="NUMANode" os_index="0" local_memory="{9:9>400}"/>'
        ),
        "a size of 999",
    ),
    "no numbers in a set": (SMALLEST.replace('type="Machine"', 'type="Machine" allowed_cpuset="all"'), "all"),
    "distances that do not fit": (
        SMALLEST.replace(
            "</topology>",
            '<distances2 type="NUMANode" kind="5"><indexes>0 1</indexes><u64values>1 2</u64values></distances2>'
            "</topology>",
        ),
        "distances",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_file_that_is_no_topology_is_refused_with_its_name_and_the_reason(kind: str, tmp_path: Path) -> None:
    document, reason = REFUSED[kind]
    path = tmp_path / "machine.xml"
    path.write_text(document)
    with pytest.raises(UsageError) as refused:
        machine.load_xml(path)
    assert str(path) in refused.value.what
    assert reason in refused.value.why
    assert "lstopo" in refused.value.remedy


def test_a_file_that_does_not_exist_or_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        machine.load_xml(tmp_path / "nothing.xml")
    with pytest.raises(UsageError, match="cannot read"):
        machine.load_xml(tmp_path)
    (tmp_path / "image.xml").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(UsageError, match="XML of hwloc"):
        machine.load_xml(tmp_path / "image.xml")


def test_a_file_far_larger_than_a_topology_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.xml"
    with path.open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(UsageError) as refused:
        machine.load_xml(path)
    assert "larger than 64 MiB" in refused.value.why


def test_a_pipe_or_a_device_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UsageError) as refused:
            machine.load_xml(path)
        assert refused.value.why == "it is not a regular file"


def test_an_encoding_that_nobody_knows_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "machine.xml").write_text('<?xml version="1.0" encoding="ebcdic-klingon"?>' + SMALLEST)
    assert machine.load_xml(tmp_path / "machine.xml").topology.cores


def test_low_power_cores_are_no_performance_cores() -> None:
    cores = "".join(
        f'<object type="Core" cpuset="{1 << cpu:#x}"><object type="PU" os_index="{cpu}"/></object>'
        for cpu in range(3)
    )
    kinds = "".join(
        f'<cpukind cpuset="{1 << cpu:#x}"><info name="CoreType" value="{kind}"/></cpukind>'
        for cpu, kind in enumerate(("IntelLowPower", "IntelCore", "IntelAtom"))
    )
    parts = hwloc_xml.parse(
        f'<topology version="2.0"><object type="Machine">{cores}</object>{kinds}</topology>', "x"
    ).parts
    assert parts.kinds == {0: "efficiency", 1: "performance", 2: "efficiency"}


def test_without_sizes_of_memory_what_needs_little_is_planned(tmp_path: Path) -> None:
    node = '"Machine"><object type="NUMANode" os_index="0" cpuset="0x1"/>'
    (tmp_path / "machine.xml").write_text(SMALLEST.replace('"Machine">', node))
    made = plan.make(
        "quick", studies.get("quick"), machine.load_xml(tmp_path / "machine.xml"), plan.Options(seed=1)
    )
    assert {case.benchmark for case in made.studied} == {"stream", "memcpy"}
    (large,) = {left.reason.partition(",")[0] for left in made.left_out if "memory;" in left.reason}
    assert large == "it needs 128 MiB of memory; 64 MiB assumed: the file gives no sizes of memory"


def test_sixty_five_thousand_cores_are_read_in_seconds() -> None:
    cores = "".join(
        f'<object type="Core" cpuset="{1 << cpu % 32:#x}{"," * (cpu // 32)}">'
        f'<object type="PU" os_index="{cpu}"/></object>'
        for cpu in range(0, 2**16, 16)  # cores of 16 threads: a set of a cpu is as long as its number is high
    )
    everything = ",".join(["0xffffffff"] * 2**11)
    document = f'<topology version="2.0"><object type="Package" cpuset="{everything}">{cores}</object></topology>'
    began = time.process_time()
    parts = hwloc_xml.parse(document, "large").parts
    assert len(parts.cores) == 2**12
    assert time.process_time() - began < 5


def test_objects_nested_beyond_any_machine_are_refused() -> None:
    with pytest.raises(UsageError) as refused:
        hwloc_xml.parse('<topology version="2.0">' + "<object>" * 50_000, "deep")
    assert "nests" in refused.value.why


@given(st.text(alphabet="<>/=\"' abtopologyversion2.0object\n&;", max_size=80))
def test_no_text_whatever_ends_in_anything_but_a_refusal(document: str) -> None:
    with pytest.raises(UsageError):
        hwloc_xml.parse(document, "noise")


@pytest.mark.parametrize(
    ("text", "members"),
    [("0x0", set()), ("0x00000005", {0, 2}), ("0x1,,0x0", {64}), ("0x80000000,0x1", {0, 63}), ("", set())],
)
def test_sets_are_groups_of_32_bits_highest_first(text: str, members: set[int]) -> None:
    bits = hwloc_xml.bitmap(text)
    assert {index for index in range(bits.bit_length()) if bits >> index & 1} == members


def test_an_infinite_set_holds_every_member_above_the_groups_it_writes() -> None:
    bits = hwloc_xml.bitmap("0xf...f,0x0")
    assert bits & 0xFFFFFFFF == 0
    assert bits >> 1000 & 1


@given(st.frozensets(st.integers(0, 300)))
def test_reading_a_set_is_the_inverse_of_writing_it(members: frozenset[int]) -> None:
    bits = sum(1 << index for index in members)
    groups = [f"0x{bits >> 32 * index & 0xFFFFFFFF:08x}" for index in reversed(range(10))]
    assert hwloc_xml.bitmap(",".join(groups)) == bits
