"""Simulated messages between pairs, and the simulated ranks of a system of equations, against plain loops."""

import dataclasses
import math

import numpy as np
import pytest
from tests.simulation import TWO_CORES, SimulatedCase, described, simulated_case

from assay.simulation import Law, Link
from assay.simulation.request import parse
from assay.topics.linear_algebra.simulated_system import Channel, Ranks, solve

HOST = Link(2e-6, 10e9, 30e9, duplex=1.6, gap_s=3e-7, eager_bytes=1000, rendezvous_s=5e-6)
CORE = Link(3e-7, 8e9, 20e9, duplex=1.5, gap_s=1e-7)
LAW = Law(links={"host": HOST, "core": CORE}, tcp=(3.0, 2.0), slow_cores={1: 0.5})


def of(program: str, hosts: int, rest: str, cpus: str = "0", law: Law = LAW) -> SimulatedCase:
    topology = described(TWO_CORES).topology
    expected = hosts * len(cpus.split("/"))
    line = f"{program} --expect-ranks {expected} --cpus {cpus} --case c {rest}"
    request = parse(tuple(line.split()), topology.allowed_cpus)
    request = dataclasses.replace(request, hosts=tuple(f"n{number}" for number in range(1, hosts + 1)))
    return simulated_case(topology, law, request)


def announced(size: int) -> float:
    """Seconds of the announcement of a message between hosts."""
    return 5e-6 if size > 1000 else 0.0


@pytest.mark.parametrize("size", [0, 8, 1000, 1001, 1000000])
def test_a_message_to_and_fro_and_a_window_take_what_the_link_gives(size: int) -> None:
    latency = of("pt2pt", 2, f"--pattern latency --bytes {size}")
    assert latency.seconds["message"] == pytest.approx(2 * (2e-6 + announced(size) + size / 10e9))
    assert latency.work["message"] == {"messages": 2, "bytes": 2 * size, "one-way": 2}
    window = of("pt2pt", 2, f"--pattern bandwidth --bytes {size} --window 16")
    whole = 16 * (3e-7 + size / 10e9) + announced(size) + 2e-6
    assert window.seconds["message"] == pytest.approx(whole)
    assert window.work["message"] == {"messages": 16, "bytes": 16 * size}
    both = of("pt2pt", 2, f"--pattern bidirectional --bytes {size} --window 16")
    whole = 16 * (3e-7 + size / (10e9 * 1.6 / 2)) + announced(size) + 2e-6
    assert both.seconds["message"] == pytest.approx(whole)
    assert both.work["message"] == {"messages": 32, "bytes": 32 * size}
    assert [sorted(each.paces or ()) for each in (latency, window, both)] == [[0], [0], [0, 1]]
    assert both.payload == 32 * size


def test_pairs_share_the_links_of_their_hosts_and_slow_cores_are_slow() -> None:
    many = of("pt2pt", 4, "--pattern multi-bandwidth --bytes 4096 --window 8", "0/1")
    rate = min(10e9, 2 * 30e9 / 4)  # four pairs over two links of each half
    assert many.seconds["message"] == pytest.approx(8 * (3e-7 + 4096 / rate) + 5e-6 + 2e-6)
    assert many.work["message"] == {"messages": 4 * 8, "bytes": 4 * 8 * 4096}
    assert many.paces == {0: 1.0, 1: 2.0, 2: 1.0, 3: 2.0}
    threads = of("pt2pt", 2, "--pattern latency --bytes 8", "0-1")
    assert threads.paces == {0: 2.0}  # the slower one of its cores
    full = of("pt2pt", 2, "--pattern multi-latency --bytes 4096", "0/1", dataclasses.replace(LAW, fabric=8e9))
    assert full.seconds["message"] == pytest.approx(2 * (2e-6 + 5e-6 + 4096 / 4e9))
    assert full.work["message"] == {"messages": 4, "bytes": 4 * 4096, "one-way": 2}
    inside = of("pt2pt", 1, "--pattern latency --bytes 4096", "0/1")
    assert inside.seconds["message"] == pytest.approx(2 * (3e-7 + 4096 / 8e9))


