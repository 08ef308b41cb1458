"""Rules about messages: heard where a fault is planted, silent on a healthy network, right on published curves."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.simulation import simulated_run
from tests.unit.published_messages import GBE, IB
from tests.unit.test_limits_wire import ethernet, infiniband, with_device

from assay import store
from assay.analyse import analyse
from assay.catalogue import benchmarks
from assay.model.plan import Measure, Study
from assay.model.record import Series
from assay.model.result import Finding
from assay.model.run import Run
from assay.plan import Options
from assay.simulation import Law, Link
from assay.topics.messages import stalls

SIZES = tuple(2**power for power in range(23))
HEALTHY = Link(25e-6, 117e6, 117e6, duplex=2.0)
#: Sockets that cost a little less than MPI, as they do on Ethernet.
TCP = (0.95, 1.0)
RULES = ("protocol_switch", "link_ceiling", "duplex", "mpi_over_tcp", "delayed_ack")


def run_of(folder: Path, link: Link = HEALTHY, tcp: tuple[float, float] = TCP, launches: int = 6) -> Run:
    measures = (
        Measure("pt2pt", ("pair:other-node",), axes={"pattern": ("latency", "bandwidth"), "bytes": SIZES}),
        Measure("pt2pt", ("pair:other-node",), axes={"pattern": "bidirectional", "bytes": SIZES[-3:]}),
        Measure("tcp", ("pair:other-node",), axes={"pattern": ("latency", "bandwidth"), "bytes": SIZES}),
    )
    study = Study("Messages", "How fast?", measures, launches=launches)
    law = Law(links={"host": link}, tcp=tcp)
    return store.load(simulated_run(folder, law, study=study, options=Options(hosts=("n1", "n2"))))


def by_rule(run: Run, rule: str) -> list[Finding]:
    return [each for each in analyse(run).findings if each.rule == rule]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return with_device(run_of(tmp_path_factory.mktemp("healthy")), ethernet())


def test_a_healthy_network_is_accused_of_nothing_and_its_wire_is_named_as_the_limit(healthy: Run) -> None:
    found = [each for each in analyse(healthy).findings if each.rule in RULES]
    assert {each.severity for each in found} == {"fact"}
    assert {each.rule for each in found} == {"link_ceiling", "duplex"}
    (duplex,) = (each for each in found if each.rule == "duplex")
    assert duplex.numbers["statistic"].lo >= duplex.numbers["threshold"].value == 1.8
    for each in (each for each in found if each.rule == "link_ceiling"):
        link, reached = each.numbers["threshold"].value / 0.9, each.numbers["statistic"]
        assert link / 1.25e8 in (pytest.approx(1448 / 1538), pytest.approx(2 * 1448 / 1538))  # frames of 1,500 B
        assert reached.hi >= 0.9 * link


def test_a_study_without_messages_has_nothing_to_say_of_them(tmp_path: Path) -> None:
    alone = Study("m", "q?", (Measure("stream", ("one-core",)),), launches=3)
    run = store.load(simulated_run(tmp_path, Law(), study=alone))
    assert not [each for each in analyse(run).findings if each.rule in RULES]


def test_what_was_not_measured_is_not_assessed(tmp_path: Path) -> None:
    few = Study("m", "q?", (Measure("pt2pt", ("pair",), axes={"bytes": 8}),), launches=3)
    found = analyse(store.load(simulated_run(tmp_path, Law(), study=few))).findings
    missing = {each.rule for each in found if each.status == "not assessed"}
    assert set(RULES) - {"delayed_ack"} <= missing


def test_an_eager_limit_is_found_with_the_experiment_that_moves_it(tmp_path: Path) -> None:
    run = run_of(tmp_path, dataclasses.replace(HEALTHY, eager_bytes=4096, rendezvous_s=60e-6))
    (latency,) = (each for each in by_rule(run, "protocol_switch") if "pt2pt latency" in each.claim)
    assert latency.status == "candidate"
    assert "at 8 KiB a message takes" in latency.claim
    assert "at 8 KiB: the MPI's switch from the eager to the rendezvous protocol" in latency.rivals
    assert any("interrupt coalescing of the network card" in each for each in latency.rivals)
    assert latency.next.startswith(f"assay run --resume {run.info.id} --confirm ")
    assert latency.next.endswith(" moves with UCX_RNDV_THRESH=32768: then the MPI causes it")


@pytest.mark.parametrize("announce_s", [80e-6, 0.0])
def test_a_threefold_jump_among_eight_sizes_is_found_though_launches_scatter(
    tmp_path: Path, announce_s: float
) -> None:
    measure = Measure("pt2pt", ("pair:other-node",), axes={"pattern": "latency", "bytes": SIZES[7:15]})
    study = Study("m", "q?", (measure,), launches=4)
    law = Law(links={"host": dataclasses.replace(HEALTHY, eager_bytes=1024, rendezvous_s=announce_s)})
    uneven = dataclasses.replace(law, launch_noise=0.08)
    run = store.load(simulated_run(tmp_path, uneven, study=study, options=Options(hosts=("n1", "n2"))))
    found = [each.claim for each in by_rule(run, "protocol_switch") if each.status != "not assessed"]
    assert [": at 2 KiB a message takes " in claim for claim in found] == ([True] if announce_s else [])


def test_what_is_configured_near_a_break_is_named_first(tmp_path: Path) -> None:
    run = run_of(tmp_path, dataclasses.replace(HEALTHY, eager_bytes=4096, rendezvous_s=60e-6))
    configured = {"library": "Open MPI v4.1.4", "OMPI_MCA_btl_tcp_eager_limit": "4096"}
    launches = tuple(
        msgspec.structs.replace(
            launch,
            cases=tuple(
                msgspec.structs.replace(case, header=msgspec.structs.replace(case.header, passed_by=configured))
                for case in launch.cases
            ),
        )
        for launch in run.launches
    )
    found = by_rule(msgspec.structs.replace(run, launches=launches), "protocol_switch")
    (latency,) = (each for each in found if "pt2pt latency" in each.claim)
    assert latency.rivals[0] == "at 8 KiB: OMPI_MCA_btl_tcp_eager_limit=4096 of the MPI"
    assert latency.next.endswith(" moves with OMPI_MCA_btl_tcp_eager_limit=32768: then the MPI causes it")


def test_a_step_at_the_frame_names_the_mtu(tmp_path: Path) -> None:
    run = run_of(tmp_path, dataclasses.replace(HEALTHY, eager_bytes=1024, rendezvous_s=300e-6))
    (latency,) = (
        e for e in by_rule(with_device(run, ethernet()), "protocol_switch") if "pt2pt latency" in e.claim
    )
    assert any("messages longer than one frame (MTU 1500 B)" in each for each in latency.rivals)


@pytest.mark.parametrize("launches", [3, 6])
def test_a_link_below_nine_tenths_is_a_problem_where_an_interval_decides(tmp_path: Path, launches: int) -> None:
    slow = dataclasses.replace(HEALTHY, rate=90e6, most=90e6)
    run = run_of(tmp_path, slow, launches=launches)
    found = by_rule(with_device(run, ethernet()), "link_ceiling")
    one_way = [each for each in found if "pt2pt bandwidth" in each.claim]
    assert [each.severity for each in one_way] == ["problem" if launches == 6 else "advice"]
    assert one_way[0].numbers["threshold"].value == pytest.approx(0.9 * 117.7e6, rel=1e-3)
    assert one_way[0].numbers["statistic"].value == pytest.approx(90e6, rel=0.01)
    steps = {3: f"assay run --resume {run.info.id} --confirm ", 6: "assay run multi-pair --hosts n1,n2"}
    assert one_way[0].next.startswith(steps[launches])


def test_the_published_rate_of_qdr_is_below_its_wire_and_the_slot_is_a_rival(tmp_path: Path) -> None:
    """3.4 GB/s of 4 (8b/10b): the cards of that time sat in slots of generation 2 or 3."""
    run = run_of(tmp_path, Link(1.6e-6, 3.4e9, 3.4e9))
    port = infiniband(40e9, "4X QDR")
    plan = msgspec.structs.replace(run.plan, network="mlx5_0")
    silent = _changed(msgspec.structs.replace(run, plan=plan), drop_traffic=True)
    found = [
        each for each in by_rule(with_device(silent, port), "link_ceiling") if "pt2pt bandwidth" in each.claim
    ]
    assert found[0].numbers["statistic"].value == pytest.approx(3.4e9, rel=0.01)
    assert found[0].numbers["threshold"].value == pytest.approx(0.9 * 4e9)
    assert any("the slot of the card" in each for each in found[0].rivals)


def test_directions_that_share_the_way_are_told(tmp_path: Path) -> None:
    (found,) = by_rule(run_of(tmp_path, dataclasses.replace(HEALTHY, duplex=1.05)), "duplex")
    assert found.severity == "advice"
    assert found.numbers["statistic"].hi <= found.numbers["threshold"].value == 1.2


def test_mpi_at_half_of_tcp_is_a_problem_with_the_sizes_named(tmp_path: Path) -> None:
    found = by_rule(run_of(tmp_path, tcp=(0.95, 0.5)), "mpi_over_tcp")
    (windows,) = (each for each in found if "pt2pt bandwidth" in each.claim)
    assert windows.severity == "problem"
    assert windows.status == "observed"
    assert windows.numbers["statistic"].hi < windows.numbers["threshold"].value == 0.7
    assert windows.numbers["statistic"].value == pytest.approx(0.5, rel=0.05)


def _changed(
    run: Run,
    change: Callable[[Series], Sequence[float]] = lambda series: series.seconds,
    *,
    drop_traffic: bool = False,
    benchmark: str = "tcp",
) -> Run:
    """The run with other samples of one benchmark, and without counters where asked."""
    launches = []
    for launch in run.launches:
        cases = []
        for case in launch.cases:
            samples = change if case.header.benchmark == benchmark else lambda series: series.seconds
            series = tuple(msgspec.structs.replace(each, seconds=samples(each)) for each in case.series)
            traffic = None if drop_traffic else case.traffic
            cases.append(msgspec.structs.replace(case, series=series, traffic=traffic))
        launches.append(msgspec.structs.replace(launch, cases=tuple(cases)))
    return msgspec.structs.replace(run, launches=tuple(launches))


@pytest.mark.parametrize(("wait", "cause"), [(0.0405, "Nagle"), (0.204, "lost")])
def test_a_timer_in_a_fifth_of_the_samples_is_heard_with_its_cause(healthy: Run, wait: float, cause: str) -> None:
    def waiting(series: Series) -> list[float]:
        return [value + wait * (at % 5 == 2) for at, value in enumerate(series.seconds)]

    found = by_rule(_changed(healthy, waiting), "delayed_ack")
    assert found
    assert all(each.severity == "problem" and cause in each.claim for each in found)
    assert all("tcp " in each.claim for each in found)


def test_messages_of_mpi_that_wait_are_tried_by_the_program_that_has_the_switch(healthy: Run) -> None:
    def waiting(series: Series) -> list[float]:
        return [value + 0.0405 * (at % 5 == 2) for at, value in enumerate(series.seconds)]

    found = by_rule(_changed(healthy, waiting, benchmark="pt2pt"), "delayed_ack")
    assert {each.next for each in found} == {"assay run network --vary tcp.nodelay=on,off"}
    assert "nodelay" in {axis.name for axis in benchmarks.get("tcp").axes}


@pytest.mark.parametrize(("one_kernel", "heard"), [(True, False), (False, True)])
def test_ranks_that_share_a_cpu_wait_for_time_slices_and_no_timer_is_accused(
    tmp_path: Path, *, one_kernel: bool, heard: bool
) -> None:
    """Both are on cpu 0, which is one and the same where their hosts are."""

    def waiting(series: Series) -> list[float]:
        return [value + 0.0405 * (at % 5 == 2) for at, value in enumerate(series.seconds)]

    measure = Measure("tcp", ("pair:other-node",), axes={"pattern": "latency", "bytes": (8, 1024)})
    study = Study("Messages", "How fast?", (measure,), launches=3)
    law, options = Law(one_kernel=one_kernel), Options(hosts=("n1", "n2"))
    run = store.load(simulated_run(tmp_path, law, study=study, options=options))
    assert bool(by_rule(_changed(run, waiting), "delayed_ack")) == heard


def test_a_timer_in_every_message_is_heard_too() -> None:
    assert stalls.waits(np.full(20, 10 * 0.041), 10)[stalls.TIMERS[0]] == 1.0


def test_long_samples_that_scatter_are_no_timers() -> None:
    samples = 2.0 + 0.02 * np.random.default_rng(1).standard_normal(200)
    assert max(stalls.waits(samples, 20).values()) == 0.0


def test_the_published_curves_fire_the_rule_as_their_authors_saw_them() -> None:
    """Through the law alone: Ethernet jumps about fourfold near 2 KiB, InfiniBand by half above 64 B."""
    from assay.topics.messages import figures, pieces, scatter  # noqa: PLC0415

    for (sizes, times), after, factor in ((GBE, 2048, 4.2), (IB, 64, 1.5)):
        cut = pieces.edges(sizes, times, scatter.weighed(sizes, times))
        law = pieces.refit(sizes, times[None, :], cut, scatter.weighed(sizes, times))
        steps = dict(zip((sizes[at - 1] for at in cut[1:-1]), figures.steps(sizes, cut, law)[0], strict=True))
        assert steps[after] == pytest.approx(factor, rel=0.1)


def test_a_cause_that_no_fact_tells_is_said_to_be_assumed(tmp_path: Path) -> None:
    run = run_of(tmp_path, dataclasses.replace(HEALTHY, eager_bytes=1024, rendezvous_s=300e-6))
    (latency,) = (each for each in by_rule(run, "protocol_switch") if "pt2pt latency" in each.claim)
    assert any("if the MTU is the default 1500 B" in each for each in latency.rivals)
