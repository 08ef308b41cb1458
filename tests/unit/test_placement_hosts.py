"""Placement words over several nodes and beside the network card, and the networks that go between them."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import EPYC_7601, described

from assay.machine import devices
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.facts import Fact
from assay.model.machine import Device, Machine
from assay.model.plan import Case, Measure, Plan, Study
from assay.plan import Options, hosts, make, on_nodes, parse_networks
from assay.plan.placement import AbsentPlacementError


def planned(*placements: str, machine: Machine | None = None, **options: object) -> Plan:
    measure = Measure("pt2pt", placements, axes={"pattern": "latency", "bytes": 8}, why="w")
    return make("own.toml", Study("S", "Q?", (measure,)), machine or described(), Options(**options))  # type: ignore[arg-type]


def cases(plan: Plan) -> list[Case]:
    return [case for case in plan.cases if case.role == "measure"]


def with_card(node: int) -> Machine:
    card = Device("mlx5_0", "infiniband", {"NUMA node": Fact(node, source="test")})
    return msgspec.structs.replace(described(EPYC_7601), devices=(card,))


def test_two_nodes_have_a_rank_on_each_numbered_node_by_node() -> None:
    (case,) = cases(planned("pair:other-node", hosts=("n1", "n2", "n3")))
    assert (case.placement.label, case.placement.hosts) == ("pair:other-node", ("n1", "n2"))
    assert case.placement.ranks == ((0,),)
    assert case.placement.rank_cpus == ((0,), (0,))


def test_without_a_number_of_nodes_messages_stay_inside_the_first() -> None:
    (case,) = cases(planned("all", hosts=("n1", "n2")))
    assert (case.placement.hosts, case.placement.rank_cpus) == (("n1",), ((0,), (1,)))


def test_all_numa_nodes_pair_with_their_like_on_the_other_node() -> None:
    found = cases(planned("all:numa:*@2", machine=described(EPYC_7601), hosts=("n1", "n2")))
    assert [case.placement.label for case in found] == [f"all:numa:{node}@2" for node in range(8)]
    assert all(len(case.placement.rank_cpus) == 2 * len(case.placement.cpus) for case in found)


def test_more_nodes_than_there_are_is_left_out_with_the_reason() -> None:
    plan = planned("one-core@2", "all")
    assert [case.placement.label for case in cases(plan)] == ["all"]
    assert [(left.wish, left.reason) for left in plan.left_out] == [
        ("pt2pt at one-core@2", "it needs 2 nodes; this run has one node (see --hosts)")
    ]


@pytest.mark.parametrize("word", ["all@", "all@0", "all@two"])
def test_what_is_no_number_of_nodes_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="names no number of nodes"):
        hosts.split(word)


def test_near_and_far_are_told_by_the_card_and_the_firmware() -> None:
    near, far = cases(planned("all:near-nic@2", "all:far-nic@2", machine=with_card(6), hosts=("n1", "n2")))
    numa = {cpu: core.numa for core in described(EPYC_7601).topology.cores for cpu in core.cpus}
    assert {numa[cpu] for cpu in near.placement.cpus} == {6}
    far_nodes = {numa[cpu] for cpu in far.placement.cpus}
    assert len(far_nodes) == 1
    assert far_nodes <= {0, 1, 2, 3}  # the other socket
    assert (near.placement.label, far.placement.label) == ("all:near-nic@2", "all:far-nic@2")


def test_a_card_that_tells_no_node_is_given_one() -> None:
    machine = described(EPYC_7601)
    with pytest.raises(AbsentPlacementError):
        hosts.beside_network("all:near-nic", machine, None)
    assert hosts.beside_network("all:near-nic", machine, 5) == "all:numa:5"


def test_the_node_of_a_card_is_found_as_the_machine_tells_it(tmp_path: Path) -> None:
    for name, node, rate in (("mlx5_0", 1, "100 Gb/sec (4X EDR)"), ("mlx5_1", 3, "200 Gb/sec (4X HDR)")):
        card = tmp_path / f"sys/devices/pci0000:00/0000:0{node}:00.0"
        ports = card / f"infiniband/{name}/ports/1"
        ports.mkdir(parents=True)
        (ports / "rate").write_text(rate)
        (card / "numa_node").write_text(f"{node}\n")
        (ports.parents[1] / "device").symlink_to(card)
        (tmp_path / "sys/class/infiniband").mkdir(parents=True, exist_ok=True)
        (tmp_path / "sys/class/infiniband" / name).symlink_to(ports.parents[1])
    machine = msgspec.structs.replace(described(EPYC_7601), devices=devices.read(tmp_path))
    assert hosts.network_node(machine) == 3  # the faster of the two


def test_nodes_of_one_machine_share_its_cores_instead_of_taking_turns_on_one() -> None:
    kernels = {"n1": "same", "n2": "same"}
    (case,) = cases(planned("one-core@2", hosts=("n1", "n2"), kernels=kernels))
    assert case.placement.rank_cpus == ((0,), (1,))
    (apart,) = cases(planned("one-core@2", hosts=("n1", "n2"), kernels={"n1": "a", "n2": "b"}))
    assert apart.placement.rank_cpus == ((0,), (0,))


def test_networks_are_varied_between_nodes_only() -> None:
    networks = parse_networks("gbe=eth0,ib=mlx5_0:1")
    plan = planned("all", "one-core@2", hosts=("n1", "n2"), networks=networks)
    levels: dict[str, set[str]] = {case.placement.label: set() for case in cases(plan)}
    for case in cases(plan):
        levels[case.placement.label] |= set(case.factors.values())
    assert levels == {"all": set(), "one-core@2": {"gbe", "ib"}}


def test_one_network_is_no_factor_but_is_used() -> None:
    plan = planned("one-core@2", hosts=("n1", "n2"), networks=parse_networks("eth0"))
    assert (plan.network, plan.factors) == ("eth0", ())


@pytest.mark.parametrize("text", ["", "a=", "=eth0", "a=eth0,a=eth1", "a=eth 0", "--x=eth0", "a=-x"])
def test_what_is_no_network_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_networks(text)


THERE = {"n1": ["eth0", "lo", "mlx5_0:1", "mlx5_0:2"], "n2": ["eth0", "lo", "eth1", "mlx5_0:1"]}


def test_a_card_without_its_port_is_its_first_one() -> None:
    assert on_nodes({"ib": "mlx5_0", "gbe": "eth0"}, THERE) == {"ib": "mlx5_0:1", "gbe": "eth0"}
    assert on_nodes({"mlx5_0": "mlx5_0"}, {"n1": ["mlx5_0", "mlx5_0:1"]}) == {"mlx5_0": "mlx5_0"}


@pytest.mark.parametrize("device", ["eth9", "mlx5_0:3", "mlx5"])
def test_a_device_that_no_node_has_is_refused_with_those_that_all_have(device: str) -> None:
    with pytest.raises(UsageError, match=f"no node has a network device '{device}'") as refused:
        on_nodes({"typo": device}, THERE)
    assert refused.value.why == "on n[1-2] there are: eth0, mlx5_0:1"
    assert refused.value.remedy == "--network typo=eth0"


def test_a_device_that_a_node_lacks_is_refused_with_its_name() -> None:
    with pytest.raises(UnfitEnvironmentError, match="n1 has no network device 'eth1'"):
        on_nodes({"second": "eth1"}, THERE)
    with pytest.raises(UnfitEnvironmentError, match="n2 has no network device 'mlx5_0:2'"):
        on_nodes({"ib": "mlx5_0:2"}, THERE)


def test_nodes_that_tell_nothing_have_whatever_is_asked_for() -> None:
    assert on_nodes({"ib": "mlx5_0"}, {"n1": []}) == {"ib": "mlx5_0"}
    assert on_nodes({"gbe": "eth1"}, {"n1": [], "n2": THERE["n2"]}) == {"gbe": "eth1"}
    with pytest.raises(UsageError, match="eth9"):
        on_nodes({"typo": "eth9"}, {"n1": [], "n2": THERE["n2"]})


def test_of_nodes_that_are_one_machine_one_measures_what_passes_no_messages() -> None:
    measure = Measure("stream", ("all",), axes={"elements": 1000}, why="w")
    kernels = {"n1": "same", "n2": "same", "n3": "other"}
    options = Options(hosts=("n1", "n2", "n3"), kernels=kernels)
    plan = make("own.toml", Study("S", "Q?", (measure,)), described(), options)
    assert all(case.placement.hosts == ("n1", "n3") for case in plan.cases)
    assert [(left.wish, left.reason) for left in plan.left_out] == [
        ("what passes no messages on n2", "it is the same machine as n1")
    ]
