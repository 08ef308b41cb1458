"""What simulated programs take: each duration and amount from the law of the machine, by hand."""

import dataclasses
import math

import numpy as np
import pytest
from tests.simulation import EPYC_7601, TWO_CORES, SimulatedCase, described, simulated_case

from assay.simulation import Law, Link
from assay.simulation.request import parse
from assay.topics.kernels.benchmarks.hpcg import counts
from assay.topics.kernels.sizes import demand
from assay.topics.linear_algebra.simulated_system import Channel, Ranks, solve
from assay.topics.messages.simulate import pairs_of_round
from assay.topics.stencil.shape import block_of, shape_of

HOST, CORE = Link(2e-6, 10e9, 30e9), Link(3e-7, 8e9, 20e9, duplex=1.5)
LAW = Law(
    core_traffic=11e9,
    node_traffic=27e9,
    clock_hz=3e9,
    loaded_clock_hz=2.5e9,
    fma_units=2,
    vector_bits=256,
    blas_share=0.8,
    overlapped=(0.1, 0.7),
    jitter=0.0,
    links={"host": HOST, "core": CORE, "l3": CORE, "numa": CORE, "package": CORE},
)
#: Multiply-adds of a core with the loaded clock, flop/s, and of its vectors of 64 bits.
PEAK = 2 * 2 * 4 * 2.5e9


def of(line: str, law: Law = LAW, hosts: int = 1, description: str = TWO_CORES) -> SimulatedCase:
    topology = described(description).topology
    request = parse(tuple(line.split()), topology.allowed_cpus)
    names = tuple(f"n{number}" for number in range(1, hosts + 1))
    request = dataclasses.replace(request, hosts=names)
    return simulated_case(topology, law, request)


def ranks_of(program: str, hosts: int, rest: str, cpus: str = "0/1", law: Law = LAW) -> SimulatedCase:
    """So many ranks on each host as there are parts of `cpus`."""
    expected = hosts * len(cpus.split("/"))
    return of(f"{program} --expect-ranks {expected} --cpus {cpus} --case c {rest}", law, hosts)


#: Two cores of TWO_CORES draw from one node.
MEMORY = min(2 * 11e9, 27e9)


