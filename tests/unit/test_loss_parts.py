"""Losses of efficiency, shares of calls and laws of scalability, against plain sums over random ranks."""

import math
from typing import Literal

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.messages.steps import MessageLaw, Piece
from assay.model.quantity import Quantity, exact
from assay.model.rank import MpiCall, MpiTimes
from assay.topics.scaling.models.losses import Profile, loss, profile
from assay.topics.scaling.steps import Step, advice, course

Kind = Literal["send", "wait", "collective", "all"]


def drawn(seed: int, count: int) -> list[MpiTimes]:
    """Ranks with calls of four kinds; seconds of computing and of calls by chance."""
    random = np.random.default_rng(seed)
    sizes = {"8": int(random.integers(1, 9)), "1024": int(random.integers(0, 9))}
    ranks = []
    for _ in range(count):
        spent = random.uniform(0, 1, 4)
        kinds: tuple[Kind, ...] = ("send", "wait", "collective", "all")
        calls = {
            f"MPI_{kind}": MpiCall(kind, 5, float(seconds), 0, sizes)
            for kind, seconds in zip(kinds, spent, strict=True)
        }
        ranks.append(MpiTimes(float(spent.sum() + random.uniform(2, 4)), float(random.uniform(1e-7, 2e-7)), calls))
    return ranks


@given(seed=st.integers(0, 10_000), count=st.integers(1, 6))
def test_shares_are_means_over_the_ranks(seed: int, count: int) -> None:
    ranks = drawn(seed, count)
    found = profile([ranks])
    whole = sum(each.seconds for each in ranks) / count
    inside = [sum(call.seconds for call in each.calls.values()) for each in ranks]
    computing = [each.seconds - own for each, own in zip(ranks, inside, strict=True)]
    together = [each.calls["MPI_all"].seconds for each in ranks]  # the only calls that all ranks leave together
    assert found.shares.seconds == pytest.approx(whole)
    assert found.shares.inside == pytest.approx(sum(inside) / count / whole)
    assert found.shares.imbalance == pytest.approx((max(computing) - sum(computing) / count) / whole)
    assert found.shares.waiting == pytest.approx((sum(together) / count - min(together)) / whole)
    assert found.shares.overhead == pytest.approx(20 * max(each.overhead_s for each in ranks) / whole)
    rounds = next(each for each in range(9) if 2**each >= count)
    wanted = {int(size): number * (2 + 2 * rounds) for size, number in ranks[0].calls["MPI_send"].sizes.items()}
    assert found.messages == pytest.approx(wanted)


def test_calls_that_not_all_ranks_make_alike_are_no_common_wait() -> None:
    def rank(kind: Kind, calls: int, seconds: float) -> MpiTimes:
        return MpiTimes(10.0, 1e-7, {"MPI_Barrier": MpiCall(kind, calls, seconds, 0)})

    assert profile([[rank("all", 3, 1.0), rank("all", 3, 2.0)]]).shares.waiting == pytest.approx(0.05)
    assert profile([[rank("all", 3, 1.0), rank("all", 4, 2.0)]]).shares.waiting == 0
    assert profile([[rank("collective", 3, 1.0), rank("collective", 3, 2.0)]]).shares.waiting == 0


def test_of_several_launches_the_median_share_counts_and_the_messages_of_the_first() -> None:
    launches = [drawn(seed, 3) for seed in (1, 2, 3)]
    single = [profile([each]) for each in launches]
    found = profile(launches)
    for name in ("inside", "imbalance", "waiting", "overhead", "seconds"):
        assert getattr(found.shares, name) == sorted(getattr(each.shares, name) for each in single)[1]
    assert found.messages == single[0].messages


LAW = MessageLaw(
    id="law",
    of=(),
    start=exact(1e-3, "s"),
    start_measured=exact(1e-3, "s"),
    rate=None,
    half_rate_size=None,
    half_rate_size_measured=None,
    saturation=None,
    scatter=0.0,
    pieces=(Piece(exact(1e-3, "s"), exact(1e-6, "s/B"), None),),
)


def ratios(value: float, wide: float = 0.01) -> Quantity:
    return Quantity(value, value * (1 - wide), value * (1 + wide), "", "interval")


