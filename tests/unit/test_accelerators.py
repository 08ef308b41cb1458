"""Accelerators: the same from /sys and from hwloc's XML; UUID, MIG, OpenCL; and which of them may be used."""

import os
import stat
from pathlib import Path

import msgspec
import pytest
from tests.simulation import described
from tests.unit.test_machine_kernel import plant

from assay import machine
from assay.machine import accelerators, hwloc_xml, opencl
from assay.model.machine import Device, Machine
from assay.plan.devices import usable
from assay.plan.layout import layouts
from assay.plan.placement import AbsentPlacementError

MACHINES = Path(__file__).parents[1] / "machines"
PCI = "sys/bus/pci/devices"
NVIDIA = "proc/driver/nvidia"
FIRST, SECOND = "0000:65:00.0", "0000:e5:00.0"
UUIDS = {FIRST: "GPU-11111111-aaaa", SECOND: "GPU-22222222-bbbb"}
LISTED = f"""GPU 0: NVIDIA H100 80GB HBM3 (UUID: {UUIDS[FIRST]})
  MIG 1g.10gb     Device  0: (UUID: MIG-33333333)
  MIG 3g.40gb     Device  1: (UUID: MIG-44444444)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: {UUIDS[SECOND]})
"""


def card(root: Path, address: str, kind: str = "0x030200", minor: int = 0, driver: str = "nvidia") -> None:
    """A card as the kernel and NVIDIA's driver show it."""
    at = f"{PCI}/{address}"
    tree = {f"{at}/class": kind, f"{at}/vendor": "0x10de", f"{at}/device": "0x2335", f"{at}/numa_node": "1"}
    if driver == "nvidia":
        tree[f"{NVIDIA}/gpus/{address}/information"] = (
            f"Model: \t\t NVIDIA H100\nGPU UUID: \t {UUIDS[address]}\nDevice Minor: \t {minor}\n"
        )
        tree[f"dev/nvidia{minor}"] = ""
    plant(root, tree)
    (root / "sys/bus/pci/drivers" / driver).mkdir(parents=True, exist_ok=True)
    (root / at / "driver").symlink_to(root / "sys/bus/pci/drivers" / driver)


@pytest.fixture
def two(tmp_path: Path) -> Path:
    card(tmp_path, FIRST)
    card(tmp_path, SECOND, minor=1)
    return tmp_path


def with_devices(devices: tuple[Device, ...]) -> Machine:
    return msgspec.structs.replace(described("pack:1 numa:2(memory=8GB) core:2 pu:1"), devices=devices)


def names(root: Path, **environment: str) -> list[str]:
    return [
        device.name
        for device in usable("all:gpu:*", "gpu", with_devices(accelerators.read(root, (), environment)))
    ]


def reason(root: Path, **environment: str) -> str:
    with pytest.raises(AbsentPlacementError) as absent:
        names(root, **environment)
    return absent.value.why or ""


def test_accelerators_are_the_pci_devices_of_three_classes(tmp_path: Path) -> None:
    kinds = {"0000:01:00.0": "0x030000", FIRST: "0x030200", "0000:70:00.0": "0x120000", "0000:02:00.0": "0x020000"}
    for address, kind in kinds.items():
        card(tmp_path, address, kind, driver="ast")
    found = accelerators.read(tmp_path, (), {})
    assert [device.name for device in found] == ["0000:01:00.0", "0000:65:00.0", "0000:70:00.0"]
    assert [device.facts["class"].value for device in found] == [
        "display controller",
        "3D controller",
        "processing accelerator",
    ]
    assert found[1].facts["PCI id"].value == "10de:2335"


@pytest.mark.parametrize("name", ["devices-v2.xml", "devices-v3.xml"])
def test_xml_and_the_live_path_give_the_same_card(name: str, tmp_path: Path) -> None:
    card(tmp_path, FIRST)
    loaded = machine.load_xml(MACHINES / name)
    (saved,) = (device for device in loaded.devices if device.kind == "accelerator")
    (live,) = accelerators.read(tmp_path, machine_devices(name), {})
    assert (saved.name, saved.kind) == (live.name, live.kind)
    for fact in ("class", "model", "PCI id", "PCI address", "NUMA node"):
        assert saved.facts[fact].value == live.facts[fact].value, fact
    (given,) = usable("rank-per:gpu", "gpu", loaded)
    assert (given.word, given.near) == (FIRST, 1)


def machine_devices(name: str) -> tuple[hwloc_xml.Device, ...]:
    """Of the XML that hwloc gives beside the kernel on the live machine."""
    return hwloc_xml.parse((MACHINES / name).read_text(), name).devices


def test_a_card_in_xml_is_planned_for(tmp_path: Path) -> None:
    assert [place.devices for place in layouts("rank-per:gpu", machine.load_xml(MACHINES / "devices-v2.xml"))]
    card(tmp_path, FIRST, "0x030000", driver="ast")
    assert reason(tmp_path) == "no GPU is known on this machine"  # the console of a server


def test_a_card_has_the_uuid_of_its_driver(two: Path) -> None:
    found = accelerators.read(two, (), {})
    assert {device.name: device.facts["UUID"].value for device in found} == UUIDS


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("0,1", [FIRST, SECOND]),
        ("1", [SECOND]),
        (UUIDS[FIRST], [FIRST]),
        ("GPU-2222", [SECOND]),
    ],
)
def test_cuda_visible_devices_names_cards_by_number_or_uuid(two: Path, value: str, kept: list[str]) -> None:
    assert names(two, CUDA_VISIBLE_DEVICES=value) == kept


