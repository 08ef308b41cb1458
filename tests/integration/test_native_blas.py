"""A BLAS that is loaded at launch: named, pinned, checked, and refused with the reason where it cannot serve."""

import json
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from assay import machine, store, toolchain
from assay.analyse import analyse
from assay.cli import assay
from assay.model.errors import AssayError, UsageError
from assay.model.plan import Plan
from assay.model.record import End, Header, Verdict, decode_program_record
from assay.model.toolchain import Build, Library
from assay.toolchain import sources
from assay.toolchain.libraries import NAMINGS
from assay.topics.linear_algebra.benchmarks.mxp import benchmark

pytestmark = pytest.mark.native

#: A product that is right but for its last entry.
_WRONG = """
void cblas_dgemm(int o, int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc) {
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int p = 0; p < k; ++p) sum += a[i * lda + p] * b[p * ldb + j];
            c[i * ldc + j] = sum;
        }
    c[m * ldc - 1] += 0.5;
}
void cblas_sgemm(void) {}
"""


#: Right where the threads of its first product make all the others, too.
_OPENMP = """
#include <omp.h>
#include <sys/syscall.h>
#include <unistd.h>
static long first[2];
void cblas_dgemm(int o, int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc) {
    int others = 0;
    #pragma omp parallel for num_threads(2) schedule(static) reduction(+ : others)
    for (int i = 0; i < m; ++i) {
        long* known = &first[omp_get_thread_num()];
        if (!*known) *known = syscall(SYS_gettid);
        others += *known != syscall(SYS_gettid);
        for (int j = 0; j < n; ++j) {
            c[i * ldc + j] = 0;
            for (int p = 0; p < k; ++p) c[i * ldc + j] += a[i * lda + p] * b[p * ldb + j];
        }
    }
    if (others) c[m * ldc - 1] += 0.5;
}
void cblas_sgemm(void) {}
"""


def compiled(folder: Path, source: str) -> str:
    (folder / "blas.c").write_text(source)
    library = folder / "libblas.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-fopenmp", "-o", library, folder / "blas.c"], check=True)
    return str(library)


