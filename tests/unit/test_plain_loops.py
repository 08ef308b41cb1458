"""Plain loops by compiler, and every core on a product of its own: what their sections say."""

from pathlib import Path

import pytest
from tests.simulation import TWO_CORES, simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.plan import Factor
from assay.plan import Options
from assay.report.section import Section
from assay.report.sections import sections
from assay.simulation import Law

WITH_BLAS = Options(libraries={"blas": "/simulated/libblas.so"})
MIXES = [f"mix-{number}" for number in range(1, 9)]


def section(path: Path, name: str) -> Section:
    run = store.load(path)
    return next(each for each in sections(run, analyse(run)) if each.id == name)


def test_mixes_stand_in_rows_and_compilers_in_columns(tmp_path: Path) -> None:
    factor = Factor("toolchain", ("gcc", "clang"), "toolchain")
    options = Options(libraries=WITH_BLAS.libraries, factors=(factor,))
    found = section(simulated_run(tmp_path, Law(), study="compilers", options=options), "flops-plain")
    table, listed = found.tables
    assert table.columns == ("Mix", "gcc", "clang")
    assert [row[0] for row in table.rows] == MIXES
    assert all("FLOP/s" in cell for row in table.rows for cell in row[1:])
    assert len(listed.rows) == 2 * len(MIXES)
    assert all(row[listed.columns.index("Of limit")] for row in listed.rows)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_core_among_all_stands_beside_a_core_alone(tmp_path: Path, share: float) -> None:
    law = Law(blas_share=share)
    path = simulated_run(tmp_path, law, description=TWO_CORES, study="dgemm", options=WITH_BLAS)
    found = section(path, "matrix-product")
    assert "When every core computes its own product" in found.meaning[0]
    products = [e for e in analyse(store.load(path)).estimates if e.benchmark == "dgemm" and e.params["n"] == 2048]
    (own,) = (e for e in products if e.params["product"] == "own")
    assert own.limit
    assert (own.median or 0) / own.limit.value == pytest.approx(share, rel=0.05)
    single = {(e.placement.label, str(e.params["format"])): e for e in products if e.params["product"] == "shared"}
    for label in ("all", "one-core"):
        double, half = single[label, "fp64"].limit, single[label, "fp32"].limit
        assert double
        assert half
        assert half.value == pytest.approx(2 * double.value, rel=0.1)  # the peak of the precision
