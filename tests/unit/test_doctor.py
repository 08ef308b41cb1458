"""Each check on facts made by hand: it fires where it should and is silent where it should."""

import io
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from rich.console import Console

from assay.cli.support.here import show_checks
from assay.machine.doctor import examine
from assay.machine.rules import MACHINE
from assay.model.facts import Check, Fact, unavailable
from assay.model.machine import Device, Machine

MakeMachine = Callable[..., Machine]

#: Every fact that the rules read, as on a machine without fault.
SOUND: dict[str, dict[str, Any]] = {
    "frequency": {
        "governor": "performance",
        "driver": "acpi-cpufreq",
        "energy preference": "performance",
        "boost": True,
        "idle states": ("POLL", "C1", "C6"),
        "wake-up times, µs": (0, 1, 133),
        "disabled idle states": ("C6",),
        "idle governor": "menu",
    },
    "processor": {"SMT": "off", "cpus that may be used": 8},
    "memory": {
        "transparent huge pages": "madvise",
        "NUMA balancing": False,
        "zone reclaim": False,
        "modules": ("16 x 4 GiB DDR4 at 3200 MT/s",),
        "populated channels": 16,
        "of the memory nodes": 64 * 2**30,
        "may be used now": 60 * 2**30,
        "total": 64 * 2**30,
        "swap": 0,
    },
    "now": {
        "cpu quota": 0.0,
        "swap in use": 0,
        "used by others": 0.01,
        "busiest processes": "none",
        "taken by the hypervisor": 0.0,
        "lockable memory": 8 * 2**20,
    },
    "system": {"virtualisation": "none", "product": "Blade", "clock source": "tsc", "hwloc": "2.9.0"},
    "mitigations": {"spectre v2": "Mitigation: Enhanced IBRS", "meltdown": "Not affected"},
    "tools": {
        "compiler": "g++ 13",
        "build tools": "/usr/bin/cmake, /usr/bin/ninja",
        "MPI": "openmpi-5.0.3 (/usr/bin/mpicxx)",
        "BLAS": "openblas (/usr/lib/libopenblas.so.0)",
    },
    "folders": {
        "runs": 2**40,
        "file system of runs": "xfs",
        "builds": 2**40,
        "file system of builds": "xfs",
    },
}


def checks_of(machine: Machine, **changed: dict[str, Any]) -> dict[str, Check]:
    """The checks by name of a machine without fault, but for the facts that are changed."""
    facts = {
        section: {
            name: value if isinstance(value, Fact) else Fact(value)
            for name, value in (known | changed.get(section, {})).items()
        }
        for section, known in SOUND.items()
    }
    return {check.name: check for check in examine(msgspec.structs.replace(machine, facts=facts))}


@pytest.fixture
def sound(make_machine: MakeMachine) -> Machine:
    """Two sockets of four cores."""
    return make_machine(2, 1, 1, 4)


def test_a_machine_without_fault_has_no_warning_and_nothing_unknown(sound: Machine) -> None:
    assert {name: check.state for name, check in checks_of(sound).items()} == dict.fromkeys(
        [rule.name for rule in MACHINE], "ok"
    )


def test_nothing_that_is_fine_has_a_remedy(sound: Machine) -> None:
    assert [check.name for check in checks_of(sound).values() if check.remedy] == []


FAULTS = [
    (
        "frequency governor",
        {"frequency": {"governor": "powersave"}},
        "powersave",
        "cpupower frequency-set -g perf",
    ),
    (
        "frequency governor",
        {"frequency": {"governor": ("ondemand", "performance")}},
        "ondemand, performance",
        "-g",
    ),
    ("energy preference", {"frequency": {"energy preference": "balance_power"}}, "balance_power", "--epp"),
    ("boost", {"frequency": {"boost": False}}, "off", "echo 1 | sudo tee /sys/devices/system/cpu/cpufreq/boost"),
    ("boost", {"frequency": {"boost": False, "driver": "intel_pstate"}}, "off", "intel_pstate/no_turbo"),
    ("idle states", {"frequency": {"disabled idle states": ()}}, "C6 (133 µs)", "idle-set -D 50"),
    ("transparent huge pages", {"memory": {"transparent huge pages": "never"}}, "never", "echo madvise"),
    ("NUMA balancing", {"memory": {"NUMA balancing": True}}, "on", "sysctl kernel.numa_balancing=0"),
    ("zone reclaim", {"memory": {"zone reclaim": True}}, "on", "sysctl vm.zone_reclaim_mode=0"),
    (
        "memory modules",
        {"memory": {"modules": ("7 x 8 GiB DDR4", "1 x 4 GiB DDR4")}},
        "they differ: 7 x 8 GiB DDR4, 1 x 4 GiB DDR4; 16 channels filled",
        "same modules",
    ),
    (
        "memory modules",
        {"memory": {"populated channels": 15}},
        "a different number at each of 2 sockets",
        "manual",
    ),
    ("cpu quota", {"now": {"cpu quota": 2.5}}, "2.5 cpus of quota for 8 cpus", "container"),
    ("memory that may be used", {"memory": {"may be used now": 300 * 2**20}}, "300 MiB; arrays", "ps aux"),
    ("swap in use", {"now": {"swap in use": 2**30}}, "1 GiB", "swapoff"),
    (
        "used by others",
        {"now": {"used by others": 0.4, "busiest processes": ("gzip (71)",)}},
        "40 % of all cpus' time: gzip (71)",
        "end it",
    ),
    ("virtualisation", {"system": {"virtualisation": "KVM"}}, "KVM", "bare metal"),
    ("taken by the hypervisor", {"now": {"taken by the hypervisor": 0.05}}, "5.0 %", "dedicated host"),
    ("clock source", {"system": {"clock source": "hpet"}}, "hpet", "available_clocksource"),
    ("folder of runs", {"folders": {"runs": 500 * 2**20}}, "500 MiB free on xfs", "export ASSAY_RUNS="),
    ("folder of builds", {"folders": {"builds": 500 * 2**20}}, "500 MiB free", "export ASSAY_CACHE="),
]


