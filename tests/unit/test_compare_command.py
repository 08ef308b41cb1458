"""`assay compare`: claims first, the rest counted with its reasons, and what the exit code says."""

import io
import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from rich.console import Console
from tests.simulation import simulated_run
from tests.unit.compare_example import BOOST, STUDY, boosted, effects, pair

from assay import store
from assay.analyse import analyse
from assay.catalogue import benchmarks
from assay.cli import assay
from assay.compare import figure_rows
from assay.compare.runs import between, within
from assay.model.compared import Compared, ComparedPair
from assay.model.comparison import Lack
from assay.model.declaration import keep
from assay.model.errors import PartialRunError, ThresholdError, UsageError
from assay.model.plan import Measure, Study
from assay.model.result import RESULT_SCHEMA
from assay.plan import Options
from assay.report import verdicts
from assay.simulation import Law


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "assay-runs"


def ending(lines: list[str], word: str) -> int:
    """Rows of a table that end with the verdict."""
    return sum(line.startswith("  ") and line.rstrip().endswith(f" {word}") for line in lines)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(assay, ["compare", *arguments])


def test_the_command_prints_two_runs_with_what_is_not_the_same(home: Path) -> None:
    run, base = pair(home, 0.3)
    result = invoke(base.info.id, run.info.id)
    assert result.exit_code == 0, result.output
    assert f"{run.info.id} against {base.info.id} (base)" in result.output
    assert ending(result.output.splitlines(), "faster") == 4
    assert "Two runs are two times" in result.output
    assert "Other figures" not in result.output  # each has its row above
    document = json.loads(invoke(base.info.id, run.info.id, "--json").stdout)
    assert (document["schema"], document["base"]) == (RESULT_SCHEMA, base.info.id)
    assert document["pairs"][0]["comparison"]["verdict"] == "faster"


def test_runs_in_different_states_show_their_curves_and_why_no_figure_is_compared(home: Path) -> None:
    sizes = tuple(2**power for power in range(12, 24))
    study = Study("Curve", "A question?", (Measure("latency", ("one-core",), axes={"bytes": sizes}),), launches=3)
    near = simulated_run(home, study=study, seed=1)
    far = simulated_run(home, Law(handover={"far": 125e-9, "near": 28e-9}), study=study, seed=2)
    result = invoke(near.name, far.name)
    assert result.exit_code == 0, result.exception
    assert "different states" in result.output
    document = json.loads(invoke(near.name, far.name, "--json").stdout)
    assert (document["pairs"], len(document["uncompared"])) == ([], len(sizes))
    assert all("far against near" in why for why in document["uncompared"].values())
    assert isinstance(invoke(near.name, far.name, "--fail-below", "5%").exception, UsageError)


def test_a_regression_beyond_the_threshold_is_exit_3_and_a_smaller_one_is_not(home: Path) -> None:
    run, base = pair(home, -0.3)
    assert invoke(base.info.id, run.info.id, "--fail-below", "50%").exit_code == 0
    error = invoke(base.info.id, run.info.id, "--fail-below", "5%").exception
    assert isinstance(error, ThresholdError)
    assert error.exit_code == 3
    assert invoke(run.info.id, base.info.id, "--fail-below", "5%").exit_code == 0


def test_a_smaller_regression_is_found_once_earlier_runs_show_how_runs_vary(home: Path) -> None:
    for seed in range(11, 16):
        simulated_run(home, study=STUDY, options=Options(launches=6), seed=seed)
    run, base = pair(home, -0.08)
    error = invoke(base.info.id, run.info.id, "--fail-below", "5%").exception
    assert isinstance(error, ThresholdError)
    pairs = json.loads(invoke(base.info.id, run.info.id, "--json").stdout)["pairs"]
    assert {(each["comparison"]["verdict"], each["comparison"]["history"]) for each in pairs} == {("slower", 5)}


def test_a_figure_that_a_cut_run_lacks_has_not_passed_a_threshold(home: Path) -> None:
    wide = Study("t", "q?", (Measure("stream", ("one-core", "all")),), launches=6)
    base = store.load(simulated_run(home, study=wide, seed=1))
    run = store.load(simulated_run(home, study=STUDY, options=Options(launches=6, budget_s=3), seed=2))
    assert run.ending is not None
    assert run.ending.status == "cut"
    alone = invoke(base.info.id, run.info.id)
    assert alone.exit_code == 0
    assert f"run {run.info.id} is cut" in alone.stderr
    error = invoke(base.info.id, run.info.id, "--fail-below", "20%").exception
    assert isinstance(error, PartialRunError)
    assert error.exit_code == 5
    assert "4 of 8 are not decided" in error.what
    assert error.remedy == f"assay run --resume {run.info.id}"
    reverse = invoke(run.info.id, base.info.id, "--fail-below", "20%").exception
    assert isinstance(reverse, PartialRunError)  # it has too few launches for an interval


def test_a_regression_of_a_cut_run_is_a_regression_all_the_same(home: Path) -> None:
    wide = Study("t", "q?", (Measure("stream", ("one-core", "all")),), launches=6)
    base = store.load(simulated_run(home, study=wide, seed=1))
    slow = Law(core_traffic=12e9 * 0.8)
    run = store.load(simulated_run(home, slow, study=STUDY, options=Options(launches=12, budget_s=8), seed=2))
    assert isinstance(invoke(base.info.id, run.info.id, "--fail-below", "5%").exception, ThresholdError)


