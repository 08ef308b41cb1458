"""The experiment of every rule of a node: it confirms what the machine does, and nothing that it does not."""

import shutil
from pathlib import Path

import msgspec
import pytest
from tests.simulation import confirm, simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.facts import Fact
from assay.model.plan import Factor, Measure, Study
from assay.model.result import Finding
from assay.plan import Options
from assay.simulation import Law

MACHINE = "pack:2 numa:1(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:2"
PAIRS = tuple(f"pair:{2 * a}-{2 * b}" for a in range(4) for b in range(a + 1, 4))
STUDY = Study(
    "Every rule of a node",
    "Does its experiment decide?",
    (
        Measure("stream", ("all", "half", "all-threads"), axes={"stores": ("ordinary", "non-temporal")}),
        Measure("stream", ("all",), axes={"touch": "serial"}),
        Measure("stream", ("all",), memory=("interleave",), axes={"touch": "serial"}),
        Measure("stream", ("all:numa:*",), memory=("bind:*",)),
        Measure("latency", ("one-core",), axes={"bytes": 2**26, "pages": ("small", "huge")}),
        Measure("latency", ("one-core:numa:*",), memory=("bind:*",), axes={"bytes": 2**26, "pages": "small"}),
        Measure("core_to_core", PAIRS),
    ),
    launches=3,
)
#: Contention, far memory, page tables, threads that hinder each other, a slow pair.
FAULTY = Law(
    core_traffic=30e9,
    node_traffic=60e9,
    contention=0.3,
    remote=0.5,
    remote_load=1.6,
    tlb_bytes=2**21,
    tlb_s=30e-9,
    smt=0.8,
    slow_pairs={(0, 2): 2.0},
)
#: Cores of one node that get less from their memory, two threads of each more than one.
SLOW_NODE = Law(core_traffic=30e9, node_traffic=60e9, remote=0.95, slow_cores=dict.fromkeys(range(8, 16), 0.3))
#: What one thread touched first lies on one node of it nevertheless, and stores read first.
HEALTHY = Law(core_traffic=30e9, node_traffic=60e9, remote=0.95, remote_load=1.1)
ALWAYS = ["first_touch", "interleave", "write_allocate"]
WRONG = ["core_pairs", "half_cores", "huge_pages", "numa_latency", "numa_penalty", "smt"]


def ruled(path: Path, status: str) -> list[str]:
    """The rules whose findings have an experiment and this status."""
    findings = analyse(store.load(path)).findings
    return sorted({each.rule for each in findings if each.experiment and each.status == status})


@pytest.mark.parametrize(
    ("law", "rules"), [(FAULTY, WRONG), (SLOW_NODE, ["memory_channel", "smt"])], ids=["faulty", "slow"]
)
def test_what_a_machine_does_is_confirmed_and_what_it_does_not_do_is_refuted(
    tmp_path: Path, law: Law, rules: list[str]
) -> None:
    path = simulated_run(tmp_path, law, description=MACHINE, study=STUDY)
    assert set(rules) <= set(ruled(path, "candidate")) <= {*rules, *ALWAYS}
    other = Path(shutil.copytree(path, tmp_path / "other" / path.name))
    confirm(path, law, MACHINE)
    confirm(other, HEALTHY, MACHINE)
    assert ruled(path, "candidate") == ruled(path, "refuted") == []
    assert set(rules) <= set(ruled(path, "confirmed"))
    assert ruled(other, "refuted") == rules
    assert set(ruled(other, "confirmed")) <= set(ALWAYS)


LATENCIES = Study(
    "Idle states",
    "What do they cost?",
    (
        Measure("core_to_core", ("pair",)),
        Measure("latency", ("one-core",), axes={"bytes": 2**26, "pages": "small"}),
    ),
    launches=3,
)
SLEEP, WAKE = "cpupower idle-set -E", "cpupower idle-set -D 0"
ASLEEP, AWAKE = (Law(commands={SLEEP: rate, WAKE: 1.0}) for rate in (1 / 1.5, 1.0))


def of_rule(path: Path, rule: str) -> list[Finding]:
    return [each for each in analyse(store.load(path)).findings if each.rule == rule]


@pytest.mark.parametrize(("later", "status"), [(ASLEEP, "confirmed"), (AWAKE, "refuted")], ids=["asleep", "awake"])
def test_idle_states_that_cost_latency_are_confirmed_and_chance_is_refuted(
    tmp_path: Path, later: Law, status: str
) -> None:
    cstates = Factor("c-states", ("off", "on"), "commands", commands={"on": SLEEP, "off": WAKE})
    path = simulated_run(tmp_path, ASLEEP, study=LATENCIES, options=Options(factors=(cstates,), launches=3))
    before = of_rule(path, "c_states")
    assert {each.status for each in before} == {"candidate"}
    confirm(path, later)
    (trial,) = store.load(path).plan.trials
    assert {case.factors.get("c-states") for case in trial.cases if case.role == "measure"} == {"off", "on"}
    after = of_rule(path, "c_states")
    assert [each.status for each in after] == [status] * len(before)
    assert {each.severity for each in after} == {"advice" if status == "confirmed" else "fact"}
    assert all(WAKE in each.next for each in after if status == "confirmed")


def with_clock(path: Path, highest_hz: float) -> None:
    """The machine of a run says at which clock its cores may run."""
    (file,) = (path / "machine").glob("*.json")
    facts = {
        "highest frequency": Fact(highest_hz, "Hz", "cpufreq"),
        "nominal frequency": Fact(highest_hz, "Hz", ""),
    }
    (machine,) = store.load(path).machines.values()
    file.write_bytes(
        msgspec.json.encode(msgspec.structs.replace(machine, facts={**machine.facts, "processor": facts}))
    )


@pytest.mark.parametrize(("later_hz", "status"), [(2.5e9, "confirmed"), (3e9, "refuted")])
def test_a_clock_below_what_is_allowed_is_confirmed_and_one_that_was_held_for_a_while_is_refuted(
    tmp_path: Path, later_hz: float, status: str
) -> None:
    study = Study("Clock", "Is it kept?", (Measure("flops", ("one-core",)),), launches=3)
    path = simulated_run(tmp_path, Law(clock_hz=2.5e9), study=study)
    with_clock(path, 3e9)
    (before,) = of_rule(path, "clock")
    assert before.status == "candidate"
    confirm(path, Law(clock_hz=later_hz))
    (after,) = of_rule(path, "clock")
    assert after.status == status
