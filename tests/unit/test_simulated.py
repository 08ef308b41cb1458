"""The simulated machine keeps its own laws: what is planted is what its records say."""

import dataclasses
import statistics
from itertools import pairwise
from typing import Literal

import msgspec
import numpy as np
import pytest
import scipy
from tests.simulation import EPYC_7601, TWO_CORES, described

from assay.launch.command import Command
from assay.model.record import End, Header, ProgramRecord, Series, Verdict, decode_program_record
from assay.model.traffic import Traffic
from assay.simulation import Burst, Fault, Law, Link, SimulatedMachine
from assay.simulation.sampler import interval_rank

QUIET = Law(noise=0.0, launch_noise=0.0)
LARGE = 20_000_000


def answers(machine: SimulatedMachine, line: str, timeout: float = 1e3) -> list[ProgramRecord]:
    outcome = machine.execute(Command(tuple(line.split()), {}), timeout)
    return [decode_program_record(record) for record in outcome.stdout.splitlines()]


def bandwidth(records: list[ProgramRecord], kernel: str = "triad", quantity: str = "bytes") -> float:
    header = next(record for record in records if isinstance(record, Header))
    series = next(r for r in records if isinstance(r, Series) and r.kernel == kernel and r.phase == "measured")
    return header.work[kernel][quantity] * series.iterations / statistics.median(series.seconds)


def on(description: str = TWO_CORES, law: Law = QUIET, hosts: tuple[str, ...] = ("n1",)) -> SimulatedMachine:
    return SimulatedMachine(described(description).topology, law, hosts)


def test_one_core_draws_what_the_law_gives_a_core() -> None:
    records = answers(on(), f"stream --cpus 0 --case c --elements {LARGE}")
    assert bandwidth(records, quantity="traffic_bytes") == pytest.approx(12e9)
    assert bandwidth(records) == pytest.approx(12e9 * 24 / 32)


def test_non_temporal_stores_save_the_read_of_the_target() -> None:
    ordinary = answers(on(), f"stream --cpus 0 --case c --stores ordinary --elements {LARGE}")
    streaming = answers(on(), f"stream --cpus 0 --case c --stores non-temporal --elements {LARGE}")
    assert bandwidth(streaming) / bandwidth(ordinary) == pytest.approx(4 / 3)
    assert bandwidth(streaming, "copy") / bandwidth(ordinary, "copy") == pytest.approx(3 / 2)


def test_all_cores_of_a_node_share_its_rate_and_far_memory_is_slower() -> None:
    epyc = on(EPYC_7601)
    near = answers(epyc, f"stream --cpus 0-7 --memory bind:0 --case c --elements {LARGE}")
    far = answers(epyc, f"stream --cpus 0-7 --memory bind:7 --case c --elements {LARGE}")
    everything = answers(epyc, f"stream --cpus 0-63 --case c --elements {LARGE}")
    serial = answers(epyc, f"stream --cpus 0-63 --case c --touch serial --elements {LARGE}")
    assert bandwidth(near, quantity="traffic_bytes") == pytest.approx(30e9)
    assert bandwidth(far) / bandwidth(near) == pytest.approx(0.6)
    assert bandwidth(everything) / bandwidth(near) == pytest.approx(8)
    assert bandwidth(serial) < bandwidth(everything) / 8


def test_half_of_the_cores_beat_all_where_the_law_has_contention() -> None:
    crowded = on(EPYC_7601, Law(noise=0, launch_noise=0, contention=0.2))
    half = answers(crowded, f"stream --cpus 0-3 --case c --elements {LARGE}")
    whole = answers(crowded, f"stream --cpus 0-7 --case c --elements {LARGE}")
    assert bandwidth(half) / bandwidth(whole) == pytest.approx((1 - 0.2 * 3 / 7) / 0.8)


