"""Layouts on a machine: ranks, cpus and devices of each; sweeps over ranks and nodes; hosts that are unlike."""

from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulation import EPYC_7601, TWO_CORES, described

from assay.catalogue import benchmarks
from assay.machine import synthetic
from assay.model.benchmark import Resources
from assay.model.declaration import Axis, Params
from assay.model.errors import UsageError
from assay.model.facts import Fact
from assay.model.machine import Device, Machine
from assay.model.placement import Placement
from assay.model.plan import Case, Measure, Plan, Study
from assay.plan import Options, make
from assay.plan.cores import GROUPS
from assay.plan.layout import is_layout, layouts
from assay.plan.placement import AbsentPlacementError

#: Two sockets of two memory nodes, each of two L3 groups of four cores.
SERVER = "pack:2 numa:2(memory=16GB) l3:2(size=16MB) core:4 pu:2"
SOCKET = "pack:1 numa:1(memory=16GB) l3:1(size=16MB) core:8 pu:1"


def planned(
    *placements: str,
    machine: Machine | None = None,
    benchmark: str = "collective",
    unlike: dict[str, Machine] | None = None,
    **options: object,
) -> Plan:
    axes = {"collective": {"operation": "barrier"}, "pt2pt": {"bytes": 8}}.get(benchmark, {})
    study = Study("S", "Q?", (Measure(benchmark, placements, axes=axes),))  # type: ignore[arg-type]
    return make("own.toml", study, machine or described(SERVER), Options(seed=1, **options), unlike or {})  # type: ignore[arg-type]


def placed(plan: Plan) -> dict[str, Placement]:
    return {case.placement.label: case.placement for case in plan.studied}


def case(plan: Plan) -> Case:
    (only,) = plan.studied
    return only


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("1x1", "one rank on one core"),
        ("2x1", "2 ranks, one core each"),
        ("4x8", "4 ranks, 8 cores of one NUMA node each"),
    ],
)
def test_ranks_and_their_cores_are_counted_in_plain_words(word: str, meaning: str) -> None:
    (place,) = layouts(word, described(SERVER))
    assert place.meaning == meaning


@pytest.mark.parametrize(
    ("word", "ranks"),
    [
        ("2x4", ((0, 2, 4, 6), (32, 34, 36, 38))),  # an L3 group of each socket
        ("2x8", (tuple(range(0, 16, 2)), tuple(range(32, 48, 2)))),  # a memory node of each socket
        ("2x16", (tuple(range(0, 32, 2)), tuple(range(32, 64, 2)))),  # the sockets
        ("4x1", ((0,), (16,), (32,), (48,))),
        ("1x32", (tuple(range(0, 64, 2)),)),
        ("rank-per:socket", (tuple(range(0, 32, 2)), tuple(range(32, 64, 2)))),
        ("rank-per:numa", tuple(tuple(range(first, first + 16, 2)) for first in range(0, 64, 16))),
        ("rank-per:l3", tuple(tuple(range(first, first + 8, 2)) for first in range(0, 64, 8))),
        ("rank-per:core", tuple((cpu,) for cpu in range(0, 64, 2))),
    ],
)
def test_each_rank_is_inside_the_smallest_domain_and_ranks_are_far_apart(
    word: str, ranks: tuple[tuple[int, ...], ...]
) -> None:
    (place,) = layouts(word, described(SERVER))
    assert place.ranks == ranks
    assert place.cpus == tuple(cpu for cpus in ranks for cpu in cpus)


