"""Sections of bandwidth, copies and nodes on estimates by hand: which figures stand first, and what is said."""

import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.unit.law_evidence import machine, measured, placed
from tests.unit.scene_by_hand import scene

from assay.analyse.estimates import Measured
from assay.model.placed import Placed
from assay.report.declared import Scene
from assay.topics.health.sections import nodes
from assay.topics.memory.sections import bandwidth, copy_rate

KIB, MIB = 2**10, 2**20


def triad(
    label: str, rate: float, *cpus: int, elements: int = 100, launches: int = 6, state: str | None = None
) -> Measured:
    place = placed(label, *cpus)
    given: dict[str, Any] = {"stores": "ordinary", "touch": "parallel", "elements": elements}
    return measured("stream", "triad", "bandwidth", [rate] * launches, place, state=state, **given)


def shown(*figures: Measured) -> Scene:
    of = scene(figures)
    chosen = bandwidth.declared.select(of.analysis, of.headline)
    return msgspec.structs.replace(of, estimates=tuple(chosen))


def headlines(*figures: Measured) -> list[tuple[str, float]]:
    found = bandwidth.declared.headlines(shown(*figures))
    return [(each.estimate.placement.label, each.estimate.median or 0.0) for each in found]


def test_the_most_cpus_come_first_then_a_better_placement_then_one_core() -> None:
    every, half, one = triad("all", 4e10, 0, 1, 2, 3), triad("half", 3e10, 0, 2), triad("one-core", 1e10, 0)
    assert headlines(one, half, every) == [("all", 4e10), ("one-core", 1e10)]
    better = triad("half", 4.1e10, 0, 2)
    assert headlines(one, better, every) == [("all", 4e10), ("half", 4.1e10), ("one-core", 1e10)]
    assert headlines(triad("one-core", 5e10, 0), every) == [("all", 4e10), ("one-core", 5e10)]
    assert not headlines()


def test_a_headline_is_of_the_state_with_most_launches() -> None:
    near, far = (
        triad("all", 4e10, 0, 1, launches=2, state="near"),
        triad("all", 2e10, 0, 1, launches=3, state="far"),
    )
    assert headlines(near, far) == [("all", 2e10)]


def test_of_each_placement_the_largest_arrays_are_shown() -> None:
    small, large = triad("all", 9e10, 0, 1, elements=10), triad("all", 4e10, 0, 1, elements=100)
    lone = triad("one-core", 1e10, 0, elements=10)
    assert [each.id for each in shown(small, large, lone).estimates] == [large.estimate.id, lone.estimate.id]
    counted = triad("cores:2", 1e10, 0, 1)
    assert [each.placement.label for each in shown(large, counted).estimates] == ["all"]


def held(rates: Sequence[tuple[int, float]], size: int) -> Scene:
    of = shown(triad("all", 4e10, 0, 1))
    host = machine()
    topology = msgspec.structs.replace(host.topology, held_rates=tuple(rates), held_bytes=size)
    run: Any = SimpleNamespace(machines={"n1": msgspec.structs.replace(host, topology=topology)}, plan=of.run.plan)
    return msgspec.structs.replace(of, run=run)


def test_rates_that_chose_the_sizes_are_from_memory_from_the_measured_size_on() -> None:
    of = held([(32 * MIB, 2e10), (16 * MIB, 2.1e10), (8 * MIB, 5e10)], 16 * MIB)
    (listing,) = bandwidth.declared.page_tables
    assert [tuple(map(str, row)) for row in listing.rows(of)] == [  # type: ignore[attr-defined]
        ("n1", "8 MiB", "50.0 GB/s", "partly caches"),
        ("n1", "16 MiB", "21.0 GB/s", "memory"),
        ("n1", "32 MiB", "20.0 GB/s", "memory"),
    ]
    *_, chart = bandwidth.declared.charts(of)
    assert chart.id == "figure-bandwidth-sizes"
    assert chart.result == "memory from 16 MiB on"
    assert [(row["x"], row["value"]) for row in chart.spec["data"]["values"]] == [
        (8 * MIB, 50.0),
        (16 * MIB, 21.0),
        (32 * MIB, 20.0),
    ]
    *_, plain = bandwidth.declared.charts(held([(32 * MIB, 2e10), (16 * MIB, 2.1e10)], 0))
    assert plain.result == "32 MiB 20.0 GB/s"
    assert [each.id for each in bandwidth.declared.charts(held([], 0))] == ["figure-bandwidth"]
    assert "No memory bandwidth could be measured" in str(bandwidth.declared.sentences(shown()))


