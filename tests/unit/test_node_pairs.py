"""Every pair of nodes: the rounds of the round-robin schedule in a plan, and what each pair got."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest
from tests.simulation import described

from assay import studies
from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import LaunchMedian, Measured
from assay.catalogue import benchmarks
from assay.model.benchmark import Resources
from assay.model.declaration import keep
from assay.model.measurand import Measurand
from assay.model.noise import Noise
from assay.model.placement import Memory, Placement
from assay.model.rank import Rank
from assay.model.record import Clock, End, Header, Series
from assay.model.result import Analysis, Estimate
from assay.model.run import CaseRecords, Run
from assay.topics.messages.models import node_pairs
from assay.topics.messages.sections import node_pairs as node_pairs_section

HOSTS = ("n0", "n1", "n2", "n3")
LATENCY = benchmarks.get("pairs").metrics[0]


def placement(ranks: int) -> Placement:
    hosts = tuple(f"n{index}" for index in range(ranks))
    return Placement("one-core@all", "", (0,), Memory(), hosts, ranks=((0,),))


def records(way: str, seconds: Mapping[int, float], each: int = 0, hosts: tuple[str, ...] = ()) -> CaseRecords:
    """A case of one round, 10 samples of 4 iterations of so many seconds each from the ranks that time."""
    ranks = tuple(Rank(rank, host, host, (0,), (0,), "first-touch", {}) for rank, host in enumerate(hosts))
    work = {"message": {"one-way": 2.0, "messages": 2.0, "bytes": 16.0}}
    params: dict[str, int | float | str] = {"round": each}
    header = Header(1, "pairs", f"round {each}", params, work, {}, Clock("c", 1e-9, 1e-8), ranks, {"way": way})
    series = tuple(
        Series("message", rank, "measured", 4, "samples", [0.0] * 10, [4 * one] * 10)
        for rank, one in seconds.items()
    )
    return CaseRecords(header, series, None, End("complete"))


def estimate(each: int) -> Estimate:
    """The estimate of one round."""
    unknown = dict.fromkeys(("state", "precision", "steady", "limit", "reason"))
    figures = dict.fromkeys(("min", "max", "p99"), 1.5e-6)
    benchmark = {"benchmark": "pairs", "kernel": "message", "metric": "latency", "unit": "s", "better": "lower"}
    fields: dict[str, object] = {
        "id": f"round {each}/message/latency",
        "case": f"round {each}",
        "declaration": keep(benchmarks.get("pairs").declaration),
        "measurand": Measurand(program="pairs", version="1", kernel="message", metric="latency"),
        "factors": {},
        "modes": (),
        "params": {"pattern": "latency", "bytes": 8, "schedule": "all", "round": each, "window": 64},
        "placement": {
            "label": "one-core@all",
            "hosts": HOSTS,
            "cpus": ((0,),) * 4,
            "memory": "",
            "proven": None,
        },
        "value": {"value": 1.5e-6, "lo": 1.5e-6, "hi": 1.5e-6, "unit": "s", "basis": "range"},
        "launches": 3,
        "samples": 30,
        "stop": "samples",
        "status": "complete",
    }
    return msgspec.convert(fields | benchmark | figures | unknown, Estimate)


def known(rounds: Mapping[int, tuple[CaseRecords, ...]], disturbed: tuple[int, ...] = ()) -> RunEstimates:
    """Three launches, one in each block, of some rounds; launches that are disturbed are attempts of the first."""
    launches = [
        SimpleNamespace(
            launch=SimpleNamespace(
                id="L0" if block in disturbed else f"L{block}",
                block=0 if block in disturbed else block,
                bracket=SimpleNamespace(disturbance="noise" if block in disturbed else ""),
            ),
            cases=[each[block] for each in rounds.values()],
        )
        for block in range(3)
    ]
    medians = tuple(LaunchMedian(block, None, 1.5e-6) for block in range(3) if block not in disturbed)
    measured = tuple(Measured(estimate(each), medians) for each in rounds)
    return RunEstimates(cast("Run", SimpleNamespace(launches=launches, machines={})), measured)


@pytest.mark.parametrize(("ranks", "rounds"), [(2, 1), (3, 3), (4, 3), (63, 63), (64, 63)])
def test_a_round_robin_has_one_round_less_than_an_even_number_of_nodes(ranks: int, rounds: int) -> None:
    resources = Resources(placement(ranks), described().topology, 2**30)
    assert list(benchmarks.get("pairs").points(resources, {})) == [{"round": each} for each in range(rounds)]


def test_the_study_measures_pairs_alone_and_loaded_at_one_core_of_each_node() -> None:
    measures = studies.get("node-pairs").measure
    assert all(measure.placements == ("one-core@all",) for measure in measures)
    assert {measure.axes["schedule"] for measure in measures} == {"one", ("one", "all")}


def test_a_rank_s_series_is_that_of_the_pair_that_it_is_in() -> None:
    found = node_pairs.values(records("0-3 1-2", {0: 2e-6, 1: 6e-6}), LATENCY)
    assert found == pytest.approx({(0, 3): 1e-6, (1, 2): 3e-6})


def test_where_both_time_the_slower_one_counts() -> None:
    found = node_pairs.values(records("0-1", {0: 2e-6, 1: 6e-6}), LATENCY)
    assert found == pytest.approx({(0, 1): 3e-6})


def with_a_slow_node() -> RunEstimates:
    """Four nodes; messages with n3 take twice as long."""
    ways = ("0-3 1-2", "0-1 2-3", "0-2 1-3")
    rounds = {
        each: tuple(
            records(way, {int(a): 2e-6 * (2 if "3" in (a, b) else 1) for a, b in pairs(way)}, each, HOSTS)
            for _ in range(3)
        )
        for each, way in enumerate(ways)
    }
    return known(rounds)


def test_a_slow_node_is_slow_with_each_other_and_no_other_pair_is() -> None:
    (model,) = node_pairs.fit(with_a_slow_node())
    got = {(point.at["a"], point.at["b"]): point.value.value for point in model.points}
    assert got == pytest.approx(
        {(a, b): 2e-6 if b == "n3" else 1e-6 for at, a in enumerate(HOSTS) for b in HOSTS[at + 1 :]}
    )
    assert model.all_pairs.parts == pytest.approx((1.5e-6, 1e-6, 2e-6))
    assert {point.at["round"] for point in model.points} == {0, 1, 2}


def test_a_disturbed_attempt_is_set_aside_where_its_repeat_was_quiet() -> None:
    launches = tuple(records("0-1", {0: seconds}, 0, HOSTS[:2]) for seconds in (2e-6, 8e-6, 4e-6))
    (model,) = node_pairs.fit(known({0: launches}, disturbed=(1,)))
    (point,) = model.points
    assert point.value.parts == pytest.approx((1.5e-6, 1e-6, 2e-6))


@pytest.mark.parametrize(("seconds", "value"), [((2e-6, 3e-6), 1.5e-6), ((0.0, 3e-6), 1.5e-6), ((0.0, 0.0), None)])
def test_a_pair_has_the_time_of_its_slower_rank(seconds: tuple[float, float], value: float | None) -> None:
    """Of a round trip of two messages half is one way; a clock that did not move gives no time."""
    case = records("0-1", dict(enumerate(seconds)), 0, HOSTS[:2])
    found = node_pairs.values(case, LATENCY)
    assert found == ({(0, 1): pytest.approx(value)} if value else {})


def test_ranks_of_one_host_are_told_apart_by_their_numbers() -> None:
    launches = tuple(records("0-1", {0: 2e-6}, 0, ("n0", "n0")) for _ in range(3))
    (model,) = node_pairs.fit(known({0: launches}))
    assert [(point.at["a"], point.at["b"]) for point in model.points] == [("n0 (0)", "n0 (1)")]


def test_the_report_draws_each_pair_on_both_sides_of_the_diagonal_and_names_the_two_ends() -> None:
    here = with_a_slow_node()
    noise = Noise(None, None, None, 0.0, 0.0, {}, 0, 3)
    estimates = tuple(each.estimate for each in here.measured)
    models = tuple(node_pairs.fit(here))
    analysis = Analysis(1, "r", "s", "complete", estimates, models, (), (), (), noise)
    drawn = node_pairs_section.declared.section(here.run, analysis)
    assert drawn is not None
    (figure,) = drawn.figures
    cells = {(row["row"], row["column"]): row["value"] for row in figure.spec["data"]["values"]}
    assert len(cells) == len(HOSTS) * (len(HOSTS) - 1)
    assert all(value == pytest.approx(2.0 if "n3" in pair else 1.0) for pair, value in cells.items())
    (table,) = drawn.tables
    (row,) = table.rows
    assert row[1] == "6"
    assert "n3" not in row[3]
    assert "n3" in row[4]


def pairs(way: str) -> list[tuple[str, ...]]:
    return [tuple(pair.split("-")) for pair in way.split()]
