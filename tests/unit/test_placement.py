from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.errors import UsageError
from assay.model.machine import Core, Machine, NumaNode, Topology, allowed_cores
from assay.model.placement import Memory, Word, parsed
from assay.plan.cores import grouped, nearest_pair
from assay.plan.nodes import memory_targets
from assay.plan.placement import AbsentPlacementError, bindings, places
from assay.plan.placement_words import NODE_WORDS, WORDS

MakeMachine = Callable[..., Machine]


def with_topology(machine: Machine, **changes: Any) -> Topology:  # noqa: ANN401 (fields of Topology)
    return msgspec.structs.replace(machine.topology, **changes)


def cpus(word: str, topology: Topology) -> list[tuple[int, ...]]:
    return [place.cpus for place in places(word, topology)]


def memory(word: str, place: str, topology: Topology) -> list[str]:
    return [str(binding.memory) for binding in bindings(word, places(place, topology)[0], topology)]


# The dual AMD EPYC 7601 of the published study: 2 sockets, 4 dies each, 2 core complexes of 4 cores.
EPYC = [
    ("all", "all 64 cores", tuple(range(64))),
    ("half", "32 of 64 cores, 2 of each L3 group", tuple(cpu for cpu in range(64) if cpu % 4 < 2)),
    ("all:socket:0", "all 32 cores of socket 0, its 4 NUMA nodes", tuple(range(32))),
    ("all:socket:1", "all 32 cores of socket 1, its 4 NUMA nodes", tuple(range(32, 64))),
    ("all:numa:3", "all 8 cores of NUMA node 3, both L3 groups", tuple(range(24, 32))),
    ("half:numa:3", "4 of 8 cores of NUMA node 3, 2 of each L3 group", (24, 25, 28, 29)),
    ("all:l3:15", "all 4 cores of L3 group 15 (NUMA node 7)", (60, 61, 62, 63)),
    (
        "half:socket:1",
        "16 of 32 cores of socket 1, 2 of each L3 group",
        tuple(c for c in range(32, 64) if c % 4 < 2),
    ),
    ("one-core", "one core", (0,)),
    ("one-core:numa:3", "one core of NUMA node 3", (24,)),
    ("one-core:l3:15", "one core of L3 group 15", (60,)),
    ("one-core:socket:1", "one core of socket 1", (32,)),
    ("pair", "two cores of one L3 group", (0, 1)),
]


@pytest.mark.parametrize(("word", "meaning", "expected"), EPYC)
def test_the_dual_epyc_has_these_placements(
    word: str, meaning: str, expected: tuple[int, ...], make_machine: MakeMachine
) -> None:
    (place,) = places(word, make_machine(2, 4, 2, 4).topology)
    assert (place.meaning, place.cpus) == (meaning, expected)


def test_a_star_is_each_group_and_first_is_the_first_usable_one(make_machine: MakeMachine) -> None:
    epyc = make_machine(2, 4, 2, 4)
    assert [place.word for place in places("all:numa:*", epyc.topology)] == [f"all:numa:{n}" for n in range(8)]
    second_socket = with_topology(epyc, allowed_cpus=tuple(range(40, 48)))
    assert [place.word for place in places("all:numa:first", second_socket)] == ["all:numa:5"]


def test_all_takes_one_thread_of_each_core_and_all_threads_every_one(make_machine: MakeMachine) -> None:
    topology = make_machine(2, 1, 1, 64, 2).topology
    assert cpus("all", topology) == [tuple(range(0, 256, 2))]
    assert cpus("all-threads", topology) == [tuple(range(256))]
    assert places("all", topology)[0].meaning == "all 128 cores, one thread each"
    assert places("all-threads", topology)[0].meaning == "all 256 hardware threads of 128 cores"


def test_without_smt_all_threads_says_that_there_is_one_thread_per_core(make_machine: MakeMachine) -> None:
    with pytest.raises(AbsentPlacementError) as caught:
        places("all-threads", make_machine(cores=4).topology)
    assert caught.value.why == "this machine has one hardware thread per core"


def test_a_core_whose_first_thread_is_not_allowed_runs_on_its_second(make_machine: MakeMachine) -> None:
    topology = with_topology(make_machine(cores=2, threads=2), allowed_cpus=(1, 2))
    assert cpus("all", topology) == [(1, 2)]
    with pytest.raises(AbsentPlacementError) as caught:
        places("all-threads", topology)
    assert caught.value.why == "one thread of each core may be used"


