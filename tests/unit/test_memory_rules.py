"""Rules of memory on evidence by hand: each border on both sides, and the figures that a finding names."""

from collections.abc import Sequence
from typing import Any, cast

import msgspec
import pytest
from tests.unit.rule_evidence import NODES, evidence, of, only

from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.plateaus import Boundary
from assay.model.law import Point
from assay.model.placed import Placed
from assay.model.quantity import Quantity
from assay.model.result import Finding
from assay.topics.memory.models.latency_levels import LatencyLevel, LatencyLevels
from assay.topics.memory.rules import claimed_cache, memory_channel, one_core, tlb_knee

MIB = 2**20


def level(seconds: float, end: Boundary | None = None, answered_by: str = "") -> LatencyLevel:
    return LatencyLevel(
        Quantity(seconds, seconds, seconds, "s", "interval"), answered_by, beyond_tlb=False, step=1, end=end
    )


def boundary(lo: float, hi: float, cause: str) -> Boundary:
    return Boundary(Quantity((lo * hi) ** 0.5, lo, hi, "B", "range"), cause)


def walk(points: Sequence[tuple[int, float, int]], *levels: LatencyLevel, **others: object) -> LatencyLevels:
    """A curve; `points`: size, seconds, level."""
    made = tuple(
        Point(f"p{at}", {"bytes": size, "level": step}, Quantity(s, s, s, "s", "interval"), None)
        for at, (size, s, step) in enumerate(points)
    )
    given = {"id": "walk", "pages": "small", "of": tuple(each.estimate for each in made)} | others
    return LatencyLevels(points=made, levels=levels, **cast("Any", given))


@pytest.mark.parametrize(
    ("memory_from", "heard"), [(5.9 * MIB, True), (6.0 * MIB, False), (6.1 * MIB, False), (None, False)]
)
def test_a_core_gets_less_than_three_quarters_of_a_claimed_cache(
    memory_from: float | None, *, heard: bool
) -> None:
    model = walk(
        [(MIB, 1e-8, 1), (16 * MIB, 9e-8, 2)],
        level(1e-8, boundary(4 * MIB, 5 * MIB, "L3")),
        level(9e-8),
        memory_from=memory_from,
        last_cache="L3",
        last_cache_bytes=8 * MIB,
    )
    known = evidence(models=[model], estimates={"p0": of("p0", 1e-8), "p1": of("p1", 9e-8)})
    found = list(claimed_cache.rule.assess(known))
    if memory_from is None:
        assert only(found).status == "not assessed"
        return
    assert bool(found) == heard
    if heard:
        finding = only(found)
        assert finding.status == "observed"
        assert finding.numbers["statistic"].value == pytest.approx(5.9 / 8)
        assert finding.numbers["threshold"].value == 0.75
        assert "a core gets about 4 MiB to 5 MiB of it" in finding.claim
        assert "the system reports 8 MiB" in finding.claim
        assert not finding.next


@pytest.mark.parametrize(
    ("ends", "gets"),
    [
        ((1.0, 3.0), "1 MiB to 2 MiB"),  # memory begins before the end of the boundary
        ((1.0, 1.5), "1 MiB to 1.5 MiB"),
        ((2.0, 3.0), "2 MiB"),
        ((4.0, 5.0), "2 MiB"),
    ],
)
def test_what_a_core_gets_lies_between_the_end_of_the_cache_and_memory(
    ends: tuple[float, float], gets: str
) -> None:
    model = walk(
        [(MIB, 1e-8, 1)],
        level(1e-9, boundary(0.5 * MIB, 0.6 * MIB, "L3")),
        level(1e-8, boundary(ends[0] * MIB, ends[1] * MIB, "L3")),
        memory_from=2.0 * MIB,
        last_cache="L3",
        last_cache_bytes=8 * MIB,
    )
    known = evidence(models=[model], estimates={"p0": of("p0", 1e-8, launches=5)})
    finding = only(list(claimed_cache.rule.assess(known)))
    assert f"a core gets about {gets} of it" in finding.claim
    assert (finding.status, "--launches 6" in finding.next) == ("candidate", True)


