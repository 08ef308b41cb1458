"""The section of speed-ups, from planted steps: rows that are shown, sentences, the universal law, columns."""

import json
from collections.abc import Iterator

import msgspec
import pytest
from tests.simulation import simulated_run
from tests.unit.figure_columns import set_right
from tests.unit.test_scale_study import EIGHT

from assay import store
from assay.analyse import conclude, examine
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.evidence import Evidence
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity, exact
from assay.report.section import Section, Table
from assay.report.sections import sections
from assay.simulation import Law
from assay.topics.scaling.models.scaling import Scaling
from assay.topics.scaling.steps import Advice, Ratio, Step, Universal, universal


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    placements = tuple(f"{ranks}x1" for ranks in (1, 2, 3, 4, 5, 6, 8))
    study = Study("Page", "?", (Measure("weather", placements, axes={"nx": 400}),), launches=3)
    path = simulated_run(tmp_path_factory.mktemp("page"), Law(sampled_s=0.0), description=EIGHT, study=study)
    return examine(store.load(path))


def ends(value: float) -> Quantity:
    return Quantity(value, 0.99 * value, 1.01 * value, "", "interval")


def step(known: Evidence, ranks: int, speed_up: float, **changes: object) -> Step:
    """The step of so many ranks with this speed-up."""
    (model,) = known.fitted(Scaling)
    one = next(each for each in model.steps if each.cores == ranks)
    value = ends(speed_up)
    usual = {"speed_up": value, "efficiency": value.over(ranks), "serial": None, "shared": None, "messages": None}
    return msgspec.structs.replace(one, **{**usual, **changes})


def section(known: Evidence, *steps: Step, **changes: object) -> Section:
    (model,) = known.fitted(Scaling)
    planted = msgspec.structs.replace(model, steps=steps, **{"universal": (), "advice": None, **changes})
    evidence = msgspec.structs.replace(known, models=(planted,))
    return next(each for each in sections(evidence.run, conclude(evidence)) if each.id == "scaling")


def rows(table: Table) -> list[dict[str, str]]:
    return [dict(zip(map(str, table.columns), map(str, row), strict=True)) for row in table.rows]


def test_doublings_and_the_most_cores_have_a_row(known: Evidence) -> None:
    every = [step(known, ranks, 0.9 * ranks) for ranks in (2, 3, 4, 5, 6)]
    assert [row["Placement"] for row in rows(section(known, *every).tables[0])] == ["1x1", "2x1", "4x1", "6x1"]
    every.append(step(known, 8, 7.0))
    assert [row["Cores"] for row in rows(section(known, *every).tables[0])] == ["1", "2", "4", "8"]
    base = section(known, *every[:3], base_cores=2)
    assert [row["Cores"] for row in rows(base.tables[0])][1:] == ["2", "4"]
    copies = msgspec.structs.replace(step(known, 3, 2.0), copies=True)
    found = section(known, *every, copies)  # the most cores of each kind
    assert [row["Cores"] for row in rows(found.tables[0])] == ["1", "2", "4", "8", "3"]


def test_rate_and_time_are_those_of_the_estimate_and_of_a_step(known: Evidence) -> None:
    one = step(known, 2, 1.8)
    base, two = rows(section(known, one).tables[0])
    rates = {
        each.estimate.placement.label: each.estimate for each in known.measured if each.estimate.metric == "rate"
    }
    times = {
        each.estimate.placement.label: each.estimate for each in known.measured if each.estimate.metric == "step"
    }
    for row, label in ((base, "1x1"), (two, "2x1")):
        rate, seconds = float(row["Rate"].split()[0]), float(row["Time"].split()[0])
        cells = 400 * 200
        assert row["Rate"].endswith("Mupdate/s")
        assert rate * 1e6 == pytest.approx(rates[label].median or 0.0, rel=5e-3)
        assert seconds == pytest.approx(
            (times[label].median or 0.0) * (1e3 if " ms" in row["Time"] else 1e6), rel=5e-3
        )
        assert (times[label].median or 0.0) * (rates[label].median or 0.0) == pytest.approx(cells)


