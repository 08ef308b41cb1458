"""What links can carry: held against figures that are published, and given to messages between nodes."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse, operands
from assay.analyse.estimates import LaunchMedian, Measured
from assay.machine import devices
from assay.model.derivation import Operand
from assay.model.facts import Fact
from assay.model.machine import Device
from assay.model.plan import Measure, Study
from assay.model.result import Estimate
from assay.model.run import Run
from assay.plan import Options
from assay.report import selection
from assay.simulation import Law, Link
from assay.topics.messages import link
from assay.topics.messages.sections import many_pairs, one_message

GBE = Link(25e-6, 117e6, 117e6)
PATTERNS = ("bandwidth", "bidirectional")


def ethernet(speed: float = 1e9, mtu: int = 1500, *, virtual: bool = False, name: str = "eth0") -> Device:
    facts = {"speed": Fact(speed, "bit/s"), "mtu": Fact(mtu, "B"), "virtual": Fact(virtual)}
    return Device(name, "network", facts)


def held(rate: float, mtu: int = 1500, speed: float = 10e9, burst: int | None = None) -> Device:
    """A virtual interface with a shaper, as in namespaces."""
    facts = ethernet(speed, mtu, virtual=True, name="eth0").facts
    bucket = {} if burst is None else {"shaped burst": Fact(burst, "B", "tc qdisc show dev eth0 (tbf)")}
    shaped = {"shaped rate": Fact(rate, "bit/s", "tc qdisc show dev eth0 (tbf)"), **bucket}
    return Device("eth0", "network", {**facts, **shaped})


def infiniband(rate: float, lanes: str, layer: str = "InfiniBand", **slot: float) -> Device:
    facts = {"rate": Fact(rate, "bit/s"), "lanes": Fact(lanes), "link layer": Fact(layer)}
    facts |= {name.replace("_", " "): Fact(value) for name, value in slot.items()}
    return Device("mlx5_0:1", "infiniband", facts)


def run_of(folder: Path, law: Law, *measures: Measure, hosts: int = 2) -> Run:
    names = tuple(f"n{number}" for number in range(1, hosts + 1))
    study = Study("Messages", "How fast?", measures, launches=6)
    return store.load(simulated_run(folder, law, study=study, options=Options(hosts=names)))


def with_device(run: Run, *found: Device) -> Run:
    machines = {host: msgspec.structs.replace(machine, devices=found) for host, machine in run.machines.items()}
    return msgspec.structs.replace(run, machines=machines)


def estimates(run: Run, pattern: str = "bandwidth") -> list[Estimate]:
    wanted = (each for each in analyse(run).estimates if each.params.get("pattern") == pattern)
    return [each for each in wanted if each.metric == "bandwidth"]


@pytest.fixture(scope="module")
def gbe(tmp_path_factory: pytest.TempPathFactory) -> Run:
    axes = {"pattern": PATTERNS, "bytes": 2**20}
    law = Law(links={"host": GBE, "core": GBE})
    folder = tmp_path_factory.mktemp("gbe")
    return run_of(folder, law, Measure("pt2pt", ("pair:other-node", "pair"), axes=axes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "published"),
    [
        (ethernet(), 117.7e6),  # 1448/1538 of 125 MB/s
        (ethernet(mtu=9000), 123.8e6),  # .990
        (ethernet(10e9), 1.177e9),
        (infiniband(10e9, "4X SDR"), 1e9),
        (infiniband(20e9, "4X DDR"), 2e9),
        (infiniband(40e9, "4X QDR"), 4e9),  # 8b/10b: 32 Gbit/s
        (infiniband(56e9, "4X FDR"), 54.3e9 / 8),
        (infiniband(100e9, "4X EDR"), 12.5e9),
        (infiniband(200e9, "4X HDR"), 25e9),
        (infiniband(40e9, "4X QDR", "Ethernet"), 5e9),
        (infiniband(100e9, "4X EDR", PCIe_transfer_rate=5e9, PCIe_lanes=8), 4e9),  # generation 2 x8
        (infiniband(100e9, "4X EDR", PCIe_transfer_rate=8e9, PCIe_lanes=8), 7.877e9),  # generation 3 x8
    ],
)
def test_a_link_carries_what_is_published_for_it(found: Device, published: float) -> None:
    limit = link.narrowest(link.limits(found))
    assert limit is not None
    assert limit.value == pytest.approx(published, rel=1e-3)
    assert limit.source == "derived"


def test_frames_leave_the_shares_that_are_published() -> None:
    assert link.tcp_share(1500) == pytest.approx(0.941, abs=5e-4)
    assert link.tcp_share(9000) == pytest.approx(0.990, abs=5e-4)


@pytest.mark.parametrize(("family", "segment"), [("ipv4", 1448), ("ipv6", 1428)])
def test_headers_of_a_segment_are_those_of_its_family(tmp_path: Path, family: str, segment: int) -> None:
    """IPv4 has 20 B (RFC 791), IPv6 40 B (RFC 8200), TCP 20 B (RFC 9293), its time stamps 12 B (RFC 7323)."""
    run = run_of(tmp_path, Law(links={"host": GBE}), Measure("tcp", ("pair:other-node",), axes={"family": family}))
    figure = analyse(run).estimates[0]
    assert link.mtu_for(segment, figure) == 1500
    options = {**figure.params, "segment": segment + 12 - 1}  # TCP_MAXSEG includes the time stamps
    asked = msgspec.structs.replace(figure, params=options)
    frames = [link.in_frames_of(ethernet(mtu=mtu), asked).facts["mtu"].value for mtu in (9000, 1499, 1400)]
    assert frames == [1499, 1499, 1400]


def over_infiniband() -> Device:
    found = ethernet(name="ib0")
    return msgspec.structs.replace(found, facts={**found.facts, "link layer": Fact("InfiniBand")})


@pytest.mark.parametrize("found", [ethernet(virtual=True), over_infiniband(), Device("eth0", "network", {})])
def test_what_has_no_wire_or_tells_none_has_no_limit(found: Device) -> None:
    assert link.narrowest(link.limits(found)) is None


def test_messages_between_nodes_stand_against_the_wire_that_carried_them(gbe: Run) -> None:
    (between,) = (e for e in estimates(with_device(gbe, ethernet())) if len(e.placement.hosts) == 2)
    assert between.limit is not None
    assert between.limit.value == pytest.approx(117.7e6, rel=1e-3)
    assert (between.limit.kind, between.limit.scope, between.limit.framed) == ("wire", "link", True)


def test_both_directions_stand_against_twice_the_wire(gbe: Run) -> None:
    both = [e for e in estimates(with_device(gbe, ethernet()), "bidirectional") if len(e.placement.hosts) == 2]
    assert both[0].limit is not None
    assert both[0].limit.value == pytest.approx(2 * 117.7e6, rel=1e-3)
    assert both[0].limit.of.endswith(", both directions")


def test_inside_a_node_no_wire_counts(gbe: Run) -> None:
    (inside,) = (e for e in estimates(with_device(gbe, ethernet())) if len(e.placement.hosts) == 1)
    assert inside.limit is None


def test_one_machine_has_no_wire_between_its_nodes(tmp_path: Path) -> None:
    law = Law(links={"host": GBE}, one_kernel=True)
    run = run_of(tmp_path, law, Measure("pt2pt", ("pair:other-node",), axes={"pattern": "bandwidth"}))
    assert all(e.limit is None for e in estimates(with_device(run, ethernet())))


def test_a_shaper_counts_its_header_and_is_called_the_wire_rate() -> None:
    limit = link.narrowest(link.limits(held(1e9)))
    assert limit is not None
    assert limit.value == pytest.approx(125e6 * 1448 / 1514)
    assert limit.of == (
        "the rate of eth0: 1.00 Gbit/s, set by its traffic shaper, x 1448/1514 (TCP in frames of MTU 1500 B)"
    )


def test_the_slower_of_wire_and_shaper_counts() -> None:
    facts = {**ethernet(1e9).facts, "shaped rate": Fact(3e8, "bit/s")}
    slow, fast = (
        link.narrowest(link.limits(Device("eth0", "network", {**facts, "shaped rate": Fact(rate, "bit/s")})))
        for rate in (3e8, 2e9)
    )
    assert slow
    assert fast
    assert (slow.kind, fast.kind) == ("shaper", "wire")


def test_between_nodes_of_one_machine_a_shaper_counts_and_a_wire_does_not(tmp_path: Path) -> None:
    law = Law(links={"host": GBE}, one_kernel=True)
    axes = {"pattern": "bandwidth", "bytes": 2**20}
    run = run_of(tmp_path, law, Measure("pt2pt", ("pair:other-node",), axes=axes))  # type: ignore[arg-type]
    (found,) = estimates(with_device(run, held(1e9)))
    assert found.limit is not None
    assert found.limit.kind == "shaper"
    assert found.limit.value == pytest.approx(125e6 * 1448 / 1514)
    (bare,) = estimates(with_device(run, ethernet(1e9)))
    assert bare.limit is None


def test_the_device_that_was_asked_for_counts_where_no_counter_tells(gbe: Run) -> None:
    plan = msgspec.structs.replace(gbe.plan, network="eth9")
    silent = tuple(
        msgspec.structs.replace(
            launch, cases=tuple(msgspec.structs.replace(case, traffic=None) for case in launch.cases)
        )
        for launch in gbe.launches
    )
    run = msgspec.structs.replace(gbe, plan=plan, launches=silent)
    (between,) = (e for e in estimates(with_device(run, ethernet(name="eth9"))) if len(e.placement.hosts) == 2)
    assert between.limit is not None
    assert between.limit.kind == "wire"
    assert "eth9" in between.limit.of


def test_more_than_the_wire_is_impossible(gbe: Run) -> None:
    fast = [e for e in estimates(with_device(gbe, ethernet(1e8))) if len(e.placement.hosts) == 2]
    assert [e.status for e in fast] == ["invalid"]
    assert "the raw wire rate of eth0" in (fast[0].reason or "")


def test_the_slot_of_a_card_tells_its_speed_and_width(tmp_path: Path) -> None:
    slot = tmp_path / "sys/devices/pci0000:17/0000:17:00.0"
    port = tmp_path / "sys/class/infiniband/mlx5_0/ports/1"
    for path, content in (
        (slot / "current_link_speed", "8.0 GT/s PCIe"),
        (slot / "current_link_width", "8"),
        (slot / "max_link_speed", "16.0 GT/s PCIe"),
        (slot / "max_link_width", "255"),
        (port / "rate", "100 Gb/sec (4X EDR)"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")
    (port.parents[1] / "device").symlink_to(slot)
    (found,) = devices.read(tmp_path)
    assert found.facts["PCIe transfer rate"].value == 8e9
    assert found.facts["PCIe lanes"].value == 8
    assert found.facts["PCIe transfer rate possible"].value == 16e9
    assert "PCIe lanes possible" not in found.facts


def sums(run: Run) -> dict[str, Estimate]:
    """Placement -> bandwidth of all pairs, with the largest messages."""
    found = sorted(estimates(run, "multi-bandwidth"), key=lambda each: int(each.params["bytes"]))
    return {each.placement.label: each for each in found}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Four cores on each of four nodes; memory gives 30 GB/s of traffic, caches hold 8 MB."""
    axes = {"pattern": "multi-bandwidth", "bytes": (8, 4 * 2**20)}
    measures = (
        Measure("pt2pt", ("all@2", "one-core@2", "all@all", "all"), axes=axes),  # type: ignore[arg-type]
        Measure("stream", ("all",), axes={"stores": "non-temporal"}),
    )
    names = tuple(f"n{number}" for number in range(1, 5))
    study = Study("Pairs", "What do they carry together?", measures, launches=6)
    machine = "pack:1 numa:1(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
    folder = tmp_path_factory.mktemp("pairs")
    law = Law(links={"host": GBE, "core": Link(3e-7, 4e9, 9e9)})
    run = store.load(simulated_run(folder, law, description=machine, study=study, options=Options(hosts=names)))
    return with_device(run, ethernet())


