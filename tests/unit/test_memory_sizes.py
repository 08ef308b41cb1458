"""Sizes of buffers, set-up times and memory of the benchmarks of memory, by the rules that their plans state."""

import msgspec
import pytest
from tests.simulation import described

from assay.catalogue import benchmarks
from assay.model.benchmark import Benchmark, Resources
from assay.model.declaration import Params, ParamValue
from assay.model.machine import Topology
from assay.model.placement import Memory, Placement

KIB, MIB, GIB = 2**10, 2**20, 2**30
#: Two L3 caches of 8 MiB, each of two cores.
NODES = "pack:1 numa:2(memory=8GB) l3:1(size=8MB) l2:2(size=1MB) l1:1(size=32kB) core:1 pu:1"


def topology(**changed: object) -> Topology:
    return msgspec.structs.replace(described(NODES).topology, **changed)


def with_lines(lines: dict[int, int]) -> Topology:
    """The machine with these sizes of lines by level of cache; other levels do not state theirs."""
    caches = (msgspec.structs.replace(each, line_bytes=lines.get(each.level, 0)) for each in topology().caches)
    return topology(caches=tuple(caches))


def points(name: str, cpus: tuple[int, ...], memory: int, machine: Topology | None = None) -> Params:
    placed = Placement("label", "", cpus, Memory(), ("n1",))
    (found,) = benchmarks.get(name).points(Resources(placed, machine or topology(), memory), {})
    return found


def of(name: str) -> Benchmark:
    return benchmarks.get(name)


def memory_bytes(name: str, **params: ParamValue) -> int:
    return of(name).memory_bytes(params, Placement("label", "", (0,), Memory(), ("n1",)))


