"""Levels stated on the command line with the command that sets each: `--vary NAME=LEVEL:COMMAND|LEVEL:COMMAND`."""

import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from tests.simulation import simulated_run
from tests.unit.test_like import given

from assay import references, store, studies
from assay.analyse import analyse
from assay.cli import assay
from assay.model.errors import UsageError
from assay.model.plan import Factor
from assay.model.run import Run
from assay.plan import factors
from assay.simulation import Law

QUICK = studies.get("quick")
SLEEP, WAKE = "cpupower idle-set -E", "cpupower idle-set -D 0"
C_STATES = f"c-states=enabled:{SLEEP}|disabled:{WAKE}"
SMALL, JUMBO = (f"ip link set eth0 mtu {mtu}" for mtu in (1500, 9000))
MTU = f"mtu=1500:{SMALL}|9000:{JUMBO}"
#: A table of the configuration of the same name; the command line comes first.
TABLE = {"c-states": {"levels": {"on": "idle on", "off": "idle off"}}}


def parsed(request: str, table: Mapping[str, object] = {}) -> Factor:
    (found,) = factors.parse([request], QUICK, table)
    return found


@pytest.mark.parametrize("table", [{}, TABLE], ids=["alone", "before a table"])
def test_each_level_has_the_command_that_follows_its_name(table: Mapping[str, object]) -> None:
    found = parsed(C_STATES, table)
    assert (found.kind, found.levels) == ("commands", ("enabled", "disabled"))
    assert list(found.commands.items()) == [("enabled", SLEEP), ("disabled", WAKE)]


def test_commas_separate_levels_whose_commands_have_none_and_a_path_alone_is_a_command() -> None:
    assert parsed("fan=slow: /opt/fan-slow ,fast:/opt/fan-fast").commands == {
        "slow": "/opt/fan-slow",
        "fast": "/opt/fan-fast",
    }
    assert parsed("x=a:sh -c 'echo 1 > /f'|b:echo 2").commands["a"] == "sh -c 'echo 1 > /f'"


def test_a_table_is_used_by_its_names_and_a_variable_keeps_its_colons() -> None:
    assert parsed("c-states=off,on", TABLE).levels == ("off", "on")
    assert parsed("UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1").kind == "variable"
    assert parsed("UCX_LOG_FILE=file:/a/b,file:/c/d").kind == "variable"
    assert parsed("memory=bind:0,bind:1").kind == "memory"


@pytest.mark.parametrize(
    ("request_", "what"),
    [
        (f"c-states=enabled:{SLEEP}|disabled", "level 'disabled' of --vary c-states has no command"),
        (f"c-states=enabled:{SLEEP}|enabled:{WAKE}", "a level of 'c-states' is given twice"),
        (f"c-states=enabled:{SLEEP}", "'c-states' needs two levels or more"),
        ("x=a:echo 'b c|d:echo e", "cannot split the command"),
        ("x=a:echo 1 > /f|b:echo 2", "'>' in the command 'echo 1 > /f' of 'x' is for a shell"),
        ("memori=bind:0,bind:1", "nothing is called 'memori'"),
        ("network=a:up eth0|b:up eth1", "'network' cannot be the name of a factor"),
        ("../x=a:echo 1|b:echo 2", "'../x' cannot be the name of a factor"),
        ("turbo boost=on:set -b 0|off:set -b 1", "'turbo boost' cannot be the name of a factor"),
        ("x=a:echo ~/y|b:echo 2", "'~/y' in the command"),
        ("x=a:A=1 echo|b:echo 2", "'A=' in the command"),
        ("x=a:echo [ab]|b:echo 2", "'[ab]' in the command"),
        ("x=a:echo {1,2}|b:echo 2", "'{1,2}' in the command"),
        ("x=a:echo 1 # no|b:echo 2", "'#' in the command"),
        ("x=a:echo 1\necho 2|b:echo 2", "'\n' in the command"),
        ("x=a:echo 1|b:''", "level 'b' of --vary x has no command"),
        ("mtu=a:ip link set DEVICE mtu 9000|b:ip link set DEVICE mtu 1500", "DEVICE in the command"),
        ("stores=a:echo 1|b:echo 2", "stream has no stores 'a:echo 1'"),
    ],
)
def test_what_is_no_command_is_refused(request_: str, what: str) -> None:
    with pytest.raises(UsageError) as refused:
        parsed(request_)
    assert refused.value.what.startswith(what)
    assert refused.value.remedy