@pytest.mark.parametrize(
    ("label", "wires", "ending"),
    [
        ("one-core@2", 1, "(TCP in frames of MTU 1500 B)"),
        ("all@2", 1, ", for 4 pairs together"),
        ("all@all", 2, ", 2 links, for 8 pairs together"),
    ],
)
def test_all_pairs_between_two_nodes_share_one_wire(pairs: Run, label: str, wires: int, ending: str) -> None:
    found = sums(pairs)[label]
    assert found.limit is not None
    assert found.limit.value == pytest.approx(wires * 117.7e6, rel=1e-3)
    assert found.limit.of.endswith(ending)
    assert found.median == pytest.approx(wires * 117e6, rel=0.01)


def test_inside_a_node_all_pairs_share_half_of_what_memory_moves(pairs: Run) -> None:
    found = sums(pairs)["all"]
    (rate,) = {
        each.median
        for each in analyse(pairs).estimates
        if (each.benchmark, each.kernel) == ("stream", "triad")
        and each.metric == "traffic"
        and each.placement.hosts == ("n1",)
    }
    assert found.limit is not None
    assert found.limit.value == pytest.approx((rate or 0.0) / 2, rel=0.02)
    assert found.limit.of.startswith("half of the best measured memory rate")
    assert found.limit.of.endswith(": memory reads and writes each byte of a message, for 2 pairs together")


