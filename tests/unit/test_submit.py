"""`assay submit` and `assay status`: schedulers are shell scripts, runs are of a machine that does not exist."""

import json
import os
import shlex
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from tests.simulation import simulated_run

from assay import store
from assay.cli import assay
from assay.cli.support.submitting import _seconds
from assay.launch import batch
from assay.model.errors import AssayError, MeasurementError, PartialRunError, UnfitEnvironmentError, UsageError
from assay.model.job import Submitted
from assay.model.plan import Measure, Study
from assay.run.ledger import remaining_work
from assay.store.jobs import jobs

TINY = """
title = "Tiny"
question = "Does it run?"
launches = 1
budget_s = 60
[[measure]]
benchmark = "stream"
placements = ["one-core"]
"""
TWO = Study("Two", "A question?", (Measure("stream", ("one-core",), axes={"elements": 1_000_000}),), launches=2)
SQUEUE = "squeue --noheader --states=all --jobs=12 --Format=State:|,Reason:|,exit_code:"
Script = Callable[[str, str], None]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """`site(program, shell)` puts a program on the path of a machine without schedulers; nothing is built."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "tiny.toml").write_text(TINY)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("ASSAY_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr("assay.cli.support.prepare.built", lambda _names: {})
    monkeypatch.setattr(batch, "find_scheduler", lambda _which: batch.get("slurm"))
    monkeypatch.chdir(tmp_path)

    def put(program: str, shell: str) -> None:
        path = tmp_path / "bin" / program
        path.write_text(f"#!/bin/sh\n{shell}\n")
        path.chmod(0o755)

    put("sbatch", 'echo "sbatch $*" >> calls; echo 12')
    put("squeue", "echo 'PENDING|Resources|0'")
    put("sacct", "echo 'accounting is off' >&2; exit 1")
    put("sinfo", "exit 1")
    return put


def typed(*words: str) -> Result:
    return CliRunner().invoke(assay, words)


def failure(result: Result) -> AssayError:
    assert isinstance(result.exception, AssayError), result.output
    return result.exception


def submitted(*words: str) -> Submitted:
    """The record of a job that was submitted now."""
    result = typed("submit", *words)
    assert result.exit_code == 0, result.exception
    return jobs(Path("runs"))[-1]


def begin_run(job: Submitted, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the job does when it starts."""
    monkeypatch.setenv("ASSAY_JOB", job.name)
    monkeypatch.setattr("assay.simulation.machine._BOOTED", datetime.now(UTC))  # after it was submitted
    path = simulated_run(Path("runs"), study=TWO)
    monkeypatch.delenv("ASSAY_JOB")
    return path


def cut_short(path: Path, ending: str | None) -> None:
    """A run after its first launch, as Ctrl-C, or a crash where None, leaves it."""
    lines = (path / "records.jsonl").read_bytes().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines, 1) if b'"type":"launch"' in line)
    (path / "records.jsonl").write_bytes(b"".join(lines[:first]))
    (path / "ending.json").unlink()
    if ending:
        told = {"status": ending, "ended": "2999-01-01", "elapsed_s": 1.0, "cut": {}}
        (path / "ending.json").write_text(json.dumps(told))


@pytest.mark.usefixtures("site")
def test_one_script_runs_the_whole_study_with_the_options_that_were_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", "/shared/cache")
    result = typed("submit", "tiny.toml", "-N2", "-plong", "-A", "proj", "--time", "1:30:00", "--launches", "3")
    assert result.exit_code == 0, result.exception
    assert result.stdout == "12\n"
    job = jobs(Path("runs"))[-1]
    script = Path(f"runs/jobs/{job.name}.sh").read_text()
    called, _, path = Path("calls").read_text().rpartition(" ")
    assert called.startswith("sbatch --parsable ")
    assert path == f"{Path(f'runs/jobs/{job.name}.sh').absolute()}\n"
    for word in ("--nodes=2", "--partition=long", "--account=proj", "--time=1:30:00", "--signal=B:TERM@60"):
        assert f"#SBATCH {word}\n" in script
        assert f" {word} " in f"{called} "
    assert " -P -m assay run tiny.toml --launches 3 --budget 5070s\n" in script  # all but a minute and 5 %
    assert (
        f"exec env ASSAY_CACHE=/shared/cache ASSAY_JOB={job.name} ASSAY_RUNS={Path('runs').absolute()} " in script
    )
    assert (job.id, job.scheduler, job.study, job.nodes, job.seconds) == ("12", "slurm", "tiny", 2, 5400)


