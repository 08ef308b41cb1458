"""The section of noise on launches by hand: its table, its sentences, and the dots of its charts."""

import statistics
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.unit.law_evidence import measured, placed

from assay.analyse.estimates import Measured
from assay.model.bracket import Bracket, Handover
from assay.model.noise import Noise
from assay.model.quantity import Quantity
from assay.model.record import Series
from assay.report.declared import Scene
from assay.topics.health.launched import widest
from assay.topics.health.sections import noise as section

NOISE = Noise(
    None,
    drift=-0.0123,
    drift_p=0.04,
    steal=0.004,
    foreign=0.031,
    states={"one": (8, 30e-9)},
    disturbed=2,
    launches=9,
    resolution=0.052,
    probed_s=1.5,
    lost=Quantity(0.005, 0.004, 0.006, basis="interval"),
    longest_stop_s=2e-3,
    stops_per_s=12.34,
    figures_drift=0.02,
)


def told(**changed: object) -> Scene:
    analysis: Any = SimpleNamespace(noise=msgspec.structs.replace(NOISE, **changed), estimates=())
    run: Any = SimpleNamespace(launches=())
    return Scene(run, analysis, (), (), ())


def table(**changed: object) -> list[tuple[str, ...]]:
    listing = section.declared.page_tables[0]
    return [tuple(map(str, row)) for row in listing.rows(told(**changed))]  # type: ignore[attr-defined]


def test_measures_of_noise_are_shown_with_what_they_mean() -> None:
    shown = table()
    assert [row[1] for row in shown] == [
        "0.5 [0.4, 0.6] %",
        "2.00 ms",
        "-1.2 % (p = 0.04)",
        "+2.0 %",
        "0.4 %",
        "3.1 %",
        "5.2 %",
        "2 of 9",
        "30.0 ns",
    ]
    assert shown[0][2] == "of 1.50 s of fixed work in small pieces"
    assert shown[1][2].startswith("12.3 pieces a second")
    assert shown[-1][0] == "Cache-line transfer between the cores of the probe"
    assert shown[-1][2] == "median, one way, in 8 launches"


def test_unknown_measures_are_said_to_be_unknown() -> None:
    shown = table(
        lost=None, longest_stop_s=None, stops_per_s=None, drift=None, figures_drift=None, steal=None, foreign=None,
        resolution=None, states={},
    )  # fmt: skip
    assert [row[1] for row in shown] == [
        "not known",
        "not measured",
        "not assessed",
        "not assessed",
        "not known",
        "not known",
        "not known",
        "2 of 9",
    ]
    assert shown[1][2].startswith("0 pieces a second")


@pytest.mark.parametrize(("resolution", "word"), [(1.0, "100 %"), (1.01, "more than 100 %")])
def test_a_resolution_of_more_than_everything_is_no_number(resolution: float, word: str) -> None:
    assert table(resolution=resolution)[6][1] == word


def test_states_of_the_machine_are_told_apart() -> None:
    two = {"near": (5, 30e-9), "far": (3, 120e-9)}
    assert [row[0] for row in table(states=two)[-2:]] == ["State “near”", "State “far”"]
    text = str(section.declared.sentences(told(states=two)))
    assert (
        "The probe found 2 states of the machine: “near” (30.0 ns, 5 launches) and “far” (120 ns, 3 launches)."
        in text
    )
    one = str(section.declared.sentences(told()))
    assert one == (
        "The probe found one state: no other one lasted for two launches. 2 of 9 launches were disturbed."
    )
    assert str(section.declared.sentences(told(states={}, disturbed=0))) == "No launch was disturbed."


BEGAN = datetime(2026, 3, 1, tzinfo=UTC)


def launch(at: int, seconds: list[float], **around: Any) -> SimpleNamespace:  # noqa: ANN401 (of a bracket)
    given: dict[str, Any] = {"before": None, "after": None, "steal": None, "foreign": None}
    bracket = Bracket(**(given | around), elapsed_s=2.0, involuntary_switches=0, load=0.0)
    record = SimpleNamespace(
        id=f"l{at}",
        attempt=at % 2,
        block=at,
        started=(BEGAN + timedelta(seconds=10 * at + 5)).isoformat(),
        bracket=bracket,
        program="latency",
    )
    series = (
        Series("chase", 0, "warmup", 1, "steady", [0.0], [9.0]),
        Series("chase", 0, "measured", 2, "samples", [0.0] * len(seconds), [2 * each for each in seconds]),
    )
    rank = SimpleNamespace(rank=0, host="n1")
    header = SimpleNamespace(case=WALK.estimate.case, ranks=[rank], work={"chase": {"loads": 1.0}})
    case = SimpleNamespace(header=header, series=series, figures=())
    return SimpleNamespace(launch=record, cases=[case])