def test_copies_fall_from_cache_to_cache_and_cold_ones_never_rise() -> None:
    machine = on()
    rates = {
        size: bandwidth(answers(machine, f"memcpy --cpus 0 --case c --bytes {size}"), "memcpy")
        for size in (8 * 2**10, 256 * 2**10, 8 * 2**20, 64 * 2**20)
    }
    assert all(larger < smaller for smaller, larger in pairwise(rates.values()))
    cold = answers(machine, f"memcpy --cpus 0 --case c --bytes {8 * 2**10} --buffers cold --pool {2**29}")
    assert bandwidth(cold, "memcpy") == pytest.approx(1 / (1 / 6e9 + 4e-9 / 2**13))


def test_a_flip_of_state_shows_in_the_hand_over_and_in_the_bandwidth() -> None:
    machine = on(law=Law(noise=0, launch_noise=0, flips=((100.0, "far"),)))
    probe = "core_to_core --cpus 0-1 --seconds 0.005"
    near, near_rate = answers(machine, probe), answers(machine, f"stream --cpus 0 --case c --elements {LARGE}")
    machine.pass_time(100.0 - machine.now(), 0)
    far, far_rate = answers(machine, probe), answers(machine, f"stream --cpus 0 --case c --elements {LARGE}")
    times = [1 / bandwidth(records, "handover", "handovers") for records in (near, far)]
    assert times == pytest.approx([28e-9, 125e-9])
    assert bandwidth(far_rate) / bandwidth(near_rate) == pytest.approx(0.6, rel=1e-6)


def test_a_slow_core_and_a_slow_host_are_slow_by_the_planted_factor() -> None:
    machine = on(law=Law(noise=0, launch_noise=0, slow_cores={1: 0.8}, slow_hosts={"n2": 0.5}), hosts=("n1", "n2"))
    fast = answers(machine, f"stream --cpus 0 --case c --elements {LARGE}")
    slow = answers(machine, f"stream --cpus 1 --case c --elements {LARGE}")
    assert bandwidth(slow) / bandwidth(fast) == pytest.approx(0.8)
    by_rank = {r.rank: r.seconds[0] for r in fast if isinstance(r, Series) and r.kernel == "triad"}
    assert by_rank[1] / by_rank[0] == pytest.approx(2)


def test_foreign_load_and_steal_stand_in_the_counters() -> None:
    machine = on(law=Law(noise=0, launch_noise=0, steal=0.1, bursts=(Burst(0, 1e9, 0.25),)))
    before, began = machine.cpu_times(), machine.now()
    answers(machine, f"stream --cpus 0 --case c --elements {LARGE}")
    after, elapsed = machine.cpu_times(), machine.now() - began
    own = after.own - before.own
    assert own == pytest.approx(elapsed)
    assert after.busy - before.busy - own == pytest.approx(0.25 * 2 * elapsed)
    assert after.steal - before.steal == pytest.approx(0.1 * 2 * elapsed)


def test_drift_slows_the_same_work_with_time() -> None:
    machine = on(law=Law(noise=0, launch_noise=0, drift=0.01))
    first = bandwidth(answers(machine, f"stream --cpus 0 --case c --elements {LARGE}"))
    machine.pass_time(10 - machine.now(), 0)
    later = bandwidth(answers(machine, f"stream --cpus 0 --case c --elements {LARGE}"))
    assert first / later == pytest.approx(1.1, rel=0.02)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    topology = described().topology
    command = Command(("stream", "--cpus", "0-1", "--case", "c", "--elements", str(LARGE)), {})
    outputs = [SimulatedMachine(topology, Law(), seed=seed).execute(command, 1e3).stdout for seed in (1, 1, 2)]
    assert outputs[0] == outputs[1] != outputs[2]


@pytest.mark.parametrize(
    ("precision", "stop"), [(0.05, "precision"), (1e-9, "samples")], ids=["soon precise", "never precise"]
)
def test_sampling_ends_by_the_stopping_rule(precision: float, stop: str) -> None:
    line = f"stream --cpus 0 --precision {precision} --max-samples 40 --case c --elements {LARGE} --seconds 900"
    series = [r for r in answers(on(law=Law()), line) if isinstance(r, Series) and r.phase == "measured"]
    assert {one.stop for one in series} == {stop}
    assert {len(one.seconds) for one in series} == ({10} if stop == "precision" else {40})


