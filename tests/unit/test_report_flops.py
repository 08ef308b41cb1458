"""What the section of the floating-point peak says of clocks: refused ones, and a nominal one not known."""

import msgspec
import pytest
from tests.simulation import simulated_run
from tests.unit.limited_runs import slowed

from assay import store
from assay.analyse import analyse
from assay.model.facts import Fact
from assay.model.plan import Measure, Study
from assay.model.run import Run
from assay.report.section import Section
from assay.report.sections import sections
from assay.simulation import Law

STUDY = Study(
    "Peak",
    "What is the peak?",
    (Measure("flops", ("all", "one-core"), axes={"width": "512", "mix": ("fma", "add")}),),
    launches=6,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.load(simulated_run(tmp_path_factory.mktemp("flops"), Law(), study=STUDY))


def _section(run: Run) -> Section:
    return next(each for each in sections(run, analyse(run)) if each.id == "flops")


def _nominal(run: Run, fact: Fact) -> Run:
    machines = {}
    for host, machine in run.machines.items():
        processor = machine.facts.get("processor", {}) | {"nominal frequency": fact}
        machines[host] = msgspec.structs.replace(machine, facts=machine.facts | {"processor": processor})
    return msgspec.structs.replace(run, machines=machines)


def test_a_nominal_clock_that_nobody_knows_is_said_with_the_reason(run: Run) -> None:
    (text,) = _section(_nominal(run, Fact(unavailable="a hypervisor hides it"))).meaning
    assert "The nominal clock is unknown (a hypervisor hides it)" in text
    assert "turbo" in text
    (text,) = _section(_nominal(run, Fact(3e9, "Hz", "test"))).meaning
    assert "nominal clock is unknown" not in text


def test_clocks_that_cannot_be_any_are_counted_and_not_shown(run: Run) -> None:
    interrupted = slowed(
        run, 50, lambda _, case, each: each.kernel == "loaded-clock" and "add" in str(case.header.params)
    )
    section = _section(interrupted)
    assert "2 clocks are impossibly low and not shown" in section.meaning[0]
    (clocks,) = (table for table in section.tables if table.caption.startswith("Clock"))
    assert not any("MHz" in cell for row in clocks.rows for cell in row)
    (clocks,) = (table for table in _section(run).tables if table.caption.startswith("Clock"))
    assert "impossibly low" not in _section(run).meaning[0]
    assert clocks.rows
