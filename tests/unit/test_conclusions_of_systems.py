"""Sentences of a publication about its system and another one: judged by a run of each, both simulated."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay import store
from assay.analyse import analyse
from assay.cli import assay
from assay.compare import page
from assay.compare.meeting import Declared
from assay.compare.repetitions import repetitions
from assay.compare.sides import sides

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
LEO, SCI = GALLERY / "like-leo-simulated.tar.xz", GALLERY / "like-sci.tar.xz"
DECLARED = Declared(allowed=("topology",), across="machine")
#: Beginning of a sentence -> the number that the authors print.
PRINTED = {"large messages are about 3": 3.0, "latency is about 1.5": 1.5, "the whole cluster is about 9.5": 9.5}


@pytest.mark.usefixtures("undrawn")
def test_two_runs_in_any_order_judge_what_is_said_of_two_systems() -> None:
    compared = sides([store.load(path) for path in (SCI, LEO)], {}, DECLARED)
    (found,) = repetitions(compared)
    assert "4 conclusions of leo" in page.render(compared)
    assert found.reference == "leo"
    for begin, number in PRINTED.items():
        (judged,) = (each for each in found.conclusions if each.conclusion.says.startswith(begin))
        assert judged.quantity
        assert judged.quantity.value == pytest.approx(number, rel=0.15)
        if judged.doubt == "launches":  # the largest order was solved once
            assert (number, judged.truth) == (9.5, "cannot be told")
            continue
        assert judged.truth in {"holds", "does not hold"}
        assert judged.quantity.has_interval or judged.quantity.basis == "derived"
        assert len(set(judged.of)) == 2
    for judged in found.conclusions:
        assert "sci" in {each.reference for each in judged.conclusion.quantity.operands}
    once, lacking = (each for each in found.conclusions if each.truth == "cannot be told")
    assert {once.doubt, lacking.doubt} == {"launches", "unmeasured"}
    lacking = lacking if lacking.doubt == "unmeasured" else once
    assert not lacking.command
    assert lacking.detail.startswith("sci: ")


def test_a_single_run_names_the_other_system_and_the_comparison_that_judges() -> None:
    run = store.load(LEO)
    repeated = analyse(run).repetition
    assert repeated
    doubted = [each for each in repeated.conclusions if each.doubt == "machine"]
    assert len(doubted) == 4
    for each in doubted:
        assert "assay run like:sci" in each.detail
        assert each.command == f"assay compare {run.info.id} RUN_THERE --across machine --allow topology"


@pytest.mark.parametrize("form", ["terminal", "json"])
def test_the_command_shows_the_verdicts(form: str) -> None:
    options = ["--json"] if form == "json" else []
    command = ["compare", str(LEO), str(SCI), "--across", "machine", "--allow", "topology", *options]
    answer = CliRunner().invoke(assay, command, env={"COLUMNS": "200"})
    assert answer.exit_code == 0, answer.output
    if form == "terminal":
        assert "4 conclusions of leo:" in answer.output
        assert "2 cannot be told" in answer.output
        return
    (found,) = json.loads(answer.stdout)["repetitions"]
    assert sum(each["truth"] == "cannot be told" for each in found["conclusions"]) == 2
