"""HPL's program as it is started: grids, layouts, libraries, and what it refuses."""

import os
import subprocess
from pathlib import Path

import pytest
from tests import mpi_ranks
from tests.integration.test_native_blas import compiled
from tests.native_programs import ProgramOutput, start

from assay import toolchain
from assay.catalogue import benchmarks
from assay.model.placement import Memory, Placement
from assay.model.record import End, FigureOfMerit, Verdict
from assay.model.toolchain import Build
from assay.model.traffic import Traffic

pytestmark = pytest.mark.native

#: HPL's limit.
_LIMIT = 16
#: All that LU calls, and every product is 0.
WRONG = """
void cblas_dgemm(void) {} void cblas_sgemm(void) {} void cblas_dtrsm(void) {} void cblas_dgemv(void) {}
void cblas_dtrsv(void) {}
unsigned long cblas_idamax(int n, const double* x, int step) { return 0; }
"""
#: The same, and every product is no number.
_NO_NUMBER = """
void cblas_sgemm(void) {} void cblas_dtrsm(void) {} void cblas_dgemv(void) {} void cblas_dtrsv(void) {}
unsigned long cblas_idamax(int n, const double* x, int step) { return 0; }
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc) {
    for (int j = 0; j < n; ++j) for (int i = 0; i < m; ++i) c[i + (long)j * ldc] = __builtin_nan("");
}
"""
#: What a rank finds in place of the shared memory of its node: too little, none to write to, or some that the
#: other ranks cannot see, as in containers.
_OTHER_SHARED_MEMORY = ("size=64k", "ro", "size=64m")
#: How Open MPI's own messages do without it.
_WITHOUT_IT = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "lo"}


@pytest.fixture(scope="module")
def built() -> Build:
    return mpi_ranks.build_with("openmpi")


@pytest.fixture(scope="module")
def blas() -> str:
    return f"blas={toolchain.find_libraries('blas')[0].file}"


def run(built: Build, blas: str, ranks: int, *axes: str) -> ProgramOutput:
    return mpi_ranks.run(built, "hpl", ranks, "--library", blas, "--seconds", "0.05", *axes)


def figures(result: ProgramOutput) -> list[FigureOfMerit]:
    return [each for each in result.records if isinstance(each, FigureOfMerit)]


@pytest.mark.parametrize(("p", "q"), [(1, 1), (2, 1), (1, 2), (2, 3), (3, 2), (6, 1)])
@pytest.mark.parametrize("axes", [("--n", "300", "--nb", "32"), ("--n", "129", "--nb", "64")])
def test_a_system_is_solved_on_every_grid(built: Build, blas: str, p: int, q: int, axes: tuple[str, ...]) -> None:
    result = run(built, blas, p * q, *axes, "--p", str(p), "--q", str(q), "--broadcast", "library")
    mpi_ranks.complete(result, 1)
    assert result.header.facts["grid"] == f"{p} x {q}"
    (verdict,) = (each for each in result.records if isinstance(each, Verdict))
    assert verdict.passed
    assert 0 < verdict.error < verdict.tolerance == _LIMIT
    order = int(axes[1])
    for figure in figures(result):
        assert figure.seconds
        assert figure.value == pytest.approx((2 * order**3 / 3 + 1.5 * order**2) / figure.seconds)
        assert ("broadcast" in figure.phases) == (q > 1)


def test_many_short_solutions_begin_with_a_warm_up_and_a_long_one_is_alone(built: Build, blas: str) -> None:
    many = figures(run(built, blas, 1, "--n", "64", "--nb", "16"))
    assert [each.warmup for each in many] == [True] + [False] * (len(many) - 1)
    assert len(many) > 1
    command = mpi_ranks.command(built, "hpl", 1, "--library", blas, "--n", "900", "--seconds", "0.000001")
    alone = figures(start(*command, environment=mpi_ranks.environment()))
    assert [each.warmup for each in alone] == [False]


def test_one_process_needs_no_launcher(built: Build, blas: str) -> None:
    result = start(built.programs["hpl"], "--library", blas, "--n", "200", environment=mpi_ranks.environment())
    mpi_ranks.complete(result, 1)


def test_a_rank_with_two_cores_calls_the_library_from_two_threads(built: Build, blas: str) -> None:
    first, second = mpi_ranks.cpus(2)
    placed = ("--cpus", f"{first},{second}", "--library", blas, "--n", "512", "--seconds", "0.05")
    result = start(built.programs["hpl"], *placed, environment=mpi_ranks.environment())
    mpi_ranks.complete(result, 1)
    assert result.header.libraries["blas"]["threads"] == "1"  # of each call
    assert sorted(result.header.ranks[0].cpus) == sorted((first, second))