WALK = measured("latency", "chase", "latency", [1.0, 1.5, 2.0], placed("one-core", 0), bytes=64, pages="huge")


def drawn(*launches: SimpleNamespace) -> list[Any]:
    case = SimpleNamespace(id=WALK.estimate.case, benchmark="latency")
    plan = SimpleNamespace(cases=[case], declared=lambda _name: WALK.estimate.declared, hosts=())
    analysis: Any = SimpleNamespace(noise=NOISE, estimates=(WALK.estimate,))
    run: Any = SimpleNamespace(launches=launches, plan=plan)
    return list(section.declared.charts(Scene(run, analysis, (), (), ())))


LAUNCHES = (
    launch(0, [1.0, 1.0, 4.0], foreign=0.2, steal=0.01, before=Handover((0, 1), 1, [30e-9])),
    launch(1, [1.5, 1.5], before=Handover((0, 1), 1, [25e-9]), after=Handover((0, 1), 1, [40e-9])),
    launch(2, [3.0]),
)


def test_launches_are_drawn_from_the_first_on_in_percent_and_nanoseconds() -> None:
    timeline, *_ = drawn(*LAUNCHES)
    spans = timeline.spec["data"]["values"]
    assert [(each["start"], each["end"]) for each in spans] == [(0.0, 2.0), (10.0, 12.0), (20.0, 22.0)]
    assert [each["launch"] for each in spans] == ["l0", "l1, attempt 2", "l2"]
    assert [each["state"] for each in spans] == ["disturbed", "disturbed", "quiet"]  # crowded; moved; neither
    assert (spans[0]["foreign"], spans[0]["steal"]) == pytest.approx((20.0, 1.0))
    assert (spans[2]["foreign"], spans[2]["steal"], spans[2]["clock"]) == (None, None, None)
    assert [each["before"] for each in spans] == [pytest.approx(30.0), pytest.approx(25.0), None]
    assert [each["after"] for each in spans] == [None, pytest.approx(40.0), None]
    assert str(timeline.result) == "3 launches; cache-line transfer between 25 and 40 ns"
    border = [layer for panel in timeline.spec["vconcat"] for layer in panel["layer"] if "data" in layer]
    assert border[0]["data"]["values"] == [{"foreign": 5.0}]


def test_dots_are_medians_of_launches_over_that_of_their_case_and_curves_their_samples() -> None:
    _, dots, samples = drawn(*LAUNCHES)
    usual = statistics.median([1.0, 1.5, 3.0])
    rows = dots.spec["data"]["values"]
    assert [(each["series"], each["value"], each["text"]) for each in rows] == [
        ("1", pytest.approx(1 / usual), "0.667"),
        ("2", 1.0, "1.000"),
        ("3", 2.0, "2.000"),
    ]
    assert str(dots.result).endswith(": 0.667 to 2.000")
    assert "Cases whose launches differ most: 1 of 1." in dots.caption
    pooled = np.array([1.0, 1.0, 4.0, 1.5, 1.5, 3.0]) / usual
    shares = samples.spec["data"]["values"]
    assert [each["share"] for each in shares] == [0, *range(1, 100), 99.9, 100]
    assert [each["value"] for each in shares] == pytest.approx(
        [np.percentile(pooled, each["share"]) for each in shares]
    )
    assert f"99 % of the samples within {np.percentile(pooled, 99):.3f}" in str(samples.result)


def test_the_cases_whose_launches_differ_most_come_first() -> None:
    def case(name: str, *values: float) -> Measured:
        return measured("latency", "chase", "latency", values, placed(name, 0), bytes=64, pages="huge")

    figures = [case("a", 1.0, 1.1), case("b", 1.0, 3.0), case("c", 5.0), case("d", 1.0, 1.5), case("e", 0.0, 1.0)]
    analysis: Any = SimpleNamespace(estimates=tuple(each.estimate for each in figures))
    assert [each.placement.label for each in widest(analysis, 2)] == ["b", "d"]
    assert [each.placement.label for each in widest(analysis, 9)] == ["b", "d", "a", "e"]
