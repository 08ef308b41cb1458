"""A program that stood alone on several hosts at once is one launch with a rank on each."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import msgspec
import pytest
from tests.simulation import Recorder, begin, builds_for, described, plan_for

from assay import store
from assay.analyse import analyse
from assay.analyse.launches import parts_of
from assay.catalogue import benchmarks
from assay.launch.arguments import measure_command
from assay.launch.command import Command, CpuTimes, Outcome, Sampling, Site
from assay.launch.starter import Starter
from assay.model.placement import Memory, Placement
from assay.model.plan import Case, Measure, Plan, Study
from assay.model.rank import Rank
from assay.model.record import Clock, End, FigureOfMerit, Header, Output
from assay.model.traffic import HostTraffic, Traffic
from assay.plan import Options
from assay.run import execute
from assay.run.foreign import with_figures
from assay.run.merging import merge_hosts
from assay.run.records import Answer, read_answer
from assay.simulation import Fault, FaultKind, Law, SimulatedMachine

HOSTS = ("n1", "n2", "n3")
STUDY = Study("S", "Q?", (Measure("stream", ("all",), axes={"elements": 1_000_000}, why="w"),), launches=3)


def planned() -> tuple[Plan, Case]:
    plan = plan_for(study=STUDY, options=Options(hosts=HOSTS))
    return plan, next(case for case in plan.cases if case.role == "measure")


def answered(faults: dict[str, FaultKind]) -> tuple[Outcome, Answer]:
    _, case = planned()
    argv = measure_command("/cache/stream", (case,), Sampling(0.01, 10, 200, {case.id: 1.0}))
    outcomes = []
    for host in HOSTS:
        law = Law(faults=(Fault(faults[host]),) if host in faults else ())
        machine = SimulatedMachine(described().topology, law, (host,))
        outcomes.append(machine.execute(Command(argv, {}), 60.0))
    outcome = merge_hosts(outcomes, (case.id,))
    return outcome, read_answer(outcome.stdout, (case,))


def test_each_host_is_a_rank_with_its_own_samples() -> None:
    outcome, answer = answered({})
    assert outcome.exit_code == 0
    assert answer.refused == ""
    (case,) = answer.cases
    assert [(rank.rank, rank.host) for rank in case.header.ranks] == list(enumerate(HOSTS))
    assert {series.rank for series in case.series} == {0, 1, 2}
    assert case.end is not None
    assert case.end.status == "complete"


@pytest.mark.parametrize("host", HOSTS)
def test_a_wrong_result_on_one_host_is_a_wrong_result(host: str) -> None:
    outcome, answer = answered({host: "wrong-result"})
    assert outcome.exit_code == 1
    (case,) = answer.cases
    assert case.verdict is not None
    assert not case.verdict.passed
    assert case.end is not None
    assert case.end.status == "failed"


def test_a_host_that_cannot_begin_the_case_is_missed() -> None:
    outcome, answer = answered({"n2": "cannot-start"})
    assert outcome.exit_code == 1
    assert "2 ranks, asked for were 3" in answer.refused


def test_a_crash_on_one_host_leaves_the_case_without_an_end() -> None:
    outcome, answer = answered({"n3": "crash"})
    assert outcome.exit_code == -11
    (case,) = answer.cases
    assert case.end is None


def test_a_command_of_others_that_stands_alone_on_several_hosts_has_its_figures_of_each() -> None:
    place = Placement("one-core", "", (0,), Memory(), HOSTS[:2])
    case = Case("hpcc/one-core", "hpcc", {"n": 600, "nb": 80}, place)
    outcomes = []
    for host, rate in zip(place.hosts, ("7.268e+00", "3.634e+00"), strict=True):
        output = f"WR11C2R4 600 80 1 1 0.02 {rate}\n||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 0.004"
        rank = Rank(0, host, host, (0,), (0,), "first-touch", {})
        header = Header(1, "hpcc", case.id, dict(case.params), {"rate": {}}, {}, Clock("", 1e-9, 1e-9), (rank,))
        lines = (header, Output(f"{output} ...... PASSED\n"), FigureOfMerit("elapsed", "s", 2.0), End("complete"))
        outcome = Outcome(b"".join(msgspec.json.encode(line) + b"\n" for line in lines), b"", 0)
        outcomes.append(with_figures(outcome, [case], "kept").outcome)
    merged = merge_hosts(outcomes, (case.id,))
    (records,) = read_answer(merged.stdout, (case,)).cases
    parts, _ = parts_of(records, benchmarks.get(case.benchmark))
    rates = {host: 1e-9 / parts["rate", host][0].seconds[0] for host in place.hosts}
    assert rates == pytest.approx({"n1": 7.268, "n2": 3.634})
    assert parts["elapsed", "n2"][0].seconds == [2.0]
    assert merged.stdout.count(b'"type":"output"') == len(place.hosts)


class Nodes:
    """Three nodes behind ssh, each with a clock of its own; the first one's counts."""

    def __init__(self) -> None:
        self.nodes = {host: SimulatedMachine(described().topology, Law(), (host,)) for host in HOSTS}
        self.together: list[tuple[str, ...]] = []

    def now(self) -> float:
        return self.nodes["n1"].now()

    def date(self) -> datetime:
        return self.nodes["n1"].date()

    def sleep(self, seconds: float) -> None:
        self.nodes["n1"].sleep(seconds)

    def cpu_times(self) -> CpuTimes:
        return self.nodes["n1"].cpu_times()

    def execute(self, command: Command, timeout: float) -> Outcome:
        host, there = command.argv[-2:]
        if " sweep " in there:
            return Outcome(b"", b"", 0)
        words = there.split()
        program = next(at for at, word in enumerate(words) if word.startswith("/"))
        return self.nodes[host].execute(Command(tuple(words[program:]), {}), timeout)

    def execute_together(
        self, commands: Sequence[Command], timeout: float, at_limit: Callable[[], None] = lambda: None
    ) -> tuple[Outcome, ...]:
        del at_limit
        self.together.append(hosts := tuple(command.argv[-2] for command in commands))
        outcomes = (self.execute(command, timeout) for command in commands)
        return tuple(map(with_load, outcomes, hosts))


