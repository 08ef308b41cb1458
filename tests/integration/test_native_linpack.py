"""LINPACK's programs as they are started: right solutions, refusals, and the compiler that a record names."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.integration.test_native_blas import compiled
from tests.simulation import TWO_CORES, plan_for

from assay import toolchain
from assay.model.record import Header, Verdict, decode_program_record
from assay.model.toolchain import Build
from assay.plan import Options, without_programs

pytestmark = pytest.mark.native

#: All that LU calls, and a factorisation that does nothing.
_WRONG = """
void cblas_dgemm(void) {} void cblas_sgemm(void) {} void cblas_dtrsm(void) {} void cblas_dgemv(void) {}
void cblas_dtrsv(void) {} unsigned long cblas_idamax(int n, const double* x, int step) { return 0; }
"""
_NO_LU = """
void dgetrf_(int* m, int* n, double* a, int* lda, int* p, int* info) { for (int i = 0; i < *n; ++i) p[i] = i + 1; }
"""


def run(build: Build, program: str, *options: str) -> "subprocess.CompletedProcess[str]":
    command = [build.programs[program], "--cpus", "0", "--seconds", "0.05", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def records(done: "subprocess.CompletedProcess[str]") -> dict[type, Any]:
    assert done.stdout, done.stderr
    return {type(each): each for each in map(decode_program_record, done.stdout.splitlines())}


@pytest.mark.parametrize(
    "how", [("linpack", "--method", "plain"), ("linpack", "--method", "lapack"), ("linpack_fortran",)]
)
@pytest.mark.parametrize(("n", "leading"), [(100, 200), (100, 201), (1000, 1001)])
def test_each_method_solves_the_system_as_well_as_double_precision_can(
    build: Build, how: tuple[str, ...], n: int, leading: int
) -> None:
    if how[0] in build.absent:
        return
    done = run(build, *how, "--n", str(n), "--leading", str(leading))
    assert done.returncode == 0, done.stderr
    verdict = records(done)[Verdict]
    assert verdict.passed
    assert 0.1 < verdict.error < 40  # LINPACK's own output has 1.67 at order 100, and 10 at order 1000


def test_a_record_of_fortran_names_its_compiler(build: Build) -> None:
    if "linpack_fortran" in build.absent:
        assert "Fortran" in build.absent["linpack_fortran"]
        return
    facts = records(run(build, "linpack_fortran"))[Header].facts
    assert facts["Fortran compiler"].split()[0] in {"GCC", "flang", "Intel(R)"}


def test_a_column_that_has_no_room_and_an_order_beyond_the_generator_are_refused(build: Build) -> None:
    small = run(build, "linpack", "--n", "100", "--leading", "99")
    assert (small.returncode, "a column has 100 numbers" in small.stderr) == (2, True)
    large = run(build, "linpack", "--n", "2001", "--leading", "2001")
    assert (large.returncode, "assay run hpl" in large.stderr) == (2, True)


def test_a_library_without_lapack_or_with_a_wrong_one_is_refused(build: Build, tmp_path: Path) -> None:
    lacking = run(build, "linpack", "--method", "lapack", "--library", f"blas={compiled(tmp_path, _WRONG)}")
    assert (lacking.returncode, "dgetrf_" in lacking.stderr) == (4, True)
    wrong = run(build, "linpack", "--method", "lapack", "--library", f"blas={compiled(tmp_path, _WRONG + _NO_LU)}")
    assert wrong.returncode == 1
    assert not records(wrong)[Verdict].passed


@pytest.mark.usefixtures("empty_cache")
def test_without_a_fortran_compiler_its_cases_alone_are_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("gfortran", "flang", "flang-new", "ifx"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'no licence today' >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    made = toolchain.build(toolchain.get(), programs={"linpack_fortran", "start"})
    assert "no licence today" in made.absent["linpack_fortran"]
    planned = plan_for(TWO_CORES, "linpack", Options(libraries={"blas": "/simulated/libblas.so"}))
    left = without_programs(planned, {planned.order[0].toolchain: made.absent})
    assert [each.reason for each in left.left_out if each.request == "linpack_fortran"] == [
        made.absent["linpack_fortran"]
    ]
    assert {case.benchmark for case in left.studied} == {"linpack", "flops"}