def test_an_offset_makes_a_message_longer_and_a_sleep_makes_it_later() -> None:
    longer = of("pt2pt", 2, "--pattern latency --bytes 512 --offset 64")
    assert longer.seconds["message"] == pytest.approx(2 * (2e-6 + 576 / 10e9))
    asleep = dataclasses.replace(LAW, wake=(100 * 1e-6, 30e-6))
    for gap, later in ((99, 0.0), (100, 30e-6), (101, 30e-6)):
        found = of("pt2pt", 2, f"--pattern latency --bytes 8 --gap {gap}", law=asleep)
        assert found.seconds["message"] == pytest.approx(2 * (2e-6 + 8 / 10e9) + later)


@pytest.mark.parametrize("size", [8, 100000])
def test_sockets_have_the_latency_and_the_bytes_of_the_law(size: int) -> None:
    found = of("tcp", 2, f"--pattern latency --bytes {size}")
    assert found.seconds["message"] == pytest.approx(2 * (3 * 2e-6 + announced(size) + 2 * size / 10e9))
    assert found.segment == 1500 - 40 - 12
    assert found.inside == "lo"
    assert not found.lost


def test_sockets_send_segments_in_frames_that_cost_time() -> None:
    law = dataclasses.replace(LAW, frames=(1500, 1e-6), segments=True, socket_buffers=True)
    plain = of("tcp", 2, "--pattern latency --bytes 800", law=law)
    assert plain.seconds["message"] == pytest.approx(2 * (6e-6 + 800 / 1448e6))  # a frame takes 1 us
    short = of("tcp", 2, "--pattern latency --bytes 800 --segment 536", law=law)
    assert short.segment == 536 - 12
    assert short.seconds["message"] == pytest.approx(2 * (6e-6 + 5e-6 + 800 / 524e6))
    long = of("tcp", 2, "--pattern latency --bytes 800 --segment 9000", law=law)
    assert long.segment == 1448
    buffered = of("tcp", 2, "--pattern latency --bytes 800 --send-buffer 799", law=law)
    assert buffered.seconds["message"] == pytest.approx(2 * (6e-6 + 5e-6 + 800 / 1448e6))
    enough = of("tcp", 2, "--pattern latency --bytes 800 --send-buffer 800", law=law)
    assert enough.seconds["message"] == pytest.approx(2 * (6e-6 + 800 / 1448e6))
    unset = dataclasses.replace(law, segments=False, socket_buffers=False)
    same = of("tcp", 2, "--pattern latency --bytes 800 --segment 536 --send-buffer 700", law=unset)
    assert same.seconds["message"] == pytest.approx(2 * (6e-6 + 800 / 524e6))


def test_pairs_over_sockets_share_a_link_that_is_slower_by_the_same_factor() -> None:
    found = of(
        "tcp", 2, "--pattern multi-bandwidth --bytes 512 --window 4", "0/1", dataclasses.replace(LAW, fabric=7e9)
    )
    assert found.seconds["message"] == pytest.approx(4 * (3e-7 + 512 / 3.5e9) + 6e-6)
    narrow = dataclasses.replace(LAW, links={"host": dataclasses.replace(HOST, most=12e9)})
    found = of("tcp", 2, "--pattern multi-bandwidth --bytes 512 --window 4", "0/1", narrow)
    assert found.seconds["message"] == pytest.approx(4 * (3e-7 + 512 / (12e9 / 2 / 2)) + 6e-6)


@pytest.mark.parametrize("size", [100, 948, 949, 100000])
def test_frames_beyond_the_longest_are_lost(size: int) -> None:
    law = dataclasses.replace(LAW, longest_frame=1000)  # 52 B of it are headers
    assert of("tcp", 2, f"--pattern latency --bytes {size}", law=law).lost == (size > 948)


