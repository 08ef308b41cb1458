"""The loss of a scaling point, divided by the time of ranks in calls of MPI: planted parts are found."""

from typing import Literal

import msgspec
import pytest

from assay.analyse.messages.steps import MessageLaw, Piece
from assay.model.quantity import Quantity, exact
from assay.model.rank import MpiCall, MpiTimes
from assay.topics.scaling.models.losses import loss, profile
from assay.topics.scaling.steps import Step

#: 10 s of work on one rank, which passes no messages.
BASE = profile([[MpiTimes(10.0, 1e-7, {})]])


#: Copies take 7 s for 5 s of work, each time.
SHARED = Quantity(10 / 14, 10 / 14, 10 / 14, basis="range")


def waits(*seconds: float, kind: Literal["wait", "all"] = "all") -> dict[str, MpiCall]:
    return {f"MPI_{number}": MpiCall(kind, 10, each, 0) for number, each in enumerate(seconds)}


def divided(  # noqa: PLR0913 (what a loss depends on)
    ranks: list[MpiTimes],
    seconds: float,
    shared: Quantity | None = None,
    law: MessageLaw | None = None,
    slowdown: float | None = None,
    *,
    as_full: bool = False,
) -> dict[str, float | None]:
    efficiency = 10.0 / len(ranks) / seconds
    one = Quantity(efficiency, efficiency, efficiency)
    step = Step(("two",), "all", len(ranks), 1, len(ranks), copies=False, blocks=6, speed_up=one, efficiency=one)
    if shared:
        step = msgspec.structs.replace(step, shared=shared, as_full=as_full)
    found = loss(step, profile([ranks]), BASE, law, slowdown)
    parts = (found.in_turn, found.imbalance, found.messages, found.clock or 0.0, found.memory or 0.0, found.other)
    assert sum(parts) == pytest.approx(found.lost)
    figures = {name: value for name, value in msgspec.to_builtins(found).items() if name != "estimate"}
    return {name: value if value is None else round(value, 6) for name, value in figures.items()}


def test_a_rank_that_computes_longer_is_imbalance() -> None:
    # 4 and 6 s of work: the first waits 2 s for the second.
    found = divided([MpiTimes(6.0, 1e-7, waits(2.0)), MpiTimes(6.0, 1e-7, waits(0.0))], 6.0)
    assert found["imbalance"] == pytest.approx(1 / 6, abs=1e-6)
    assert found == found | {"in_turn": 0, "messages": 0, "other": 0, "memory": None, "latency": None}


def test_ranks_that_work_one_after_the_other_wait_in_turn() -> None:
    # Both compute 5 s, and each waits 1 s for the other, at different places.
    found = divided([MpiTimes(6.0, 1e-7, waits(1.0, 0.0)), MpiTimes(6.0, 1e-7, waits(0.0, 1.0))], 6.0)
    assert found["in_turn"] == pytest.approx(1 / 6, abs=1e-6)
    assert found == found | {"imbalance": 0, "messages": 0, "other": 0}


def test_time_in_messages_is_a_loss_by_messages() -> None:
    found = divided([MpiTimes(6.0, 1e-7, waits(1.0, kind="wait"))] * 2, 6.0)
    assert found["messages"] == pytest.approx(1 / 6, abs=1e-6)
    assert found == found | {"imbalance": 0, "in_turn": 0, "other": 0}


def test_the_message_law_gives_the_loss_by_messages_and_the_rest_is_in_turn() -> None:
    start, per_byte = Quantity(1e-3, 1e-3, 1e-3, "s"), Quantity(1e-6, 1e-6, 1e-6, "s/B")
    law = MessageLaw(
        id="law",
        of=(),
        start=start,
        start_measured=start,
        rate=None,
        half_rate_size=None,
        half_rate_size_measured=None,
        saturation=None,
        scatter=0.0,
        pieces=(Piece(start, per_byte, None),),
    )
    call = MpiCall("wait", 100, 1.0, 102_400, {"1024": 100})
    found = divided([MpiTimes(6.0, 1e-7, {"MPI_Sendrecv": call})] * 2, 6.0, law=law)
    assert found["latency"] == pytest.approx(0.1 / 6, abs=1e-6)
    assert found["bandwidth"] == pytest.approx(0.1024 / 6, abs=1e-6)
    assert found["messages"] == pytest.approx(0.2024 / 6, abs=1e-6)
    assert found["in_turn"] == pytest.approx((1 - 0.2024) / 6, abs=1e-6)
    assert found["other"] == pytest.approx(0, abs=1e-6)


def test_slower_computing_as_of_copies_is_memory_and_the_rest_other() -> None:
    ranks = [MpiTimes(8.0, 1e-7, {"MPI_Barrier": MpiCall("all", 1, 0.0, 0)})] * 2
    assert divided(ranks, 8.0)["other"] == pytest.approx(3 / 8)
    found = divided(ranks, 8.0, shared=SHARED)
    assert found["memory"] == pytest.approx(2 / 8)
    assert found["other"] == pytest.approx(1 / 8)


def test_copies_that_scatter_leave_memory_unknown() -> None:
    ranks = [MpiTimes(8.0, 1e-7, {"MPI_Barrier": MpiCall("all", 1, 0.0, 0)})] * 2
    found = divided(ranks, 8.0, shared=Quantity(10 / 14, 0.5, 0.9))
    assert found["memory"] is None
    assert found["other"] == pytest.approx(3 / 8)
    assert divided(ranks, 8.0, shared=exact(10 / 14))["memory"] is None  # one pair
    assert divided(ranks, 8.0, shared=exact(1.0), as_full=True)["memory"] == 0  # copies were not measured
    assert divided(ranks, 8.0, shared=SHARED, as_full=True) == divided(ranks, 8.0, shared=SHARED)  # nodes differ
    found = divided(ranks, 8.0, shared=Quantity(10 / 14, 0.7, 0.73, basis="interval"))
    assert found["memory"] == pytest.approx(2 / 8)


def test_a_lower_clock_is_subtracted_from_memory() -> None:
    ranks = [MpiTimes(8.0, 1e-7, {"MPI_Barrier": MpiCall("all", 1, 0.0, 0)})] * 2
    found = divided(ranks, 8.0, slowdown=1.2)  # 5 s of work take 6 s
    assert found["memory"] is None
    assert found["clock"] == pytest.approx(1 / 8)
    assert found["other"] == pytest.approx(2 / 8)
    found = divided(ranks, 8.0, shared=SHARED, slowdown=1.2)
    assert (found["clock"], found["memory"], found["other"]) == pytest.approx((1 / 8, 1 / 8, 1 / 8))


def test_the_cost_of_counting_is_shown() -> None:
    assert profile([[MpiTimes(1.0, 1e-6, waits(0.1, 0.1))]]).shares.overhead == pytest.approx(20e-6)
