"""`assay plan node` for machines that are not like most: it is right, or says what it leaves out."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from assay import machine as machines
from assay import plan, studies
from assay.cli import assay
from assay.model.facts import Fact
from assay.model.machine import Cache, Machine, NumaNode
from assay.model.plan import Case, Plan

MakeMachine = Callable[..., Machine]
MACHINES = Path(__file__).parents[1] / "machines"
#: What a plan of the whole node may cost at most, however large the node is.
MOST_CASES, MOST_S = 1200, 3600
#: The same for a machine of more than a thousand memory nodes, each of which has its bandwidth measured.
MOST_CASES_OF_A_THOUSAND, MOST_S_OF_A_THOUSAND = 1300, 3900


@dataclass(frozen=True)
class Shown:
    """`assay plan node` as it is printed on 80 columns, and as data."""

    text: str
    plan: Plan

    @property
    def words(self) -> str:
        """The text without its line breaks."""
        return " ".join(self.text.split())

    def cases(self, benchmark: str, **params: Any) -> list[Case]:  # noqa: ANN401 (values of axes)
        """The measured cases of a benchmark with these params."""
        return [
            case
            for case in self.plan.cases
            if case.benchmark == benchmark and case.role == "measure" and params.items() <= case.params.items()
        ]

    def places(self, benchmark: str, **params: Any) -> dict[str, tuple[int, ...]]:  # noqa: ANN401 (values of axes)
        """Placement word -> cpus."""
        return {case.placement.label: case.placement.cpus for case in self.cases(benchmark, **params)}


Ask = Callable[[Machine], Shown]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ask:
    """The plan of the study `node` for a machine; it is bounded and no line is too long."""

    def run(machine: Machine) -> Shown:
        plans: list[Plan] = []

        def once(*asked: Any) -> Plan:  # noqa: ANN401 (a study, a machine and options)
            plans[:] = plans or [make(*asked)]
            return plans[0]

        make = plan.make
        monkeypatch.setattr("assay.machine.synthetic", lambda _description: machine)
        monkeypatch.setattr("assay.plan.make", once)
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.chdir(tmp_path)
        words = ["plan", "node", "--seed", "1", "--synthetic", "described"]
        text = CliRunner().invoke(assay, words, catch_exceptions=False).output
        made = msgspec.json.decode(CliRunner().invoke(assay, [*words, "--json"]).output, type=Plan)
        assert [line for line in text.splitlines() if len(line) > 80] == []
        monkeypatch.setattr("assay.plan.make", make)
        many = len(machine.topology.numa_nodes) > 1000
        assert len(made.cases) < (MOST_CASES_OF_A_THOUSAND if many else MOST_CASES)
        assert made.estimate_s < (MOST_S_OF_A_THOUSAND if many else MOST_S)
        assert made.budget_s is not None
        assert made.budget_s >= made.estimate_s
        return Shown(text, made)

    return run


def changed(machine: Machine, **topology: Any) -> Machine:  # noqa: ANN401 (fields of Topology)
    return msgspec.structs.replace(machine, topology=msgspec.structs.replace(machine.topology, **topology))


def test_one_core_is_measured_alone_and_what_needs_two_is_left_out(ask: Ask, make_machine: MakeMachine) -> None:
    shown = ask(make_machine())
    assert shown.places("stream") == {"all": (0,)}
    assert not shown.cases("core_to_core")
    assert "core_to_core at pair: this machine has one core" in shown.words
    assert "cores:1 is all: this machine has one core" in shown.words
    assert "cache-line probe around every launch: none: one core" in shown.words


def test_two_cores_take_the_six_minutes_that_are_promised(ask: Ask, make_machine: MakeMachine) -> None:
    shown = ask(make_machine(cores=2))
    assert (shown.plan.budget_s, shown.plan.launches) == (350, 6)


def test_two_cores_beside_a_huge_cache_take_no_longer_than_others_and_their_pools_just_pass_it(
    ask: Ask, make_machine: MakeMachine
) -> None:
    machine = make_machine(cores=2)
    llc = 480 * 2**20
    caches = tuple(
        msgspec.structs.replace(cache, size_bytes=llc) if cache.level == 3 else cache
        for cache in machine.topology.caches
    )
    memory = (msgspec.structs.replace(machine.topology.numa_nodes[0], memory_bytes=24 * 2**30),)
    shown = ask(changed(machine, caches=caches, numa_nodes=memory))
    assert shown.plan.launches == 6
    assert shown.plan.budget_s == 350
    assert shown.plan.estimate_s <= 330
    assert {case.params["pool"] for case in shown.cases("memcpy")} == {2 * llc}
    arrays = {case.params["elements"] for case in shown.cases("stream")}
    assert arrays == {4 * llc // 8}  # STREAM's rule holds however long it takes


def test_two_sockets_of_64_cores_with_smt_are_sampled_and_the_plan_says_so(
    ask: Ask, make_machine: MakeMachine
) -> None:
    shown = ask(make_machine(2, 1, 16, 4, 2))
    places = shown.places("stream", stores="ordinary", touch="parallel")
    assert places["all"] == tuple(range(0, 256, 2))
    assert len(places["all-threads"]) == 256
    assert places["cores:2"] == (0, 2)
    assert places["spread:2"] == (0, 128)
    assert "stream at cores:*: a sample: 39 of 128 numbers of cores are measured" in shown.words
    assert re.search(r"core_to_core at pair:\*: a sample: \d+ of 8128 pairs of cores are measured", shown.words)
    assert len(shown.cases("core_to_core")) <= 241


def test_eight_nodes_have_a_matrix_of_bandwidth_and_one_of_latency(ask: Ask, make_machine: MakeMachine) -> None:
    shown = ask(make_machine(2, 4, 2, 4))
    every = {(f"numa:{cpu}", f"bind:{memory}") for cpu in range(8) for memory in range(8)}
    for benchmark, word in (("stream", "all"), ("latency", "one-core")):
        cells = {
            (case.placement.label.removeprefix(f"{word}:"), str(case.placement.memory))
            for case in shown.cases(benchmark)
            if case.placement.label.startswith(f"{word}:numa:") and case.placement.memory.policy == "bind"
        }
        assert cells >= every
    assert shown.text.count("8 x 8 placements") == 2
    assert {str(case.placement.memory) for case in shown.cases("stream", touch="serial")} >= {
        "first-touch",
        "interleave:0,1,2,3,4,5,6,7",
    }


def matrix(shown: Shown, benchmark: str, word: str) -> set[tuple[int, int]]:
    """The cells (cpu node, memory node) that are measured of a benchmark at `word:numa:*`."""
    return {
        (int(case.placement.label.rpartition(":")[2]), case.placement.memory.nodes[0])
        for case in shown.cases(benchmark)
        if case.placement.label.startswith(f"{word}:numa:") and case.placement.memory.policy == "bind"
    }


@pytest.mark.parametrize(("sockets", "nodes", "cores"), [(8, 8, 4), (1, 1025, 4)])
def test_many_nodes_have_matrices_of_a_sample_and_the_plan_says_so(
    ask: Ask, make_machine: MakeMachine, sockets: int, nodes: int, cores: int
) -> None:
    shown = ask(changed(make_machine(sockets, nodes, 1, cores), caches=()))  # as hwloc describes them
    for benchmark, word in (("stream", "all"), ("latency", "one-core")):
        cells = matrix(shown, benchmark, word)
        chosen = {cpu for cpu, _ in cells}
        assert len(chosen) == 16
        assert cells == {(cpu, memory) for cpu in chosen for memory in chosen}
        same_socket = sum(cpu != memory and cpu // nodes == memory // nodes for cpu, memory in cells)
        assert same_socket >= 4
        assert sockets == 1 or len(cells) - 16 - same_socket >= 4
        total = (sockets * nodes) ** 2
        assert f"{benchmark} at {word}:numa:*, bind:*: a sample: 256 of {total} cells are measured" in shown.words
    assert shown.text.count("16 x 16 placements") == 2
    assert len(shown.cases("core_to_core")) <= 241


def test_eight_sockets_of_1024_cores_are_sampled_and_the_plan_says_so(ask: Ask, make_machine: MakeMachine) -> None:
    shown = ask(make_machine(8, 1, 1, 1024))
    assert len(matrix(shown, "stream", "all")) == len(matrix(shown, "latency", "one-core")) == 64
    assert "stream at cores:*: a sample: 87 of 8192 numbers of cores are measured" in shown.words
    pairs = list(shown.places("core_to_core").values())
    assert sum(one // 1024 == other // 1024 for one, other in pairs) >= 4
    assert sum(one // 1024 != other // 1024 for one, other in pairs) >= 4
    assert len(pairs) <= 241


def test_two_sockets_of_128_cores_with_smt_have_curves_up_to_256_cores(
    ask: Ask, make_machine: MakeMachine
) -> None:
    shown = ask(make_machine(2, 1, 16, 8, 2))
    places = shown.places("stream", stores="ordinary", touch="parallel")
    assert len(places["all-threads"]) == 512
    assert places["all"] == tuple(range(0, 512, 2))
    assert places["spread:2"] == (0, 256)
    assert "stream at spread:*: a sample: 47 of 256 numbers of cores are measured" in shown.words


def test_nodes_without_memory_and_nodes_without_cores_are_told_apart(ask: Ask, make_machine: MakeMachine) -> None:
    machine = make_machine(1, 2, 1, 2)
    cores = tuple(msgspec.structs.replace(core, numa=0) for core in machine.topology.cores)
    nodes = (
        NumaNode(0, 2**36, (0, 1), 0),
        NumaNode(1, 0, (2, 3), 0),
        NumaNode(2, 2**38, (), None),  # memory only: CXL
    )
    shown = ask(changed(machine, cores=cores, numa_nodes=nodes, allowed_nodes=(0, 1, 2)))
    bound = {
        (case.placement.label, str(case.placement.memory))
        for case in shown.cases("stream")
        if ":numa:" in case.placement.label and case.placement.memory.policy == "bind"
    }
    assert {memory for _, memory in bound} | {
        str(case.placement.memory) for case in shown.cases("stream") if case.placement.memory.policy == "bind"
    } == {"bind:0", "bind:2"}
    assert {str(case.placement.memory) for case in shown.cases("latency")} >= {"bind:0", "bind:2"}
    assert not any("1" in str(case.placement.memory) for case in shown.plan.cases)


def test_a_node_of_8_gib_beside_a_large_one_bounds_what_is_bound_to_it(
    ask: Ask, make_machine: MakeMachine
) -> None:
    machine = make_machine(1, 2, 1, 2)
    small = msgspec.structs.replace(machine.topology.numa_nodes[1], memory_bytes=200 * 2**20)
    shown = ask(changed(machine, numa_nodes=(machine.topology.numa_nodes[0], small)))
    for case in shown.plan.cases:
        if case.placement.memory.nodes == (1,):
            assert case.memory_bytes <= 200 * 2**20
    assert re.search(r"latency at one-core:numa:0, bind:1[^:]*: it needs \S+ MiB of memory; 200 MiB", shown.words)


def test_a_hybrid_processor_begins_with_its_performance_cores(ask: Ask) -> None:
    shown = ask(machines.load_xml(MACHINES / "hybrid.xml"))
    assert "all 8 cores (2 performance, 6 efficiency), one thread each" in shown.words
    places = shown.places("stream", stores="ordinary")
    assert places["one-core"] == (0,)
    assert places["cores:2"] == (0, 2)
    assert places["cores:3"] == (0, 2, 4)
    assert "spread:1 is one-core: both are one performance core" in shown.words
    assert shown.places("latency") == {"one-core": (0,)}


def test_a_cgroup_that_allows_2_of_192_cpus_bounds_every_placement(ask: Ask, make_machine: MakeMachine) -> None:
    shown = ask(changed(make_machine(2, 4, 1, 24), allowed_cpus=(100, 150), allowed_nodes=(4, 6)))
    assert {cpu for case in shown.plan.cases for cpu in case.placement.cpus} == {100, 150}
    assert {node for case in shown.plan.cases for node in case.placement.memory.nodes} == {4, 6}
    assert "2 cores, all that may be used of 192" in shown.words
    assert "half is one-core: half of 2 cores is one core" in shown.words
    assert shown.plan.probe_cpus == (100, 150)


def test_offline_cpus_take_part_in_nothing(ask: Ask, make_machine: MakeMachine) -> None:
    machine = make_machine(cores=8)
    shown = ask(changed(machine, cores=machine.topology.cores[:5], allowed_cpus=(0, 1, 2, 3, 4)))
    assert shown.places("stream", stores="ordinary") == {
        "all": (0, 1, 2, 3, 4),
        "one-core": (0,),
        "half": (0, 1),
        "cores:3": (0, 1, 2),
        "cores:4": (0, 1, 2, 3),
    }
    assert {cpu for case in shown.plan.cases for cpu in case.placement.cpus} == {0, 1, 2, 3, 4}


def test_an_arm_server_without_shared_caches_is_planned_by_its_memory_nodes(
    ask: Ask, make_machine: MakeMachine
) -> None:
    machine = make_machine(2, 1, 1, 40)
    own = tuple(Cache(2, "unified", 2**20, 64, (cpu,)) for cpu in range(80))
    shown = ask(changed(machine, caches=own))
    places = shown.places("stream", stores="ordinary", touch="parallel")
    assert places["cores:3"] == (0, 1, 2)
    assert places["spread:4"] == (0, 1, 40, 41)
    assert "40 of 80 cores, 20 of each NUMA node" in shown.words
    assert "stream at all:l3:first: no cache is known that several cores share" in shown.words
    assert not any(":l3:" in case.placement.label for case in shown.plan.cases)
    elements = {
        case.params["elements"]
        for case in shown.cases("stream", stores="ordinary")
        if case.id.startswith("stream/all/")
    }
    assert elements == {4 * 80 * 2**20 // 8}  # STREAM's rule for 80 caches of 1 MiB


def test_an_arm_processor_computes_with_what_it_has(make_machine: MakeMachine) -> None:
    facts = {"processor": {"vector instructions": Fact(("asimd", "asimddp"))}}
    arm = msgspec.structs.replace(make_machine(cores=4), origin="live", facts=facts)
    made = plan.make("flops", studies.get("flops"), arm, plan.Options(seed=1))
    assert {case.params["width"] for case in made.cases if case.benchmark == "flops"} == {"scalar", "128"}
    assert {left.request: left.reason for left in made.left_out if "512" in left.request} == {
        "flops, width=512": "it needs avx512f (vector instructions: asimd, asimddp)"
    }
