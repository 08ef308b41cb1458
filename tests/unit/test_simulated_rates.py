"""The simulated programs of memory and cores, by their formulas worked out by hand for one machine."""

from typing import Any

import msgspec
import pytest
from tests.simulation import SimulatedCase, described, simulated_case

from assay.model.declaration import ParamValue
from assay.simulation import Law
from assay.simulation.request import CaseRequest, Request

KIB, MIB = 2**10, 2**20
#: Two memory nodes of two cores; each core has an L1 and an L2, each node an L3.
NODES = "pack:1 numa:2(memory=8GB) l3:1(size=8MB) l2:2(size=1MB) l1:1(size=32kB) core:1 pu:1"
#: Loads and stores of STREAM's kernels in numbers of 8 bytes, without write-allocate, and flops (J. McCalpin).
KERNELS = {"copy": (2, 0), "scale": (2, 1), "add": (3, 1), "triad": (3, 2)}


def ran(
    program: str, law: Law, cpus: tuple[int, ...] = (0,), asked: str = "first-touch", **params: ParamValue
) -> SimulatedCase:
    request = Request(program, cpus, asked, 0.01, 10, 200, (CaseRequest("case", params, 1.0),))
    return simulated_case(described(NODES).topology, law, request)


def stream(law: Law, elements: int, cpus: tuple[int, ...] = (0,), **others: ParamValue) -> SimulatedCase:
    given: dict[str, Any] = {"touch": "parallel", "stores": "ordinary", "elements": elements}
    return ran("stream", law, cpus, **(given | others))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("stores", "allocated"), [("ordinary", 1), ("non-temporal", 0)])
def test_stream_moves_the_published_bytes_and_the_line_of_its_target(
    kernel: str, stores: str, allocated: int
) -> None:
    numbers, _ = KERNELS[kernel]
    found = stream(Law(kernels={kernel: 0.5}), 10**6, stores=stores)
    assert found.work[kernel]["bytes"] == 8 * numbers * 10**6
    assert found.work[kernel]["traffic_bytes"] == 8 * (numbers + allocated) * 10**6
    assert found.seconds[kernel] == pytest.approx(8 * (numbers + allocated) * 10**6 / (0.5 * 12e9))
    assert found.nodes == {0: 1.0}


def test_stream_without_a_number_of_elements_takes_ten_millions() -> None:
    assert stream(Law(), 0).work["copy"]["bytes"] == 16 * 10**7


@pytest.mark.parametrize(("elements", "rate"), [(1000, 18e9), (1001, 12e9)])
def test_arrays_that_caches_hold_come_from_there(elements: int, rate: float) -> None:
    law = Law(held={1: 0, 2: 0, 3: 24_000})
    assert stream(law, elements).seconds["triad"] == pytest.approx(32 * elements / rate)


def test_threads_touch_their_own_pages_unless_one_touches_all() -> None:
    own, one = (stream(Law(), 10**7, (0, 2), touch=touch) for touch in ("parallel", "serial"))
    assert own.nodes == {0: 0.5, 1: 0.5}
    assert one.nodes == {0: 1.0}
    assert own.seconds["triad"] == pytest.approx(32 * 10**7 / 24e9)
    assert one.seconds["triad"] == pytest.approx(32 * 10**7 / (2 * 0.6 * 12e9))


def memcpy(law: Law, size: int, *, offset: int = 0, buffers: str = "hot", pool: int = 0) -> SimulatedCase:
    return ran("memcpy", law, bytes=size, offset=offset, buffers=buffers, pool=pool)


