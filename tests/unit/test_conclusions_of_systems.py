"""Sentences of a publication about its system and another one: judged by a run of each, both simulated."""

import html
import json
import math
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from assay import store
from assay.analyse import analyse, derived, examine
from assay.analyse.derived import Value
from assay.analyse.estimates import Measured
from assay.analyse.history import BetweenRuns, History
from assay.analyse.repetition import repeated
from assay.analyse.statistics import median_interval
from assay.cli import assay
from assay.compare import page
from assay.compare.meeting import Declared
from assay.compare.repetitions import repetitions
from assay.compare.runs import run_logs
from assay.compare.sides import sides
from assay.model.conclusion import Judged, Region
from assay.model.quantity import exact
from assay.model.run import Run

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
        assert judged.quantity.has_interval
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
    # Runs that are known to vary little leave launches; how they vary is else assumed from the launches, and more.
    for between, command in (({"sci": varying(0.001)}, " --launches 12 "), ({}, "")):
        judged = repeated(found["leo"], "leo", {}, {"sci": found["sci"]}, between).conclusions
        (latency,) = (each for each in judged if each.conclusion.says.startswith(LATENCY))
        assert latency.doubt == "straddles"
        assert latency.command.startswith(f"assay run like:{wider}{command}")
        assert ("--launches" in latency.command) is bool(command)
        assert latency.run == found[wider].run.info.id != found[other].run.info.id


def widened(one: Measured) -> Measured:
    """The figure with an interval from a half of it to twice as much, as its launches."""
    value = one.estimate.value
    if value is None or not value.has_interval:
        return one
    wide = replace(value, lo=value.value / 2, hi=value.value * 2)
    spread = (replace(each, value=each.value * 2.0 ** (at % 3 - 1)) for at, each in enumerate(one.launches))
    return Measured(replace(one.estimate, value=wide), tuple(spread))


BANDWIDTH, LATENCY = "large messages over SCI are about 3", "the latency of MPI over SCI is about 1.5"


def of_systems(
    monkeypatch: pytest.MonkeyPatch, region: Region, launches: int = 6, between: BetweenRuns | None = None
) -> Judged:
    """The sentence about large messages with another region, of so many launches on SCI."""
    load = store.load

    def planted(path: Path) -> Run:
        run = load(path)
        if run.imported is None or run.info.id != "leo":
            return run
        rules = (
            replace(rule, region=region) if rule.says.startswith(BANDWIDTH) else rule
            for rule in run.imported.conclusions
        )
        return replace(run, imported=replace(run.imported, conclusions=tuple(rules)))

    leo, sci = (examine(store.load(path)) for path in (LEO, SCI))
    sci = replace(sci, measured=tuple(replace_launches(each, launches) for each in sci.measured))
    monkeypatch.setattr(store, "load", planted)
    known = {} if between is None else {"sci": between}
    judged = repeated(leo, "leo", {}, {"sci": sci}, known).conclusions
    return next(each for each in judged if each.conclusion.says.startswith(BANDWIDTH))


def replace_launches(one: Measured, count: int) -> Measured:
    """The figure with its first launches only."""
    if count >= len(one.launches) or one.estimate.value is None:
        return one
    kept = one.launches[:count]
    value = median_interval([each.value for each in kept], one.estimate.unit)
    return Measured(replace(one.estimate, value=value, launches=count), kept)


@pytest.mark.parametrize(
    ("least", "most", "truth"),
    [
        (2.7, 3.3, "holds"),
        (2.925, 3.575, "cannot be told"),  # the launches alone, 2.99 to 3.04, lie in it; the interval does not
        (3.1, 3.3, "cannot be told"),  # and beyond all launches, but within what runs vary
        (3.3, 3.6, "does not hold"),
    ],
)
def test_two_systems_are_judged_by_an_interval_with_the_variance_between_runs(
    monkeypatch: pytest.MonkeyPatch, least: float, most: float, truth: str
) -> None:
    judged = of_systems(monkeypatch, Region(least, most))
    assert judged.quantity
    assert judged.quantity.has_interval
    assert judged.quantity.parts == pytest.approx((3.02, 2.85, 3.19), abs=0.01)
    assert judged.truth == truth
    if truth == "cannot be told":  # no number of launches decides what an assumption makes wide
        assert judged.doubt == "straddles"
        assert judged.command == "assay run like:sci"
        assert "3 other runs" in judged.detail