def test_a_grid_that_the_ranks_do_not_fill_is_refused(built: Build, blas: str) -> None:
    result = run(built, blas, 2, "--p", "2", "--q", "2")
    assert result.exit_code != 0
    assert "a grid of 2 x 2 has no use for 2 ranks" in result.words


def test_a_wrong_solution_is_refused(built: Build, tmp_path: Path) -> None:
    result = run(built, f"blas={compiled(tmp_path, WRONG)}", 1, "--n", "300", "--nb", "32")
    assert result.exit_code == 1
    assert [each.passed for each in result.records if isinstance(each, Verdict)] == [False]
    assert [each.status for each in result.ends] == ["failed"]


def test_no_numbers_are_refused_where_several_ranks_search_for_pivots(built: Build, tmp_path: Path) -> None:
    result = run(built, f"blas={compiled(tmp_path, _NO_NUMBER)}", 3, "--n", "300", "--nb", "32", "--p", "3")
    assert result.exit_code == 1, result.words
    assert [each.status for each in result.ends] == ["failed"]


@pytest.mark.parametrize("options", ["", *_OTHER_SHARED_MEMORY])
def test_panels_are_passed_on_where_ranks_share_no_memory(built: Build, blas: str, options: str) -> None:
    mount = f"mount -t tmpfs -o {options} none /dev/shm && " if options else ""
    namespace = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    within = [*namespace, "sh", "-c", f'{mount}exec "$@"', "sh"]
    if subprocess.run([*within, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this system gives no namespace of mounts")
    axes = ("--library", blas, "--n", "300", "--nb", "32", "--seconds", "0.05")
    command = mpi_ranks.command(built, "hpl", 2, *axes)
    environment = mpi_ranks.environment() | _WITHOUT_IT
    result = start(*command[:3], *within, *command[3:], environment=environment)
    mpi_ranks.complete(result, 1)
    assert result.header.facts["panels"] == ("passed on" if options else "shared")
    # Each panel is sent once, and vectors of a few rows beside it.
    traffic = next(each for each in result.records if isinstance(each, Traffic))
    heights = range(300, 0, -32)
    numbers = sum(min(32, height) * (1 + min(32, height) + -(-height // 8) * 8) for height in heights)
    panels = 8 * len(figures(result)) * numbers
    assert (1 if options else 0) <= traffic.payload / panels < (1.2 if options else 0.2)
    two = Placement("1x1@2", "", (0,), Memory(), ("one", "other"), ranks=((0,),))
    foreseen = benchmarks.get("hpl").growth.exchange(
        {"n": 300, "nb": 32, "p": 1, "q": 2, "coupling": "sharing"}, two
    )
    assert foreseen
    of_solution = sum(each.number * each.bytes for each in foreseen.messages)
    assert of_solution == pytest.approx(panels / len(figures(result)), rel=0.02)


def test_rows_that_ranks_exchange_are_counted(built: Build, blas: str) -> None:
    result = run(built, blas, 2, "--n", "512", "--nb", "64", "--p", "2")
    mpi_ranks.complete(result, 1)
    traffic = next(each for each in result.records if isinstance(each, Traffic))
    # Half of U on the average, and U has half of the matrix; replaced rows and pivots come on top.
    of_u = 8 * 512**2 / 2 * len(figures(result))
    assert 1.7 < traffic.payload / of_u < 3


def test_blocks_whose_messages_mpi_cannot_count_are_refused(built: Build, blas: str) -> None:
    result = run(built, blas, 2, "--n", "60000", "--nb", "60000")
    assert result.exit_code != 0
    assert "blocks of 60000 columns are too wide" in result.words


def test_a_library_that_lacks_a_function_is_refused_by_its_name(built: Build, tmp_path: Path) -> None:
    library = compiled(tmp_path, "void cblas_dgemm(void) {} void cblas_sgemm(void) {}")
    result = run(built, f"blas={library}", 1, "--n", "300")
    assert result.exit_code != 0
    assert "lacks cblas_dtrsm" in result.words


def test_a_matrix_too_large_is_refused_with_its_size(built: Build, blas: str) -> None:
    result = run(built, blas, 1, "--n", "4000000")
    assert result.exit_code != 0
    assert "more memory than may be used" in result.words
    assert result.ends
    assert result.ends[0] != End("complete")


def test_independent_ranks_solve_a_system_each(built: Build, blas: str) -> None:
    result = run(built, blas, 2, "--n", "300", "--nb", "32", "--coupling", "independent")
    mpi_ranks.complete(result, 1)
    assert result.header.facts["grid"] == "1 x 1"
    for figure in figures(result):
        assert figure.seconds
        assert figure.value == pytest.approx(2 * (2 * 300**3 / 3 + 1.5 * 300**2) / figure.seconds)
        assert "broadcast" not in figure.phases
