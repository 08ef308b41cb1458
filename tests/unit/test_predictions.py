"""Predictions stand before the launches that decide them, and nobody changes them any more."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import begin, carry_on, described, plan_for, simulated_run

from assay import store
from assay.model.errors import UsageError
from assay.model.plan import Measure, Study
from assay.model.record import Launch, Prediction, decode_record, encode_record
from assay.simulation import SimulatedMachine

SMALL = Study(
    "Small", "A question?", (Measure("stream", ("one-core", "all"), axes={"elements": 1000}),), launches=2
)


def expected(case: str, metric: str = "bandwidth", value: float = 2e10) -> Prediction:
    return Prediction(
        value=value, lo=1e10, hi=3e10, unit="B/s", basis="derived", of=case, metric=metric, models=("law",)
    )


def test_a_prediction_stands_before_the_launch_that_decides_it_and_stays(tmp_path: Path) -> None:
    whole = plan_for(study=SMALL)
    first, late = (case.id for case in whole.studied)
    order = tuple(each for each in whole.order if each.block or late not in each.cases)
    plan = msgspec.structs.replace(whole, order=order)
    before = msgspec.structs.replace(plan, order=tuple(each for each in order if not each.block))
    directory = begin(tmp_path, plan)
    carry_on(directory, before, SimulatedMachine(described().topology))
    directory = store.reopen(directory.path)
    directory.predict(expected(late))
    for refused in (expected(late, value=2.5e10), expected(first)):
        with pytest.raises(UsageError):
            directory.predict(refused)
    assert directory.run.predictions == (expected(late),)
    carry_on(directory, plan, SimulatedMachine(described().topology))
    loaded = store.load(directory.path)
    assert (loaded.predictions, loaded.damage) == ((expected(late),), ())
    assert [one.launch.id for one in loaded.launches] == [each.id for each in order]
    records = [decode_record(line) for line in (directory.path / "records.jsonl").read_bytes().splitlines()]
    at = next(n for n, each in enumerate(records) if isinstance(each, Prediction))
    assert msgspec.structs.replace(records[at], chain="") == expected(late)
    deciding = next(n for n, each in enumerate(records) if isinstance(each, Launch) and late in each.cases)
    assert [each.block for each in records[:at] if isinstance(each, Launch)] == [0] * len(before.order)
    assert at < deciding
    with store.reopen(directory.path) as again:
        assert again.run.predictions == (expected(late),)


def test_a_prediction_that_follows_its_launch_in_the_file_counts_as_not_made(tmp_path: Path) -> None:
    run = simulated_run(tmp_path, study=SMALL)
    made = store.load(run)
    with (run / "records.jsonl").open("ab") as file:
        file.write(encode_record(expected(made.plan.studied[0].id)) + b"\n")
    loaded = store.load(run)
    assert loaded.predictions == ()
    assert loaded.launches == made.launches
    assert "committed already" in loaded.damage[0]
    assert [each.why for each in loaded.refused] == ["after its figure"]


@pytest.mark.parametrize("value", [9e9, float("nan"), float("inf")])
def test_a_prediction_lies_between_its_ends(value: float) -> None:
    with pytest.raises(ValueError, match="does not hold"):
        expected("a", value=value)