@pytest.mark.parametrize("synchronisation", ["fence", "pscw", "lock", "flush"])
@pytest.mark.parametrize("operation", ["put", "get"])
@pytest.mark.parametrize("size", [8, 5000])
def test_a_transfer_to_one_side_waits_for_its_synchronisation(
    synchronisation: str, operation: str, size: int
) -> None:
    axes = f"--synchronisation {synchronisation} --operation {operation} --bytes {size}"
    empty = 2e-6
    message = 2e-6 + announced(size) + size / 10e9
    closing = empty if synchronisation in {"fence", "lock"} else 0.0
    passive_get = operation == "get" and synchronisation in {"lock", "flush"}
    found = of("onesided", 2, f"--pattern latency {axes}")
    whole = empty + message if passive_get else 2 * (message + empty)
    assert found.seconds["transfer"] == pytest.approx(whole + closing)
    transfers = 1 if passive_get else 2
    assert found.work["transfer"] == {"bytes": transfers * size, "one-way": transfers}
    window = of("onesided", 2, f"--pattern bandwidth --window 4 {axes}")
    whole = 4 * (3e-7 + size / 10e9) + announced(size) + 2e-6
    assert window.seconds["transfer"] == pytest.approx(whole + closing)
    assert window.work["transfer"] == {"bytes": 4 * size}
    assert window.payload == 4 * size


def test_pairs_of_a_round_pass_in_turn_or_share_the_fabric() -> None:
    law = dataclasses.replace(LAW, slow_hosts={"n2": 0.5}, slow_paths={("n1", "n3"): 4.0}, fabric=12e9)
    axes = "--pattern bandwidth --bytes 4096 --window 8 --round"
    alone = 8 * (3e-7 + 4096 / 10e9) + 5e-6 + 2e-6
    # Of four ranks in round 0: 0 meets the last, 1 meets 2 (0 + 0, 1 + 2 modulo 3).
    found = of("pairs", 4, f"{axes} 0 --schedule one-by-one", law=law)
    assert found.pairs == "0-3 1-2"
    assert found.seconds["message"] == pytest.approx(alone)
    assert found.paces == pytest.approx({0: 1.0, 1: 2.0})
    found = of("pairs", 4, f"{axes} 2 --schedule one-by-one", law=law)
    assert found.pairs == "0-2 1-3"
    assert found.seconds["message"] == pytest.approx(2 * alone)  # with the slow host
    assert found.paces == pytest.approx({0: 2.0, 1: 1.0})  # over the slow path
    together = of("pairs", 4, f"{axes} 0 --schedule all", law=law)
    assert together.seconds["message"] == pytest.approx(8 * (3e-7 + 4096 / 6e9) + 5e-6 + 2e-6)
    assert together.payload == 2 * 8 * 4096
    both = of("pairs", 4, "--pattern bidirectional --bytes 4096 --window 8 --round 0 --schedule all", law=law)
    assert sorted(both.paces or range(4)) == [0, 1, 2, 3]
    latency = of("pairs", 3, "--pattern latency --bytes 8 --round 0 --schedule one-by-one", law=law)
    assert (latency.pairs, latency.work["message"]["messages"]) == ("1-2", 2)
    inside = of("pairs", 1, f"{axes} 0 --schedule all", "0/1", law=law)
    assert inside.seconds["message"] == pytest.approx(8 * (1e-7 + 4096 / 8e9) + 3e-7)


