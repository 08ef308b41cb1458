"""Every rule: silent on a healthy machine, heard when its fault is planted."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.simulation import described, simulated_run
from tests.unit.limited_runs import slowed

from assay import store
from assay.analyse import analyse, examine
from assay.analyse.findings import rules
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.result import Analysis, Finding
from assay.model.run import Run
from assay.plan import Options
from assay.simulation import Burst, Fault, Law
from assay.topics.health.rules import machine_noise

if TYPE_CHECKING:
    from collections.abc import Mapping

TWO_NODES = "pack:1 numa:2(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
HOSTS = tuple(f"n{number}" for number in range(1, 6))


def _study(launches: int = 6) -> Study:
    stores: Mapping[str, tuple[str, ...]] = {"stores": ("ordinary", "non-temporal")}
    return Study(
        "Every rule",
        "Does each rule hear its fault?",
        (
            Measure("stream", ("all", "half", "one-core"), axes=dict(stores)),
            Measure("stream", ("all",), axes={"touch": "serial"}),
            Measure("stream", ("all:numa:*",), memory=("bind:*",)),
            Measure("memcpy", ("one-core",), axes={"bytes": tuple(2**power for power in range(6, 27, 2))}),
            Measure("memcpy", ("one-core",), axes={"bytes": 2**26, "buffers": "cold"}),
        ),
        launches=launches,
    )


#: Eight cores whose memory gives all it has to half of them, and needs no more: nothing is wrong with it.
HEALTHY = Law(core_traffic=12e9, node_traffic=30e9, remote=0.9)


def _run(
    folder: Path, law: Law = HEALTHY, *, launches: int = 6, hosts: tuple[str, ...] = (), seed: int = 1
) -> Run:
    options = Options(hosts=hosts, seed=seed)
    path = simulated_run(folder, law, description=TWO_NODES, study=_study(launches), options=options, seed=seed)
    return store.load(path)


def _found(analysis: Analysis, rule: str) -> list[Finding]:
    return [each for each in analysis.findings if each.rule == rule and each.status != "not assessed"]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return analyse(_run(tmp_path_factory.mktemp("healthy")))


def _changed(**changes: object) -> Law:
    return Law(**({"core_traffic": 12e9, "node_traffic": 30e9, "remote": 0.9} | changes))  # type: ignore[arg-type]


def test_rules_are_found_by_their_file_and_named_like_it() -> None:
    assert {rule.name for rule in rules()} >= {"half_cores", "write_allocate", "slow_node", "not_measured"}
    assert len({rule.name for rule in rules()}) == len(rules())


def test_a_healthy_machine_has_no_problem(healthy: Analysis) -> None:
    assert [each.claim for each in healthy.findings if each.severity == "problem"] == []


def test_evidence_names_what_the_analysis_holds(healthy: Analysis) -> None:
    known = {each.id for part in (healthy.estimates, healthy.comparisons, healthy.models) for each in part}
    assert all(name in known for finding in healthy.findings for name in finding.evidence)


def test_every_finding_of_something_tested_has_its_numbers(healthy: Analysis) -> None:
    for finding in healthy.findings:
        if finding.status == "not assessed":
            assert not finding.numbers
        else:
            assert finding.numbers["statistic"].lo <= finding.numbers["statistic"].hi
            assert finding.numbers.keys() <= {"statistic", "threshold"}


def test_half_of_the_cores_beating_all_is_a_problem(tmp_path: Path, healthy: Analysis) -> None:
    assert not _found(healthy, "half_cores")
    (found,) = [
        each
        for each in _found(analyse(_run(tmp_path, _changed(contention=0.3, node_traffic=20e9))), "half_cores")
        if each.id.startswith("half_cores:stream/half/")
    ]
    assert (found.severity, found.status) == ("problem", "observed")
    assert found.numbers["statistic"].has_interval
    assert found.numbers["statistic"].lo > 1.1 > found.numbers["threshold"].value >= 1.02


def test_three_launches_make_a_candidate_and_name_the_command_that_decides(tmp_path: Path) -> None:
    law = _changed(contention=0.3, node_traffic=20e9)
    run = _run(tmp_path, law, launches=3)
    (found, *_) = _found(analyse(run), "half_cores")
    assert found.status == "candidate"
    assert found.numbers["statistic"].basis == "range"
    assert found.next.startswith(f"assay run --resume {run.info.id} --confirm  # ")


def test_nothing_is_called_a_problem_on_a_range_alone(tmp_path: Path) -> None:
    analysis = analyse(_run(tmp_path, _changed(contention=0.3, node_traffic=20e9), launches=3))
    assert any(each.status == "candidate" for each in analysis.findings)
    assert not [each for each in analysis.findings if each.status == "candidate" and each.severity == "problem"]


def test_one_or_two_blocks_carry_no_claim(tmp_path: Path) -> None:
    law = _changed(contention=0.3, node_traffic=20e9)
    for launches in (1, 2):
        analysis = analyse(_run(tmp_path / str(launches), law, launches=launches))
        assert not _found(analysis, "half_cores")
        assert not _found(analysis, "write_allocate")
        assert not _found(analysis, "one_core")


def test_write_allocate_is_recognised_by_its_four_thirds(healthy: Analysis) -> None:
    (found,) = _found(healthy, "write_allocate")
    assert found.severity == "advice"
    assert found.numbers["statistic"].value == pytest.approx(4 / 3, rel=0.02)
    assert found.rivals == ()


def test_non_temporal_stores_without_gain_are_no_advice(healthy: Analysis, tmp_path: Path) -> None:
    no_gain = slowed(
        _run(tmp_path), 4 / 3, lambda _launch, case, _series: case.header.params.get("stores") == "non-temporal"
    )
    assert _found(healthy, "write_allocate")
    assert not _found(analyse(no_gain), "write_allocate")


def test_first_touch_and_remote_memory_are_heard_where_they_cost(tmp_path: Path) -> None:
    analysis = analyse(_run(tmp_path, _changed(remote=0.5)))
    assert _found(analysis, "first_touch")
    (found,) = _found(analysis, "numa_penalty")
    assert found.numbers["statistic"].value == pytest.approx(2, rel=0.03)
    assert found.numbers["threshold"].value == pytest.approx(1.25)


def test_remote_memory_that_costs_little_is_no_finding(healthy: Analysis) -> None:
    assert not _found(healthy, "numa_penalty")


def test_a_node_with_slow_memory_may_lack_a_channel(tmp_path: Path, healthy: Analysis) -> None:
    node = described(TWO_NODES).topology.numa_nodes[1]
    found = _found(analyse(_run(tmp_path, _changed(slow_cores=dict.fromkeys(node.cpus, 0.5)))), "memory_channel")
    assert found
    assert all("/all:numa:1/" in each.id for each in found)
    assert all(each.numbers["statistic"].hi < each.numbers["threshold"].value == 0.95 for each in found)
    assert not _found(healthy, "memory_channel")


def test_a_slow_host_is_named_and_only_that_one(tmp_path: Path) -> None:
    found = _found(analyse(_run(tmp_path, _changed(slow_hosts={"n3": 0.9}), hosts=HOSTS, launches=3)), "slow_node")
    assert [each.id for each in found] == ["slow_node:n3"]
    assert all(each.numbers["statistic"].lo > each.numbers["threshold"].value for each in found)


def test_hosts_that_are_alike_are_not_slow(tmp_path: Path) -> None:
    assert not _found(analyse(_run(tmp_path, hosts=HOSTS, launches=3)), "slow_node")


def test_fewer_than_four_hosts_are_not_assessed(healthy: Analysis) -> None:
    (unassessed,) = [each for each in healthy.findings if each.rule == "slow_node"]
    assert unassessed.status == "not assessed"


@pytest.mark.parametrize(
    ("law", "cause"),
    [
        (_changed(steal=0.06), "steal"),
        (_changed(bursts=(Burst(0, 1e9, 0.3),)), "foreign"),
        (_changed(noise=0.15), "lost"),
        (_changed(drift=0.002), "drift"),
    ],
)
def test_noise_of_the_machine_is_a_problem_with_its_kind(tmp_path: Path, law: Law, cause: str) -> None:
    loud = [each for each in _found(analyse(_run(tmp_path, law)), "machine_noise") if each.severity == "problem"]
    assert loud[0].id == f"machine_noise:{cause}"
    assert loud[0].numbers["statistic"].value > loud[0].numbers["threshold"].value


def test_stops_are_a_problem_with_both_ends_a_question_with_one_and_quiet_with_none(tmp_path: Path) -> None:
    evidence = examine(_run(tmp_path))
    for lost, kind, severity in (
        (Quantity(0.06, 0.031, 0.15, basis="interval"), "lost", "problem"),
        (Quantity(0.04, 0.019, 0.1, basis="interval"), "open", "fact"),
        (Quantity(0.04, 0.04, 0.04, basis="single"), "open", "fact"),
        (Quantity(0.01, 0.005, 0.019, basis="interval"), "quiet", "fact"),
    ):
        seen = msgspec.structs.replace(evidence, noise=msgspec.structs.replace(evidence.noise, lost=lost))
        (found,) = machine_noise.rule.assess(seen)
        assert (found.id, found.severity) == (f"machine_noise:{kind}", severity)
        assert bool(found.next) == (kind != "quiet")


def test_what_is_said_of_drift_does_not_depend_on_how_busy_the_machine_of_the_test_is(tmp_path: Path) -> None:
    """Two simulated runs are the same in all that is measured, their dates included."""
    one, other = (_run(tmp_path / name, _changed(noise=0.08)) for name in ("one", "other"))
    dates = [[records.launch.started for records in run.launches] for run in (one, other)]
    assert dates[0] == dates[1]
    assert analyse(one).noise == analyse(other).noise


def test_each_cause_of_noise_is_told_once(tmp_path: Path) -> None:
    both = _changed(steal=0.06, bursts=(Burst(0, 1e9, 0.3),))
    for law, causes in ((_changed(drift=0.002), ["drift"]), (both, ["steal", "foreign"])):
        found = _found(analyse(_run(tmp_path / causes[0], law)), "machine_noise")
        assert [each.id for each in found] == [f"machine_noise:{cause}" for cause in causes]
        assert len({each.claim for each in found} | {each.next for each in found}) == 2 * len(causes)


def test_drift_is_told_with_its_size_and_a_machine_that_keeps_its_pace_has_none(
    tmp_path: Path, healthy: Analysis
) -> None:
    analysis = analyse(_run(tmp_path, _changed(drift=0.001)))
    (found,) = _found(analysis, "machine_noise")
    assert analysis.noise.drift is not None
    assert analysis.noise.drift > 0.02
    assert found.numbers["statistic"].value == analysis.noise.drift
    assert [each.id for each in _found(healthy, "machine_noise")] == ["machine_noise:quiet"]


def test_where_copies_leave_each_cache_is_told(healthy: Analysis) -> None:
    (found,) = _found(healthy, "cache_and_memory")
    assert re.search(r"falls at .*256 KiB to \d+ (KiB|MiB) \(L2, 512 KiB\)", found.claim)
    assert re.search(r"(5.9|6.0)\d GB/s \(cold blocks of 64 MiB\)", found.claim)  # the law's rate in memory
    assert found.status == "observed"
    assert found.numbers["statistic"].has_interval
    assert 9 < found.numbers["statistic"].lo < found.numbers["statistic"].value < 10


def _copies(folder: Path, cold: tuple[int, ...], launches: int) -> list[Finding]:
    measures = (
        Measure("memcpy", ("one-core",), axes={"bytes": tuple(2**power for power in range(6, 20))}),
        Measure("memcpy", ("one-core",), axes={"bytes": cold, "buffers": "cold"}),
    )
    study = Study("Copies", "Where is memory?", measures, launches=launches)
    run = store.load(simulated_run(folder, HEALTHY, description=TWO_NODES, study=study))
    return [each for each in analyse(run).findings if each.rule == "cache_and_memory"]


def test_small_cold_blocks_and_single_launches_do_not_tell_what_memory_gives(tmp_path: Path) -> None:
    for name, cold, launches in (("small", (256,), 6), ("single", (2**20,), 1)):
        (unassessed,) = _copies(tmp_path / name, cold, launches)
        assert unassessed.status == "not assessed"
        assert "64 KiB" in unassessed.claim
    (range_,) = _copies(tmp_path / "range", (256, 2**16), 3)
    assert range_.status == "candidate"
    assert "cold blocks of 64 KiB" in range_.claim
    assert range_.numbers["statistic"].basis == "range"
    assert range_.next == "assay run test --launches 6"


def test_one_core_takes_its_share(healthy: Analysis) -> None:
    (found,) = _found(healthy, "one_core")
    assert 0 < found.numbers["statistic"].value < 1


def test_a_wrong_result_is_a_problem_and_a_missing_one_a_fact(tmp_path: Path) -> None:
    run = _run(tmp_path, _changed(faults=(Fault("wrong-result", "half"),)), launches=3)
    found = {each.id: each for each in _found(analyse(run), "not_measured")}
    assert found["not_measured:wrong"].severity == "problem"
    cut = msgspec.structs.replace(run, launches=run.launches[:2])
    found = {each.id: each for each in _found(analyse(cut), "not_measured")}
    assert found["not_measured:missing"].severity == "fact"


def test_healthy_machines_are_called_ill_less_than_once_in_a_hundred_runs(
    tmp_path: Path, repeats: Callable[[int, int], int]
) -> None:
    alarms = 0
    runs = repeats(6, 200)
    study = msgspec.structs.replace(_study(3), measure=_study().measure[:1] + _study().measure[2:3])
    for seed in range(runs):
        options = Options(hosts=HOSTS[:4], seed=seed)
        path = simulated_run(
            tmp_path / str(seed), HEALTHY, description=TWO_NODES, study=study, options=options, seed=seed
        )
        alarms += any(each.severity == "problem" for each in analyse(store.load(path)).findings)
    assert alarms / runs < 0.01