@pytest.mark.parametrize(
    ("cpus", "memory", "held", "array"),
    [
        ((0,), 64 * GIB, 0, 4 * 8 * MIB),
        ((0, 2), 64 * GIB, 0, 4 * 16 * MIB),
        ((0,), 64 * GIB, 3 * MIB, 2 * MIB),  # all arrays take twice what caches hold
        ((0,), 64 * GIB, 60 * MIB, 32 * MIB),
        ((0,), 100 * MIB, 0, 20 * MIB),  # 60 % of the memory
    ],
)
def test_an_array_of_stream_is_four_times_the_caches(
    cpus: tuple[int, ...], memory: int, held: int, array: int
) -> None:
    found = points("stream", cpus, memory, topology(held_bytes=held))
    assert found == {"elements": (array if held != 3 * MIB else 2 * 3 * MIB // 3) // 8}


def test_without_known_caches_stream_takes_four_times_32_mib() -> None:
    bare = topology(caches=())
    assert points("stream", (0,), 64 * GIB, bare) == {"elements": 4 * 32 * MIB // 8}


def test_stream_touches_three_arrays_and_passes_over_them_ten_times() -> None:
    elements = 10**7
    assert memory_bytes("stream", elements=elements) == 3 * 8 * elements
    touched = 3 * 8 * elements / 4e9
    assert of("stream").touch_seconds({"elements": elements}) == pytest.approx(touched)
    passed = 10 * 3 * 8 * elements / 16e9
    assert of("stream").setup_seconds({"elements": elements}) == pytest.approx(0.05 + touched + passed)


@pytest.mark.parametrize(
    ("cpus", "memory", "pool"),
    [
        ((0,), 64 * GIB, 2 * 64 * MIB),  # twice the largest block
        ((0,), 200 * MIB, 60 * MIB),  # two pools take 60 % of the memory
    ],
)
def test_a_pool_of_copies_is_twice_the_caches(cpus: tuple[int, ...], memory: int, pool: int) -> None:
    assert points("memcpy", cpus, memory) == {"pool": pool}


@pytest.mark.parametrize(("claims", "pool"), [("63MB", 128 * MIB), ("100MB", 200 * MIB)])
def test_large_caches_have_larger_pools(claims: str, pool: int) -> None:
    machine = described(NODES.replace("8MB)", f"{claims})")).topology
    assert points("memcpy", (0,), 64 * GIB, machine) == {"pool": pool}
    assert points("memcpy", (0,), 64 * GIB, topology(caches=())) == {"pool": 2 * 64 * MIB}


@pytest.mark.parametrize(("buffers", "memory"), [("hot", 2 * 1000), ("cold", 2 * 5000)])
def test_copies_are_set_up_by_touching_filling_and_six_copies(buffers: str, memory: int) -> None:
    params: dict[str, ParamValue] = {"bytes": 1000, "pool": 5000, "buffers": buffers}
    assert memory_bytes("memcpy", **params) == memory
    assert of("memcpy").touch_seconds(params) == pytest.approx(memory / 4e9)
    setup_s = 0.003 + memory / 4e9 + memory / 8e9 + 6 * 1000 / 6e9
    assert of("memcpy").setup_seconds(params) == pytest.approx(setup_s)
    iteration_s = of("memcpy").iteration_seconds
    assert iteration_s
    assert iteration_s(params) == pytest.approx(1000 / 6e9)


def test_a_cold_block_larger_than_its_pool_is_the_pool() -> None:
    assert memory_bytes("memcpy", bytes=9000, pool=5000, buffers="cold") == 2 * 9000


@pytest.mark.parametrize(("lines", "line"), [({1: 32, 2: 128, 3: 64}, 128), ({}, 64)])
def test_a_walk_steps_by_the_longest_line_of_its_core(lines: dict[int, int], line: int) -> None:
    assert points("latency", (0,), 64 * GIB, with_lines(lines)) == {"line": line, "seed": 1}


def test_caches_of_other_cores_set_no_line() -> None:
    caches = [msgspec.structs.replace(c, line_bytes=128 if 3 in c.cpus else 32) for c in topology().caches]
    machine = topology(caches=tuple(caches))
    assert points("latency", (0,), 64 * GIB, machine)["line"] == 32
    assert points("latency", (3,), 64 * GIB, machine)["line"] == 128


@pytest.mark.parametrize(
    ("size", "pages", "memory"),
    [
        (64 * KIB, "small", 64 * KIB + 4 * KIB),
        (64 * KIB, "huge", 2 * MIB + 4 * KIB),
        (2 * MIB, "huge", 2 * MIB + 128 * KIB),
        (2 * MIB + 64, "huge", 4 * MIB + 128 * KIB + 4),
    ],
)
def test_a_walk_needs_its_lines_whole_pages_and_four_bytes_a_line(size: int, pages: str, memory: int) -> None:
    assert memory_bytes("latency", bytes=size, pages=pages, line=64) == memory


def test_a_walk_is_set_up_by_linking_its_lines() -> None:
    params: dict[str, ParamValue] = {"bytes": 64 * 10**6, "line": 64, "pages": "small"}
    touched = 64e6 / 3e9
    assert of("latency").touch_seconds(params) == pytest.approx(touched)
    assert of("latency").setup_seconds(params) == pytest.approx(0.003 + 45e-9 * 10**6 + touched)
    iteration_s = of("latency").iteration_seconds
    assert iteration_s
    assert iteration_s(params) == 200e-9


@pytest.mark.parametrize(
    ("cpus", "memory", "walk", "streams"),
    [
        ((0, 1), 64 * GIB, 4 * 8 * MIB, 4 * 8 * MIB),
        ((0, 2), 64 * GIB, 4 * 8 * MIB, 4 * 16 * MIB),
        ((0, 2), 100 * MIB, 30 * MIB, 30 * MIB),
    ],
)
def test_walk_and_streams_under_load_are_four_times_their_caches(
    cpus: tuple[int, ...], memory: int, walk: int, streams: int
) -> None:
    found = points("loaded_latency", cpus, memory)
    assert found == {"bytes": walk, "buffers": streams, "line": 64, "seed": 1}


def test_a_walk_under_load_is_no_larger_than_a_gibibyte() -> None:
    machine = described(NODES.replace("8MB)", "300MB)")).topology
    found = points("loaded_latency", (0,), 64 * GIB, machine)
    assert (found["bytes"], found["buffers"]) == (GIB, 1200 * MIB)


def test_without_known_caches_walk_and_streams_are_four_times_32_mib() -> None:
    found = points("loaded_latency", (0, 1), 64 * GIB, topology(caches=()))
    assert found == {"bytes": 128 * MIB, "buffers": 128 * MIB, "line": 64, "seed": 1}
    assert points("loaded_latency", (0,), 64 * GIB, with_lines({1: 32, 3: 128}))["line"] == 128


def test_a_loaded_walk_is_set_up_by_touching_linking_and_filling() -> None:
    params = {"bytes": 64 * 10**6, "buffers": 10**8, "line": 64}
    touched = (64e6 + 1e8) / 3e9
    assert memory_bytes("loaded_latency", **params) == 64 * 10**6 + 4 * 10**6 + 10**8
    assert of("loaded_latency").touch_seconds(params) == pytest.approx(touched)
    setup_s = 0.05 + touched + 50e-9 * 10**6 + 1e8 / 8e9
    assert of("loaded_latency").setup_seconds(params) == pytest.approx(setup_s)


@pytest.mark.parametrize(("name", "memory"), [("core_to_core", 4096), ("flops", 4096), ("flops_plain", 4096)])
def test_programs_of_cores_need_a_page(name: str, memory: int) -> None:
    assert memory_bytes(name) == memory


@pytest.mark.parametrize(("mix", "seconds"), [("fma", 3e-4), ("divide", 2e-3), ("sqrt", 2e-3), ("add", 3e-4)])
def test_divisions_and_roots_take_longer_in_plans(mix: str, seconds: float) -> None:
    flops, plain = of("flops").iteration_seconds, of("flops_plain").iteration_seconds
    assert flops
    assert plain
    assert (flops({"mix": mix}), plain({})) == (seconds, 2e-4)
