"""HPL-MxP's program as it is started: orders, libraries, and what it refuses."""

import subprocess
from pathlib import Path

import pytest
from tests.integration.test_native_blas import compiled
from tests.mpi_ranks import cpus
from tests.native_programs import ProgramOutput, start
from tests.planted_programs import planted

from assay import toolchain
from assay.model.record import End, FigureOfMerit, Verdict
from assay.model.toolchain import Build
from assay.topics.linear_algebra.benchmarks.hpl import operations
from assay.topics.linear_algebra.benchmarks.mxp import benchmark

pytestmark = pytest.mark.native

#: All that LU calls, and nothing is done.
_WRONG = """
void cblas_dgemm(void) {} void cblas_dtrsm(void) {} void cblas_dgemv(void) {} void cblas_dtrsv(void) {}
void cblas_sgemm(void) {} void cblas_strsm(void) {} void cblas_sgemv(void) {} void cblas_strsv(void) {}
unsigned long cblas_idamax(int n, const double* x, int step) { return 0; }
unsigned long cblas_isamax(int n, const float* x, int step) { return 0; }
"""


@pytest.fixture(scope="module")
def blas() -> str:
    return f"blas={toolchain.find_libraries('blas')[0].file}"


def run(build: Build, blas: str, *arguments: str) -> ProgramOutput:
    return start(build.programs["mxp"], "--library", blas, "--seconds", "0.05", *arguments)


def verdict(result: ProgramOutput) -> Verdict:
    (only,) = (each for each in result.records if isinstance(each, Verdict))
    return only


@pytest.mark.parametrize("block", ["32", "100", "512"])
@pytest.mark.parametrize("order", [2, 33, 300, 641])
def test_a_system_is_solved_to_double_precision(build: Build, blas: str, order: int, block: str) -> None:
    result = run(build, blas, "--n", str(order), "--nb", block)
    assert result.ends == [End("complete")]
    assert verdict(result).passed
    # LU in double precision leaves no more: that in single precision alone leaves a thousand times as much.
    assert verdict(result).error < 1
    figures = [each for each in result.records if isinstance(each, FigureOfMerit)]
    for figure in figures:
        assert figure.seconds
        assert figure.value == pytest.approx(operations(order) / figure.seconds)
        assert set(figure.phases) == set(benchmark.kernels[1:])


def test_two_cores_give_the_library_two_threads(build: Build, blas: str) -> None:
    first, second = cpus(2)
    result = run(build, blas, "--n", "600", "--cpus", f"{first},{second}")
    assert result.header.libraries["blas"]["threads"] == "2"
    assert sorted(result.header.ranks[0].cpus) == sorted((first, second))
    assert verdict(result).passed


def test_a_wrong_library_is_a_failed_verdict(build: Build, tmp_path: Path) -> None:
    result = run(build, f"blas={compiled(tmp_path, _WRONG)}", "--n", "300", "--nb", "32")
    assert result.exit_code == 1
    assert not verdict(result).passed
    assert [each.status for each in result.ends] == ["failed"]


#: Products of 16-bit numbers in plain loops, spoilt by a factor; another library has all the rest.
_BESIDE = """
#include <stdlib.h>
static float wide(unsigned short half) {
    union { unsigned bits; float number; } of = {(unsigned)half << 16};
    return of.number;
}
void cblas_sbgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const unsigned short* a, int lda,
                  const unsigned short* b, int ldb, float beta, float* c, int ldc) {
    if (order != 102 || ta != 111 || tb != 111) abort();
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
            float sum = 0;
            for (int p = 0; p < k; ++p) sum += wide(a[i + (long)p * lda]) * wide(b[p + (long)j * ldb]);
            c[i + (long)j * ldc] = beta * c[i + (long)j * ldc] + SPOILT * alpha * sum;
        }
}
void scipy_cblas_sbgemm(int, int, int, int, int, int, float, const unsigned short*, int, const unsigned short*,
                        int, float, float*, int) __attribute__((alias("cblas_sbgemm")));
"""


def beside(folder: Path, spoilt: str) -> str:
    """A library that has such products and, by another one, everything else."""
    whole = Path(toolchain.find_libraries("blas")[0].file)
    folder.mkdir()
    (folder / "beside.c").write_text(_BESIDE.replace("SPOILT", spoilt))
    made = folder / "libbeside.so"
    linked = ["-Wl,--no-as-needed", str(whole), f"-Wl,-rpath,{whole.parent}"]
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", folder / "beside.c", *linked, "-o", made], check=True)
    return f"blas={made}"


def steps(result: ProgramOutput) -> int:
    """Of the refinement of the last solution."""
    return len([each for each in result.records if isinstance(each, FigureOfMerit)][-1].steps["refinement"])


def test_factors_of_half_the_bits_cost_steps_and_no_accuracy(build: Build, blas: str, tmp_path: Path) -> None:
    order = ("--n", "500", "--nb", "48")
    single = run(build, blas, *order)
    assert verdict(single).passed
    found = {}
    for name, spoilt in (("right", "1"), ("halved", ".5f"), ("none", "(0.f / 0.f)")):
        result = run(build, beside(tmp_path / name, spoilt), *order, "--format", "bf16")
        assert result.header.params["format"] == "bf16"
        found[name] = result
    assert verdict(found["right"]).passed
    assert verdict(found["right"]).error < 1
    # A preconditioner that is half right is one, and costs more steps.
    assert 1 <= steps(single) <= steps(found["right"]) < steps(found["halved"]) <= 50
    assert found["none"].exit_code == 1
    assert not verdict(found["none"]).passed


def test_a_library_without_products_of_half_the_bits_is_refused(build: Build) -> None:
    blis = next(each for each in toolchain.find_libraries("blas") if each.name == "blis-pthread")
    result = run(build, f"blas={blis.file}", "--n", "300", "--format", "bf16")
    assert result.exit_code == 4
    assert "no product of bf16" in result.words


def test_a_wrong_solution_is_a_failed_verdict(build: Build, blas: str, near_path: Path) -> None:
    faults = (("solver_->solve();", "solver_->solve(); solver_->x()[5] *= 1 + 1e-9;"),)
    for program in planted(build.toolchain, near_path, "mxp", faults):
        result = start(program, "--library", blas, "--n", "500", "--seconds", "0.05")
        assert result.exit_code == 1, program
        assert not verdict(result).passed


def test_a_library_that_lacks_a_function_is_refused_by_its_name(build: Build, tmp_path: Path) -> None:
    library = compiled(tmp_path, "void cblas_dgemm(void) {} void cblas_sgemm(void) {}")
    result = run(build, f"blas={library}", "--n", "300")
    assert result.exit_code != 0
    assert "lacks cblas_strsm" in result.words


def test_a_matrix_too_large_is_refused_with_its_size(build: Build, blas: str) -> None:
    result = run(build, blas, "--n", "3000000")
    assert result.exit_code != 0
    assert "more memory than may be used" in result.words


@pytest.mark.parametrize("program", ["mxp", "dgemm"])
def test_an_order_whose_bytes_nobody_can_count_is_refused(build: Build, program: str) -> None:
    command = [build.programs[program], "--cpus", "0", "--n", "2147483648"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the most is 67108864" in done.stderr
