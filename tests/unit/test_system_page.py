"""What is said of systems of equations: sentences, tables, HPL's table; which solutions have one law."""

import math

import msgspec
import pytest
import scipy.stats
from tests.simulation import TWO_CORES, simulated_run
from tests.unit.figure_columns import set_right
from tests.unit.test_hpl import WITH_BLAS

from assay import store
from assay.analyse import analyse, examine
from assay.analyse.evidence import Evidence
from assay.model.plan import Measure, Study
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.report.formatting import percent
from assay.report.section import Section
from assay.report.sections import sections
from assay.simulation import Law
from assay.topics.linear_algebra.formats import hpl as table
from assay.topics.linear_algebra.models import system_time
from assay.topics.linear_algebra.models.system_time import SystemTime
from assay.topics.linear_algebra.orders import fitted
from assay.topics.linear_algebra.predictions.system import expect
from assay.topics.linear_algebra.solutions import over_nodes
from assay.topics.linear_algebra.steps import steps
from assay.topics.linear_algebra.variants import NUMBERS

ORDERS = (512, 1024, 2048)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    measures = (
        Measure("hpl", ("2x1",), axes={"n": ORDERS, "nb": 128, "broadcast": ("ring", "long")}),
        Measure("hpl", ("1x1", "1x2"), axes={"n": ORDERS[:2], "nb": 128}),
        Measure("dgemm", ("one-core", "all"), axes={"n": 1024}),
    )
    study = Study("Systems", "?", measures, launches=3)
    return store.load(simulated_run(tmp_path_factory.mktemp("system"), Law(), study=study, options=WITH_BLAS))


@pytest.fixture(scope="module")
def known(run: Run) -> Evidence:
    return examine(run)


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


def section(run: Run, analysis: Analysis, name: str) -> Section:
    return next(each for each in sections(run, analysis) if each.id == name)


def best(analysis: Analysis) -> Estimate:
    rates = [each for each in analysis.estimates if (each.benchmark, each.metric) == ("hpl", "rate")]
    return max((each for each in rates if each.kernel == "rate"), key=lambda each: each.median or 0.0)


NAMES = {"panel": "panels", "broadcast": "broadcast", "swap": "row exchange", "substitution": "back substitution"}


def test_the_largest_part_besides_the_update_is_named(run: Run, analysis: Analysis) -> None:
    rate = best(analysis)
    own = [each for each in analysis.estimates if each.case == rate.case and each.unit == "s" and each.median]
    seconds = {each.kernel: each.median or 0.0 for each in own if each.kernel in {*NAMES, "update"}}
    whole = sum(seconds.values())
    update = seconds.pop("update")
    largest = max(seconds, key=lambda phase: seconds[phase])
    assert len(seconds) > 1
    sentences = " ".join(map(str, section(run, analysis, "system").meaning))
    assert (
        f"The update takes {percent(update / whole)} of its time; the largest other part is {NAMES[largest]} "
        f"with {percent(seconds[largest] / whole)}." in sentences
    )


def test_the_steps_after_the_last_with_four_fifths_of_update_are_told(run: Run, analysis: Analysis) -> None:
    every = steps(run, best(analysis))
    mostly = [each.shares["update"][0] >= 0.8 for each in every]
    assert any(mostly)
    assert not mostly[-1]
    late = len(mostly) - mostly[::-1].index(True)
    spent = [sum(each.seconds.values()) for each in every]
    share = percent(sum(spent[late:]) / sum(spent))
    sentences = " ".join(map(str, section(run, analysis, "system").meaning))
    assert (
        f"From step {every[late].first} of {every[-1].last} the update takes less than 80 % of a step" in sentences
    )
    assert f"; these steps take {share} of the time." in sentences


