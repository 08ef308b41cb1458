"""What can cause a step of the message time, by the sizes and times at their borders."""

import msgspec
import pytest
from tests.unit.test_limits_wire import ethernet, run_of, with_device

from assay.analyse import examine
from assay.analyse.evidence import Evidence
from assay.analyse.messages.steps import Step
from assay.model.plan import Measure
from assay.model.quantity import exact
from assay.model.result import Estimate
from assay.simulation import Law, Link
from assay.topics.messages.causes import causes

LINK = Link(25e-6, 117e6, 117e6)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    axes = {"pattern": "latency", "bytes": (8, 2**16)}
    measures = (
        Measure("pt2pt", ("pair:other-node", "pair"), axes=axes),  # type: ignore[arg-type]
        Measure("tcp", ("pair:other-node", "pair"), axes=axes),  # type: ignore[arg-type]
    )
    law = Law(links={"host": LINK, "core": LINK}, sampled_s=0.0)
    return examine(run_of(tmp_path_factory.mktemp("causes"), law, *measures))


def estimate(known: Evidence, benchmark: str, label: str) -> Estimate:
    every = (each.estimate for each in known.measured)
    return next(each for each in every if (each.benchmark, each.placement.label) == (benchmark, label))


def of(
    known: Evidence,
    before: int,
    after: int,
    seconds: float = 1e-6,
    where: tuple[str, str] = ("pt2pt", "pair:other-node"),
) -> str:
    step = Step(before, after, exact(1.5), seconds)
    return "; ".join(map(str, causes(known, estimate(known, *where), step)))


def with_mtu(known: Evidence, mtu: int) -> Evidence:
    run = with_device(known.run, ethernet(mtu=mtu))
    run = msgspec.structs.replace(run, plan=msgspec.structs.replace(run.plan, network="eth0"))
    return msgspec.structs.replace(known, run=run)


@pytest.mark.parametrize(
    ("before", "after", "near"),
    [(1000, 1500, True), (3000, 8192, True), (3001, 8192, False), (512, 750, True), (512, 749, False)],
)
def test_the_frames_of_a_device_explain_a_step_within_a_factor_of_2(
    known: Evidence, before: int, after: int, *, near: bool
) -> None:
    found = of(with_mtu(known, 1500), before, after)
    assert ("messages longer than one frame (MTU 1500 B)" in found) == near
    assert "one frame" not in of(with_mtu(known, 1500), 1000, 1500, where=("pt2pt", "pair"))


def test_without_a_device_the_usual_frames_are_assumed(known: Evidence) -> None:
    assert "1500 B of Ethernet, 2048 B of InfiniBand" in of(known, 1024, 2048)
    assert "if the MTU is the default 2048 B of InfiniBand" in of(known, 3500, 8192)
    assert "one frame" not in of(known, 4097, 8192)
    assert "1500 B of Ethernet" in of(known, 3000, 8192)
    assert "1500 B of Ethernet" not in of(known, 3001, 8192)


@pytest.mark.parametrize(("seconds", "waits"), [(19.9e-6, False), (20e-6, True)])
def test_a_step_of_20_us_may_be_a_timer_of_the_card(known: Evidence, seconds: float, *, waits: bool) -> None:
    assert ("rx-usecs" in of(known, 100_000, 200_000, seconds)) == waits
    assert "rx-usecs" not in of(known, 100_000, 200_000, seconds, where=("pt2pt", "pair"))


@pytest.mark.parametrize(("after", "inline"), [(1024, True), (1025, False)])
def test_messages_up_to_1_kib_may_pass_inline(known: Evidence, after: int, *, inline: bool) -> None:
    assert ("inline" in of(known, 8, after)) == inline
    assert "inline" not in of(known, 8, after, where=("tcp", "pair:other-node"))
    assert "inline" not in of(known, 8, after, where=("pt2pt", "pair"))


def test_protocols_buffers_and_caches_are_causes_where_they_are_on_the_path(known: Evidence) -> None:
    eager, buffers, cache = "eager to the rendezvous protocol", "socket buffers", "no longer fit a cache"
    for benchmark, label, there in (
        ("pt2pt", "pair:other-node", (eager,)),
        ("pt2pt", "pair", (eager, cache)),
        ("tcp", "pair:other-node", (buffers,)),
        ("tcp", "pair", (buffers, cache)),
    ):
        found = of(known, 100_000, 200_000, where=(benchmark, label))
        assert [each for each in (eager, buffers, cache) if each in found] == list(there)