def with_load(outcome: Outcome, host: str) -> Outcome:
    """What a program says that passes no messages: on n2, others used 4 % of its cpus and the hypervisor 5 %."""
    others_s, stolen_s = (0.16, 0.2) if host == "n2" else (0.0, 0.0)
    of_host = HostTraffic(host, f"boot-of-{host}", {}, {}, 4, 1.84 + others_s, stolen_s, 1.8)
    header, *rest = outcome.stdout.splitlines(keepends=True)
    traffic = msgspec.json.encode(Traffic(1.0, 0.0, (of_host,))) + b"\n"
    return msgspec.structs.replace(outcome, stdout=b"".join((header, traffic, *rest)))


def test_a_study_of_one_node_runs_on_all_nodes_at_once_and_each_has_its_figures(tmp_path: Path) -> None:
    plan, case = planned()
    nodes = Nodes()
    with begin(tmp_path, plan) as directory:
        execute(plan, directory, Starter(Site("head")), nodes, builds_for(plan), Recorder())
    run = store.load(directory.path)
    assert set(nodes.together) == {HOSTS}
    figures = [each for each in analyse(run).estimates if each.case == case.id and each.median]
    assert {each.placement.hosts for each in figures} == {(host,) for host in HOSTS}
    of_all = [each for each in run.launches if len(each.cases[0].header.ranks) == len(HOSTS)]
    assert {len(each.cases[0].traffic.hosts) for each in of_all if each.cases[0].traffic} == {len(HOSTS)}
    assert of_all
    for each in of_all:
        assert (each.launch.bracket.steal, each.launch.bracket.foreign) == pytest.approx((0.05, 0.04))
    assert msgspec.json.encode(run.launches[0].launch.argv).startswith(b'["ssh"')
