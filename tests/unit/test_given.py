"""Facts that a user gives, and versions of cards: stored, shown and compared."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import begin, builds_for, carry_on, described, plan_for

from assay import store
from assay.analyse import analyse
from assay.compare.environment import differences
from assay.machine import devices
from assay.machine import system as systems
from assay.machine.given import facts, with_given
from assay.model.errors import UsageError
from assay.model.facts import Fact
from assay.model.machine import Device, Machine
from assay.model.run import Run
from assay.report import html, provenance, test_bed
from assay.simulation import Law, SimulatedMachine

pytestmark = pytest.mark.usefixtures("undrawn")

TABLE = {"network-topology": "fat tree, 2 levels", "switch": "SB7800", "price": {"node": 12000}}


def test_a_table_becomes_facts_with_dots_for_tables_inside() -> None:
    found = facts(TABLE)
    assert {name: fact.value for name, fact in found.items()} == {
        "network-topology": "fat tree, 2 levels",
        "switch": "SB7800",
        "price.node": 12000,
    }
    assert {fact.source for fact in found.values()} == {"[given] of the configuration"}


@pytest.mark.parametrize("value", [["a", "b"], ""])
def test_what_is_no_fact_is_refused_by_its_name(value: object) -> None:
    with pytest.raises(UsageError, match=r"given\.price\.node"):
        facts({"price": {"node": value}})


def planted(root: Path) -> Machine:
    """A card of each kind, with versions, and OFED."""
    files = {
        "sys/class/infiniband/mlx5_0/ports/1/rate": "100 Gb/sec (4X EDR)",
        "sys/class/infiniband/mlx5_0/fw_ver": "16.35.2000",
        "sys/class/net/eth0/mtu": "1500",
        "sys/module/mlx5_core/version": "5.8-1.1.2",
        "usr/bin/ofed_info": '#!/bin/bash\nif [ "$1" == "-s" ]; then echo MLNX_OFED_LINUX-5.8-1.1.2.1:; fi\n',
    }
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    (root / "drivers/mlx5_core").mkdir(parents=True)
    for device in ("infiniband/mlx5_0", "net/eth0", "cxi/cxi0"):
        (root / "sys/class" / device / "device").mkdir(parents=True)
        (root / "sys/class" / device / "device/driver").symlink_to(root / "drivers/mlx5_core")
    found = devices.read(root, firmware={"eth0": Fact("16.35.2000 (MT_0000000008)")})
    machine = described()
    system = machine.facts["system"] | systems.installed(root)
    return msgspec.structs.replace(machine, devices=found, facts=machine.facts | {"system": system})


def test_driver_firmware_and_release_of_cards_are_read(tmp_path: Path) -> None:
    machine = planted(tmp_path)
    facts = {
        device.name: [device.facts[name].value for name in ("driver", "driver version", "firmware")]
        for device in machine.devices
        if device.name != "cxi0"
    }
    assert next(each.facts["link layer"].value for each in machine.devices if each.name == "cxi0") == "Slingshot"
    assert facts == {
        "mlx5_0:1": ["mlx5_core", "5.8-1.1.2", "16.35.2000"],
        "eth0": ["mlx5_core", "5.8-1.1.2", "16.35.2000 (MT_0000000008)"],
    }
    assert machine.fact("system", "OFED").value == "MLNX_OFED_LINUX-5.8-1.1.2.1"


def test_the_test_bed_of_a_source_stands_beside_what_was_read_and_what_the_user_states(tmp_path: Path) -> None:
    root = tmp_path / "root"
    machine = planted(root)
    shaped = {"speed": Fact(1e10, "bit/s", "/sys"), "shaped rate": Fact(1e9, "bit/s", "tc")}
    machine = msgspec.structs.replace(machine, devices=(*machine.devices, Device("gbe0", "network", shaped)))
    files = {
        "sys/class/dmi/id/bios_vendor": "Dell Inc.",
        "sys/class/dmi/id/bios_version": "1.4.8",
        "sys/class/dmi/id/bios_date": "05/21/2018",
        "usr/lib64/libibverbs.so.1.14.39.0": "",
        "etc/tuned/active_profile": "hpc-compute",
    }
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    system = systems.facts(root) | systems.installed(root)
    machine = msgspec.structs.replace(machine, facts=machine.facts | {"system": system})
    run = run_on(with_given(machine, facts({"bios-profile": "performance"})), tmp_path / "runs")
    found = test_bed.table("epyc-7601", run)
    assert found
    ours = {str(fact): str(here) for fact, _, here in found.rows}
    assert ours["network: driver"] == "OFED MLNX_OFED_LINUX-5.8-1.1.2.1; rdma-core 39.0"
    profile = ours["system: system profile"]
    assert profile.startswith("performance; firmware Dell Inc. 1.4.8 (05/21/2018); tuned profile hpc-compute")
    assert "gbe0 1.00 Gbit/s" in ours["network: link"]
    assert ours["memory: NUMA nodes"] == "1 in 1 package"
    assert ours["memory: interleaving (BIOS)"] == "not stated: `--level interleave=...`"
    stated = msgspec.structs.replace(run, plan=msgspec.structs.replace(run.plan, levels={"interleave": "die"}))
    again = test_bed.table("epyc-7601", stated)
    assert again
    assert ("memory: interleaving (BIOS)", "memory channel", "interleave die") in again.rows


def run_on(machine: Machine, folder: Path) -> Run:
    """A run that was measured on this machine, as it is read back."""
    plan = plan_for()
    directory = begin(folder, plan)
    directory.close()
    machines = {machine.host: (machine, "")}
    again = store.create(plan, machines, builds_for(plan), ("assay", "run", "quick"), folder)
    carry_on(again, plan, SimulatedMachine(machine.topology, Law()))
    return store.load(again.path)


def test_they_are_stored_shown_and_compared(tmp_path: Path) -> None:
    machine = with_given(planted(tmp_path / "root"), facts(TABLE))
    run = run_on(machine, tmp_path / "runs")
    assert run.machines[machine.host].facts["given"] == facts(TABLE)
    tables = {row for table in provenance.provenance(run) for row in table.rows}
    assert {("switch", "SB7800"), ("price.node", "12000")} <= tables
    card = ("simulated", "mlx5_0:1", "mlx5_core", "5.8-1.1.2", "16.35.2000", "MLNX_OFED_LINUX-5.8-1.1.2.1")
    assert card in tables
    page = html.render(run, analyse(run))
    assert "fat tree, 2 levels" in page

    newer = tuple(
        msgspec.structs.replace(each, facts=each.facts | {"firmware": Fact("16.36")}) if ":" in each.name else each
        for each in machine.devices
    )
    other = with_given(msgspec.structs.replace(machine, devices=newer), facts({"switch": "QM8700"}))
    changed = msgspec.structs.replace(run, machines={machine.host: other})
    assert {(each.name, each.a, each.b) for each in differences(changed, run)} == {
        ("given: switch", "QM8700", "SB7800"),
        ("mlx5_0:1: firmware", "16.36", "16.35.2000"),
    }
