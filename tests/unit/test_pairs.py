"""Pairs of cores: which there are, what lies between them, and which of many are measured."""

from collections import Counter
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulation import described

from assay.model.errors import UsageError
from assay.model.machine import Machine, Topology, allowed_cores
from assay.plan.pairs import BETWEEN, between
from assay.plan.placement import AbsentPlacementError, places

MakeMachine = Callable[..., Machine]


def absent(word: str, topology: Topology) -> str:
    with pytest.raises(AbsentPlacementError) as caught:
        places(word, topology)
    return caught.value.why


def kinds(topology: Topology) -> Counter[str]:
    """How many pairs of each kind `pair:*` has."""
    core = {each.cpus[0]: each for each in allowed_cores(topology)}
    return Counter(between(*(core[cpu] for cpu in place.cpus)) for place in places("pair:*", topology))


def test_each_class_of_the_dual_epyc_has_its_nearest_pair(make_machine: MakeMachine) -> None:
    topology = make_machine(2, 4, 2, 4, 2).topology
    found = {word: places(word, topology)[0] for word in (f"pair:{kind}" for kind in ("same-core", *BETWEEN))}
    assert {word: (place.cpus, place.meaning) for word, place in found.items()} == {
        "pair:same-core": ((0, 1), "cpus 0 and 1, two hardware threads of one core"),
        "pair:same-l3": ((0, 2), "cpus 0 and 2, two cores of one L3 group"),
        "pair:other-l3": ((0, 8), "cpus 0 and 8, two cores of one NUMA node, in two L3 groups"),
        "pair:other-numa": ((0, 16), "cpus 0 and 16, two cores of one socket, on two NUMA nodes"),
        "pair:other-socket": ((0, 64), "cpus 0 and 64, two cores of two sockets"),
    }


def test_the_firmwares_distances_say_which_pair_is_nearest(make_machine: MakeMachine) -> None:
    distances = ((10, 16, 32, 22), (16, 10, 32, 32), (32, 32, 10, 16), (22, 32, 16, 10))
    topology = msgspec.structs.replace(make_machine(2, 2, 1, 2).topology, distances=distances)
    assert places("pair:other-socket", topology)[0].cpus == (0, 6)


def test_two_sockets_that_share_a_memory_have_a_pair() -> None:
    topology = described("numa:1(memory=1GB) pack:2 l2:1(size=512kB) l1:1(size=8kB) core:2 pu:1").topology
    assert {core.numa for core in topology.cores} == {0}
    assert places("pair:other-socket", topology)[0].cpus == (0, 2)


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("pair:same-core", "this machine has one hardware thread per core"),
        ("pair:other-l3", "there are no two cores of one NUMA node, in two L3 groups that may be used"),
        ("pair:other-numa", "there are no two cores of one socket, on two NUMA nodes that may be used"),
        ("pair:other-socket", "there are no two cores of two sockets that may be used"),
        ("pair:0-9", "cpu 9 may not be used (allowed: 0-3)"),
        ("pair:2-2", "a pair is two different cpus"),
    ],
)
def test_a_pair_that_a_small_machine_has_not_says_why(word: str, why: str, make_machine: MakeMachine) -> None:
    assert absent(word, make_machine(cores=4).topology) == why


def test_one_core_has_no_pair(make_machine: MakeMachine) -> None:
    assert absent("pair:*", make_machine().topology) == "this machine has one core"


def test_without_a_known_shared_cache_no_pair_is_said_to_share_one(make_machine: MakeMachine) -> None:
    topology = msgspec.structs.replace(make_machine(cores=2).topology, caches=())
    assert absent("pair:same-l3", topology) == "no cache is known that several cores share"
    assert places("pair:*", topology)[0].meaning == "cpus 0 and 1, two cores of one NUMA node"


def test_a_pair_may_be_named_by_its_cpus(make_machine: MakeMachine) -> None:
    (place,) = places("pair:7-2", make_machine(2, 1, 1, 4).topology)
    assert (place.word, place.cpus) == ("pair:7-2", (7, 2))
    with pytest.raises(UsageError, match="there is no placement 'pair:7'"):
        places("pair:7", make_machine(cores=8).topology)


def test_sixteen_cores_have_120_pairs_and_all_are_measured(make_machine: MakeMachine) -> None:
    found = places("pair:*", make_machine(2, 1, 2, 4, 2).topology)
    assert len({frozenset(place.cpus) for place in found}) == len(found) == 120
    assert found[-1].word == "pair:28-30"


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        # 24 complexes of 8 cores, 8 of them in each socket against each other, and 28 pairs inside one of each
        ((2, 1, 12, 8), {"same-l3": 2 * 28, "other-l3": 2 * 28, "other-socket": 8 * 8}),
        # the same as 4 nodes a socket: 2 complexes of each node, and 15 pairs inside one of each of 8 nodes
        ((2, 4, 3, 8), {"same-l3": 8 * 15, "other-l3": 8, "other-numa": 2 * (28 - 4), "other-socket": 8 * 8}),
        # one cache of 64 cores in each socket: 15 of the cores of each one against each other
        ((2, 1, 1, 64), {"same-l3": 2 * 15 * 14 // 2, "other-socket": 1}),
    ],
)
def test_a_large_machine_has_a_sample_with_pairs_of_every_kind(
    shape: tuple[int, ...], expected: dict[str, int], make_machine: MakeMachine
) -> None:
    assert kinds(make_machine(*shape).topology) == expected


@settings(deadline=None)  # large machines take long to make
@given(st.tuples(*[st.integers(1, most) for most in (4, 4, 4, 40, 2)]))
def test_every_sample_is_small_and_has_each_kind_that_there_is(
    make_machine: MakeMachine, shape: tuple[int, ...]
) -> None:
    sockets, nodes, groups, cores, _ = shape
    if sockets * nodes * groups * cores == 1:
        return
    topology = make_machine(*shape).topology
    found = places("pair:*", topology)
    assert len({frozenset(place.cpus) for place in found}) == len(found) <= 250
    exist = {"other-socket": sockets > 1, "other-numa": nodes > 1, "other-l3": groups > 1, "same-l3": cores > 1}
    assert set(kinds(topology)) == {kind for kind, there in exist.items() if there}


@pytest.mark.parametrize("shape", [(2, 1, 12, 8), (2, 4, 3, 8), (2, 1, 1, 64), (4, 2, 2, 16)])
def test_pairs_of_one_cache_are_sampled_evenly_over_the_sockets(
    shape: tuple[int, ...], make_machine: MakeMachine
) -> None:
    topology = make_machine(*shape).topology
    core = {each.cpus[0]: each for each in allowed_cores(topology)}
    pairs = [[core[cpu] for cpu in place.cpus] for place in places("pair:*", topology)]
    sockets = Counter(one.package for one, other in pairs if between(one, other) == "same-l3")
    assert set(sockets) == set(range(shape[0]))
    assert len(set(sockets.values())) == 1


def test_two_nodes_that_share_a_cache_have_their_pair_too(make_machine: MakeMachine) -> None:
    topology = make_machine(1, 2, 1, 4).topology
    one_cache = tuple(msgspec.structs.replace(core, l3=0) for core in topology.cores)
    (pair,) = places("pair:other-numa", msgspec.structs.replace(topology, cores=one_cache))
    assert pair.cpus == (0, 4)


def test_a_thousand_nodes_have_a_sample_of_pairs_with_both_kinds(make_machine: MakeMachine) -> None:
    topology = make_machine(2, 500, 1, 2).topology
    found = kinds(topology)
    assert set(found) == {"same-l3", "other-numa", "other-socket"}
    assert sum(found.values()) <= 240