def test_messages_whose_buffers_fit_the_caches_have_no_limit_of_memory(pairs: Run) -> None:
    small = [each for each in estimates(pairs, "multi-bandwidth") if each.placement.label == "all"]
    assert [each.limit is None for each in sorted(small, key=lambda each: int(each.params["bytes"]))] == [
        True,
        False,
    ]


def test_the_table_of_many_pairs_has_the_limit_of_their_sum(pairs: Run) -> None:
    drawn = many_pairs.declared.section(pairs, analyse(pairs))
    assert drawn
    table, *_ = drawn.tables
    column = table.columns.index("Limit of the sum")
    assert column in table.numeric
    cells = {row[0]: row[column] for row in table.rows}
    # 117.7 MB/s a wire, and half a percent of it that gaps between messages take.
    assert cells["all cores, n1 \u2013 n2"] == "118 MB/s (99 %)"
    assert cells["all cores, 4 nodes"] == "235 MB/s (99 %)"
    assert "for 8 pairs together" in table.note


def test_a_burst_above_its_shaper_is_marked_and_never_the_best(tmp_path: Path) -> None:
    law = Law(links={"host": GBE}, one_kernel=True)
    axes = {"pattern": "latency", "bytes": (2**8, 2**9, 2**10, 2**11, 2**12, 2**20)}
    run = run_of(tmp_path, law, Measure("pt2pt", ("pair:other-node",), axes=axes))  # type: ignore[arg-type]
    run = with_device(run, held(8e8))  # 4 KiB have 68 MB/s, 1 MiB has 117 MB/s of at most 96 MB/s
    analysis = analyse(run)
    found = [each for each in analysis.estimates if each.metric == "latency"]
    assert [each.params["bytes"] for each in found if each.exceeds] == [2**20]
    exceeds = next(each.exceeds for each in found if each.exceeds)
    assert exceeds.kind == "shaper"
    assert exceeds.value == pytest.approx(2**20 / (1e8 * 1448 / 1514))
    rates = one_message.declared.select(analysis, ())
    best = selection.best(rates)
    assert best is not None
    assert best.params["bytes"] == 2**12
    measured = tuple(Measured(each, (LaunchMedian(0, None, 1.0),)) for each in found)
    operand = Operand("pt2pt", placement="pair:other-node", metric="latency", params={"pattern": "latency"})
    chosen = operands.select(operands.Figures(run, measured), operand)
    assert 2**20 not in [each.estimate.params["bytes"] for each in chosen]