def test_a_walk_without_a_known_cache_says_nothing_and_the_fewest_launches_of_its_points_count() -> None:
    points = [(MIB, 1e-8, 1), (2 * MIB, 9e-8, 2)]
    unknown, known = (
        walk(points, level(1e-8), level(9e-8), memory_from=1.0 * MIB, last_cache="L3", last_cache_bytes=size)
        for size in (0, 8 * MIB)
    )
    estimates = {"p0": of("p0", 1e-8, launches=9), "p1": of("p1", 9e-8, launches=5)}
    assert not list(claimed_cache.rule.assess(evidence(models=[unknown], estimates=estimates)))
    assert (
        only(list(claimed_cache.rule.assess(evidence(models=[known], estimates=estimates)))).status == "candidate"
    )


def test_walks_over_huge_pages_are_judged_alone() -> None:
    models = [
        walk([(1, 1.0, 1)], level(1.0), id=pages, pages=pages, memory_from=1.0, last_cache_bytes=9)
        for pages in ("small", "huge")
    ]
    found = claimed_cache.rule.assess(evidence(models=models, estimates={"p0": of("p0", 1.0)}))
    assert only(list(found)).evidence == ("huge",)


def twins(launches: int = 6, *, huge_s: float = 50e-9) -> Any:  # noqa: ANN401 (see evidence)
    points = [(MIB, 10e-9, 1), (4 * MIB, 20e-9, 2), (8 * MIB, 80e-9, 3), (16 * MIB, 80e-9, 3)]
    levels = (
        level(10e-9, boundary(MIB, 2 * MIB, "L2")),
        level(20e-9, boundary(4 * MIB, 8 * MIB, "TLB")),
        level(80e-9),
    )
    small = walk(points, *levels, huge_twin="huge")
    others = [(4 * MIB, 1e-9, 1), (8 * MIB, huge_s, 1), (16 * MIB, 3 * huge_s, 1), (32 * MIB, 1.0, 1)]
    huge = walk(others, level(1.0), id="huge", pages="huge")
    known = {f"p{at}": of(f"p{at}", 1e-9, launches=6 if at else launches) for at in range(4)}
    return evidence(models=[small, huge], estimates=known)


def test_a_knee_of_the_tlb_is_the_time_beyond_it_over_that_of_huge_pages_at_the_same_sizes() -> None:
    finding = only(list(tlb_knee.rule.assess(twins())))
    assert finding.numbers["statistic"].value == pytest.approx(80 / 100)  # median of 50 and 150 ns
    assert finding.numbers["threshold"].value == 1.15
    assert "beyond 5.66 MiB (4 MiB to 8 MiB) a random load takes 80.0 ns instead of 20.0 ns" in finding.claim
    assert "with huge pages it takes 100 ns at the same sizes" in finding.claim
    assert finding.status == "observed"
    assert finding.evidence == ("walk", "huge")


def test_states_of_one_walk_make_one_finding_with_the_clearest_ratio() -> None:
    """A walk is known by its smallest size; each of its sizes is a case, which a state may lack."""
    known = twins()
    small, huge = known.models
    far_points = [msgspec.structs.replace(each, estimate=f"f{at}") for at, each in enumerate(small.points)]
    far = msgspec.structs.replace(
        small,
        id="far",
        state="far",
        points=tuple(far_points),
        of=tuple(each.estimate for each in far_points),
        levels=(*small.levels[:2], level(120e-9, boundary(16 * MIB, 32 * MIB, "L3")), level(1.0)),
    )
    other = msgspec.structs.replace(small, id="other", of=("o0", *small.of[1:]))
    few = {f"f{at}": of(f"f{at}", 1e-9, launches=5, case="small" if at == 0 else f"f{at}") for at in range(4)}
    known.estimates["p0"] = of("p0", 1e-9, case="small")
    known.estimates |= few | {"o0": of("o0", 1e-9, case="other")}
    known.models = [small, far, huge, other]
    both, alone = tlb_knee.rule.assess(known)
    assert both.id == "tlb_knee:walk"
    assert both.evidence == ("walk", "huge", "far", "huge")
    assert both.numbers["statistic"].value == pytest.approx(1.2)
    assert both.status == "candidate"  # one of its states has five launches
    assert "(far)" in both.claim
    assert (alone.id, alone.status) == ("tlb_knee:other", "observed")


@pytest.mark.parametrize(
    ("launches", "status"), [(2, "not assessed"), (3, "candidate"), (5, "candidate"), (6, "observed")]
)
def test_a_knee_needs_three_launches_and_six_to_be_observed(launches: int, status: str) -> None:
    finding = only(list(tlb_knee.rule.assess(twins(launches))))
    assert finding.status == status
    assert ("--launches 6" in finding.next) == (status == "candidate")


