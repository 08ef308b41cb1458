"""The score of a prediction: its width and what it misses, by Gneiting and Raftery; what does not count."""

import io
import math
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console
from tests.simulation import begin, carry_on, described, plan_for
from tests.unit.test_predictions import SMALL, expected

from assay import store
from assay.analyse import analyse, examine
from assay.analyse.predictions import expectations
from assay.cli import assay
from assay.model.errors import UsageError
from assay.model.law import WIDEST, interval_score, is_too_wide
from assay.model.quantity import Quantity
from assay.model.record import encode_record
from assay.model.result import Limit
from assay.simulation import SimulatedMachine
from assay.store.chain import reseal
from assay.topics.scaling import scores_table
from assay.topics.scaling.scores import Score, scores, together

pytestmark = pytest.mark.usefixtures("undrawn")


def interval(low: float, high: float) -> Quantity:
    return Quantity(math.sqrt(low * high), low, high, "B/s", "derived")


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (100.0, math.log(110 / 90)),  # inside: the width alone
        (110.0, math.log(110 / 90)),
        (120.0, math.log(110 / 90) + 40 * math.log(120 / 110)),  # above: 2 / .05 = 40 times the miss
        (60.0, math.log(110 / 90) + 40 * math.log(90 / 60)),
    ],
)
def test_the_score_is_the_width_and_forty_times_the_miss(value: float, score: float) -> None:
    assert interval_score(interval(90, 110), value) == pytest.approx(score, rel=1e-12)


def test_the_score_is_that_of_gneiting_and_raftery_of_the_logarithms() -> None:
    random = np.random.default_rng(1)
    for low, factor, x in zip(
        random.uniform(1, 9, 200), random.uniform(1.01, 3, 200), random.uniform(0.5, 30, 200), strict=True
    ):
        lower, upper, at, alpha = math.log(low), math.log(low * factor), math.log(x), 0.05
        by_hand = (
            (upper - lower) + (2 / alpha) * (lower - at) * (at < lower) + (2 / alpha) * (at - upper) * (at > upper)
        )
        assert interval_score(interval(low, low * factor), x) == pytest.approx(by_hand)


def test_the_true_quantiles_have_the_best_mean_score() -> None:
    found = np.exp(0.05 * np.random.default_rng(2).standard_normal(20_000))

    def mean(half: float) -> float:
        ends = interval(math.exp(-half * 0.05), math.exp(half * 0.05))
        return float(np.mean([interval_score(ends, x) for x in found]))

    true, narrow, wide = mean(1.96), mean(1.0), mean(4.0)
    assert true < narrow
    assert true < wide


def test_an_interval_wider_than_a_factor_of_two_is_no_prediction() -> None:
    assert not is_too_wide(interval(1.0, WIDEST * 0.999))
    assert is_too_wide(interval(1.0, WIDEST * 1.001))
    assert is_too_wide(Quantity(1.0, 0.0, 1.1, "B/s", "derived"))


@pytest.fixture
def predicted(tmp_path: Path) -> Path:
    """A run whose two cases were predicted before all launches: one narrowly, one wider than a factor of 2."""
    plan = plan_for(study=SMALL)
    directory = begin(tmp_path, plan)
    first, late = (case.id for case in plan.studied)
    for case, low, high in ((first, 1e10, 1.2e10), (late, 1e10, 3e10)):
        directory.predict(msgspec.structs.replace(expected(case), value=1.1e10, lo=low, hi=high))
    carry_on(directory, plan, SimulatedMachine(described().topology))
    return directory.path


def scored(path: Path) -> list[Score]:
    run = store.load(path)
    return list(scores(run, analyse(run)))


def test_each_entry_has_width_and_score_and_a_wide_one_does_not_count(predicted: Path) -> None:
    narrow, *_, wide = scored(predicted)  # a row for each state of the machine
    assert narrow.measured is not None
    assert narrow.width == pytest.approx(math.log(1.2))
    assert narrow.score == pytest.approx(interval_score(narrow.predicted, narrow.measured.value))
    assert (wide.refused, wide.measured, wide.held, wide.score) == ("too wide", None, None, None)
    known = together([narrow, wide])
    assert known.width is not None
    assert (known.width.value, known.score) == (narrow.width, narrow.score)
    assert known.coverage is not None
    assert known.coverage.value == bool(narrow.held)