@pytest.mark.parametrize(
    ("size", "rate"),
    [(16 * KIB, 60e9), (16 * KIB + 1, 35e9), (MIB // 2, 35e9), (4 * MIB, 18e9), (4 * MIB + 1, 6e9)],
)
def test_a_copy_has_the_rate_of_the_cache_that_holds_source_and_target(size: int, rate: float) -> None:
    found = memcpy(Law(call_s=1e-6), size)
    assert found.seconds == {"memcpy": pytest.approx(1e-6 + size / rate)}
    assert found.work == {"memcpy": {"bytes": size}}


@pytest.mark.parametrize(("size", "rate"), [(1000, 60e9), (10 * MIB, 6e9)])
def test_a_slow_core_copies_slower_in_caches_as_in_memory(size: int, rate: float) -> None:
    found = memcpy(Law(call_s=0.0, slow_cores={0: 0.5}), size)
    assert found.seconds["memcpy"] == pytest.approx(size / (0.5 * rate))


def test_offsets_add_to_a_block_and_cold_blocks_use_a_pool() -> None:
    assert memcpy(Law(), 1000, offset=-8).work["memcpy"]["bytes"] == 992
    assert memcpy(Law(), 8, offset=-8).work["memcpy"]["bytes"] == 1
    cold = memcpy(Law(call_s=0.0), 1000, buffers="cold", pool=64 * MIB)
    assert cold.seconds["memcpy"] == pytest.approx(1000 / 6e9)


LOADS = {1: 1e-9, 2: 4e-9, 3: 14e-9}


@pytest.mark.parametrize(
    ("size", "seconds"),
    [
        (32 * KIB, 1e-9),
        (32 * KIB + 1, 4e-9),
        (MIB, 4e-9),
        (MIB + 1, 14e-9),
        (8 * MIB, 14e-9),
        (8 * MIB + 1, 90e-9),
        (16 * MIB, 90e-9),
        (16 * MIB + 1, 90e-9 + 20e-9),
    ],
)
def test_a_load_comes_from_the_smallest_cache_and_walks_the_page_table_beyond_the_tlb(
    size: int, seconds: float
) -> None:
    law = Law(load_s=LOADS, memory_load_s=90e-9, tlb_bytes=16 * MIB, tlb_s=20e-9, slow_cores={1: 0.5})
    found = ran("latency", law, bytes=size, pages="small")
    assert found.seconds == {"chase": pytest.approx(seconds)}
    assert found.work == {"chase": {"loads": 1.0}}
    huge = ran("latency", law, (1,), bytes=size, pages="huge")
    assert huge.seconds["chase"] == pytest.approx(2 * (seconds - (20e-9 if size > 16 * MIB else 0)))


def test_a_cache_answers_for_what_the_guest_gets_of_it() -> None:
    law = Law(load_s=LOADS, held={3: 2 * MIB})
    assert ran("latency", law, bytes=2 * MIB, pages="huge").seconds["chase"] == pytest.approx(14e-9)
    assert ran("latency", law, bytes=2 * MIB + 1, pages="huge").seconds["chase"] == pytest.approx(90e-9)


@pytest.mark.parametrize(("asked", "factor"), [("bind:0", 1.0), ("bind:1", 1.5), ("interleave:0-1", 1.25)])
def test_remote_pages_take_longer(asked: str, factor: float) -> None:
    law = Law(memory_load_s=80e-9, remote_load=1.5)
    found = ran("latency", law, asked=asked, bytes=64 * MIB, pages="huge")
    assert found.seconds["chase"] == pytest.approx(factor * 80e-9)


def test_a_walk_uses_the_caches_of_its_own_core() -> None:
    topology = described(NODES).topology
    shared = tuple(each for each in topology.caches if each.level > 2 or 0 not in each.cpus)
    bare = msgspec.structs.replace(topology, caches=shared)
    case = CaseRequest("case", {"bytes": KIB, "pages": "huge"}, 1.0)
    request = Request("latency", (0,), "first-touch", 0.01, 10, 200, (case,))
    assert simulated_case(bare, Law(load_s=LOADS), request).seconds["chase"] == pytest.approx(14e-9)


def test_one_thread_copies_and_walks_and_touches_all_pages() -> None:
    cpus = (0, 2)
    copied = ran("memcpy", Law(call_s=0.0), cpus, bytes=1000, offset=0, buffers="hot", pool=0)
    walked = ran("latency", Law(), cpus, bytes=64 * MIB, pages="huge")
    assert copied.seconds["memcpy"] == pytest.approx(1000 / 60e9)
    assert copied.nodes == walked.nodes == {0: 1.0}


def test_the_first_thread_walks_its_own_pages_while_others_load() -> None:
    law = Law(memory_load_s=80e-9, remote_load=2.0, load_queue=1.0)
    both = ran("loaded_latency", law, (0, 2), delay=0, pages="huge")
    assert both.seconds["chase"] == pytest.approx(80e-9)
    alone = ran("loaded_latency", law, delay=0, pages="huge")
    assert alone.work["load"]["bytes"] / alone.seconds["load"] == 1.0


@pytest.mark.parametrize(("delay", "drawn"), [(0, 1.0), (30, 1 / 2), (90, 1 / 4)])
@pytest.mark.parametrize(("pages", "walk_s"), [("small", 20e-9), ("huge", 0.0)])
def test_a_load_waits_by_the_square_of_what_others_draw(
    delay: int, drawn: float, pages: str, walk_s: float
) -> None:
    law = Law(memory_load_s=80e-9, tlb_s=20e-9, load_queue=3.0)
    found = ran("loaded_latency", law, (0, 1, 2), delay=delay, pages=pages)
    assert found.seconds["chase"] == pytest.approx((80e-9 + walk_s) * (1 + 2 * drawn**2))
    assert found.work["load"]["bytes"] / found.seconds["load"] == pytest.approx(drawn * 24e9)
    assert found.work == {"chase": {"loads": 1.0}, "load": {"bytes": 64 * MIB}}
    assert found.nodes == pytest.approx({0: 2 / 3, 1: 1 / 3})


def flops(law: Law, cpus: tuple[int, ...] = (0,), *, form: str, width: int | str, mix: str) -> SimulatedCase:
    return ran("flops", law, cpus, format=form, width=width, mix=mix)


ALL, FEW = (0, 1, 2, 3), (0,)
CLOCKS = Law(clock_hz=3e9, loaded_clock_hz=2e9, fma_units=2, vector_bits=256)


@pytest.mark.parametrize(
    "vector",
    [("fp64", "scalar", 1), ("fp64", 128, 2), ("fp64", 256, 4), ("fp64", 512, 4), ("fp32", 256, 8)],
)
@pytest.mark.parametrize("operation", [("fma", 2.0), ("add", 1.0), ("divide", 0.1), ("sqrt", 0.1)])
@pytest.mark.parametrize("place", [(FEW, 3e9), (ALL, 2e9)])
def test_a_core_does_as_many_flops_as_its_units_have_lanes(
    vector: tuple[str, int | str, int], operation: tuple[str, float], place: tuple[tuple[int, ...], float]
) -> None:
    (form, width, lanes), (mix, each), (cpus, clock) = vector, operation, place
    found = flops(CLOCKS, cpus, form=form, width=width, mix=mix)
    rate = found.work["arithmetic"]["flops"] / found.seconds["arithmetic"]
    assert rate == pytest.approx(len(cpus) * clock * 2 * lanes * each)
    assert found.seconds["arithmetic"] == pytest.approx((10 if each < 1 else 1) * 2**20 / (2 * clock))
    assert found.work["loaded-clock"]["cycles"] / found.seconds["loaded-clock"] == pytest.approx(clock)
    assert found.work["clock"]["cycles"] / found.seconds["clock"] == pytest.approx(3e9)
    assert found.seconds["clock"] == pytest.approx(2**18 / 3e9)
    assert found.nodes == {0: 1.0}


@pytest.mark.parametrize(("cpus", "clock"), [(FEW, 3e9), (ALL, 2e9)])
def test_plain_loops_do_one_operation_in_each_unit(cpus: tuple[int, ...], clock: float) -> None:
    found = ran("flops_plain", CLOCKS, cpus)
    assert found.work == {"sum": {"flops": 15 * 2**14 * len(cpus)}}
    assert found.seconds == {"sum": pytest.approx(15 * 2**14 / (2 * clock))}
    assert found.nodes == {0: 1.0}


@pytest.mark.parametrize(("pair", "factor"), [((0, 1), 2.0), ((0, 2), 5.0), ((1, 3), 5.0 * 3)])
def test_a_line_takes_longer_the_less_two_cores_share(pair: tuple[int, int], factor: float) -> None:
    far = {"core": 2.0, "l3": 3.0, "numa": 5.0}
    law = Law(handover={"near": 20e-9, "far": 50e-9}, handover_far=far, slow_pairs={(1, 3): 3.0})
    found = ran("core_to_core", law, pair)
    assert found.seconds["handover"] / found.work["handover"]["handovers"] == pytest.approx(factor * 20e-9)
    assert found.work == {"handover": {"handovers": 2.0}}
    assert found.in_state == {"near": 1.0, "far": 2.5}
    assert found.nodes == {pair[0] // 2: 1.0}


def test_the_first_two_cpus_transfer_a_line_and_one_transfers_it_to_itself() -> None:
    law = Law(handover={"near": 20e-9}, handover_far={"core": 2.0, "numa": 5.0}, slow_pairs={(0, 1): 3.0})
    assert ran("core_to_core", law, (0, 1, 2)).seconds["handover"] == pytest.approx(2 * 2 * 3 * 20e-9)
    assert ran("core_to_core", law, (0,)).seconds["handover"] == pytest.approx(2 * 20e-9)
