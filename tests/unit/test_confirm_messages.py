"""Experiments with messages: what moves with the eager limit, what more pairs fill, what sockets do better."""

import dataclasses
from pathlib import Path

import pytest
from tests.simulation import confirm, simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.model.result import Finding
from assay.plan import Options
from assay.plan.experiments import wanted
from assay.simulation import Law, Link

MACHINE = "pack:1 numa:1(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
HOSTS = Options(hosts=("n1", "n2"))
WIRE = {"wire": 117.7e6}
SIZES = tuple(2**power for power in range(23))
HEALTHY = Link(25e-6, 117e6, 117e6)
RENDEZVOUS = dataclasses.replace(HEALTHY, eager_bytes=4096, rendezvous_s=60e-6)
VARIABLE = "UCX_RNDV_THRESH"


def of_link(link: Link, *, heeds: str = "", tcp: tuple[float, float] = (0.95, 1.0)) -> Law:
    return Law(links={"host": link}, tcp=tcp, eager_variable=heeds)


def run_of(folder: Path, law: Law, pattern: str = "latency", launches: int = 3) -> Path:
    pairs = (
        Measure(each, ("pair:other-node",), axes={"pattern": pattern, "bytes": SIZES}) for each in ("pt2pt", "tcp")
    )
    study = Study("Messages", "How fast?", tuple(pairs), launches=launches)
    return simulated_run(folder, law, description=MACHINE, study=study, options=HOSTS)


def told(path: Path, rule: str) -> Finding:
    found = analyse(store.load(path), WIRE).findings
    (one,) = (each for each in found if each.rule == rule and "pt2pt" in each.claim)
    return one


@pytest.mark.parametrize(("pattern", "announce_s"), [("latency", 60e-6), ("bandwidth", 3e-3)])
def test_a_step_that_moves_with_the_eager_limit_is_the_mpis_own(
    tmp_path: Path, pattern: str, announce_s: float
) -> None:
    law = of_link(dataclasses.replace(RENDEZVOUS, rendezvous_s=announce_s), heeds=VARIABLE)
    path = run_of(tmp_path, law, pattern)
    confirm(path, law, MACHINE)
    found = told(path, "protocol_switch")
    assert found.status == "confirmed"
    assert f"it moves with {VARIABLE}" in found.claim
    assert found.rivals == ()
    assert found.next.endswith(f"`export {VARIABLE}=32768`")
    (plan,) = store.load(path).plan.trials
    assert {case.factors.get(VARIABLE) for case in plan.studied if case.benchmark == "pt2pt"} == {
        "default",
        "32768",
    }


def test_a_step_that_stays_is_left_open_for_the_variable_may_not_be_heeded(tmp_path: Path) -> None:
    law = of_link(RENDEZVOUS)
    path = run_of(tmp_path, law)
    confirm(path, law, MACHINE)
    found = told(path, "protocol_switch")
    assert found.status == "candidate"
    assert f"it stays with {VARIABLE}=32768" in found.claim
    assert found.rivals


def test_a_step_that_is_not_there_again_is_refuted(tmp_path: Path) -> None:
    path = run_of(tmp_path, of_link(RENDEZVOUS))
    confirm(path, of_link(HEALTHY), MACHINE)
    found = told(path, "protocol_switch")
    assert found.status == "refuted"
    assert "it was chance" in found.claim


def of_sockets(path: Path) -> Finding:
    found = analyse(store.load(path)).findings
    (one,) = (each for each in found if each.rule == "protocol_switch" and "(tcp latency" in each.claim)
    return one


@pytest.mark.parametrize(("moves", "status"), [(True, "confirmed"), (False, "candidate")])
def test_a_step_of_sockets_inside_a_node_is_held_against_their_buffers(
    tmp_path: Path, *, moves: bool, status: str
) -> None:
    link = Link(25e-6, 1e9, 4e9, eager_bytes=64 * 1024, rendezvous_s=500e-6)
    law = Law(links={"core": link, "l3": link}, tcp=(1.0, 1.0), socket_buffers=moves)
    measure = Measure("tcp", ("pair",), axes={"pattern": "latency", "bytes": SIZES})
    study = Study("Messages", "How fast?", (measure,), launches=3)
    path = simulated_run(tmp_path, law, description=MACHINE, study=study)
    asked = of_sockets(path)
    assert asked.status == "candidate"
    assert "There is no network on this path" in asked.claim
    assert not any("MPI" in rival or "interrupts" in rival for rival in asked.rivals)
    assert asked.next.endswith("and moves with socket buffers of 128 KiB: then these cause it")
    confirm(path, law, MACHINE)
    told = of_sockets(path)
    assert told.status == status
    assert ("it moves with the socket buffers" in told.claim) == moves
    assert ("it stays with socket buffers of 128 KiB" in told.claim) != moves
    (plan,) = store.load(path).plan.trials
    given = {(case.params["send-buffer"], case.params["receive-buffer"]) for case in plan.studied}
    assert given == {(0, 0), (131072, 131072)}