def test_a_word_for_several_nodes_stands_where_the_placement_names_none(known: Evidence) -> None:
    for label, nodes, where in (
        ("2x1", 1, "2x1"),
        ("all", 2, "all, 2 nodes"),
        ("all", 3, "all, 3 nodes"),
        ("all@2", 2, "all@2"),
    ):
        one = step(known, 2, 1.8, label=label, nodes=nodes)
        assert rows(section(known, one).tables[0])[1]["Placement"] == where


def test_the_lowest_efficiency_and_the_largest_gain_are_told(known: Evidence) -> None:
    steps = [step(known, 2, 1.9), step(known, 4, 2.4), step(known, 8, 6.0)]
    copies = msgspec.structs.replace(step(known, 8, 0.8), copies=True)
    sentences = " ".join(map(str, section(known, *steps, copies).meaning))
    assert "The lowest efficiency is 0.600 [0.594, 0.606]" in sentences
    assert "on 4 cores" in sentences
    assert "cache effect" not in sentences
    assert "product of two factors" not in sentences
    faster = [step(known, 2, 2.5), step(known, 4, 6.0), step(known, 8, 6.0)]
    sentences = " ".join(map(str, section(known, *faster).meaning))
    assert "On 4 cores" in sentences
    assert "is 6.00 times as fast, more than the factor of cores" in sentences
    shared = step(known, 2, 1.5, shared=ends(0.5), messages=ends(1.5))
    sentences = " ".join(map(str, section(known, shared).meaning))
    assert "product of two factors" in sentences
    assert "is 1.50 times as fast, and faster than independent copies" in sentences


def test_the_best_placements_are_named_by_their_words(known: Evidence) -> None:
    two, four = step(known, 2, 1.9), step(known, 4, 1.9)
    (model,) = known.fitted(Scaling)
    for sure, worth in ((True, "2"), (False, "2, not certain")):
        advice = Advice(four.estimates[0], (two.estimates[0],), model.base, 2, sure)
        table = section(known, two, four, advice=advice, serial="rises").tables[1]
        (row,) = rows(table)
        assert (row["Fastest"], row["As fast, within the interval"], row["Least node time"]) == (
            "4x1",
            "2x1",
            "1x1",
        )
        assert row["Most cores with efficiency ≥ 0.5"] == worth
        assert row["Serial fraction"].startswith("rises")
    alone = Advice(four.estimates[0], (), model.base, 2, worth_is_sure=True)
    table = section(known, two, four, advice=alone, serial="").tables[1]
    assert not {"As fast, within the interval", "Serial fraction"} & set(map(str, table.columns))


@pytest.mark.parametrize("residual", [0.999 * 0.3, 0.3, 1.001 * 0.3])
def test_a_law_that_fits_badly_has_rough_coefficients_and_no_maximum(known: Evidence, residual: float) -> None:
    law = Universal(0, 3, ends(0.123), ends(0.00456), residual, Quantity(6.0, 5.0, 7.0, "", "interval"))
    table = section(
        known, step(known, 2, 1.9), universal=(law, msgspec.structs.replace(law, cores_of_node=4))
    ).tables[1]
    one, nodes = rows(table)
    assert (one["Over"], nodes["Over"]) == ("cores of one node", "nodes of 4 cores")
    assert one["Points"] == "3"
    if residual <= 0.3:
        assert one["Sigma"] == "0.123 [0.122, 0.124]"
        assert one["Maximum at, cores"] == "6.00 [5.00, 7.00]"
    else:
        assert "[" not in one["Sigma"] + one["Kappa"]
        assert one["Maximum at, cores"] == "not known"
    none = msgspec.structs.replace(law, residual=0.01, most=None)
    (row,) = rows(section(known, step(known, 2, 1.9), universal=(none,)).tables[1])
    assert row["Maximum at, cores"] == "not known"


