"""Applications, planned and measured for real: small programs of the tests, and those that Assay declares."""

import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from tests.impatient import ASSAY

from assay import store, studies
from assay.analyse import analyse
from assay.catalogue import application_files
from assay.launch.arguments import measure_command
from assay.launch.command import Outcome, Sampling
from assay.model.placement import Memory, Placement
from assay.model.plan import Case
from assay.model.record import End, Verdict, decode_program_record
from assay.model.result import Analysis
from assay.model.toolchain import Build
from assay.run.foreign import with_figures

pytestmark = pytest.mark.native

NOTHING: Mapping[str, str] = MappingProxyType({})

HEAT = """#!/bin/sh
echo "heat 1.2 on $OMP_NUM_THREADS threads, $(head -1 plate.in), $COLOUR"
{body}
for step in 0.25 0.11 0.09; do echo "step $step s"; done
echo "residual 3.0e-09"
echo "solved in 0.45 s"
"""
DECLARED = (
    """
[application]
title = "Heat in a plate"
measures = "the time to solve the equation of heat on a plate"
parallel = "threads"
command = ["heat"]
version = '^heat (\\\\S+)'
prologue = "echo points {points} >> plate.in"
limit = "20s"
launches = 1
seconds = 0.1
placements = ["one-core"]
environment = {{ COLOUR = "red{points}" }}

[application.needs]
program = "heat"
debian = ["heat"]

[application.parameters.points]
meaning = "points along each side"
values = [100, 200]

[application.inputs."plate.in"]
text = "side {{points}}\\n"

[application.figures.time]
pattern = '^solved in (\\\\S+) s'
unit = "s"
meaning = "time of the solution"

[application.figures.step]
pattern = '^step (\\\\S+) s'
unit = "s"
meaning = "time of a step"
take = "mean"
skip = 1
role = "step-time"

[[application.verify]]
about = "residual"
pattern = '^residual (\\\\S+)'
value = 0.0
tolerance = 1e-8
versions = '^1\\\\.'
""".replace("{{", "{")
    .replace("}}", "}")
    .replace("\\\\", "\\")
)


def heat(folder: Path, body: str = "", declared: str = DECLARED) -> dict[str, str]:
    """The program and its declaration in a folder; the environment in which it is found."""
    program = folder / "bin" / "heat"
    program.parent.mkdir(exist_ok=True)
    program.write_text(HEAT.format(body=body))
    program.chmod(0o755)
    (folder / "heat.toml").write_text(declared)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}