def copied(size: int, rate: float, buffers: str = "hot", offset: int = 0) -> Measured:
    given: dict[str, Any] = {"bytes": size, "buffers": buffers, "offset": offset, "pool": MIB}
    return measured("memcpy", "memcpy", "bandwidth", [rate] * 6, placed("one-core", 0), **given)


def test_copies_name_their_best_and_their_largest_blocks_and_the_caches_that_both_buffers_fill() -> None:
    figures = [
        copied(4 * KIB, 6e10),
        copied(16 * KIB, 5e10),
        copied(512 * KIB, 2e10),
        copied(MIB, 1e10),
        copied(4 * KIB, 8e9, "cold"),
        copied(MIB, 7e9, "cold"),
        copied(2 * MIB, 9e10, offset=8),  # no power of two
    ]
    of = scene(figures)
    text = str(copy_rate.declared.sentences(of))
    plain = re.sub(r" \([^)]*launches\)", "", text)  # without the ends of the figures
    assert (
        "With hot buffers the best rate is 60.0 GB/s at 4 KiB. The largest blocks get 10.0 GB/s at 1 MiB." in plain
    )
    assert (
        "With cold buffers the best rate is 8.00 GB/s at 4 KiB. The largest blocks get 7.00 GB/s at 1 MiB."
        in plain
    )
    assert "fill a cache: ½ L1 = 16 KiB and ½ L2 = 512 KiB." in text  # half of the L3, 4 MiB, is beyond all blocks
    assert [(str(each.label), each.estimate.median) for each in copy_rate.declared.headlines(of)] == [
        ("Copy rate, hot buffers, best size (4 KiB)", 6e10),
        ("Copy rate, cold buffers, best size (4 KiB)", 8e9),
    ]
    assert [each.id for each in copy_rate.declared.charts(of)] == ["figure-memcpy", "figure-memcpy-offset"]
    assert [each.id for each in copy_rate.declared.charts(scene(figures[:6]))] == ["figure-memcpy"]
    edge = str(copy_rate.declared.sentences(scene([copied(8 * KIB, 6e10), copied(512 * KIB, 6e10)])))
    assert edge.endswith("fill a cache: ½ L1 = 16 KiB.")  # an L2 that the largest block just fills is no line
    assert "No copy could be measured" in str(copy_rate.declared.sentences(scene([])))


def on_node(host: str, rate: float, label: str = "all", *cpus: int) -> Measured:
    made = triad(label, rate, *(cpus or (0, 1)))
    place = Placed(label, (host,), (cpus or (0, 1),), "first-touch", None)
    return Measured(
        msgspec.structs.replace(made.estimate, id=f"{made.estimate.id}/{host}", placement=place), made.launches
    )


def of_nodes(*figures: Measured, hosts: int = 3) -> Scene:
    of = scene(figures)
    run: Any = SimpleNamespace(machines={}, plan=SimpleNamespace(hosts=tuple(range(hosts))))
    return msgspec.structs.replace(of, run=run)


def test_nodes_are_listed_with_the_slowest_the_middle_and_the_fastest() -> None:
    whole = [on_node(f"n{at}", rate) for at, rate in enumerate((3e10, 1e10, 2e10, 4e10))]
    ones = [on_node(f"n{at}", rate, "one-core", 0) for at, rate in enumerate((3e9, 2e9))]
    lone = on_node("n1", 1e9, "half", 1)
    of = of_nodes(*ones, *whole, lone)
    (listing,) = nodes.declared.page_tables
    rows = [tuple(map(str, row)) for row in listing.rows(of)]  # type: ignore[attr-defined]
    assert [row[1] for row in rows] == ["2", "4"]  # a figure of one node is no crowd
    assert [cell.split(" GB/s")[0] for cell in rows[1][2:]] == ["n1: 10.0", "n0: 30.0", "n3: 40.0"]
    (chart,) = nodes.declared.charts(of)  # of the figure that uses most cpus
    assert [(row["node"], row["rank"], row["value"]) for row in chart.spec["data"]["values"]] == [
        ("n1", 1, pytest.approx(10.0)),
        ("n2", 2, pytest.approx(20.0)),
        ("n0", 3, pytest.approx(30.0)),
        ("n3", 4, pytest.approx(40.0)),
    ]
    assert str(chart.result) == "4 nodes, from 10.0 GB/s on n1 to 40.0 GB/s on n3; middle node 30.0 GB/s"
    assert str(nodes.declared.sentences(of)).startswith("All 3 nodes ran the same programs.")
    assert nodes.declared.applies(of)
    assert not nodes.declared.applies(of_nodes(*whole, hosts=1))
