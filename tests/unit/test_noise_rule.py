"""The rules of noise and of missing cases on evidence by hand: each border on both sides."""

from types import SimpleNamespace

import msgspec
import pytest
from tests.unit.rule_evidence import evidence, of

from assay.model.noise import Noise
from assay.model.placement import Memory, Placement
from assay.model.plan import Case
from assay.model.quantity import Quantity
from assay.model.result import Finding, Outcome
from assay.topics.health.rules import machine_noise, not_measured

CALM = Noise(
    None,
    drift=0.0,
    drift_p=0.9,
    steal=0.0,
    foreign=0.01,
    states={},
    disturbed=0,
    launches=20,
    lost=Quantity(0.005, 0.004, 0.006, basis="interval"),
    longest_stop_s=1e-3,
    made=20,
)


def found(**changed: object) -> dict[str, Finding]:
    noise = msgspec.structs.replace(CALM, **changed)
    plan = SimpleNamespace(launches=6, budget_s=None)
    run = SimpleNamespace(plan=plan, imported=None, ending=None)
    shown = machine_noise.rule.assess(evidence(noise=noise, run=run, measured=()))
    return {each.id.partition(":")[2]: each for each in shown}


def lost(value: float, lo: float, hi: float) -> Quantity:
    return Quantity(value, lo, hi, basis="interval")


def test_a_calm_machine_was_quiet_with_its_figures() -> None:
    (finding,) = found().values()
    assert finding.id == "machine_noise:quiet"
    assert finding.claim == (
        "The machine was quiet: 0.5 [0.4, 0.6] % of the time lost to stops and slower moments, at most 1.00 ms at "
        "once, drift +0.0 % (p = 0.9), steal 0 %, other processes 1.0 % at most."
    )
    assert finding.numbers["statistic"].value == 0
    some = found(disturbed=2)["quiet"]
    assert some.claim.startswith("The machine was quiet in all but 2 of 20 launches")
    assert found(lost=None).keys() == {"not-assessed"}
    bare = found(drift=None, drift_p=None, steal=None, foreign=None)["quiet"]
    assert all(word not in bare.claim for word in ("drift", "steal", "other processes"))
    assert "drift +1.0 %." in found(drift=0.01, drift_p=None, steal=None, foreign=None)["quiet"].claim


DRIFTS = {"drift": 0.05, "drift_p": 0.001, "figures_drift": 0.05, "figures_drift_p": 0.01}


@pytest.mark.parametrize(
    ("changed", "heard"),
    [
        ({}, True),
        ({"drift": 0.02}, False),
        ({"drift": 0.021}, True),
        ({"drift_p": 0.01}, False),
        ({"drift_p": 0.0099}, True),
        ({"figures_drift": 0.02}, False),
        ({"figures_drift": 0.021}, True),
        ({"figures_drift_p": 0.05}, False),
        ({"figures_drift_p": 0.049}, True),
        ({"figures_drift": -0.05}, False),  # the figures became faster
        ({"drift": -0.05}, False),
        ({"drift": -0.05, "figures_drift": -0.05}, True),
        ({"drift": None}, False),
        ({"drift_p": None}, False),
        ({"figures_drift": None}, False),
        ({"figures_drift_p": None}, False),
    ],
)
def test_a_machine_drifts_by_2_percent_where_its_figures_do(
    changed: dict[str, float | None], *, heard: bool
) -> None:
    shown = found(**{**DRIFTS, **changed})
    assert ("drift" in shown) == heard
    assert ("quiet" in shown) != heard
    if heard:
        drift = changed.get("drift", 0.05) or 0.0
        word = "slower" if drift > 0 else "faster"
        assert f"became {100 * abs(drift):.1f} % {word} during the run" in shown["drift"].claim
        assert f"{100 * drift:+.1f} %" in shown["drift"].statistic
        assert shown["drift"].numbers["statistic"].value == abs(drift)
        assert shown["drift"].numbers["threshold"].value == 0.02
        assert "--launches 12" in shown["drift"].next  # twice as many


