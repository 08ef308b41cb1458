"""Placement words over several nodes and beside the network card, and the networks that go between them."""

from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from tests.simulation import EPYC_7601, described

from assay import studies
from assay.machine import devices
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.facts import Fact, unavailable
from assay.model.machine import Device, Machine, is_port
from assay.model.plan import Case, Measure, Plan, Study
from assay.plan import Options, hosts, make, networks, parse_networks, resolve_networks
from assay.plan.networks import Card
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
    assert [(left.request, left.reason) for left in plan.left_out] == [
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
        networks.resolve("all:near-nic", machine, Card())
    assert networks.resolve("all:near-nic", machine, Card(user_node=5)) == "all:numa:5"


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
    assert Card().node(machine) == 3  # the faster of the two
    assert Card(device="mlx5_0:1").node(machine) == Card(device="mlx5_0").node(machine) == 1
    assert Card(device="eth0").node(machine) is None


def two_cards() -> Machine:
    """InfiniBand on the last NUMA node, Ethernet on the first one."""
    cards = (("mlx5_0:1", "infiniband", 7), ("eth0", "network", 0))
    found = tuple(Device(name, kind, {"NUMA node": Fact(node, source="test")}) for name, kind, node in cards)  # type: ignore[arg-type]
    return msgspec.structs.replace(described(EPYC_7601), devices=found)


NETWORKS = {"ib": "mlx5_0:1", "gbe": "eth0"}


def numa_nodes(plan: Plan) -> dict[tuple[str, str], int]:
    """Placement and network -> the NUMA node of the core on each host."""
    numa = {cpu: core.numa for core in described(EPYC_7601).topology.cores for cpu in core.cpus}
    of = {(case.placement.label, case.factors.get("network", "")): case.placement.ranks for case in cases(plan)}
    return {key: numa[ranks[0][0]] for key, ranks in of.items()}


def test_two_nodes_pass_messages_from_beside_the_card_of_the_network_that_is_measured() -> None:
    words = ("pair:other-node", "one-core:near-nic@2", "one-core:far-nic@2")
    plan = planned(*words, machine=two_cards(), hosts=("n1", "n2"), networks=NETWORKS)
    found = numa_nodes(plan)
    assert (found["pair:other-node", "ib"], found["pair:other-node", "gbe"]) == (7, 0)
    assert found["one-core:far-nic@2", "ib"] in range(4)
    assert found["one-core:far-nic@2", "gbe"] in range(4, 8)
    wishes = [f"one-core:near-nic@2, network={network}" for network in NETWORKS]
    assert [each.request for each in plan.folded] == wishes
    alone = planned(*words, machine=two_cards(), hosts=("n1", "n2"), networks={"gbe": "eth0"})
    assert numa_nodes(alone)["pair:other-node", ""] == 0


def test_networks_whose_cards_are_apart_stand_side_by_side_in_each_block() -> None:
    words = ("pair:other-node", "one-core:far-nic@2")
    plan = planned(*words, machine=two_cards(), hosts=("n1", "n2"), networks=NETWORKS)
    for block in range(plan.launches):
        ids = [case for each in plan.order if each.block == block for case in each.cases if case != "sentinel"]
        places = [case.split("/")[1] for case in ids]
        assert len(ids) == 6  # two networks and the first one again, at two places
        assert places in ([words[0]] * 3 + [words[1]] * 3, [words[1]] * 3 + [words[0]] * 3)
    for launch in plan.order:
        assert len({plan.case(case).placement for case in launch.cases}) == 1


def test_a_user_says_where_the_card_of_each_network_is() -> None:
    machine = msgspec.structs.replace(two_cards(), devices=())
    options: dict[str, Any] = {"machine": machine, "hosts": ("n1", "n2"), "networks": NETWORKS}
    plan = planned("pair:other-node", "one-core:far-nic@2", nic_nodes=networks.parse_nodes("ib=6"), **options)
    found = numa_nodes(plan)
    assert (found["pair:other-node", "ib"], found["pair:other-node", "gbe"]) == (6, 0)
    (left,) = plan.left_out
    assert left.request == "pt2pt at one-core:far-nic@2, network=gbe"
    assert "--nic-node" in left.reason
    with pytest.raises(UsageError, match="'fe'"):
        planned("pair:other-node", nic_nodes=networks.parse_nodes("fe=1"), **options)


@pytest.mark.parametrize("text", ["", "x", "ib=", "=1", "-1", "ib=1,ib=2", "1,2", "999999"])
def test_what_is_no_node_of_a_card_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a NUMA node"):
        networks.parse_nodes(text)


def test_near_and_far_get_every_size_of_each_pattern_over_each_network() -> None:
    options = Options(hosts=("n1", "n2"), networks=NETWORKS, seed=1)
    plan = make("network", studies.get("network"), two_cards(), options)
    near, far = (
        {
            (str(case.params["pattern"]), int(case.params["bytes"]), case.factors["network"])
            for case in cases(plan)
            if case.benchmark == "pt2pt" and case.placement.label == label
        }
        for label in ("pair:other-node", "one-core:far-nic@2")
    )
    sizes = (0, *(2**power for power in range(23)))
    wanted = {("latency", size, network) for size in sizes for network in NETWORKS}
    wanted |= {(way, size, n) for way in ("bandwidth", "bidirectional") for size in sizes[1:] for n in NETWORKS}
    assert near == far == wanted


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


@pytest.mark.parametrize(
    "text", ["", "a=", "=eth0", "a=eth0,a=eth1", "a=eth 0", "--x=eth0", "a=cxi/", "gni/x", "cxi/a/b"]
)
def test_what_is_no_network_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_networks(text)


THERE = {"n1": ["eth0", "lo", "mlx5_0:1", "mlx5_0:2"], "n2": ["eth0", "lo", "eth1", "mlx5_0:1"]}


def test_a_network_may_name_the_provider_of_its_device() -> None:
    assert parse_networks("hsn=cxi/cxi0,efa/rdmap0s6") == {"hsn": "cxi/cxi0", "rdmap0s6": "efa/rdmap0s6"}
    there = {"n1": ["rdmap0s6:1", "cxi0"], "n2": ["rdmap0s6:1"]}
    assert resolve_networks({"efa": "efa/rdmap0s6"}, there) == {"efa": "efa/rdmap0s6:1"}
    with pytest.raises(UnfitEnvironmentError, match="n2 has no network device 'cxi0'"):
        resolve_networks({"hsn": "cxi/cxi0"}, there)
    assert is_port("rdmap0s6:1", "efa/rdmap0s6:1")
    assert not is_port("hsn0", "cxi/cxi0")


def on_bus(name: str, kind: Literal["network", "infiniband"], address: str, **facts: str) -> Device:
    told = {"PCI address": address, **{name.replace("_", " "): value for name, value in facts.items()}}
    return Device(name, kind, {name: Fact(value) for name, value in told.items()})


def test_the_interface_of_a_faster_card_names_what_goes_without_tcp() -> None:
    machine = msgspec.structs.replace(
        described(),
        devices=(
            on_bus("hsn0", "network", "0000:41:00.0"),
            on_bus("eth0", "network", "0000:01:00.0"),
            on_bus("roce0", "network", "0000:02:00.0"),
            Device("br0", "network", {"PCI address": unavailable("it is no PCI device")}),
            on_bus("cxi0", "infiniband", "0000:41:00.0", link_layer="Slingshot"),
            on_bus("mlx5_0:1", "infiniband", "0000:02:00.0", link_layer="Ethernet"),
        ),
    )
    found = {name: machine.fabric_of(name) for name in ("hsn0", "roce0", "eth0", "br0", "cxi/cxi0", "none")}
    assert found == {"hsn0": "cxi/cxi0", "roce0": "mlx5_0:1", "eth0": "", "br0": "", "cxi/cxi0": "", "none": ""}


def test_a_card_without_its_port_is_its_first_one() -> None:
    assert resolve_networks({"ib": "mlx5_0", "gbe": "eth0"}, THERE) == {"ib": "mlx5_0:1", "gbe": "eth0"}
    assert resolve_networks({"mlx5_0": "mlx5_0"}, {"n1": ["mlx5_0", "mlx5_0:1"]}) == {"mlx5_0": "mlx5_0"}


@pytest.mark.parametrize("device", ["eth9", "mlx5_0:3", "mlx5"])
def test_a_device_that_no_node_has_is_refused_with_those_that_all_have(device: str) -> None:
    with pytest.raises(UsageError, match=f"no node has a network device '{device}'") as refused:
        resolve_networks({"typo": device}, THERE)
    assert refused.value.why == "on n[1-2] there are: eth0, mlx5_0:1"
    assert refused.value.remedy == "--network typo=eth0"


def test_a_device_that_a_node_lacks_is_refused_with_its_name() -> None:
    with pytest.raises(UnfitEnvironmentError, match="n1 has no network device 'eth1'"):
        resolve_networks({"second": "eth1"}, THERE)
    with pytest.raises(UnfitEnvironmentError, match="n2 has no network device 'mlx5_0:2'"):
        resolve_networks({"ib": "mlx5_0:2"}, THERE)


def test_nodes_that_tell_nothing_have_whatever_is_asked_for() -> None:
    assert resolve_networks({"ib": "mlx5_0"}, {"n1": []}) == {"ib": "mlx5_0"}
    assert resolve_networks({"gbe": "eth1"}, {"n1": [], "n2": THERE["n2"]}) == {"gbe": "eth1"}
    with pytest.raises(UsageError, match="eth9"):
        resolve_networks({"typo": "eth9"}, {"n1": [], "n2": THERE["n2"]})


def test_of_nodes_that_are_one_machine_one_measures_what_passes_no_messages() -> None:
    measure = Measure("stream", ("all",), axes={"elements": 1000}, why="w")
    kernels = {"n1": "same", "n2": "same", "n3": "other"}
    options = Options(hosts=("n1", "n2", "n3"), kernels=kernels)
    plan = make("own.toml", Study("S", "Q?", (measure,)), described(), options)
    assert all(case.placement.hosts == ("n1", "n3") for case in plan.cases)
    assert [(left.request, left.reason) for left in plan.left_out] == [
        ("what passes no messages on n2", "it is the same machine as n1")
    ]
