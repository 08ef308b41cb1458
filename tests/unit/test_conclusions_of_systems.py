"""Sentences of a publication about its system and another one: judged by a run of each, both simulated."""

import html
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from assay import store
from assay.analyse import analyse, examine
from assay.analyse.estimates import Measured
from assay.analyse.repetition import repeated
from assay.cli import assay
from assay.compare import page
from assay.compare.meeting import Declared
from assay.compare.repetitions import repetitions
from assay.compare.sides import sides
from assay.model.conclusion import Judged

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
LEO, SCI = GALLERY / "like-leo-simulated.tar.xz", GALLERY / "like-sci.tar.xz"
DECLARED = Declared(allowed=("topology",), across="machine")
#: What decides a sentence of which SCI has the largest order once, with its nodes and its network.
DECIDING = "assay run like:sci --hosts 'node[01-16]' --network sci=sci0 --set hpl.n=32256 --launches 6"
#: Beginning of a sentence -> the number that the authors print.
PRINTED = {
    "large messages over SCI are about 3": 3.0,
    "the latency of MPI over SCI is about 1.5": 1.5,
    "on LINPACK the whole cluster is about 9.5": 9.5,
}


@pytest.mark.usefixtures("undrawn")
def test_two_runs_in_any_order_judge_what_is_said_of_two_systems() -> None:
    sci, leo = (store.load(path) for path in (SCI, LEO))
    compared = sides([sci, leo], {}, DECLARED)
    (found,) = repetitions(compared)
    shown = page.render(compared)
    assert "4 conclusions of leo" in shown
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
    once, lacking = (once, lacking) if once.doubt == "launches" else (lacking, once)
    assert once.command == "assay run like:sci --set hpl.n=32256 --launches 6"  # LEO was measured six times
    assert not lacking.command
    for each in (once, lacking):
        assert each.detail.startswith("sci: ")
        assert each.run == sci.info.id
    of_leo = [each for each in found.conclusions if each.truth != "cannot be told"]
    assert {each.run for each in of_leo} == {leo.info.id}
    assert plain(shown).count(DECIDING) == 2  # at a glance, and in the table


def plain(shown: str) -> str:
    """The text of a page."""
    return html.unescape(re.sub("<[^>]*>", "", shown))


@pytest.mark.usefixtures("undrawn")
def test_commands_beside_a_publication_have_the_nodes_and_networks_of_the_run() -> None:
    answer = CliRunner().invoke(assay, ["compare", "leo", str(LEO)], env={"COLUMNS": "400"})
    beside = page.render(sides([store.load(store.find("leo")), store.load(LEO)], {}, DECLARED))
    gallery = (GALLERY / "like-leo-simulated.md").read_text("utf-8")
    for shown in (answer.output, plain(beside), gallery):
        for options in ("--launches 12 --budget 48h", "--vary toolchain=intel,gcc", "--set hpl.n=33024"):
            assert f"assay run like:leo --hosts 'node[01-12]' --network sci=sci0,fe=eth0 {options}" in shown


@pytest.mark.usefixtures("undrawn")
def test_what_is_not_compared_names_a_command_with_the_nodes_of_the_run_and_whose_names_it_has() -> None:
    packed = GALLERY / "like-epyc-7601.tar.xz"
    command = ["compare", "epyc-7601", str(packed), "--all"]
    answer = CliRunner().invoke(assay, command, env={"COLUMNS": "600"})
    beside = page.render(sides([store.load(store.find("epyc-7601")), store.load(packed)], {}, DECLARED))
    asked = "assay run like:epyc-7601 --hosts 'node[01-02]' --network edr=mlx5_0:1 --nic-node 6"
    for shown in (answer.output.partition("Not compared:")[2], plain(beside).partition("Not compared")[2]):
        assert f"{asked} --mpi hpcx --mpi openmpi-ucx (your site gives the names" in shown
        assert "assay run like:epyc-7601 --mpi" not in shown


@pytest.mark.parametrize(("wider", "other"), [("sci", "leo"), ("leo", "sci")])
def test_of_two_systems_the_one_with_the_wider_interval_is_measured_longer(wider: str, other: str) -> None:
    found = {each.run.plan.reference: each for each in (examine(store.load(path)) for path in (SCI, LEO))}
    found[wider] = replace(found[wider], measured=tuple(map(widened, found[wider].measured)))
    judged = repeated(found["leo"], "leo", {}, {"sci": found["sci"]}).conclusions
    (latency,) = (
        each for each in judged if each.conclusion.says.startswith("the latency of MPI over SCI is about 1.5")
    )
    assert latency.doubt == "straddles"
    assert latency.command.startswith(f"assay run like:{wider} --launches 12 ")
    assert latency.run == found[wider].run.info.id != found[other].run.info.id


def widened(one: Measured) -> Measured:
    """The figure with an interval from a half of it to twice as much."""
    value = one.estimate.value
    if value is None or not value.has_interval:
        return one
    wide = replace(value, lo=value.value / 2, hi=value.value * 2)
    return Measured(replace(one.estimate, value=wide), one.launches)


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
    of_leo = analyse(run).repetition
    assert of_leo
    doubted = [each for each in of_leo.conclusions if each.doubt == "machine"]
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
        assert DECIDING in answer.output
        return
    (found,) = json.loads(answer.stdout)["repetitions"]
    assert sum(each["truth"] == "cannot be told" for each in found["conclusions"]) == 2
