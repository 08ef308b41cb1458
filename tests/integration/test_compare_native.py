"""Factors with real compilers, real programs and real commands. Nothing is asked of who wins."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay import machine, store, toolchain
from assay.analyse.noise import stops
from assay.cli import assay
from assay.launch.command import Site
from assay.launch.starter import Starter
from assay.model.errors import UnfitEnvironmentError
from assay.model.run import Run
from assay.plan import Options, make, parse, programs
from assay.run import Progress, execute
from assay.run.process import Processes
from assay.studies import get

pytestmark = pytest.mark.native

TINY = """
title = "Tiny"
question = "Does it differ?"
launches = 1
precision = 0.5
[[measure]]
benchmark = "stream"
placements = ["one-core"]
axes = { elements = 200000 }
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(TINY)
    return tmp_path


class Silent:
    def begins(self, launch: object, attempt: int, progress: Progress) -> None:
        """Nobody watches."""

    def waits(self, disturbed: object) -> None:
        pass

    def ended(self, launch: object, progress: Progress) -> None:
        """Nobody watches."""


def run(home: Path, *wishes: str, declared: dict[str, object] | None = None) -> Run:
    """The tiny study with these factors, one block of it, really measured."""
    study = get("tiny.toml")
    here, xml = machine.discover()
    default = toolchain.get().name
    factors = parse(wishes, study, declared or {})
    names = () if any(factor.kind == "toolchain" for factor in factors) else (default,)
    plan = make("tiny.toml", study, here, Options(launches=1, toolchains=names, factors=factors))
    builds = {
        name: toolchain.build(toolchain.get(name), programs=wanted) for name, wanted in programs(plan).items()
    }
    with store.create(plan, {here.host: (here, xml)}, builds, ("assay", "run"), home / "assay-runs") as directory:
        path = directory.path
        execute(plan, directory, Starter(Site(here.host)), Processes(), builds, Silent())
    return store.load(path)


def headers(measured: Run, factor: str) -> dict[str, list[dict[str, str]]]:
    """Level -> what the programs say of their build, in every launch of that level."""
    cases = {case.id: case for case in measured.plan.cases}
    found: dict[str, list[dict[str, str]]] = {}
    for launch in measured.launches:
        for records in launch.cases:
            if factor in cases[records.header.case].factors:
                level = cases[records.header.case].factors[factor]
                found.setdefault(level, []).append(records.header.build)
    return found


def test_two_compilers_are_two_programs_and_each_runs_at_its_level(home: Path) -> None:
    names = [one.name for one in toolchain.find()]
    if not {"gcc", "clang"} <= set(names):
        pytest.skip("gcc and clang are not both installed")
    measured = run(home, "toolchain=gcc,clang -O0")
    builds = measured.info.builds
    assert len({build.key for build in builds.values()}) == 2
    assert len({build.sha256["stream"] for build in builds.values()}) == 2
    said = headers(measured, "toolchain")
    assert all("clang" in build["compiler"].lower() for build in said["clang -O0"])
    assert all("clang" not in build["compiler"].lower() for build in said["gcc"])
    for launch in measured.launches:
        assert launch.launch.build == builds[launch.launch.toolchain].key
        assert launch.launch.argv[0] == builds[launch.launch.toolchain].programs["stream"]


def test_flags_reach_the_compiler_and_stand_in_the_headers(home: Path) -> None:
    usual = " ".join(toolchain.get().flags)
    other = "-O1"  # as the preset `static` has them: most of it is compiled already
    measured = run(home, f"flags={usual}|{other}")
    assert len({build.key for build in measured.info.builds.values()}) == 2
    said = headers(measured, "flags")
    assert set(said) == {usual, other}
    for level, builds in said.items():
        assert all(level in build["flags"] for build in builds)
    assert all(other not in build["flags"] for build in said[usual])


