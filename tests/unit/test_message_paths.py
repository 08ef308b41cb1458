"""What each way of messages is good for and what limits it: figures of the simulated link, and their words."""

from pathlib import Path
from typing import get_args

import msgspec
import pytest
from tests.simulation import simulated_run
from tests.unit.test_limits_wire import ethernet, held, with_device

from assay import store
from assay.analyse import analyse
from assay.model.declaration import ParamValue
from assay.model.plan import Measure, Study
from assay.model.profile import LimitedBy, Profile, ProfileFigure
from assay.model.quantity import Quantity, exact
from assay.model.result import Analysis, Finding
from assay.model.run import Run
from assay.model.text import Text
from assay.plan import Options
from assay.report import html
from assay.report.section import Card
from assay.simulation import Law, Link
from assay.topics.messages.cards import paths
from assay.topics.messages.limiting import limited_by

pytestmark = pytest.mark.usefixtures("undrawn")

Axes = dict[str, tuple[ParamValue, ...] | ParamValue]

SIZES = tuple(2**power for power in range(23))
EIGHT = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) l2:8(size=1MB) l1:1(size=32kB) core:1 pu:1"
#: 117 MB/s of the 117.7 that frames of 1,500 B leave of Gigabit Ethernet; sockets a little quicker.
LINK = Link(25e-6, 117e6, 117e6, duplex=2.0, gap_s=1e-6)


def run_of(folder: Path, link: Link = LINK, measures: tuple[Measure, ...] = (), tcp: float = 0.9) -> Run:
    patterns: Axes = {"pattern": ("latency", "bandwidth", "bidirectional"), "bytes": SIZES}
    usual = (
        Measure("pt2pt", ("pair:other-node", "pair"), axes=patterns),
        Measure("tcp", ("pair:other-node",), axes={"pattern": ("latency", "bandwidth"), "bytes": SIZES}),
    )
    study = Study("Messages", "How fast?", measures or usual, launches=6)
    law = Law(links={"host": link, "core": Link(2.5e-7, 10e9, 40e9, duplex=1.8)}, tcp=(tcp, 1.0))
    return store.load(
        simulated_run(folder, law, description=EIGHT, study=study, options=Options(hosts=("n1", "n2")))
    )


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_of(tmp_path_factory.mktemp("profiles"))


@pytest.fixture(scope="module")
def analysed(bare: Run) -> Analysis:
    return analyse(with_device(bare, ethernet()))


def stated(value: float, lo: float | None = None, hi: float | None = None, unit: str = "B/s") -> ProfileFigure:
    ends = exact(value, unit) if lo is None or hi is None else Quantity(value, lo, hi, unit, "interval")
    return ProfileFigure(ends, 6, ("e",))


def about(found: ProfileFigure | None, value: float, rel: float = 0.02) -> bool:
    """Whether the figure is near, and its 95 % interval holds it."""
    assert found is not None
    assert found.confidence == pytest.approx(0.95, abs=0.03)
    middle, low, high = found.value
    return low <= middle <= high and middle == pytest.approx(value, rel=rel)


def test_the_figures_of_a_way_are_those_of_its_link(analysed: Analysis) -> None:
    between, inside = analysed.profiles
    assert (between.hosts, between.label, inside.label) == (("n1", "n2"), "pair:other-node", "pair")
    assert (between.small_bytes, between.rate_bytes, between.window) == (8, 2**22, 64)
    assert about(between.small, 25e-6)
    assert about(between.alone, 1 / 25e-6)
    assert about(between.rate, 117e6)
    assert about(between.both, 2.0)
    assert about(between.share, 117e6 / 117.7e6)
    assert about(between.over_tcp_small, 0.9)
    assert about(between.over_tcp, 1.0)
    assert between.limited_by == "wire"
    assert between.ceiling is not None
    assert between.ceiling.bits == 1e9
    assert between.stalled is None


def test_from_the_half_rate_size_on_every_size_gets_half(analysed: Analysis) -> None:
    """A window of 64: T = 1 us + 25 us / 64 + s / 117 MB/s, half of the rate is reached at 163 B."""
    between = analysed.profiles[0]
    assert about(between.half, 117e6 * (1e-6 + 25e-6 / 64), rel=0.05)
    assert between.solid_bytes == 256


