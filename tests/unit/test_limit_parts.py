"""A figure stands against a limit of its own part of the machine: one core, a memory node, a package, or all."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import EPYC_7601, described, simulated_run

from assay import store
from assay.analyse import analyse, parts
from assay.model.facts import Fact
from assay.model.placed import Placed, Proof
from assay.model.plan import Measure, Study
from assay.model.result import Analysis, Estimate, Limit
from assay.model.run import Run
from assay.simulation import Law
from assay.topics.memory.limits import memory

STUDY = Study(
    "Parts",
    "What does each part stand against?",
    (
        Measure("stream", ("all", "half", "one-core", "all:socket:1", "half:numa:0")),
        Measure("stream", ("all:numa:first",), memory=("bind:*",)),
        Measure("flops", ("all", "one-core", "all:numa:3"), axes={"format": "fp64", "width": "256", "mix": "fma"}),
        Measure("memcpy", ("one-core",), axes={"bytes": 2**26, "buffers": "cold"}),
    ),
    launches=3,
)
#: Two sockets of eight channels of DDR4-2666: AMD states 170.7 GB/s a socket for the EPYC 7601.
CHANNELS, TRANSFERS, OF_SOCKET = 16, 2666.67e6, 170.7e9


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.load(simulated_run(tmp_path_factory.mktemp("parts"), Law(), description=EPYC_7601, study=STUDY))


def _with(run: Run, section: str, **facts: Fact) -> Run:
    named = {name.replace("_", " "): fact for name, fact in facts.items()}
    machines = {
        host: msgspec.structs.replace(each, facts=each.facts | {section: each.facts.get(section, {}) | named})
        for host, each in run.machines.items()
    }
    return msgspec.structs.replace(run, machines=machines)


def _with_modules(run: Run, channels: int = CHANNELS) -> Run:
    rate = Fact(TRANSFERS, "T/s", "test")
    return _with(run, "memory", populated_channels=Fact(channels, source="test"), transfer_rate=rate)


def _stream(analysis: Analysis, label: str, memory: str = "first-touch", kernel: str = "triad") -> Estimate:
    (found,) = [
        each
        for each in analysis.estimates
        if (each.benchmark, each.metric, each.kernel) == ("stream", "traffic", kernel)
        and (each.placement.label, each.placement.memory) == (label, memory)
    ]
    assert found.median is not None
    return found


def _limit(estimate: Estimate) -> Limit:
    assert estimate.limit is not None
    return estimate.limit


def _best(analysis: Analysis, *labels: str) -> float:
    return max(
        each.median or 0.0
        for each in analysis.estimates
        if (each.benchmark, each.metric) == ("stream", "traffic") and each.placement.label in labels
    )


def test_memory_nodes_have_their_share_of_the_channels_and_the_assumption_is_said(run: Run) -> None:
    analysis = analyse(_with_modules(run))
    whole, package, near, far = (
        _limit(_stream(analysis, *place))
        for place in (("all",), ("all:socket:1",), ("all:numa:0", "bind:0"), ("all:numa:0", "bind:7"))
    )
    assert (whole.scope, package.scope, near.scope, far.scope) == ("machine", "package", "numa-node", "numa-node")
    assert whole.value == pytest.approx(2 * OF_SOCKET, rel=1e-3)
    assert package.value == pytest.approx(OF_SOCKET, rel=1e-3)
    assert near.value == far.value == pytest.approx(OF_SOCKET / 4, rel=1e-3)
    assert whole.of.endswith("the whole node")
    assert package.of.endswith("4 of 8 identical memory nodes, evenly distributed (assumed): package 1")
    assert far.of.endswith("1 of 8 identical memory nodes, evenly distributed (assumed): NUMA node 7")
    assert {each.source for each in (whole, package, near, far)} == {"derived"}


def test_cores_that_are_fewer_than_their_memorys_stand_against_what_they_moved_themselves(run: Run) -> None:
    analysis = analyse(_with_modules(run))
    for label, scope, these in (
        ("one-core", "core", "this core"),
        ("half", "cores", "these 32 cores"),
        ("half:numa:0", "cores", "these 4 cores"),
    ):
        limit = _limit(_stream(analysis, label))
        assert (limit.source, limit.scope, limit.value) == ("simulated", scope, _best(analysis, label))
        assert limit.of.startswith(f"the best measured memory rate of {these} in this run: stream ")


def test_without_modules_a_memory_node_stands_against_the_best_that_was_measured_of_it(run: Run) -> None:
    analysis = analyse(run)
    near, far = (_stream(analysis, "all:numa:0", f"bind:{node}") for node in (0, 7))
    assert _limit(near).source == _limit(far).source == "simulated"
    assert _limit(near).value == _best(analysis, "all:numa:0", "half:numa:0", "one-core")
    assert _limit(near).of.startswith("the best measured memory rate of NUMA node 0 of this run: stream ")
    assert _limit(far).of.startswith("the best measured memory rate of NUMA node 7 of this run: stream ")
    whole = _limit(_stream(analysis, "all"))
    assert (whole.scope, whole.value) == ("machine", _best(analysis, "all", "half"))


def test_nodes_that_are_not_alike_have_no_share_of_the_channels(run: Run) -> None:
    topology = described(EPYC_7601).topology
    first, *others = topology.numa_nodes
    larger = msgspec.structs.replace(first, memory_bytes=2 * first.memory_bytes)
    uneven = msgspec.structs.replace(topology, numa_nodes=(larger, *others))
    assert memory.even_share(frozenset({3}), topology) == 1 / 8
    assert memory.even_share(frozenset({3}), uneven) is None
    assert memory.even_share(frozenset(range(8)), uneven) == 1
    machines = {
        host: msgspec.structs.replace(each, topology=uneven) for host, each in _with_modules(run).machines.items()
    }
    analysis = analyse(msgspec.structs.replace(run, machines=machines))
    assert _limit(_stream(analysis, "all:numa:0", "bind:3")).source == "simulated"
    assert _limit(_stream(analysis, "all")).source == "derived"


def test_a_share_of_the_channels_that_a_figure_exceeds_was_assumed_wrongly(run: Run) -> None:
    few = analyse(_with_modules(run, channels=8))  # one to a node: 21 GB/s, of which 30 are measured
    (node,) = {_limit(_stream(few, "all:numa:0", "bind:0", kernel)).source for kernel in ("copy", "triad")}
    assert node == "simulated"


def test_what_the_user_says_of_the_machine_is_of_its_parts_their_share_or_nothing(run: Run) -> None:
    analysis = analyse(run, {"memory-traffic": 400e9, "flops-peak": 6.4e12})
    whole, node, core = (
        _limit(_stream(analysis, *place)) for place in (("all",), ("all:numa:0", "bind:5"), ("one-core",))
    )
    assert (whole.source, whole.value, whole.scope) == ("given", 400e9, "machine")
    assert (node.source, node.value, node.scope) == ("given", 50e9, "numa-node")
    assert node.of.endswith("an even share for NUMA node 5")
    assert core.source == "simulated"
    peaks = {each.placement.label: _limit(each) for each in analysis.estimates if each.unit == "flop/s"}
    assert {label: (peak.value, peak.scope) for label, peak in peaks.items()} == {
        "all": (6.4e12, "machine"),
        "one-core": (0.1e12, "core"),
        "all:numa:3": (0.8e12, "numa-node"),
    }
    assert peaks["one-core"].of.endswith("1 of 64 cores")


def test_a_peak_is_of_the_cores_that_compute_and_a_copy_of_one(run: Run) -> None:
    facts = {"nominal_frequency": Fact(3e9, "Hz", "test"), "microarchitecture": Fact("zen2", source="test")}
    analysis = analyse(_with(run, "processor", **facts))
    peaks = {each.placement.label: _limit(each) for each in analysis.estimates if each.unit == "flop/s"}
    assert {label: peak.scope for label, peak in peaks.items()} == {
        "all": "machine",
        "one-core": "core",
        "all:numa:3": "numa-node",
    }
    assert peaks["all"].value == 64 * peaks["one-core"].value == 8 * peaks["all:numa:3"].value
    (copy,) = [each for each in analysis.estimates if each.benchmark == "memcpy" and each.metric == "bandwidth"]
    assert _limit(copy).scope == "core"


def test_a_figure_alone_on_its_cores_has_no_limit(tmp_path: Path) -> None:
    alone = msgspec.structs.replace(
        STUDY, measure=(Measure("himeno", ("all", "one-core"), axes={"size": "L"}), Measure("stream", ("all",)))
    )
    analysis = analyse(store.load(simulated_run(tmp_path, description=EPYC_7601, study=alone)))
    himeno = {(e.placement.label, e.metric): e for e in analysis.estimates if e.benchmark == "himeno"}
    assert himeno["one-core", "traffic"].median is not None
    assert himeno["one-core", "traffic"].limit is None
    assert himeno["one-core", "rate"].limit is None
    assert _limit(himeno["all", "traffic"]).scope == _limit(himeno["all", "rate"]).scope == "machine"


@pytest.mark.parametrize(
    ("description", "cores", "scope"),
    [
        (EPYC_7601, range(64), "machine"),
        (EPYC_7601, range(32, 64), "package"),
        (EPYC_7601, range(8, 16), "numa-node"),
        (EPYC_7601, [5], "core"),
        (EPYC_7601, [0, 8], "cores"),
        ("pack:2 numa:1(memory=8GB) core:64 pu:2", range(64, 128), "package"),
        ("pack:1 numa:1(memory=8GB) core:1 pu:1", [0], "machine"),
    ],
)
def test_cores_are_all_of_something_or_some(description: str, cores: range, scope: str) -> None:
    assert parts.scope_of_cores(frozenset(cores), described(description).topology) == scope


@pytest.mark.parametrize(
    ("nodes", "scope", "name"),
    [
        ({0, 1, 2, 3, 4, 5, 6, 7}, "machine", "the whole node"),
        ({4, 5, 6, 7}, "package", "package 1"),
        ({2}, "numa-node", "NUMA node 2"),
        ({0, 4}, "numa-nodes", "NUMA nodes 0, 4"),
    ],
)
def test_memory_nodes_are_called_what_they_are_together(nodes: set[int], scope: str, name: str) -> None:
    topology = described(EPYC_7601).topology
    assert parts.scope_of_nodes(frozenset(nodes), topology) == scope
    assert parts.name_of_nodes(frozenset(nodes), topology) == name


def test_the_memory_of_a_figure_is_where_its_pages_were_found(run: Run) -> None:
    topology = described(EPYC_7601).topology
    (one, *_) = [each for each in analyse(run).estimates if each.placement.label == "all:numa:0"]

    def nodes(memory: str, found: dict[str, float] | None) -> set[int]:
        proof = None if found is None else Proof((), found, as_asked=True)
        placed = Placed("all:numa:0", one.placement.hosts, one.placement.cpus, memory, proof)
        return set(parts.part(msgspec.structs.replace(one, placement=placed), topology).nodes)

    assert nodes("first-touch", {"3": 0.996, "0": 0.004}) == {3}
    assert nodes("first-touch", {}) == {0}
    assert nodes("bind:6", None) == {6}
    assert nodes("interleave:0-7", None) == set(range(8))


def test_few_allowed_cores_of_a_large_machine_are_not_held_against_all_of_it(run: Run) -> None:
    topology = described("pack:1 numa:1(memory=64GB) core:192 pu:1").topology
    assert not parts.drives(parts.Part(frozenset({0, 1}), frozenset({0})), topology)
    assert parts.drives(parts.Part(frozenset(range(192)), frozenset({0})), topology)
    epyc = run.machines["simulated"].topology
    assert parts.drives(parts.Part(frozenset(range(8)), frozenset({7})), epyc)
    assert not parts.drives(parts.Part(frozenset(range(8)), frozenset(range(8))), epyc)
