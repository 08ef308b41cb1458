"""Cards of paths of messages, from planted profiles: each sentence from its border on, and shown figures."""

import msgspec
import pytest

from assay.model.noise import Noise
from assay.model.profile import Ceiling, Profile, ProfileFigure
from assay.model.quantity import Basis, Quantity
from assay.model.result import Analysis
from assay.topics.messages.cards import paths
from assay.topics.messages.limiting import limited_by

QUIET = Noise(None, None, None, None, None, {}, 0, 0)


def stated(value: float, lo: float | None = None, hi: float | None = None, *, unit: str = "B/s") -> ProfileFigure:
    """A figure with an interval; a single one without ends."""
    basis: Basis = "single" if lo is None else "interval"
    return ProfileFigure(Quantity(value, lo or value, hi or value, unit, basis), 6, ("one",))


def ratio(value: float, lo: float, hi: float) -> ProfileFigure:
    return stated(value, lo, hi, unit="")


PLAIN = Profile(
    id="profile",
    by="pt2pt",
    label="pair:other-node",
    hosts=("n1", "n2"),
    factors={},
    state=None,
    asked="",
    carried="",
    limited_by="wire",
    ceiling=Ceiling(1.177e8, "the wire rate", "eth0", 1e9),
    rate=stated(1.17e8, 1.16e8, 1.18e8),
    rate_bytes=4 * 2**20,
)
INSIDE = msgspec.structs.replace(PLAIN, hosts=("n1",), label="pair", limited_by="memory")


def of(*profiles: Profile) -> Analysis:
    return Analysis(1, "run", "study", "complete", (), (), (), (), (), QUIET, profiles=profiles)


def words(profile: Profile = PLAIN, **changes: object) -> dict[str, str]:
    """Row -> its sentences."""
    (card,) = paths.cards(of(msgspec.structs.replace(profile, **changes)))
    return {str(row.name): str(row.sentence) for row in card.rows}


def test_six_paths_have_a_card() -> None:
    assert len(paths.cards(of(*[PLAIN] * 6))) == 6
    assert len(paths.cards(of(*[PLAIN] * 9))) == 6
    assert paths.cards(of()) == ()


@pytest.mark.parametrize(
    ("both", "sentence"),
    [
        ((1.9, 1.8, 2.0), "Both directions at once"),
        ((1.9, 1.79, 2.0), ""),
        ((1.1, 1.0, 1.2), "Both directions share the path"),
        ((1.1, 1.0, 1.21), ""),
        ((1.5, 1.21, 1.79), "The two directions slow each other down"),
        ((1.5, 1.2, 1.79), ""),
        ((1.5, 1.21, 1.8), ""),
    ],
)
def test_directions_are_free_from_1_8_on_and_shared_up_to_1_2(
    both: tuple[float, float, float], sentence: str
) -> None:
    rows = words(both=ratio(*both))
    assert rows.get("Good for", "").startswith("Both directions at once") == sentence.startswith(
        "Both directions at"
    )
    for one in ("Both directions share the path", "The two directions slow each other down"):
        assert (one in rows["Limited by"]) == (sentence == one)


def test_many_pairs_are_good_where_they_surely_get_more_than_one() -> None:
    many = "Many pairs at once: together they get more than one pair."
    assert many in words(pairs=8, pairs_rate=stated(1.3e8, 1.181e8, 1.4e8)).get("Good for", "")
    assert many not in words(pairs=8, pairs_rate=stated(1.3e8, 1.18e8, 1.4e8)).get("Good for", "")
    rows = words(pairs=8, pairs_rate=stated(1.3e8, 1.2e8, 1.4e8), pairs_fill=ratio(5.0, 4.0, 6.0))
    assert rows["Many pairs"].startswith("8 pairs together get 130 MB/s [120, 140].")
    assert words(pairs=1, pairs_rate=stated(1.3e8, 1.2e8, 1.4e8))["Many pairs"].startswith("1 pair gets 130 MB/s")


def test_solid_messages_are_named_with_their_size() -> None:
    assert "Messages of 8 KiB and more" in words(solid_bytes=8192)["Good for"]
    assert "Good for" not in words(solid_bytes=0)


