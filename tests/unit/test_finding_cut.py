"""What findings advise where a budget cut the run, and how they tell ratios."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.analyse.evidence import digits, paired
from assay.model.comparison import Comparison
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.result import Analysis
from assay.model.run import Run
from assay.model.text import cli
from assay.model.units import typed_duration
from assay.plan import Options
from assay.report import remedies
from assay.run.ledger import remaining_work
from assay.simulation import Law

STUDY = Study("Cut", "What comes next?", (Measure("stream", ("all", "half", "one-core")),))
NOISY = Law(steal=0.06)


def _run(folder: Path, budget_s: float | None = None) -> Run:
    return store.load(simulated_run(folder, NOISY, study=STUDY, options=Options(budget_s=budget_s)))


def _next(analysis: Analysis, name: str) -> str:
    return next(each.next for each in analysis.findings if each.id == name)


def test_a_cut_run_is_repeated_with_time_for_its_launches_and_not_with_twice_as_many(tmp_path: Path) -> None:
    cut = _run(tmp_path / "cut", 0.5)
    assert cut.ending is not None
    assert cut.ending.status == "cut"
    missing = remaining_work(cut)
    assert missing
    assert cut.ending.needed_s == pytest.approx(missing.needed_s)
    needed = f"--budget {typed_duration(missing.needed_s)}"  # what `assay run` itself says of it
    analysis = analyse(cut)
    assert _next(analysis, "machine_noise:steal").endswith(f"`assay run test --launches 6 {needed}`")
    assert _next(analysis, "not_measured:missing") == f"assay run --resume {cut.info.id} {needed}"
    assert remedies.resumed(cut) == f"{cut.info.id} {needed}"
    whole = analyse(_run(tmp_path / "whole"))
    assert _next(whole, "machine_noise:steal").endswith("`assay run test --launches 12`")


def test_a_budget_of_an_older_run_that_should_have_sufficed_is_doubled(
    tmp_path: Path,
) -> None:
    cut = _run(tmp_path, 0.5)
    assert cut.ending
    older = msgspec.structs.replace(cut.ending, needed_s=None)
    plan = msgspec.structs.replace(cut.plan, budget_s=150.0, estimate_s=140.0)
    cut = msgspec.structs.replace(cut, plan=plan, ending=older)
    assert _next(analyse(cut), "not_measured:missing").endswith(" --budget 5m")


def test_a_run_that_no_budget_cut_is_resumed_without_one(tmp_path: Path) -> None:
    run = _run(tmp_path)
    assert run.ending is not None
    broken = msgspec.structs.replace(
        run, launches=run.launches[:1], ending=msgspec.structs.replace(run.ending, status="interrupted")
    )
    assert _next(analyse(broken), "not_measured:missing") == f"assay run --resume {run.info.id}"
    assert remedies.resumed(broken) == run.info.id


def test_a_budget_of_the_remedys_own_replaces_the_one_that_cut_the_run(tmp_path: Path) -> None:
    run = _run(tmp_path)
    command = ("assay", "run", "test", "--budget", "150s", "--toolchain", "gcc")
    run = msgspec.structs.replace(run, info=msgspec.structs.replace(run.info, command=command))
    told = remedies.typed(cli("run", "test", "--launches", "6", "--budget", "5m"), run)
    assert told == "assay run test --toolchain gcc --launches 6 --budget 5m"


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.0812, "0.0812"), (0.6, "0.600"), (1.376, "1.38"), (37.94, "37.9"), (628.1, "628")]
)
def test_ratios_have_three_significant_digits(ratio: float, text: str) -> None:
    assert digits(ratio) == text


def test_both_ends_of_a_small_ratio_can_be_told_apart() -> None:
    comparison = Comparison("", "", "", Quantity(0.0812, 0.0798, 0.0831, basis="range"), 3, "")
    assert paired(comparison) == "x0.0812, paired by block: 0.0798 to 0.0831, range of 3 blocks"
