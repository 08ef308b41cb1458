"""Devices and folders of ranks: told to the program, proven by its records, left out with the reason."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.simulation import begin, carry_on, described
from tests.unit.test_layout import gpu

from assay import plan as planning
from assay import store
from assay.analyse import analyse
from assay.catalogue import benchmarks
from assay.model.errors import UnfitEnvironmentError
from assay.model.facts import Fact
from assay.model.machine import Device
from assay.model.placement import Placement
from assay.model.plan import Measure, Plan, Study
from assay.model.resource import (
    GivenDevice,
    GivenFolder,
    OpenedDevice,
    OpenedFolder,
    wrong_devices,
    wrong_folder,
)
from assay.plan import Options
from assay.plan.devices import usable
from assay.simulation import Fault, Law, SimulatedMachine

MACHINE = "pack:1 numa:2(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
GPUS = ("0000:01:00.0", "0000:81:00.0")
SCRATCH = GivenFolder("/scratch", "lustre", 10**12, 10**11)


@pytest.fixture(autouse=True)
def on_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages between GPUs, and the copies of a core into a folder: as pt2pt and memcpy otherwise."""
    known = benchmarks.get
    between = msgspec.structs.replace(known("pt2pt"), devices=True, max_rank_cpus=None)
    written = msgspec.structs.replace(
        known("memcpy"), folder=True, folder_bytes=lambda params: int(params["bytes"])
    )
    changed = {"pt2pt": between, "memcpy": written}
    monkeypatch.setattr(benchmarks, "get", lambda name: changed.get(name) or known(name))


def with_address(name: str, node: int, **facts: str | bool) -> Device:
    """A GPU on PCI."""
    more = {key.replace("_", " "): Fact(value, source="test") for key, value in facts.items()}
    device = gpu(name, node)
    return msgspec.structs.replace(device, facts=device.facts | {"PCI address": Fact(name, source="test")} | more)


def planned(
    word: str = "rank-per:gpu",
    devices: tuple[Device, ...] | None = None,
    measure: Measure | None = None,
    **options: object,
) -> Plan:
    if devices is None:
        devices = tuple(with_address(name, node) for node, name in enumerate(GPUS))
    machine = msgspec.structs.replace(described(MACHINE), devices=devices)
    measure = measure or Measure("pt2pt", (word,), axes={"pattern": "latency", "bytes": 8})
    study = Study("S", "Q?", (measure,), launches=1)
    return planning.make("own", study, machine, Options(seed=1, **options))  # type: ignore[arg-type]


def copies(size: int = 4096) -> Measure:
    return Measure("memcpy", ("one-core",), axes={"bytes": size, "buffers": "hot"})


def ran(folder: Path, plan: Plan, law: Law | None = None) -> tuple[str, str, SimulatedMachine]:
    """Status and reason of its outcome."""
    simulated = SimulatedMachine(described(MACHINE).topology, law or Law(), plan.hosts)
    directory = begin(folder, plan, MACHINE)
    carry_on(directory, plan, simulated)
    outcomes = {each.case: each for each in analyse(store.load(directory.path)).outcomes}
    (found,) = (outcomes[case.id] for case in plan.studied)
    return found.status, found.reason or "", simulated


def told(simulated: SimulatedMachine, option: str) -> list[str]:
    return [
        command.argv[command.argv.index(option) + 1] for command in simulated.commands if option in command.argv
    ]


def test_each_rank_is_told_its_device_and_its_records_prove_it(tmp_path: Path) -> None:
    status, _, simulated = ran(tmp_path, planned())
    assert status == "complete"
    assert told(simulated, "--devices") == ["0000:01:00.0/0000:81:00.0"]


def test_ranks_on_each_other_s_devices_make_the_case_invalid(tmp_path: Path) -> None:
    status, reason, _ = ran(tmp_path, planned(), Law(faults=(Fault("swapped", "pt2pt"),)))
    assert status == "invalid"
    assert all(name in reason for name in GPUS)


def test_one_rank_on_another_device_makes_the_case_invalid(tmp_path: Path) -> None:
    status, reason, _ = ran(tmp_path, planned(), Law(faults=(Fault("other-device", "pt2pt"),)))
    assert status == "invalid"
    assert reason.startswith("rank 0 on ")
    assert reason.endswith("was asked for 0000:01:00.0 and opened opencl:another_device")