@pytest.mark.parametrize(("moves", "status"), [(True, "confirmed"), (False, "candidate")])
def test_a_step_of_sockets_near_the_mtu_is_held_against_shorter_segments(
    tmp_path: Path, *, moves: bool, status: str
) -> None:
    link = Link(25e-6, 117e6, 117e6, eager_bytes=1448, rendezvous_s=60e-6)
    law = Law(links={"host": link}, tcp=(1.0, 1.0), segments=moves)
    path = run_of_sockets(tmp_path, law, "latency", SIZES)
    asked = of_sockets(path)
    assert asked.status == "candidate"
    assert "A frame or a socket buffer can be full there" in asked.claim
    assert asked.next.endswith("and moves with segments of 768 B: then frames cause it")
    confirm(path, law, MACHINE)
    told = of_sockets(path)
    assert told.status == status
    assert ("it moves with the TCP segment size" in told.claim) == moves
    assert ("it stays with segments of 768 B" in told.claim) != moves
    assert bool(told.rivals) != moves
    (plan,) = store.load(path).plan.trials
    assert {case.params["segment"] for case in plan.studied} == {0, 768}


def run_of_sockets(folder: Path, law: Law, pattern: str, sizes: tuple[int, ...]) -> Path:
    measure = Measure("tcp", ("pair:other-node",), axes={"pattern": pattern, "bytes": sizes})
    study = Study("Messages", "How fast?", (measure,), launches=3)
    return simulated_run(folder, law, description=MACHINE, study=study, options=HOSTS)


#: Seconds of work for each frame of 1448 B that leave 60 % of the wire, and none: the rate is another cause's.
BUSY, IDLE = 1448 / 70e6, 0.0


@pytest.mark.parametrize(
    ("each_frame", "rate", "status", "words"),
    [
        (BUSY, 117e6, "confirmed", "the number of frames determines the rate"),
        (IDLE, 70e6, "candidate", "did not decide: the number of frames does not determine the rate"),
        (
            BUSY / 1.5,
            70e6,
            "candidate",
            "the number of frames does not determine the rate",
        ),  # frames alone: 105 MB/s
    ],
)
def test_sockets_below_their_link_are_measured_with_twice_as_many_frames(
    tmp_path: Path, each_frame: float, rate: float, status: str, words: str
) -> None:
    link = Link(25e-6, rate, rate)
    law = Law(links={"host": link}, tcp=(1.0, 1.0), frames=(1500, each_frame))
    path = run_of_sockets(tmp_path, law, "bandwidth", SIZES[16:])
    confirm(path, law, MACHINE, given=WIRE)
    (told,) = (each for each in analyse(store.load(path), WIRE).findings if each.rule == "link_ceiling")
    assert told.status == status
    assert words in told.claim
    assert bool(told.rivals) == (status == "candidate")


@pytest.mark.parametrize(
    ("most", "status", "words"),
    [
        (117e6, "refuted", "4 pairs of cores together saturate the link"),
        (90e6, "confirmed", "4 pairs of cores do not saturate the link either"),
    ],
)
@pytest.mark.parametrize("launches", [3, 6])
def test_more_pairs_tell_a_slow_link_from_slow_cores(
    tmp_path: Path, most: float, status: str, words: str, launches: int
) -> None:
    law = of_link(dataclasses.replace(HEALTHY, rate=90e6, most=most))
    path = run_of(tmp_path, law, "bandwidth", launches)
    confirm(path, law, MACHINE, given=WIRE)
    found = told(path, "link_ceiling")
    assert found.status == status
    assert words in found.claim


@pytest.mark.parametrize(("tcp", "status"), [((0.95, 0.5), "confirmed"), ((0.95, 1.0), "refuted")])
def test_mpi_at_half_of_tcp_is_measured_anew(tmp_path: Path, tcp: tuple[float, float], status: str) -> None:
    path = run_of(tmp_path, of_link(HEALTHY, tcp=(0.95, 0.5)), "bandwidth")
    assert told(path, "mpi_over_tcp").status == "candidate"
    confirm(path, of_link(HEALTHY, tcp=tcp), MACHINE)
    assert told(path, "mpi_over_tcp").status == status


@pytest.mark.parametrize("pattern", ["latency", "bandwidth"])
def test_a_healthy_network_asks_for_no_experiment(tmp_path: Path, pattern: str) -> None:
    run = store.load(run_of(tmp_path, of_link(HEALTHY), pattern))
    assert wanted(analyse(run, WIRE), run.plan) == {}


@pytest.mark.parametrize(("duplex", "status"), [(1.05, "confirmed"), (2.0, "refuted")])
def test_directions_that_share_the_way_are_measured_anew(tmp_path: Path, duplex: float, status: str) -> None:
    patterns = ("bandwidth", "bidirectional")
    both = Measure("pt2pt", ("pair:other-node",), axes={"pattern": patterns, "bytes": SIZES[-3:]})
    study = Study("Both", "At once?", (both,), launches=3)
    shared = of_link(dataclasses.replace(HEALTHY, duplex=1.05))
    path = simulated_run(tmp_path, shared, description=MACHINE, study=study, options=HOSTS)
    assert told(path, "duplex").status == "candidate"
    confirm(path, of_link(dataclasses.replace(HEALTHY, duplex=duplex)), MACHINE)
    assert told(path, "duplex").status == status
