"""Faults of networks, planted for real: each is found, with its rivals and what is next; in a healthy one none."""

from collections.abc import Generator, Mapping
from dataclasses import replace

import pytest
from tests.cluster.lab_cluster import Lab
from tests.cluster.lab_runs import Desk, desk_in, first_page, leave, mpi_of
from tests.impatient import ASSAY

from assay import analyse
from assay.model.result import Finding
from assay.model.run import Run

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
#: What the network carries; times by size below the usual eager limit; one write after another, of which the
#: receiver acknowledges the last one.
LONG = f'{MEASURE}axes = {{ pattern = "bandwidth", bytes = "512K", window = 4 }}\n'
SIZES = f'{MEASURE}axes = {{ pattern = "latency", calls = "blocking", bytes = "1:32K" }}\n'
WRITES = f'{MEASURE}axes = {{ pattern = "bandwidth", bytes = 8, window = [2, 4] }}\n'
STREAMS = LONG.replace("pt2pt", "tcp").replace("512K", "64K")  # windows of 256 KiB
ROUND_TRIPS = f'{MEASURE}axes = {{ pattern = "latency", bytes = ["1K", "16K"] }}\n'.replace("pt2pt", "tcp")
#: The slowest network is full even where other work holds both cores.
FE, GBE, FAST = "fe=fe0", "gbe=gbe0", "fast=fast0"
#: The header of Open MPI counts, too: a message of 1 KiB is beyond a limit of 1024 B.
WRONG = ": at 1 KiB a message takes "
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
    return by_rule_of(desk.run(runs))