def test_a_program_that_reports_no_device_makes_the_case_invalid(tmp_path: Path) -> None:
    status, reason, _ = ran(tmp_path, planned(), Law(faults=(Fault("unreported", "pt2pt"),)))
    assert (status, "reports no device that it opened" in reason) == ("invalid", True)


def test_a_folder_is_told_to_the_program_and_proven(tmp_path: Path) -> None:
    status, _, simulated = ran(tmp_path, planned(measure=copies(), folders=(SCRATCH,)))
    assert (status, set(told(simulated, "--folder"))) == ("complete", {"/scratch"})


def test_a_program_that_reports_no_folder_makes_the_case_invalid(tmp_path: Path) -> None:
    plan = planned(measure=copies(), folders=(SCRATCH,))
    status, reason, _ = ran(tmp_path, plan, Law(faults=(Fault("unreported", "memcpy"),)))
    assert status == "invalid"
    assert reason.endswith("was asked for the folder /scratch and reports none")


@pytest.mark.parametrize(
    ("options", "why", "remedy"),
    [
        ({}, "memcpy writes into a folder, and none is named (--folder /tmp)", "assay run own --folder /tmp"),
        (
            {"folders": (SCRATCH,), "no_folder": "it is not there"},
            "it is not there",
            "assay run own --folder /tmp",
        ),
    ],
)
def test_without_a_folder_the_case_is_left_out_with_the_next_command(
    options: dict[str, Any], why: str, remedy: str
) -> None:
    with pytest.raises(UnfitEnvironmentError) as nothing:
        planned(measure=copies(), **options)
    assert (nothing.value.why, nothing.value.remedy) == (f"memcpy at one-core: {why}", remedy)


@pytest.mark.parametrize(("free", "fits"), [(4551, False), (4552, True)])
def test_files_fill_at_most_nine_tenths_of_what_is_free(free: int, *, fits: bool) -> None:
    folder = GivenFolder("/scratch", "ext4", 10**6, free)
    if fits:
        assert planned(measure=copies(), folders=(folder,)).studied
        return
    with pytest.raises(UnfitEnvironmentError, match="nothing of study") as full:
        planned(measure=copies(), folders=(folder,))
    assert "into /scratch, more than 90 % of the 4.44 KiB that are free" in (full.value.why or "")


def test_without_gpus_the_placement_is_absent_with_the_reason() -> None:
    with pytest.raises(UnfitEnvironmentError) as nothing:
        planned(devices=())
    assert nothing.value.why == "pt2pt at rank-per:gpu: no GPU is known on this machine"


def test_a_gpu_that_may_not_be_used_is_not_given() -> None:
    hidden = with_address(GPUS[0], 0)
    reason = Fact(value=False, source="CUDA_VISIBLE_DEVICES=1 hides it")
    hidden = msgspec.structs.replace(hidden, facts=hidden.facts | {"may be used": reason})
    machine = msgspec.structs.replace(described(MACHINE), devices=(hidden, with_address(GPUS[1], 1)))
    assert [device.name for device in usable("rank-per:gpu", "gpu", machine)] == [GPUS[1]]
    with pytest.raises(UnfitEnvironmentError) as nothing:
        planned(devices=(hidden,))
    assert nothing.value.why == (
        "pt2pt at rank-per:gpu: no GPU may be used: 0000:01:00.0: CUDA_VISIBLE_DEVICES=1 hides it"
    )


def test_a_placement_that_gives_no_devices_does_not_suit() -> None:
    with pytest.raises(UnfitEnvironmentError) as nothing:
        planned(word="rank-per:numa")
    assert nothing.value.why == (
        "pt2pt at rank-per:numa: pt2pt needs devices, rank-per:numa has none (all:gpu:0, rank-per:gpu have)"
    )


