"""Every benchmark is documented, built, carries its declaration, and is right at its smallest size."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests import mpi_ranks

from assay.catalogue import benchmarks, declaration_files
from assay.model.record import End, FigureOfMerit, Header, Series, Verdict, decode_program_record
from assay.model.toolchain import Build

PAGES = Path(__file__).parents[2] / "docs" / "methods"
#: An axis whose size follows from the machine takes this; small enough for any cache, large enough for a pool.
SMALL = 65536

pytestmark = pytest.mark.parametrize("name", benchmarks.names())


@pytest.fixture
def built(name: str, build: Build) -> Build:
    """The programs with which a benchmark runs: those of an MPI where it passes messages."""
    benchmark = benchmarks.get(name)
    return mpi_ranks.build_with("openmpi") if benchmark.launcher == "mpi" and not benchmark.foreign else build


def test_a_benchmark_is_documented_with_each_of_its_axes_and_metrics(name: str) -> None:
    benchmark = benchmarks.get(name)
    application = benchmark.foreign and benchmark.foreign.application
    page = (PAGES / f"{'applications' if application else name}.md").read_text()
    words = [*(axis.name for axis in benchmark.axes), *(metric.name for metric in benchmark.metrics)]
    assert [word for word in (*words, *benchmark.kernels) if f"`{word}`" not in page] == []


@pytest.mark.native
def test_a_program_carries_its_declaration(name: str, built: Build) -> None:
    benchmark = benchmarks.get(name)
    if benchmark.foreign or benchmark.program in built.absent:  # see test_foreign_programs.py
        return
    command = [built.programs[benchmark.program], "--describe"]
    described = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert described == {"schema": 1, **declaration_files.resolved(declaration_files.place(name))}


@pytest.mark.native
def test_a_programs_help_says_of_each_axis_what_its_declaration_says(name: str, built: Build) -> None:
    benchmark = benchmarks.get(name)
    if benchmark.foreign or benchmark.program in built.absent:
        return
    command = [built.programs[benchmark.program], "--help"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for axis in benchmark.axes:
        usual = axis.default if axis.program_default is None else axis.program_default
        unit = f" [{axis.unit}]" if axis.unit else ""
        assert f"{axis.meaning}{unit}; default {usual}\n" in said


@pytest.mark.native
def test_the_smallest_case_is_right_and_placed_as_asked(name: str, built: Build) -> None:
    benchmark = benchmarks.get(name)
    if benchmark.foreign or benchmark.program in built.absent:
        return
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < benchmark.min_cpus:
        pytest.skip(f"this machine has fewer than {benchmark.min_cpus} cpus")
    cpus = allowed[: benchmark.min_cpus]
    axes = {axis.name: axis.values[0] if axis.values else SMALL if axis.unit else 0 for axis in benchmark.axes}
    words = ["--seconds", "0.2", *(word for axis, value in axes.items() for word in (f"--{axis}", str(value)))]
    if benchmark.launcher == "mpi":
        command = mpi_ranks.command(built, benchmark.program, benchmark.min_cpus, *words)
    else:
        command = [built.programs[benchmark.program], "--cpus", ",".join(map(str, cpus)), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=mpi_ranks.environment())
    assert done.returncode == 0, done.stderr
    records = [decode_program_record(line) for line in done.stdout.splitlines()]
    header = records[0]
    assert isinstance(header, Header)
    assert header.params == axes
    assert {kernel: set(work) for kernel, work in header.work.items()} == {
        kernel: set(benchmark.work.get(kernel, ())) for kernel in benchmark.kernels
    }
    assert [cpu for rank in header.ranks for cpu in rank.cpus] == cpus
    measured = {record.kernel for record in records if isinstance(record, Series) and record.phase == "measured"}
    solved = [record for record in records if isinstance(record, FigureOfMerit) and not record.warmup]
    for figure in solved:  # one rank alone has not every phase
        assert {figure.name, *figure.phases} <= set(benchmark.kernels)
        assert sum(figure.phases.values()) == pytest.approx(figure.seconds, rel=0.05)
    assert measured == (set() if solved else set(benchmark.kernels))
    assert [record.passed for record in records if isinstance(record, Verdict)] == [True]
    assert records[-1] == End("complete")


def test_no_axis_has_the_name_of_an_option_that_every_program_takes(name: str) -> None:
    options = {"help", "describe", "cpus", "memory", "precision", "min-samples", "max-samples", "seconds", "case"}
    options |= {"expect-ranks", "network", "library"}
    assert not options & {axis.name for axis in benchmarks.get(name).axes}
