"""The rules for one node: heard when their fault is planted, silent where nothing is wrong."""

import re
from pathlib import Path

import msgspec
import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.facts import Fact
from assay.model.plan import Measure, Study
from assay.model.result import Analysis, Finding
from assay.model.run import Run
from assay.simulation import Law

TWO_NODES = "pack:2 numa:1(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
THREADS = "pack:1 numa:1(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:2"
#: Remote memory that costs little, no walk of page tables, a clock that stays.
HEALTHY = Law(core_traffic=6e9, node_traffic=60e9, remote=0.9, remote_load=1.15)


def _study(*measures: Measure, launches: int = 6) -> Study:
    return Study("A rule", "Does it hear its fault?", measures, launches=launches)


LATENCY = _study(
    Measure(
        "latency",
        ("one-core",),
        axes={"bytes": tuple(2 ** (13 + step) * 64 // 64 for step in range(16)), "pages": ("small", "huge")},
    )
)
FAR = _study(Measure("latency", ("one-core:numa:*",), memory=("bind:*",), axes={"bytes": 2**28, "pages": "small"}))
HIMENO = _study(
    Measure("stream", ("all",)),
    Measure(
        "himeno",
        ("all",),
        memory=("first-touch", "interleave"),
        axes={"size": "M", "touch": ("parallel", "serial")},
    ),
)
PAIRS = _study(Measure("core_to_core", tuple(f"pair:{a}-{b}" for a in range(8) for b in range(a + 1, 8))))
CORES = _study(Measure("stream", ("all", "half", "one-core")))
ONE_CORE = _study(Measure("stream", ("all", "one-core")))
SMT = _study(Measure("stream", ("all", "all-threads")))


def _run(folder: Path, study: Study, law: Law = HEALTHY, description: str = TWO_NODES) -> Run:
    return store.load(simulated_run(folder, law, description=description, study=study))


def _found(analysis: Analysis, rule: str) -> list[Finding]:
    return [each for each in analysis.findings if each.rule == rule and each.status != "not assessed"]


def _changed(**changes: object) -> Law:
    kept = {"core_traffic": 6e9, "node_traffic": 60e9, "remote": 0.9, "remote_load": 1.15}
    return Law(**(kept | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "study", "law", "subject"),
    [
        ("huge_pages", LATENCY, _changed(tlb_bytes=2**20, tlb_s=10e-9), "bytes=268435456"),
        ("numa_latency", FAR, _changed(remote_load=1.6), "latency/one-core"),
        ("interleave", HIMENO, _changed(remote=0.5, node_traffic=12e9), "himeno/"),
        ("first_touch", HIMENO, _changed(remote=0.5, node_traffic=12e9), "himeno/"),
        ("core_pairs", PAIRS, _changed(slow_pairs={(1, 3): 1.5}), "core-to-core"),
        ("half_cores", CORES, _changed(contention=0.5, node_traffic=16e9), "stream/half/"),
    ],
)
def test_a_planted_fault_is_heard_and_a_healthy_machine_is_not_accused(
    tmp_path: Path, rule: str, study: Study, law: Law, subject: str
) -> None:
    found = _found(analyse(_run(tmp_path / "ill", study, law)), rule)
    assert any(subject in each.id for each in found)
    assert all(each.severity in {"problem", "advice"} for each in found)
    assert all(each.numbers["statistic"].lo > each.numbers["threshold"].value for each in found)
    healthy = analyse(_run(tmp_path / "healthy", study))
    assert not _found(healthy, rule)
    assert not [each for each in healthy.findings if each.rule == rule], "its evidence was there, so it is silent"


def test_threads_that_stand_in_each_others_way_are_heard(tmp_path: Path) -> None:
    limited = {"core_traffic": 30e9, "node_traffic": 30e9}
    (found,) = _found(analyse(_run(tmp_path / "slow", SMT, _changed(smt=0.8, **limited), THREADS)), "smt")
    assert "slower" in found.claim
    assert found.numbers["statistic"].value == pytest.approx(1 / 0.8, rel=0.02)
    (found,) = _found(analyse(_run(tmp_path / "fast", SMT, _changed(smt=1.2, **limited), THREADS)), "smt")
    assert "faster" in found.claim
    assert found.numbers["statistic"].value == pytest.approx(1.2, rel=0.02)
    assert not _found(analyse(_run(tmp_path / "same", SMT, _changed(**limited), THREADS)), "smt")


def test_a_slow_core_is_named_where_all_slow_pairs_are_its_own(tmp_path: Path) -> None:
    slow = {(min(5, other), max(5, other)): 1.4 for other in range(8) if other != 5}
    (found,) = _found(analyse(_run(tmp_path, PAIRS, _changed(slow_pairs=slow))), "core_pairs")
    assert "All of them are pairs of cpu 5" in found.claim


def test_half_of_the_cores_is_no_finding_where_the_machine_cannot_tell(tmp_path: Path) -> None:
    # Three launches that differ by 20 %: half may well seem faster in all of them.
    study = msgspec.structs.replace(CORES, launches=3)
    for seed in range(12):
        law = _changed(launch_noise=0.2, node_traffic=16e9)
        path = simulated_run(tmp_path / str(seed), law, description=TWO_NODES, study=study, seed=seed)
        assert not _found(analyse(store.load(path)), "half_cores")


def test_half_of_two_cores_is_called_one_core(tmp_path: Path) -> None:
    two = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) l2:2(size=1MB) l1:1(size=32kB) core:1 pu:1"
    law = _changed(core_traffic=20e9, node_traffic=20e9, contention=0.06)
    (found,) = _found(analyse(_run(tmp_path, CORES, law, two)), "half_cores")
    assert found.claim.startswith("One core (")
    assert found.severity == "advice"  # 6 % are no problem


def test_no_more_cores_are_said_to_be_needed_than_there_are(tmp_path: Path) -> None:
    two = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) l2:2(size=1MB) l1:1(size=32kB) core:1 pu:1"
    law = _changed(core_traffic=12e9, node_traffic=20e9, launch_noise=0.25)
    claims = [
        found.claim
        for seed in range(3)
        for found in _found(
            analyse(
                store.load(
                    simulated_run(tmp_path / str(seed), law, description=two, study=ONE_CORE, seed=seed),
                )
            ),
            "one_core",
        )
    ]
    assert any("this does not tell whether all cores saturate" in each for each in claims)
    needed = re.findall(r"at least (?:\d+ to )?(\d+) cores", " ".join(claims))
    assert all(int(each) <= 2 for each in needed)