@pytest.mark.parametrize("limit", ["wire", "shaper", "slot", "given", "memory", "mpi", "undecided"])
def test_a_limit_is_not_always_reached_below_nine_tenths(limit: str) -> None:
    standing = limit in {"wire", "shaper", "slot", "given", "memory"}
    for least, told in ((0.899, standing), (0.9, False)):
        rows = words(limited_by=limit, share=ratio(0.95, least, 0.99), tcp_share=ratio(0.95, 0.94, 0.96))
        assert ("Not always: the lower end is" in rows["Limited by"]) == told
    assert "Not always" not in words(limited_by=limit, tcp_share=ratio(0.95, 0.94, 0.96))["Limited by"]


def test_the_wire_hardly_limits_a_message_that_waits_ten_times_as_long() -> None:
    """1,000 B take 8.5 us on this wire."""
    wire_s = 1000 / 1.177e8
    for seconds, told in ((10.01 * wire_s, True), (9.99 * wire_s, False)):
        rows = words(small=stated(2 * seconds, seconds, 3 * seconds, unit="s"), small_bytes=1000)
        assert ("Latency dominates" in rows["Small messages"]) == told
    rows = words(small=stated(1e-3, 1e-3, 1e-3, unit="s"), small_bytes=1177)
    assert "the wire accounts for 1.0 %" in rows["Small messages"]
    lacking: tuple[dict[str, object], ...] = ({"ceiling": None}, {"hosts": ("n1",)}, {"small_bytes": 0})
    for changes in lacking:
        rows = words(PLAIN, **{"small": stated(1e-3, unit="s"), "small_bytes": 1177, **changes})
        assert "Latency dominates" not in rows["Small messages"]


@pytest.mark.parametrize(
    ("over", "verdict"),
    [
        ((1.25, 1.01, 1.3), "1.25 [1.01, 1.30] times as fast as plain sockets."),
        ((1.1, 1.0, 1.2), "It is not certain which one is faster."),
        ((0.8, 0.5, 0.99), "1.25 [1.01, 2.00] times as fast as MPI."),
        ((0.9, 0.8, 1.0), "It is not certain which one is faster."),
    ],
)
def test_the_faster_one_is_named_where_the_interval_excludes_1(
    over: tuple[float, float, float], verdict: str
) -> None:
    assert words(over_tcp=ratio(*over))["Against TCP"].endswith(verdict)
    assert words(over_tcp_small=ratio(*over))["Against TCP"].endswith(verdict)


@pytest.mark.parametrize(
    ("over", "seen"),
    [
        (1.25, "Without an interval: MPI passed messages of 8 B about 1.2 times as fast as plain sockets."),
        (0.5, "Without an interval: plain sockets passed messages of 8 B about 2 times as fast as MPI."),
        (7337.0, "MPI or plain sockets waited with messages of 8 B: no comparison."),
        (1 / 7337, "MPI or plain sockets waited with messages of 8 B: no comparison."),
    ],
)
def test_one_launch_claims_no_factor_and_a_huge_one_is_not_printed(over: float, seen: str) -> None:
    found = words(over_tcp_small=stated(over, unit=""), small_bytes=8)["Against TCP"]
    assert found == (seen if "waited" in seen else f"{seen} It is not certain which one is faster.")


def test_how_many_launches_figures_are_of_is_said_after_the_sentences() -> None:
    one = ProfileFigure(Quantity(4e-6, 4e-6, 4e-6, "s", "single"), 1, ("one",))
    streamed = stated(3e6, 2.9e6, 3.1e6, unit="1/s")
    found = words(small=one, small_bytes=8, alone=one.inverse("1/s"), streamed=streamed, window=64)
    sentences = found["Small messages"]
    assert sentences.startswith("4.00 µs one way at 8 B: 250 k/s if each message waits")
    assert sentences.endswith("Figures without an interval are of 1 launch.")
    assert "of 1 launch" not in words(small=stated(4e-6, 3e-6, 5e-6, unit="s"))["Small messages"]