def test_the_shaper_is_named_where_one_holds_the_wire(bare: Run) -> None:
    between, _ = analyse(with_device(bare, held(1e9))).profiles
    assert between.limited_by == "shaper"
    (card, _) = paths.cards(analyse(with_device(bare, held(1e9))))
    assert "reach the rate of eth0: 1.00 Gbit/s, limited by a traffic shaper of the kernel." in row_of(
        card, "Limited by"
    )


def test_without_a_fact_of_the_link_nothing_is_claimed_to_limit_it(bare: Run) -> None:
    between = analyse(bare).profiles[0]
    assert (between.limited_by, between.share, between.ceiling) == ("no-limit-known", None, None)
    assert "Unknown: no fact about the nodes" in row_of(paths.cards(analyse(bare))[0], "Limited by")


def test_a_link_that_nobody_fills_is_not_called_the_limit(bare: Run) -> None:
    between = analyse(with_device(bare, ethernet(10e9))).profiles[0]
    assert between.limited_by == "undecided"
    assert between.share is not None
    assert between.share.value.hi < 0.11


def test_many_pairs_that_get_more_show_that_one_pair_is_the_limit(tmp_path: Path) -> None:
    axes: Axes = {"pattern": "multi-bandwidth", "bytes": (8, 2**16, 2**20)}
    run = run_of(tmp_path, Link(2e-6, 3e8, 1e9), (Measure("pt2pt", ("one-core@2", "all@2"), axes=axes),))
    (between,) = analyse(with_device(run, ethernet(40e9))).profiles
    assert (between.limited_by, between.pairs) == ("one-pair", 8)
    assert about(between.pairs_rate, 1e9)
    assert about(between.rate, 3e8)
    (card,) = paths.cards(analyse(with_device(run, ethernet(40e9))))
    assert "Many pairs at once" in row_of(card, "Good for")
    assert row_of(card, "Limited by").startswith("One pair of cores, not the link: 8 pairs together get ")


def long(
    share: ProfileFigure | None,
    tcp: ProfileFigure | None = None,
    pairs: ProfileFigure | None = None,
    copy: ProfileFigure | None = None,
) -> Profile:
    """Messages that get 99 to 101 B/s, and the figures measured with them."""
    return Profile(
        id="",
        by="pt2pt",
        label="",
        hosts=("n1", "n2"),
        factors={},
        state=None,
        asked="",
        carried="",
        limited_by="not-measured",
        rate=stated(100.0, 99.0, 101.0),
        share=share,
        tcp_share=tcp,
        pairs_rate=pairs,
        over_copy=copy,
    )


@pytest.mark.parametrize(
    ("kind", "profile", "limit"),
    [
        ("wire", long(stated(0.95, 0.93, 0.97)), "wire"),
        ("wire", long(stated(0.85, 0.7, 0.91)), "wire"),
        ("wire", long(stated(0.85, 0.84, 0.89)), "undecided"),
        ("wire", long(stated(0.5, 0.4, 0.6), tcp=stated(0.95, 0.91, 0.96)), "mpi"),
        ("wire", long(stated(0.5, 0.4, 0.6), tcp=stated(0.95, 0.89, 0.96)), "undecided"),
        ("slot", long(stated(0.5, 0.4, 0.6), pairs=stated(130.0, 120.0, 140.0)), "one-pair"),
        ("slot", long(stated(0.5, 0.4, 0.6), pairs=stated(130.0, 100.0, 140.0)), "undecided"),
        ("memory", long(stated(0.5, 0.4, 0.6), copy=stated(0.95, 0.92, 0.97)), "copy"),
        (None, long(None, copy=stated(0.5, 0.4, 0.6)), "no-limit-known"),
    ],
)
def test_a_limit_is_named_by_the_end_of_an_interval(kind: LimitedBy | None, profile: Profile, limit: str) -> None:
    assert limited_by(profile, kind, one_machine=False) == limit


def test_nodes_that_are_one_machine_have_no_link() -> None:
    assert limited_by(long(None), None, one_machine=True) == "one-machine"
    assert limited_by(long(None), None, one_machine=False) == "no-limit-known"