@pytest.mark.usefixtures("site")
def test_a_dry_run_prints_the_script_and_leaves_nothing() -> None:
    result = typed("submit", "tiny.toml", "--dry-run")
    assert result.stdout.startswith("#!/bin/sh\n#SBATCH --job-name=assay-tiny\n")
    assert "#SBATCH --time=0:12:00\n" in result.stdout  # 1.5 times the budget, and ten minutes to build
    assert not Path("runs").exists()
    assert not Path("calls").exists()


@pytest.mark.usefixtures("site")
def test_a_run_gets_the_time_of_its_job_less_what_else_takes_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def budget(*words: str) -> str:
        return " ".join(submitted("tiny.toml", *words).command).partition("--budget ")[2]

    assert budget("--time", "1h") == "3360s"
    assert budget("--time", "1h", "--budget", "5m") == "5m"
    assert budget("--time", "1h", "--confirm") == "1680s"  # experiments may take as long
    assert budget("--time", "1h", "--confirm-budget", "6m") == "3000s"
    assert budget() == ""  # the limit follows the plan

    def cannot_build(_plan: object) -> None:
        raise UnfitEnvironmentError("no compiler", why="none is here", remedy="none")

    monkeypatch.setattr("assay.cli.support.prepare.built", cannot_build)
    assert budget("--time", "1h") == "2760s"
    assert budget("--time", "3m") == "51s"


