"""A step of the message time: what can cause it, by size and time, and the experiment that moves it."""

import msgspec
import pytest
from tests.unit.test_limits_wire import ethernet, run_of, with_device

from assay.analyse import examine
from assay.analyse.evidence import Evidence
from assay.analyse.findings import findings
from assay.analyse.messages.steps import Break, MessageLaw, Piece, Step
from assay.model.plan import Measure
from assay.model.quantity import Quantity, exact
from assay.model.result import Estimate, Finding
from assay.model.units import format_quantity
from assay.simulation import Law, Link
from assay.topics.messages.causes import causes

LINK = Link(25e-6, 117e6, 117e6)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    axes = {"pattern": "latency", "bytes": (8, 2048, 4096, 2**16)}
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


def jumped(known: Evidence, benchmark: str, factor: float, lo: float, scatter: float = 0.01) -> Evidence:
    """The evidence with a law between nodes whose time jumps by this factor between 2 KiB and 4 KiB."""
    law = next(
        each
        for each in known.fitted(MessageLaw)
        if each.id.startswith(f"message-law/{benchmark}") and "other-node" in each.id
    )
    times = {8: 1e-5, 2048: 2e-5, 4096: 2e-5 * factor * 1.1, 2**16: 2e-4}
    points = tuple(
        msgspec.structs.replace(each, value=exact(times[int(each.at["bytes"])], "s")) for each in law.points
    )
    end = Break(Quantity(2896.0, 2048.0, 4096.0, "B", "range"), Quantity(factor, lo, factor + 0.1, "", "interval"))
    one, other = exact(1e-5, "s"), exact(1e-9, "s/B")
    pieces = (Piece(one, other, end), Piece(one, other, None))
    planted = msgspec.structs.replace(law, points=points, pieces=pieces, scatter=scatter)
    return msgspec.structs.replace(known, models=(planted,))


def found(known: Evidence) -> list[Finding]:
    return [each for each in findings(known) if each.rule == "protocol_switch" and each.assessed]


@pytest.mark.parametrize(
    ("factor", "lo", "scatter", "heard"),
    [
        (1.5, 1.051, 0.01, True),
        (1.5, 1.05, 0.01, False),
        (1.05, 1.2, 0.01, False),
        (1.5, 1.31, 0.1, True),
        (1.5, 1.29, 0.1, False),
    ],
)
def test_a_step_is_more_than_five_percent_and_three_times_the_scatter(
    known: Evidence, factor: float, lo: float, scatter: float, *, heard: bool
) -> None:
    results = found(jumped(known, "pt2pt", factor, lo, scatter))
    assert len(results) == heard
    for finding in results:
        more = 2e-5 * factor * 1.1 * (1 - 1 / factor)  # of the time after it
        assert f"at 4 KiB a message takes {factor:.2f} times as long as sizes up to 2 KiB" in finding.claim
        assert f"({format_quantity(more, 's')} more)" in finding.claim
        assert finding.numbers["threshold"].value == 1.05
        assert finding.statistic == f"lower end of the step {min(lo, factor):.3g}, scatter {scatter:.2g}"


def test_the_experiment_moves_the_eager_limit_to_four_times_the_size(known: Evidence) -> None:
    (finding,) = found(jumped(known, "pt2pt", 1.44, 1.4))
    assert finding.experiment
    assert finding.experiment.factor
    assert finding.experiment.factor.levels == ("default", "16384")
    again, moves = finding.experiment.effects
    # Without the step the message after it takes 1.1 times as long; half of the step, in logarithms, decides.
    assert again.border == pytest.approx(1.1 * 1.2)
    assert moves.border == pytest.approx(1.2)
    assert [(each.power, each.level) for each in moves.arms] == [
        (1, "default"),
        (-1, "default"),
        (-1, "16384"),
        (1, "16384"),
    ]
    assert "=16384" in str(finding.next)


def test_a_step_of_sockets_moves_with_shorter_segments_near_a_frame_else_with_their_buffers(
    known: Evidence,
) -> None:
    """A segment of three quarters of 2 KiB: the message before the step needs two of them."""
    (finding,) = found(jumped(with_mtu(known, 3000), "tcp", 1.44, 1.4))
    assert "segment=0,1536" in str(finding.next)
    (finding,) = found(jumped(with_mtu(known, 9000), "tcp", 1.44, 1.4))
    assert "moves with socket buffers of 128 KiB" in str(finding.next)
    assert finding.experiment
    moved = finding.experiment.effects[1].arms[-1]
    assert moved.params == {"send-buffer": 131072, "receive-buffer": 131072}