def test_the_ratio_of_two_systems_is_that_of_the_comparison_of_the_two_runs() -> None:
    compared = sides([store.load(SCI), store.load(LEO)], {}, DECLARED)
    (found,) = repetitions(compared)
    latency = next(each for each in found.conclusions if each.conclusion.says.startswith(LATENCY))
    assert latency.quantity
    points = [point for pair in compared.found.pairs if pair.differ == "run" for point in pair.points]
    numbers = [point.comparison.inverse().value for point in points if point.comparison.a in latency.of]
    assert any(each.parts == pytest.approx(latency.quantity.parts) for each in numbers)
    assert latency.quantity.has_interval


def test_earlier_runs_of_either_machine_replace_the_assumption() -> None:
    leo, sci = (store.load(path) for path in (LEO, SCI))
    for machine in (leo, sci):
        earlier = [  # three equal runs: this machine does not vary
            replace(machine, info=replace(machine.info, id=f"earlier-{day}", started=f"2026-11-0{day}T10:00:00Z"))
            for day in range(1, 4)
        ]
        (found,) = repetitions(sides([leo, sci], {}, DECLARED, earlier))
        latency = next(each for each in found.conclusions if each.conclusion.says.startswith(LATENCY))
        assert latency.quantity
        assert latency.quantity.has_interval
        assert 0 < latency.quantity.hi - latency.quantity.lo < 0.05  # 1.43 to 1.59 by the assumption


def test_runs_that_hardly_vary_make_the_interval_narrower_and_the_sentence_is_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    region = Region(2.925, 3.575)
    quiet, noisy = (of_systems(monkeypatch, region, between=varying(spread)) for spread in (0.001, 0.05))
    assert quiet.truth == "holds"
    assert noisy.truth == "cannot be told"
    assert noisy.quantity
    assert quiet.quantity
    assert noisy.quantity.lo < 2.8
    assert quiet.quantity.lo > 2.95
    assert not noisy.command  # neither launches nor other runs decide


def varying(spread: float) -> BetweenRuns:
    """Six earlier runs of both machines, one a day, whose figures vary so much from run to run."""

    def history(of: Path) -> History:
        logs = run_logs(store.load(of))
        runs = [
            logs._replace(
                run=f"earlier-{at}",
                values={
                    name: [each + spread * (-1) ** at for each in values] for name, values in logs.values.items()
                },
            )
            for at in range(6)
        ]
        return History(runs)

    return BetweenRuns(history(LEO), history(SCI), same_day=True)


@pytest.mark.parametrize(
    ("launches", "basis", "doubt", "command"),
    [(4, "interval", "", ""), (3, "range", "launches", "assay run like:sci --launches 6")],
)
def test_too_few_launches_make_a_range_that_decides_nothing(
    monkeypatch: pytest.MonkeyPatch, launches: int, basis: str, doubt: str, command: str
) -> None:
    judged = of_systems(monkeypatch, Region(2.5, 3.5), launches)
    assert judged.quantity
    assert judged.quantity.basis == basis
    assert (judged.truth, judged.doubt) == ("cannot be told" if doubt else "holds", doubt)
    assert judged.command.startswith(command)
    assert bool(judged.command) is bool(command)


def test_a_difference_of_two_systems_varies_as_their_ratio() -> None:
    leo, sci = (
        next(
            each
            for each in examine(store.load(path)).measured
            if each.estimate.benchmark == "pt2pt" and each.estimate.metric == "bandwidth" and each.launches
        )
        for path in (LEO, SCI)
    )
    a, b = (
        Value(each.estimate.value or exact(0), each.launches, (each.estimate.id,), system=name, measured=each)
        for each, name in ((leo, ""), (sci, "sci"))
    )
    b = b._replace(launches=tuple(replace(each, block=-1 - each.block) for each in b.launches))
    found = derived._combined("difference", a, b).quantity
    assert found.has_interval
    assert found.unit == "B/s"
    assert found.value == pytest.approx(a.quantity.value - b.quantity.value, rel=0.01)
    least = 1.96 * 0.02 * math.hypot(a.quantity.value, b.quantity.value)
    assert least < found.value - found.lo < 1.5 * least


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
