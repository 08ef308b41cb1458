"""The gate of comparisons: what fails, is open or passes; and fleets in which a node lost half its memory rate."""

from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from click.testing import CliRunner
from tests.simulation import simulated_run
from tests.unit.compare_example import pair

from assay.cli import assay
from assay.compare.gates import Decision, Gate, further_launches, gate
from assay.compare.runs import between
from assay.model.compared import Compared
from assay.model.comparison import Lack
from assay.model.errors import PartialRunError, ThresholdError, UsageError
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.plan import Options
from assay.simulation import Law, SlowPart


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return between(*pair(tmp_path_factory.mktemp("runs")))


def with_one(compared: Compared, value: Quantity, verdict: str, better: str = "higher") -> Compared:
    """A comparison of one figure, of which this is the ratio of speeds."""
    first = compared.pairs[0]
    shown = value if better == "higher" else value.inverse("")
    comparison = msgspec.structs.replace(first.comparison, value=shown, verdict=verdict, lack=None)
    comparison = msgspec.structs.replace(comparison, between_runs=None)
    estimate = msgspec.structs.replace(first.a, better=better)
    pairs = (msgspec.structs.replace(first, a=estimate, comparison=comparison),)
    return msgspec.structs.replace(compared, pairs=pairs, uncompared={})


def interval(value: float, lo: float, hi: float) -> Quantity:
    return Quantity(value, lo, hi, basis="interval")


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize(
    ("value", "verdict", "decision"),
    [
        (interval(0.5, 0.49, 0.51), "slower", "failed"),
        (interval(0.5, 0.49, 0.51), "inconclusive", "open"),  # withdrawn among many comparisons
        (interval(0.93, 0.92, 0.96), "slower", "open"),
        (interval(0.97, 0.96, 0.98), "slower", "passed"),
        (interval(1.0, 0.94, 1.06), "inconclusive", "open"),
        (interval(1.0, 0.96, 1.04), "inconclusive", "passed"),
        (interval(2.0, 1.9, 2.1), "faster", "passed"),
        (Quantity(0.4, 0.3, 0.5, basis="range"), "inconclusive", "open"),
        (Quantity(0.98, 0.5, 1.5, basis="range"), "inconclusive", "passed"),
        (Quantity(0.4, 0.4, 0.4, basis="imported"), "inconclusive", "open"),
    ],
)
def test_a_figure_fails_for_certain_is_open_where_it_reaches_beyond_the_border_and_else_passes(
    compared: Compared, value: Quantity, verdict: str, decision: Decision, better: str
) -> None:
    (judged,) = gate([with_one(compared, value, verdict, better)], 0.05).figures
    assert judged.decision == decision


def test_a_gate_without_any_interval_decides_nothing(compared: Compared) -> None:
    alike = Quantity(1.0, 0.999, 1.001, basis="range")
    assert gate([with_one(compared, alike, "inconclusive")], 0.05).is_untested
    assert not gate([with_one(compared, interval(1, 0.999, 1.001), "equivalent")], 0.05).is_untested
    assert Gate(0.05, ()).is_untested


def test_a_figure_that_was_not_compared_has_not_passed_unless_only_the_run_has_it(compared: Compared) -> None:
    lacking = msgspec.structs.replace(compared, uncompared={"x": "why", "y": "new"}, new=("y",))
    (missing,) = gate([lacking], 0.05).of("missing")
    assert (missing.name, missing.why) == ("x", "why")


def test_what_decides_is_as_many_launches_as_bring_the_interval_to_the_border(compared: Compared) -> None:
    open_ = with_one(compared, interval(0.97, 0.93, 1.0117), "inconclusive")
    judged = gate([open_], 0.05).of("open")
    made = min(compared.pairs[0].comparison.launches)
    more = further_launches(judged, 0.05)
    assert more == pytest.approx(4 * made - made, abs=1)  # from 4.2 % to 2.1 %: four times the launches
    first = open_.pairs[0]
    between_runs = msgspec.structs.replace(first.comparison, between_runs=0.01)
    varying = msgspec.structs.replace(open_, pairs=(msgspec.structs.replace(first, comparison=between_runs),))
    assert further_launches(gate([varying], 0.05).of("open"), 0.05) is None  # 2.8 % by the runs alone
    near = gate([with_one(compared, interval(0.9501, 0.93, 0.97), "inconclusive")], 0.05).of("open")
    assert further_launches(near, 0.05) is None
    stated = msgspec.structs.replace(first.comparison, lack=Lack(("margin",), more=5))
    told = msgspec.structs.replace(open_, pairs=(msgspec.structs.replace(first, comparison=stated),))
    assert further_launches(gate([told], 0.05).of("open"), 0.05) == 5


def compare(*arguments: str) -> BaseException | None:
    result = CliRunner().invoke(assay, ["compare", *arguments])
    return result.exception


FLEET = Study(
    "Fleet", "Is a node slow?", (Measure("stream", ("one-core", "all")), Measure("memcpy", ("all",))), launches=6
)


@pytest.mark.parametrize("nodes", [3, 4, 8, 16])
def test_a_node_that_lost_half_its_memory_rate_is_exit_3_among_any_number_of_nodes(
    tmp_path: Path, nodes: int
) -> None:
    hosts = tuple(f"n{number:02}" for number in range(nodes))
    options = Options(launches=6, hosts=hosts)
    before = simulated_run(tmp_path, study=FLEET, options=options, seed=1)
    lost = Law(slow_parts=(SlowPart(hosts[-1], 0.5),))
    after = simulated_run(tmp_path, lost, study=FLEET, options=options, seed=2)
    error = compare(str(before), str(after), "--fail-below", "20%")
    assert isinstance(error, ThresholdError), error
    assert hosts[-1] in error.why
    again = simulated_run(tmp_path, study=FLEET, options=options, seed=3)
    assert compare(str(before), str(again), "--fail-below", "20%") is None


def test_effects_without_an_interval_are_exit_5_with_what_decides(tmp_path: Path) -> None:
    run, base = pair(tmp_path, -0.3, launches=3)
    error = compare(base.path, run.path, "--fail-below", "5%")
    assert isinstance(error, PartialRunError)
    assert error.exit_code == 5
    assert "--launches" in error.remedy
    assert isinstance(compare(run.path, base.path, "--fail-below", "5%"), PartialRunError)  # nothing was testable
    published = compare("hpcdiy-gbe", "hpcdiy-qdr", "--fail-below", "5%")
    assert isinstance(published, PartialRunError)


def test_the_decisions_are_written_as_test_cases(tmp_path: Path) -> None:
    run, base = pair(tmp_path, -0.4)
    file = tmp_path / "gate.xml"
    error = compare(base.path, run.path, "--fail-below", "20%", "--junit", str(file))
    assert isinstance(error, ThresholdError)
    cases = list(ET.parse(file).iter("testcase"))  # noqa: S314 (our own)
    failed = [case for case in cases if case.find("failure") is not None]
    assert len(failed) == len(cases) == 4
    assert isinstance(compare(base.path, run.path, "--junit", str(file)), UsageError)
    few, other = pair(tmp_path / "few", -0.3, launches=3)
    compare(other.path, few.path, "--fail-below", "5%", "--junit", str(file))
    assert all(case.find("skipped") is not None for case in ET.parse(file).iter("testcase"))  # noqa: S314
