"""Two runs that declare a benchmark differently: each is read by its own; figures of two units never meet."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse, examine
from assay.compare import meeting
from assay.compare.runs import against
from assay.model.measurand import Part
from assay.model.run import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.load(simulated_run(tmp_path_factory.mktemp("runs")))


def declaring(run: Run, unit: str) -> Run:
    """The run as a version of Assay would have stored it that counts STREAM's bytes in another unit."""
    changed = tuple(
        msgspec.structs.replace(
            declared,
            metrics=tuple(msgspec.structs.replace(metric, unit=unit) for metric in declared.metrics),
        )
        if declared.name == "stream"
        else declared
        for declared in run.plan.declarations
    )
    plan = msgspec.structs.replace(run.plan, declarations=changed)
    return msgspec.structs.replace(run, info=msgspec.structs.replace(run.info, id="other"), plan=plan)


def test_a_plan_stores_the_declarations_of_what_it_measures(run: Run) -> None:
    stored = msgspec.json.decode((Path(run.path) / "plan.json").read_bytes())["declarations"]
    assert {declared["name"] for declared in stored} == {case.benchmark for case in run.plan.cases}


def test_each_run_is_read_by_its_own_declarations(run: Run) -> None:
    units = [
        {estimate.unit for estimate in analyse(one).estimates if estimate.benchmark == "stream"}
        for one in (run, declaring(run, "octet/s"))
    ]
    assert units == [{"B/s"}, {"octet/s"}]


def test_figures_of_two_units_are_not_compared_and_the_reason_is_given(run: Run) -> None:
    (compared,) = against([declaring(run, "octet/s")], run)
    assert "stream" not in {pair.a.benchmark for pair in compared.pairs}
    reasons = {reason for name, reason in compared.uncompared.items() if name.startswith("stream/")}
    assert "another quantity: unit octet/s against B/s" in reasons


def test_equal_declarations_are_compared_however_often_they_were_loaded(run: Run) -> None:
    (compared,) = against([declaring(run, "B/s")], run)
    assert "stream" in {pair.a.benchmark for pair in compared.pairs}


def test_another_file_system_or_device_is_named_as_a_difference(run: Run) -> None:
    (compared,) = against([declaring(run, "B/s")], run)
    parts = (Part("folder", "tmpfs", "ext4"), Part("card", "near", "far"))
    pair = msgspec.structs.replace(compared.pairs[0], parts=parts)
    both = meeting.meet(examine(run), examine(run), meeting.NOTHING)
    found = list(meeting._differences([pair], both))
    assert [(each.name, each.a, each.b) for each in found] == [("folder", "tmpfs", "ext4")]
