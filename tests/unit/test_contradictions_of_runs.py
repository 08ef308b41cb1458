"""The checker of conclusions, rows, findings, remedies and cards finds what is planted."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests import contradictions_of_runs as checker

from assay import store
from assay.analyse import analyse
from assay.model.conclusion import Judged
from assay.model.flaw import Flaw
from assay.model.profile import Profile
from assay.model.quantity import Quantity
from assay.model.repetition import RepeatedRow, Repetition
from assay.model.result import Analysis, Finding
from assay.model.run import Run
from assay.model.text import Command, cli

ROOT = Path(__file__).parents[2]


@cache
def packed(name: str) -> tuple[Run, Analysis]:
    """A packed run, in which nothing contradicts; `test_contradictions` looks at all of them."""
    run = store.load(ROOT / name)
    return run, analyse(run)


def repeated() -> Repetition:
    found = packed("docs/gallery/like-leo-simulated.tar.xz")[1].repetition
    assert found
    return found


def judged(truth: str) -> Judged:
    return next(
        each
        for each in repeated().conclusions
        if each.truth == truth and each.agreement and each.agreement.apart and each.agreement.scale == "ratio"
    )


@pytest.mark.parametrize(
    ("why", "plant"),
    [
        ("'does not hold' beside", lambda each: replace(each, truth="does not hold")),
        ("because of ''", lambda each: replace(each, truth="cannot be told")),
        ("because of 'launches'", lambda each: replace(each, doubt="launches")),
        ("that is not partly there", lambda each: replace(each, truth="cannot be told", doubt="straddles")),
        ("what was not measured", lambda each: replace(each, truth="cannot be told", doubt="unmeasured")),
        ("beyond its ends", lambda each: replace(each, quantity=Quantity(9.0, 1.0, 2.0, basis="interval"))),
        ("a flaw of no figure", lambda each: replace(each, quantity=None, flaw="disturbed")),
        (
            "the ratio 2 is not",
            lambda each: replace(each, agreement=replace(each.agreement, apart=Quantity(2.0, 2.0, 2.0))),
        ),
    ],
)
def test_a_planted_contradiction_in_a_conclusion_is_found(why: str, plant: Callable[[Judged], Judged]) -> None:
    each = judged("holds")
    assert checker.of_judged(each) == []
    assert any(why in line for line in checker.of_judged(plant(each)))


@pytest.mark.parametrize(
    ("why", "plant"),
    [
        ("'worse' beside", lambda row: replace(row, standing="worse" if row.standing != "worse" else "better")),
        ("a reason why", lambda row: replace(row, reason="it needs 3 nodes")),
        ("'no interval' beside", lambda row: replace(row, standing="few", launches=6)),
        ("about another figure", lambda row: replace(row, own="another")),
    ],
)
def test_a_planted_contradiction_in_a_row_is_found(why: str, plant: Callable[[RepeatedRow], RepeatedRow]) -> None:
    found = repeated()
    row = next(
        each
        for each in found.rows
        if each.own and each.conclusions and each.ours and each.ours.has_interval and each.standing == "better"
    )
    assert checker.of_row(row, found) == []
    assert any(why in line for line in checker.of_row(plant(row), found))


def test_a_row_and_a_conclusion_that_need_different_numbers_of_nodes_are_found() -> None:
    analysis = packed("docs/gallery/like-epyc-7601.tar.xz")[1]
    found = analysis.repetition
    assert found
    row = next(each for each in found.rows if each.params.get("dataset") == "conus 12 km" and each.unit == "nodes")
    assert row.reason == "it needs 8 nodes"
    rows = tuple(replace(each, reason="it needs 16 nodes") if each is row else each for each in found.rows)
    lines = checker.of_repetition(replace(found, rows=rows), analysis)
    assert any("it needs 16 nodes" in line and "it needs 8 nodes" in line for line in lines)


def test_a_conclusion_without_the_flaw_of_its_run_is_found() -> None:
    analysis = packed("docs/gallery/like-leo-simulated.tar.xz")[1]
    lines = checker.of_repetition(repeated(), replace(analysis, flaw="disturbed"))
    assert any("the run is 'disturbed'" in line for line in lines)
    found = replace(
        repeated(), conclusions=tuple(replace(each, flaw="disturbed") for each in repeated().conclusions)
    )
    assert any("the run is ''" in line for line in checker.of_repetition(found, analysis))


@pytest.mark.parametrize("marked", ["", "misplaced"])
def test_what_is_marked_without_a_misplaced_figure_or_not_marked_on_one_is_found(marked: Flaw) -> None:
    analysis = packed("docs/gallery/like-leo-simulated.tar.xz")[1]
    known = {each.id for each in analysis.estimates}
    each = next(one for one in repeated().conclusions if one.of and known.issuperset(one.of))

    def lines(flaw: Flaw, *, is_asked: bool) -> list[str]:
        estimates = tuple(
            replace(one, placement=replace(one.placement, proven=replace(one.placement.proven, as_asked=is_asked)))
            if one.id in each.of and one.placement.proven
            else one
            for one in analysis.estimates
        )
        found = replace(repeated(), conclusions=(replace(each, flaw=flaw),), rows=())
        return [
            line
            for line in checker.of_repetition(found, replace(analysis, estimates=estimates, flaw="misplaced"))
            if line.startswith("what rests on")
        ]

    assert lines(marked, is_asked=not marked) == []
    assert len(lines(marked, is_asked=bool(marked))) == 1


@pytest.mark.parametrize(
    ("why", "plant"),
    [
        ("does not have, 'nothing'", lambda each: replace(each, evidence=("nothing",))),
        (
            "lies within the interval",
            lambda each: replace(each, severity="problem", numbers=numbers(Quantity(2.0, 1.0, 3.0), 1.5)),
        ),
        ("in two units", lambda each: replace(each, numbers=numbers(Quantity(2.0, 2.0, 2.0, "s"), 1.5))),
        (
            "beyond its ends",
            lambda each: replace(each, numbers=numbers(Quantity(9.0, 1.0, 3.0, basis="interval"), 0.5)),
        ),
    ],
)
def test_a_planted_contradiction_in_a_finding_is_found(why: str, plant: Callable[[Finding], Finding]) -> None:
    _, analysis = packed("tests/runs/network.tar.xz")
    each = next(each for each in analysis.findings if each.assessed and each.numbers)
    assert checker.of_finding(each, analysis) == []
    assert any(why in line for line in checker.of_finding(plant(each), analysis))


def numbers(statistic: Quantity, threshold: float) -> dict[str, Quantity]:
    return {"statistic": statistic, "threshold": Quantity(threshold, threshold, threshold)}


@pytest.mark.parametrize(
    ("why", "plant"),
    [
        ("not those of the time of one", lambda each: replace(each, alone=each.alone.over(2.0))),
        ("limits, and there is no share", lambda each: replace(each, limited_by="wire", share=None)),
        ("a limit of what was not measured", lambda each: replace(each, rate=None, limited_by="mpi")),
        ("is of nothing", lambda each: replace(each, small=replace(each.small, of=("nothing",)))),
    ],
)
def test_a_planted_contradiction_in_a_card_is_found(why: str, plant: Callable[[Profile], Profile]) -> None:
    _, analysis = packed("tests/runs/network.tar.xz")
    each = next(each for each in analysis.profiles if each.alone and each.small and each.rate)
    assert checker.of_profile(each, analysis) == []
    assert any(why in line for line in checker.of_profile(plant(each), analysis))


@pytest.mark.parametrize(
    ("why", "asked"),
    [
        ("does not exist", cli("run", "network", "--nowhere", "1")),
        ("'--budget' twice", cli("run", "network", "--budget", "1m", "--budget", "2m")),
        ("varies 'memory' twice", cli("run", "network", "--vary", "memory", "--vary", "memory=bind:0,bind:1")),
        ("is complete", cli("resume", "last")),
    ],
)
def test_a_command_that_cannot_help_is_found(why: str, asked: Command) -> None:
    run, _ = packed("tests/runs/network.tar.xz")
    assert any(why in line for line in checker.of_command(asked, run))
    assert not list(checker.of_command(cli("run", run.info.study, "--launches", "12"), run))


def test_a_command_for_a_level_that_the_run_has_is_found() -> None:
    run, _ = packed("tests/runs/network.tar.xz")
    run = replace(run, plan=replace(run.plan, levels={"nps": "4"}))
    asked = cli("run", run.info.study, "--level", "nps=4")
    assert any("the level that the run has" in line for line in checker.of_command(asked, run))
