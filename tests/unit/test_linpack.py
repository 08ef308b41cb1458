"""LINPACK 100 and 1000: leading dimensions, the cache of each matrix, comparison with published figures."""

import msgspec
import pytest
from tests.simulation import TWO_CORES, plan_for, simulated_run

from assay import store, studies
from assay.analyse import analyse
from assay.compare.runs import between
from assay.model.run import Run
from assay.plan import Options, optional_functions
from assay.report.sections import sections
from assay.simulation import Law

WITH_BLAS = Options(libraries={"blas": "/simulated/libblas.so"})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("linpack")
    return store.load(simulated_run(folder, Law(), description=TWO_CORES, study="linpack", options=WITH_BLAS))


def test_each_order_has_its_leading_dimensions_and_a_library_is_for_the_larger_one(run: Run) -> None:
    found = [each for each in analyse(run).estimates if each.benchmark == "linpack"]
    assert {(each.params["n"], each.params["leading"], each.params["method"]) for each in found} == {
        (100, 200, "plain"),
        (100, 201, "plain"),
        (1000, 1001, "plain"),
        (1000, 1001, "lapack"),
    }
    assert all(each.limit and each.status == "complete" for each in found)


def test_the_table_names_the_cache_of_each_matrix_and_has_fortran_and_c(run: Run) -> None:
    shown = next(each for each in sections(run, analyse(run)) if each.id == "linpack")
    assert [each.estimate.params["n"] for each in shown.headlines] == [100, 1000]
    (table,) = shown.tables
    fits = {row[table.columns.index("n")]: row[table.columns.index("Fits")] for row in table.rows}
    assert fits == {"100": "L2", "1000": "L3"}
    assert {row[0] for row in table.rows} == {"plain", "lapack", "Fortran"}


def test_published_figures_without_leading_dimension_and_method_are_drawn() -> None:
    published = store.load(store.find("leo"))
    shown = next(each for each in sections(published, analyse(published)) if each.id == "linpack")
    (table,) = shown.tables
    assert len(table.rows) == len(shown.figures[0].result.split("; "))
    assert "Fits" not in table.columns


def test_a_published_figure_is_compared_with_the_same_order_without_a_library(run: Run) -> None:
    leo = store.load(store.find("leo"))
    for judged, base in ((run, leo), (leo, run)):
        pairs = [each for each in between(judged, base).pairs if "linpack" in each.a.benchmark]
        (pair,) = pairs
        ours = pair.a if judged is run else pair.b
        assert (ours.benchmark, ours.params["n"]) == ("linpack_fortran", 100)  # leo's is by ifc
        assert pair.comparison.verdict == "inconclusive"


def test_a_library_without_lapack_leaves_its_method_out_of_the_plan() -> None:
    library = WITH_BLAS.libraries["blas"]
    plan = plan_for(
        TWO_CORES, "linpack", msgspec.structs.replace(WITH_BLAS, lacking={library: frozenset({"dgetrf_"})})
    )
    assert {case.params["method"] for case in plan.studied if case.benchmark == "linpack"} == {"plain"}
    (left,) = (left for left in plan.left_out if "method=lapack" in left.request)
    assert left.reason == f"{library} has no dgetrf_"
    assert optional_functions(studies.get("linpack")) == ("dgetrf_",)
