"""Memory, bytes and times that plans assume of messages and collectives, by hand."""

import math

import pytest
from tests.simulation import described

from assay.catalogue import benchmarks
from assay.model.benchmark import Benchmark, Resources
from assay.model.core_rate import CoreRate
from assay.model.placement import Memory, Placement

PT2PT, TCP, ONESIDED, PAIRS, COLLECTIVE, OVERLAP = map(
    benchmarks.get, ("pt2pt", "tcp", "onesided", "pairs", "collective", "overlap")
)
Params = dict[str, int | float | str]


def placed(ranks: int) -> Placement:
    return Placement("", "", tuple(range(ranks)), Memory(), ("n1",), tuple((cpu,) for cpu in range(ranks)))


def usual(benchmark: Benchmark, **params: int | str) -> Params:
    axes = {
        axis.name: next(iter(axis.values), 0) if axis.default is None else axis.default for axis in benchmark.axes
    }
    return {**axes, **params}


def buffer(payload: int, alignment: int = 0) -> int:
    """Bytes of a buffer: whole pieces of 128 B, or of twice its alignment, at least one."""
    piece = max(128, 2 * alignment)
    return piece * math.ceil(max(1, payload) / piece)


@pytest.mark.parametrize("size", [0, 1, 128, 129, 100_000])
@pytest.mark.parametrize("alignment", [0, 64, 65, 4096])
@pytest.mark.parametrize(("datatype", "spread"), [("contiguous", 1), ("vector", 2), ("indexed", 2)])
def test_a_pair_has_a_buffer_to_send_and_one_to_receive(
    size: int, alignment: int, datatype: str, spread: int
) -> None:
    def memory(**params: int | str) -> int:
        more = {"bytes": size, "alignment": alignment, "datatype": datatype, "offset": 0, **params}
        return PT2PT.memory_bytes(usual(PT2PT, **more), placed(2))

    one = buffer(spread * size, alignment)
    assert memory(buffers="hot") == 2 * one
    assert memory(buffers="rotating", window=16) == 2 * 16 * one
    assert memory(buffers="cold", pool=10**7) == 2 * 10**7
    assert memory(buffers="cold", pool=1) == 2 * one
    assert memory(buffers="hot", threads=3) == 3 * 2 * one
    assert memory(buffers="hot", offset=200) == 2 * buffer(spread * (size + 200), alignment)
    params = usual(
        PT2PT, bytes=size, alignment=alignment, datatype=datatype, buffers="rotating", window=64, offset=0
    )
    assert PT2PT.setup_seconds(params) == pytest.approx(0.01 + 2 * 64 * one / 1e9)


@pytest.mark.parametrize("size", [1, 100_000])
def test_sockets_and_rounds_and_windows_of_one_side_have_theirs(size: int) -> None:
    params = usual(TCP, bytes=size, buffers="rotating", window=8, offset=3)
    assert TCP.memory_bytes(params, placed(2)) == 2 * 8 * buffer(size + 3)
    assert TCP.setup_seconds(params) == pytest.approx(0.02 + 2 * 8 * buffer(size + 3) / 1e9)
    params = usual(PAIRS, bytes=size)
    assert PAIRS.memory_bytes(params, placed(4)) == 2 * buffer(size)
    assert PAIRS.setup_seconds(params) == pytest.approx(0.01 + 2 * buffer(size) / 1e9)
    for pattern, slots in (("bandwidth", 16), ("latency", 1)):
        params = usual(ONESIDED, bytes=size, pattern=pattern, window=16)
        whole = 2 * (slots * buffer(size) + 128)  # and a flag
        assert ONESIDED.memory_bytes(params, placed(2)) == whole
        assert ONESIDED.setup_seconds(params) == pytest.approx(0.01 + whole / 1e9)


@pytest.mark.parametrize(("benchmark", "rate"), [(PT2PT, 5e9), (TCP, 2e9)])
@pytest.mark.parametrize(
    ("pattern", "number"), [("latency", 1), ("multi-latency", 1), ("bandwidth", 32), ("bidirectional", 32)]
)
def test_an_iteration_is_a_message_or_a_window_of_them(
    benchmark: Benchmark, rate: float, pattern: str, number: int
) -> None:
    params = usual(benchmark, bytes=1000, pattern=pattern, window=32)
    assert benchmark.message_bytes(params) == number * 1000
    wanted_s = 2e-6 + number * 1000 / rate
    assert benchmark.iteration_s(params, placed(2), CoreRate()) == pytest.approx(wanted_s)


@pytest.mark.parametrize("benchmark", [PT2PT, TCP])
def test_cold_buffers_walk_through_four_last_level_caches_within_memory(benchmark: Benchmark) -> None:
    def pool(ranks: int, memory: float, description: str) -> int:
        found = benchmark.points(Resources(placed(ranks), described(description).topology, int(memory)), {})
        (point,) = found
        return int(point["pool"])

    large = "pack:1 numa:1(memory=8GB) l3:1(size=48MB) l2:2(size=1MB) core:1 pu:1"
    none = "pack:1 numa:1(memory=8GB) core:2 pu:1"
    small = "pack:1 numa:1(memory=8GB) l3:1(size=1MB) core:2 pu:1"
    assert pool(2, 1e12, large) == 4 * described(large).topology.last_level_bytes(placed(2).cpus)
    assert pool(2, 1e12, none) == 4 * 32 * 2**20  # no cache is known
    assert pool(2, 1e12, small) == 2 * 4 * 2**20  # two of the largest messages
    assert pool(2, 10**8, large) == int(0.6 * 10**8 / 2 / 2)
    assert pool(1, 10**8, large) == int(0.6 * 10**8 / 2)


@pytest.mark.parametrize(("ranks", "rounds"), [(2, 1), (3, 3), (4, 3), (7, 7), (8, 7)])
def test_each_rank_meets_every_other_in_as_few_rounds_as_can_be(ranks: int, rounds: int) -> None:
    found = PAIRS.points(Resources(placed(ranks), described().topology, 10**9), {})
    assert [each["round"] for each in found] == list(range(rounds))


@pytest.mark.parametrize("benchmark", [COLLECTIVE, OVERLAP])
@pytest.mark.parametrize(
    ("operation", "blocks"),
    [("gather", 65), ("scatter", 65), ("allgather", 65), ("alltoall", 128), ("allreduce", 2), ("bcast", 2)],
)
def test_a_collective_of_64_ranks_has_a_block_for_each_other_one(
    benchmark: Benchmark, operation: str, blocks: int
) -> None:
    params = usual(benchmark, operation=operation, bytes=5000)
    assert benchmark.memory_bytes(params, placed(2)) == blocks * 5000
    assert benchmark.message_bytes(params) == 5000
    assert benchmark.setup_seconds(params) == pytest.approx(0.01 + blocks * 5000 / 1e9)
