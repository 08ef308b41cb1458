"""Real programs that misbehave, under the real executor: the run goes on and says what happened."""

import stat
import sys
from pathlib import Path

import msgspec
import pytest
from tests.simulation import Recorder, begin, builds_for, plan_for

from assay import store
from assay.launch.command import Site
from assay.launch.local import launcher
from assay.launch.starter import Starter
from assay.model.plan import Measure, Plan, Study
from assay.model.run import Run
from assay.run import engine, execute
from assay.run.process import Processes
from assay.store import RunDirectory

STUDY = Study(
    "Faults",
    "Q?",
    (
        Measure("stream", ("one-core",), axes={"elements": 1000, "stores": ("ordinary", "non-temporal")}),
        Measure("memcpy", ("one-core",), axes={"bytes": (64, 128)}),
    ),
    launches=3,
)

#: A program that answers as a native one would, but for `misbehave(case)`, which a test puts in its place.
_ANSWER = """#!{python}
import json, os, signal, sys, time
def misbehave(case):
    pass
{misbehave}
words = sys.argv[1:]
cases = [words[i + 1] for i, word in enumerate(words) if word == "--case"]
for case in cases:
    rank = dict(rank=0, host="h", boot_id="b", requested_cpus=[0], cpus=[0], requested_memory="first-touch",
                page_nodes={{}})
    header = dict(type="header", schema=1, benchmark="{name}", case=case, params={{}},
                  work={{"k": {{"bytes": 1.0}}}}, build={{}}, ranks=[rank],
                  clock=dict(name="c", resolution_s=1e-9, overhead_s=1e-8))
    print(json.dumps(header), flush=True)
    misbehave(case)
    print(json.dumps(dict(type="series", kernel="k", rank=0, phase="measured", iterations=1, stop="samples",
                          start_s=[0.0], seconds=[0.001])))
    print(json.dumps(dict(type="verdict", passed=True, error=0.0, tolerance=1.0)))
    print(json.dumps(dict(type="end", status="complete")), flush=True)
"""


def program(folder: Path, name: str, misbehave: str = "") -> str:
    path = folder / name
    path.write_text(_ANSWER.format(python=sys.executable, name=name, misbehave=misbehave))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def carry_out(folder: Path, misbehave: str) -> tuple[Plan, Run]:
    """Run the study with a `memcpy` that misbehaves and a `stream` that does not."""
    plan = msgspec.structs.replace(plan_for(study=STUDY), probe_cpus=())
    programs = {"stream": program(folder, "stream"), "memcpy": program(folder, "memcpy", misbehave)}
    with begin(folder / "runs", plan) as directory:
        path = directory.path
        _execute(plan, directory, programs)
    return plan, store.load(path)


def _execute(plan: Plan, directory: RunDirectory, programs: dict[str, str]) -> None:
    builds = {name: msgspec.structs.replace(build, programs=programs) for name, build in builds_for(plan).items()}
    execute(plan, directory, Starter(Site(plan.hosts[0]), launcher), Processes(), builds, Recorder())


def complete_launches(run: Run, benchmark: str) -> int:
    """Launches of cases that came through; attempts at one launch (this machine need not be quiet) count once."""
    through = {
        (records.launch.id, case.header.case)
        for records in run.launches
        for case in records.cases
        if case.end and case.header.benchmark == benchmark and case.header.case != "sentinel"
    }
    return len(through)


@pytest.mark.parametrize(
    ("misbehave", "exit_code", "words"),
    [
        ("def misbehave(case): os.kill(os.getpid(), signal.SIGKILL)", -9, "ended by signal 9"),
        ("def misbehave(case): sys.exit('no such luck')", 1, "no such luck"),
        ("def misbehave(case): print('### not JSON ###')", 0, "not a valid record"),
        ('def misbehave(case): print(\'{"type":"series"}\')', 0, "not a valid record"),
    ],
    ids=["killed", "gives up", "garbage", "half a record"],
)
def test_a_misbehaving_program_costs_its_own_cases_only(
    tmp_path: Path, misbehave: str, exit_code: int, words: str
) -> None:
    plan, run = carry_out(tmp_path, misbehave)
    struck = [one.launch for one in run.launches if one.launch.program == "memcpy"]
    assert struck[0].exit_code == exit_code
    assert words in struck[0].message
    assert complete_launches(run, "stream") == 3 * 2
    assert run.ending is not None
    bad = [case.id for case in plan.cases if case.benchmark == "memcpy"]
    assert all(case_id in run.ending.cut for case_id in bad)
    assert run.damage == ()


def test_a_program_that_hangs_is_ended_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_LEAST_PATIENCE_S", 1.0)
    monkeypatch.setattr(engine, "_PATIENCE", 0.1)
    _, run = carry_out(tmp_path, "def misbehave(case): time.sleep(600)")
    struck = [one.launch for one in run.launches if one.launch.program == "memcpy"]
    assert {launch.exit_code for launch in struck} == {None}
    assert all("time limit" in launch.message for launch in struck)
    assert complete_launches(run, "stream") == 3 * 2


def test_a_program_that_fails_once_is_tried_again_in_the_next_block(tmp_path: Path) -> None:
    flag = tmp_path / "failed"
    once = f"""
def misbehave(case):
    if not os.path.exists({str(flag)!r}):
        open({str(flag)!r}, "w").close()
        os.kill(os.getpid(), signal.SIGSEGV)
"""
    _, run = carry_out(tmp_path, once)
    assert complete_launches(run, "memcpy") == 2 * 2


def test_what_a_program_says_on_stderr_is_kept(tmp_path: Path) -> None:
    _, run = carry_out(tmp_path, "def misbehave(case): print('careful with', case, file=sys.stderr)")
    first = next(one.launch for one in run.launches if one.launch.program == "memcpy")
    assert first.message.startswith("careful with")
    assert (Path(run.path) / "logs" / f"{first.id}.err").read_text().startswith("careful with")
