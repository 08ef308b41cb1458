"""Declared sections and rules: what the engines make of a declaration, whatever its subject."""

import msgspec
import pytest
from tests.unit.report_example import Example, example

from assay.analyse.evidence import Evidence
from assay.analyse.paired import Claim, Direction, PairedRatio
from assay.model.compared import ComparedPair
from assay.model.comparison import Comparison
from assay.model.quantity import Quantity
from assay.model.result import Estimate, Finding
from assay.model.text import text
from assay.report.declared import Declared, Listing
from assay.report.section import headings


@pytest.fixture(scope="module")
def here() -> Example:
    return example()


def _rows(*rows: tuple[str, ...]) -> Listing:
    return Listing("What", headings("Row", "Median", "By"), lambda _scene: rows, {1}, optional={1, 2})


def test_a_section_has_its_words_its_tables_and_the_estimates_of_its_benchmark(here: Example) -> None:
    declared = Declared(
        order=1,
        id="copies",
        introduction="Copies.",
        benchmark="memcpy",
        sentences=lambda _scene: ("Fast.", "Very."),
    )
    drawn = declared.section(here.run, here.analysis)
    assert drawn
    assert (drawn.id, drawn.meaning) == ("copies", ("Copies. Fast.", "Very."))
    assert drawn.benchmarks == {"memcpy"}
    assert {each.benchmark for each in drawn.estimates} == {"memcpy"}
    assert declared.tables(here.run, here.analysis) == ()


def test_a_benchmark_that_was_not_planned_has_no_section(here: Example) -> None:
    assert Declared(order=1, id="none", benchmark="latency").section(here.run, here.analysis) is None


def test_an_optional_column_without_cells_is_left_out_and_figures_stay_figures(here: Example) -> None:
    declared = Declared(
        order=1, id="copies", benchmark="memcpy", shared_tables=(_rows(("a", "", "x"), ("b", "", "y")),)
    )
    (table,) = declared.tables(here.run, here.analysis)
    assert (table.columns, table.rows) == (("Row", "By"), (("a", "x"), ("b", "y")))
    assert not table.numeric
    declared = Declared(order=1, id="copies", benchmark="memcpy", shared_tables=(_rows(("a", "1", "")), _rows()))
    (table,) = declared.tables(here.run, here.analysis)
    assert table.columns == ("Row", "Median")
    assert table.numeric == {1}


def _found(here: Example, ratio: float, direction: Direction, better: str = "higher") -> list[Finding]:
    a, b = (_named(each, better) for each in here.analysis.estimates[:2])
    value = Quantity(ratio, 0.98 * ratio, 1.02 * ratio, "", "interval")
    comparison = Comparison(
        id="a : b",
        a=a.id,
        b=b.id,
        value=value,
        blocks=6,
        verdict="",
        differ="colour",
        level="one",
        base="two",
        margin=0.01,
    )
    evidence = Evidence(
        run=here.run,
        measured=(),
        pairs=(ComparedPair(a, b, comparison),),
        predictions=(),
        outcomes=(),
        noise=here.analysis.noise,
    )
    rule = PairedRatio(
        name="colour",
        asks=text("Does it matter?"),
        threshold=text("one / two"),
        differ="colour",
        border=1.1,
        claims=(Claim(direction, text("{label}: {change} %"), text("try another")),),
        missing=text("Nothing was painted"),
    )
    return list(rule.assess(evidence))


def _named(estimate: Estimate, better: str) -> Estimate:
    return msgspec.structs.replace(estimate, better=better)


@pytest.mark.parametrize(
    ("ratio", "direction", "better", "tested"),
    [
        (1.5, "more", "higher", 1.5),
        (0.5, "less", "higher", 2.0),
        (1.5, "faster", "higher", 1.5),
        (0.5, "faster", "lower", 2.0),
        (1.5, "slower", "lower", 1.5),
        (0.5, "slower", "higher", 2.0),
    ],
)
def test_a_ratio_is_tested_in_the_direction_that_is_claimed(
    here: Example, ratio: float, direction: Direction, better: str, tested: float
) -> None:
    (found,) = _found(here, ratio, direction, better)
    assert (found.rule, found.status, found.severity) == ("colour", "observed", "advice")
    assert found.numbers["statistic"].value == pytest.approx(tested)
    assert found.numbers["statistic"].lo == pytest.approx(0.98 * tested, rel=1e-3)
    assert found.numbers["threshold"].value == 1.1
    assert found.claim.endswith(": 50 %")
    assert _found(here, 1 / ratio, direction, better) == []
    assert _found(here, 1.1, direction, better) == []  # its interval reaches below the border