@pytest.mark.parametrize("description", [SERVER, EPYC_7601, SOCKET, TWO_CORES, "pack:2 numa:1 core:6 pu:1"])
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_ranks_are_disjoint_of_the_size_asked_and_never_straddle_where_a_domain_has_room(
    description: str, data: st.DataObject
) -> None:
    machine = described(description)
    cores = machine.topology.cores
    each = data.draw(st.integers(1, len(cores)))
    count = data.draw(st.integers(1, len(cores) // each))
    (place,) = layouts(f"{count}x{each}", machine)
    assert [len(rank) for rank in place.ranks] == [each] * count
    assert len(set(place.cpus)) == count * each
    core_of = {core.cpus[0]: core for core in cores}
    for name in ("l3", "numa", "socket"):
        key = GROUPS[name][1]
        sizes: dict[int, int] = {}
        for core in cores:
            sizes[key(core)] = sizes.get(key(core), 0) + 1
        if sum(size // each for size in sizes.values()) >= count:
            assert all(len({key(core_of[cpu]) for cpu in rank}) == 1 for rank in place.ranks)


@pytest.mark.parametrize(
    ("word", "labels"),
    [
        ("*x4", ["1x4", "2x4", "4x4", "8x4"]),
        ("*x5", ["1x5", "2x5", "4x5", "6x5"]),
        ("1,2,allx16", ["1x16", "2x16"]),
        ("allx1", ["32x1"]),
    ],
)
def test_a_sweep_over_ranks_is_a_placement_for_each_number(word: str, labels: list[str]) -> None:
    assert [place.word for place in layouts(word, described(SERVER))] == labels


def test_a_sweep_over_nodes_is_a_placement_for_each_number() -> None:
    found = placed(planned("2x2@1,2,all", hosts=("n1", "n2", "n3")))
    assert {label: len(each.hosts) for label, each in found.items()} == {"2x2@1": 1, "2x2@2": 2, "2x2@all": 3}
    assert all(len(each.rank_cpus) == 2 * len(each.hosts) for each in found.values())


def test_more_nodes_than_there_are_are_left_out_of_a_sweep_with_the_reason() -> None:
    plan = planned("2x1@1,4", hosts=("n1", "n2"))
    assert list(placed(plan)) == ["2x1@1"]
    assert [(left.request, left.reason) for left in plan.left_out] == [
        ("collective at 2x1@4", "it needs 4 nodes; this run has 2 nodes (see --hosts)")
    ]


def test_layouts_and_words_of_the_same_ranks_are_measured_once() -> None:
    plan = planned("all", "rank-per:core", "4x8", "rank-per:numa")
    assert list(placed(plan)) == ["all", "4x8"]
    assert [(fold.request, fold.into) for fold in plan.folded] == [
        ("rank-per:core", "all"),
        ("rank-per:numa", "4x8"),
    ]
    assert len(planned("4x8", "all").studied) == 2  # the same cpus, other ranks


@pytest.mark.parametrize("word", ["5x8", "1x33", "allx64"])
def test_a_layout_without_room_is_refused_in_a_study_of_one_s_own(word: str) -> None:
    with pytest.raises(AbsentPlacementError, match="means nothing on this machine") as absent:
        planned(word)
    assert "32 cores may be used" in absent.value.why


@pytest.mark.parametrize("word", ["0x4", "2x", "x4", "2x0", "two x4", "rank-per:node"])
def test_what_is_no_layout_is_no_word(word: str) -> None:
    assert not is_layout(word)
    with pytest.raises(UsageError, match="there is no placement"):
        planned(word)


def test_a_program_of_one_process_has_one_rank_on_each_host() -> None:
    plan = planned("1x8", "2x8", benchmark="flops")
    (only,) = placed(plan).values()
    assert (only.cpus, only.ranks) == (tuple(range(0, 16, 2)), ())
    assert [(left.request, left.reason) for left in plan.left_out] == [
        ("flops at 2x8", "flops is one process on each host, not 2 ranks")
    ]


def test_a_benchmark_says_how_many_cpus_its_ranks_use() -> None:
    plan = planned("2x1", "2x2", benchmark="tcp")
    assert list(placed(plan)) == ["2x1"]
    assert [left.reason for left in plan.left_out] == ["tcp uses one cpu a rank, 2x2 has 2"]


def test_memory_is_counted_by_ranks_not_by_cpus() -> None:
    one, four = planned("2x1", benchmark="pt2pt"), planned("2x4", benchmark="pt2pt")
    assert case(one).memory_bytes == case(four).memory_bytes


def gpu(name: str, node: int, driver: str = "nvidia") -> Device:
    facts: dict[str, str | int] = {"class": "display controller", "driver": driver, "NUMA node": node}
    return Device(name, "accelerator", {key: Fact(value, source="test") for key, value in facts.items()})


def test_a_rank_for_each_gpu_has_its_share_of_the_cores_nearest_to_it() -> None:
    devices = (gpu("0000:01:00.0", 1), gpu("0000:02:00.0", 1), gpu("0000:81:00.0", 3), gpu("bmc", 0, "ast"))
    machine = msgspec.structs.replace(described(SERVER), devices=devices)
    (place,) = layouts("rank-per:gpu", machine)
    assert place.ranks == ((16, 18, 20, 22), (24, 26, 28, 30), tuple(range(48, 64, 2)))
    assert [[device.name for device in rank] for rank in place.devices] == [
        ["0000:01:00.0"],
        ["0000:02:00.0"],
        ["0000:81:00.0"],
    ]
    assert [device.near for (device,) in place.devices] == [1, 1, 3]
    on_two = case(planned("rank-per:gpu@2", machine=machine, hosts=("n1", "n2"))).placement
    assert len(on_two.rank_cpus) == 6
    assert on_two.devices == ()  # a barrier works on none


def test_without_a_gpu_the_word_is_left_out_of_any_study() -> None:
    with pytest.raises(AbsentPlacementError) as absent:
        layouts("rank-per:gpu", synthetic(SERVER))
    assert absent.value.why == "no GPU is known on this machine"


def test_ranks_of_unlike_hosts_are_placed_by_each_host_s_own_topology() -> None:
    unlike = {"n2": described(SOCKET)}
    found = placed(planned("2x2@2", "rank-per:numa@2", "all@2", hosts=("n1", "n2", "n3"), unlike=unlike))
    assert found["2x2@2"].by_host == (((0, 2), (32, 34)), ((0, 1), (2, 3)))
    numa = found["rank-per:numa@2"]
    assert [len(ranks) for ranks in numa.host_ranks] == [4, 1]
    assert numa.rank_hosts == ("n1",) * 4 + ("n2",)
    assert numa.host_ranks[1] == ((0, 1, 2, 3, 4, 5, 6, 7),)
    assert [len(ranks) for ranks in found["all@2"].host_ranks] == [32, 8]
    assert "(as on n2)" in found["all@2"].meaning


def test_a_host_that_lacks_what_a_word_names_is_told_by_its_name() -> None:
    plan = planned("all:numa:*@2", hosts=("n1", "n2"), unlike={"n2": described(SOCKET)})
    assert list(placed(plan)) == ["all:numa:0@2"]
    assert {(left.request, left.reason) for left in plan.left_out} == {
        (f"collective at all:numa:{node}@2", f"n2 has no all:numa:{node}") for node in (1, 2, 3)
    }


def test_programs_of_one_process_have_cases_of_their_own_on_each_kind_of_host() -> None:
    unlike = {"n2": described(SOCKET)}
    plan = planned("all", "all:socket:1", benchmark="stream", hosts=("n1", "n2", "n3"), unlike=unlike, launches=1)
    found = {(each.placement.label, each.placement.hosts): each for each in plan.studied}
    assert list(found) == [("all", ("n1", "n3")), ("all:socket:1", ("n1", "n3")), ("all", ("n2",))]
    large, small = found["all", ("n1", "n3")], found["all", ("n2",)]
    assert (len(large.placement.cpus), small.placement.cpus) == (32, tuple(range(8)))
    assert large.params["elements"] == 8 * int(small.params["elements"])  # by the caches of each
    assert len({each.id for each in plan.cases}) == len(plan.cases)
    assert ("stream at all:socket:1, on hosts like n2") in [left.request for left in plan.left_out]


def test_memory_nodes_that_differ_between_unlike_hosts_are_no_one_policy() -> None:
    memory = ("first-touch", "interleave")
    study = Study("S", "Q?", (Measure("collective", ("2x2@2",), memory, {"operation": "barrier"}),))
    plan = make("own.toml", study, described(SERVER), Options(hosts=("a", "b")), {"b": described(SOCKET)})
    assert [left.reason for left in plan.left_out] == ["it names other memory nodes on some of these hosts"]
    assert str(case(plan).placement.memory) == "first-touch"


def test_points_depend_on_each_other_and_on_the_placement(monkeypatch: pytest.MonkeyPatch) -> None:
    def points(resources: Resources, _params: Params) -> Iterable[Params]:
        ranks = len(resources.placement.rank_cpus)
        return ({"p": p, "q": ranks // p, "n": 192 * ranks} for p in range(1, ranks + 1) if ranks % p == 0)

    known = benchmarks.get
    axes = tuple(Axis(name, "of the grid", (), None) for name in ("p", "q", "n"))
    grid = msgspec.structs.replace(known("collective"), axes=(*known("collective").axes, *axes), points=points)
    monkeypatch.setattr(benchmarks, "get", lambda name: grid if name == "collective" else known(name))
    found = planned("2x2", "4x1").studied
    assert [(each.placement.label, each.params["p"], each.params["q"], each.params["n"]) for each in found] == [
        ("2x2", 1, 2, 384),
        ("2x2", 2, 1, 384),
        ("4x1", 1, 4, 768),
        ("4x1", 2, 2, 768),
        ("4x1", 4, 1, 768),
    ]
    assert all(f"p={each.params['p']},q={each.params['q']}" in each.id for each in found)
    assert all(",n=" not in each.id for each in found)
