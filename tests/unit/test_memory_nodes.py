"""How far memory nodes are from each other, and copies in caches and in memory, by hand."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from tests.simulation import described
from tests.unit.law_evidence import measured, placed
from tests.unit.rule_evidence import evidence, only

from assay.analyse.estimates import Measured
from assay.analyse.memory_nodes import Nodes, nearness
from assay.analyse.plateaus import Boundary, CachePlateaus, Plateau
from assay.model.quantity import Quantity
from assay.model.result import Finding
from assay.topics.memory.rules import cache_and_memory

KIB, MIB = 2**10, 2**20
FOUR = described("pack:2 numa:2(memory=8GB) core:1 pu:1").topology


def nodes(distances: Sequence[Sequence[int]] = (), packages: Sequence[int | None] = (0, 0, 1, 1)) -> Nodes:
    numa = tuple(
        msgspec.structs.replace(each, package=package)
        for each, package in zip(FOUR.numa_nodes, packages, strict=True)
    )
    table = tuple(map(tuple, distances)) or None
    return Nodes(msgspec.structs.replace(FOUR, numa_nodes=numa, distances=table))


RING = ((10, 16, 22, 32), (16, 10, 32, 22), (22, 32, 10, 16), (32, 22, 16, 10))
FLAT = ((10, 16, 32, 32), (16, 10, 32, 32), (32, 32, 10, 16), (32, 32, 16, 10))


@pytest.mark.parametrize(
    ("distances", "packages", "kinds"),
    [
        ((), (0, 0, 1, 1), ["same node", "same socket", "other socket", "other socket"]),
        (FLAT, (0, 0, 1, 1), ["same node", "same socket", "other socket", "other socket"]),
        (RING, (0, 0, 1, 1), ["same node", "same socket", "one hop", "two hops"]),
        (RING, (None, None, None, None), ["same node", "one hop", "two hops", "three hops"]),
        (RING, (0, None, 1, 1), ["same node", "one hop", "two hops", "three hops"]),
    ],
)
def test_nodes_are_as_far_as_their_sockets_and_distances_say(
    distances: Sequence[Sequence[int]], packages: Sequence[int | None], kinds: list[str]
) -> None:
    known = nodes(distances, packages)
    assert [str(known.kind(0, there)) for there in range(4)] == kinds
    assert [known.distance(0, there) for there in range(4)] == (list(distances[0]) if distances else [None] * 4)
    assert (known.kind(0, 9), known.kind(9, 0), known.distance(0, 9), known.distance(9, 0)) == ("", "", None, None)


def test_a_fifth_distance_has_no_name_of_its_own() -> None:
    topology = described("pack:6 numa:1(memory=8GB) core:1 pu:1").topology
    table = [[10 if here == there else 20 + abs(here - there) for there in range(6)] for here in range(6)]
    known = Nodes(msgspec.structs.replace(topology, distances=tuple(map(tuple, table))))
    names = [str(known.kind(0, there)) for there in range(6)]
    assert names == ["same node", "one hop", "two hops", "three hops", "four hops", "distance 25"]


def test_the_nearest_kinds_come_first() -> None:
    kinds = [("two hops", 32), ("other socket", None), ("same socket", 16), ("one hop", 22), ("same node", 10)]
    ordered = sorted(kinds, key=lambda each: nearness(*each))
    assert [kind for kind, _ in ordered] == ["same node", "same socket", "other socket", "one hop", "two hops"]


def copied(size: int, rate: float, buffers: str = "hot", *, launches: int = 6, memory: int = 0) -> Measured:
    given: dict[str, Any] = {"bytes": size, "buffers": buffers, "offset": 0, "pool": MIB}
    made = measured("memcpy", "memcpy", "bandwidth", [rate] * launches, placed("x", 0), **given)
    return Measured(msgspec.structs.replace(made.estimate, memory_bytes=memory or 2 * size), made.launches)


def found(*figures: Measured, models: Sequence[CachePlateaus] = ()) -> Finding:
    known = evidence(of_role=lambda _role: figures, models=models)
    return only(list(cache_and_memory.rule.assess(known)))


COLD = copied(4 * MIB, 5e9, "cold", memory=64 * MIB)


def test_copies_in_cache_are_compared_with_the_largest_blocks_in_memory() -> None:
    smaller = copied(64 * KIB, 4e9, "cold", memory=64 * MIB)
    finding = found(copied(KIB, 5e10), copied(4 * KIB, 6e10), smaller, COLD)
    assert finding.numbers["statistic"].value == pytest.approx(12.0)
    assert finding.status == "observed"
    assert "copies 60.0 GB/s (hot blocks of 4 KiB) in cache and 5.00 GB/s (cold blocks of 4 MiB)" in finding.claim
    hot = found(copied(4 * KIB, 6e10), copied(4 * MIB, 6e9, memory=64 * MIB), COLD)
    assert "(cold blocks of 4 MiB) in memory" in hot.claim  # of one size the cold ones
    beyond = found(copied(4 * KIB, 6e10), copied(8 * MIB, 6e9, memory=64 * MIB), COLD)
    assert "6.00 GB/s (hot blocks of 8 MiB) in memory" in beyond.claim


@pytest.mark.parametrize(("size", "assessed"), [(64 * KIB - 1, False), (64 * KIB, True)])
def test_small_cold_blocks_do_not_show_memory(size: int, *, assessed: bool) -> None:
    finding = found(copied(4 * KIB, 6e10), copied(size, 5e9, "cold", memory=64 * MIB))
    assert (finding.status != "not assessed") == assessed


@pytest.mark.parametrize(
    ("launches", "status"), [(2, "not assessed"), (3, "candidate"), (5, "candidate"), (6, "observed")]
)
def test_three_launches_compare_copies_and_six_are_sure(launches: int, status: str) -> None:
    assert found(copied(4 * KIB, 6e10, launches=launches), COLD).status == status


@pytest.mark.parametrize(("memory", "assessed"), [(8 * MIB, False), (8 * MIB + 1, True)])
def test_pools_that_caches_hold_and_copies_of_other_cores_are_no_pair(memory: int, *, assessed: bool) -> None:
    finding = found(copied(4 * KIB, 6e10), copied(4 * MIB, 5e9, "cold", memory=memory))
    assert (finding.status != "not assessed") == assessed
    hot = copied(4 * KIB, 6e10)
    elsewhere = Measured(msgspec.structs.replace(hot.estimate, placement=placed("x", 1)), hot.launches)
    assert found(elsewhere, COLD).status == "not assessed"
    assert found(COLD).status == "not assessed"


def test_the_sizes_at_which_the_rate_falls_are_named_with_their_caches() -> None:
    hot = copied(4 * KIB, 6e10)
    rate = Quantity(1.0, 1.0, 1.0, "B/s")
    ends = [
        Boundary(Quantity(3.0, 16.0 * KIB, 32.0 * KIB, "B"), "L1", 32 * KIB),
        Boundary(Quantity(3.0, 2.0 * MIB, 4.0 * MIB, "B")),
        None,
    ]
    model = CachePlateaus(
        id="m", of=(hot.estimate.id,), offset=0, plateaus=tuple(Plateau(rate, end) for end in ends)
    )
    finding = found(hot, COLD, models=[model])
    assert finding.claim.endswith("The rate falls at 16 KiB to 32 KiB (L1, 32 KiB), 2 MiB to 4 MiB.")
    assert finding.evidence == (hot.estimate.id, COLD.estimate.id, "m")
    assert "The rate falls" not in found(hot, COLD).claim
