"""What keeps every finding from a claim that its figures do not bear, whatever its rule is."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse, examine
from assay.analyse.findings import guarded, rules
from assay.model.facts import Fact
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.record import Series
from assay.model.result import Finding
from assay.model.run import LaunchRecords, Run
from assay.plan import Options
from assay.simulation import Law
from assay.topics.memory.rules import one_core

NODE = "pack:2 numa:1(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
STUDY = Study("Half", "Do half the cores do?", (Measure("stream", ("all", "half", "one-core")),), launches=6)


@pytest.fixture(scope="module")
def ill(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A node of which half the cores get more than all."""
    law = Law(core_traffic=6e9, remote=0.9, contention=0.5, node_traffic=16e9)
    return store.load(simulated_run(tmp_path_factory.mktemp("ill"), law, description=NODE, study=STUDY))


def _half(run: Run) -> list[Finding]:
    return [each for each in analyse(run).findings if each.rule == "half_cores"]


def _changed(run: Run, change: Callable[[LaunchRecords], LaunchRecords]) -> Run:
    return msgspec.structs.replace(run, launches=tuple(map(change, run.launches)))


def test_the_planted_fault_is_heard(ill: Run) -> None:
    (found,) = _half(ill)
    assert found.status == "observed"


def test_a_range_wider_than_its_statistic_claims_nothing(ill: Run) -> None:
    evidence = examine(ill)
    few = Quantity(1.5, 1.2, 3.1, basis="range")
    (found,) = _half(ill)
    for statistic, status in ((few, "not assessed"), (replace(few, hi=1.8), "observed")):
        loose = replace(found, numbers=found.numbers | {"statistic": statistic})
        assert guarded(loose, next(each for each in rules() if each.name == found.rule), evidence).status == status


def _disturb(launch: LaunchRecords) -> LaunchRecords:
    bracket = msgspec.structs.replace(launch.launch.bracket, foreign=0.5)
    return msgspec.structs.replace(launch, launch=msgspec.structs.replace(launch.launch, bracket=bracket))


def test_a_fault_seen_only_while_other_processes_ran_is_not_assessed(ill: Run) -> None:
    (found,) = _half(_changed(ill, _disturb))
    assert (found.status, found.severity) == ("not assessed", "fact")


def test_what_counters_show_is_a_problem_whatever_else_ran(tmp_path: Path) -> None:
    study = Study("Way", "Which?", (Measure("pt2pt", ("pair:other-node",), axes={"bytes": 65536}),), launches=3)
    hosts = Options(hosts=("n1", "n2"), networks={"fast": "eth1"})
    run = store.load(simulated_run(tmp_path, Law(detours={"eth1": "eth0"}), study=study, options=hosts))
    found = [each for each in analyse(_changed(run, _disturb)).findings if each.rule == "transport"]
    assert [each.severity for each in found] == ["problem"]


def test_a_clock_of_two_samples_accuses_nobody(tmp_path: Path) -> None:
    def first_sample(each: Series) -> Series:
        return msgspec.structs.replace(each, seconds=each.seconds[:1], start_s=each.start_s[:1])

    def poor(launch: LaunchRecords) -> LaunchRecords:
        cases = tuple(
            msgspec.structs.replace(case, series=tuple(map(first_sample, case.series))) for case in launch.cases
        )
        return msgspec.structs.replace(launch, cases=cases)

    def clocks(run: Run) -> set[tuple[str, str]]:
        return {(each.status, each.severity) for each in analyse(run).findings if each.rule == "clock"}

    study = Study("Clock", "Is it kept?", (Measure("flops", ("all",), axes={"mix": "fma"}),), launches=2)
    law = Law(clock_hz=3e9, loaded_clock_hz=2e9)
    run = store.load(simulated_run(tmp_path, law, description=NODE, study=study))
    nominal = {"processor": {"nominal frequency": Fact(3e9, "Hz", "test")}}
    machines = {
        host: msgspec.structs.replace(machine, facts=machine.facts | nominal)
        for host, machine in run.machines.items()
    }
    run = msgspec.structs.replace(run, machines=machines)
    assert ("candidate", "advice") in clocks(run)
    assert clocks(_changed(run, poor)) == {("not assessed", "fact")}


def test_an_effect_below_what_launches_of_one_case_differ_by_is_not_claimed(ill: Run) -> None:
    # Half the cores get a fifth more or less; launches of one case scatter by half.
    scatter = (1.0, 1.5, 0.75, 1.3, 0.7, 1.6)

    def stretch(launch: LaunchRecords) -> LaunchRecords:
        factor = scatter[launch.launch.block % len(scatter)]
        cases = tuple(
            msgspec.structs.replace(
                case,
                series=tuple(
                    msgspec.structs.replace(each, seconds=[factor * value for value in each.seconds])
                    for each in case.series
                ),
            )
            for case in launch.cases
        )
        return msgspec.structs.replace(launch, cases=cases)

    assert _half(ill)
    assert not _half(_changed(ill, stretch))


def test_an_interval_from_one_core_to_all_tells_nothing_of_the_cores_that_memory_needs() -> None:
    for lo, hi, cores, known in (
        (0.74, 1.01, 2, False),
        (0.46, 0.93, 2, False),
        (0.92, 1.0, 2, True),
        (0.55, 0.6, 4, True),
        (0.3, 1.0, 64, True),
    ):
        assert (one_core.meaning(lo, hi, cores) != one_core.meaning(1 / cores, 1.0, cores)) == known
