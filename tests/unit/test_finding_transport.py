"""Which way messages took: heard where it is another than asked, silent where it is not."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import click
import msgspec
import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.cli import assay
from assay.model.facts import Fact
from assay.model.machine import Device
from assay.model.plan import Measure, Study
from assay.model.result import Finding
from assay.model.run import CaseRecords
from assay.model.traffic import Counter, HostTraffic, Traffic
from assay.plan import Options
from assay.simulation import Law

STUDY = Study(
    "Messages",
    "Which way?",
    (
        Measure(
            "pt2pt", ("pair:other-node", "pair"), axes={"pattern": ("latency", "bandwidth"), "bytes": (8, 2**16)}
        ),
    ),
    launches=3,
)
TWO = Options(hosts=("n1", "n2"), networks={"fast": "eth1"})


def found(
    folder: Path, law: Law, options: Options = TWO, study: Study = STUDY, *, assessed: bool = True
) -> list[Finding]:
    run = store.load(simulated_run(folder, law, study=study, options=options))
    return [
        each
        for each in analyse(run).findings
        if each.rule == "transport" and assessed == (each.status != "not assessed")
    ]


@pytest.mark.parametrize(
    "options",
    [
        TWO,
        Options(hosts=("n1", "n2")),
        Options(hosts=("n1", "n2"), networks={"fast": "eth1", "gbe": "eth0", "ib": "mlx5_0:1"}),
        Options(),
    ],
    ids=["a network", "the MPI's choice", "three networks", "one node"],
)
def test_nothing_is_said_where_messages_went_the_way_that_was_asked_for(tmp_path: Path, options: Options) -> None:
    assert found(tmp_path, Law(), options) == []


def test_another_interface_than_asked_is_a_problem_that_names_both(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, Law(detours={"eth1": "eth0"}))
    assert finding.severity == "problem"
    assert finding.id == "transport:eth1"
    assert finding.numbers["statistic"].value == 0.0 < finding.numbers["threshold"].value == 0.5
    assert finding.next == "assay doctor --hosts n1,n2"


def test_only_the_network_that_was_not_used_is_accused(tmp_path: Path) -> None:
    networks = Options(hosts=("n1", "n2"), networks={"fast": "eth1", "gbe": "eth0"})
    (finding,) = found(tmp_path, Law(detours={"eth0": "eth1"}), networks)
    assert finding.id == "transport:eth0"


def test_no_network_was_asked_for_none_can_be_missed(tmp_path: Path) -> None:
    law = Law(detours={"eth0": "eth1"})
    assert found(tmp_path, law, Options(hosts=("n1", "n2"))) == []


def test_two_nodes_of_one_kernel_are_said_to_be_one_machine(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, Law(one_kernel=True))
    assert finding.id == "transport:one-machine"
    assert finding.severity == "fact"
    assert (finding.numbers["statistic"].value, finding.numbers["threshold"].value) == (1, 2)  # kernel, nodes


def test_of_many_nodes_those_of_one_kernel_are_named_and_no_others(tmp_path: Path) -> None:
    study = Study("m", "q?", (Measure("pt2pt", ("one-core@4",), axes={"pattern": "multi-latency"}),), launches=3)
    nodes = Options(hosts=("n1", "n2", "n3", "n4"))
    run = store.load(simulated_run(tmp_path, Law(), study=study, options=nodes))

    def moved(each: CaseRecords) -> CaseRecords:
        """n4 answers with the kernel of n2."""
        ids = [rank.boot_id for rank in each.header.ranks]
        if len(ids) < len(nodes.hosts):
            return each
        ranks = tuple(
            msgspec.structs.replace(rank, boot_id=ids[1] if rank.rank == 3 else rank.boot_id)
            for rank in each.header.ranks
        )
        return msgspec.structs.replace(each, header=msgspec.structs.replace(each.header, ranks=ranks))

    launches = tuple(
        msgspec.structs.replace(launch, cases=tuple(map(moved, launch.cases))) for launch in run.launches
    )
    findings = analyse(msgspec.structs.replace(run, launches=launches)).findings
    (finding,) = (each for each in findings if each.id.startswith("transport:one-machine"))
    assert finding.claim.startswith("The nodes n2 and n4 are one machine")
    assert finding.next.endswith("`assay doctor --hosts n1,n2,n3,n4`")


@pytest.mark.parametrize(
    "law",
    [Law(one_kernel=True), Law(detours={"eth1": "eth0"}), Law(detours={"inside": "lo"})],
    ids=["one machine", "astray", "inside"],
)
def test_what_comes_next_can_be_typed_as_it_stands(tmp_path: Path, law: Law) -> None:
    (finding,) = found(tmp_path, law)
    quoted = re.findall(r"`([^`]+)`", finding.next)
    (line,) = quoted or [finding.next]
    program, *words = shlex.split(line)
    if program != "assay":
        assert (program, words) in [("ompi_info", []), ("mpichversion", [])]
        return
    command = assay.get_command(click.Context(assay), words[0])
    assert command
    command.make_context(words[0], words[1:])


def test_messages_inside_a_node_that_leave_memory_are_a_problem(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, Law(detours={"inside": "lo"}))
    assert finding.id == "transport:inside"
    assert finding.numbers["statistic"].value >= finding.numbers["threshold"].value == 0.5


def test_messages_too_small_to_prove_a_way_are_not_assessed(tmp_path: Path) -> None:
    small = Study("m", "q?", (Measure("pt2pt", ("pair:other-node",), axes={"bytes": 8}),), launches=3)
    law = Law(detours={"eth1": "eth0"})
    assert found(tmp_path / "a", law, study=small) == []
    (finding,) = found(tmp_path / "b", law, study=small, assessed=False)
    assert finding.status == "not assessed"
    (finding,) = found(tmp_path / "c", Law(one_kernel=True), study=small)
    assert finding.id == "transport:one-machine"


def test_a_study_without_messages_has_no_way_to_prove(tmp_path: Path) -> None:
    alone = Study("m", "q?", (Measure("stream", ("one-core",)),), launches=3)
    for assessed in (True, False):
        assert found(tmp_path / str(assessed), Law(), Options(), alone, assessed=assessed) == []


def shared(
    folder: Path,
    shares: Mapping[str, float],
    options: Options,
    speeds: Mapping[str, float] = MappingProxyType({}),
    study: Study = STUDY,
) -> list[Finding]:
    """Findings where interfaces of the nodes, of such speeds, sent such shares of the bytes of all messages."""

    def parted(traffic: Traffic) -> Traffic:
        sent = {name: round(share * traffic.payload / len(traffic.hosts)) for name, share in shares.items()}
        counted = {name: Counter(count, count) for name, count in sent.items()}
        hosts = tuple(HostTraffic(host.host, host.boot_id, counted) for host in traffic.hosts)
        return msgspec.structs.replace(traffic, hosts=hosts)

    def case(each: CaseRecords) -> CaseRecords:
        if each.traffic is None or len(each.traffic.hosts) == 1:
            return each
        return msgspec.structs.replace(each, traffic=parted(each.traffic))

    run = store.load(simulated_run(folder, Law(), study=study, options=options))
    launches = tuple(
        msgspec.structs.replace(launch, cases=tuple(map(case, launch.cases))) for launch in run.launches
    )
    devices = tuple(
        Device(name, "network", {"speed": Fact(speed, "bit/s", "x"), "mtu": Fact(1500, "B", "x")})
        for name, speed in speeds.items()
    )
    machines = {
        host: msgspec.structs.replace(each, devices=(*each.devices, *devices))
        for host, each in run.machines.items()
    }
    parted_run = msgspec.structs.replace(run, launches=launches, machines=machines)
    return [each for each in analyse(parted_run).findings if each.rule == "transport"]


UNASKED = Options(hosts=("n1", "n2"))


def test_messages_that_mpi_spread_over_several_interfaces_are_a_problem(tmp_path: Path) -> None:
    (finding,) = shared(tmp_path, {"fast0": 0.34, "fe0": 0.36, "gbe0": 0.33, "lo": 0.01}, UNASKED)
    assert finding.id == "transport:spread"
    assert finding.severity == "problem"
    assert (finding.numbers["statistic"].value, finding.numbers["threshold"].value) == (3, 1)
    assert finding.next == "assay run network --hosts n1,n2 --network fe0=fe0"


@pytest.mark.parametrize(
    ("speeds", "best"),
    [
        ({"fast0": 1e10, "fe0": 1e8, "gbe0": 1e9}, "fast0"),
        ({"fast0": 1e8, "fe0": 1e8, "gbe0": 1e9}, "gbe0"),
        ({"fe0": 1e8, "gbe0": 1e9}, "fast0"),  # nobody knows it: it may be the fastest
    ],
)
def test_of_several_interfaces_the_fastest_is_offered(
    tmp_path: Path, speeds: Mapping[str, float], best: str
) -> None:
    (finding,) = shared(tmp_path, {"fast0": 0.34, "fe0": 0.36, "gbe0": 0.33}, UNASKED, speeds)
    assert finding.next == f"assay run network --hosts n1,n2 --network {best}={best}"


def test_one_interface_with_a_little_beside_it_is_no_spreading(tmp_path: Path) -> None:
    assert shared(tmp_path, {"fast0": 0.95, "gbe0": 0.14}, UNASKED) == []


def test_a_bond_whose_members_count_the_same_bytes_is_no_spreading(tmp_path: Path) -> None:
    bond = {"bond0": 1.04, "eth0": 0.52, "eth1": 0.52}
    assert shared(tmp_path / "a", bond, UNASKED) == []
    assert shared(tmp_path / "b", bond, Options(hosts=("n1", "n2"), networks={"fast": "bond0"})) == []


def test_what_went_beside_the_network_asked_for_is_told(tmp_path: Path) -> None:
    (finding,) = shared(tmp_path / "a", {"eth1": 0.8, "eth0": 0.15, "eth2": 0.1}, TWO)
    assert finding.severity == "fact"
    assert finding.numbers["statistic"].value == pytest.approx(0.25)
    assert shared(tmp_path / "b", {"eth1": 1.0, "eth0": 0.08}, TWO) == []


PROGRAM = Study("Solutions", "Which way?", (Measure("himeno_mpi", ("all@2",), axes={"size": "M"}),), launches=3)


@pytest.mark.parametrize(
    ("shares", "accused"),
    [
        ({"eth0": 0.6, "lo": 0.8}, ["transport:eth1"]),  # the loopback passes messages inside the nodes
        ({"bond0": 1.04, "eth0": 0.52, "eth2": 0.52}, ["transport:eth1"]),
        ({"eth1": 0.9, "lo": 0.8}, []),
        ({"eth1": 0.3, "lo": 0.8}, []),
        ({"eth1": 0.3, "eth0": 0.1}, []),  # most messages pass inside the nodes
        ({"eth0": 60.0}, []),  # of few bytes, another program sends more
        ({}, []),
    ],
)
def test_the_bytes_of_a_program_prove_another_way_where_one_interface_sent_most(
    tmp_path: Path, shares: Mapping[str, float], accused: list[str]
) -> None:
    found = shared(tmp_path, shares, TWO, study=PROGRAM)
    assert [each.id for each in found if each.status != "not assessed"] == accused


def test_a_program_whose_bytes_prove_no_way_goes_with_messages_over_the_same_network(tmp_path: Path) -> None:
    """Its nodes are those of the messages and more; the sockets beside them prove their own way."""
    study = Study(
        "Both",
        "Which way?",
        (
            Measure("pt2pt", ("pair:other-node",), axes={"bytes": (8, 2**16)}),
            Measure("tcp", ("pair:other-node",), axes={"bytes": (8, 2**16)}),
            Measure("himeno_mpi", ("all@4",), axes={"size": "M"}),
        ),
        launches=3,
    )
    nodes = Options(hosts=("n1", "n2", "n3", "n4"), networks={"fast": "eth1", "gbe": "eth0"})
    run = store.load(simulated_run(tmp_path, Law(), study=study, options=nodes))
    shares = {"himeno_mpi": {"eth1": 0.3}, "pt2pt": {"eth0": 1.04}}

    def case(each: CaseRecords) -> CaseRecords:
        planned = run.plan.case(each.header.case)
        if each.traffic is None or planned.factors["network"] != "fast" or planned.benchmark not in shares:
            return each
        payload = each.traffic.payload / len(each.traffic.hosts)
        sent = {name: round(share * payload) for name, share in shares[planned.benchmark].items()}
        counted = {name: Counter(count, count) for name, count in sent.items()}
        hosts = tuple(HostTraffic(host.host, host.boot_id, counted) for host in each.traffic.hosts)
        return msgspec.structs.replace(each, traffic=msgspec.structs.replace(each.traffic, hosts=hosts))

    launches = tuple(
        msgspec.structs.replace(launch, cases=tuple(map(case, launch.cases))) for launch in run.launches
    )
    analysis = analyse(msgspec.structs.replace(run, launches=launches))
    (finding,) = (each for each in analysis.findings if each.rule == "transport")
    figures = [
        each for each in analysis.estimates if each.median is not None and each.factors["network"] == "fast"
    ]
    assert {each.benchmark for each in figures} == {"pt2pt", "tcp", "himeno_mpi"}
    assert {*finding.evidence} == {each.id for each in figures if each.benchmark in shares}