@pytest.mark.parametrize("value", ["", "-1", "7"])
def test_what_the_variable_hides_is_left_out_with_the_reason(two: Path, value: str) -> None:
    assert reason(two, CUDA_VISIBLE_DEVICES=value) == (
        f"no GPU may be used: {FIRST}: CUDA_VISIBLE_DEVICES={value} hides it"
    )


def test_numbers_of_unlike_cards_say_nothing_without_the_order_of_the_bus(two: Path) -> None:
    (two / PCI / SECOND / "device").write_text("0x1eb8")
    assert names(two, CUDA_VISIBLE_DEVICES="0") == [FIRST, SECOND]
    assert names(two, CUDA_VISIBLE_DEVICES="0", CUDA_DEVICE_ORDER="PCI_BUS_ID") == [FIRST]


def test_a_card_whose_file_is_not_there_or_closed_may_not_be_used(
    two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (two / "dev/nvidia0").unlink()
    assert names(two) == [SECOND]
    monkeypatch.setattr(os, "access", lambda file, _mode: stat.S_ISDIR(Path(file).stat().st_mode))
    (two / "dev/nvidia0").touch()
    assert "this user may not open /dev/nvidia0 (its group, or the cgroup of this job)" in reason(two)


def test_partitions_take_the_place_of_a_divided_card(two: Path) -> None:
    found = accelerators.read(two, (), {}, (), LISTED)
    given = usable("all:gpu:*", "gpu", with_devices(found))
    assert [device.word for device in given] == ["MIG-33333333", "MIG-44444444", SECOND]
    assert [(device.partition, device.address) for device in given[:2]] == [("1g.10gb", FIRST), ("3g.40gb", FIRST)]
    chosen = accelerators.read(two, (), {"CUDA_VISIBLE_DEVICES": "MIG-4444"}, (), LISTED)
    assert [device.word for device in usable("all:gpu:*", "gpu", with_devices(chosen))] == ["MIG-44444444"]


def test_partitions_are_asked_for_only_where_the_driver_shows_some(two: Path) -> None:
    assert accelerators.list_partitions(two) == ""


CPU = opencl.OpenClDevice("pthread-Intel(R) Xeon(R)", "Portable Computing Language", "3.1")


def test_an_opencl_device_on_no_bus_is_known_by_its_name() -> None:
    assert CPU.word == "opencl:pthread-Intel_R__Xeon_R_"
    assert msgspec.structs.replace(CPU, number=1).word == "opencl:pthread-Intel_R__Xeon_R_+1"
    assert msgspec.structs.replace(CPU, name="µ").word == "opencl:__"


def test_an_opencl_device_on_no_bus_is_a_device_and_no_gpu(tmp_path: Path) -> None:
    found = with_devices(accelerators.read(tmp_path, (), {}, (CPU,)))
    (given,) = usable("rank-per:device", "device", found)
    assert (given.word, given.near) == (CPU.word, None)
    with pytest.raises(AbsentPlacementError, match="rank-per:gpu"):
        usable("rank-per:gpu", "gpu", found)


def test_an_opencl_device_on_the_bus_is_its_card(tmp_path: Path) -> None:
    card(tmp_path, FIRST, "0x030000", driver="unknown")
    assert reason(tmp_path) == "no GPU is known on this machine"
    found = accelerators.read(tmp_path, (), {}, (msgspec.structs.replace(CPU, address=FIRST),))
    assert [device.word for device in usable("all:gpu:0", "gpu", with_devices(found))] == [FIRST]


def test_without_a_driver_for_opencl_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    assert opencl.found() == ()


@pytest.mark.parametrize(
    ("value", "kept"), [("-1,1", []), ("0,-1,1", [FIRST]), (" 1 ,0", [FIRST, SECOND]), ("0, ", [FIRST])]
)
def test_a_word_that_names_no_card_ends_the_list(two: Path, value: str, kept: list[str]) -> None:
    shown = {
        device.name
        for device in accelerators.read(two, (), {"CUDA_VISIBLE_DEVICES": value})
        if device.facts["may be used"].value
    }
    assert shown == set(kept)


@pytest.mark.parametrize(
    ("rocr", "hip", "kept"), [("1", "0", [SECOND]), ("0", "0,1", [FIRST]), ("1,0", "1", [FIRST]), ("0", "", [])]
)
def test_the_second_variable_of_amd_counts_within_what_the_first_one_leaves(
    tmp_path: Path, rocr: str, hip: str, kept: list[str]
) -> None:
    for address in (FIRST, SECOND):
        card(tmp_path, address, driver="amdgpu")
    environment = {"ROCR_VISIBLE_DEVICES": rocr, "HIP_VISIBLE_DEVICES": hip}
    shown = [
        device.name for device in accelerators.read(tmp_path, (), environment) if device.facts["may be used"].value
    ]
    assert shown == kept


def test_a_number_does_not_judge_partitions(two: Path) -> None:
    found = accelerators.read(two, (), {"CUDA_VISIBLE_DEVICES": "0"}, (), LISTED)
    assert all("may be used" not in device.facts for device in found if "MIG profile" in device.facts)