def ratios(known: Evidence, nodes: tuple[int, ...], cores: int, sigma: float, kappa: float) -> list[Ratio]:
    """Steps on so many nodes (on one node: cores) that obey the law, each in three blocks."""
    (model,) = known.fitted(Scaling)
    found = []
    for count in nodes:
        p = float(count)
        value = exact(p / (1 + sigma * (p - 1) + kappa * p * (p - 1)))
        one = msgspec.structs.replace(
            model.steps[0],
            cores=count * cores,
            nodes=count if cores else 1,
            speed_up=value,
        )
        launches = tuple(LaunchMedian(block, None, value.value) for block in range(3))
        found.append(Ratio(one, Measured(known.measured[0].estimate, launches)))
    return found


def test_the_universal_law_of_nodes_is_found_from_two_nodes_on(known: Evidence) -> None:
    (law,) = universal(ratios(known, (2, 4, 8), 3, 0.05, 0.001), 3)
    assert (law.cores_of_node, law.points) == (3, 3)
    assert law.sigma.value == pytest.approx(0.05)
    assert law.kappa.value == pytest.approx(0.001)
    assert law.residual == pytest.approx(0, abs=1e-9)
    # The maximum is at sqrt((1 - sigma) / kappa) nodes, 31 of them, within four times eight.
    assert law.most
    assert law.most.value == pytest.approx(3 * (0.95 / 0.001) ** 0.5)
    assert list(universal(ratios(known, (2, 4), 3, 0.05, 0.001), 3)) == []
    assert (
        list(universal(ratios(known, (2, 4, 8), 3, 0.05, 0.001), 2)) == []
    )  # nodes with more cores than the base
    (far,) = universal(ratios(known, (2, 4, 8), 3, 0.05, 0.0001), 3)
    assert far.most is None  # at 97 nodes


def dicts(part: object) -> Iterator[dict[str, object]]:
    """Every mapping in the specification of a chart."""
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from dicts(each)


def test_the_curve_begins_at_the_base_with_a_speed_up_of_one(known: Evidence) -> None:
    every = [step(known, ranks, 0.9 * ranks) for ranks in (2, 4, 8)]
    specs = [json.loads(json.dumps(figure.spec)) for figure in section(known, *every).figures]
    base = [each for spec in specs for each in dicts(spec) if "the base" in each.values()]
    assert base
    for each in base:
        figures = {
            value for value in each.values() if isinstance(value, int | float) and not isinstance(value, bool)
        }
        assert figures == {1}, each


def test_factors_stand_in_the_column_of_their_cause(known: Evidence) -> None:
    slow = step(known, 2, 1.2, shared=ends(0.8), messages=ends(0.7))
    quick = step(known, 4, 2.4, shared=ends(0.5), messages=ends(1.2))
    table = section(known, slow, quick).tables[1]
    one, other = rows(table)
    assert one["Factor of sharing the node"] == "0.800 [0.792, 0.808]"
    assert (one["Factor of messages"], one["Factor of smaller parts"]) == ("0.700 [0.693, 0.707]", "")
    assert (other["Factor of messages"], other["Factor of smaller parts"]) == ("", "1.20 [1.19, 1.21]")
    alone = section(known, slow).tables[1]
    assert "Factor of smaller parts" not in map(str, alone.columns)


def test_columns_of_figures_are_set_as_figures(known: Evidence) -> None:
    law = Universal(0, 3, ends(0.123), ends(0.00456), 0.01, None)
    two = step(known, 2, 1.2, serial=ends(0.5), shared=ends(0.8), messages=ends(0.75))
    four = step(known, 4, 2.4, nodes=2, shared=ends(0.5), messages=ends(1.2))
    advice = Advice(four.estimates[0], (two.estimates[0],), two.estimates[0], 2, worth_is_sure=True)
    tables = section(known, two, four, universal=(law,), advice=advice, serial="falls").tables
    assert len(tables) == 4
    assert set_right(tables)
    assert {"Time", "Rate", "Serial fraction", "Node time"} <= set(map(str, tables[0].columns))