def test_the_phases_of_a_step_are_those_of_the_records(run: Run, analysis: Analysis) -> None:
    rate = best(analysis)
    figures = [
        figure
        for launch in run.launches
        for records in launch.cases
        if records.header.case == rate.case
        for figure in records.figures
        if figure.steps and not figure.warmup
    ]
    found = steps(run, rate)
    assert len(figures) >= 3
    for each in found:
        assert each.first == each.last
        at = each.first - 1
        for phase, seconds in each.seconds.items():
            values = sorted(figure.steps[phase][at] for figure in figures)
            middle = (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2
            assert seconds == pytest.approx(middle)
            shares = sorted(
                figure.steps[phase][at] / sum(own[at] for own in figure.steps.values()) for figure in figures
            )
            assert each.shares[phase][1:] == pytest.approx((shares[0], shares[-1]))


def test_the_numbers_of_hpls_broadcasts_stand_in_its_table(run: Run, analysis: Analysis) -> None:
    """HPL 2.3, TUNING: 0 = 1rg, 1 = 1rM, 4 = Lng; 5 is the last of HPL's."""
    assert NUMBERS == {"ring": 0, "modified-ring": 1, "long": 4, "library": 6, "shared": 7}
    lines = list(table.tables(analysis, run))
    variants = {line.split()[0] for line in lines if line.startswith("WR")}
    assert {"WR10R2L8", "WR14R2L8"} <= variants
    without = msgspec.structs.replace(
        analysis,
        estimates=tuple(each for each in analysis.estimates if each.params.get("broadcast") in {"ring", "long"}),
    )
    assert not any("are not HPL's" in line for line in table.tables(without, run))
    foreign = tuple(
        msgspec.structs.replace(each, params=each.params | {"broadcast": "library"}) for each in without.estimates
    )
    lacking = msgspec.structs.replace(without, estimates=foreign)
    assert any("are not HPL's" in line for line in table.tables(lacking, run))
    every = (each for each in analysis.estimates if (each.kernel, each.metric) == ("rate", "rate"))
    rates = [(each.params["n"], each.median or 0.0) for each in every]
    for row in (line.split() for line in lines if line.startswith("WR")):
        n, rate = int(row[1]), float(row[6]) * 1e9
        assert any(n == order and rate == pytest.approx(value, rel=1e-4) for order, value in rates)
        assert float(row[5]) == pytest.approx((2 * n**3 / 3 + 1.5 * n**2) / rate, abs=0.006)


def test_columns_of_figures_are_set_as_figures(run: Run, analysis: Analysis) -> None:
    assert set_right(section(run, analysis, "system").tables, levels=("n", "NB"))
    assert set_right(section(run, analysis, "matrix-product").tables)
    assert len(section(run, analysis, "matrix-product").tables[0].rows) == 2


def test_a_case_is_predicted_by_smaller_orders_of_its_own_ranks_and_cpus(run: Run, known: Evidence) -> None:
    """One rank of two threads has the same grid as one rank of one thread, and nearly twice its rate."""
    cases = [each for each in run.plan.studied if each.benchmark == "hpl" and each.params["n"] == 1024]
    rates = {}
    for label in ("1x1", "1x2"):
        case = next(each for each in cases if each.placement.label == label)
        (found,) = expect(known, [msgspec.structs.replace(case, id="larger", params={**case.params, "n": 4096})])
        assert found.lo <= found.value <= found.hi
        assert all(label in source for source in found.models)
        rates[label] = found.value
    assert 1.7 < rates["1x2"] / rates["1x1"] < 2.1


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    measures = (
        Measure("hpl", ("2x1@1", "2x1@2", "2x1@4"), axes={"n": ORDERS[:2], "nb": 128}),
        Measure("pt2pt", ("pair:other-node",), axes={"pattern": "latency", "bytes": (8, 512, 32768, "4M")}),
    )
    study = Study("Nodes", "?", measures, launches=3)
    options = msgspec.structs.replace(WITH_BLAS, hosts=("n1", "n2", "n3", "n4"))
    folder = tmp_path_factory.mktemp("nodes")
    return examine(store.load(simulated_run(folder, Law(), description=TWO_CORES, study=study, options=options)))


def test_solutions_on_several_nodes_are_sorted_by_ranks_and_order(nodes: Evidence) -> None:
    (found,) = over_nodes(nodes)
    ranks = [(each.steps.p * each.steps.q, each.order) for each in found.members]
    assert ranks == sorted(ranks)
    assert {each for each, _ in ranks} == {2, 4, 8}
    assert {(each.steps.p, each.steps.q) for each in found.members} == {(1, 2), (2, 2), (2, 4)}


@pytest.mark.parametrize("orders", [ORDERS[:2], ORDERS[:1]])
def test_the_margin_of_a_law_is_that_of_a_further_solution_by_several_ranks(
    nodes: Evidence, orders: tuple[int, ...]
) -> None:
    """The prediction interval of Student's t for one more distance of mean 0; 2 % count as by 4 more solutions."""
    (every,) = over_nodes(nodes)
    solutions = every._replace(members=tuple(each for each in every.members if each.order in orders))
    found = fitted(solutions)
    off = [
        each.steps.flops / (each.rate.estimate.median or 1.0) / float(each.steps.seconds(found.values)[0]) - 1
        for each in solutions.members
    ]
    count = len(off)
    assert count == 3 * len(orders)  # all of them are by several ranks
    free = 4 + count - 1
    scatter = math.sqrt((4 * 0.02**2 + sum(each**2 for each in off)) / free * (1 + 1 / count))
    assert found.margin == pytest.approx(scipy.stats.t.ppf(0.975, free) * scatter)
    assert found.residual == pytest.approx(max(map(abs, off)))
    assert every.up_to(ORDERS[0]).orders == ORDERS[:1]
    assert every.up_to(ORDERS[0] - 1).orders == ()


def test_without_a_law_of_messages_nodes_are_not_fitted(nodes: Evidence) -> None:
    assert list(over_nodes(msgspec.structs.replace(nodes, models=()))) == []


def test_two_orders_on_several_nodes_have_a_law_and_one_has_none(nodes: Evidence) -> None:
    assert any(isinstance(each, SystemTime) and each.several for each in system_time.fit(nodes))
    one = tuple(each for each in nodes.measured if each.estimate.params.get("n") != 512)
    assert not list(system_time.fit(msgspec.structs.replace(nodes, measured=one)))