def test_sampling_ends_when_its_seconds_are_over() -> None:
    line = f"stream --cpus 0 --precision 1e-9 --case c --elements {LARGE} --seconds 4"
    series = [r for r in answers(on(law=Law()), line) if isinstance(r, Series)]
    assert {one.stop for one in series if one.phase == "measured"} == {"time"}
    span = max(one.start_s[-1] + one.seconds[-1] for one in series) - min(one.start_s[0] for one in series)
    assert 3 < span < 4.5


@pytest.mark.parametrize("n", [5, 6, 10, 20, 100, 1000])
def test_the_rank_of_the_interval_is_the_binomials(n: int) -> None:
    # The largest l with cdf(l - 1) <= 2.5 %; scipy is the oracle.
    expected = max(
        (rank for rank in range(n) if rank and scipy.stats.binom.cdf(rank - 1, n, 0.5) <= 0.025), default=0
    )
    assert interval_rank(n) == expected


def test_a_thousand_hosts_answer_in_one_launch_with_one_rank_each() -> None:
    hosts = tuple(f"n{number:04}" for number in range(1000))
    line = f"stream --cpus 0-1 --max-samples 20 --case c --elements {LARGE}"
    records = answers(on(law=Law(slow_hosts={"n0123": 0.9}), hosts=hosts), line)
    header = next(record for record in records if isinstance(record, Header))
    assert [rank.host for rank in header.ranks] == list(hosts)
    triad = [r for r in records if isinstance(r, Series) and r.kernel == "triad" and r.phase == "measured"]
    medians = np.array([statistics.median(one.seconds) for one in triad])
    assert len(medians) == 1000
    assert int(medians.argmax()) == 123


def test_a_wrong_result_is_a_failed_verdict_and_exit_1() -> None:
    machine = on(law=Law(faults=(Fault("wrong-result", "b"),)))
    outcome = machine.execute(Command(("stream", "--cpus", "0", "--case", "a", "--case", "b"), {}), 1e3)
    records = [decode_program_record(line) for line in outcome.stdout.splitlines()]
    assert [r.passed for r in records if isinstance(r, Verdict)] == [True, False]
    assert [r.status for r in records if isinstance(r, End)] == ["complete", "failed"]
    assert outcome.exit_code == 1


def test_a_misplaced_program_tells_where_it_was_found() -> None:
    records = answers(on(law=Law(faults=(Fault("misplaced"),))), "stream --cpus 0 --case a")
    header = next(record for record in records if isinstance(record, Header))
    assert header.ranks[0].cpus != header.ranks[0].requested_cpus
    assert msgspec.structs.asdict(records[-1])["status"] == "invalid"


def test_a_program_that_hangs_is_ended_at_its_limit_with_the_cases_before_it() -> None:
    machine = on(law=Law(faults=(Fault("hang", "b"),)))
    line = ("stream", "--cpus", "0", "--case", "a", "--case", "b", "--case", "c")
    outcome = machine.execute(Command(line, {}), 100.0)
    records = [decode_program_record(record) for record in outcome.stdout.splitlines()]
    assert outcome.exit_code is None
    assert machine.now() == pytest.approx(100.0)
    assert [record.case for record in records if isinstance(record, Header)] == ["a", "b"]
    assert sum(isinstance(record, End) for record in records) == 1


def one_way(machine: SimulatedMachine, line: str) -> float:
    """Median seconds of a message, half of a round trip."""
    return 1 / bandwidth(answers(machine, line), "message", "one-way")