class Clocks:
    """A clock of each rank of a grid, which moves on by itself; mean seconds of each phase."""

    def __init__(self, n: int, block: int, ranks: Ranks) -> None:
        self.ranks = ranks
        self.p, self.q = (int(places) for places in ranks.rates.shape)
        self.width = [min(block, n - begin) for begin in range(0, n, block)]
        self.count, self.rounds = len(self.width), math.ceil(math.log2(self.p))
        self.every = [(row, column) for row in range(self.p) for column in range(self.q)]
        self.clock = dict.fromkeys(self.every, 0.0)
        self.spent = dict.fromkeys(("panel", "broadcast", "swap", "update"), 0.0)

    def later(self, phase: str, rank: tuple[int, int], until: float) -> None:
        self.spent[phase] += max(until - self.clock[rank], 0.0) / (self.p * self.q)
        self.clock[rank] = max(until, self.clock[rank])

    def dealt(self, first: int, place: int, places: int) -> int:
        """Rows or columns of a place, from a block on."""
        return sum(self.width[each] for each in range(first, self.count) if each % places == place)

    def message(self, step: int) -> float:
        """Seconds of a panel's message: its rows, its topmost square, its pivots."""
        width, rows = self.width[step], max(self.dealt(step, row, self.p) for row in range(self.p))
        link = self.ranks.along_row
        return link.latency_s + 8 * width * (rows + width + 1) / link.rate

    def factor(self, panel: int) -> float:
        """Factor a panel in its column of the grid; return when it is ready."""
        width, column = self.width[panel], [(row, panel % self.q) for row in range(self.p)]
        rates, link = self.ranks.panel_share * self.ranks.rates, self.ranks.along_column
        slowest = max(width**2 * self.dealt(panel, rank[0], self.p) / rates[rank] for rank in column)
        pivots = width * self.rounds * (link.latency_s + 2 * 8 * width / link.rate)
        ready = max(self.clock[rank] for rank in column) + slowest + pivots
        for rank in column:
            self.later("panel", rank, ready)
        return float(ready)

    def broadcast(self, step: int, ready: float) -> None:
        """Pass a panel beyond the next column, which has a panel to factor."""
        for rank in self.every:
            distance = (rank[1] - step) % self.q
            hops = distance if distance < 2 else distance - 1
            self.later("broadcast", rank, ready + hops * self.message(step))

    def swap(self, step: int) -> None:
        link = self.ranks.along_column
        for column in range(self.q) if self.p > 1 else ():
            moved = 8 * self.width[step] * self.columns(step, column) * (self.p - 1) / self.p
            start = max(self.clock[row, column] for row in range(self.p))
            for row in range(self.p):
                self.later("swap", (row, column), start + self.rounds * link.latency_s + 2 * moved / link.rate)

    def columns(self, step: int, column: int) -> int:
        """Columns right of a panel, and the right-hand side, which follows the last block."""
        return self.dealt(step + 1, column, self.q) + (self.count % self.q == column)

    def products(self, step: int, rank: tuple[int, int], columns: int) -> float:
        width = self.width[step]
        rows = self.dealt(step + 1, rank[0], self.p) + width / (2 * self.p)
        return float(2 * width * rows * columns / self.ranks.rates[rank])

    def update(self, step: int, columns: dict[tuple[int, int], int]) -> None:
        for rank in self.every:
            self.later("update", rank, self.clock[rank] + self.products(step, rank, columns[rank]))

    def solve(self, *, look_ahead: bool) -> None:
        ready = self.factor(0)
        for step in range(self.count):
            self.broadcast(step, ready)
            self.swap(step)
            left = {rank: self.columns(step, rank[1]) for rank in self.every}
            more = step + 1 < self.count
            if more and look_ahead:
                first = {rank: self.width[step + 1] * ((step + 1) % self.q == rank[1]) for rank in self.every}
                left = {rank: left[rank] - first[rank] for rank in self.every}
                self.update(step, first)
                ready = self.factor(step + 1)
            self.update(step, left)
            if more and look_ahead and self.q > 1:
                for rank in self.every:
                    busy_s = self.ranks.busy * self.message(step + 1)
                    self.later("broadcast", rank, self.clock[rank] + busy_s)
            if more and not look_ahead:
                ready = self.factor(step + 1)


@pytest.mark.parametrize("ahead", ["one", "none"])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 3), (2, 1), (2, 2), (3, 4)])
@pytest.mark.parametrize(("n", "block"), [(512, 64), (500, 64), (30, 64)])
def test_the_ranks_of_a_system_do_what_single_clocks_say(n: int, block: int, p: int, q: int, ahead: str) -> None:
    rates = np.random.default_rng(p * q).uniform(2e9, 4e9, (p, q))
    ranks = Ranks(rates, 0.25, Channel(1e-5, 1e9), Channel(2e-5, 5e8), 0.3)
    assert Ranks(rates, 0.25) == Ranks(rates, 0.25, Channel(0.0, math.inf), Channel(0.0, math.inf), 0.0, 0.0)
    found = solve(n, block, ranks, look_ahead=ahead == "one")
    clocks = Clocks(n, block, ranks)
    clocks.solve(look_ahead=ahead == "one")
    end, mean = max(clocks.clock.values()), sum(clocks.clock.values()) / (p * q)
    substitution = n**2 / (0.25 * float(rates.sum()))
    assert found.seconds == pytest.approx(end + substitution)
    assert found.phases == pytest.approx(clocks.spent | {"substitution": substitution + end - mean})
    assert found.seconds == pytest.approx(sum(found.phases.values()))
    for name, steps in found.steps.items():
        assert len(steps) == math.ceil(n / block)
        assert sum(steps) == pytest.approx(clocks.spent[name])
