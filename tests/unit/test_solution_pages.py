"""Tables of solutions (HPCG, NAS, weather), overlap and products: cells from estimates and counts."""

import msgspec
import numpy as np
import pytest
from tests.simulation import simulated_run
from tests.unit.figure_columns import set_right
from tests.unit.test_hpl import WITH_BLAS

from assay import store
from assay.analyse import analyse, examine
from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.overlap import Overlap
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.units import format_quantity
from assay.report import formatting
from assay.report.section import Section, Table
from assay.report.sections import sections
from assay.simulation import Law
from assay.topics.collectives.models import overlap
from assay.topics.kernels.benchmarks.hpcg import counts
from assay.topics.kernels.sizes import demand


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    measures = (
        Measure("hpcg", ("2x1",), axes={"n": (16, 32)}),
        Measure(
            "nas", ("all", "one-core"), axes={"npb": ("ep", "mg", "cg"), "npb-class": "W", "coupling": "sharing"}
        ),
        Measure("weather", ("2x1", "1x1"), axes={"nx": 400}),
        Measure("overlap", ("pair",), axes={"operation": "bcast", "bytes": 65536, "tests": (0, 100)}),
        Measure("hpl", ("1x1",), axes={"n": 512, "nb": 128}),
        Measure("dgemm", ("one-core",), axes={"n": (256, 1024)}),
    )
    study = Study("Solutions", "?", measures, launches=3)
    return store.load(simulated_run(tmp_path_factory.mktemp("pages"), Law(), study=study, options=WITH_BLAS))


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


def section(run: Run, analysis: Analysis, name: str) -> Section:
    return next(each for each in sections(run, analysis) if each.id == name)


def rows(table: Table) -> list[dict[str, str]]:
    return [dict(zip(map(str, table.columns), map(str, row), strict=True)) for row in table.rows]


def of(analysis: Analysis, benchmark: str, metric: str = "rate") -> list[Estimate]:
    every = (e for e in analysis.estimates if (e.benchmark, e.metric) == (benchmark, metric))
    return [e for e in every if e.median]


def phases(analysis: Analysis, rate: Estimate) -> dict[str, float]:
    """Seconds of each phase of a solution."""
    own = (e for e in analysis.estimates if e.case == rate.case and e.unit == "s" and e.kernel != rate.kernel)
    return {e.kernel: e.median for e in own if e.median}


PARTS = {
    "multigrid": "mg",
    "matrix product": "spmv",
    "sums": "ddot",
    "vector updates": "waxpby",
    "exchange": "exchange",
}


def test_parts_of_hpcg_are_those_of_the_largest_box(run: Run, analysis: Analysis) -> None:
    _, parts = section(run, analysis, "hpcg").tables
    rate = next(e for e in of(analysis, "hpcg") if e.params["n"] == 32)
    seconds = phases(analysis, rate)
    counted = counts(2, 32, int(rate.params["cg-iterations"]))
    found = rows(parts)
    assert [row["Part"] for row in found] == list(PARTS)
    for row in found:
        part = PARTS[row["Part"]]
        assert row["Solution"].startswith("box 32³")
        assert row["Share"] == formatting.percent(seconds[part] / sum(seconds.values()))
        assert row["Time"] == formatting.seconds(seconds[part])
        if part == "exchange":
            assert row["Operations"] == row["Traffic"] == ""
        else:
            assert row["Operations"] == format_quantity(counted[part].flops / seconds[part], "flop/s")
            assert row["Traffic"] == format_quantity(counted[part].bytes / seconds[part], "B/s")
    best = max(of(analysis, "hpcg"), key=lambda e: e.median or 0.0)
    shares = phases(analysis, best)
    meaning = " ".join(map(str, section(run, analysis, "hpcg").meaning))
    assert (
        f"The preconditioner takes {formatting.percent(shares['mg'] / sum(shares.values()))} of its time"
        in meaning
    )
    assert f"with boxes of {best.params['n']}³ points" in meaning


def test_a_kernel_has_the_time_of_its_operations_and_the_share_of_its_messages(
    run: Run, analysis: Analysis
) -> None:
    (table,) = section(run, analysis, "nas").tables
    names = {
        f"{str(e.params['npb']).upper()}, class W, {'all cores' if e.placement.label == 'all' else 'one core'}": e
        for e in of(analysis, "nas")
    }
    found = rows(table)
    assert {row["Kernel"] for row in found} == set(names)
    for row in found:
        rate = names[row["Kernel"]]
        seconds = demand(str(rate.params["npb"]), "W").operations / (rate.median or 1.0)
        assert row["Time"] == formatting.seconds(seconds)
        messages = phases(analysis, rate).get("messages")
        assert row["Messages"] == (formatting.percent(messages / seconds) if messages else "")
        bound = [e for e in analysis.estimates if e.case == rate.case and e.metric in {"arithmetic", "traffic"}]
        (one,) = (e for e in bound if e.median)
        assert row["Operations or traffic"] == format_quantity(one.median or 0.0, one.unit)