def test_cores_near_each_gpu_in_turn_get_that_gpu() -> None:
    placements = [case.placement for case in planned("all:gpu:*").studied]
    assert [each.label for each in placements] == ["all:gpu:0", "all:gpu:1"]
    assert [each.meaning for each in placements] == [
        "4 cores near GPU 0 (0000:01:00.0)",
        "4 cores near GPU 1 (0000:81:00.0)",
    ]
    assert [{device.name for rank in each.devices for device in rank} for each in placements] == [
        {GPUS[0]},
        {GPUS[1]},
    ]
    assert all(len(each.devices) == len(each.rank_cpus) for each in placements)


CARD = GivenDevice("gpu", address="0000:81:00.0", uuid="GPU-1")
SLICE = GivenDevice("gpu/1", address="0000:81:00.0", uuid="MIG-1", partition="1g.10gb")


@pytest.mark.parametrize(
    ("asked", "opened", "same"),
    [
        (CARD, OpenedDevice("cuda:H100", "0000:81:00.0", "GPU-1"), True),
        (CARD, OpenedDevice(address="0000:81:00.0"), True),
        (CARD, OpenedDevice(uuid="GPU-1"), False),  # its address is its identity
        (CARD, OpenedDevice(address="0000:81:00.0", uuid="GPU-2"), False),
        (CARD, OpenedDevice("gpu"), False),
        (SLICE, OpenedDevice(address="0000:81:00.0", uuid="MIG-1"), True),
        (SLICE, OpenedDevice(address="0000:81:00.0", uuid="MIG-2"), False),
        (SLICE, OpenedDevice(address="0000:81:00.0"), False),  # the whole card is another device
        (GivenDevice("opencl:cpu"), OpenedDevice("opencl:cpu"), True),
        (GivenDevice("opencl:cpu"), OpenedDevice(), False),
    ],
)
def test_a_device_is_the_same_if_all_known_parts_agree(
    asked: GivenDevice, opened: OpenedDevice, *, same: bool
) -> None:
    assert (wrong_devices((asked,), (opened,)) == "") is same


def test_one_of_two_devices_is_not_both() -> None:
    assert wrong_devices((CARD, CARD), (OpenedDevice(address="0000:81:00.0"),))
    assert wrong_devices((CARD,), ())


@pytest.mark.parametrize(
    ("asked", "file_system", "wrong"),
    [
        ("/scratch", "lustre", ""),
        ("/scratch", "", ""),
        ("/home", "lustre", "used /home"),
        ("/scratch", "ext4", "found"),
    ],
)
def test_another_folder_or_another_file_system_is_wrong(asked: str, file_system: str, wrong: str) -> None:
    opened = OpenedFolder(f"{asked}/assay-1", asked, file_system, "", 1, 1, removed=True)
    found = wrong_folder(SCRATCH, opened)
    assert wrong in found
    assert bool(found) is bool(wrong)


def test_names_of_devices_in_plans_of_earlier_versions_are_read_over() -> None:
    stored = {
        "label": "rank-per:gpu",
        "meaning": "",
        "cpus": [0],
        "memory": {},
        "hosts": ["n"],
        "devices": [["x"]],
    }
    assert msgspec.convert(stored, Placement).devices == ()


def test_a_folder_elsewhere_is_wrong_even_if_the_right_one_is_echoed() -> None:
    for path, is_wrong in (("/scratch/assay-1", False), ("/other/assay-1", True), ("/scratch/a/assay-1", True)):
        opened = OpenedFolder(path, "/scratch", "ext4", "", 1, 1, removed=True)
        assert bool(wrong_folder(GivenFolder("/scratch", "ext4"), opened)) == is_wrong
    opened = OpenedFolder("/scratch/assay-1", "/scratch/", "ext4", "", 1, 1, removed=True)
    assert not wrong_folder(GivenFolder("/scratch/", "ext4"), opened)


def test_a_card_whose_driver_and_opencl_print_its_uuid_differently_is_the_same_by_its_address() -> None:
    given = GivenDevice("0000:03:00.0", "0000:03:00.0", "GPU-7f2e4c1b9a3d5e60")
    assert given.is_same(OpenedDevice(address="0000:03:00.0", uuid="00000000000000000300000000000000"))
    assert not given.is_same(OpenedDevice(address="0000:04:00.0", uuid="00000000000000000400000000000000"))
    assert not given.is_same(OpenedDevice(address="0000:03:00.0", uuid="GPU-0000000000000000"))
