"""The section of what was varied, from planted comparisons: cells, order, and the largest difference."""

import re

import msgspec
import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.comparison import Comparison
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.result import Analysis
from assay.model.run import Run
from assay.plan import Options, parse
from assay.report.section import Section
from assay.report.sections import sections
from assay.simulation import Law

STUDY = Study(
    "Varied", "?", (Measure("stream", ("one-core", "all"), axes={"elements": (100_000, 20_000_000)}),), launches=6
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    options = Options(factors=parse(["stores=ordinary,non-temporal"], STUDY, {}))
    return store.load(
        simulated_run(tmp_path_factory.mktemp("varied"), Law(sampled_s=0.0), study=STUDY, options=options)
    )


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


def section(run: Run, analysis: Analysis) -> Section:
    return next(each for each in sections(run, analysis) if each.id == "comparisons")


def varied(analysis: Analysis) -> list[Comparison]:
    return [each for each in analysis.comparisons if each.varied and not each.is_control]


def planted(analysis: Analysis, *ratios: Quantity, **fields: object) -> Analysis:
    """The analysis with these ratios of the first varied comparisons alone; larger ones are `faster`."""
    found = [
        msgspec.structs.replace(
            each,
            value=ratio,
            verdict="faster" if ratio.lo > 1 else "slower" if ratio.hi < 1 else "inconclusive",
            **fields,
        )
        for each, ratio in zip(varied(analysis), ratios, strict=False)
    ]
    return msgspec.structs.replace(analysis, comparisons=tuple(found))


def ratio(value: float, lo: float, hi: float) -> Quantity:
    return Quantity(value, lo, hi, "", "interval")


def test_levels_are_compared_at_the_same_chosen_number(analysis: Analysis) -> None:
    """The number of elements follows from the placement, but here the study chose two."""
    estimates = {each.id: each for each in analysis.estimates}
    found = analysis.comparisons
    assert found
    for each in found:
        a, b = estimates.get(each.a), estimates.get(each.b)
        assert b
        assert a is None or a.params["elements"] == b.params["elements"]
    assert len(varied(analysis)) == 4 * 2 * 2  # kernels, placements, numbers of elements


def test_a_row_has_the_cells_of_its_comparison(run: Run, analysis: Analysis) -> None:
    one = planted(
        analysis, ratio(1.25, 1.2, 1.3), margin=0.02, detectable=0.034, adjusted_p=0.0123, p=0.01, blocks=7
    )
    (table,) = (each for each in section(run, one).tables if "Verdict" in each.columns)
    (row,) = (dict(zip(table.columns, cells, strict=True)) for cells in table.rows)
    assert row["Levels"] == "non-temporal against ordinary"
    assert (row["Ratio"], row["Interval"], row["Basis"]) == ("1.25", "[1.20, 1.30]", "95 % interval, 7 pairs")
    assert (row["Verdict"], row["Margin"], row["Detectable"], row["Adjusted p"]) == (
        "faster",
        "2.0 %",
        "3.4 %",
        "0.012",
    )
    bare = planted(analysis, ratio(1.25, 1.2, 1.3), detectable=None, adjusted_p=None)
    (table,) = (each for each in section(run, bare).tables if "Verdict" in each.columns)
    assert table.rows[0][-2:] == ("none", "")


@pytest.mark.parametrize(
    ("ratios", "levels", "largest"),
    [
        ((1.5, 0.8, 1.1), ("non-temporal", "ordinary"), "1.50"),
        ((1.2, 0.5, 1.9), ("ordinary", "non-temporal"), "2.00"),
        ((1.2, 0.55, 1.9), ("non-temporal", "ordinary"), "1.90"),
        ((1.01, 1.02, 0.97), ("ordinary", "non-temporal"), "1.03"),
    ],
)
def test_the_largest_difference_is_the_farthest_from_1_either_way(
    run: Run, analysis: Analysis, ratios: tuple[float, ...], levels: tuple[str, str], largest: str
) -> None:
    """The faster level is named first, with the ratio that it is faster by."""
    faster, slower = levels
    found = planted(analysis, *(ratio(each, each * 0.999, each * 1.001) for each in ratios))
    said = " ".join(map(str, section(run, found).meaning))
    assert f"stores {faster} is {largest} [" in said
    assert f"] times as fast as stores {slower};" in said
    unsure = planted(analysis, ratio(1.5, 0.9, 2.0))
    assert "largest certain difference" not in " ".join(map(str, section(run, unsure).meaning))


@pytest.mark.parametrize(
    ("resolutions", "shown"),
    [
        ((0.01, 0.02, 0.05), ["2.0 %", "5.0 %"]),  # the median and the worst of the cases
        ((0.02, 0.03, 1.0), ["3.0 %", "100 %"]),
        ((0.02, 1.01), ["101 %", "101 %"]),
        ((None, 0.03), ["3.0 %"]),
        ((None, None), []),
    ],
)
def test_the_differences_of_a_level_to_itself_are_told(
    run: Run, analysis: Analysis, resolutions: tuple[float | None, ...], shown: list[str]
) -> None:
    some = planted(analysis, *[ratio(1.2, 1.1, 1.3)] * len(resolutions)).comparisons
    found = [msgspec.structs.replace(each, resolution=own) for each, own in zip(some, resolutions, strict=True)]
    meaning = section(run, msgspec.structs.replace(analysis, comparisons=tuple(found))).meaning
    told = next((str(each) for each in meaning if str(each).startswith("A against A")), "")
    assert re.findall(r"[\d.]+ %", told) == shown


def test_a_mark_has_its_ratio_its_ends_and_the_band_of_no_difference(run: Run, analysis: Analysis) -> None:
    found = section(run, planted(analysis, ratio(1.25, 1.2, 1.3), ratio(0.9, 0.85, 0.95), margin=0.03))
    (figure,) = found.figures
    assert "up to 3.0 % on each side" in figure.caption
    assert "1.25 [1.20, 1.30], faster" in figure.result
    assert "0.900 [0.850, 0.950], slower" in figure.result
    assert "comparisons; the table shows all" not in figure.caption
    uneven = [
        msgspec.structs.replace(each, margin=margin)
        for each, margin in zip(varied(analysis)[:2], (0.02, 0.07), strict=True)
    ]
    shown = section(run, msgspec.structs.replace(analysis, comparisons=tuple(uneven)))
    assert "up to 7.0 % on each side" in shown.figures[0].caption


@pytest.mark.parametrize("kernel", ["copy", "triad"])
def test_a_figure_has_36_rows_at_most(run: Run, analysis: Analysis, kernel: str) -> None:
    """Those of the main kernel; of another one where that has none."""
    one = next(each for each in varied(analysis) if kernel in each.a.split("/"))

    def shown(count: int) -> str:
        every = tuple(msgspec.structs.replace(one, id=f"{number}") for number in range(count))
        return section(run, msgspec.structs.replace(analysis, comparisons=every)).figures[0].caption

    assert "the table shows all" not in shown(36)
    assert "The chart shows 36 of 37 comparisons; the table shows all." in shown(37)


def test_controls_are_a_table_of_their_own(run: Run, analysis: Analysis) -> None:
    (table,) = (each for each in section(run, analysis).tables if "Resolution" in each.columns)
    controls = [each for each in analysis.comparisons if each.is_control]
    assert [row[0] for row in table.rows] == [each.b for each in controls]
    known = {each.b: each.resolution for each in varied(analysis)}
    for row, each in zip(table.rows, controls, strict=True):
        own = known.get(each.b)
        assert row[-1] == ("" if own is None else f"{100 * own:.1f} %")
    alone = msgspec.structs.replace(analysis, comparisons=tuple(varied(analysis)))
    assert not any("Resolution" in each.columns for each in section(run, alone).tables)