def test_each_level_of_memory_is_where_the_pages_lie(home: Path) -> None:
    topology = machine.discover()[0].topology
    node = next(each for each in topology.allowed_nodes)
    measured = run(home, f"memory=first-touch,bind:{node}")
    cases = {case.id: case for case in measured.plan.cases}
    asked: dict[str, str] = {}
    for launch in measured.launches:
        for records in launch.cases:
            case = cases[records.header.case]
            if case.role == "sentinel":
                continue
            (rank,) = records.header.ranks
            asked[case.factors["memory"]] = rank.requested_memory
            assert records.end is not None
            assert records.end.status == "complete"
            if case.factors["memory"].startswith("bind") and rank.page_nodes:
                assert set(rank.page_nodes) == {str(node)}
    assert asked == {"first-touch": "first-touch", f"bind:{node}": f"bind:{node}"}
    assert stops(measured).probed_s >= 1


def test_commands_of_levels_are_really_run_and_put_back(home: Path) -> None:
    state = home / "state"
    declared: dict[str, object] = {
        "mode": {"levels": {"slow": f"cp {home}/a {state}", "fast": f"cp {home}/b {state}"}}
    }
    (home / "a").write_text("slow")
    (home / "b").write_text("fast")
    measured = run(home, "mode=fast,slow", declared=declared)
    assert state.read_text() == "slow"
    prepared = {launch.launch.prepared["mode"][1] for launch in measured.launches}
    assert prepared == {f"{home}/a", f"{home}/b"}


def test_words_before_the_program_start_it_as_a_container_does_by_a_process_between(home: Path) -> None:
    inside = home / "inside"
    inside.write_text(f'#!/bin/sh\necho "$1" >>{home}/image\nshift\n"$@"\nexit $?\n')
    inside.chmod(0o755)
    declared: dict[str, object] = {"box": {"prefix": {"bare": "", "image": f"{inside} 'my image.sif'"}}}
    measured = run(home, "box", declared=declared)
    assert {each.end and each.end.status for launch in measured.launches for each in launch.cases} == {"complete"}
    levels = {case.id: case.factors.get("box") for case in measured.plan.cases}
    of_image = sum(levels[launch.launch.cases[0]] == "image" for launch in measured.launches)
    assert (home / "image").read_text().splitlines() == ["my image.sif"] * of_image
    assert of_image


def test_a_command_that_does_not_exist_is_told_by_name(home: Path) -> None:
    declared: dict[str, object] = {"mode": {"levels": {"a": "no-such-program-here", "b": "true"}}}
    with pytest.raises(UnfitEnvironmentError) as caught:
        run(home, "mode", declared=declared)
    assert "'mode'" in caught.value.what
    assert "no-such-program-here" in caught.value.why


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(assay, arguments)


@pytest.fixture
def one_cpu() -> Iterator[None]:
    """No second cpu, so no probe of cache lines: beside other tests it sees states, which split few launches."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    yield
    os.sched_setaffinity(0, allowed)


@pytest.mark.usefixtures("build", "one_cpu")
def test_the_command_line_varies_compares_and_reports(home: Path) -> None:
    (home / "assay.toml").write_text('[factor.mode]\nlevels = { a = "true", b = "true" }\n')
    result = invoke("run", "tiny.toml", "--vary", "mode", "--launches", "2")
    assert result.exit_code == 0, result.output
    assert "mode b against a (base)" in result.stdout
    document = json.loads(invoke("compare", "last", "--json").stdout)
    assert {pair["comparison"]["level"] for pair in document["pairs"] if pair["comparison"]["varied"]} == {"b"}
    dry = invoke("run", "tiny.toml", "--vary", "mode", "--launches", "1", "--dry-run")
    assert dry.stdout.splitlines().count("true") == len([x for x in dry.stdout.splitlines() if x.startswith("#")])


def test_an_unknown_key_of_a_factor_is_refused(home: Path) -> None:
    (home / "assay.toml").write_text('[factor.mode]\nlevel = { a = "true", b = "true" }\n')
    result = invoke("plan", "tiny.toml", "--vary", "mode")
    assert result.exception is not None
    assert "unknown key 'level'" in str(result.exception)