def test_one_run_shows_its_levels_and_what_a_against_a_showed(home: Path) -> None:
    boosted(home, 0.05, 1)
    result = invoke("last")
    assert "boost on against off (base), 4 figures: 4 faster" in result.output
    assert "A against A: two measurements of the same case differ by less than" in result.output
    assert "Smallest detectable difference" in result.output
    assert ending(result.output.splitlines(), "faster") == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("last", "--across", "machine"), "for two runs"),
        (("last", "last", "--allow", "moon"), "'moon'"),
        (("last",), "no factor is varied"),
        (("nonesuch", "last"), "nonesuch"),
    ],
)
def test_what_cannot_be_compared_is_told(home: Path, arguments: tuple[str, ...], words: str) -> None:
    simulated_run(home, study=STUDY, options=Options(launches=1))
    error = invoke(*arguments).exception
    assert isinstance(error, UsageError)
    assert words in error.what


def rendered(compared: Compared, width: int, *, everything: bool = False) -> list[str]:
    console = Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False)
    figure_rows.render(compared, console, everything=everything)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def many(compared: Compared, verdict: str, copies: int) -> tuple[ComparedPair, ...]:
    """The first pair of a comparison many times over, at sizes that make a curve, with a verdict."""
    first = next(pair for pair in compared.pairs if pair.comparison.differ != "control")
    declaration = keep(benchmarks.get("memcpy").declaration)
    swept = {"benchmark": "memcpy", "declaration": declaration, "kernel": "memcpy"}
    return tuple(
        msgspec.structs.replace(
            first,
            a=msgspec.structs.replace(first.a, params={"bytes": 2**at, "buffers": "hot"}, **swept),
            b=msgspec.structs.replace(first.b, params={"bytes": 2**at, "buffers": "hot"}, **swept),
            comparison=msgspec.structs.replace(first.comparison, id=f"{verdict} {at}", verdict=verdict),
        )
        for at in range(copies)
    )


def test_many_rows_are_claims_first_and_the_others_counted_unless_all_are_asked_for(tmp_path: Path) -> None:
    run = boosted(tmp_path, 0.05, 1)
    compared = within(run, analyse(run))
    known = compared.pairs + many(compared, "equivalent", 30) + many(compared, "slower", 3)
    compared = msgspec.structs.replace(compared, pairs=known)
    lines = rendered(compared, 100)
    assert "boost on against off (base), 37 figures: 3 slower, 4 faster and 30 equivalent" in lines
    assert (ending(lines, "slower"), ending(lines, "faster"), ending(lines, "equivalent")) == (1, 4, 0)
    rows = [line for line in lines if line.startswith("  ") and line.rstrip().endswith(("slower", "faster"))]
    assert "3 points" in rows[0]
    assert lines[-1] == f"All 37 rows: assay compare {run.info.id} --all"
    lines = rendered(compared, 100, everything=True)
    assert (ending(lines, "slower"), ending(lines, "faster"), ending(lines, "equivalent")) == (3, 4, 30)


def test_every_inconclusive_figure_has_a_reason(tmp_path: Path) -> None:
    for launches, more in ((1, 5), (3, 3)):
        found = effects(boosted(tmp_path, 0.05, 1, launches=launches))
        (reason,) = verdicts.silent(found)
        assert len(verdicts.silent(found)[reason]) == 4
        assert f"{more} more blocks can decide" in reason
        assert reason in verdicts.unsure(found)
    assert verdicts.silent(effects(boosted(tmp_path, 0.05, 1, launches=6))) == {}


def test_noise_is_a_reason_and_disturbed_launches_are_named(tmp_path: Path) -> None:
    law = Law(commands={"boost off": 1.0, "boost on": 1.0}, launch_noise=0.03)
    run = store.load(simulated_run(tmp_path, law, study=STUDY, options=Options(factors=(BOOST,), launches=9)))
    (noise,) = verdicts.silent(effects(run))
    assert "chance among 4 comparisons, the interval reaches into the margin" in noise
    spoilt = [msgspec.structs.replace(each, lack=Lack(("margin",), disturbed=2)) for each in effects(run)]
    (disturbed,) = verdicts.silent(spoilt)
    assert "no quiet repeat" in disturbed


def test_as_many_pairs_as_are_named_can_make_a_claim_and_one_less_cannot(tmp_path: Path) -> None:
    for launches, verdict in ((5, "inconclusive"), (6, "faster")):
        assert {each.verdict for each in effects(boosted(tmp_path, 0.05, 1, launches=launches))} == {verdict}


def test_one_pair_says_so_and_every_row_has_its_number(tmp_path: Path) -> None:
    run = boosted(tmp_path, 0.05, 1, launches=1)
    lines = rendered(within(run, analyse(run)), 80)
    rows = [line.split() for line in lines if line.rstrip().endswith("inconclusive") and "one pair" in line]
    assert [row[-2] for row in rows] == ["1"] * 4
    assert not [line for line in lines if "[" in line and "%" in line and "interval (" not in line]


def test_tables_fit_80_columns_and_keep_every_verdict_whole(tmp_path: Path) -> None:
    run = boosted(tmp_path, 0.0, 1)
    for compared in (within(run, analyse(run)), between(*pair(tmp_path))):
        lines = rendered(compared, 80)
        assert [line for line in lines if len(line) > 80] == []
        verdicts = [each.comparison.verdict for each in compared.pairs if each.comparison.differ != "control"]
        for word in set(verdicts) - {"trivially different"}:
            assert ending(lines, word) == verdicts.count(word)