@pytest.mark.parametrize(
    ("share", "name"),
    [
        ((0.03, 0.021, 0.04), "lost"),
        ((0.03, 0.019, 0.04), "open"),
        ((0.015, 0.01, 0.021), "open"),
        ((0.015, 0.01, 0.019), "quiet"),
    ],
)
def test_a_machine_is_unsteady_if_the_whole_interval_of_lost_time_is_above_2_percent(
    share: tuple[float, float, float], name: str
) -> None:
    shown = found(lost=lost(*share))
    assert shown.keys() == {name}
    if name != "quiet":
        assert shown[name].numbers["statistic"].value == share[0]
        assert shown[name].numbers["threshold"].value == 0.02
        assert shown[name].threshold == "both ends > 2 %"


@pytest.mark.parametrize(("steal", "heard"), [(None, False), (0.02, False), (0.021, True)])
def test_the_hypervisor_takes_more_than_2_percent(steal: float | None, *, heard: bool) -> None:
    shown = found(steal=steal)
    assert ("steal" in shown) == heard
    if heard:
        assert "2.1 % of the cpus' time" in shown["steal"].statistic
        assert shown["steal"].threshold == "> 2 %"
        assert shown["steal"].numbers["threshold"].value == 0.02


@pytest.mark.parametrize(
    ("foreign", "crowded", "heard"),
    [(0.05, 5, False), (0.06, 1, False), (0.06, 2, True), (None, 2, False)],
)
def test_other_processes_disturb_if_they_spoil_more_than_a_twentieth_of_the_launches(
    foreign: float | None, crowded: int, *, heard: bool
) -> None:
    shown = found(foreign=foreign, crowded=crowded)
    assert ("foreign" in shown) == heard
    if heard:
        assert shown["foreign"].threshold == "> 5 %"
        assert "other processes used up to 6.0 % of the cpus' time" in shown["foreign"].claim


@pytest.mark.parametrize(("spoilt", "heard"), [(1, False), (2, True)])
def test_launches_that_stayed_disturbed_are_told_where_nothing_else_explains_them(
    spoilt: int, *, heard: bool
) -> None:
    shown = found(spoilt=spoilt)
    assert ("disturbed" in shown) == heard
    if heard:
        assert shown["disturbed"].claim.startswith("2 of 20 launches were disturbed at every attempt")
        assert shown["disturbed"].numbers["statistic"].value == 0.1
        assert shown["disturbed"].threshold == "> 5 % of the launches"
        assert found(spoilt=spoilt, steal=0.5).keys() == {"steal"}
        assert found(spoilt=spoilt, lost=lost(0.03, 0.01, 0.04)).keys() == {"disturbed", "open"}


def test_states_are_named_with_the_benchmarks_that_they_explain() -> None:
    states = {"far": (3, 120e-9), "near": (5, 30e-9)}
    names = [("stream", "near"), ("stream", "far"), ("memcpy", None)]
    measured = [
        SimpleNamespace(estimate=of(f"{name}{state}", 1.0, benchmark=name, state=state)) for name, state in names
    ]
    noise = msgspec.structs.replace(CALM, states=states)
    plan = SimpleNamespace(launches=6, budget_s=None)
    run = SimpleNamespace(plan=plan, imported=None, ending=None)

    def told(some: list[SimpleNamespace]) -> Finding:
        known = evidence(noise=noise, run=run, measured=some)
        return next(each for each in machine_noise.rule.assess(known) if each.id.endswith(":states"))

    both = told(measured)
    assert "far in 3 launches (120 ns), near in 5 launches (30.0 ns)" in both.claim
    assert "The states explain stream; their figures are given for each state." in both.claim
    assert "The other benchmarks pool the launches of both states" in both.claim
    assert both.numbers["statistic"].value == pytest.approx(4.0)
    assert both.numbers["threshold"].value == 1.5
    assert both.next
    split, pooled = told(measured[:2]), told(measured[2:])
    assert "pool the launches" not in split.claim
    assert not split.next
    assert "The states explain" not in pooled.claim
    assert "All benchmarks pool the launches" in pooled.claim
    assert "states" not in found(states={"one": (8, 30e-9)})
    assert "states" in found(states={"far": (8, 30e-9)})