def test_a_limit_has_its_words_between_nodes_and_inside_one() -> None:
    copied = ratio(0.5, 0.4, 0.6)
    assert "reach the wire rate of eth0" in words(over_copy=copied)["Limited by"]
    assert "no fact about the nodes" in words(limited_by="no-limit-known")["Limited by"]
    assert "no measurement of this run" in words(INSIDE, limited_by="no-limit-known")["Limited by"]
    unknown = words(INSIDE, limited_by="no-limit-known", over_copy=copied)["Limited by"]
    assert (
        unknown
        == "Not decided. The copy rate of one core is not the limit: long messages get 50 % [40, 60] of it."
    )
    share = ratio(0.5, 0.4, 0.6)
    assert "of the memory rate" in words(INSIDE, limited_by="undecided", share=share)["Limited by"]
    assert "of the link rate" in words(limited_by="undecided", share=share)["Limited by"]


def test_other_sentences_stand_where_their_figures_do() -> None:
    rows = words(jump=ratio(1.5, 1.4, 1.6), jump_bytes=(2048, 4096), stalled=0.04)
    jump = "At 4 KiB a message takes 1.50 [1.40, 1.60] times as long as smaller sizes lead to expect."
    assert jump in rows["Limited by"]
    assert "traffic shaper" not in rows["Limited by"]
    rows_of_burst = words(jump=ratio(1.5, 1.4, 1.6), jump_bytes=(2048, 4096), jump_burst=True)
    assert "Up to 2 KiB it can be the burst that the traffic shaper lets pass" in rows_of_burst["Limited by"]
    assert "Messages sometimes wait 40.0 ms" in rows["Limited by"]
    assert "sometimes" not in words()["Limited by"]
    rows = words(half=stated(14900.0, 14000.0, 15000.0, unit="B"))
    assert "Half of the highest rate is first reached at 14.6 KiB [13.7, 14.6]." in rows["Long messages"]
    assert "Long messages" not in words(rate=None, half=stated(14900.0, 14000.0, 15000.0, unit="B"))
    streamed = words(small=stated(1e-6, unit="s"), streamed=stated(3e6, unit="1/s"), window=64)
    assert "With 64 messages in flight" in streamed["Small messages"]
    assert "Small messages" not in words(streamed=stated(3e6, unit="1/s"))


def test_single_long_messages_are_named_where_no_stream_was_measured() -> None:
    """962 Mbit/s of single messages stood beside "was not measured"."""
    lacking = msgspec.structs.replace(PLAIN, rate=None, rate_bytes=0, limited_by="not-measured", asked="gbe0")
    assert words(lacking)["Limited by"].startswith("Unknown for long messages: neither a stream nor single")
    single = msgspec.structs.replace(lacking, single=stated(1.1e8, 1.0e8, 1.2e8), single_bytes=2**23)
    said = "A stream of messages was not measured. Single messages reach 110 MB/s [100, 120] at 8 MiB."
    assert words(single)["Limited by"] == said
    shared = msgspec.structs.replace(single, single_share=ratio(0.95, 0.9, 1.0))
    assert words(shared)["Limited by"] == f"{said} This is 95 % [90, 100] of the payload rate of gbe0."
    inside = words(shared, hosts=("n1",))["Limited by"]
    assert inside == f"{said} This is 95 % [90, 100] of the memory rate."


def test_the_rate_of_long_messages_is_given_with_its_limit() -> None:
    assert words()["Long messages"] == "117 MB/s [116, 118] in one direction at 4 MiB."
    share = ratio(0.95, 0.94, 0.96)
    assert "95 % [94, 96] of the payload rate of the link, 118 MB/s." in words(share=share)["Long messages"]
    assert "95 % [94, 96] of the memory rate, 118 MB/s." in words(INSIDE, share=share)["Long messages"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ((1023.0, 1000.0, 1023.4), "1023 B [1000, 1023]"),
        ((1024.0, 1024.0, 2048.0), "1 KiB [1, 2]"),
        ((1024.0, 512.0, 2048.0), "1 KiB [512 B, 2 KiB]"),
        ((2**20 - 1024.0, 2**19, 2**20), "1023 KiB [512 KiB, 1 MiB]"),
        ((2.0**20, 2.0**20, 3 * 2.0**20), "1 MiB [1, 3]"),
    ],
)
def test_sizes_have_three_digits_and_a_common_unit_once(value: tuple[float, float, float], shown: str) -> None:
    found = Quantity(*value, "B", "interval")
    assert paths.shown(ProfileFigure(found, 6, ())) == shown
    ranged = Quantity(*value, "B", "range")
    round_ones = shown.translate({ord("["): "(", ord("]"): ")"}).replace(", ", " to ")
    assert paths.shown(ProfileFigure(ranged, 3, ())) == round_ones