@pytest.mark.parametrize(
    ("lo", "hi", "cores", "said"),
    [
        (0.91, 0.95, 8, "more cores add little"),
        (0.90, 0.95, 8, "at least 1 to 2 cores"),
        (0.499, 0.52, 8, "at least 2 cores are needed"),
        (0.4, 0.45, 8, "at least 3 cores are needed"),
        (0.26, 0.45, 8, "at least 3 to 4 cores"),
        (0.5, 1.2, 8, "at least 1 to 2 cores"),
        (0.5, 1.2, 2, "does not tell"),
        (0.126, 0.2, 8, "does not tell"),
        (0.127, 0.2, 8, "at least 5 to 8 cores"),
        (0.127, 0.5, 8, "at least 2 to 8 cores"),
        (0.127, 1.0, 8, "does not tell"),
    ],
)
def test_a_share_of_one_core_says_how_many_cores_saturate(lo: float, hi: float, cores: int, said: str) -> None:
    assert said in one_core.meaning(lo, hi, cores)


def on_node(node: int, rates: Sequence[float], policy: str, share: str = "all") -> Measured:
    cpus = (2 * node, 2 * node + 1)
    shown = of(
        f"n{node}",
        rates[0],
        case=f"case {node}",
        placement=Placed(f"{share}:numa:{node}", ("n1",), (cpus,), policy, None),
        better="higher",
    )
    launches = tuple(LaunchMedian(at, None, rate) for at, rate in enumerate(rates) if rate)
    return Measured(shown, launches)


def channels(*measured: Measured, description: str = NODES) -> list[Finding]:
    known = evidence(description, of_role=lambda _role, main: measured if main else ())
    return list(memory_channel.rule.assess(known))


@pytest.mark.parametrize(("share", "heard"), [(0.94, True), (0.96, False)])
@pytest.mark.parametrize("policy", ["first-touch", "bind:1"])
def test_a_memory_node_is_slow_below_95_percent_of_the_others(share: float, policy: str, *, heard: bool) -> None:
    other = on_node(0, [10.0] * 6, "first-touch" if policy == "first-touch" else "bind:0")
    found = channels(other, on_node(1, [10.0 * share] * 6, policy))
    assert bool(found) == heard
    if heard:
        finding = only(found)
        assert finding.numbers["statistic"].value == pytest.approx(share)
        assert finding.numbers["threshold"].value == 0.95
        assert (finding.status, finding.experiment) == ("observed", None)
        assert finding.claim.startswith("NUMA node 1 reaches 0.94 ")


def test_a_slow_node_of_few_launches_is_a_candidate_with_an_experiment_on_its_border() -> None:
    finding = only(channels(on_node(0, [10.0, 10.0], "bind:0"), on_node(1, [9.0, 5.0], "bind:1")))
    assert (finding.status, finding.severity) == ("candidate", "problem")
    assert finding.experiment
    (effect,) = finding.experiment.effects
    assert (effect.border, effect.side) == (0.95, "below")
    assert "largest ratio of 2 blocks" in finding.statistic
    assert finding.statistic.endswith("0.9")


def test_a_slow_node_is_measured_again_beside_the_middle_one_of_the_others() -> None:
    rates = {1: 10.0, 2: 13.0, 3: 11.0, 4: 12.0, 0: 5.0}
    nodes = [on_node(node, [rate], f"bind:{node}") for node, rate in rates.items()]
    finding = only(
        [each for each in channels(*nodes, description=NODES.replace("numa:2", "numa:5")) if "n0" in each.id]
    )
    assert finding.experiment
    (effect,) = finding.experiment.effects
    assert [each.case for each in effect.arms] == ["case 0", "case 4"]
    assert finding.numbers["statistic"].value == pytest.approx(5 / 11.5)


def test_nodes_are_compared_in_common_blocks_with_their_own_memory_and_all_cores() -> None:
    other = on_node(0, [10.0, 0.0, 20.0], "bind:0")
    assert only(channels(other, on_node(1, [9.0, 1.0, 18.0], "bind:1"))).numbers[
        "statistic"
    ].value == pytest.approx(0.9)
    for strange in (on_node(1, [5.0], "bind:0"), on_node(1, [5.0], "bind:1", "half"), on_node(1, [0.0], "bind:1")):
        assert only(channels(other, strange)).status == "not assessed"
