"""The rule for idle states: heard where a level of the factor is slow, silent where none is."""

import re
from pathlib import Path

import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.launch.simulated import Law
from assay.model.plan import Factor, Measure, Study
from assay.model.result import Finding
from assay.plan import Options

STUDY = Study(
    "Idle states",
    "What do they cost?",
    (
        Measure("core_to_core", ("pair",)),
        Measure("latency", ("one-core",), axes={"bytes": (2**14, 2**20, 2**26), "pages": "small"}),
        Measure("stream", ("one-core",)),
    ),
    launches=6,
)
SLEEP, WAKE = "cpupower idle-set -E", "cpupower idle-set -D 0"


def asleep(factor: float, launch_noise: float = 0.003) -> Law:
    """A machine that is so many times as slow while idle states are on."""
    return Law(commands={SLEEP: 1 / factor, WAKE: 1.0}, launch_noise=launch_noise)


def rule_of(
    folder: Path, law: Law, levels: tuple[str, ...] = ("on", "off"), launches: int | None = None, seed: int = 1
) -> list[Finding]:
    """What the rule says of a run that varies idle states."""
    cstates = Factor("cstates", levels, "commands", commands={"on": SLEEP, "off": WAKE})
    options = Options(factors=(cstates,), launches=launches)
    run = store.load(simulated_run(folder, law, study=STUDY, options=options, seed=seed))
    return [each for each in analyse(run).findings if each.rule == "c_states"]


@pytest.mark.parametrize("levels", [("on", "off"), ("off", "on")])
def test_idle_states_that_cost_latency_are_heard_whichever_level_is_the_base(
    tmp_path: Path, levels: tuple[str, ...]
) -> None:
    found = {each.claim.partition(" ")[0]: each for each in rule_of(tmp_path, asleep(1.4), levels)}
    assert set(found) == {"core_to_core", "latency"}
    for each in found.values():
        assert "takes 1.40 times as long with cstates=on as with cstates=off" in each.claim
        assert (each.severity, each.status) == ("advice", "observed")
        assert re.match(r"lower bound \(95 %\) of on / off 1\.(3|4)", each.statistic)
        assert WAKE in each.next
    assert len(found["latency"].evidence) == 3  # one finding for all sizes


def test_the_level_that_is_slow_is_named_even_where_it_is_the_other_one(tmp_path: Path) -> None:
    found = rule_of(tmp_path, asleep(1 / 1.5))
    assert found
    for each in found:
        assert "takes 1.50 times as long with cstates=off as with cstates=on" in each.claim
        assert SLEEP in each.next


@pytest.mark.parametrize("factor", [1.0, 1.19])
def test_levels_that_differ_by_less_than_a_fifth_are_not_accused(tmp_path: Path, factor: float) -> None:
    assert rule_of(tmp_path, asleep(factor)) == []


def test_what_the_machine_cannot_tell_from_noise_is_no_finding(tmp_path: Path) -> None:
    for seed in range(6):
        assert rule_of(tmp_path / str(seed), asleep(1.0, launch_noise=0.3), seed=seed) == []


def test_three_launches_make_a_candidate_and_name_the_command_that_decides(tmp_path: Path) -> None:
    found = rule_of(tmp_path, asleep(1.4), launches=3)
    assert found
    for each in found:
        assert each.status == "candidate"
        assert re.match(r"least ratio of 3 blocks of on / off 1\.(3|4)", each.statistic)
        assert each.next.startswith("assay run --resume ")
        assert " --confirm " in each.next