def test_two_allowed_cpus_of_192_are_all_there_is(make_machine: MakeMachine) -> None:
    topology = with_topology(make_machine(2, 4, 1, 24), allowed_cpus=(100, 150), allowed_nodes=(4, 6))
    (place,) = places("all", topology)
    assert place.cpus == (100, 150)
    assert place.meaning == "2 cores, all that may be used of 192"
    assert cpus("half", topology) == [(100,)]
    assert [place.word for place in places("all:numa:*", topology)] == ["all:numa:4", "all:numa:6"]
    with pytest.raises(AbsentPlacementError) as caught:
        places("all:numa:0", topology)
    assert caught.value.why == "no core of NUMA node 0 may be used (allowed cpus: 100,150)"


def test_an_offline_cpu_that_has_no_core_is_not_used(make_machine: MakeMachine) -> None:
    machine = make_machine(cores=4)
    topology = with_topology(machine, cores=machine.topology.cores[:3])
    assert topology.allowed_cpus == (0, 1, 2, 3)
    assert cpus("all", topology) == [(0, 1, 2)]


def hybrid() -> Topology:
    cores = tuple(
        Core(index, (index,), 0, 0, 0, kind="efficiency" if index < 4 else "performance") for index in range(8)
    )
    return Topology(
        (tuple(range(8)),), (NumaNode(0, 2**30, tuple(range(8)), 0),), cores, (), (), tuple(range(8)), (0,)
    )


def test_on_a_hybrid_processor_one_core_is_a_performance_core() -> None:
    (place,) = places("one-core", hybrid())
    assert (place.cpus, place.meaning) == ((4,), "one performance core")
    assert nearest_pair(allowed_cores(hybrid())) == (4, 5)


def test_on_a_hybrid_processor_half_is_half_of_each_kind() -> None:
    assert cpus("half", hybrid()) == [(0, 1, 4, 5)]
    assert places("all", hybrid())[0].meaning == "all 8 cores (4 performance, 4 efficiency)"


def test_the_second_performance_core_is_nearer_than_an_efficiency_core_of_the_same_cache() -> None:
    kinds = ["performance", "efficiency", "performance"]
    cores = tuple(Core(index, (index,), 0, 0, min(index, 1), kind) for index, kind in enumerate(kinds))
    assert nearest_pair(cores) == (0, 2)


def test_the_nearest_pair_shares_a_cache_where_it_can_and_is_empty_for_one_core(make_machine: MakeMachine) -> None:
    epyc = make_machine(2, 4, 2, 4)
    assert nearest_pair(allowed_cores(with_topology(epyc, allowed_cpus=(0, 4, 40, 41)))) == (40, 41)
    assert nearest_pair(allowed_cores(with_topology(epyc, allowed_cpus=(0, 32, 36)))) == (32, 36)
    assert nearest_pair(allowed_cores(with_topology(epyc, allowed_cpus=(8, 63)))) == (8, 63)
    assert nearest_pair(allowed_cores(with_topology(epyc, allowed_cpus=(8,)))) == ()


def test_without_known_caches_nothing_is_called_an_l3_group(make_machine: MakeMachine) -> None:
    topology = with_topology(make_machine(1, 2, 1, 4), caches=())
    assert places("half", topology)[0].meaning == "4 of 8 cores, 2 of each NUMA node"
    assert places("pair", topology)[0].meaning == "two cores of one NUMA node"
    with pytest.raises(AbsentPlacementError) as caught:
        places("all:l3:0", topology)
    assert caught.value.why == "no cache is known that several cores share"


@pytest.mark.parametrize("word", ["al", "all:nume:0", "half:numa", "all:numa:-1", "all:numa:x", "", "one core"])
def test_an_unknown_word_is_refused_with_the_words_that_exist(word: str, make_machine: MakeMachine) -> None:
    with pytest.raises(UsageError) as caught:
        places(word, make_machine(cores=2).topology)
    assert caught.value.what == f"there is no placement '{word}'"
    assert "one-core, pair, half, all, all-threads, all:l3:I" in caught.value.why


def test_a_near_word_is_suggested(make_machine: MakeMachine) -> None:
    with pytest.raises(UsageError) as caught:
        places("one-cor", make_machine(cores=2).topology)
    assert caught.value.why.startswith("did you mean one-core")


