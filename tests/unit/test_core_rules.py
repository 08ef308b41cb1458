"""Rules of cores and of the run on evidence by hand: each border on both sides, and the figures they name."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from tests.simulation import described
from tests.unit.rule_evidence import NODES, evidence, of, only

from assay.model.facts import Fact
from assay.model.law import Point, Prediction
from assay.model.placed import Placed
from assay.model.quantity import Quantity
from assay.model.result import Estimate, Finding, Limit
from assay.topics.cores.rules import clock, core_pairs
from assay.topics.health.rules import prediction, wrong_limit


def clocks(*found: Estimate, refused: Sequence[Estimate] = (), **facts: dict[str, Fact]) -> list[Finding]:
    machine = msgspec.structs.replace(described(NODES), host="n1", facts=facts)
    plan = SimpleNamespace(study="flops", budget_s=None, launches=6)
    run = SimpleNamespace(machines={"n1": machine}, plan=plan, imported=None)
    bounds = SimpleNamespace(is_refused=lambda each: each in refused, clock=3e9)
    known = evidence(run=run, clocks=lambda: list(found), bounds=bounds, having=lambda *_roles: [*found, *refused])
    return list(clock.rule.assess(known))


def hertz(value: float, lo: float, hi: float, *, alone: bool = True, basis: str = "interval") -> Estimate:
    placed = Placed("one-core" if alone else "all", ("n1",), ((0,) if alone else (0, 1),), "first-touch", None)
    figure = Quantity(value, lo, hi, "Hz", cast("Any", basis))
    return of("clock", value, value=figure, unit="Hz", placement=placed, metric="clock")


NOMINAL = {"nominal frequency": Fact(2e9, "Hz", "test"), "highest frequency": Fact(3e9, "Hz", "test")}


@pytest.mark.parametrize(
    ("alone", "hi", "heard"),
    [(True, 2.84e9, True), (True, 2.86e9, False), (False, 1.89e9, True), (False, 1.91e9, False)],
)
def test_a_core_alone_keeps_the_highest_clock_and_several_the_nominal_one(
    hi: float, *, alone: bool, heard: bool
) -> None:
    found = clocks(hertz(hi - 3e7, hi - 4e7, hi, alone=alone), processor=NOMINAL)
    slow = [each for each in found if each.severity == "problem"]
    assert bool(slow) == heard
    if heard:
        allowed = 3e9 if alone else 2e9
        assert slow[0].numbers["threshold"].value == pytest.approx(0.95 * allowed)
        assert f"run at {(hi - 3e7) / 1e9:.2f} GHz, {100 * (hi - 3e7) / allowed:.0f} % of " in slow[0].claim
        assert slow[0].statistic == f"upper bound (95 %) / allowed {hi / allowed:.3g}"
        assert (slow[0].status, slow[0].experiment) == ("observed", None)


def test_without_boost_a_core_alone_keeps_the_nominal_clock() -> None:
    slow = hertz(2.1e9, 2.1e9, 2.1e9)
    off = {"boost": Fact(value=False, source="test")}
    assert any(each.severity == "problem" for each in clocks(slow, processor=NOMINAL))
    found = clocks(slow, processor=NOMINAL, frequency=off)
    assert [each.id.partition(":")[2].partition(":")[0] for each in found] == ["turbo"]


@pytest.mark.parametrize(("lo", "heard"), [(2.01e9, False), (2.03e9, True)])
def test_turbo_is_one_percent_over_the_nominal_clock(lo: float, *, heard: bool) -> None:
    found = clocks(hertz(lo + 1e7, lo, lo + 2e7, alone=False), processor=NOMINAL)
    assert bool(found) == heard
    if heard:
        assert only(found).numbers["threshold"].value == pytest.approx(1.01 * 2e9)
        assert f"run at {(lo + 1e7) / 1e9:.2f} GHz, {100 * (lo + 1e7) / 2e9:.0f} % of " in only(found).claim


def test_a_slow_clock_of_a_range_is_a_candidate_that_is_measured_again() -> None:
    finding = only(clocks(hertz(1e9, 0.9e9, 1.1e9, alone=False, basis="range"), processor=NOMINAL))
    assert (finding.status, finding.statistic) == ("candidate", "largest of the launches / allowed 0.55")
    assert finding.experiment
    (effect,) = finding.experiment.effects
    assert effect.border == pytest.approx(1.9e9)
    assert effect.side == "below"


def test_clocks_of_interrupted_cores_are_named_from_the_lowest_to_the_highest() -> None:
    refused = [hertz(value, value, value) for value in (1.2e9, 0.3e9, 0.9e9)]
    found = clocks(hertz(3e9, 3e9, 3e9), refused=refused, processor=NOMINAL)
    finding = next(each for each in found if each.id == "clock:refused")
    assert finding.claim.startswith("3 measured clocks of 300 MHz to 1.20 GHz are not clocks of a core")
    assert finding.numbers["statistic"].value == pytest.approx(0.1)
    assert finding.numbers["threshold"].value == 0.5
    one = clocks(hertz(3e9, 3e9, 3e9), refused=refused[:1], processor=NOMINAL)
    assert any("1 measured clock of 1.20 GHz is not" in each.claim for each in one)


def test_without_clocks_or_facts_nothing_is_assessed() -> None:
    assert only(clocks()).status == "not assessed"
    assert "No fact gives the allowed clock" in only(clocks(hertz(1e9, 1e9, 1e9))).claim


def pair_points(times: Sequence[float]) -> list[Point]:
    return [
        Point(f"e{at}", {"a": 0, "b": at + 1, "class": "same"}, Quantity(t, t, t, "s", "interval"), t / 10e-9)
        for at, t in enumerate(times)
    ]


def core_to_core(times: Sequence[float], launches: int = 6) -> list[Finding]:
    points = pair_points(times)
    usual = SimpleNamespace(name="same", time=Quantity(10e-9, 10e-9, 10e-9, "s"))
    model = SimpleNamespace(id="model", points=points, classes=[usual])
    known = {
        each.estimate: of(each.estimate, each.value.value, launches=launches, case=f"case {each.at['b']}")
        for each in points
    }
    known["e0"] = of("e0", points[0].value.value, case="case 1")
    run = SimpleNamespace(
        machines={"n1": described(NODES)}, plan=SimpleNamespace(hosts=(), machine=None), imported=None
    )
    return list(core_pairs.rule.assess(evidence(models=[model], estimates=known, run=run)))


@pytest.mark.parametrize(("slowest", "heard"), [(10.9e-9, False), (11.1e-9, True)])
def test_a_pair_is_slow_ten_percent_above_similar_pairs(slowest: float, *, heard: bool) -> None:
    found = core_to_core([10e-9] * 5 + [slowest])
    assert bool(found) == heard
    if heard:
        finding = only(found)
        assert finding.claim.startswith("1 of 6 pairs of cpus transfer a cache line more slowly")
        assert "0-6 x1.11" in finding.claim
        assert "All of them" not in finding.claim
        assert finding.numbers["threshold"].value == pytest.approx(11e-9)
        assert finding.numbers["statistic"].value == slowest
        assert (finding.status, finding.experiment) == ("observed", None)


def test_slow_pairs_of_a_range_are_measured_again_beside_the_most_typical_one() -> None:
    finding = only(core_to_core([9.9e-9, 10.2e-9, 10e-9, 10.1e-9, 9.8e-9, 30e-9, 40e-9], launches=3))
    assert finding.claim.startswith("2 of 7 pairs")
    assert "All of them are pairs of cpu 0." in finding.claim
    assert finding.numbers["statistic"].value == 40e-9
    assert finding.statistic.endswith("4")
    assert finding.experiment
    (effect,) = finding.experiment.effects
    assert (effect.border, effect.side) == (1.1, "above")
    assert [each.case for each in effect.arms] == ["case 7", "case 3"]


def test_one_slow_pair_of_a_range_makes_a_candidate() -> None:
    assert only(core_to_core([30e-9, *[10e-9] * 6, 30e-9], launches=3)).status == "candidate"


def test_fewer_than_six_pairs_are_not_judged() -> None:
    assert only(core_to_core([10e-9] * 4 + [90e-9])).status == "not assessed"
    assert not core_to_core([10e-9] * 6)


def predicted(error: float, measured: float, state: str | None = None) -> Prediction:
    return Prediction(
        f"id {measured}",
        "law",
        "what",
        Quantity(10.0, 9.0, 11.0, "B/s", "derived"),
        ("b", "c"),
        (None, None, state),
        "",
        "m",
        Quantity(measured, measured, measured, "B/s", "interval"),
        measured / 10 - 1,
        error,
        "bandwidth",
    )


@pytest.mark.parametrize(
    ("errors", "worst", "explained"),
    [
        ((0.0,), 0.0, True),
        ((0.15,), 0.15, True),
        ((0.16,), 0.16, False),
        ((-0.16,), -0.16, False),
        ((0.1, -0.2), -0.2, False),
    ],
)
def test_a_prediction_that_is_15_percent_off_does_not_explain_the_figure(
    errors: Sequence[float], worst: float, *, explained: bool
) -> None:
    states = ("near", "far") if len(errors) > 1 else (None,)
    made = [predicted(each, 12.0, state) for each, state in zip(errors, states, strict=True)]
    finding = only(list(prediction.rule.assess(evidence(predictions=made, estimates={"m": of("m", 12.0)}))))
    assert finding.numbers["statistic"].value == worst
    assert finding.statistic == f"gap between the intervals {100 * worst:.1f} %"
    assert ("This is not explained by bandwidth alone." in finding.claim) != explained
    assert ("intervals do not overlap" in finding.claim) == any(errors)
    assert ("intervals overlap" in finding.claim) == (0.0 in errors)
    assert "9.00 B/s to 11.0 B/s; measured 12.0 B/s, +20.0 % from the middle (+9.1 % to +33.3 %)" in finding.claim
    assert ("near: " in finding.claim) == (len(errors) > 1)


def test_without_predictions_none_is_assessed() -> None:
    assert only(list(prediction.rule.assess(evidence(predictions=())))).status == "not assessed"


def test_bursts_and_figures_that_nothing_explains_are_findings_of_their_own() -> None:
    limits = {burst: Limit(10.0, "derived", "tc", "shaper", burst=burst) for burst in ("", "fits", "unknown")}
    known = {burst or "wrong": of(burst or "wrong", 12.0, exceeds=limit) for burst, limit in limits.items()}
    found = {each.id: each for each in wrong_limit.rule.assess(evidence(estimates=known))}
    names = [name.removeprefix("wrong_limit:").partition(":")[2] for name in found]
    assert names == ["shaper", "shaper:fits", "shaper:unknown"]
    assert [each.evidence for each in found.values()] == [("wrong",), ("fits",), ("unknown",)]
    assert [bool(each.next) for each in found.values()] == [False, False, True]
    assert all(each.severity == "fact" for each in found.values())


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("memory", "bytes stayed in a cache"),
        ("copy", "bytes stayed in a cache"),
        ("messages", "its measurement was disturbed"),
    ],
)
def test_a_figure_beyond_its_limit_says_what_may_be_wrong(kind: str, why: str) -> None:
    limit = Limit(10.0, "measured", "the best", cast("Any", kind))
    known = {
        name: of(name, value, better=better, exceeds=limit)
        for name, value, better in (("a", 10.5, "higher"), ("b", 12.0, "higher"), ("c", 9.5, "lower"))
    }
    finding = only(list(wrong_limit.rule.assess(evidence(estimates=known))))
    assert finding.numbers["statistic"].value == pytest.approx(1.2)
    assert finding.numbers["threshold"].value == 1.02
    assert why in finding.claim
    assert "3 figures have no share." in finding.claim
    assert "reaches 12.0 B/s, more than its limit of 10.0 B/s" in finding.claim
    assert finding.evidence == ("a", "b", "c")
    plain, limited = (of("a", 1.0, limit=each) for each in (None, limit))
    assert not list(wrong_limit.rule.assess(evidence(estimates={"a": plain})))
    for estimates, applies in (
        ({"a": plain}, False),
        ({"a": plain, "b": limited}, True),
        ({"a": plain} | known, True),
    ):
        assert bool(wrong_limit.rule.applies(evidence(estimates=estimates))) == applies
