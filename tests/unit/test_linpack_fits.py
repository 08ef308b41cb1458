"""In which cache the matrix of LINPACK fits, at the border of each; rows of plain loops, library and Fortran."""

import pytest
from tests.simulation import simulated_run
from tests.unit.figure_columns import set_right
from tests.unit.test_hpl import WITH_BLAS

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.report.section import Section
from assay.report.sections import sections
from assay.simulation import Law

MACHINE = "pack:1 numa:1(memory=8GB) l3:1(size=1MiB) l2:1(size=64KiB) l1:1(size=32KiB) core:1 pu:1"


@pytest.fixture(scope="module")
def section(tmp_path_factory: pytest.TempPathFactory) -> Section:
    leading = (64, 65, 128, 129, 2048, 2049)
    measures = (
        Measure("linpack", ("one-core",), axes={"n": 64, "leading": leading, "method": "plain"}),
        Measure("linpack_fortran", ("one-core",), axes={"n": 64, "leading": 64}),
        Measure("linpack", ("one-core",), axes={"n": 1000, "method": "lapack"}),
    )
    study = Study("LINPACK", "?", measures, launches=3)
    folder = tmp_path_factory.mktemp("linpack")
    run = store.load(
        simulated_run(folder, Law(sampled_s=0.0), description=MACHINE, study=study, options=WITH_BLAS)
    )
    return next(each for each in sections(run, analyse(run)) if each.id == "linpack")


def test_a_matrix_fits_the_nearest_cache_of_its_size_or_larger(section: Section) -> None:
    """64 columns of 64 numbers of 8 B are 32 KiB."""
    (table,) = section.tables
    rows = [dict(zip(map(str, table.columns), map(str, row), strict=True)) for row in table.rows]
    found = {int(row["Leading dimension"]): row["Fits"] for row in rows if row["Method"] == "plain"}
    assert found == {64: "L1", 65: "L2", 128: "L2", 129: "L3", 2048: "L3", 2049: "memory"}
    assert [row["Fits"] for row in rows if row["Method"] == "lapack"] == ["memory"]


def test_each_order_has_a_headline_and_figures_are_set_as_figures(section: Section) -> None:
    assert set_right(section.tables, {"n", "Leading dimension"})  # these two name a row
    assert [str(each.label).partition(",")[0] for each in section.headlines] == ["LINPACK 64", "LINPACK 1000"]
