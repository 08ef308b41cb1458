"""Devices of ranks: told to the program, proven by its records, absent with the reason where there are none."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import begin, carry_on, described
from tests.unit.test_layout import gpu

from assay import plan as planning
from assay import store
from assay.analyse import analyse
from assay.model import benchmarks
from assay.model.errors import UnfitEnvironmentError
from assay.model.plan import Measure, Plan, Study
from assay.plan import Options
from assay.simulation import Fault, Law, SimulatedMachine

MACHINE = "pack:1 numa:2(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
GPUS = ("0000:01:00.0", "0000:81:00.0")


@pytest.fixture(autouse=True)
def on_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages between GPUs: as pt2pt, but each rank works on its own device."""
    known = benchmarks.get
    between = msgspec.structs.replace(known("pt2pt"), devices=True, max_rank_cpus=None)
    monkeypatch.setattr(benchmarks, "get", lambda name: between if name == "pt2pt" else known(name))


def planned(devices: int = 2, word: str = "rank-per:gpu") -> Plan:
    machine = msgspec.structs.replace(
        described(MACHINE), devices=tuple(gpu(name, node) for node, name in enumerate(GPUS[:devices]))
    )
    measure = Measure("pt2pt", (word,), axes={"pattern": "latency", "bytes": 8})
    return planning.make("own", Study("S", "Q?", (measure,), launches=1), machine, Options(seed=1))


def ran(folder: Path, law: Law) -> tuple[str, str, SimulatedMachine]:
    """Status and reason of its outcome."""
    plan = planned()
    simulated = SimulatedMachine(described(MACHINE).topology, law, plan.hosts)
    directory = begin(folder, plan, MACHINE)
    carry_on(directory, plan, simulated)
    outcomes = {each.case: each for each in analyse(store.load(directory.path)).outcomes}
    (found,) = (outcomes[case.id] for case in plan.studied)
    return found.status, found.reason or "", simulated


def test_each_rank_is_told_its_device_and_its_records_prove_it(tmp_path: Path) -> None:
    status, _, simulated = ran(tmp_path, Law())
    assert status == "complete"
    told = [
        command.argv[command.argv.index("--devices") + 1]
        for command in simulated.commands
        if "--devices" in command.argv
    ]
    assert told == ["0000:01:00.0/0000:81:00.0"]


def test_a_rank_on_another_device_than_asked_makes_the_case_invalid(tmp_path: Path) -> None:
    status, reason, _ = ran(tmp_path, Law(faults=(Fault("swapped", "pt2pt"),)))
    assert status == "invalid"
    assert all(name in reason for name in GPUS)


def test_without_gpus_the_placement_is_absent_with_the_reason() -> None:
    with pytest.raises(UnfitEnvironmentError) as nothing:
        planned(devices=0)
    assert nothing.value.why == "pt2pt at rank-per:gpu: no GPU is known on this machine"


def test_a_placement_that_gives_no_devices_does_not_suit() -> None:
    with pytest.raises(UnfitEnvironmentError) as nothing:
        planned(word="rank-per:numa")
    assert nothing.value.why == "pt2pt at rank-per:numa: pt2pt needs devices, rank-per:numa has none"
