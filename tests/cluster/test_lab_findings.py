"""Faults of networks, planted for real: each is found, with its rivals and what is next; in a healthy one none."""

from collections.abc import Generator, Mapping
from dataclasses import replace

import pytest
from tests.cluster.lab_cluster import Lab
from tests.cluster.lab_runs import Desk, desk_in, first_page, leave, mpi_of

from assay import analyse
from assay.model.result import Finding

pytestmark = pytest.mark.cluster

HEAD = """
title = "Faults"
question = "Is the network as it should be?"
launches = 2
precision = 0.02
"""
MEASURE = """
[[measure]]
benchmark = "pt2pt"
placements = ["pair:other-node"]
"""
#: What the network carries; times by size below the usual eager limit, and of a size beyond a wrong one;
#: one write after another, of which the receiver acknowledges the last one.
LONG = f'{MEASURE}axes = {{ pattern = "bandwidth", bytes = "512K", window = 4 }}\n'
SIZES = f'{MEASURE}axes = {{ pattern = "latency", calls = "blocking", bytes = "64:8K" }}\n'
BEYOND = f'{MEASURE}axes = {{ pattern = "latency", calls = "blocking", bytes = "2K" }}\n'
WRITES = f'{MEASURE}axes = {{ pattern = "bandwidth", bytes = 8, window = [2, 4] }}\n'
#: The slowest network is full even where other work holds both cores.
FE, GBE, FAST = "fe=fe0", "gbe=gbe0", "fast=fast0"
EAGER, NAGLE = "OMPI_MCA_btl_tcp_eager_limit", "OMPI_MCA_btl_tcp_use_nagle"


@pytest.fixture
def desk(lab: Lab) -> Generator[Desk]:
    made = desk_in(lab)
    yield made
    leave(made)


def found(
    desk: Desk, study: str, network: str, variables: Mapping[str, str] = {}, runs: str = "runs"
) -> dict[str, list[Finding]]:
    """Rule -> what it finds in a run of a study over one network, with these variables set."""
    measured(desk, study, variables, "--network", network, "--runs", runs)
    by_rule: dict[str, list[Finding]] = {}
    for finding in analyse.analyse(desk.run(runs)).findings:
        if finding.status != "not assessed":
            by_rule.setdefault(finding.rule, []).append(finding)
    return by_rule


def measured(desk: Desk, study: str, variables: Mapping[str, str], *words: str) -> None:
    """A run of a study with these variables and options, which leaves nothing behind."""
    (desk.folder / "faults.toml").write_text(HEAD + study)
    typing = replace(desk, variables={**desk.variables, **variables})
    done = typing.typed(desk.words("run", "faults.toml", "--mpi", mpi_of("openmpi"), *words))
    assert done.returncode == 0, done.stdout + done.stderr
    desk.is_clean()


def accused(by_rule: Mapping[str, list[Finding]]) -> set[str]:
    """Rules of networks that say more than what is worth knowing."""
    rules = {"transport", "mtu", "link_ceiling", "protocol_switch", "delayed_ack"}
    return {name for name in rules if any(each.severity != "fact" for each in by_rule.get(name, ()))}


@pytest.mark.parametrize(("study", "network"), [(LONG + WRITES, FE), (SIZES, FAST)])
def test_a_healthy_network_is_accused_of_nothing(desk: Desk, study: str, network: str) -> None:
    """Other work on this machine holds up launches, and may make a curve uneven: of three runs one is silent."""
    said: list[set[str]] = []
    while len(said) < 3 and set() not in said:
        by_rule = found(desk, study, network, runs=str(len(said)))
        said.append(accused(by_rule))
        assert said[-1] <= {"link_ceiling", "protocol_switch"}
        assert "delayed_ack" not in by_rule
    assert set() in said


def test_messages_that_take_another_interface_than_asked_are_found(desk: Desk) -> None:
    with desk.lab.wrong_way("gbe", "fast"):
        by_rule = found(desk, LONG, GBE)
    (astray,) = (each for each in by_rule["transport"] if each.severity == "problem")
    assert astray.claim.startswith("Messages were to go over gbe0, and did not: it sent 0 % of their bytes; fast0")
    assert astray.rivals == ("traffic that the card moves by itself may stand in no counter that could be read",)
    assert "assay doctor --hosts node01,node02" in astray.next
    assert "Messages were to go over gbe0 and went over fast0" in first_page(desk.run())


def test_ends_of_a_link_with_different_mtus_are_found(desk: Desk) -> None:
    with desk.lab.mtu("node02", "fe0", 576):
        (mtu,) = found(desk, LONG, FE)["mtu"]
    assert (mtu.severity, mtu.status) == ("problem", "observed")
    assert mtu.claim.startswith("The MTU of fe0 is 576 B on node02 and 1,500 B on node01.")
    assert "(its payload is 85 % of an Ethernet wire instead of 94 %)" in mtu.claim
    assert mtu.rivals == ("576 B is what the way between takes, and the others are set too high",)
    assert "on node02 `sudo ip link set fe0 mtu 1500`" in mtu.next


def test_a_link_that_is_slower_than_its_nominal_rate_is_found(desk: Desk) -> None:
    with desk.lab.slow_port("node02", "fe", "50mbit"):
        (slow,) = found(desk, LONG, FE)["link_ceiling"]
    assert (slow.severity, slow.status) == ("advice", "candidate")  # two launches have no interval
    assert "the wire rate of fe0: 100 Mbit/s" in slow.claim
    assert slow.claim.endswith(": something else limits them.")
    assert "a port of the switch that is slower" in slow.rivals
    assert slow.next.endswith(" --confirm  # tells whether more pairs of cores fill the link")
    assert "Limited by Not decided: long messages get " in first_page(desk.run())


def test_a_wrong_eager_limit_is_slower_than_the_usual_one_block_by_block(desk: Desk) -> None:
    """Other work on this machine scatters a curve by more than its step; a pair in one block meets it alike."""
    measured(desk, BEYOND, {}, "--network", FAST, "--vary", f"{EAGER}=default,1024", "--launches", "8")
    analysis = analyse.analyse(desk.run())
    (wrong,) = (each for each in analysis.comparisons if each.differ == EAGER)
    assert (wrong.level, wrong.base, wrong.verdict) == ("1024", "default", "slower")
    assert wrong.blocks == 8
    assert wrong.lo > 1.2


def test_an_acknowledgement_that_is_held_back_is_found(desk: Desk) -> None:
    """Open MPI is told to keep Nagle's algorithm; kernels hold acknowledgements back by themselves."""
    (wait,) = found(desk, WRITES, FE, {NAGLE: "1"})["delayed_ack"]
    assert (wait.severity, wait.status) == ("problem", "observed")
    assert wait.claim.startswith("Messages wait 40 ms at times")
    assert wait.rivals[0].startswith("the other process did not run")
    assert wait.next == "assay run network --vary tcp.nodelay=on,off"
    assert "Messages wait 40.0 ms at times, as long as a timer of TCP." in first_page(desk.run())