def test_messages_take_what_the_way_between_two_ranks_takes() -> None:
    epyc, law = on(EPYC_7601, hosts=("n1", "n2")), QUIET.links
    for cpus, ranks, way in (
        ("0/1", 2, "core"),
        ("0/4", 2, "l3"),
        ("0/8", 2, "numa"),
        ("0/32", 2, "package"),
        ("0", 2, "host"),
    ):
        line = f"pt2pt --expect-ranks {ranks} --cpus {cpus} --case c --pattern latency --bytes 8"
        assert one_way(epyc, line) == pytest.approx(law[way].latency_s + 8 / law[way].rate), way


def test_a_network_that_was_asked_for_has_a_law_and_counters_of_its_own() -> None:
    gbe = Link(25e-6, 0.117e9, 0.117e9)
    machine = on(law=dataclasses.replace(QUIET, links={**QUIET.links, "eth1": gbe}), hosts=("n1", "n2"))
    line = "pt2pt --expect-ranks 2 --cpus 0 --network eth1 --case c --pattern latency --bytes 1024"
    records = answers(machine, line)
    assert 1 / bandwidth(records, "message", "one-way") == pytest.approx(25e-6 + 1024 / 0.117e9)
    (traffic,) = (record for record in records if isinstance(record, Traffic))
    assert [host.host for host in traffic.hosts] == ["n1", "n2"]
    sent = {name: sum(host.interfaces[name].sent for host in traffic.hosts) for name in ("eth0", "eth1", "lo")}
    assert sent == {"eth0": 0, "eth1": pytest.approx(1.04 * traffic.payload, abs=1), "lo": 0}


@pytest.mark.parametrize(("near", "far"), [("numa", {6: 0, 4: 2, 0: 2}), ("package", {6: 0, 4: 0, 0: 2})])
def test_a_card_is_near_its_memory_node_or_its_whole_socket(
    near: Literal["numa", "package"], far: dict[int, int]
) -> None:
    law = dataclasses.replace(QUIET, cards={"ib": 6}, far_card=(1e-6, 0.5), card_near=near)
    machine = on(EPYC_7601, law, ("n1", "n2"))
    for node, ends in far.items():
        line = f"pt2pt --expect-ranks 2 --cpus {8 * node} --network ib --case c --pattern latency --bytes 0"
        assert one_way(machine, line) == pytest.approx(law.links["host"].latency_s + ends * 1e-6), node


def test_a_message_beyond_the_eager_limit_is_announced_first() -> None:
    link = Link(1e-6, 1e9, 1e9, eager_bytes=4096, rendezvous_s=3e-6)
    machine = on(law=dataclasses.replace(QUIET, links={"host": link}), hosts=("n1", "n2"))
    line = "pt2pt --expect-ranks 2 --cpus 0 --case c --pattern latency --bytes"
    assert one_way(machine, f"{line} 4096") == pytest.approx(1e-6 + 4096e-9)
    assert one_way(machine, f"{line} 4097") == pytest.approx(1e-6 + 4097e-9 + 3e-6)


def test_many_pairs_share_what_the_way_gives_all_of_them() -> None:
    link = Link(1e-6, 3e9, 9e9, gap_s=0.0)
    machine = on(EPYC_7601, dataclasses.replace(QUIET, links={"host": link}), ("n1", "n2"))
    rates = {}
    for pairs in (1, 2, 8):
        cpus = "/".join(map(str, range(pairs)))
        line = f"pt2pt --expect-ranks {2 * pairs} --cpus {cpus} --case c --pattern multi-bandwidth --bytes 4194304"
        rates[pairs] = bandwidth(answers(machine, line), "message")
    assert rates == {
        1: pytest.approx(3e9, rel=1e-3),
        2: pytest.approx(6e9, rel=1e-3),
        8: pytest.approx(9e9, rel=1e-3),
    }


def test_sockets_are_slower_than_mpi_by_the_laws_factors() -> None:
    machine = on(hosts=("n1", "n2"))
    line = "--expect-ranks 2 --cpus 0 --case c --pattern latency --bytes 8"
    link, (latency, each_byte) = QUIET.links["host"], QUIET.tcp
    assert one_way(machine, f"tcp {line}") == pytest.approx(latency * link.latency_s + 8 * each_byte / link.rate)