def test_a_run_that_its_budget_cut_gets_more_time_not_more_launches() -> None:
    noise = msgspec.structs.replace(CALM, steal=0.5)
    plan = SimpleNamespace(launches=6, budget_s=60.0)
    plan.estimate_s, cut = 30.0, SimpleNamespace(status="cut", needed_s=600.0)
    known = evidence(noise=noise, run=SimpleNamespace(plan=plan, imported=None, ending=cut), measured=())
    known.budget = lambda: ("--budget", "10m")
    (finding,) = machine_noise.rule.assess(known)
    assert "--launches 6 --budget 10m" in finding.next


CASES = [f"c{at}" for at in range(8)]


def missing(outcomes: list[Outcome], *, imported: bool = False) -> dict[str, Finding]:
    placed = Placement("all", "", (0,), Memory(), ("n1",))
    cases = tuple(Case(name, "stream", {}, placed) for name in CASES)
    controls = (Case("control", "stream", {}, placed, role="control"),)
    plan = SimpleNamespace(studied=cases, cases=(*cases, *controls), names={"c0": "the first"})
    run = SimpleNamespace(plan=plan, imported="osu" if imported else None, info=SimpleNamespace(id="r1"))
    shown = not_measured.rule.assess(evidence(run=run, outcomes=outcomes))
    return {each.id.partition(":")[2]: each for each in shown}


def outcome(case: str, status: str, reason: str = "", failed: int = 0) -> Outcome:
    shown = Outcome(case=case, status="complete", reason="", launches=6, planned=6, failed=failed)
    return msgspec.structs.replace(shown, status=status, reason=reason)


def test_cases_without_a_figure_are_counted_with_their_most_frequent_reasons() -> None:
    made = [
        outcome("c0", "failed", "no memory"),
        *(outcome(f"c{at}", "invalid", "wrong sum") for at in (1, 2, 3)),
        *(outcome(f"c{at}", "failed", f"reason {at}") for at in (4, 5, 6)),
        outcome("control", "failed", "other"),
    ]
    (finding,) = missing(made).values()
    assert finding.claim.startswith("7 of 8 cases gave no valid figure: invalid: wrong sum (c1 and 2 more); ")
    assert "failed: no memory (the first); failed: reason 4 (c4); 2 other reasons." in finding.claim
    assert (finding.severity, finding.numbers["statistic"].value) == ("problem", 7)
    assert "other reason" not in missing(made[:5])["wrong"].claim
    control = missing(made[-1:])["wrong"]
    assert control.claim.startswith("1 of 1 control measurements gave no valid figure: failed: other (control)")


def test_cases_that_were_not_measured_or_lack_launches_are_facts() -> None:
    made = [
        outcome("c0", "skipped", "the budget was used up"),
        outcome("c1", "incomplete", "it recorded no samples"),
        outcome("c2", "complete", "one launch failed", failed=1),
        outcome("c3", "complete"),
        outcome("control", "skipped", "no time"),
    ]
    shown = missing(made)
    assert shown.keys() == {"missing", "short"}
    assert shown["missing"].claim == (
        "2 of 8 cases were not measured: the budget was used up (the first); "
        "incomplete: it recorded no samples (c1)."
    )
    assert shown["short"].claim == "1 of 8 cases lack launches that failed: one launch failed (c2)."
    assert {each.severity for each in shown.values()} == {"fact"}
    assert shown["missing"].next
    of_import = missing(made[:1], imported=True)["missing"]
    assert of_import.claim.startswith("1 of 8 printed figures are left out")
    assert not of_import.next
    assert not missing(made[3:4])