@pytest.mark.parametrize(
    ("rate", "burst", "told"),
    [
        # 1 MiB in 8.98 ms at 117 MB/s; at 8e8 bit/s 95.6 MB/s of payload: 190 kB beyond it, 150 kB with 5 %.
        (8e8, None, "unknown"),
        (8e8, 2**20, "fits"),
        (8e8, 160_000, "fits"),
        (8e8, 140_000, ""),
        (8e8, 0, ""),
        (4e8, 2**24, "fits"),
    ],
)
def test_what_fits_the_bucket_of_its_shaper_is_a_burst(
    tmp_path: Path, rate: float, burst: int | None, told: str
) -> None:
    law = Law(links={"host": GBE}, one_kernel=True)
    axes = {"pattern": "latency", "bytes": (2**12, 2**20)}
    run = run_of(tmp_path, law, Measure("pt2pt", ("pair:other-node",), axes=axes))  # type: ignore[arg-type]
    analysis = analyse(with_device(run, held(rate, burst=burst)))
    above = [e for e in analysis.estimates if e.params["bytes"] == 2**20 and e.metric == "latency"]
    assert [e.exceeds and (e.exceeds.kind, e.exceeds.burst) for e in above] == [("shaper", told)]
    (finding,) = [
        each for each in analysis.findings if each.rule == "wrong_limit" and above[0].id in each.evidence
    ]
    assert finding.id.endswith(":".join(filter(None, ("shaper", told))))
    assert bool(finding.next) == (told == "unknown")


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        # 8e8 bit/s hold 1 MiB in 8.98 ms back; what passed beyond it fits 160 kB, and not 140 kB.
        ((held(8e8, burst=160_000), ethernet(10e9)), "fits"),
        ((ethernet(10e9), held(8e8, burst=140_000)), ""),
        ((held(8e8, burst=140_000), held(9e8, burst=2**24)), ""),
        ((held(9e8, burst=0), held(8e8, burst=160_000)), "fits"),
        ((held(8e8, burst=160_000), held(9e8)), "fits"),
        ((held(8e8), held(9e8, burst=2**24)), "unknown"),
        ((held(8e8, burst=140_000), held(8e8, burst=160_000)), "fits"),
        ((held(8e8, burst=160_000), held(8e8)), "unknown"),
    ],
)
def test_the_bucket_is_that_of_the_slowest_shaper(tmp_path: Path, ends: tuple[Device, Device], told: str) -> None:
    law = Law(links={"host": GBE}, one_kernel=True)
    axes = {"pattern": "latency", "bytes": (2**12, 2**20)}
    run = run_of(tmp_path, law, Measure("pt2pt", ("pair:other-node",), axes=axes))  # type: ignore[arg-type]
    (machine,) = run.machines.values()
    machines = {
        host: msgspec.structs.replace(machine, host=host, devices=(device,))
        for host, device in zip(("n1", "n2"), ends, strict=True)
    }
    found = analyse(msgspec.structs.replace(run, machines=machines)).estimates
    above = [e for e in found if e.params["bytes"] == 2**20 and e.metric == "latency"]
    assert [e.exceeds and (e.exceeds.kind, e.exceeds.burst) for e in above] == [("shaper", told)]