def test_an_index_that_does_not_exist_says_how_many_there_are(make_machine: MakeMachine) -> None:
    with pytest.raises(AbsentPlacementError) as caught:
        places("all:numa:8", make_machine(2, 4, 2, 4).topology)
    assert caught.value.why == "this machine has 8 NUMA nodes (0-7)"
    assert caught.value.indexed


def test_nodes_without_memory_are_no_targets_and_memory_only_nodes_are(make_machine: MakeMachine) -> None:
    machine = make_machine(1, 2, 1, 2)
    cores = tuple(msgspec.structs.replace(core, numa=0) for core in machine.topology.cores)
    nodes = (NumaNode(0, 2**30, (0, 1), 0), NumaNode(1, 0, (2, 3), 0), NumaNode(2, 2**34, (), None))
    topology = with_topology(machine, cores=cores, numa_nodes=nodes, allowed_nodes=(0, 1, 2))
    assert memory_targets(topology) == (0, 2)
    assert memory("bind:*", "all", topology) == ["bind:0", "bind:2"]
    assert memory("interleave", "all", topology) == ["interleave:0,2"]
    with pytest.raises(AbsentPlacementError, match="bind:1") as caught:
        memory("bind:1", "all", topology)
    assert caught.value.why == "node 1 has no memory"
    with pytest.raises(AbsentPlacementError) as caught:
        places("all:numa:2", topology)
    assert caught.value.why == "NUMA node 2 has memory but no cores"
    with pytest.raises(AbsentPlacementError) as caught:
        places("all:numa:1", topology)
    assert caught.value.why == "NUMA node 1 has no memory; its cores count to the nearest node that has"


def test_memory_words_name_the_nodes_of_the_cores_or_of_the_machine(make_machine: MakeMachine) -> None:
    epyc = make_machine(2, 4, 2, 4).topology
    assert memory("first-touch", "all", epyc) == ["first-touch"]
    assert memory("bind:local", "all:socket:1", epyc) == ["bind:4,5,6,7"]
    assert memory("bind:3", "all:numa:0", epyc) == ["bind:3"]
    assert memory("bind:*", "one-core", epyc) == [f"bind:{node}" for node in range(8)]
    assert memory("interleave", "one-core", epyc) == ["interleave:0,1,2,3,4,5,6,7"]


def test_memory_that_is_not_allowed_is_never_bound_to(make_machine: MakeMachine) -> None:
    topology = with_topology(make_machine(2, 1, 1, 2), allowed_nodes=(0,))
    assert memory("bind:*", "all", topology) == ["bind:0"]
    with pytest.raises(AbsentPlacementError) as caught:
        memory("bind:1", "all", topology)
    assert caught.value.why == "memory of node 1 is not allowed"
    with pytest.raises(AbsentPlacementError) as caught:
        memory("bind:local", "all:socket:1", topology)
    assert caught.value.why == "all:socket:1 runs next to memory node 1, which is not allowed"


def test_an_unknown_memory_word_is_refused(make_machine: MakeMachine) -> None:
    topology = make_machine(cores=2).topology
    with pytest.raises(UsageError, match="there is no memory policy 'interleaved'") as caught:
        memory("interleaved", "all", topology)
    assert caught.value.why.startswith("did you mean interleave?")


def test_half_of_unequal_groups_is_half_of_each(make_machine: MakeMachine) -> None:
    topology = with_topology(make_machine(1, 1, 2, 4), allowed_cpus=(0, 1, 2, 3, 4, 5, 6))
    (place,) = places("half", topology)
    assert place.cpus == (0, 1, 4)
    assert place.meaning == "3 of 7 cores, 1 to 2 of each L3 group"


