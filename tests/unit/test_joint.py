"""Ranks that work together: their samples as one, their places against the plan; all on simulated machines."""

import dataclasses
import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.simulation import EPYC_7601, TWO_CORES, simulated_run

from assay import store
from assay.analyse import analyse, joint
from assay.compare.runs import between
from assay.model.placement import Memory, Placement
from assay.model.plan import Measure, Study
from assay.model.rank import Rank
from assay.model.result import Analysis, Estimate
from assay.model.run import CaseRecords, Run
from assay.model.traffic import Counter, HostTraffic, Traffic
from assay.plan import Options
from assay.simulation import Fault, Law, Link

HOSTS = Options(hosts=("n1", "n2"))
QUIET = Law(noise=0.0, launch_noise=0.0)


def study(benchmark: str = "pt2pt", *placements: str, **axes: object) -> Study:
    measure = Measure(benchmark, placements or ("pair:other-node",), axes=axes)  # type: ignore[arg-type]
    return Study("Messages", "How fast?", (measure,), launches=6)


def run_of(folder: Path, law: Law, wish: Study, description: str = TWO_CORES) -> Run:
    return store.load(simulated_run(folder, law, description=description, study=wish, options=HOSTS))


def figure(analysis: Analysis, metric: str, **params: object) -> Estimate:
    (found,) = (
        each
        for each in analysis.estimates
        if each.metric == metric and all(each.params[name] == value for name, value in params.items())
    )
    return found


def records_of(run: Run) -> list[CaseRecords]:
    return [case for launch in run.launches for case in launch.cases if case.header.passed_by]


def test_the_bandwidth_of_messages_without_bytes_is_no_multiple_of_another(tmp_path: Path) -> None:
    measure = Measure("pt2pt", ("pair",), axes={"pattern": "bandwidth", "bytes": (0, 8)}, why="w")
    study = Study("Messages", "How fast?", (measure,), launches=6)
    options = Options(mpis=("openmpi-4.1.4", "mpich-4.0.2"))
    run = store.load(simulated_run(tmp_path, Law(), study=study, options=options))
    found = analyse(run)
    known = {each.id: each for each in found.estimates}
    assert {each.metric for each in known.values() if each.median == 0} == {"bandwidth"}
    compared = [known[each.a] for each in found.comparisons if each.differ == "mpi"]
    assert {each.params["bytes"] for each in compared} == {8}
    two = between(run, run)
    assert {pair.a.params["bytes"] for pair in two.pairs} == {8}
    assert set(two.uncompared.values()) == {"it is 0: it has no ratio"}


def test_the_law_of_a_link_is_what_is_found(tmp_path: Path) -> None:
    law = dataclasses.replace(QUIET, links={"host": Link(2e-6, 1e9, 1e9, duplex=1.6, gap_s=0.0)})
    wish = study(pattern=("latency", "bandwidth", "bidirectional"), bytes=(8, 2**20))
    found = analyse(run_of(tmp_path, law, wish))
    assert figure(found, "latency", bytes=8).median == pytest.approx(2e-6 + 8e-9)
    one = figure(found, "bandwidth", pattern="bandwidth", bytes=2**20).median
    both = figure(found, "bandwidth", pattern="bidirectional", bytes=2**20).median
    assert one == pytest.approx(1e9, rel=1e-3)
    assert both == pytest.approx(1.6e9, rel=1e-3)
    assert one
    assert figure(found, "message-rate", pattern="bandwidth", bytes=2**20).median == pytest.approx(one / 2**20)


def test_ranks_are_numbered_host_by_host_and_each_starting_rank_has_its_series(tmp_path: Path) -> None:
    run = run_of(tmp_path, Law(), study("pt2pt", "all@2", pattern="multi-bandwidth", bytes=8))
    for case in records_of(run):
        assert [rank.host for rank in case.header.ranks] == ["n1", "n1", "n2", "n2"]
        assert [rank.cpus for rank in case.header.ranks] == [(0,), (1,), (0,), (1,)]
        assert {series.rank for series in case.series} == {0, 1}


def test_a_sample_of_many_ranks_lasts_as_long_as_its_slowest(tmp_path: Path) -> None:
    wish = study("pt2pt", "all@2", pattern="multi-latency", bytes=8)
    slow, healthy = dataclasses.replace(QUIET, slow_cores={1: 0.5}), QUIET
    one = figure(analyse(run_of(tmp_path / "a", slow, wish)), "latency")
    other = figure(analyse(run_of(tmp_path / "b", healthy, wish)), "latency")
    assert one.median
    assert other.median
    assert one.median / other.median == pytest.approx(2)


def test_the_slowest_and_the_mean_are_those_of_each_sample(tmp_path: Path) -> None:
    run = run_of(tmp_path, Law(noise=0.1), study("pt2pt", "all@2", pattern="multi-latency", bytes=8))
    records = records_of(run)[0]
    every = np.array([series.seconds for series in records.series if series.phase == "measured"])
    parts, disagreement = joint.together(records)
    assert not disagreement
    slowest, mean = (parts["message", over][-1].seconds for over in (joint.SLOWEST, joint.MEAN))
    assert slowest == pytest.approx(every.max(axis=0))
    assert mean == pytest.approx(every.mean(axis=0))
    assert np.median(slowest) > np.median(mean)
    assert set(joint.together(records, {joint.SLOWEST})[0]) == {("message", joint.SLOWEST)}