def networks(slow: ProfileFigure | None, fast: ProfileFigure | None, **levels: str) -> tuple[str, ...]:
    first, second = (
        msgspec.structs.replace(PLAIN, factors={"network": name, **levels}, rate=rate)
        for name, rate in (("ib", fast), ("gbe", slow))
    )
    return tuple(map(str, paths.contrast(of(first, second))))


@pytest.mark.parametrize("high", [1.99e8, 2.0e8, 2.1e8])
def test_networks_are_told_apart_where_their_ends_do_not_meet(high: float) -> None:
    (sentence,) = networks(stated(1.5e8, 1.4e8, high), stated(3e8, 2.0e8, 4e8))
    sure = "gbe is the slower network", "It is not certain which network is slower"
    assert sentence.startswith(sure[high >= 2.0e8])


def test_networks_are_compared_where_both_have_long_messages_and_nothing_else_differs() -> None:
    slow, fast = stated(1.5e8, 1.4e8, 1.6e8), stated(3e8, 2.9e8, 4e8)
    assert networks(None, fast) == networks(slow, None) == ()
    assert networks(slow, fast, mpi="openmpi")[0].startswith("By openmpi: gbe is the slower network")
    one = msgspec.structs.replace(PLAIN, factors={"network": "gbe", "mpi": "a"}, rate=slow)
    other = msgspec.structs.replace(PLAIN, factors={"network": "ib", "mpi": "b"}, rate=fast)
    assert paths.contrast(of(one, other)) == ()
    here = msgspec.structs.replace(one, hosts=("n1",))
    assert paths.contrast(of(here, msgspec.structs.replace(here, factors={"network": "ib", "mpi": "a"}))) == ()
    third = msgspec.structs.replace(one, factors={"network": "opa", "mpi": "a"}, rate=stated(2e8, 1.9e8, 2.1e8))
    last = msgspec.structs.replace(one, factors={"network": "ib", "mpi": "a"}, rate=fast)
    (sentence,) = paths.contrast(of(third, last, one))
    assert "it gets 150 MB/s [140, 160] at 4 MiB, ib gets 300 MB/s" in str(sentence)


@pytest.mark.parametrize(
    ("changes", "kind", "limit"),
    [
        ({"rate": None}, "wire", "not-measured"),
        ({"share": ratio(0.85, 0.8, 0.9)}, "wire", "wire"),
        ({"share": ratio(0.85, 0.8, 0.9)}, None, "undecided"),
        ({"share": ratio(0.85, 0.8, 0.899)}, "wire", "undecided"),
        ({"share": ratio(0.8, 0.8, 0.8), "tcp_share": ratio(0.9, 0.9, 0.9)}, "wire", "mpi"),
        ({"share": ratio(0.8, 0.8, 0.8), "tcp_share": ratio(0.9, 0.899, 0.9)}, "wire", "undecided"),
        ({"pairs_rate": stated(2e8, 1.2981e8, 3e8)}, "wire", "one-pair"),
        ({"rate": stated(1.0, 0.9, 1.0), "pairs_rate": stated(1.2, 1.1, 1.3)}, "wire", "undecided"),
        ({"pairs_rate": stated(2e8, 1.2979e8, 3e8)}, "wire", "undecided"),
        ({"over_copy": ratio(0.9, 0.9, 1.0)}, None, "copy"),
        ({"over_copy": ratio(0.9, 0.899, 1.0)}, None, "no-limit-known"),
        ({}, "one-machine", "one-machine"),
        ({}, "one-machine and wire", "undecided"),
        ({}, None, "no-limit-known"),
    ],
)
def test_the_limit_of_long_messages_is_the_first_that_shows(
    changes: dict[str, ProfileFigure | None], kind: str | None, limit: str
) -> None:
    profile = msgspec.structs.replace(PLAIN, **changes)
    known = "wire" if kind and kind.endswith("wire") else None
    assert limited_by(profile, known, one_machine=bool(kind and kind.startswith("one"))) == limit  # type: ignore[arg-type]