def test_without_long_messages_nothing_is_known_of_them() -> None:
    assert limited_by(msgspec.structs.replace(long(None), rate=None), None, one_machine=False) == "not-measured"


def test_ends_follow_a_figure_and_swap_where_it_is_turned_over() -> None:
    time = stated(2.0, 1.0, 4.0, "s")
    turned, half = time.inverse("1/s"), time.over(2.0)
    assert turned.value == Quantity(0.5, 0.25, 1.0, "1/s", "interval")
    assert half.value.parts == (1.0, 0.5, 2.0)
    alone = stated(2.0, unit="s").inverse("1/s")
    assert alone.value == exact(0.5, "1/s")


def row_of(card: Card, name: str) -> str:
    return next((row.sentence for row in card.rows if row.name == name), "")


def test_a_way_that_sockets_alone_passed_is_said_to_be_of_tcp(analysed: Analysis) -> None:
    way = next(each for each in analysed.profiles if len(each.hosts) > 1)
    over = {"network": "gbe"}
    named = [
        msgspec.structs.replace(way, by=by, factors=factors) for by in ("pt2pt", "tcp") for factors in (over, {})
    ]
    cards = paths.cards(with_profiles(analysed, *named))
    assert [card.name for card in cards] == ["gbe", "MPI", "gbe, TCP", "TCP"]


def test_every_limit_has_its_words_in_every_language(analysed: Analysis) -> None:
    first = msgspec.structs.replace(
        analysed.profiles[0],
        tcp_share=stated(0.95, 0.94, 0.96, ""),
        pairs=8,
        pairs_rate=stated(2e8, 1.9e8, 2.1e8),
        over_copy=stated(0.5, 0.4, 0.6, ""),
    )
    sentences = set()
    for kind in get_args(LimitedBy):
        (card,) = paths.cards(with_profiles(analysed, msgspec.structs.replace(first, limited_by=kind)))
        assert isinstance(row_of(card, "Limited by"), Text)
        sentences.add(row_of(card, "Limited by"))
    assert len(sentences) == len(get_args(LimitedBy))


def with_profiles(analysis: Analysis, *found: Profile) -> Analysis:
    return msgspec.structs.replace(analysis, profiles=found)


def test_a_figure_of_one_launch_says_so_and_earns_no_verdict(analysed: Analysis) -> None:
    first = msgspec.structs.replace(
        analysed.profiles[0],
        rate=stated(1.14e8),
        over_tcp=stated(0.5, unit=""),
        over_tcp_small=stated(0.5, 0.4, 0.6, ""),
    )
    (card,) = paths.cards(with_profiles(analysed, first))
    assert "114 MB/s in one direction at 4 MiB" in row_of(card, "Long messages")
    assert row_of(card, "Against TCP") == (
        "Plain sockets pass messages of 8 B 2.00 [1.67, 2.50] times as fast as MPI. Without an interval: plain "
        "sockets passed long messages about 2 times as fast as MPI. It is not certain which one is faster."
    )


def test_a_limit_that_is_not_always_reached_is_told_with_its_lower_end(analysed: Analysis) -> None:
    first = msgspec.structs.replace(analysed.profiles[0], share=stated(0.83, 0.69, 0.92, ""))
    (card,) = paths.cards(with_profiles(analysed, first))
    assert row_of(card, "Limited by").endswith(
        "wire rate of eth0, 1.00 Gbit/s. Not always: the lower end is 69 % of it."
    )


def networks(analysed: Analysis, slow: ProfileFigure, fast: ProfileFigure) -> str:
    first = analysed.profiles[0]
    gbe, ib = (
        msgspec.structs.replace(first, factors={"network": name}, rate=rate, limited_by=limit)
        for name, rate, limit in (("gbe", slow, "wire"), ("ib", fast, "undecided"))
    )
    return " ".join(paths.contrast(with_profiles(analysed, ib, gbe)))


