"""How slow ranks of a system are, from planted products of each node and independent solutions at once."""

from collections.abc import Mapping

import msgspec
import pytest
from tests.simulation import TWO_CORES, simulated_run
from tests.unit.test_hpl import WITH_BLAS

from assay import store
from assay.analyse import examine
from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import Measured
from assay.model.plan import Case, Measure, Study
from assay.model.quantity import Quantity
from assay.simulation import Law
from assay.topics.linear_algebra.solutions import Network

ORDERS = (512, 1024, 2048)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> RunEstimates:
    coupling = ("sharing", "independent")
    measures = (
        Measure("hpl", ("1x1@1", "1x1@2", "2x1@1"), axes={"n": ORDERS, "nb": 128, "coupling": coupling}),
        Measure("dgemm", ("one-core",), axes={"n": (512, 1024)}),
        Measure("pt2pt", ("pair:other-node",), axes={"pattern": "latency", "bytes": (8, 512, 32768, "4M")}),
    )
    study = Study("Slow", "?", measures, launches=1)
    options = msgspec.structs.replace(WITH_BLAS, hosts=("n1", "n2"))
    path = simulated_run(
        tmp_path_factory.mktemp("slow"), Law(), description=TWO_CORES, study=study, options=options
    )
    return examine(store.load(path))


def is_copy(case: Case) -> bool:
    return case.params.get("coupling") == "independent"


def planted(
    known: RunEstimates,
    copies: Mapping[tuple[str, int], float],
    products: Mapping[tuple[str, int], float],
) -> RunEstimates:
    """The run with these rates alone: of independent systems by placement and order, of products by host and n."""
    cases = {case.id: case for case in known.run.plan.cases}
    found = []
    for each in known.measured:
        e = each.estimate
        case, rate = cases[e.case], None
        if e.benchmark == "hpl" and (e.kernel, e.metric) == ("rate", "rate") and is_copy(case):
            rate = copies.get((e.placement.label, int(e.params["n"])))
        elif e.benchmark == "dgemm":
            rate = products.get((e.placement.hosts[0], int(e.params["n"])))
        elif e.declared.between_two:
            found.append(each)
        if rate is not None:
            found.append(
                Measured(
                    msgspec.structs.replace(e, value=Quantity(rate, rate, rate, e.unit, "range")), each.launches
                )
            )
    return RunEstimates(known.run, tuple(found), known.models, known.farthest)


def case(known: RunEstimates, label: str, order: int = 1024) -> Case:
    cases = known.run.plan.studied
    return next(
        each
        for each in cases
        if (each.benchmark, each.placement.label, each.params["n"]) == ("hpl", label, order) and not is_copy(each)
    )


def test_independent_systems_on_both_nodes_at_once_show_how_they_slow_each_other(known: RunEstimates) -> None:
    found = planted(known, {("1x1@1", 1024): 5e9, ("1x1@2", 1024): 8e9}, {})
    assert Network(found, None).slow_at_once(case(known, "1x1@2")) == pytest.approx(2 * 5 / 8)
    assert Network(planted(known, {("1x1@1", 1024): 5e9}, {}), None).slow_at_once(case(known, "1x1@2")) is None


def test_the_nearest_order_that_was_measured_both_ways_counts(known: RunEstimates) -> None:
    rates = {
        ("1x1@1", 512): 5e9, ("1x1@2", 512): 8e9,
        ("1x1@1", 2048): 6e9, ("1x1@2", 2048): 11e9,
        ("1x1@1", 1024): 9e9,
    }  # fmt: skip
    network = Network(planted(known, rates, {}), None)
    assert network.slow_at_once(case(known, "1x1@2", 512)) == pytest.approx(2 * 5 / 8)
    assert network.slow_at_once(case(known, "1x1@2", 1024)) == pytest.approx(2 * 5 / 8)  # 512 is nearer than 2048
    assert network.slow_at_once(case(known, "1x1@2", 2048)) == pytest.approx(2 * 6 / 11)
    far = Network(planted(known, {("1x1@1", 512): 5e9, ("1x1@2", 512): 8e9}, {}), None)
    one = case(known, "1x1@2", 2048)
    assert far.slow_at_once(one) == pytest.approx(2 * 5 / 8)  # four times the order
    beyond = msgspec.structs.replace(one, params={**one.params, "n": 2049})
    assert far.slow_at_once(beyond) is None


def test_of_ranks_of_one_node_one_rank_alone_counts(known: RunEstimates) -> None:
    found = planted(known, {("1x1@1", 1024): 5e9, ("2x1@1", 1024): 8e9}, {})
    two = case(known, "2x1@1")
    network = Network(found, None, by_ranks=True)
    assert network.slow_at_once(two) == pytest.approx(2 * 5 / 8)
    assert network.knows_sharing(two)
    assert not Network(planted(known, {}, {}), None, by_ranks=True).knows_sharing(two)
    assert Network(planted(known, {}, {}), None).knows_sharing(two)
    assert Network(planted(known, {}, {}), None, by_ranks=True).knows_sharing(case(known, "1x1@1"))


@pytest.mark.parametrize("at_once", [None, 1.1, 2.0])
def test_a_rank_is_as_slow_as_the_product_of_its_node_and_as_both_nodes_at_once(
    known: RunEstimates, at_once: float | None
) -> None:
    """The second node multiplies at four fifths of the rate; the larger product counts."""
    copies = {("1x1@1", 1024): 5e9, ("1x1@2", 1024): 10e9 / at_once} if at_once else {}
    products = {("n1", 512): 1e9, ("n2", 512): 2e9, ("n1", 1024): 10e9, ("n2", 1024): 8e9}
    work = Network(planted(known, copies, products), None).work(case(known, "1x1@2"))
    assert work
    mean, slowest = (1 + 1 / 0.8) / 2, 1 / 0.8
    shared = max(1.0, (at_once or 1.0) / slowest)
    assert work.typical.slow == pytest.approx((shared * mean, shared * slowest))
    alone = Network(planted(known, {}, products), None).work(case(known, "1x1@1"))
    assert alone
    assert alone.typical.slow == (1.0, 1.0)


def test_nodes_whose_products_are_not_all_known_are_taken_as_equal(known: RunEstimates) -> None:
    work = Network(planted(known, {}, {("n1", 1024): 10e9}), None).work(case(known, "1x1@2"))
    assert work
    assert work.typical.slow == (1.0, 1.0)
