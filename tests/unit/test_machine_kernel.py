"""What is read from /proc and /sys, on trees of machines that we do not have."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine import devices, dmi, files, kernel, memory, processor, system
from assay.machine.topology import assemble
from assay.model.facts import Fact, unavailable

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"
NET = "sys/class/net"


def plant(root: Path, tree: Mapping[str, str]) -> Path:
    """Files below `root`; content that begins with `-> ` is the target of a link."""
    for name, content in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content.startswith("-> "):
            target = root / content.removeprefix("-> ")
            target.mkdir(parents=True, exist_ok=True)
            path.symlink_to(target)
        else:
            path.write_text(content + "\n")
    return root


def cpu(index: int, siblings: str, package: str, l2: str = "", l3: str = "") -> dict[str, str]:
    at = f"{CPU}/cpu{index}"
    tree = {f"{at}/topology/core_cpus_list": siblings, f"{at}/topology/package_cpus_list": package}
    caches = [("1", "Data", "32K", siblings), ("2", "Unified", "512K", l2), ("3", "Unified", "8192K", l3)]
    for number, (level, kind, size, shared) in enumerate(caches):
        if shared:
            folder = f"{at}/cache/index{number}"
            tree |= {f"{folder}/level": level, f"{folder}/type": kind, f"{folder}/size": size}
            tree |= {f"{folder}/shared_cpu_list": shared, f"{folder}/coherency_line_size": "64"}
    return tree


def test_an_offline_cpu_is_in_no_core(tmp_path: Path) -> None:
    tree = {f"{CPU}/online": "0-2"}
    for index, siblings in ((0, "0-1"), (1, "0-1"), (2, "2"), (3, "3")):
        tree |= cpu(index, siblings, "0-2", l3="0-2")
    topology = assemble(kernel.parts(plant(tmp_path, tree)))
    assert [core.cpus for core in topology.cores] == [(0, 1), (2,)]
    assert topology.packages == ((0, 1, 2),)


def test_nodes_have_memory_distances_and_cpus_and_a_cxl_node_has_none_of_the_last(tmp_path: Path) -> None:
    tree = {f"{CPU}/online": "0-3", f"{NODE}/node2/access0/initiators/node1": f"-> {NODE}/node1"}
    for index in range(4):
        tree |= cpu(index, str(index), "0-1" if index < 2 else "2-3")
    for index, (cpus, kilobytes, row) in enumerate(
        [("0-1", 1000, "10 20 30"), ("2-3", 0, "20 10 14"), ("", 2000, "30 14 10")]
    ):
        at = f"{NODE}/node{index}"
        meminfo = f"Node {index} MemTotal:       {kilobytes} kB\nNode {index} MemFree:  1 kB"
        tree |= {f"{at}/cpulist": cpus, f"{at}/meminfo": meminfo, f"{at}/distance": row}
    topology = assemble(kernel.parts(plant(tmp_path, tree)))
    assert [(node.memory_bytes, node.cpus, node.package) for node in topology.numa_nodes] == [
        (1000 * 1024, (0, 1), 0),
        (0, (2, 3), 1),
        (2000 * 1024, (), 1),
    ]
    assert topology.distances == ((10, 20, 30), (20, 10, 14), (30, 14, 10))
    assert [core.numa for core in topology.cores] == [0, 0, 2, 2]


def test_a_cgroup_that_allows_2_of_192_cpus_leaves_the_others_in_sight(tmp_path: Path) -> None:
    tree = {f"{CPU}/online": "0-191", "proc/self/status": "Cpus_allowed_list:\t17,113\nMems_allowed_list:\t0"}
    topology = assemble(kernel.parts(plant(tmp_path, tree)))
    assert len(topology.cores) == 192
    assert topology.allowed_cpus == (17, 113)
    assert topology.allowed_nodes == (0,)


def test_core_types_of_intel_and_capacities_of_arm_tell_efficiency_cores(tmp_path: Path) -> None:
    intel = plant(
        tmp_path / "intel",
        {f"{CPU}/online": "0-3", "sys/devices/cpu_core/cpus": "0-1", "sys/devices/cpu_atom/cpus": "2-3"},
    )
    arm_tree = {f"{CPU}/online": "0-3"}
    for index, capacity in enumerate((446, 446, 1024, 1000)):
        arm_tree[f"{CPU}/cpu{index}/cpu_capacity"] = str(capacity)
    arm = plant(tmp_path / "arm", arm_tree)
    kinds = [[core.kind for core in assemble(kernel.parts(root)).cores] for root in (intel, arm)]
    assert kinds[0] == ["performance"] * 2 + ["efficiency"] * 2
    assert kinds[1] == ["efficiency"] * 2 + ["performance"] * 2


def test_a_machine_of_which_the_kernel_tells_nothing_still_has_a_core(tmp_path: Path) -> None:
    topology = assemble(kernel.parts(tmp_path))
    assert [core.cpus for core in topology.cores] == [(0,)]
    cpuinfo = plant(tmp_path, {"proc/cpuinfo": "processor\t: 0\n\nprocessor\t: 1"})
    assert len(assemble(kernel.parts(cpuinfo)).cores) == 2


MEMINFO = {"proc/meminfo": "MemTotal:  1000 kB\nMemAvailable:   500 kB"}
V2_MOUNT = "proc/self/mountinfo"
V2 = {
    V2_MOUNT: "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw",
    "proc/self/cgroup": "0::/job/step",
    "sys/fs/cgroup/job/step/memory.max": "max",
    "sys/fs/cgroup/job/memory.max": "400000",
    "sys/fs/cgroup/job/memory.current": "100000",
}
V1 = {
    V2_MOUNT: "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
    "proc/self/cgroup": "4:memory:/job\n3:cpuset:/\n0::/",
    "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "300000",
    "sys/fs/cgroup/memory/job/memory.usage_in_bytes": "50000",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
    "sys/fs/cgroup/memory/memory.usage_in_bytes": "1",
}
IN_A_CONTAINER = V1 | {
    "proc/self/cgroup": "4:memory:/docker/0123",
    V2_MOUNT: V1[V2_MOUNT].replace("/ /sys", "/docker/0123 /sys"),
}
IN_A_CONTAINER["sys/fs/cgroup/memory/memory.limit_in_bytes"] = "200000"


@pytest.mark.parametrize(
    ("tree", "address_space", "size", "source"),
    [
        ({}, None, 500 * 1024, "/proc/meminfo (MemAvailable)"),
        (V2, None, 300_000, "/sys/fs/cgroup/job/memory.max"),
        (V1, None, 250_000, "/sys/fs/cgroup/memory/job/memory.limit_in_bytes"),
        (IN_A_CONTAINER, None, 199_999, "/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        (V2, 1000, 1000, "ulimit -v"),
        (V2 | {"sys/fs/cgroup/job/memory.current": "500000"}, None, 0, "/sys/fs/cgroup/job/memory.max"),
    ],
    ids=["no cgroup", "v2", "v1", "v1 in a container", "ulimit", "a cgroup that is full"],
)
def test_memory_is_the_least_of_all_bounds_and_names_the_one_that_binds(
    tmp_path: Path, tree: dict[str, str], address_space: int | None, size: int, source: str
) -> None:
    bound = None if address_space is None else memory.Bound(address_space, "ulimit -v")
    assert memory.available_memory(plant(tmp_path, MEMINFO | tree), address_space=bound) == Fact(size, "B", source)


def test_memory_that_nothing_tells_is_unavailable_with_the_reason(tmp_path: Path) -> None:
    assert "meminfo" in memory.available_memory(tmp_path).unavailable


def test_a_cgroup_path_cannot_lead_out_of_its_mount(tmp_path: Path) -> None:
    tree = MEMINFO | V2 | {"proc/self/cgroup": "0::/../../../etc", "sys/fs/cgroup/memory.max": "7"}
    assert memory.available_memory(plant(tmp_path, tree)).value == 7


GRAVITON = """processor\t: 0
BogoMIPS\t: 2100.00
Features\t: fp asimd evtstrm aes sve asimdhp svebf16 i8mm bf16
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x1
CPU part\t: 0xd40
CPU revision\t: 1
"""
XEON = """processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 85
model name\t: Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz
stepping\t: 4
cpu MHz\t\t: 3100.000
flags\t\t: fpu sse2 smep smap avx2 fma avx512f
"""


def facts_of(root: Path, cpuinfo: str) -> dict[str, Fact]:
    plant(root, {"proc/cpuinfo": cpuinfo})
    return processor.facts(root, assemble(kernel.parts(root)), "any", unavailable("not guessed"))


def test_arm_has_no_model_name_so_its_numbers_are_told(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, GRAVITON)
    assert facts["model"].value == "implementer 0x41, part 0xd40"
    assert facts["vector instructions"].value == ["asimd", "sve", "svebf16", "i8mm", "bf16"]
    assert facts["model number"].value == "0xd40"
    assert not facts["microcode"].known


def test_the_nominal_frequency_of_a_xeon_stands_in_its_name(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, XEON)
    assert facts["nominal frequency"].value == pytest.approx(2.4e9)
    assert facts["frequency now"].value == pytest.approx(3.1e9)
    assert "name" in facts["nominal frequency"].source
    assert "the kernel drives no frequency" in facts["highest frequency"].unavailable


def test_vector_instructions_leave_out_what_only_looks_like_one(tmp_path: Path) -> None:
    encryption = "sme"  # codespell:ignore sme (on Arm this is a matrix extension)
    vectors = facts_of(tmp_path, XEON.replace("smap", encryption))["vector instructions"].value
    assert isinstance(vectors, list)
    assert {"sse2", "avx2", "fma", "avx512f"} <= set(vectors)
    assert not {"smep", encryption} & set(vectors)


def test_governors_that_differ_are_all_told_and_no_turbo_means_no_boost(tmp_path: Path) -> None:
    at = f"{CPU}/cpufreq"
    tree = {f"{at}/policy0/scaling_governor": "powersave", f"{at}/policy1/scaling_governor": "performance"}
    tree |= {f"{at}/policy{i}/scaling_driver": "intel_pstate" for i in (0, 1)}
    facts = processor.scaling_facts(plant(tmp_path, tree | {f"{CPU}/intel_pstate/no_turbo": "1"}))
    assert facts["governor"].value == ["performance", "powersave"]
    assert facts["driver"].value == "intel_pstate"
    assert facts["boost"].value is False


def test_every_fact_of_a_tree_without_anything_is_unavailable_with_a_reason(tmp_path: Path) -> None:
    root = tmp_path / "nothing"
    topology = assemble(kernel.parts(root))
    sections = [
        processor.scaling_facts(root),
        memory.facts(root, topology, unavailable("none")),
        system.mitigations(root),
    ]
    known = [name for section in sections for name, fact in section.items() if fact.known]
    assert known == []
    reasons = [fact.unavailable for section in sections for fact in section.values()]
    assert all(reasons)
    assert not any(str(tmp_path) in reason for reason in reasons)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"proc/cpuinfo": "flags : fpu sse2"}, "none"),
        ({"proc/cpuinfo": "flags : fpu sse2", "sys/class/dmi/id/sys_vendor": "Amazon EC2 QEMU"}, "none"),
        ({"proc/cpuinfo": "flags : hypervisor", "sys/class/dmi/id/product_name": "VMware7,1 VMware"}, "VMware"),
        ({"proc/cpuinfo": "flags : hypervisor", "sys/hypervisor/type": "xen"}, "Xen"),
        ({"proc/cpuinfo": "flags : hypervisor"}, "a hypervisor that names itself nowhere"),
        ({"proc/cpuinfo": "Features : fp", "proc/device-tree/hypervisor/compatible": "linux,kvm"}, "KVM"),
        ({"proc/cpuinfo": "Features : fp asimd"}, None),
    ],
)
def test_a_hypervisor_is_named_by_evidence_and_excluded_only_by_the_flag(
    tmp_path: Path, tree: dict[str, str], expected: str | None
) -> None:
    assert system.facts(plant(tmp_path, tree))["virtualisation"].value == expected


def test_huge_pages_are_told_by_size_and_the_mode_is_the_word_in_brackets(tmp_path: Path) -> None:
    tree = {"sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "12"}
    tree["sys/kernel/mm/transparent_hugepage/enabled"] = "always [madvise] never"
    tree["sys/kernel/mm/transparent_hugepage/defrag"] = "always defer [defer+madvise] madvise never"
    root = plant(tmp_path, tree)
    facts = memory.facts(root, assemble(kernel.parts(root)), unavailable("none"))
    assert facts["reserved pages of 2 MiB"].value == 12
    assert facts["transparent huge pages"].value == "madvise"
    assert facts["defragmentation for them"].value == "defer+madvise"


def test_a_network_interface_has_driver_speed_mtu_and_the_node_of_its_pci_slot(tmp_path: Path) -> None:
    slot = "sys/devices/pci0000:17/0000:17:00.0"
    tree = {
        f"{slot}/net/ens1/speed": "25000",
        f"{slot}/net/ens1/mtu": "9000",
        f"{slot}/net/ens1/operstate": "up",
        f"{slot}/numa_node": "1",
        f"{slot}/driver": "-> sys/bus/pci/drivers/mlx5_core",
        f"{slot}/net/ens1/device": f"-> {slot}",
        f"{NET}/ens1": f"-> {slot}/net/ens1",
        f"{NET}/veth7": "-> sys/devices/virtual/net/veth7",
        f"{NET}/bonding_masters": "bond0",
    }
    ens1, veth7 = devices.read(plant(tmp_path, tree))
    values = {name: fact.value for name, fact in ens1.facts.items()}
    assert values == {
        "virtual": False, "driver": "mlx5_core", "speed": 25 * 10**9, "mtu": 9000, "state": "up",
        "PCI address": "0000:17:00.0", "NUMA node": 1,
    }  # fmt: skip
    assert veth7.facts["virtual"].value is True
    assert veth7.facts["speed"].unavailable == "a virtual interface has no wire"


def test_a_virtio_interface_takes_the_slot_above_it_and_a_node_of_minus_one_is_none(tmp_path: Path) -> None:
    slot = "sys/devices/pci0000:00/0000:00:03.0"
    tree = {f"{slot}/numa_node": "-1", f"{slot}/virtio2/net/eth0/device": f"-> {slot}/virtio2"}
    tree |= {f"{slot}/virtio2/net/eth0/speed": "-1", f"{NET}/eth0": f"-> {slot}/virtio2/net/eth0"}
    (eth0,) = devices.read(plant(tmp_path, tree))
    assert eth0.facts["PCI address"].value == "0000:00:03.0"
    assert "firmware" in eth0.facts["NUMA node"].unavailable
    assert eth0.facts["speed"].unavailable == "the driver gives none"


@pytest.mark.parametrize(("kind", "layer"), [("1", {}), ("32", {"link layer": "InfiniBand"})])
def test_an_interface_of_ip_over_infiniband_says_so(tmp_path: Path, kind: str, layer: dict[str, str]) -> None:
    (found,) = devices.read(plant(tmp_path, {f"{NET}/ib0/type": kind}))
    assert {name: fact.value for name, fact in found.facts.items() if name == "link layer"} == layer


def test_an_infiniband_port_has_rate_lanes_state_and_link_layer(tmp_path: Path) -> None:
    at = "sys/class/infiniband/mlx5_0/ports/1"
    tree = {f"{at}/rate": "100 Gb/sec (4X EDR)", f"{at}/state": "4: ACTIVE", f"{at}/lid": "0x1f"}
    (port,) = devices.read(plant(tmp_path, tree | {f"{at}/link_layer": "InfiniBand"}))
    known = {name: fact.value for name, fact in port.facts.items() if fact.known}
    assert port.name == "mlx5_0:1"
    assert known == {"rate": 100e9, "lanes": "4X EDR", "state": "ACTIVE", "link layer": "InfiniBand", "lid": 31}


def test_a_fact_of_a_file_that_only_root_may_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    monkeypatch.setattr(Path, "read_text", refuse)
    assert "needs root" in files.fact(tmp_path, "sys/secret", str).unavailable
    assert "needs root" in dmi.facts(tmp_path)["modules"].unavailable


@given(st.binary(max_size=200))
def test_whatever_proc_says_nothing_breaks(tmp_path_factory: pytest.TempPathFactory, noise: bytes) -> None:
    root = tmp_path_factory.mktemp("noise")
    for name in ("proc/cpuinfo", "proc/meminfo", "proc/self/cgroup", "proc/self/mountinfo", f"{CPU}/online"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(noise)
    topology = assemble(kernel.parts(root))
    assert topology.cores
    processor.facts(root, topology, "any", unavailable("not guessed"))
    memory.facts(root, topology, memory.available_memory(root))
    system.facts(root)


def test_a_processor_with_instructions_of_a_later_one_is_not_called_by_the_earlier_name() -> None:
    from archspec.cpu import TARGETS  # noqa: PLC0415

    icelake = TARGETS["icelake"].features
    assert processor.newer_instructions("icelake", icelake) == ()
    assert processor.newer_instructions("icelake", icelake | {"amx_bf16", "pku"}) == ("amx_bf16",)
    assert processor.newer_instructions("cascadelake", TARGETS["cascadelake"].features | {"avx512_bf16"})


def test_the_only_memory_node_has_all_memory_and_several_keep_their_own(tmp_path: Path) -> None:
    tree = {"proc/meminfo": "MemTotal:       4096 kB\n", **cpu(0, "0", "0")}
    one, other = (f"sys/devices/system/node/node{index}" for index in (0, 1))
    told = {f"{one}/cpulist": "0", f"{one}/meminfo": "Node 0 MemTotal: 1024 kB\n"}
    alone = plant(tmp_path / "alone", tree | told)
    counted = memory.counted(alone, assemble(kernel.parts(alone)))
    assert [node.memory_bytes for node in counted.numa_nodes] == [4096 * 1024]
    assert memory.facts(alone, counted, unavailable("not asked"))["of the memory nodes"].value == 4096 * 1024
    told |= {f"{other}/cpulist": "", f"{other}/meminfo": "Node 1 MemTotal: 2048 kB\n"}
    two = plant(tmp_path / "two", tree | told)
    counted = memory.counted(two, assemble(kernel.parts(two)))
    assert [node.memory_bytes for node in counted.numa_nodes] == [1024 * 1024, 2048 * 1024]