def test_the_reach_of_the_tlb_and_the_number_of_cores_that_suffice_are_told(tmp_path: Path) -> None:
    sizes = tuple(int(2 ** (step / 4)) // 64 * 64 for step in range(13 * 4, 28 * 4))
    study = _study(
        Measure("latency", ("one-core",), axes={"bytes": sizes, "pages": ("small", "huge")}),
        Measure("stream", ("spread:*", "all")),
    )
    analysis = analyse(
        _run(tmp_path, study, _changed(tlb_bytes=2**20, tlb_s=8e-9, core_traffic=15e9, node_traffic=30e9))
    )
    (knee,) = _found(analysis, "tlb_knee")
    assert "beyond 1.09 MiB (1 MiB to 1.19 MiB) a random load takes 22.0 ns" in knee.claim
    assert "with huge pages it takes 14.0 ns at the same sizes" in knee.claim
    (cores,) = _found(analysis, "saturation")
    assert cores.claim.startswith("4 of 8 cores (spread)")


STORES = _study(Measure("stream", ("all", "one-core"), axes={"stores": ("ordinary", "non-temporal")}))


def test_a_ratio_of_stores_is_said_to_be_paired_and_four_thirds_only_where_its_interval_is_narrow(
    tmp_path: Path,
) -> None:
    (narrow,) = _found(analyse(_run(tmp_path / "narrow", STORES)), "write_allocate")
    assert narrow.numbers["statistic"].has_interval
    assert 1.3 < narrow.numbers["statistic"].lo < 4 / 3 < narrow.numbers["statistic"].hi < 1.4
    assert "the factor 4/3 of write-allocate" in narrow.claim
    (wide,) = _found(analyse(_run(tmp_path / "wide", STORES, _changed(launch_noise=0.06))), "write_allocate")
    assert "write-allocate alone explains x1.33" in wide.claim


@pytest.mark.parametrize(
    ("study", "law", "description"),
    [
        (LATENCY, _changed(tlb_bytes=2**20, tlb_s=10e-9), TWO_NODES),
        (FAR, _changed(remote_load=1.6), TWO_NODES),
        (HIMENO, _changed(remote=0.5, node_traffic=12e9), TWO_NODES),
        (PAIRS, _changed(slow_pairs={(1, 3): 1.5}), TWO_NODES),
        (CORES, _changed(contention=0.5, node_traffic=16e9), TWO_NODES),
        (STORES, HEALTHY, TWO_NODES),
        (SMT, _changed(smt=0.8, core_traffic=30e9, node_traffic=30e9), THREADS),
    ],
)
def test_what_comes_next_holds_a_command_to_type(tmp_path: Path, study: Study, law: Law, description: str) -> None:
    findings = [
        each for each in analyse(_run(tmp_path, study, law, description)).findings if each.status == "observed"
    ]
    steps = [each.next for each in findings if each.next and each.rule != "machine_noise"]
    assert steps
    for step in steps:
        assert step.startswith("assay ") or re.search(r"`[^`]+`", step), step


def test_a_prediction_that_holds_is_told_and_one_that_fails_too(tmp_path: Path) -> None:
    (holds,) = [
        each for each in _found(analyse(_run(tmp_path / "a", HIMENO)), "prediction") if "first-touch" in each.claim
    ]
    assert holds.numbers["statistic"].value == 0
    fails = _found(analyse(_run(tmp_path / "b", HIMENO, _changed(kernels={"jacobi": 74 / 120}))), "prediction")
    assert any(each.numbers["statistic"].value < -0.15 and "not explained" in each.claim for each in fails)


def test_idle_states_are_no_question_where_no_messages_were_passed(tmp_path: Path) -> None:
    assert not [each for each in analyse(_run(tmp_path, CORES)).findings if each.rule == "c_states"]


def _with_facts(run: Run, **facts: tuple[str, Fact]) -> Run:
    machines = {}
    for host, machine in run.machines.items():
        sections = {name: dict(section) for name, section in machine.facts.items()}
        for name, (section, fact) in facts.items():
            sections.setdefault(section, {})[name.replace("_", " ")] = fact
        machines[host] = msgspec.structs.replace(machine, facts=sections)
    return msgspec.structs.replace(run, machines=machines)