def assay(folder: Path, env: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [*ASSAY, *arguments]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done


def measured(folder: Path, env: dict[str, str], *arguments: str) -> tuple[Analysis, str, int]:
    """The analysis of a run, what the command said, and its exit code."""
    done = assay(folder, env, "run", "./heat.toml", "--runs", "runs", *arguments)
    (path,) = (folder / "runs").glob("*-heat-*")
    return analyse(store.load(path)), done.stderr, done.returncode


def test_an_application_is_measured_verified_and_reported(tmp_path: Path) -> None:
    body = 'for line in $(seq 1000); do echo "a line that makes the output long"; done'
    env = heat(tmp_path, body)
    analysis, said, code = measured(tmp_path, env, "--set", "points=100,200")
    assert code == 0, said
    figures = {
        (each.metric, each.params["points"]): each for each in analysis.estimates if each.benchmark == "heat"
    }
    assert {name for name, _ in figures} == {"time", "step", "elapsed"}
    assert figures["time", 100].median == pytest.approx(0.45)
    assert figures["step", 200].median == pytest.approx(0.1)
    assert (figures["elapsed", 100].median or 0) > 0
    proven = figures["time", 100].placement.proven
    assert proven
    assert proven.as_asked
    (path,) = (tmp_path / "runs").glob("*-heat-*")
    outputs = [gzip.decompress(each.read_bytes()).decode() for each in path.glob("logs/*.output.gz")]
    assert {each.splitlines()[0] for each in outputs} == {
        "heat 1.2 on 1 threads, side 100, red100",
        "heat 1.2 on 1 threads, side 200, red200",
    }
    page = (path / "report.html").read_text()
    assert "Heat in a plate" in page
    (tmp_path / "heat.toml").unlink()  # the run keeps what it was measured with
    shown = json.loads(assay(tmp_path, env, "show", str(path), "--json").stdout)
    assert {each["unit"] for each in shown["estimates"] if each["benchmark"] == "heat"} == {"s"}


def started(folder: Path, build: Build, body: str = "", changed: Mapping[str, str] = NOTHING) -> dict[type, Any]:
    """What the starter and the reading of its output make of one start of the program."""
    declared = DECLARED
    for old, new in changed.items():
        assert old in declared
        declared = declared.replace(old, new)
    heat(folder, body, declared)
    study = studies.get(str(folder / "heat.toml"))
    assert study.measure[0].benchmark == "heat"
    placement = Placement("one-core", "", (min(os.sched_getaffinity(0)),), Memory(), ("here",))
    case = Case("heat/one-core", "heat", {"points": 100}, placement)
    argv = measure_command(build.programs["start"], (case,), Sampling(0.1, 1, 1, {}), prefix=str(folder))
    done = subprocess.run(argv, capture_output=True, check=False)
    read = with_figures(Outcome(done.stdout, done.stderr, done.returncode), (case,), "logs/kept")
    found = [decode_program_record(line) for line in read.outcome.stdout.splitlines()]
    return {type(each): each for each in found}


def test_one_that_was_installed_in_a_folder_of_assays_is_started_from_there(tmp_path: Path, build: Build) -> None:
    found = started(tmp_path, build)
    assert found[End] == End("complete")
    assert found[Verdict].passed
    assert found[Verdict].version == "1.2"
    assert [each.status for each in found[Verdict].checks] == ["right"]


@pytest.mark.parametrize(
    ("body", "changed", "said"),
    [
        ("echo nothing; exit", {}, "'time' was sought as '^solved in (\\S+) s', which matches nothing"),
        ("echo residual 1.0; echo solved in 1 s; echo step 1 s; echo step 1 s; exit", {}, "residual: it is 1.0"),
        ("echo begun; sleep 30", {'limit = "20s"': 'limit = "1s"'}, "its time limit of 1 s"),
        ("echo broken; kill -9 $$", {}, "ended by signal 9"),
        ("", {"echo points": "false; echo points"}, "its prologue: the command ended with exit code 1"),
    ],
    ids=["absent figure", "wrong number", "time limit", "signal", "prologue"],
)
def test_what_goes_wrong_is_refused_and_says_what_was_sought(
    tmp_path: Path, build: Build, body: str, changed: dict[str, str], said: str
) -> None:
    end = started(tmp_path, build, body, changed)[End]
    assert end.status == "failed"
    assert said in end.reason
    assert "its output ends with: " in end.reason


def test_a_value_of_another_version_is_unknown_and_the_others_decide(tmp_path: Path, build: Build) -> None:
    found = started(tmp_path, build, "", {"'^1\\.'": "'^2\\.'", "value = 0.0": "value = 5.0"})
    assert found[End] == End("complete")
    assert [each.status for each in found[Verdict].checks] == ["unknown"]


def test_an_absent_program_is_left_out_with_the_commands_that_bring_it(tmp_path: Path) -> None:
    env = heat(tmp_path)
    (tmp_path / "bin" / "heat").unlink()
    done = assay(tmp_path, env, "plan", "./heat.toml", "--json")
    assert done.returncode == 4, done.stdout
    assert (
        done.stderr.count("the program heat is not here; as root: apt-get install heat; without root: mkdir") == 1
    )
    done = assay(tmp_path, env, "plan", "wrf")
    assert done.returncode == 4, done.stdout
    assert "assay run wrf --peer DIR" in done.stderr.splitlines()[-1]


RANKS = """
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
    int rank = 0, size = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && rank == atoi(argv[1])) {
        printf("rank %d gives up\\n", rank);
        fflush(stdout);
        raise(SIGKILL);
    }
    double begin = MPI_Wtime();
    static double sent[1000];
    MPI_Request request;
    for (int turn = 0; turn < 50; ++turn) {
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(rank == 1 ? 6000 : 4000);
        if (rank == 0 && size > 1) MPI_Send(sent, 1000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        if (rank == 1) {
            MPI_Irecv(sent, 1000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, sent, 3, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("solved by %d ranks in %.3f s\\n", size, MPI_Wtime() - begin);
    MPI_Finalize();
}
"""
OF_RANKS = """
[application]
title = "Ranks"
measures = "the time of barriers"
parallel = "ranks"
command = ["ranks"{argument}]
limit = "60s"
launches = 1
seconds = 0.5
placements = ["all"]
needs = {{ program = "ranks", mpi = "openmpi" }}

[application.figures.time]
pattern = 'in (\\S+) s'
unit = "s"
meaning = "time of the barriers"

[[application.verify]]
about = "number of ranks"
present = 'solved by {{ranks}} ranks'
"""


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program of ranks, built by the Open MPI of this machine."""
    folder = tmp_path_factory.mktemp("ranks")
    compiler = shutil.which("mpicc.openmpi") or shutil.which("mpicc")
    if compiler is None or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("no mpicc of an Open MPI, or one cpu")
    (folder / "ranks.c").write_text(RANKS)
    subprocess.run([compiler, "-o", folder / "ranks", folder / "ranks.c"], check=True)
    return folder


def of_ranks(tmp_path: Path, ranks: Path, argument: str = "") -> tuple[Analysis, str, int]:
    (tmp_path / "heat.toml").write_text(OF_RANKS.format(argument=argument))
    env = {**os.environ, "PATH": f"{ranks}:{os.environ['PATH']}"}
    return measured(tmp_path, env)


def test_each_rank_of_an_mpi_program_is_placed_and_proven(tmp_path: Path, ranks: Path) -> None:
    analysis, said, code = of_ranks(tmp_path, ranks)
    assert code == 0, said
    (time,) = (each for each in analysis.estimates if each.benchmark == "heat" and each.metric == "time")
    assert time.median
    assert 0.19 < time.median < 60
    proven = time.placement.proven
    assert proven
    assert proven.as_asked
    assert proven.of == "thread"
    assert len(proven.cpus) >= 2
    (path,) = (tmp_path / "runs").glob("*-heat-*")
    (header,) = (
        case.header
        for launch in store.load(path).launches
        for case in launch.cases
        if case.header.benchmark == "heat"
    )
    first, second = (rank.mpi for rank in header.ranks[:2])
    assert first
    assert second
    calls = {name: (call.kind, call.calls, call.bytes, call.sizes) for name, call in first.calls.items()}
    assert calls == {
        "MPI_Barrier": ("all", 50, 0, {}),
        "MPI_Send": ("send", 50, 400_000, {"8192": 50}),
        "MPI_Allreduce": ("all", 1, 12, {"16": 1}),
    }
    assert {name: call.calls for name, call in second.calls.items()} == {
        "MPI_Barrier": 50,
        "MPI_Irecv": 50,
        "MPI_Wait": 50,
        "MPI_Allreduce": 1,
    }
    assert first.seconds > 0.29  # the second rank sleeps so long, and the first waits for it
    assert 0.05 < first.inside < first.seconds
    assert all(rank.usage and rank.usage.resident_bytes > 2**20 for rank in header.ranks)
    assert all(rank.usage and rank.usage.voluntary_switches >= 50 for rank in header.ranks)
    page = (path / "report.html").read_text()
    assert "Time in MPI by call" in page
    assert "MPI_Barrier" in page


def test_a_rank_that_dies_is_named_with_its_last_words(tmp_path: Path, ranks: Path) -> None:
    analysis, _, code = of_ranks(tmp_path, ranks, ', "1"')
    assert code == 1
    (outcome,) = (each for each in analysis.outcomes if each.case.startswith("heat/"))
    assert "rank 1: the command was ended by signal 9; its output ends with: rank 1 gives up" in outcome.reason


#: No package brings them, or they take hours.
NOT_HERE = {"wrf", "cloverleaf", "nwchem-coronene", "nwchem-c60h60"} | {
    name
    for name in application_files.stored()
    if not (needs := application_files.named(name).needs).debian and not needs.pypi
}


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(application_files.stored().keys() - NOT_HERE))
def test_each_declared_application_is_installed_without_root_and_right(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    """From the network, with the commands that a plan shows; minutes."""
    cache = tmp_path_factory.mktemp("cache")
    kept = Path(os.environ.get("ASSAY_CACHE", "")) / "builds"
    if kept.is_dir():
        (cache / "builds").symlink_to(kept)
    env = {**os.environ, "ASSAY_CACHE": str(cache)}
    assert assay(cache, env, "build", "--application", name).returncode == 0
    done = assay(cache, env, "run", name, "--runs", "runs", "--launches", "1")
    assert done.returncode == 0, done.stderr
    (path,) = (cache / "runs").glob(f"*-{name}-*")
    analysis = analyse(store.load(path))
    assert [each for each in analysis.outcomes if each.status != "complete"] == []
    assert all(each.median for each in analysis.estimates if each.benchmark == name)
