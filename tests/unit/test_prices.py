"""Prices that users state: speed per price of two systems, and work per price by processors of a node."""

import re
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from tests.simulation import described, simulated_run
from tests.unit.compare_example import pair

from assay import store
from assay.analyse import analyse
from assay.cli import assay
from assay.compare.runs import between
from assay.machine.given import facts, with_given
from assay.model.errors import UsageError
from assay.model.prices import Price, parse_price, price, with_prices
from assay.model.quantity import Quantity
from assay.model.run import Run
from assay.plan import Options
from assay.topics.scaling.costs import price_of, relative
from assay.topics.scaling.sections import scaling


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("12000 EUR", Price(12000, "EUR")),
        ("12,000.5EUR", Price(12000.5, "EUR")),
        ("$ 999", Price(999, "$")),
        ("3200", Price(3200)),
        ("0 EUR", None),
        ("free", None),
        ("-3 EUR", None),
        ("1 2 EUR", None),
    ],
)
def test_a_price_is_an_amount_and_a_currency(words: str, expected: Price | None) -> None:
    assert parse_price(words) == expected


def stated(run: Run, **prices: str) -> Run:
    given = facts({"price": {name.replace("_", "-"): amount for name, amount in prices.items()}})
    return msgspec.structs.replace(
        run, machines={host: with_given(machine, given) for host, machine in run.machines.items()}
    )


def test_two_systems_with_prices_are_compared_per_price_and_without_one_they_are_not(tmp_path: Path) -> None:
    run, base = pair(tmp_path, 0.5)
    cheap, dear = stated(base, node="1000 EUR"), stated(run, node="3000 EUR")
    (yardstick,) = between(dear, cheap).yardsticks
    assert (yardstick.name, yardstick.stated, yardstick.ratio.value, yardstick.unit) == (
        "node price",
        True,
        3,
        "EUR",
    )
    growth = between(dear, cheap).growth
    assert {found["node price"] for found in growth.values()} == {"less"}
    other = stated(run, node="3000 USD")
    assert [between(*each).yardsticks for each in ((run, cheap), (dear, base), (other, cheap))] == [()] * 3


def test_a_price_on_the_command_line_replaces_the_recorded_one(tmp_path: Path) -> None:
    run, base = pair(tmp_path)
    named = [("a", stated(base, node="1000 EUR")), ("b", run), ("leo", store.load(store.find("leo")))]
    found = with_prices(named, ["a=2000 EUR", "leo=5 EUR"])
    assert [price(each) for each in found] == [Price(2000, "EUR"), None, Price(5, "EUR")]
    for wrong in ("c=1 EUR", "a", "a=cheap"):
        with pytest.raises(UsageError, match="not the price"):
            with_prices(named, [wrong])
    shown = CliRunner().invoke(
        assay, ["compare", "leo", "sci", "--price", "leo=2600 EUR", "--price", "sci=1500 EUR"]
    )
    assert shown.exit_code == 0, shown.exception
    assert re.search(r"node price \(the user's assumption\)\s+2600 EUR\s+1500 EUR\s+.0\.577", shown.output)
    assert "÷ node price" in shown.output


#: Nodes of two processors with one core each, as in the source of `leo`.
TWO_PROCESSORS = "pack:2 numa:1(memory=1GB) l2:1(size=512kB) l1:1(size=16kB) core:1 pu:1"


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Run:
    options = Options(hosts=("n1", "n2"), launches=6)
    folder = tmp_path_factory.mktemp("two")
    return store.load(simulated_run(folder, description=TWO_PROCESSORS, study="one-two-two", options=options))


def test_one_processor_of_a_node_costs_a_node_with_one(two: Run) -> None:
    priced = stated(two, node="3000 EUR", one_processor_node="2000 EUR")
    placements = {e.placement.label: e.placement for e in analyse(priced).estimates}
    costs = {label: price_of(priced, placement) for label, placement in placements.items()}
    assert set(costs.values()) == {Price(3000, "EUR"), Price(2000, "EUR")}
    both = [label for label, found in costs.items() if found == Price(3000, "EUR")]
    assert all(sum(map(len, placements[label].cpus[:1])) == 2 for label in both)
    cost = relative(Price(2000, "EUR"), Price(3000, "EUR"), Quantity(0.6, 0.5, 0.7))
    assert cost
    assert tuple(cost)[:3] == pytest.approx((0.9, 0.75, 1.05))
    assert relative(Price(1, "EUR"), Price(1, "USD"), Quantity(1, 1, 1)) is None


def test_the_page_has_work_per_price_only_if_a_price_is_stated(two: Run) -> None:
    def rows(run: Run) -> list[tuple[str, ...]]:
        section = scaling.declared.section(run, analyse(run))
        assert section
        return [row for table in section.tables if "assumption" in table.caption for row in table.rows]

    assert not rows(two)
    shown = rows(stated(two, node="3000 EUR", one_processor_node="2000 EUR"))
    assert shown
    assert {row[3] for row in shown} == {"3,000 EUR", "2,000 EUR"}
    assert any(row[4] == "base" for row in shown)
    assert described(TWO_PROCESSORS).topology.cores
