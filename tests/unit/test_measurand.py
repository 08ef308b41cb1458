"""What a figure is of: keys that never change, and what two figures are said to differ in."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import described

from assay import store
from assay.analyse import analyse
from assay.model import measurands
from assay.model.imported import UNSTATED
from assay.model.measurand import AxisValue, Layout, Level, Match, Measurand, Part, Places, matches

_ONE = Layout(1, 1, 1, 1)
_PAIR = Layout(2, 2, 1, 1)
TRIAD = Measurand(
    program="stream",
    version="1",
    kernel="triad",
    metric="bandwidth",
    role="memory-rate",
    unit="B/s",
    axes=(AxisValue("elements", 5_000_000, basis="derived"), AxisValue("stores", "ordinary", basis="default")),
    layout=_ONE,
    places=Places(relation="one cpu"),
    levels=(Level("compiler", "gcc-12", "compiler", "gcc", varied=False),),
)
LATENCY = Measurand(
    program="pt2pt",
    version="1",
    kernel="message",
    metric="latency",
    role="message-time",
    unit="s",
    better="lower",
    direction="one way",
    axes=(AxisValue("bytes", 8, "message-size", "B"), AxisValue("pattern", "latency", "message-pattern")),
    layout=_PAIR,
    places=Places(relation="other node", card="near"),
    levels=(
        Level("mpi", "openmpi-4.1.4", "mpi", "openmpi"),
        Level("network", "ib", "network", "InfiniBand", 12.5e9),
    ),
)
_replace = msgspec.structs.replace
#: Each stands for all measurands of its kind; a change of a key breaks every history, so it needs a reason here.
PINNED = {
    "triad of a core": TRIAD,
    "with streaming stores": _replace(TRIAD, axes=(AxisValue("stores", "non-temporal"),)),
    "of another version": _replace(TRIAD, version="2"),
    "all cores": _replace(
        TRIAD, layout=Layout(1, 1, 1, 64, share="all cores"), places=Places(relation="other socket")
    ),
    "of a memory node": _replace(TRIAD, places=Places("numa 3", "same NUMA node", memory="bind:3")),
    "stores not stated": _replace(TRIAD, axes=(AxisValue("stores", UNSTATED),)),
    "latency": LATENCY,
    "far from the card": _replace(LATENCY, places=Places(relation="other node", card="far")),
    "of 1 MiB": _replace(LATENCY, axes=(AxisValue("bytes", 2**20), AxisValue("pattern", "latency"))),
    "both ways": _replace(LATENCY, direction="both ways"),
    "on two devices": _replace(LATENCY, layout=Layout(2, 2, 1, 1, 1)),
    "nothing stated": Measurand(program="iperf3", version="iperf3 (not stated)", kernel="sum", metric="bandwidth"),
}
KEYS = {
    "triad of a core": "stream/triad/bandwidth@6f7fe2ae2c158d67",
    "with streaming stores": "stream/triad/bandwidth@012c3efc8b080085",
    "of another version": "stream/triad/bandwidth@4ee5fd09ad8c4092",
    "all cores": "stream/triad/bandwidth@028a498fe859da2e",
    "of a memory node": "stream/triad/bandwidth@a2de12800ef7f353",
    "stores not stated": "stream/triad/bandwidth@6bc743d14a351170",
    "latency": "pt2pt/message/latency@32dfd293bde4c9ea",
    "far from the card": "pt2pt/message/latency@4dc256918cd8a4a0",
    "of 1 MiB": "pt2pt/message/latency@49836f45a43db97c",
    "both ways": "pt2pt/message/latency@37f90bcf04273b40",
    "on two devices": "pt2pt/message/latency@93f098bd2b883e0d",
    "nothing stated": "iperf3/sum/bandwidth@d8ed83edeef655ec",
}


@pytest.mark.parametrize("name", PINNED)
def test_keys_are_what_they_always_were(name: str) -> None:
    assert PINNED[name].key == KEYS[name]


def test_no_two_of_them_have_one_key() -> None:
    assert len(set(KEYS.values())) == len(PINNED) == len(KEYS)


def test_a_key_does_not_depend_on_order_names_of_devices_or_derived_sizes() -> None:
    assert _replace(LATENCY, axes=LATENCY.axes[::-1], levels=LATENCY.levels[::-1]).key == LATENCY.key
    other_name = Level("network", "mlx5_0:1", "network", "InfiniBand", 12.5e9)
    assert _replace(LATENCY, levels=(LATENCY.levels[0], other_name)).key == LATENCY.key
    larger = _replace(TRIAD, axes=(AxisValue("elements", 9_000_000, basis="derived"), TRIAD.axes[1]))
    assert larger.key == TRIAD.key


def test_an_axis_that_a_later_version_adds_keeps_the_keys_of_its_default() -> None:
    older = _replace(TRIAD, axes=TRIAD.axes[:1])
    assert older.key == TRIAD.key
    assert matches(older, TRIAD) == Match("equal")
    assert matches(older, PINNED["with streaming stores"]).parts == (Part("stores", "", "non-temporal"),)


def test_they_pass_through_json() -> None:
    for each in PINNED.values():
        assert msgspec.json.decode(msgspec.json.encode(each), type=Measurand) == each
    written = msgspec.json.encode(PINNED["nothing stated"].layout)
    assert b'"nodes":"not stated"' in written


def test_equal_ones_are_the_same() -> None:
    assert matches(TRIAD, _replace(TRIAD)) == Match("equal")


def test_differences_are_named() -> None:
    match = matches(LATENCY, PINNED["far from the card"])
    assert match == Match("comparable", (Part("card", "near", "far"),))
    assert match.parts[0].is_contradiction


@pytest.mark.parametrize("part", ["program", "kernel", "metric", "unit", "direction"])
def test_another_quantity_is_not_comparable(part: str) -> None:
    other = _replace(LATENCY, **{part: "out" if part == "direction" else "else"})
    assert matches(LATENCY, other).kind == "different"


def test_what_is_not_stated_equals_nothing_in_silence() -> None:
    silent = _replace(LATENCY, layout=_replace(_PAIR, ranks_per_node=UNSTATED))
    for a, b in ((LATENCY, silent), (silent, LATENCY), (silent, silent)):
        match = matches(a, b)
        assert match.kind == "comparable"
        assert [part.name for part in match.parts] == ["ranks per node"]
        assert not match.parts[0].is_contradiction
    unknown_way = _replace(LATENCY, direction=UNSTATED)
    assert matches(LATENCY, unknown_way).kind == "comparable", "it may be the same quantity"


def test_a_default_is_compared_with_what_the_other_chose() -> None:
    chosen = PINNED["with streaming stores"]
    assert matches(TRIAD, chosen).parts == (Part("stores", "ordinary", "non-temporal"),)
    assert matches(TRIAD, PINNED["stores not stated"]).parts == (Part("stores", "ordinary", UNSTATED),)


@pytest.mark.parametrize("packed", ["node", "network"])
def test_no_two_figures_of_a_run_share_a_measurand(packed: str) -> None:
    """Except those of several hosts, and of several states of the machine, which are no part of it."""
    found = analyse(store.load(Path(__file__).parents[1] / f"runs/{packed}.tar.xz")).estimates
    assert len({(e.measurand.key, e.placement.hosts, e.state) for e in found}) == len(found)


@pytest.mark.parametrize("name", ["epyc-7601", "hpcdiy-qdr", "leo", "vtpcc"])
def test_nor_two_figures_of_a_publication(name: str) -> None:
    found = analyse(store.load(store.find(name))).estimates
    assert len({e.measurand.key for e in found}) == len(found)


def test_an_axis_that_is_named_as_another_part_hides_no_part_and_is_hidden_by_none() -> None:
    full = _replace(
        LATENCY,
        places=Places("numa 3", "other node", "near", folder="ext4", device="H100"),
        levels=tuple(Level(name, "one", name) for name in ("network", "mpi", "compiler", "blas", "system")),
    )
    for name in full.parts:
        few, many = (_replace(full, axes=(AxisValue(name, value),)) for value in (20, 40))
        assert few.key != many.key, name
        (part,) = matches(few, many).parts
        assert (part.a, part.b) == ("20", "40"), name
        assert few.parts.items() >= _replace(full, axes=()).parts.items(), name


def test_file_systems_and_models_of_devices_are_parts() -> None:
    for name in ("folder", "device"):
        one, other = (_replace(TRIAD, places=_replace(TRIAD.places, **{name: value})) for value in ("a", "b"))
        assert matches(one, other) == Match("comparable", (Part(name, "a", "b"),))


def test_two_sockets_that_share_a_memory_are_two_sockets() -> None:
    shared = described("numa:1(memory=1GB) pack:2 l2:1(size=512kB) l1:1(size=8kB) core:2 pu:1")
    assert measurands._relation(((0,), (2,)), shared) == "other socket"
    assert measurands._relation(((0,), (1,)), shared) == "same L3"  # none is known: they count as one
    assert measurands._relation((), shared) == UNSTATED