@pytest.mark.parametrize("problem", ["ep", "is", "cg", "mg", "ft"])
@pytest.mark.parametrize("coupling", ["sharing", "independent"])
@pytest.mark.parametrize("hosts", [1, 3])
def test_a_nas_kernel_takes_the_longer_of_arithmetic_and_memory_and_its_messages(
    problem: str, coupling: str, hosts: int
) -> None:
    found = ranks_of("nas", hosts, f"--npb {problem} --npb-class A --coupling {coupling}")
    need, ranks = demand(problem, "A"), 2 * hosts
    problems = ranks if coupling == "independent" else 1
    arithmetic = problems * need.operations * (need.flops_per_operation or 1) / (0.1 * hosts * 2 * PEAK)
    memory = problems * need.traffic_bytes / (hosts * MEMORY)
    link = CORE if hosts == 1 else HOST
    passed = need.message_bytes / ranks / link.rate + link.latency_s * math.ceil(math.log2(ranks))
    messages = passed if problems == 1 else 0.0
    assert found.seconds["computation"] == pytest.approx(max(arithmetic, memory))
    assert found.seconds["messages"] == pytest.approx(messages)
    assert found.seconds["rate"] == pytest.approx(max(arithmetic, memory) + messages)
    assert found.work["rate"]["flops"] == pytest.approx(need.flops_per_operation)
    assert found.work["rate"]["traffic_bytes"] == pytest.approx(need.traffic_bytes / need.operations)
    assert found.work["rate"]["operations"] == 1
    assert found.memory_bytes == need.memory_bytes(ranks // problems)
    assert found.payload == (need.message_bytes if problems == 1 else 0.0)
    assert found.figure == problems * need.operations
    assert found.paces is None


def test_one_rank_of_a_nas_kernel_passes_nothing() -> None:
    found = ranks_of("nas", 1, "--npb mg --npb-class A --coupling sharing", cpus="0")
    assert found.seconds["messages"] == found.payload == 0


@pytest.mark.parametrize(("hosts", "cpus"), [(1, "0"), (1, "0/1"), (2, "0/1")])
def test_hpcg_takes_its_bytes_at_a_share_of_the_memory_rate_and_its_messages(hosts: int, cpus: str) -> None:
    found = ranks_of("hpcg", hosts, "--n 32 --cg-iterations 20", cpus)
    here = len(cpus.split("/"))
    ranks, counted = hosts * here, counts(hosts * here, 32, 20)
    rate = 0.85 * hosts * min(here * 11e9, 27e9)
    seconds = {part: each.bytes / rate for part, each in counted.items()}
    payload = 0.0
    if ranks > 1:
        link = CORE if hosts == 1 else HOST
        seconds["ddot"] += (3 * 20 + 1) * 2 * link.latency_s  # three sums an iteration, there and back
        payload = 8 * 32**2 * 3 * 20 * ranks
        seconds["exchange"] = (3 * 4 - 1) * 20 * link.latency_s + payload / ranks / link.rate
    assert {part: found.seconds[part] for part in seconds} == pytest.approx(seconds)
    assert found.seconds["rate"] == pytest.approx(sum(seconds.values()))
    assert set(found.seconds) == {"rate", *seconds}
    flops, moved = (sum(each) for each in zip(*counted.values(), strict=True))
    assert found.figure == flops
    assert found.work["rate"] == {"solution": 1.0, "bytes": pytest.approx(moved / flops)}
    assert (found.payload, found.memory_bytes) == (payload, 510 * 32**3)


SIZES = {"XS": (32, 32, 64), "S": (64, 64, 128), "M": (128, 128, 256)}


def sweep_s(size: str, rate: float, grids: int = 1) -> float:
    """A sweep at 72 B a point that memory moves at 72/74 of its rate."""
    return grids * math.prod(n - 2 for n in SIZES[size]) * 74 / rate


@pytest.mark.parametrize("size", ["XS", "S"])
def test_himeno_moves_its_traffic_at_the_rate_of_memory(size: str) -> None:
    points = math.prod(n - 2 for n in SIZES[size])
    found = of(f"himeno --cpus 0-1 --case c --size {size}")
    assert found.seconds["jacobi"] == pytest.approx(sweep_s(size, MEMORY))
    assert found.work["jacobi"]["flops"] == 34 * points
    # Fourteen arrays, each followed by 17 lines of 64 B.
    assert found.memory_bytes == 14 * (4 * math.prod(SIZES[size]) + 17 * 64)
    slower = of(f"himeno --cpus 0-1 --case c --size {size}", dataclasses.replace(LAW, kernels={"jacobi": 0.5}))
    assert slower.seconds["jacobi"] == pytest.approx(2 * found.seconds["jacobi"])


@pytest.mark.parametrize("touch", ["serial", "parallel"])
def test_himeno_touched_by_one_thread_lies_on_one_node(touch: str) -> None:
    found = of(f"himeno --cpus 0,32 --case c --size S --touch {touch}", description=EPYC_7601)
    assert len(found.nodes) == (1 if touch == "serial" else 2)


@pytest.mark.parametrize(("hosts", "cpus"), [(1, "0/1"), (3, "0/1"), (4, "0"), (1, "0")])
@pytest.mark.parametrize("coupling", ["sharing", "independent"])
def test_himeno_over_ranks_passes_the_faces_of_its_blocks(hosts: int, cpus: str, coupling: str) -> None:
    here = len(cpus.split("/"))
    ranks = hosts * here
    found = ranks_of("himeno_mpi", hosts, f"--size S --coupling {coupling}", cpus)
    grids = ranks if coupling == "independent" else 1
    points = grids * math.prod(n - 2 for n in SIZES["S"])
    seconds, payload = sweep_s("S", hosts * min(here * 11e9, 27e9), grids), 0.0
    if ranks > 1 and grids == 1:
        shape = shape_of(SIZES["S"], ranks)
        assert shape
        i, j, k = block_of(SIZES["S"], shape)
        areas = {0: j * k, 1: i * k, 2: i * j}
        link = CORE if hosts == 1 else HOST
        # Faces to one or both neighbours along each divided axis, then the sum of squares, a double, in steps.
        messages = [4 * areas[axis] * min(2, n - 1) for axis, n in enumerate(shape) if n > 1]
        messages += [8] * math.ceil(math.log2(ranks))
        seconds += sum(link.latency_s + size / link.rate for size in messages)
        payload = ranks * sum(messages)
    assert found.seconds["jacobi"] == pytest.approx(seconds)
    assert found.payload == payload
    assert found.work["jacobi"]["flops"] == 34 * points
    assert found.paces is None


@pytest.mark.parametrize(
    "line",
    [
        "nas --npb mg --npb-class S",
        "hpcg --n 16 --cg-iterations 5",
        "himeno_mpi --size XS",
        "weather --nx 100 --time-steps 2",
        "collective --operation allreduce --bytes 8",
        "hpl --n 256 --nb 64 --p 1 --q 2",
        "pt2pt --pattern latency --bytes 8",
    ],
)
def test_each_rank_touches_its_own_pages(line: str) -> None:
    program, _, rest = line.partition(" ")
    found = of(f"{program} --expect-ranks 2 --cpus 0/32 --case c {rest}", description=EPYC_7601)
    assert found.nodes == {0: 0.5, 4: 0.5}


@pytest.mark.parametrize(("hosts", "cpus"), [(1, "0/1"), (3, "0/1"), (1, "0")])
@pytest.mark.parametrize("coupling", ["sharing", "uncoupled"])
@pytest.mark.parametrize("vectors", [256, 64])
def test_weather_takes_the_longer_of_memory_and_arithmetic_and_two_messages_a_stage(
    hosts: int, cpus: str, coupling: str, vectors: int
) -> None:
    law = dataclasses.replace(LAW, vector_bits=vectors, loaded_clock_hz=1e9, clock_hz=1e9)
    here = len(cpus.split("/"))
    ranks = hosts * here
    found = ranks_of("weather", hosts, f"--nx 400 --time-steps 60 --coupling {coupling}", cpus, law)
    cells = 400 * 200
    peak = hosts * here * 2 * 1e9 * 2 * vectors / 64
    tendencies = cells * 60 * max(640 / (hosts * min(here * 11e9, 27e9)), 540 / (0.4 * peak))
    halo, payload = 0.0, 0.0
    if ranks > 1 and coupling == "sharing":
        link = CORE if hosts == 1 else HOST
        halo = 60 * 6 * (link.latency_s + 64 * 200 / link.rate)
        payload = 2 * 64 * 200 * 3 * 60 * ranks
    assert found.seconds == pytest.approx(
        {"tendencies": tendencies, "halo": halo, "other": 0.02 * tendencies, "rate": 1.02 * tendencies + halo}
    )
    assert found.payload == payload
    assert found.figure == cells * 60
    assert found.work["rate"]["steps"] == pytest.approx(1 / cells)


@pytest.mark.parametrize(("hosts", "cpus"), [(1, "0/1"), (3, "0/1"), (4, "0")])
def test_a_collective_takes_a_step_for_each_doubling_of_the_ranks(hosts: int, cpus: str) -> None:
    found = ranks_of("collective", hosts, "--operation allreduce --bytes 1000", cpus)
    ranks, link = hosts * len(cpus.split("/")), CORE if hosts == 1 else HOST
    rounds = math.ceil(math.log2(ranks))
    whole = rounds * (link.latency_s + 1000 / link.rate)
    assert found.seconds == pytest.approx({"slowest": whole, "own": whole})
    assert found.payload == rounds * 1000
    assert found.paces is None  # all ranks take times, at one pace
    for tests, hidden in ((0, 0.1), (1, 0.7), (4, 0.7)):
        both = ranks_of("overlap", hosts, f"--operation ibcast --bytes 1000 --tests {tests}", cpus)
        assert both.seconds == pytest.approx(
            {"pure": whole, "computing": whole, "overlapped": (2 - hidden) * whole}
        )


@pytest.mark.parametrize(("word", "bits"), [("fp64", 64), ("fp32", 32)])
def test_a_product_reaches_the_librarys_share_of_the_peak(word: str, bits: int) -> None:
    rate = 0.8 * PEAK * 64 / bits
    shared = of(f"dgemm --cpus 0-1 --case c --n 500 --format {word} --product shared")
    own = of(f"dgemm --cpus 0-1 --case c --n 500 --format {word} --product own")
    assert shared.seconds["multiply"] == pytest.approx(2 * 500**3 / (2 * rate))
    assert own.seconds["multiply"] == pytest.approx(2 * 500**3 / rate)
    assert shared.memory_bytes == 3 * 500**2 * bits // 8
    assert own.memory_bytes == 2 * shared.memory_bytes
    assert own.work["multiply"] == {"flops": 2 * 2 * 500**3, "bytes": own.memory_bytes}


def test_linpack_takes_a_tenth_of_the_peak_or_half_of_the_product() -> None:
    one = 2 * 2 * 4 * 3e9  # one core has the higher clock
    flops = 2 * 1000**3 / 3 + 2 * 1000**2
    for program, method, share in (
        ("linpack", "--method plain", 0.1),
        ("linpack", "--method lapack", 0.4),
        ("linpack_fortran", "", 0.1),
    ):
        found = of(f"{program} --cpus 0 --case c --n 1000 --leading 1001 {method}")
        assert found.seconds["solve"] == pytest.approx(flops / (share * one))
        assert found.work["solve"]["flops"] == pytest.approx(flops)


@pytest.mark.parametrize("word", ["fp32", "bf16"])
def test_mixed_precision_reads_the_matrix_once_to_convert_and_four_times_to_refine(word: str) -> None:
    found = of(f"mxp --cpus 0-1 --case c --n 2048 --nb 256 --format {word}")
    single, update = 0.8 * 2 * PEAK * 2, 0.8 * 2 * PEAK * (2 if word == "fp32" else 4)
    matrix, n, block = 12 * 2048**2, 2048.0, 256.0
    seconds = {
        "conversion": matrix / MEMORY,
        "diagonal": (2 / 3) * block**3 * (n / block) / (0.2 * single),
        "triangles": block * n**2 / single,
        "update": (2 / 3) * n**3 / update,
        "refinement": 4 * matrix / MEMORY,
    }
    assert found.seconds == pytest.approx({**seconds, "rate": sum(seconds.values())})
    assert found.figure == pytest.approx(2 * n**3 / 3 + 1.5 * n**2)
    assert found.work["rate"] == {"solution": 1.0, "flops": found.figure}
    assert found.steps["refinement"] == pytest.approx((matrix / MEMORY,) * 3)


HPL = "--n 1024 --nb 128 --look-ahead one"


@pytest.mark.parametrize("broadcast", ["ring", "shared"])
@pytest.mark.parametrize(
    ("hosts", "cpus", "p", "q"), [(1, "0/1", 1, 2), (2, "0/1", 2, 2), (2, "0", 2, 1), (1, "0", 1, 1)]
)
def test_a_system_is_solved_by_ranks_at_the_share_of_the_library_over_the_slowest_links(
    hosts: int, cpus: str, p: int, q: int, broadcast: str
) -> None:
    law = dataclasses.replace(LAW, slow_hosts={"n2": 0.75}, crowded=0.9)
    here = len(cpus.split("/"))
    found = ranks_of("hpl", hosts, f"{HPL} --p {p} --q {q} --broadcast {broadcast} --coupling sharing", cpus, law)
    clock = 2.5e9 if here == 2 else 3e9
    core = 0.8 * 2 * 2 * 4 * clock * (0.9 if hosts > 1 else 1.0)
    rates = np.array([core * (0.75 if rank // here else 1.0) for rank in range(hosts * here)]).reshape(p, q)
    # Rows of a grid of two hosts lie inside one of them; as many messages pass as there are rows, or columns.
    row = Channel(3e-7, math.inf if broadcast == "shared" else min(8e9, 20e9 / p)) if q > 1 else Channel()
    column = Channel(2e-6, min(10e9, 30e9 * hosts / q)) if p > 1 else Channel()
    wanted = solve(1024, 128, Ranks(rates, 0.2, row, column, 0.0, 0.0), look_ahead=True)
    assert found.seconds == pytest.approx({"rate": wanted.seconds, **wanted.phases})
    assert found.payload == (8 * 1024**2 / 2 if p * q > 1 else 0)
    assert found.figure == pytest.approx(2 * 1024**3 / 3 + 1.5 * 1024**2)
    assert found.of_hosts


def test_panels_between_hosts_keep_a_core_busy_and_independent_systems_wait_for_the_slowest() -> None:
    law = dataclasses.replace(LAW, slow_hosts={"n2": 0.5})
    found = ranks_of("hpl", 2, f"{HPL} --p 1 --q 2 --broadcast ring --coupling sharing", "0-1", law)
    rates = np.array([[0.8 * 2 * PEAK, 0.4 * 2 * PEAK]])
    row = Channel(2e-6, min(10e9, 2 * 30e9))
    wanted = solve(1024, 128, Ranks(rates, 0.2, row, Channel(), (1 - 0.7) / 2), look_ahead=True)
    assert found.seconds == pytest.approx({"rate": wanted.seconds, **wanted.phases})
    alone = ranks_of("hpl", 2, f"{HPL} --p 0 --q 0 --broadcast ring --coupling independent", "0-1", law)
    wanted = solve(1024, 128, Ranks(rates[:, 1:], 0.2), look_ahead=True)
    assert alone.seconds == pytest.approx({"rate": wanted.seconds, **wanted.phases})
    assert alone.figure == pytest.approx(2 * (2 * 1024**3 / 3 + 1.5 * 1024**2))
    assert alone.payload == 0


@pytest.mark.parametrize("ranks", range(2, 14))
def test_every_pair_meets_once_in_a_round_robin(ranks: int) -> None:
    rounds = [pairs_of_round(ranks, number) for number in range(ranks - 1 + ranks % 2)]
    met = [pair for each in rounds for pair in each]
    assert sorted(met) == [(a, b) for a in range(ranks) for b in range(a + 1, ranks)]
    for each in rounds:
        taken = [rank for pair in each for rank in pair]
        assert len(set(taken)) == len(taken) == ranks - ranks % 2
        assert all((a + b) % len(rounds) == rounds.index(each) for a, b in each if b < len(rounds))
    for number in (-1, len(rounds)):
        with pytest.raises(ValueError, match=f"{ranks} ranks has no round"):
            pairs_of_round(ranks, number)