def test_a_run_that_goes_on_gets_the_time_of_another_job_too(
    site: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = begin_run(submitted("tiny.toml", "--time", "1h"), monkeypatch)
    cut_short(path, "interrupted")
    site("sbatch", "echo 2")
    used_s = remaining_work(store.load(path)).used_s  # type: ignore[union-attr]
    assert submitted("--resume", path.name).command[-2:] == ("--budget", f"{used_s + 3360:.0f}s")
    assert submitted("--resume", path.name, "--time", "30m").command[-1] == f"{used_s + 1650:.0f}s"


@pytest.mark.usefixtures("site")
def test_what_is_wrong_is_said_before_anybody_waits() -> None:
    for words, what in (
        (("nonesuch",), "nonesuch"),
        ((), "which study?"),
        (("tiny.toml", "--hosts", "n[1-2]", "-N3"), "-N 3 and 2 nodes by name"),
        (("tiny.toml", "--time", "30"), "--time 30 has no unit"),
        (("tiny.toml", "--time", "1m"), "--time 1m is too short"),
        (("tiny.toml", "--scheduler", "moab"), "there is no scheduler 'moab'"),
        (("--resume", "nonesuch"), "there is no run in 'runs'"),
    ):
        result = typed("submit", *words)
        assert what in str(result.exception).replace(str(Path.cwd()) + "/", ""), words
        assert not Path("calls").exists()
    assert typed("submit", "tiny.toml", "--launches", "0").exit_code == 2


@pytest.mark.parametrize(
    ("partitions", "words", "why", "remedy"),
    [
        (
            "lab*|2 big|16",
            "-N9",
            "partition lab has 2",
            "assay submit tiny.toml -N 9 --partition big --launches 3",
        ),
        (
            "lab*|2 big|8",
            "-N9 -plab",
            "partition lab has 2",
            "assay submit tiny.toml -N 2 --partition lab --launches 3",
        ),
        ("lab*|2 big|8", "-N9 -plab,big", "partition big has 8", "assay submit tiny.toml -N 8"),
        ("lab*|0", "-N2", "partition lab has 0", "sinfo --noheader '--format=%P|%D'"),
        ("lab*|2 big|9", "-N9 -pbig", "", ""),
        ("lab*|2 big|9", "-N9 -pother", "", ""),  # the scheduler itself says that there is none
        ("lab*|2", "-N9 --scheduler-option=--partition=big", "", ""),
        ("lab|2", "-N9", "", ""),  # which one is the usual one nobody says
        ("no answer", "-N9", "", ""),
    ],
)
def test_more_nodes_than_a_queue_has_are_refused(
    partitions: str, words: str, why: str, remedy: str, site: Script
) -> None:
    site("sinfo", f"printf '%s\\n' {shlex.join(partitions.split())}")
    result = typed("submit", "tiny.toml", *words.split(), "--launches", "3")
    if not why:
        assert result.exit_code == 0, result.exception
        return
    refused = failure(result)
    assert isinstance(refused, UnfitEnvironmentError)
    assert refused.exit_code == 4
    assert (refused.what, refused.why) == (f"no job of {words[2]} nodes can start", why)
    assert refused.remedy.startswith(remedy)
    assert not Path("calls").exists()


def test_a_partition_of_the_environment_counts_where_none_is_typed(
    site: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    site("sinfo", "printf '%s\\n' 'lab*|2' 'big|16'")
    monkeypatch.setenv("SBATCH_PARTITION", "big")
    assert failure(typed("submit", "tiny.toml", "-N9", "-plab")).why == "partition lab has 2"
    assert typed("submit", "tiny.toml", "-N9").exit_code == 0
    assert "--partition" not in Path("calls").read_text()
    assert typed("submit", "tiny.toml", "-N2", "-plab").exit_code == 0
    assert " --partition=lab " in Path("calls").read_text()


def test_a_scheduler_that_refuses_is_quoted(site: Script) -> None:
    site("sbatch", "echo 'sbatch: error: invalid account' >&2; exit 1")
    refused = failure(typed("submit", "tiny.toml"))
    assert isinstance(refused, UnfitEnvironmentError)
    assert (refused.what, refused.why) == ("slurm refuses the job", "sbatch: error: invalid account")
    assert refused.remedy.startswith("sbatch --parsable --job-name=")
    assert jobs(Path("runs")) == ()


@pytest.mark.parametrize(
    ("text", "seconds"), [("30m", 1800), ("2h", 7200), ("1:30:00", 5400), ("1-00:00:30", 86430), ("120", None)]
)
def test_a_time_limit_has_a_unit(text: str, seconds: int | None) -> None:
    if seconds is None:
        with pytest.raises(UsageError) as refused:
            _seconds(text)
        assert refused.value.remedy == "--time 120m"
    else:
        assert _seconds(text) == seconds


ASKED = "asked to end by the scheduler"
STANDINGS = [
    ("PENDING|Resources|0", None, "queued", "Resources", None),
    ("RUNNING|None|0", None, "running", "", None),
    ("COMPLETED|None|0", "complete", "complete", "", None),
    ("FAILED|NonZeroExitCode|256", "complete", "failed", "NonZeroExitCode, exit code 1", MeasurementError),
    ("FAILED|NonZeroExitCode|33280", "interrupted", "timed-out", ASKED, PartialRunError),
    ("TIMEOUT|TimeLimit|15", None, "timed-out", "TimeLimit, signal 15", PartialRunError),
    ("CANCELLED|None|0", "interrupted", "cancelled", "", PartialRunError),
    ("NODE_FAIL|None|0", None, "failed", "node failure", MeasurementError),
    ("", "complete", "complete", "", None),
    ("", "interrupted", "ended", "interrupted", PartialRunError),
    ("", None, "unknown", "Invalid job id specified", None),
]  # fmt: skip


@pytest.mark.parametrize(("told", "ending", "state", "reason", "error"), STANDINGS)
def test_how_a_job_stands_and_how_far_its_run_is(  # noqa: PLR0913, PLR0917 (a table)
    told: str,
    ending: str | None,
    state: str,
    reason: str,
    error: type[AssayError] | None,
    site: Script,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site("squeue", f"echo '{told}'" if told else "echo 'Invalid job id specified' >&2; exit 1")
    path = begin_run(submitted("tiny.toml"), monkeypatch)
    whole = jobs_told()[0]
    assert (whole["made"], whole["planned"]) == (5, 5)
    if ending != "complete":
        cut_short(path, ending)
    one = jobs_told()[0]
    assert (one["state"], one["reason"], one["run"], one["job"]) == (state, reason, path.name, "12")
    assert (one["made"], one["left_s"] > 0) == ((5, False) if ending == "complete" else (1, True))
    result = typed("status", "12")
    assert type(result.exception) is (error or type(None))
    if error is PartialRunError:
        assert failure(result).remedy == f"assay submit --resume {path.name}"


def test_records_of_a_job_are_read_after_its_scheduler_has_said_that_it_ended(
    site: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last launch is written, and the job ends, while the scheduler is asked."""
    path = begin_run(submitted("tiny.toml"), monkeypatch)
    shutil.copytree(path, "whole")
    cut_short(path, None)
    site("squeue", f"cp -r whole/. {path}; echo 'COMPLETED|None|0'")
    (one,) = jobs_told()
    assert (one["state"], one["made"], one["planned"]) == ("complete", 5, 5)


def jobs_told() -> list[dict[str, Any]]:
    result = typed("status", "--json")
    assert result.exit_code == 0, result.exception
    told: list[dict[str, Any]] = json.loads(result.stdout)["jobs"]
    return told


@pytest.mark.usefixtures("site")
def test_a_job_whose_run_has_not_begun_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    first = submitted("tiny.toml")
    begin_run(first, monkeypatch)
    submitted("tiny.toml")
    assert [bool(one["run"]) for one in jobs_told()] == [True, False]


def test_a_run_goes_on_in_another_job_on_its_nodes(site: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    first = submitted("tiny.toml", "-plong", "-A", "proj", "--time", "2h", "--scheduler-option=--constraint=x")
    path = begin_run(first, monkeypatch)
    cut_short(path, "interrupted")
    site("sbatch", "echo 2")
    second = submitted("--resume", path.name[:15], "--budget", "5m")
    assert second.command == ("assay", "run", "--resume", path.name, "--budget", "5m")
    assert second.hosts == ("simulated",)
    assert second.run == path.name
    for one in ("queue", "account", "seconds", "options"):
        assert getattr(second, one) == getattr(first, one)
    assert [one["run"] for one in jobs_told()] == [path.name, path.name]
    for reference, count in (("2", 1), ("12", 1), (path.name[:20], 2), ("last", 1)):  # all names begin with a 2
        assert len(json.loads(typed("status", reference, "--json").stdout)["jobs"]) == count, reference
    refused = failure(typed("submit", "--resume", path.name, "--launches", "9"))
    assert "keeps its plan and its nodes" in refused.why


@pytest.mark.usefixtures("site")
def test_a_run_that_is_complete_is_not_submitted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    path = begin_run(submitted("tiny.toml"), monkeypatch)
    refused = failure(typed("submit", "--resume", "last"))
    assert (refused.what, refused.remedy) == (f"run '{path.name}' is already complete", f"assay show {path.name}")


def test_watching_ends_with_the_last_job_and_tells_each_change(
    site: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted("tiny.toml")
    states = "'PENDING|Priority|0' 'PENDING|Priority|0' 'RUNNING|None|0' 'COMPLETED|None|0'"
    site(
        "squeue",
        f'echo x >> looks; shift_by=$(wc -l < looks); set -- {states}; eval "echo \\"\\${{$shift_by}}\\""',
    )
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    result = typed("status", "last", "--watch")
    assert result.stdout == "12 queued (Priority)\n12 running\n12 complete\n"
    assert result.exit_code == 0


@pytest.mark.usefixtures("site")
def test_a_job_that_nobody_submitted_is_named_with_those_that_are_there() -> None:
    assert typed("status").exit_code == 0
    submitted("tiny.toml")
    refused = failure(typed("status", "99"))
    assert isinstance(refused, UsageError)
    assert refused.why == "in runs there are: 12".replace("runs", os.environ["ASSAY_RUNS"])


@pytest.mark.usefixtures("site")
def test_a_record_that_is_none_is_passed_over() -> None:
    job = submitted("tiny.toml")
    Path(f"runs/jobs/{job.name}.json").write_text("{")
    assert jobs(Path("runs")) == ()
    assert msgspec.json.encode(job)