def test_a_metric_of_the_mean_takes_the_mean_and_one_of_the_slowest_the_slowest(tmp_path: Path) -> None:
    law = Law(noise=0.2, launch_noise=0.0)
    found = analyse(run_of(tmp_path, law, study("collective", "all@2", operation="allreduce", bytes=8)))
    slowest, mean = figure(found, "latency").median, figure(found, "mean-latency").median
    assert slowest
    assert mean
    # Of four ranks, with sigma .2: the largest of four lognormals against their mean.
    drawn = np.random.default_rng(3).lognormal(0, 0.2, (4, 100_000))
    expected = np.median(drawn.max(axis=0)) / np.median(drawn.mean(axis=0))
    assert slowest / mean == pytest.approx(expected, rel=0.03)


def test_ranks_that_recorded_different_samples_make_no_figure(tmp_path: Path) -> None:
    law = Law(faults=(Fault("uneven", "pt2pt"),))
    run = run_of(tmp_path, law, study("pt2pt", "all@2", pattern="multi-latency", bytes=8))
    (outcome,) = (each for each in analyse(run).outcomes if each.case.startswith("pt2pt"))
    assert outcome.status == "incomplete"
    assert "its ranks recorded different samples of message" in outcome.reason
    assert joint.together(records_of(run)[0]) == ({}, outcome.reason)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("swapped", "rank 0 was asked to be on n1, it ran on n2"), ("misplaced", "placed otherwise than asked")],
)
def test_ranks_out_of_place_are_invalid(tmp_path: Path, kind: str, reason: str) -> None:
    law = Law(faults=(Fault(kind, "pt2pt"),))  # type: ignore[arg-type]
    found = analyse(run_of(tmp_path, law, study(bytes=8)))
    (outcome,) = (each for each in found.outcomes if each.case.startswith("pt2pt"))
    assert (outcome.status, outcome.reason) == ("invalid", reason)
    assert all(each.median is None for each in found.estimates)


def test_a_domain_behind_a_host_name_is_no_other_host() -> None:
    rank = Rank(1, "n2.cluster", "b", (0,), (0,), "first-touch", {})
    placed = Placement("one-core@2", "", (0,), Memory(), ("n1", "n2"), ((0,),))
    assert not joint.wrong_ranks([rank], placed)
    elsewhere = msgspec.structs.replace(placed, hosts=("n1", "n3"))
    assert "asked to be on n3" in joint.wrong_ranks([rank], elsewhere)
    other = msgspec.structs.replace(rank, requested_cpus=(4,))
    assert joint.wrong_ranks([other], placed) == "rank 1 was asked for cpus [4], not [0]"


def test_the_share_of_an_interface_is_of_all_hosts_and_launches() -> None:
    def of(host: str, **sent: int) -> HostTraffic:
        return HostTraffic(host, host, {name: Counter(bytes_, 0) for name, bytes_ in sent.items()})

    taken = [
        Traffic(1.0, 100.0, (of("a", eth0=80), of("b", eth0=20, lo=0))),
        Traffic(1.0, 300.0, (of("a", ib=100),)),
    ]
    assert joint.carried(taken) == {"eth0": 0.25, "ib": 0.25}
    assert joint.carried([]) == {}
    assert joint.carried([Traffic(1.0, 0.0, (of("a", eth0=5),))]) == {}


def test_a_placement_of_ranks_is_proven_with_its_machines_and_its_interfaces(tmp_path: Path) -> None:
    found = analyse(run_of(tmp_path, Law(), study(bytes=2**16)))
    proven = figure(found, "latency").placement.proven
    assert proven
    assert proven.machines == 2
    assert proven.carried == {"eth0": pytest.approx(1.04)}


def test_two_pairs_of_a_node_are_as_far_apart_as_the_topology_says(tmp_path: Path) -> None:
    wish = study("pt2pt", "pair", "pair:other-l3", "pair:other-numa", "pair:other-socket", bytes=8)
    found = analyse(run_of(tmp_path, QUIET, wish, EPYC_7601))
    times = {each.placement.label: each.median for each in found.estimates if each.metric == "latency"}
    wanted = {"pair": "core", "pair:other-l3": "l3", "pair:other-numa": "numa", "pair:other-socket": "package"}
    for label, key in wanted.items():
        link = QUIET.links[key]
        assert times[label] == pytest.approx(link.latency_s + 8 / link.rate), label


def test_messages_of_no_bytes_have_no_bandwidth_and_spoil_no_resolution(tmp_path: Path) -> None:
    measure = Measure("pt2pt", ("all",), axes={"pattern": "bandwidth", "bytes": (0, 8)}, why="w")
    run = store.load(simulated_run(tmp_path, study=Study("S", "Q?", (measure,), launches=3)))
    found = analyse(run)
    assert 0.0 in {each.median for each in found.estimates}
    assert found.noise.resolution is not None
    assert math.isfinite(found.noise.resolution)