def test_a_prediction_after_its_figure_is_named_and_does_not_count(predicted: Path) -> None:
    run = store.load(predicted)
    late = msgspec.structs.replace(expected(run.plan.studied[0].id), metric="traffic", chain="later")
    with (predicted / "records.jsonl").open("ab") as file:
        file.write(encode_record(late) + b"\n")
    reseal(predicted, run)
    assert store.load(predicted).chain.broken == 0
    *_, last = scored(predicted)
    assert (last.metric, last.refused, last.held) == ("traffic", "after its figure", None)
    console = Console(width=250, record=True, file=io.StringIO())
    scores_table.render(together(scored(predicted)), console)
    assert "made after its figure" in console.export_text()


def test_an_edited_prediction_is_in_the_ledger_and_does_not_count(predicted: Path) -> None:
    file = predicted / "records.jsonl"
    content = file.read_bytes()
    file.write_bytes(content.replace(b'"lo":10000000000.0', b'"lo":10000000001.0', 1))
    assert {each.refused for each in scored(predicted)} == {"broken chain"}
    assert together(scored(predicted)).coverage is None


def _checked(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(assay, ["check", *words])
    return done.exit_code, done.output


def test_check_tells_whether_records_are_as_they_were_written(predicted: Path, tmp_path: Path) -> None:
    last = store.load(predicted).chain.last
    assert _checked(str(predicted))[0] == 0
    assert last in _checked(str(predicted))[1]
    assert _checked(str(predicted), "--hash", last)[0] == 0
    assert _checked(str(predicted), "--hash", last[::-1])[0] == 1
    forged = Path(shutil.copytree(predicted, tmp_path / "forged" / predicted.name))
    file = forged / "records.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"lo":10000000000.0', b'"lo":10000000001.0', 1))
    code, shown = _checked(str(forged))
    assert code == 1
    assert "broken at line 1" in shown
    reseal(forged, store.load(predicted))
    assert _checked(str(forged))[0] == 0  # only a hash that somebody kept tells
    assert _checked(str(forged), "--hash", last)[0] == 1


@pytest.mark.parametrize(
    "words",
    [
        ("leo", "--nodes", "24"),
        ("leo", "--network", "latency=1us bandwidth=1GB/s"),
        ("leo", "--network", "leo", "--nodes", "4"),
        ("leo",),
        ("leo", "--nodes", "1"),
        ("RUN", "--nodes", "24"),
        ("RUN", "--network", "leo"),
        ("RUN", "--network", "latency=1xx bandwidth=1GB/s"),
        ("RUN", "--network", "latency=0s bandwidth=1GB/s"),
        ("RUN", "--network", "latency=1us"),
    ],
)
def test_a_wrong_use_of_predict_is_refused_in_words(predicted: Path, words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(assay, ["predict", *(str(predicted) if word == "RUN" else word for word in words)])
    if isinstance(done.exception, UsageError):
        assert "assay " in done.exception.remedy
    else:
        assert done.exit_code == 2


@pytest.mark.parametrize(("peak", "parts"), [(2.5e10, (2e10, 1e10, 2.5e10)), (1.5e10, (1.5e10, 1e10, 1.5e10))])
def test_no_end_is_above_the_limit_of_the_figure(
    predicted: Path, monkeypatch: pytest.MonkeyPatch, peak: float, parts: tuple[float, float, float]
) -> None:
    known = examine(store.load(predicted))
    case = known.run.plan.studied[0]
    law = sys.modules["assay.analyse.predictions"]
    monkeypatch.setattr(law, "limit", lambda *_: Limit(peak, "measured", "a peak", "memory-rate", "cores"))
    monkeypatch.setattr(
        law.topics, "modules", lambda _: {"law": SimpleNamespace(expect=lambda *_: (expected(case.id),))}
    )
    (found,) = expectations(known, [case])
    assert found.parts == parts