def test_the_slower_network_is_named_with_its_limit(analysed: Analysis) -> None:
    assert networks(analysed, stated(1.17e8, 1.16e8, 1.18e8), stated(3.1e9, 3.0e9, 3.2e9)) == (
        "gbe is the slower network for long messages: it gets 117 MB/s [116, 118] at 4 MiB, "
        "ib gets 3.10 GB/s [3.00, 3.20] at 4 MiB. Long messages reach the wire rate of eth0, 1.00 Gbit/s."
    )


def test_networks_whose_ends_overlap_are_not_told_apart(analysed: Analysis) -> None:
    sentence = networks(analysed, stated(1.17e8, 1.0e8, 1.3e8), stated(1.2e8, 1.1e8, 1.3e8))
    assert sentence.startswith(
        "It is not certain which network is slower for long messages: gbe gets 117 MB/s [100, 130]"
    )


def test_messages_that_went_astray_are_said_before_their_limit(analysed: Analysis) -> None:
    first = msgspec.structs.replace(analysed.profiles[0], asked="ib0", carried="eth0")
    (card,) = paths.cards(with_profiles(analysed, first))
    assert row_of(card, "Limited by").startswith("Messages should use ib0 but used eth0: all figures here are of")
    port = msgspec.structs.replace(first, asked="mlx5_0", carried="mlx5_0:1")
    assert "should use" not in row_of(paths.cards(with_profiles(analysed, port))[0], "Limited by")


def test_the_first_page_has_the_words_and_facts_do_not_repeat_them(bare: Run, analysed: Analysis) -> None:
    page = html.render(with_device(bare, ethernet()), analysed)
    summary = page[
        page.index('<section id="summary"') : page.index("</section>", page.index('<section id="in-words"'))
    ]
    assert "Long messages reach the wire rate of eth0, 1.00 Gbit/s." in summary
    assert "the link limits them" not in summary
    assert "the link limits them" in page


def mtus(run: Run, here: int, there: int, rules: tuple[str, ...] = ("mtu",), speed: float = 1e9) -> list[Finding]:
    (machine,) = run.machines.values()
    sizes = {"n1": here, "n2": there}
    machines = {
        host: msgspec.structs.replace(machine, devices=(ethernet(speed, size),)) for host, size in sizes.items()
    }
    found = analyse(msgspec.structs.replace(run, machines=machines)).findings
    return [each for each in found if each.rule in rules and "tcp " not in each.claim]


def test_ends_of_a_link_that_take_other_frames_are_found(bare: Run) -> None:
    asked = msgspec.structs.replace(bare, plan=msgspec.structs.replace(bare.plan, network="eth0"))
    assert mtus(asked, 1500, 1500) == []
    (found,) = mtus(asked, 9000, 1500)
    assert (found.severity, found.status) == ("problem", "observed")
    assert found.claim.startswith("The MTU of eth0 is 1,500 B on n2 and 9,000 B on n1. TCP uses the smaller one")
    assert "(its payload is 94 % of the Ethernet rate instead of 99 %)" in found.claim
    assert found.statistic == "largest MTU over smallest 6.00"


def test_one_cause_is_said_once_with_what_is_left_of_the_shortfall_as_a_rival(bare: Run) -> None:
    """The link is measured against the smaller frames; below nine tenths even of those, frames come first."""
    both = ("mtu", "link_ceiling")
    asked = msgspec.structs.replace(bare, plan=msgspec.structs.replace(bare.plan, network="eth0"))
    enough = mtus(asked, 9000, 1500, both)
    assert {(each.rule, each.severity) for each in enough} == {("mtu", "problem"), ("link_ceiling", "fact")}
    (ceiling, *_) = (each.claim for each in enough if each.rule == "link_ceiling")
    assert "TCP in frames of MTU 1500 B" in ceiling
    (frames,) = mtus(asked, 9000, 1500, both, speed=10e9)
    assert frames.rule == "mtu"
    # One direction, or both together, whichever chance leaves farther below.
    either = ("at most 11", "allow 1.18 GB/s"), ("at most 23", "allow 2.35 GB/s")
    assert frames.rivals[1].startswith("a further cause: long messages get")
    assert any(got in frames.rivals[1] and allowed in frames.rivals[1] for got, allowed in either)
    assert {each.rule for each in mtus(asked, 1500, 1500, both, speed=10e9)} == {"link_ceiling"}
