"""The rule for idle states: heard where a level of the factor is slow, silent where none is."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.plan import Factor, Measure, Study
from assay.model.result import Finding
from assay.plan import Options
from assay.report.sections import sections
from assay.simulation import Law

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
    cstates = Factor("c-states", levels, "commands", commands={"on": SLEEP, "off": WAKE})
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
        assert re.search(
            r"takes 1\.40 \[1\.[34]\d*, 1\.4\d*\] times as long with c-states=on as with c-states=off", each.claim
        )
        assert (each.severity, each.status) == ("advice", "observed")
        assert each.numbers["statistic"].has_interval
        assert each.numbers["statistic"].value == pytest.approx(1.4, rel=0.02)
        assert 1.02 <= each.numbers["threshold"].value < 1.1
        assert WAKE in each.next
    assert sum(" : " in name for name in found["latency"].evidence) == 3  # one finding for all sizes


def test_the_level_that_is_slow_is_named_even_where_it_is_the_other_one(tmp_path: Path) -> None:
    found = rule_of(tmp_path, asleep(1 / 1.5))
    assert found
    for each in found:
        assert each.numbers["statistic"].value == pytest.approx(1.5, rel=0.02)
        assert SLEEP in each.next


def test_levels_that_do_not_differ_are_not_accused(tmp_path: Path) -> None:
    assert rule_of(tmp_path, asleep(1.0)) == []


def test_a_published_effect_of_nine_per_cent_is_a_fact_where_the_run_resolves_it(tmp_path: Path) -> None:
    found = rule_of(tmp_path / "quiet", asleep(1.09))
    assert {each.severity for each in found} == {"fact"}
    assert {each.claim.partition(" ")[0] for each in found} == {"core_to_core", "latency"}
    for each in found:
        assert each.numbers["statistic"].lo > each.numbers["threshold"].value
    assert rule_of(tmp_path / "noisy", asleep(1.09, launch_noise=0.1)) == []


WAITING = Study(
    "Pauses",
    "What do they cost?",
    tuple(
        Measure(each, ("pair:other-node",), axes={"pattern": "latency", "bytes": 8, "gap": (0, 100, 1000)})
        for each in ("pt2pt", "tcp")
    ),
    launches=6,
)


def after_pauses(folder: Path, law: Law) -> list[Finding]:
    """What the rule says of messages after pauses, without any factor."""
    path = simulated_run(folder, law, study=WAITING, options=Options(hosts=("n1", "n2")))
    return [each for each in analyse(store.load(path)).findings if each.rule == "c_states"]


def test_what_a_pause_costs_is_found_without_root(tmp_path: Path) -> None:
    by_name = {
        each.claim.rpartition("(")[2].partition(" ")[0]: each
        for each in after_pauses(tmp_path, Law(wake=(500e-6, 2 * 1.6e-6)))
    }  # as much again as a round trip between the nodes
    assert set(by_name) == {"pt2pt", "tcp"}
    assert by_name["pt2pt"].numbers["statistic"].value == pytest.approx(2.0, rel=0.02)
    assert by_name["pt2pt"].severity == "advice"
    assert by_name["tcp"].numbers["statistic"].value == pytest.approx(1 + 1 / 8, rel=0.02)
    assert by_name["tcp"].severity == "fact"
    assert all("After a pause of 1 ms" in each.claim for each in by_name.values())


def test_pauses_that_cost_nothing_are_silent(tmp_path: Path) -> None:
    assert after_pauses(tmp_path, Law()) == []


def test_what_the_machine_cannot_tell_from_noise_is_no_finding(
    tmp_path: Path, repeats: Callable[[int, int], int]
) -> None:
    for seed in range(repeats(3, 6)):
        assert rule_of(tmp_path / str(seed), asleep(1.0, launch_noise=0.3), seed=seed) == []


def test_three_launches_make_a_candidate_and_name_the_command_that_decides(tmp_path: Path) -> None:
    found = rule_of(tmp_path, asleep(1.4), launches=3)
    assert found
    for each in found:
        assert each.status == "candidate"
        assert each.numbers["statistic"].basis == "range"
        assert each.next.startswith("assay run --resume ")
        assert " --confirm " in each.next


def test_the_first_screen_shows_messages_that_follow_each_other(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, Law(), study=WAITING, options=Options(hosts=("n1", "n2"))))
    analysis = analyse(run)
    assert {each.params.get("gap") for each in analysis.estimates if each.benchmark == "pt2pt"} == {0, 100, 1000}
    headlines = [line for each in sections(run, analysis) if each.id == "messages" for line in each.headlines]
    assert headlines
    assert {line.estimate.params["gap"] for line in headlines} == {0}
    assert not any("gap" in line.label for line in headlines)
