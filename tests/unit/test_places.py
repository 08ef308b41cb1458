"""Placement words stand on pages as a reader who never typed one says them."""

import pytest

from assay.model import places
from assay.model.placement import Memory


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("all", "all cores"),
        ("one-core", "one core"),
        ("pair", "two cores"),
        ("cores:4", "4 cores"),
        ("spread:1", "1 core spread"),
        ("all:numa:0", "all cores of NUMA node 0"),
        ("half:socket:1", "half of socket 1"),
        ("one-core:l3:2", "one core of L3 group 2"),
        ("all:far-nic", "all cores far from the network card"),
        ("pair:other-socket", "two sockets"),
        ("pair:4-5", "cpus 4 and 5"),
        ("rank-per:numa", "one rank for each NUMA node"),
        ("one-core@2", "one core on each of 2 nodes"),
        ("all:numa:3@4", "all cores of NUMA node 3 on each of 4 nodes"),
        ("2x4", "2x4"),
        ("rank-per:l3@2", "one rank for each L3 group on each of 2 nodes"),
        ("of somebody else", "of somebody else"),
    ],
)
def test_a_placement_word_stands_in_words(word: str, said: str) -> None:
    assert places.cores(word) == said


def test_the_nodes_are_said_where_a_word_says_none() -> None:
    assert places.cores("pair", 1) == "two cores of one node"
    assert places.cores("pair", 2) == "two cores on each of 2 nodes"
    assert places.cores("one-core@2", 2) == "one core on each of 2 nodes"


def test_a_memory_policy_stands_in_words() -> None:
    assert places.memory(Memory()) == ""
    assert places.memory(Memory("bind", (1,))) == "memory of NUMA node 1"
    assert places.memory(Memory("interleave", (0, 1, 2))) == "memory of NUMA nodes 0-2 in turn"