def test_the_name_of_a_remedy_is_one_that_is_accepted() -> None:
    for request in ("turbo boost=on:set -b 0|off:set -b 1", "network=a:up eth0|b:up eth1"):
        with pytest.raises(UsageError) as refused:
            parsed(request)
        name = shlex.split(refused.value.remedy)[1].partition("=")[0]
        assert parsed(f"{name}=a:echo 1|b:echo 2").name == name


def test_what_a_shell_leaves_as_it_is_is_accepted() -> None:
    command = "find /x -name '*.y' -exec echo {} ';' --set=a~b c#d 'x[1]'"
    assert parsed(f"x=a:{command}|b:echo 2").commands["a"] == command


def test_the_plan_prints_the_whole_command_quoted() -> None:
    words = ["like:cs-pccluster2", "--network", "gbe=eth0", "--vary", MTU]
    answer = CliRunner().invoke(assay, ["plan", *words], env={"COLUMNS": "300"})
    assert answer.exit_code == 0, answer.output
    (line,) = (each for each in answer.output.splitlines() if each.startswith("next: "))
    typed = shlex.split(line.removeprefix("next: "))
    assert typed[:3] == ["assay", "run", "like:cs-pccluster2"]
    assert sorted(typed[3:]) == sorted(words[1:])


@pytest.mark.parametrize(("name", "factor"), [("epyc-7601", "c-states"), ("cs-pccluster2", "mtu")])
def test_a_study_offers_the_factor_of_its_source_with_the_whole_option(name: str, factor: str) -> None:
    offered = f"--vary {shlex.quote(references.get(name).factors[factor].vary)}"
    without = studies.get(f"like:{name}").without
    assert [offered in why for what, why in without.items() if what.startswith(f"{factor} of the source")] == [
        True
    ]


def repeated(folder: Path, name: str, request: str, benchmark: str, law: Law) -> Run:
    """A run of the latencies or ping-pongs of a reference, with levels as its page prints them."""
    study = studies.get(f"like:{name}")
    sized = [
        msgspec.structs.replace(each, axes={**each.axes, "bytes": (0, 1024, 2**20)})
        for each in study.measure
        if each.benchmark == benchmark and each.axes.get("pattern", "latency") == "latency"
    ]
    study = msgspec.structs.replace(study, measure=tuple(sized))
    shape, options = given(name)
    varied = factors.parse([request], study, {})
    options = msgspec.structs.replace(options, hosts=("n1", "n2"), factors=varied, launches=6)
    run = store.load(simulated_run(folder, law, description=shape, study=study, options=options))
    return msgspec.structs.replace(run, plan=msgspec.structs.replace(run.plan, reference=name))


def truths(run: Run, factor: str) -> list[str]:
    """Of the conclusions about levels of a factor that alone differ, for the benchmark of the run."""
    found = analyse(run).repetition
    assert found
    measured = {case.benchmark for case in run.plan.studied}
    return [
        each.truth
        for each in found.conclusions
        if all(
            {*one.factors} == {factor} and one.benchmark in measured for one in each.conclusion.quantity.operands
        )
    ]


@pytest.mark.parametrize(
    ("speed", "truth"), [(0.95, ["holds", "holds"]), (1.0, ["does not hold", "does not hold"])]
)
def test_2_to_9_per_cent_by_c_states_are_judged_on_a_run_of_the_printed_command(
    tmp_path: Path, speed: float, truth: list[str]
) -> None:
    assert references.get("epyc-7601").factors["c-states"].vary == C_STATES
    law = Law(commands={SLEEP: 1.0, WAKE: speed})
    run = repeated(tmp_path, "epyc-7601", C_STATES, "pt2pt", law)
    assert truths(run, "c-states") == truth


@pytest.mark.parametrize(
    ("speed", "tcp", "mpi"), [(0.9, "holds", "does not hold"), (1.0, "does not hold", "holds")]
)
def test_jumbo_frames_are_judged_on_a_run_of_the_printed_command(
    tmp_path: Path, speed: float, tcp: str, mpi: str
) -> None:
    assert references.get("cs-pccluster2").factors["mtu"].vary == MTU.replace("eth0", "DEVICE")
    law = Law(commands={SMALL: speed, JUMBO: 1.0})
    of_tcp = repeated(tmp_path / "tcp", "cs-pccluster2", MTU, "tcp", law)
    of_mpi = repeated(tmp_path / "mpi", "cs-pccluster2", MTU, "pt2pt", law)
    assert truths(of_tcp, "mtu") == [tcp]
    assert truths(of_mpi, "mtu") == [mpi]