def step(efficiency: float, shared: Quantity | None = None, *, as_full: bool = False) -> Step:
    own = ratios(efficiency)
    return Step(
        ("one",),
        "4x1",
        4,
        1,
        4,
        copies=False,
        blocks=6,
        speed_up=own,
        efficiency=own,
        shared=shared,
        as_full=as_full,
    )


def in_turn(of: Profile) -> float:
    return max(0.0, of.shares.waiting - of.shares.imbalance)


@given(
    seed=st.integers(0, 10_000),
    efficiency=st.floats(0.2, 1.1),
    slowdown=st.sampled_from((None, 0.9, 1.0, 1.3)),
    with_law=st.booleans(),
)
def test_the_parts_of_a_loss_are_shares_beyond_those_of_the_base(
    seed: int, efficiency: float, slowdown: float | None, *, with_law: bool
) -> None:
    counted, base = profile([drawn(seed, 4)]), profile([drawn(seed + 1, 2)])
    shared = ratios(0.8)
    found = loss(step(efficiency, shared), counted, base, LAW if with_law else None, slowdown)

    def beyond(own: float, of_base: float) -> float:
        return own - efficiency * of_base

    one, other = counted.shares, base.shares
    assert found.lost == pytest.approx(1 - efficiency)
    assert found.imbalance == pytest.approx(beyond(one.imbalance, other.imbalance))
    moving = beyond(one.inside - one.imbalance - in_turn(counted), other.inside - other.imbalance - in_turn(base))
    waits = beyond(in_turn(counted), in_turn(base))
    if with_law:
        starts = 1e-3 * sum(counted.messages.values())
        whole = starts + sum(number * size * 1e-6 for size, number in counted.messages.items())
        scale = min(1.0, max(0.0, moving) * one.seconds / whole) / one.seconds
        assert found.latency == pytest.approx(starts * scale, abs=1e-12)
        assert found.bandwidth == pytest.approx((whole - starts) * scale, abs=1e-12)
        messages = whole * scale
    else:
        assert (found.latency, found.bandwidth) == (None, None)
        messages = moving
    assert found.messages == pytest.approx(messages, abs=1e-12)
    assert found.in_turn == pytest.approx(waits + moving - messages, abs=1e-12)
    computing = (1 - other.inside) * efficiency
    clock = computing * (slowdown - 1) if slowdown else 0.0
    memory = computing * (1 / 0.8 - 1) - clock
    assert found.clock == (pytest.approx(clock) if slowdown else None)
    assert found.memory == pytest.approx(memory)
    assert found.other == pytest.approx(beyond(1 - one.inside, 1 - other.inside) - memory - clock, abs=1e-12)


@pytest.mark.parametrize(("lo", "hi"), [(0.5, 0.5556), (0.5, 0.5554), (0.5, 0.6)])
def test_the_share_of_memory_is_known_up_to_a_width_of_a_fifth(lo: float, hi: float) -> None:
    """All of the base's time is computing, and the efficiency is 1: the width is 1 / lo - 1 / hi."""
    nothing = profile([[MpiTimes(10.0, 1e-7, {})]])
    found = loss(step(1.0, Quantity(0.52, lo, hi, "", "interval")), nothing, nothing, None)
    assert (found.memory is not None) == (1 / lo - 1 / hi <= 0.2)


def test_a_width_of_a_fifth_is_not_too_wide() -> None:
    """The base computes a fifth of the time of all cores: 0.2 (1 / 0.5 - 1 / 1) is 0.2 exactly."""
    nothing = profile([[MpiTimes(10.0, 1e-7, {})]])
    shared = Quantity(0.75, 0.5, 1.0, "", "interval")
    assert loss(step(0.2, shared), nothing, nothing, None).memory == pytest.approx(0.2 / 3)


def test_without_copies_full_nodes_lose_nothing_to_memory() -> None:
    nothing = profile([[MpiTimes(10.0, 1e-7, {})]])
    assert loss(step(0.9, exact(1.0), as_full=True), nothing, nothing, None).memory == 0
    assert loss(step(0.9, None, as_full=True), nothing, nothing, None).memory == 0
    assert loss(step(0.9, exact(1.0)), nothing, nothing, None).memory is None
    assert loss(step(0.9, None), nothing, nothing, None).memory is None