def test_half_is_even_over_caches_that_hold_several_numa_nodes() -> None:
    cores = tuple(Core(index, (index,), 0, numa=index // 3, l3=index // 6) for index in range(12))
    nodes = tuple(NumaNode(node, 2**30, tuple(range(3 * node, 3 * node + 3)), 0) for node in range(4))
    topology = Topology((tuple(range(12)),), nodes, cores, (), (), tuple(range(12)), (0, 1, 2, 3))
    assert cpus("half", topology) == [(0, 1, 3, 6, 7, 9)]


SHAPES = st.tuples(*[st.integers(1, most) for most in (3, 3, 4, 5, 2)])


@given(SHAPES)
def test_half_is_spread_evenly_over_equal_l3_groups(make_machine: MakeMachine, shape: tuple[int, ...]) -> None:
    topology = make_machine(*shape).topology
    (chosen,) = cpus("half", topology)
    assert len(chosen) == max(1, len(topology.cores) // 2)
    counts = [sum(core.cpus[0] in chosen for core in group) for group in grouped(topology.cores, "l3").values()]
    assert max(counts) - min(counts) <= 1


@given(SHAPES, st.data())
def test_every_word_names_allowed_cpus_once_and_one_thread_a_core(
    make_machine: MakeMachine, shape: tuple[int, ...], data: st.DataObject
) -> None:
    machine = make_machine(*shape)
    allowed = data.draw(st.sets(st.sampled_from(machine.topology.allowed_cpus), min_size=1))
    topology = with_topology(machine, allowed_cpus=tuple(sorted(allowed)))
    groups = ("all:l3:*", "all:numa:*", "all:socket:*", "half:numa:*", "half:socket:*")
    words = ("one-core", "half", "all", *groups, "cores:*", "spread:*")
    for place in (place for word in words for place in places(word, topology)):
        assert place.cpus
        assert set(place.cpus) <= allowed
        assert all(len(set(core.cpus) & set(place.cpus)) <= 1 for core in topology.cores)
        assert len(set(place.cpus)) == len(place.cpus)


def test_compact_cores_fill_one_l3_group_after_another(make_machine: MakeMachine) -> None:
    epyc = make_machine(2, 4, 2, 4).topology
    assert cpus("cores:3", epyc) == [(0, 1, 2)]
    assert cpus("cores:10", epyc) == [tuple(range(10))]
    assert places("cores:10", epyc)[0].meaning == "10 of 64 cores, on 3 L3 groups"


def test_compact_cores_go_node_by_node_whatever_the_order_of_the_cores() -> None:
    cores = tuple(Core(index, (index,), index % 2, numa=index % 2, l3=index % 2) for index in range(8))
    nodes = (NumaNode(0, 2**30, (0, 2, 4, 6), 0), NumaNode(1, 2**30, (1, 3, 5, 7), 1))
    topology = Topology(((0, 2, 4, 6), (1, 3, 5, 7)), nodes, cores, (), (), tuple(range(8)), (0, 1))
    assert cpus("cores:3", topology) == [(0, 2, 4)]
    assert cpus("cores:5", topology) == [(0, 1, 2, 4, 6)]
    assert cpus("spread:3", topology) == [(0, 1, 2)]


def test_spread_cores_go_to_sockets_then_nodes_then_l3_groups(make_machine: MakeMachine) -> None:
    epyc = make_machine(2, 4, 2, 4).topology
    assert cpus("spread:2", epyc) == [(0, 32)]
    assert cpus("spread:8", epyc) == [tuple(range(0, 64, 8))]
    assert cpus("spread:16", epyc) == [tuple(range(0, 64, 4))]
    assert places("spread:16", epyc)[0].meaning == "16 of 64 cores, on 16 L3 groups"


def test_a_star_is_each_number_to_8_then_8_an_octave_with_half_and_all(make_machine: MakeMachine) -> None:
    numbers = [int(place.word.split(":")[1]) for place in places("cores:*", make_machine(2, 1, 1, 64).topology)]
    assert numbers[:16] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17]
    assert {64, 128} <= set(numbers)
    assert len(numbers) < 40
    assert [place.word for place in places("spread:*", make_machine(cores=3).topology)] == [
        "spread:1",
        "spread:2",
        "spread:3",
    ]
    odd = [int(place.word.split(":")[1]) for place in places("cores:*", make_machine(1, 1, 1, 57).topology)]
    assert {28, 57} <= set(odd)


def test_on_a_hybrid_processor_counted_cores_begin_with_performance_cores() -> None:
    assert cpus("cores:5", hybrid()) == [(0, 4, 5, 6, 7)]
    assert cpus("spread:1", hybrid()) == [(4,)]
    assert cpus("spread:5", hybrid()) == [(0, 4, 5, 6, 7)]


def test_more_cores_than_may_be_used_are_absent(make_machine: MakeMachine) -> None:
    with pytest.raises(AbsentPlacementError) as caught:
        places("spread:5", with_topology(make_machine(cores=8), allowed_cpus=(0, 1, 2)))
    assert caught.value.why == "3 cores may be used"
    assert caught.value.indexed


@pytest.mark.parametrize("word", ["cores:0", "cores:-1", "cores:", "spread:x", "cores:N", "all:l3:I"])
def test_a_number_of_cores_is_a_number(word: str, make_machine: MakeMachine) -> None:
    with pytest.raises(UsageError, match="there is no placement"):
        places(word, make_machine(cores=8).topology)


def far(machine: Machine, *rows: tuple[int, ...]) -> Topology:
    return with_topology(machine, distances=rows)


def test_remote_memory_is_on_the_node_that_the_firmware_says_is_farthest(make_machine: MakeMachine) -> None:
    topology = far(
        make_machine(2, 2, 1, 2), (10, 16, 22, 28), (16, 10, 28, 22), (22, 28, 10, 16), (28, 22, 16, 10)
    )
    assert memory("bind:remote", "one-core", topology) == ["bind:3"]
    assert memory("bind:remote", "all:numa:2", topology) == ["bind:1"]


def test_remote_memory_is_on_another_socket_where_no_distances_are_known(make_machine: MakeMachine) -> None:
    assert memory("bind:remote", "one-core", make_machine(2, 2, 1, 2).topology) == ["bind:2"]
    assert memory("bind:remote", "one-core", make_machine(1, 2, 1, 2).topology) == ["bind:1"]


def test_remote_memory_is_absent_where_there_is_none(make_machine: MakeMachine) -> None:
    with pytest.raises(AbsentPlacementError) as caught:
        memory("bind:remote", "one-core", make_machine(cores=2).topology)
    assert caught.value.why == "this machine has one memory node"
    with pytest.raises(AbsentPlacementError) as caught:
        memory("bind:remote", "all", make_machine(1, 2, 1, 2).topology)
    assert caught.value.why == "all runs next to every memory node"
    with pytest.raises(AbsentPlacementError) as caught:
        memory("bind:remote", "one-core", with_topology(make_machine(1, 2, 1, 2), allowed_nodes=(0,)))
    assert caught.value.why == "no other node may be used"


@pytest.mark.parametrize(
    ("text", "word", "kind", "starred"),
    [
        ("all", Word("all", "all", form="whole"), "all", "all"),
        ("half:numa:3", Word("half:numa:3", "half", "numa", 3, form="group"), "half:numa", "half:numa:*"),
        ("all:l3:*", Word("all:l3:*", "all", "l3", every=True, form="group"), "all:l3:*", "all:l3:*"),
        ("spread:12", Word("spread:12", "spread", count=12, form="count"), "spread", "spread:*"),
        ("cores:4@2", Word("cores:4@2", "cores", count=4, over="2", nodes=2, form="count"), *["cores:4@2"] * 2),
        ("all@all", Word("all@all", "all", over="all", form="whole"), "all@all", "all@all"),
        ("pair:3-17", Word("pair:3-17", "pair", partners="3-17", cpus=(3, 17), form="pair"),
         "pair:3-17", "pair:*"),
        ("pair:other-node", Word("pair:other-node", "pair", partners="other-node", nodes=2, form="pair"),
         *["pair:other-node"] * 2),
        ("one-core:far-nic@2", Word("one-core:far-nic@2", "one-core", "far-nic", over="2", nodes=2, form="card"),
         *["one-core:far-nic@2"] * 2),
        ("rank-per:l3", Word("rank-per:l3", "rank-per", "l3", form="rank-per"), *["rank-per:l3"] * 2),
        ("1,2,allx8@2", Word("1,2,allx8@2", "1,2,allx8", ranks=("1", "2", "all"), width=8, over="2", nodes=2,
                             form="ranks"), *["1,2,allx8@2"] * 2),
        ("not stated", Word("not stated", "not stated"), "not stated", "not stated"),
    ],
)  # fmt: skip
def test_a_word_is_taken_apart_once(text: str, word: Word, kind: str, starred: str) -> None:
    assert (parsed(text), word.kind, word.starred) == (word, kind, starred)


def test_every_word_that_is_documented_is_one_of_the_grammar() -> None:
    written = {"I": "3", "N": "4", "A-B": "0-1", "RxC": "2x4", "WORD@N": "all@2"}
    for word in (*WORDS, *NODE_WORDS):
        head, colon, tail = word.rpartition(":")
        assert parsed(f"{head}{colon}{written.get(tail, tail)}").form, word
    assert not any(
        parsed(word).form for word in ("all:l4:0", "cores:0", "pair:1-", "x4", "0x2", "rank-per:core:1")
    )


@pytest.mark.parametrize("memory", [Memory(), Memory("bind", (3,)), Memory("interleave", (0, 1, 2))])
def test_a_memory_word_is_read_as_it_is_written(memory: Memory) -> None:
    assert Memory.parsed(str(memory)) == memory