def run(build: Build, *options: str) -> "subprocess.CompletedProcess[str]":
    command = [build.programs["dgemm"], *options, "--seconds", "0.05", "--min-samples", "1", "--max-samples", "3"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def records(done: "subprocess.CompletedProcess[str]") -> dict[type, Any]:
    found = [decode_program_record(line) for line in done.stdout.splitlines()]
    return {type(each): each for each in found}


@pytest.fixture(scope="module")
def libraries() -> tuple[Library, ...]:
    found = toolchain.find_libraries("blas")
    assert {"openblas", "blis-pthread"} <= {each.name for each in found}
    return found


def test_each_library_says_which_kernel_it_chose_and_its_product_is_right(
    build: Build, libraries: tuple[Library, ...]
) -> None:
    kernels = {}
    for each in libraries:
        done = run(build, "--library", f"blas={each.file}", "--n", "300", "--cpus", "0")
        assert done.returncode == 0, done.stderr
        found = records(done)
        loaded = found[Header].libraries["blas"]
        assert Path(loaded["file"]) == Path(each.file).resolve()
        assert loaded["threads"] == "1"
        assert found[Verdict].passed
        kernels[each.name] = loaded["kernel"]
    assert all(kernels.values())


def test_the_kernel_that_is_recorded_is_the_one_that_was_chosen(
    build: Build, libraries: tuple[Library, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = next(each for each in libraries if each.name == "openblas")
    oldest = {"x86_64": "Nehalem", "aarch64": "ARMV8"}[platform.machine()]
    monkeypatch.setenv("OPENBLAS_CORETYPE", oldest)
    done = run(build, "--library", f"blas={wheel.file}", "--n", "64", "--cpus", "0")
    assert records(done)[Header].libraries["blas"]["kernel"].casefold() == oldest.casefold()


def test_threads_that_a_library_keeps_stand_on_a_cpu_each(build: Build, libraries: tuple[Library, ...]) -> None:
    proofs = {}
    for each in libraries:
        done = run(build, "--library", f"blas={each.file}", "--n", "512", "--cpus", "0,1")
        assert done.returncode == 0, done.stderr
        (rank,) = records(done)[Header].ranks
        assert rank.cpus == (0, 1)
        proofs[each.name] = rank.proof
    assert proofs["openblas"] == "thread"
    assert proofs["blis-pthread"] == "rank"


def test_the_threads_that_a_library_starts_by_openmp_are_those_that_are_pinned(
    build: Build, tmp_path: Path
) -> None:
    # MKL beside libgomp: inside a parallel region it would start others, all on the cpu of the calling thread.
    done = run(build, "--library", f"blas={compiled(tmp_path, _OPENMP)}", "--n", "128", "--cpus", "0,1")
    found = records(done)
    assert found[Header].ranks[0].proof == "thread"
    assert found[Verdict].passed


def test_a_second_case_of_a_launch_is_proven_too(build: Build, libraries: tuple[Library, ...]) -> None:
    cases = ("--case", "a", "--n", "300", "--case", "b", "--n", "301")
    command = [build.programs["dgemm"], "--library", f"blas={libraries[0].file}", "--cpus", "0,1"]
    done = subprocess.run([*command, "--seconds", "0.05", *cases], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    headers = [json.loads(line) for line in done.stdout.splitlines() if '"header"' in line]
    assert [each["ranks"][0]["cpus"] for each in headers] == [[0, 1], [0, 1]]
    assert "proof" not in headers[1]["ranks"][0]


def test_single_precision_is_checked_by_its_own_rounding(build: Build, libraries: tuple[Library, ...]) -> None:
    done = run(build, "--library", f"blas={libraries[0].file}", "--format", "fp32", "--n", "500", "--cpus", "0")
    assert records(done)[Verdict].passed


def test_every_core_works_on_a_product_of_its_own(build: Build, libraries: tuple[Library, ...]) -> None:
    cases = [
        "--seconds",
        "0.05",
        "--case",
        "a",
        "--product",
        "own",
        "--case",
        "b",
        "--product",
        "shared",
        "--case",
        "c",
        "--product",
        "own",
    ]
    for each in libraries:
        command = [
            build.programs["dgemm"],
            "--library",
            f"blas={each.file}",
            "--n",
            "300",
            "--cpus",
            "0,1",
            *cases,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found = [decode_program_record(line) for line in done.stdout.splitlines()]
        headers = [record for record in found if isinstance(record, Header)]
        assert [header.work["multiply"]["flops"] for header in headers] == [4 * 300**3, 2 * 300**3, 4 * 300**3]
        assert [header.ranks[0].cpus for header in headers] == [(0, 1)] * 3
        assert [headers[0].ranks[0].proof, headers[2].ranks[0].proof] == ["thread", "thread"]
        threads = [header.libraries["blas"].get("threads") for header in headers]
        assert threads[0] in {"1", None}
        assert all(record.passed for record in found if isinstance(record, Verdict))


def test_each_library_calls_itself_by_name_and_says_the_numbers_of_its_kernels(
    build: Build, libraries: tuple[Library, ...]
) -> None:
    result = {}
    for each in libraries:
        loaded = records(run(build, "--library", f"blas={each.file}", "--n", "64", "--cpus", "0"))[Header]
        result[each.name] = loaded.libraries["blas"]
    assert result["openblas"]["library"] == "OpenBLAS"
    blis = result["blis-pthread"]
    assert blis["library"] == "BLIS"
    assert f"number of {blis['kernel']}" in blis


#: A product of 16-bit numbers in plain loops, and no other.
_BFLOAT16 = """
void cblas_dgemm(void) {} void cblas_sgemm(void) {}
static float wide(unsigned short half) {
    union { unsigned bits; float number; } of = {(unsigned)half << 16};
    return of.number;
}
void cblas_sbgemm(int o, int ta, int tb, int m, int n, int k, float alpha, const unsigned short* a, int lda,
                  const unsigned short* b, int ldb, float beta, float* c, int ldc) {
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int p = 0; p < k; ++p) sum += wide(a[i * lda + p]) * wide(b[p * ldb + j]);
            c[i * ldc + j] = sum;
        }
}
"""


def test_a_product_of_half_the_bits_is_checked_and_a_library_without_one_is_refused(
    build: Build, libraries: tuple[Library, ...], tmp_path: Path
) -> None:
    words = ("--format", "bf16", "--n", "65", "--cpus", "0")
    made = run(build, "--library", f"blas={compiled(tmp_path, _BFLOAT16)}", *words)
    assert made.returncode == 0, made.stderr
    assert records(made)[Verdict].passed
    assert records(made)[Header].work["multiply"]["bytes"] == (2 + 2 + 4) * 65**2
    wrong = _BFLOAT16.replace("float sum = 0", "float sum = i == j ? 0.01f : 0")
    assert run(build, "--library", f"blas={compiled(tmp_path, wrong)}", *words).returncode == 1
    blis = next(each for each in libraries if each.name == "blis-pthread")
    refused = run(build, "--library", f"blas={blis.file}", *words)
    assert (refused.returncode, "cblas_sbgemm" in refused.stderr) == (4, True)


@pytest.mark.long
def test_mkl_says_what_it_chose_and_multiplies_in_every_format(
    build: Build, libraries: tuple[Library, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    mkl = next((each for each in libraries if each.name == "mkl"), None)
    if mkl is None:
        pytest.skip("MKL is not here: pip install 'assay[mkl]' accepts its licence and takes 1 GB")
    words = ("--library", f"blas={mkl.file}", "--n", "512", "--cpus", "0,1")
    kernels = {}
    for format_ in ("fp64", "fp32", "bf16"):
        found = records(run(build, *words, "--format", format_))
        assert found[Verdict].passed
        (rank,) = found[Header].ranks
        assert (rank.cpus, rank.proof) == ((0, 1), "thread")
        loaded = found[Header].libraries["blas"]
        assert (loaded["library"], loaded["threads"]) == ("MKL", "2")
        kernels[format_] = loaded["kernel"]
    (usual,) = set(kernels.values())
    assert usual in {"def", "SSE4_2", "AVX", "AVX2", "AVX512", "AVX10"}
    monkeypatch.setenv("MKL_ENABLE_INSTRUCTIONS", "SSE4_2")
    asked = records(run(build, *words))[Header].libraries["blas"]["kernel"]
    assert asked == ("def" if usual == "def" else "SSE4_2")  # it heeds this on processors of Intel alone


def test_a_wrong_product_fails(build: Build, tmp_path: Path) -> None:
    done = run(build, "--library", f"blas={compiled(tmp_path, _WRONG)}", "--n", "100", "--cpus", "0")
    found = records(done)
    assert done.returncode == 1
    assert not found[Verdict].passed
    assert found[End].status == "failed"


def test_a_library_without_the_product_is_refused_by_name(build: Build, tmp_path: Path) -> None:
    done = run(build, "--library", f"blas={compiled(tmp_path, 'void cblas_daxpy(void) {}')}", "--cpus", "0")
    assert done.returncode == 4
    assert "lacks cblas_dgemm" in done.stderr


def test_a_file_that_is_no_library_is_refused(build: Build, tmp_path: Path) -> None:
    done = run(build, "--library", f"blas={tmp_path / 'none.so'}", "--cpus", "0")
    assert done.returncode == 4
    assert "no BLAS can be loaded" in done.stderr


def test_one_library_is_chosen_and_several_are_a_factor(libraries: tuple[Library, ...]) -> None:
    names = [each.name for each in libraries]
    one = planned("--blas", names[-1])
    assert one.libraries == {"blas": libraries[-1].file}
    assert one.factors == ()
    several = planned("--blas", ",".join(names[:2]))
    (factor,) = several.factors
    assert (factor.name, factor.levels) == ("blas", tuple(names[:2]))
    given = planned("--blas", libraries[0].file)
    assert given.libraries == {"blas": libraries[0].file}


@pytest.mark.parametrize(
    ("words", "said"),
    [(("dgemm", "--blas", "none"), "there is no blas 'none' here"), (("quick", "--blas", "x"), "loads a BLAS")],
)
def test_a_library_that_is_not_here_or_not_loaded_is_refused(words: tuple[str, ...], said: str) -> None:
    refused = CliRunner().invoke(assay, ["plan", *words])
    assert refused.exit_code != 0
    assert isinstance(refused.exception, UsageError)
    assert said in str(refused.exception)


@pytest.mark.parametrize("command", ["plan", "run"])
@pytest.mark.parametrize("study", ["dgemm", "hpl"])
def test_a_library_that_cannot_serve_is_refused_before_anything_is_measured(
    command: str, study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.so").write_text("no library")
    (tmp_path / "sum").mkdir()
    compiled(tmp_path / "sum", "void cblas_daxpy(void) {}")
    (tmp_path / "lost").mkdir()
    compiled(tmp_path / "lost", "void nowhere(void); void cblas_dgemm(void) { nowhere(); }")
    for file, code, said, why in (
        ("./text.so", 2, "is not a shared library", "something else"),
        ("./none.so", 2, "is not a shared library", "no such file"),
        ("./sum/libblas.so", 2, "cannot serve as blas", "it lacks cblas_dgemm, cblas_sgemm"),
        ("./lost/libblas.so", 4, "cannot be loaded", "nowhere"),
    ):
        refused = CliRunner().invoke(assay, [command, study, "--blas", file])
        error = refused.exception
        assert isinstance(error, AssayError), refused.output
        assert error.exit_code == code, error.what
        assert said in error.what
        assert why in error.why
        assert error.remedy.startswith("assay list blas")
    assert not (tmp_path / "assay-runs").exists()


def test_what_one_program_needs_of_a_library_another_may_not(tmp_path: Path) -> None:
    library = compiled(tmp_path, "void cblas_dgemm(void) {} void cblas_sgemm(void) {}")
    assert planned("--blas", library).libraries == {"blas": library}
    refused = CliRunner().invoke(assay, ["plan", "hpl", "--vary", f"blas={library},openblas"])
    assert isinstance(refused.exception, UsageError)
    assert "cblas_dtrsm" in refused.exception.why


def test_every_library_that_is_found_here_serves(libraries: tuple[Library, ...]) -> None:
    for each in libraries:
        toolchain.require_loadable("blas", each.file, benchmark.needs["blas"])


def test_the_names_that_are_tried_are_those_of_the_programs() -> None:
    source = (sources.folder() / "harness" / "blas.cpp").read_text()
    namings = re.findall(r'\{"(\w*)", "(\w*)", (?:true|false)\}', source)
    assert len(namings) == 6
    assert set(namings) == set(NAMINGS)


def planned(*words: str) -> Plan:
    done = CliRunner().invoke(assay, ["plan", "dgemm", *words, "--json"])
    assert done.exit_code == 0, done.output
    return msgspec.json.decode(done.stdout, type=Plan)


_KERNEL = """
title = "Kernel"
question = "Does it fit?"
launches = 3

[[measure]]
benchmark = "flops"
placements = ["one-core"]
axes = { mix = "fma", width = ["256", "512"], format = "fp64" }
weight = 0.2
why = "the peak"

[[measure]]
benchmark = "dgemm"
placements = ["one-core"]
axes = { n = 1024 }
weight = 0.2
why = "the product"
"""


@pytest.mark.long
def test_a_wrong_kernel_is_found_and_confirmed_by_experiment(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del build  # made before the clock runs
    has = machine.discover()[0].fact("processor", "vector instructions").value
    able = set(has if isinstance(has, list | tuple) else ())
    if not {"avx2", "fma"} <= able:
        pytest.skip("this machine's processor has no instructions that a kernel for older ones would leave unused")
    planted, fitting = ("Haswell", "SkylakeX") if {"avx512f", "avx512bw"} <= able else ("Nehalem", "Haswell")
    (tmp_path / "kernel.toml").write_text(_KERNEL)
    monkeypatch.setenv("OPENBLAS_CORETYPE", planted)
    for attempt in range(3):  # other tests disturb some
        runs = tmp_path / str(attempt)
        words = ["run", str(tmp_path / "kernel.toml"), "--blas", "openblas", "--confirm", "--runs", str(runs)]
        done = CliRunner().invoke(assay, [*words, "--confirm-budget", "60s"])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.output
        (run,) = (each.parent for each in runs.glob("*/run.json"))
        analysis = analyse(store.load(run))
        (finding,) = (each for each in analysis.findings if each.rule == "wrong_kernel")
        if finding.status != "not assessed":
            break
        products = [
            each for each in analysis.estimates if each.id in finding.evidence or each.benchmark == "dgemm"
        ]
        assert products
        assert all(each.disturbed == each.launches for each in products)
    assert finding.status == "confirmed", finding.claim  # three times not assessed proves nothing
    assert fitting in str(finding.claim)
    assert fitting in finding.next