def by_rule_of(run: Run) -> dict[str, list[Finding]]:
    """Rule -> what it finds in a run."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in analyse.analyse(run).findings:
        if finding.status != "not assessed":
            by_rule.setdefault(finding.rule, []).append(finding)
    return by_rule


def measured(desk: Desk, study: str, variables: Mapping[str, str], *words: str) -> None:
    """A run of a study with these variables and options, which leaves nothing behind."""
    (desk.folder / "faults.toml").write_text(HEAD + study)
    typed(desk, variables, desk.words("run", "faults.toml", "--mpi", mpi_of("openmpi"), *words))


def confirmed(desk: Desk, runs: str, variables: Mapping[str, str]) -> None:
    """The experiments of the candidates of the run in a folder, with these variables set."""
    typed(desk, variables, confirming(desk, runs))


def confirming(desk: Desk, runs: str = "runs") -> list[str]:
    """The command that makes them."""
    run = str(desk.run(runs).path)
    return [*ASSAY, "run", "--resume", run, "--confirm", "--ssh-config", str(desk.lab.ssh_config)]


def typed(desk: Desk, variables: Mapping[str, str], words: list[str]) -> None:
    """A command that ends well and leaves nothing behind."""
    done = replace(desk, variables={**desk.variables, **variables}).typed(words)
    assert done.returncode == 0, done.stdout + done.stderr
    desk.is_clean()


def accused(by_rule: Mapping[str, list[Finding]]) -> set[str]:
    """Rules of networks that say more than what is worth knowing."""
    rules = {"transport", "mtu", "lost_frames", "link_ceiling", "protocol_switch", "delayed_ack"}
    return {name for name in rules if any(each.severity != "fact" for each in by_rule.get(name, ()))}


@pytest.mark.long
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
    assert astray.claim.startswith("Messages should use gbe0 but did not: it sent 0 % of their bytes; fast0")
    assert astray.rivals == ("the readable counters do not include offloaded traffic of the card",)
    assert "assay doctor --hosts node01,node02" in astray.next
    assert "Messages should use gbe0 but used fast0" in first_page(desk.run())


def test_ends_of_a_link_with_different_mtus_are_found(desk: Desk) -> None:
    with desk.lab.mtu("node02", "fe0", 576):
        (mtu,) = found(desk, LONG, FE)["mtu"]
    assert (mtu.severity, mtu.status) == ("problem", "observed")
    assert mtu.claim.startswith("The MTU of fe0 is 576 B on node02 and 1,500 B on node01.")
    assert "(its payload is 85 % of the Ethernet rate instead of 94 %)" in mtu.claim
    # Other work on this machine may take its share of the rate, which is a further cause.
    assert mtu.rivals[0].startswith("the path between the nodes carries 576 B, and the value of the other nodes")
    assert "on node02 `sudo ip link set fe0 mtu 1500`" in mtu.next


@pytest.mark.long
def test_a_link_that_is_slower_than_its_nominal_rate_is_found(desk: Desk) -> None:
    with desk.lab.slow_port("node02", "fe", "50mbit"):
        (slow,) = found(desk, LONG, FE)["link_ceiling"]
    assert (slow.severity, slow.status) == ("advice", "candidate")  # two launches have no interval
    assert "fe0" in slow.claim
    assert slow.numbers["statistic"].hi < slow.numbers["threshold"].value
    assert "a port of the switch that is slower" in slow.rivals
    assert slow.next.endswith(" --confirm  # shows whether more pairs of cores saturate the link")
    assert "Limited by Not decided: long messages get " in first_page(desk.run())


@pytest.mark.long
def test_what_jumbo_frames_do_for_sockets_is_a_factor_that_needs_no_root(desk: Desk) -> None:
    """The network is full with both lengths of segments, and tells headers of 66 B a frame: that is 3.8 %.

    Other work on this machine may leave it empty at times: of three runs one tells.
    """
    gained = (9000 - 52) / (9000 + 14) / ((1500 - 52) / (1500 + 14))
    ratios: list[float] = []
    with desk.lab.jumbo_frames("gbe"):
        while len(ratios) < 3 and not any(abs(each / gained - 1) < 0.01 for each in ratios):
            runs = f"jumbo-{len(ratios)}"
            segments = ("--vary", "tcp.segment=1460,0", "--launches", "6")
            measured(desk, STREAMS, {}, "--network", GBE, *segments, "--runs", runs)
            run = desk.run(runs)
            analysis = analyse.analyse(run)
            (larger,) = (each for each in analysis.comparisons if each.differ == "segment")
            assert (larger.level, larger.base, larger.blocks) == ("0", "1460", 6)
            ratios.append(larger.ratio)
    assert any(abs(each / gained - 1) < 0.01 for each in ratios), ratios
    agreed = {
        case.header.params["segment"]: case.header.mpi.segment_bytes
        for launch in run.launches
        for case in launch.cases
        if case.header.benchmark == "tcp"
    }
    assert agreed == {1460: 1448, 0: 8948}
    sockets = [each for each in analysis.estimates if each.benchmark == "tcp"]
    of = {each.params["segment"]: limit.of for each in sockets if (limit := each.limit or each.exceeds)}
    assert "(TCP in frames of MTU 1500 B)" in of[1460]
    assert "(TCP in frames of MTU 9000 B)" in of[0]


@pytest.mark.long
def test_frames_that_the_way_loses_break_connections_but_in_shorter_segments(desk: Desk) -> None:
    """The shaper of this network drops what is longer than its bucket, 8 KiB: no end ever hears of it."""
    with desk.lab.jumbo_frames("fe"):
        (desk.folder / "faults.toml").write_text(HEAD + ROUND_TRIPS)
        done = desk.typed(desk.words("run", "faults.toml", "--network", FE, "--mpi", mpi_of("openmpi")))
        assert done.returncode == 1, done.stdout
        (lost,) = by_rule_of(desk.run())["lost_frames"]
        assert (lost.severity, lost.status) == ("advice", "candidate")
        assert "from 16 KiB, in segments of 8,948 B); up to 1 KiB they held." in lost.claim
        assert "a process that ended, or did not run for 20 s" in lost.rivals
        again = desk.typed(confirming(desk))
        assert again.returncode == 1, again.stdout  # the case that broke stays broken
    desk.is_clean()
    (finding,) = by_rule_of(desk.run())["lost_frames"]
    assert (finding.severity, finding.status, finding.rivals) == ("problem", "confirmed", ())
    assert "with segments of 1,220 B the same messages pass: the path loses longer frames" in finding.claim


@pytest.mark.long
def test_a_port_that_is_slow_by_the_frame_is_distinguished_from_one_that_is_slow_by_the_byte(desk: Desk) -> None:
    """The same rate is left of both; with segments of half the length only the one loses half of that."""
    with desk.lab.costly_frames("node02", "gbe", 6000):
        by_frame = of_frames(desk, "frames")
    with desk.lab.slow_port("node02", "gbe", "200mbit"):
        by_byte = of_frames(desk, "bytes")
    assert (by_frame.status, by_frame.rivals) == ("confirmed", ())
    assert "the number of frames determines the rate: the work of kernel and card for each frame" in by_frame.claim
    assert by_byte.status == "candidate"
    assert "did not decide: the number of frames does not determine the rate" in by_byte.claim
    assert "a port of the switch that is slower" in by_byte.rivals


def of_frames(desk: Desk, runs: str) -> Finding:
    """What the experiment with shorter segments leaves of a link below its ceiling."""
    (slow,) = found(desk, STREAMS, GBE, runs=runs)["link_ceiling"]
    assert (slow.status, slow.severity) == ("candidate", "advice")
    assert "interrupts and copies of the kernel, fewer with jumbo frames" in slow.rivals
    assert slow.next.endswith(" --confirm  # shows whether the number of frames determines the rate")
    confirmed(desk, runs, {})
    (finding,) = by_rule_of(desk.run(runs))["link_ceiling"]
    return finding


@pytest.mark.long
def test_a_wrong_eager_limit_is_found_and_its_step_moves_with_it(desk: Desk) -> None:
    """Beyond it a message waits until its receiver is ready: that is a message each way more, before its own."""
    runs = planted(desk)
    (step,) = by_rule_of(desk.run(runs))["protocol_switch"]
    assert (step.severity, step.status) == ("advice", "candidate")
    assert WRONG in step.claim
    assert f"at 1 KiB: {EAGER}=1024 of the MPI" in step.rivals
    assert "at 1 KiB: the MPI's switch from the eager to the rendezvous protocol" in step.rivals
    assert not any("inline" in rival for rival in step.rivals)  # the interface counted them: they are the kernel's
    moved = f"shows whether the jump appears again and moves with {EAGER}=4096: then the MPI causes it"
    assert step.next.endswith(f"--confirm  # {moved}")
    confirmed(desk, runs, {EAGER: "1024"})
    (own,) = by_rule_of(desk.run(runs))["protocol_switch"]
    assert (own.status, own.rivals) == ("confirmed", ())
    assert f"it moves with {EAGER}: the protocol switch of the MPI causes it" in own.claim
    assert own.next.endswith(f"`export {EAGER}=4096`")


def planted(desk: Desk) -> str:
    """The folder of a run whose messages beyond 1000 B are announced first, and whose law has that step.

    Other work on this machine may hide it from the few launches of a run: one of three has to show it, and none
    another one in its place.
    """
    for attempt in ("0", "1", "2"):
        steps = found(desk, SIZES, FAST, {EAGER: "1024"}, runs=attempt).get("protocol_switch", [])
        if any(WRONG in step.claim for step in steps):
            return attempt
    pytest.fail("no run of three shows the step of the eager limit")


@pytest.mark.long
def test_an_acknowledgement_that_is_held_back_is_found(desk: Desk) -> None:
    """Open MPI is told to keep Nagle's algorithm; kernels hold acknowledgements back by themselves."""
    (wait,) = found(desk, WRITES, FE, {NAGLE: "1"})["delayed_ack"]
    assert (wait.severity, wait.status) == ("problem", "observed")
    assert wait.claim.startswith("Messages sometimes wait 40 ms")
    assert wait.rivals[0].startswith("the other process did not run")
    assert wait.next == "assay run network --vary tcp.nodelay=on,off"
    assert "Messages sometimes wait 40.0 ms, as long as a TCP timer." in first_page(desk.run())
