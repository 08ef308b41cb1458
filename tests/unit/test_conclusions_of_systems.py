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
from assay.model.conclusion import Judged

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
LEO, SCI = GALLERY / "like-leo-simulated.tar.xz", GALLERY / "like-sci.tar.xz"
DECLARED = Declared(allowed=("topology",), across="machine")
#: Beginning of a sentence -> the number that the authors print.
PRINTED = {
    "large messages over SCI are about 3": 3.0,
    "the latency of MPI over SCI is about 1.5": 1.5,
    "on LINPACK the whole cluster is about 9.5": 9.5,
}


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


def test_beside_their_publication_each_sentence_is_judged_once() -> None:
    reference = store.load(store.find("leo"))
    found = repetitions(sides([reference, *(store.load(path) for path in (LEO, SCI))], {}, DECLARED))
    of_leo = [each for each in found if each.reference == "leo"]
    assert len(of_leo) == 3  # of each run, and of both together
    sentences = [each for of in of_leo for each in of.conclusions if "sci" in systems(each)]
    assert len(sentences) == len({each.conclusion.says for each in sentences}) == 4
    assert {each.doubt for each in sentences} <= {"", "launches", "unmeasured"}
    for each in of_leo:
        positions = {at for row in each.rows for at in row.conclusions}
        assert positions <= set(range(len(each.conclusions)))
    own = of_leo[0]
    alone = analyse(store.load(LEO)).repetition
    assert alone
    for row, before in zip(own.rows, alone.rows, strict=True):
        kept = [alone.conclusions[at].conclusion.says for at in before.conclusions]
        named = [each.conclusion.says for each in alone.conclusions if "sci" in systems(each)]
        assert [own.conclusions[at].conclusion.says for at in row.conclusions] == [
            says for says in kept if says not in named
        ]


def systems(judged: Judged) -> set[str]:
    return {each.reference for each in judged.conclusion.quantity.operands}


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
