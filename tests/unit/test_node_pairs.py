"""Every pair of nodes: the rounds of the tournament in a plan."""

import pytest

from assay import benchmarks, studies
from assay.model.placement import Memory, Placement


def placement(ranks: int) -> Placement:
    hosts = tuple(f"n{index}" for index in range(ranks))
    return Placement("one-core@all", "", (0,), Memory(), hosts, ranks=((0,),))


@pytest.mark.parametrize(("ranks", "rounds"), [(2, 1), (3, 3), (4, 3), (63, 63), (64, 63)])
def test_a_tournament_has_one_round_less_than_an_even_number_of_nodes(ranks: int, rounds: int) -> None:
    assert benchmarks.get("pairs").each(placement(ranks)) == {"round": tuple(range(rounds))}


def test_the_study_measures_pairs_alone_and_loaded_at_one_core_of_each_node() -> None:
    measures = studies.get("node-pairs").measure
    assert all(measure.placements == ("one-core@all",) for measure in measures)
    assert {measure.axes["schedule"] for measure in measures} == {"one", ("one", "all")}