@pytest.mark.parametrize(("name", "changed", "found", "remedy"), FAULTS)
def test_a_setting_that_spoils_figures_is_a_warning_with_the_command_that_changes_it(
    name: str, changed: dict[str, dict[str, Any]], found: str, remedy: str, sound: Machine
) -> None:
    checks = checks_of(sound, **changed)
    assert [check.name for check in checks.values() if check.state != "ok"] == [name]
    assert checks[name].state == "warning"
    assert found in checks[name].found
    assert remedy in checks[name].remedy


PREVENTING = [
    ("memory that may be used", {"memory": {"may be used now": 100 * 2**20}}),
    ("C++ compiler", {"tools": {"compiler": unavailable("no usable C++ compiler")}}),
    ("CMake, and ninja or make", {"tools": {"build tools": unavailable("no CMake 3.20 or newer")}}),
    ("folder of runs", {"folders": {"runs": unavailable("/ro cannot be written")}}),
    ("folder of builds", {"folders": {"builds": 10 * 2**20}}),
]


@pytest.mark.parametrize(("name", "changed"), PREVENTING)
def test_what_prevents_measuring_is_a_problem_with_a_remedy(
    name: str, changed: dict[str, dict[str, Any]], sound: Machine
) -> None:
    checks = checks_of(sound, **changed)
    assert [check.name for check in checks.values() if check.state != "ok"] == [name]
    assert checks[name].state == "problem"
    assert checks[name].remedy


@pytest.mark.parametrize(("name", "installs"), [("MPI", "assay[mpi]"), ("BLAS", "assay[blas]")])
def test_what_only_some_studies_need_is_a_warning_with_what_installs_it(
    name: str, installs: str, sound: Machine
) -> None:
    checks = checks_of(sound, tools={name: unavailable("there is none")})
    assert [check.name for check in checks.values() if check.state != "ok"] == [name]
    assert (checks[name].state, checks[name].found) == ("warning", "there is none")
    assert installs in checks[name].remedy


def test_what_nobody_could_find_out_is_unknown_with_its_reason(sound: Machine) -> None:
    check = checks_of(sound, frequency={"governor": unavailable("the kernel drives no frequency")})[
        "frequency governor"
    ]
    assert (check.state, check.found) == ("unknown", "the kernel drives no frequency")


def test_every_check_says_why_it_matters_and_shows_what_it_read(sound: Machine) -> None:
    for check in checks_of(sound).values():
        assert check.why
        assert check.read
        assert all(fact.known for fact in check.read), check.name


def test_settings_of_several_memory_nodes_do_not_matter_with_one(make_machine: MakeMachine) -> None:
    checks = checks_of(make_machine(cores=8), memory={"NUMA balancing": True, "zone reclaim": True})
    assert checks["NUMA balancing"].found == checks["zone reclaim"].found == "on, with one memory node"
    assert {checks["NUMA balancing"].state, checks["zone reclaim"].state} == {"ok"}


def test_a_part_of_the_machine_is_said_with_its_numbers(make_machine: MakeMachine) -> None:
    machine = make_machine(2, 1, 1, 4)
    topology = msgspec.structs.replace(machine.topology, allowed_cpus=(2, 3), allowed_nodes=(0,))
    checks = checks_of(msgspec.structs.replace(machine, topology=topology))
    assert checks["cpus that may be used"].found == "2 of 8 (2-3)"
    assert checks["memory nodes that may be used"].found == "1 of 2 (0)"
    assert {checks[name].state for name in ("cpus that may be used", "memory nodes that may be used")} == {
        "warning"
    }
    nowhere = msgspec.structs.replace(topology, allowed_cpus=())
    checks = checks_of(msgspec.structs.replace(machine, topology=nowhere))
    assert checks["cpus that may be used"].state == "problem"


def test_a_quota_that_covers_the_allowed_cpus_takes_nothing(sound: Machine) -> None:
    assert checks_of(sound, now={"cpu quota": 8.0})["cpu quota"].state == "ok"


def test_little_lockable_memory_matters_only_beside_infiniband(sound: Machine) -> None:
    card = Device("mlx5_0", "infiniband", {})
    with_card = msgspec.structs.replace(sound, devices=(card,))
    assert checks_of(with_card)["lockable memory"].state == "warning"
    assert checks_of(with_card, now={"lockable memory": "unlimited"})["lockable memory"].state == "ok"
    assert checks_of(sound)["lockable memory"].state == "ok"


def test_a_shared_file_system_is_named(sound: Machine) -> None:
    found = checks_of(sound, folders={"file system of runs": "lustre"})["folder of runs"].found
    assert found == "1 TiB free on lustre, over the network"


def test_the_second_line_of_a_good_check_is_indented() -> None:
    output = io.StringIO()
    check = Check("BLAS", "ok", f"openblas (/{'folder/' * 6}lib.so)", "")
    show_checks([check], Console(width=40, file=output), "", "")
    assert [line[:4] for line in output.getvalue().splitlines()[:2]] == ["ok: ", "    "]