def placed(cores: int, speed: float, wide: float, nodes: int = 1, serial: Quantity | None = None) -> Step:
    value = Quantity(speed, speed * (1 - wide), speed * (1 + wide), "", "interval")
    return Step(
        (f"on-{cores}",), f"{cores}x1", cores, nodes, cores, copies=False, blocks=6,
        speed_up=value, efficiency=value.over(cores), node_time=value.inverse("").scaled(nodes, ""), serial=serial,
    )  # fmt: skip


@given(
    speeds=st.lists(st.tuples(st.integers(1, 5), st.floats(0.4, 1.1), st.floats(0.0, 0.3)), min_size=1, max_size=5)
)
def test_advice_follows_from_speeds_costs_and_efficiencies(speeds: list[tuple[int, float, float]]) -> None:
    steps = [
        placed(2**number, 2**number * efficiency, wide, nodes)
        for number, (nodes, efficiency, wide) in enumerate(speeds, 1)
    ]
    found = advice("base", 1, steps)
    assert found
    every = [("base", 1, 1.0, 1.0, 1.0, 1.0, 1.0)]
    for each in steps:
        cost = each.nodes / each.speed_up.value, each.nodes / each.speed_up.hi, each.nodes / each.speed_up.lo
        every.append(
            (
                each.estimates[0],
                each.cores,
                each.speed_up.value,
                each.speed_up.lo,
                each.speed_up.hi,
                cost[0],
                cost[1],
            )
        )
    fastest = max(every, key=lambda each: each[2])
    assert found.fastest == fastest[0]
    assert found.as_fast == tuple(each[0] for each in every if each[4] >= fastest[3] and each[1] < fastest[1])
    cheapest = min(every, key=lambda each: each[5])
    highest = 1.0
    for each in steps:
        if each.estimates[0] == cheapest[0]:
            highest = each.nodes / each.speed_up.lo
    overlap = [each for each in every if each[6] <= highest * (1 + 1e-12) and each[1] <= cheapest[1]]
    assert found.cheapest == min(overlap, key=lambda each: each[1])[0]
    worth = [each for each in steps if each.efficiency.value >= 0.5]
    assert found.worth == max((each.cores for each in worth), default=1)
    last = max(worth, key=lambda each: each.cores, default=None)
    assert found.worth_is_sure == (last is None or last.efficiency.lo >= 0.5)


def test_copies_earn_no_advice() -> None:
    copies = msgspec.structs.replace(placed(2, 2.0, 0.0), copies=True)
    assert advice("base", 1, [copies]) is None
    found = advice("base", 1, [copies, placed(2, 1.0, 0.0)])
    assert found
    assert (found.fastest, found.cheapest, found.worth) == ("base", "base", 2)  # efficiency 0.5 is worth it


@pytest.mark.parametrize(
    ("first", "last", "found"),
    [
        ((0.1, 0.08, 0.12), (0.2, 0.121, 0.3), "rises"),
        ((0.1, 0.08, 0.12), (0.2, 0.12, 0.3), "constant"),
        ((0.2, 0.12, 0.3), (0.1, 0.08, 0.12), "constant"),
        ((0.2, 0.121, 0.3), (0.1, 0.08, 0.12), "falls"),
    ],
)
def test_a_serial_fraction_changes_where_its_ends_do_not_meet(
    first: tuple[float, float, float], last: tuple[float, float, float], found: str
) -> None:
    between = placed(4, 3.0, 0.0, serial=ratios(0.5))
    ends = [
        placed(cores, 2.0, 0.0, serial=Quantity(*each, "", "interval")) for cores, each in ((2, first), (8, last))
    ]
    assert course([ends[0], between, ends[1]]) == found
    assert course([ends[0], placed(4, 3.0, 0.0), ends[1]]) == found
    assert course([ends[0], placed(4, 3.0, 0.0)]) == ""
    assert math.isfinite(between.efficiency.value)


def test_what_a_step_says_of_caches_and_superlinear_speed_needs_its_lower_end() -> None:
    for low, above in ((1.0, False), (1.001, True)):
        found = msgspec.structs.replace(
            step(1.2), messages=Quantity(1.1, low, 1.2), efficiency=Quantity(1.1, low, 1.2)
        )
        assert found.by_caches == found.is_superlinear == above
    assert not step(0.9).by_caches
