"""Every pair of 64 simulated nodes: their rounds, and what is said of a slow pair and of a narrow fabric."""

import re
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.result import Analysis, Finding
from assay.model.run import Run
from assay.plan import Options
from assay.simulation import Law
from assay.topics.messages.models.fabric import Fabric
from assay.topics.messages.sections import node_pairs
from assay.topics.messages.simulate import pairs_of_round

MANY = 64
SLOW = Law(slow_paths={("n03", "n05"): 1.3})
RULES = ("node_pairs", "oversubscribed_fabric")


def nodes(count: int) -> tuple[str, ...]:
    return tuple(f"n{number:02}" for number in range(count))


def measured(law: Law, count: int, launches: int = 3, seed: int = 1) -> tuple[Run, Analysis]:
    """The study `node-pairs` over so many nodes."""
    options = Options(hosts=nodes(count), launches=launches)
    with TemporaryDirectory() as folder:
        run = store.load(simulated_run(Path(folder), law, study="node-pairs", options=options, seed=seed))
    return run, analyse(run)


@cache
def with_a_slow_pair() -> tuple[Run, Analysis]:
    return measured(SLOW, MANY)


def of(analysis: Analysis, rule: str) -> list[Finding]:
    return [each for each in analysis.findings if each.rule == rule]


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 8, 63, 64])
def test_in_a_simulated_round_robin_everybody_meets_everybody_once(ranks: int) -> None:
    rounds = [pairs_of_round(ranks, number) for number in range(ranks - 1 + ranks % 2)]
    assert all(len({*sum(each, ())}) == 2 * len(each) for each in rounds)
    every = Counter(pair for each in rounds for pair in each)
    assert every == {(a, b): 1 for a in range(ranks) for b in range(a + 1, ranks)}
    with pytest.raises(ValueError, match="has no round"):
        pairs_of_round(ranks, len(rounds))


def test_64_nodes_meet_in_63_rounds_and_none_twice_in_a_round() -> None:
    run, analysis = with_a_slow_pair()
    assert analysis.status == "complete"
    headers = [case.header for launch in run.launches for case in launch.cases if case.header.benchmark == "pairs"]
    rounds = {int(each.params["round"]): each.mpi.pairs for each in headers}
    assert sorted(rounds) == list(range(MANY - 1))
    for pairs in rounds.values():
        assert sorted(rank for pair in pairs for rank in pair) == list(range(MANY))
    for model in (each for each in analysis.models if each.law == "node-pairs"):
        assert len({(point.at["a"], point.at["b"]) for point in model.points}) == MANY * (MANY - 1) / 2


def test_the_heatmap_of_64_nodes_shows_the_slow_pair_on_both_sides() -> None:
    run, analysis = with_a_slow_pair()
    drawn = node_pairs.declared.section(run, analysis)
    assert drawn
    latency = drawn.figures[0].spec["data"]["values"]
    assert len(latency) == MANY * (MANY - 1)
    slowest = sorted(latency, key=lambda cell: cell["value"])[-2:]
    assert {(cell["row"], cell["column"]) for cell in slowest} == {("n03", "n05"), ("n05", "n03")}


def test_a_slow_pair_of_64_nodes_is_named_by_latency_and_by_bandwidth() -> None:
    found = of(with_a_slow_pair()[1], "node_pairs")
    assert [each.status for each in found] == ["candidate"] * 2  # of three launches
    assert all("1 of 2,016 pairs of nodes" in each.claim for each in found)
    times = [re.search(r"n03 with n05 x([\d.]+)", each.claim) for each in found]
    assert [float(each[1]) for each in times if each] == pytest.approx([1.3, 1.3], rel=0.02)


def test_six_launches_make_a_slow_pair_a_problem_and_a_slow_node_is_what_its_pairs_share() -> None:
    _, analysis = measured(Law(slow_hosts={"n04": 0.8}), 16, launches=6)
    found = of(analysis, "node_pairs")
    assert [(each.severity, each.status) for each in found] == [("problem", "observed")] * 2
    assert all("15 of 120 pairs" in each.claim and "All of them are pairs of n04." in each.claim for each in found)


def test_a_healthy_network_of_64_nodes_is_left_alone() -> None:
    _, analysis = measured(Law(), MANY)
    assert [each.claim for rule in RULES for each in of(analysis, rule)] == []


@pytest.mark.parametrize(("launches", "expected"), [(3, ("advice", "candidate")), (6, ("problem", "observed"))])
def test_a_fabric_that_does_not_carry_all_pairs_is_found_with_the_share_that_it_carries(
    launches: int, expected: tuple[str, str]
) -> None:
    # 8 nodes have 4 pairs in a round, 12 GB/s each; what is carried is half of their sum.
    _, analysis = measured(Law(fabric=24e9), 8, launches)
    (found,) = of(analysis, "oversubscribed_fabric")
    assert (found.severity, found.status) == expected
    (model,) = (each for each in analysis.models if isinstance(each, Fabric))
    share, low, high = model.all_rounds
    assert low <= share <= high < 0.52
    assert model.one_at_a_time.value == pytest.approx(48e9, rel=0.02)
    assert model.together.value == pytest.approx(24e9, rel=0.02)
    assert "7 of 7 rounds are low" in found.claim
    assert of(analysis, "node_pairs") == []


def test_a_fabric_that_carries_nine_tenths_and_more_is_no_fault() -> None:
    _, analysis = measured(Law(fabric=0.95 * 48e9), 8, launches=6)
    assert of(analysis, "oversubscribed_fabric") == []


def test_nodes_that_are_one_machine_are_no_fabric() -> None:
    _, analysis = measured(Law(fabric=24e9, one_kernel=True), 8)
    (found,) = of(analysis, "oversubscribed_fabric")
    assert found.status == "not assessed"
    assert "the nodes are one machine" in found.claim.lower()


def test_three_nodes_have_no_two_pairs_at_once() -> None:
    _, analysis = measured(Law(fabric=12e9), 3)
    (found,) = of(analysis, "oversubscribed_fabric")
    assert (found.status, found.next) == ("not assessed", "assay run node-pairs")