@pytest.mark.parametrize("burst", [2**15, None])
def test_where_the_burst_of_a_shaper_ends_no_protocol_is_blamed(tmp_path: Path, burst: int | None) -> None:
    """64 KiB pass above the rate of the shaper; from there on each message takes 0.4 ms more."""
    link = Link(25e-6, 117e6, 117e6, eager_bytes=2**16, rendezvous_s=400e-6)
    axes = {"pattern": "latency", "bytes": tuple(2**power for power in range(9, 21))}
    law = Law(links={"host": link}, one_kernel=True)
    run = run_of(tmp_path, law, Measure("pt2pt", ("pair:other-node",), axes=axes))  # type: ignore[arg-type]
    for device, is_burst in ((held(8e8, burst=burst), True), (held(2e9, burst=burst), False)):
        analysis = analyse(with_device(run, device))
        (finding,) = (e for e in analysis.findings if e.rule == "protocol_switch" and e.assessed)
        assert (finding.rivals == (), finding.experiment is None) == (is_burst, is_burst)
        assert finding.next.startswith("tc -s qdisc show") == is_burst
        (profile,) = (each for each in analysis.profiles if each.between)
        assert profile.jump_burst == is_burst
        assert profile.single
        assert profile.single.value.value == pytest.approx(2**16 / 585e-6, rel=0.05) or is_burst


def test_a_window_of_messages_passes_as_one_piece(tmp_path: Path) -> None:
    law = Law(links={"host": GBE}, one_kernel=True)
    axes = {"pattern": "bandwidth", "bytes": 2**20, "window": (1, 64)}
    run = run_of(tmp_path, law, Measure("pt2pt", ("pair:other-node",), axes=axes))  # type: ignore[arg-type]
    found = estimates(with_device(run, held(8e8, burst=2**18)))
    told = {e.params["window"]: e.exceeds and e.exceeds.burst for e in found}
    assert told == {1: "fits", 64: ""}