def test_an_unknown_class_has_no_time(run: Run, analysis: Analysis) -> None:
    estimates = tuple(
        msgspec.structs.replace(e, params={**e.params, "npb-class": "X"}) if e.benchmark == "nas" else e
        for e in analysis.estimates
    )
    (table,) = section(run, msgspec.structs.replace(analysis, estimates=estimates), "nas").tables
    assert not {"Time", "Messages"} & set(map(str, table.columns))
    assert "Rate" in table.columns


def test_the_largest_share_of_messages_is_named(run: Run, analysis: Analysis) -> None:
    for name, benchmark, phase in (("nas", "nas", "messages"), ("weather", "weather", "halo")):
        shares = []
        for rate in of(analysis, benchmark):
            seconds = phases(analysis, rate)
            shares.append(seconds.get(phase, 0.0) / sum(seconds.values()))
        meaning = " ".join(map(str, section(run, analysis, name).meaning))
        assert f": {formatting.percent(max(shares))}." in meaning


def test_columns_of_figures_are_set_as_figures(run: Run, analysis: Analysis) -> None:
    for name, levels in (
        ("hpcg", ("Iterations",)),
        ("nas", ()),
        ("weather", ("Steps",)),
        ("overlap", ()),
    ):
        tables = section(run, analysis, name).tables
        assert set_right(tables, levels=levels)


def test_a_share_of_the_product_is_of_the_largest_one(run: Run, analysis: Analysis) -> None:
    (solution,) = of(analysis, "hpl")
    products = {int(e.params["n"]): e.median or 0.0 for e in of(analysis, "dgemm")}
    assert set(products) == {256, 1024}
    rate = solution.median or 0.0

    def cell(factor: float) -> str:
        estimates = tuple(
            msgspec.structs.replace(e, value=Quantity(factor * rate, rate, rate, e.unit, "range"))
            if e.benchmark == "dgemm" and e.metric == "rate" and e.params["n"] == 1024
            else e
            for e in analysis.estimates
        )
        changed = msgspec.structs.replace(analysis, estimates=estimates)
        (row,) = rows(section(run, changed, "system").tables[0])
        return row["Of DGEMM"]

    assert cell(2.0) == "50.0 %"
    assert cell(1 / 1.019) == "101.9 %"
    assert cell(1 / 1.021) == "none: the product of n = 1024 is slower"


@pytest.fixture(scope="module")
def known(run: Run) -> RunEstimates:
    return examine(run)


@pytest.mark.parametrize("blocks", [3, 6])
def test_the_hidden_share_is_what_both_at_once_save_of_the_shorter_one(known: RunEstimates, blocks: int) -> None:
    times = {
        "pure": [1.0, 1.1, 0.9, 1.05, 0.95, 1.0][:blocks],
        "computing": [2.0, 2.2, 1.8, 2.1, 1.9, 2.0][:blocks],
        "overlapped": [2.5, 2.6, 2.4, 2.5, 2.5, 2.5][:blocks],
    }
    measured = []
    for each in known.measured:
        e = each.estimate
        if e.benchmark == "overlap" and e.params["tests"] == 100:
            values = times[e.kernel]
            value = Quantity(
                float(np.median(values)), min(values), max(values), "s", "interval" if blocks == 6 else "range"
            )
            launches = tuple(LaunchMedian(block, None, one) for block, one in enumerate(values))
            measured.append(Measured(msgspec.structs.replace(e, value=value, launches=blocks), launches))
    (model,) = overlap.fit(RunEstimates(known.run, tuple(measured), ()))
    assert isinstance(model, Overlap)
    rows_of = zip(times["pure"], times["computing"], times["overlapped"], strict=True)
    shares = [(a + b - c) / min(a, b) for a, b, c in rows_of]
    if blocks == 3:
        assert model.hidden.parts == pytest.approx((np.median(shares), min(shares), max(shares)))
        assert model.hidden.basis == "range"
    else:
        assert model.hidden.value == pytest.approx(1.0 + 2.0 - 2.5)
        assert model.hidden.basis == "interval"
        assert min(shares) <= model.hidden.lo <= model.hidden.value <= model.hidden.hi <= max(shares)
    lacking = tuple(each for each in measured if each.estimate.kernel != "computing")
    assert list(overlap.fit(RunEstimates(known.run, lacking, ()))) == []
