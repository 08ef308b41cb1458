"""A system in mixed precision: its orders, figures and phases, and the report; all simulated."""

import msgspec
import pytest
from tests.simulation import TWO_CORES, described, plan_for, simulated_run

from assay import store
from assay.analyse import analyse
from assay.catalogue import benchmarks
from assay.model.benchmark import Resources
from assay.model.placement import Memory, Placement
from assay.model.plan import Plan
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.plan import Options
from assay.report.sections import sections
from assay.simulation import Law
from assay.topics.linear_algebra.benchmarks.hpl import operations
from assay.topics.linear_algebra.benchmarks.mxp import benchmark

MXP = benchmarks.get("mxp")
WITH_BLAS = Options(libraries={"blas": "/simulated/libblas.so"})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.load(simulated_run(tmp_path_factory.mktemp("mxp"), Law(), study="mxp", options=WITH_BLAS))


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


def rates(analysis: Analysis) -> dict[int, Estimate]:
    found = [each for each in analysis.estimates if each.benchmark == "mxp" and each.metric == "rate"]
    return {int(each.params["n"]): each for each in found if each.params["format"] == "fp32"}


def test_orders_are_doubled_as_far_as_memory_goes() -> None:
    placement = Placement("all", "all", (0, 1), Memory(), ("n1",))

    def orders(memory: int) -> list[int]:
        points = MXP.points(Resources(placement, described().topology, memory), {"nb": 512})
        return [int(each["n"]) for each in points]

    assert orders(2**20) == []
    assert orders(4 * 10**8) == [1024, 2048, 4096]
    single, half = ({"n": 1000, "nb": 100, "format": each} for each in ("fp32", "bf16"))
    assert MXP.memory_bytes(single, placement) == 12 * 10**6
    assert MXP.memory_bytes(half, placement) == 12 * 10**6 + 2 * 200 * 1000


def test_the_limit_of_a_rate_is_the_peak_of_single_precision(analysis: Analysis) -> None:
    found = rates(analysis)
    assert len(found) > 2
    largest = found[max(found)]
    assert largest.launches == 6
    assert largest.basis == "interval"
    assert largest.median
    assert largest.limit
    assert 0.4 < largest.median / largest.limit.value < 1
    peaks = [e.median for e in analysis.estimates if e.benchmark == "flops" and e.params.get("format") == "fp32"]
    assert largest.limit.value == max(each for each in peaks if each and each > 1e9)


def test_phases_add_up_to_the_time_of_a_solution(analysis: Analysis) -> None:
    for order, rate in rates(analysis).items():
        phases = [
            each for each in analysis.estimates if each.case == rate.case and each.kernel in benchmark.kernels[1:]
        ]
        assert rate.median
        whole = operations(order) / rate.median
        assert sum(each.median or 0.0 for each in phases) == pytest.approx(whole, rel=0.02)


def test_the_section_shows_the_share_of_the_product(run: Run, analysis: Analysis) -> None:
    found = next(each for each in sections(run, analysis) if each.id == "mixed-system")
    assert {each.id for each in found.figures} == {"figure-mixed-system", "figure-mixed-system-phases"}
    assert "of its time, the refinement" in " ".join(found.meaning)
    (table,) = found.tables
    of_product = [row[table.columns.index("Of GEMM")] for row in table.rows]
    assert all(each.endswith(" %") for each in of_product)
    assert {row[table.columns.index("Steps")] for row in table.rows} == {"3"}
    assert {row[0] for row in table.rows} == {"all cores, fp32", "all cores, bf16"}


def test_products_of_16_bit_numbers_have_no_limit(analysis: Analysis) -> None:
    found = [each for each in analysis.estimates if each.params.get("format") == "bf16" and each.unit == "flop/s"]
    assert {each.benchmark for each in found} == {"dgemm", "mxp"}
    assert all(each.median and each.limit is None for each in found)


def test_functions_that_a_library_lacks_are_left_out_with_the_reason() -> None:
    library = WITH_BLAS.libraries["blas"]

    def planned(*lacking: str) -> Plan:
        options = msgspec.structs.replace(WITH_BLAS, lacking={library: frozenset(lacking)})
        return plan_for(TWO_CORES, "mxp", options)

    one_of_two = planned("cblas_sbgemm")
    assert {case.params["format"] for case in one_of_two.cases if case.benchmark == "mxp"} == {"fp32", "bf16"}
    neither = planned("cblas_sbgemm", "cblas_gemm_bf16bf16f32")
    assert {case.params["format"] for case in neither.cases if case.benchmark == "mxp"} == {"fp32"}
    reasons = {left.request.partition(" ")[0]: left.reason for left in neither.left_out}
    assert reasons["mxp"] == reasons["dgemm"] == f"{library} has no cblas_sbgemm and no cblas_gemm_bf16bf16f32"
