import json
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from assay.cli import assay
from assay.model.errors import UsageError
from assay.model.machine import Machine
from assay.model.plan import Plan

MakeMachine = Callable[..., Machine]
Ask = Callable[..., Result]


@pytest.fixture
def ask(make_machine: MakeMachine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ask:
    """`ask(machine, *words)`: `assay plan *words` on 80 columns for that machine."""

    def run(shape: tuple[int, ...], *words: str) -> Result:
        monkeypatch.setattr("assay.machine.synthetic", lambda _description: make_machine(*shape))
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.chdir(tmp_path)
        return CliRunner().invoke(assay, ["plan", *words, "--synthetic", "described"])

    return run


EPYC = (2, 4, 2, 4)


def test_the_dual_epyc_is_shown_with_its_matrix_on_one_line(ask: Ask) -> None:
    shown = ask(EPYC, "memory", "--seed", "1").output
    words = " ".join(shown.split())
    assert "8 x 8 placements" in words
    assert "all:numa:* " in words
    assert "all:numa:5" not in words
    for placement in ("all:socket:0", "all:numa:0", "half:numa:0", "all:l3:0", "one-core", "half"):
        assert any(line.split()[:1] == [placement] for line in shown.splitlines()), placement
    assert "seed 1" in words
    assert "this machine has one hardware thread per core" in words


@pytest.mark.parametrize("shape", [(1, 1, 1, 1, 1), (1, 1, 1, 2, 1), EPYC, (2, 1, 1, 64, 2)])
def test_no_line_is_wider_than_the_terminal(shape: tuple[int, ...], ask: Ask) -> None:
    for study in ("quick", "memory"):
        lines = ask(shape, study).output.splitlines()
        assert [line for line in lines if len(line) > 80] == []


def test_all_lists_every_case(ask: Ask) -> None:
    shown = ask(EPYC, "memory", "--all").output
    plan = msgspec.json.decode(ask(EPYC, "memory", "--json").output, type=Plan)
    listed = {line.strip() for line in shown.splitlines()}
    assert {case.id for case in plan.cases if case.role == "measure"} <= listed


def test_json_is_the_plan_with_a_schema_number(ask: Ask) -> None:
    options = ("--seed", "5", "--launches", "4", "--precision", "5%", "--budget", "2m", "--json")
    plan = json.loads(ask(EPYC, "quick", *options).output)
    assert plan["schema"] == 1
    assert [plan[key] for key in ("seed", "launches", "precision", "budget_s")] == [5, 4, 0.05, 120.0]


def test_a_plan_says_what_is_set_again_at_the_end_and_its_command_is_one_line(ask: Ask) -> None:
    option = "c-states=enabled:cpupower idle-set -E|disabled:cpupower idle-set -D 0"
    shown = ask(EPYC, "quick", "--vary", option).output
    assert "set again at the end, as the usual state of every node: c-states enabled" in " ".join(shown.split())
    assert shown.splitlines()[-1] == f"next: assay run quick --vary '{option}', on that machine"


def test_the_next_command_is_the_last_line(ask: Ask) -> None:
    assert ask(EPYC, "quick").output.splitlines()[-1] == "next: assay run quick, on that machine"


def test_sizes_that_differ_between_kinds_of_buffers_are_shown_for_each(ask: Ask) -> None:
    words = " ".join(ask(EPYC, "quick").output.split())
    assert "bytes: 1 B to 64 MiB, 27 sizes (buffers=hot); 64 B to 64 MiB, 11 sizes (buffers=cold)" in words
    assert "38" in words


@pytest.mark.parametrize("names", [("",), ("  ",), ("gcc", "gcc")])
@pytest.mark.parametrize("command", [("plan", "quick"), ("run", "quick"), ("build",)])
def test_a_toolchain_without_a_name_or_named_twice_is_refused(
    command: tuple[str, ...], names: tuple[str, ...]
) -> None:
    words = [word for name in names for word in ("--toolchain", name)]
    result = CliRunner().invoke(assay, [*command, *words])
    assert result.exit_code == 2
    assert "a name is empty" in result.output or "'gcc' is given twice" in result.output


@pytest.mark.parametrize("command", ["plan", "discover"])
def test_an_empty_description_is_no_wish_for_this_machine(command: str) -> None:
    words = ["quick"] if command == "plan" else []
    error = CliRunner().invoke(assay, [command, *words, "--synthetic", ""]).exception
    assert isinstance(error, UsageError)
    assert error.what == "'' describes no machine"


@pytest.mark.parametrize("description", ["pack:999999999", "pack:64 core:1024", "9" * 5000])
def test_a_description_larger_than_any_machine_is_refused(description: str) -> None:
    error = CliRunner().invoke(assay, ["plan", "quick", "--synthetic", description]).exception
    assert isinstance(error, UsageError)
    assert "more than 8192" in error.why
    assert error.remedy.startswith("assay discover --synthetic")


@pytest.mark.parametrize("number", ["0", "-1", "1001", "1000000", "9" * 30, "9" * 5000, "many", "1.5", ""])
@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_number_of_launches_that_nobody_can_mean_is_refused(command: str, number: str) -> None:
    result = CliRunner().invoke(assay, [command, "quick", "--launches", number])
    assert result.exit_code == 2
    assert "is not a whole number from 1 to 1000" in " ".join(result.output.split())


def test_toolchains_are_shown_as_a_factor(ask: Ask) -> None:
    shown = ask(EPYC, "quick", "--toolchain", "gcc", "--toolchain", "clang").output
    assert "toolchain: gcc, clang" in shown


def test_what_is_folded_and_what_is_left_out_is_said_with_reasons(ask: Ask) -> None:
    words = " ".join(ask((1, 1, 1, 2), "quick").output.split())
    assert "half is one-core: half of 2 cores is one core" in words
    assert "stream at all, touch=serial: it needs 2 memory nodes; one memory node may be used" in words


def test_two_machines_at_once_are_refused(ask: Ask) -> None:
    error = ask(EPYC, "quick", "--from", "node.xml").exception
    assert isinstance(error, UsageError)
    assert error.what == "--from and --synthetic describe two machines"


def test_that_a_launch_longer_than_the_budget_of_a_user_is_ended_is_said(ask: Ask) -> None:
    said = "a launch is ended a tenth after the budget at the latest"
    assert said in " ".join(ask(EPYC, "quick", "--seed", "1", "--budget", "5s").output.split())
    assert said not in " ".join(ask(EPYC, "quick", "--seed", "1", "--budget", "10m").output.split())
    assert said not in " ".join(ask(EPYC, "quick", "--seed", "1").output.split())


def test_a_budget_that_is_shorter_than_the_estimate_is_said_with_the_one_that_is_not(ask: Ask) -> None:
    words = " ".join(ask(EPYC, "quick", "--seed", "1", "--budget", "5s").output.split())
    assert "the budget is shorter: every case is measured once before any is repeated" in words
    enough = re.search(r"the whole plan needs --budget (\d+[sm])", words)
    assert enough
    assert "the budget is shorter" not in ask(EPYC, "quick", "--seed", "1", "--budget", enough[1]).output


def test_a_machine_saved_as_xml_is_loaded(make_machine: MakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load(path: str) -> Machine:
        loaded.append(path)
        return make_machine(cores=2)

    monkeypatch.setattr("assay.machine.load_xml", load)
    monkeypatch.setenv("COLUMNS", "80")
    for option in ("--from", "--machine-from"):
        assert CliRunner().invoke(assay, ["plan", "quick", option, "node.xml"]).exit_code == 0
    assert loaded == ["node.xml", "node.xml"]


def test_a_users_study_with_an_index_that_is_not_there_is_refused(ask: Ask, tmp_path: Path) -> None:
    text = 'title = "t"\nquestion = "q?"\n[[measure]]\nbenchmark = "stream"\nplacements = ["all:numa:9"]\n'
    (tmp_path / "own.toml").write_text(text)
    error = ask(EPYC, "own.toml").exception
    assert isinstance(error, UsageError)
    assert error.why == "this machine has 8 NUMA nodes (0-7)"


def test_a_network_that_this_machine_has_not_is_refused_before_anything_is_planned() -> None:
    done = CliRunner().invoke(assay, ["plan", "network", "--network", "typo=eth9"])
    assert isinstance(done.exception, UsageError)
    assert done.exception.what == "no node has a network device 'eth9'"
    assert "there are: " in done.exception.why
    assert done.exception.remedy


def test_a_network_of_a_machine_that_is_described_is_taken_as_it_is(ask: Ask) -> None:
    done = ask(EPYC, "network", "--hosts", "n[1-2]", "--network", "ib=mlx5_0:1")
    assert done.exit_code == 0, done.output


def test_two_networks_are_levels_of_what_passes_between_nodes_and_of_nothing_inside_one(ask: Ask) -> None:
    said = ask(EPYC, "network", "--hosts", "n[1-2]", "--network", "ib=mlx5_0:1,gbe=eth0").output
    assert "  network: ib, gbe\n" in said
    assert "memcpy" in said
