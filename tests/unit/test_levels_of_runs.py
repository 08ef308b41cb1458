"""Levels of whole runs: what `assay run --level` records, and how runs that alternate are compared."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from tests.simulation import simulated_run
from tests.unit.compare_example import STUDY, in_turn

from assay import store
from assay.analyse import examine_together
from assay.analyse.evidence import Evidence
from assay.cli import assay
from assay.compare import page
from assay.compare.following import following
from assay.compare.gates import gate
from assay.compare.meeting import Declared
from assay.compare.runs import between, borders
from assay.compare.sides import Sides, sides
from assay.model.compared import Compared
from assay.model.errors import PartialRunError, UsageError
from assay.model.facts import Fact
from assay.model.run import Run
from assay.plan import Options, parse_levels
from assay.simulation import Law

SPEEDS: Mapping[str, float] = {"1": 1.0, "4": 1.5}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Sequence[Run]]:
    """Six runs of each level; with 4 memory nodes cores get half as much again."""
    folder = tmp_path_factory.mktemp("runs")
    return {
        level: [
            store.load(
                simulated_run(
                    folder,
                    Law(core_traffic=12e9 * speed),
                    study=STUDY,
                    options=Options(levels={"nps": level}),
                    seed=seed,
                )
            )
            for seed in range(20 * len(level), 20 * len(level) + 6)
        ]
        for level, speed in SPEEDS.items()
    }


def in_time(measured: Mapping[str, Sequence[Run]], order: str) -> list[Run]:
    """Runs of these levels, begun one after the other."""
    left = {level: iter(of) for level, of in measured.items()}
    return [at_second(next(left[level]), second) for second, level in enumerate(order)]


def at_second(run: Run, second: int) -> Run:
    info = msgspec.structs.replace(run.info, started=f"2026-11-28T10:00:{second:02}+00:00")
    return msgspec.structs.replace(run, info=info)


def evidence(runs: Sequence[Run]) -> Mapping[str, Evidence]:
    return dict(zip((run.info.id for run in runs), examine_together(runs, borders(runs)), strict=True))


def levels(runs: Sequence[Run]) -> Sides:
    return sides(runs, {}, Declared(factor="nps"))


def compared(runs: Sequence[Run]) -> tuple[Sides, Compared]:
    """The levels, and the comparison of the second one with that of the first run."""
    found = levels(runs)
    (shown,) = found.compared
    return found, shown


def next_levels(found: Sides) -> list[str]:
    """The levels of the next block, in order."""
    (step,) = following(found)
    return [each.rpartition("=")[2] for each in step.do.split("; then ")]


def test_a_level_is_part_of_what_a_figure_is_of(measured: Mapping[str, Sequence[Run]]) -> None:
    one, four = (evidence([measured[level][0]]) for level in ("1", "4"))
    (of_one,), (of_four,) = one.values(), four.values()
    keys = [{each.estimate.measurand.key for each in of.measured} for of in (of_one, of_four)]
    assert keys[0].isdisjoint(keys[1])
    assert {each.estimate.measurand.parts["nps"] for each in of_four.measured} == {"4"}


@pytest.mark.parametrize(
    "words",
    [["nps"], ["nps="], ["=4"], ["4=nps"], ["nps=1", "nps=4"], ["memory=x"], ["toolchain=gcc"], ["bytes=8"]],
)
def test_what_is_no_level_of_a_run_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError, match="not a level"):
        parse_levels(words)
    assert parse_levels(["nps=4", "bios=a=b"]) == {"nps": "4", "bios": "a=b"}


def test_runs_of_two_levels_are_not_compared_as_if_they_were_one(measured: Mapping[str, Sequence[Run]]) -> None:
    run, base = measured["4"][0], measured["1"][0]
    with pytest.raises(UsageError, match="nps"):
        between(run, base)


@pytest.mark.parametrize("order", ["1441", "1414", "4114"])
def test_two_and_two_runs_show_a_range_and_say_how_many_blocks_decide(
    measured: Mapping[str, Sequence[Run]], order: str
) -> None:
    found, shown = compared(in_time(measured, order))
    assert [len(side.blocks) for side in found.sides] == [2, 2]
    assert {pair.comparison.verdict for pair in shown.pairs} == {"inconclusive"}
    assert {pair.comparison.lack.more for pair in shown.pairs if pair.comparison.lack} == {4}
    ratio = (1 / 1.5, 1.5)[found.sides[1].label == "nps 4"]
    assert all(pair.comparison.ratio == pytest.approx(ratio, rel=0.03) for pair in shown.pairs)
    assert gate([shown], 0.05).is_untested


@pytest.mark.usefixtures("undrawn")
def test_six_blocks_decide_with_the_differences_that_belong_to_the_level(
    measured: Mapping[str, Sequence[Run]],
) -> None:
    runs = in_time(measured, "144114411441")
    command = Fact("iommu=pt", "", "planted")
    told = [
        msgspec.structs.replace(
            run,
            machines={
                host: msgspec.structs.replace(
                    machine, facts={**machine.facts, "kernel": {"command line": command}}
                )
                for host, machine in run.machines.items()
            },
        )
        if run.plan.levels["nps"] == "4"
        else run
        for run in runs
    ]
    found, shown = compared(told)
    assert "kernel: command line" in page.render(found)
    assert len(shown.blocks) == len(found.sides[1].blocks) == 6
    assert {pair.comparison.verdict for pair in shown.pairs} == {"faster"}
    assert {pair.comparison.adjusted_p for pair in shown.pairs} == {2 / 64}
    assert {each.name for each in shown.differences} == {"nps", "kernel: command line"}


@pytest.mark.parametrize("order", ["1441", "1414", "414114"])
def test_the_next_block_has_the_order_that_fewer_blocks_had(
    measured: Mapping[str, Sequence[Run]], order: str
) -> None:
    base, level = dict.fromkeys(order)
    begun = [order[at] == level for at in range(0, len(order), 2)]
    fewer = level if 2 * sum(begun) <= len(begun) else base
    assert next_levels(levels(in_time(measured, order))) == [fewer, base if fewer == level else level]


@pytest.mark.parametrize(
    ("order", "remedies"), [("1144", 1), ("1", 0), ("111", 0), ("14", 2), ("114", 2), ("11444", 1)]
)
def test_levels_that_do_not_alternate_are_refused_with_the_runs_that_are_missing(
    measured: Mapping[str, Sequence[Run]], order: str, remedies: int
) -> None:
    with pytest.raises(UsageError) as refused:
        levels(in_time(measured, order))
    typed = refused.value.remedy.split("; then ")
    missing = [each.rpartition("=")[2] for each in typed]
    if remedies:
        again = levels(in_time(measured, order + "".join(missing)))
        assert [len(side.blocks) for side in again.sides] == [2, 2]


def test_runs_that_state_no_level_and_runs_of_one_level_that_differ_are_refused(
    measured: Mapping[str, Sequence[Run]],
) -> None:
    runs = in_time(measured, "1441")
    with pytest.raises(UsageError, match="does not state"):
        sides(runs, {}, Declared(factor="bios"))
    builds = {
        name: msgspec.structs.replace(build, sources="f" * 16) for name, build in runs[2].info.builds.items()
    }
    other = msgspec.structs.replace(runs[2], info=msgspec.structs.replace(runs[2].info, builds=builds))
    with pytest.raises(UsageError, match="nobody declared"):
        compared([*runs[:2], other, runs[3]])


def command(*words: str) -> Result:
    return CliRunner().invoke(assay, words)


def test_the_command_compares_levels_and_names_the_next_runs(measured: Mapping[str, Sequence[Run]]) -> None:
    alternating = [measured["1"][0], measured["4"][0]]
    result = command("compare", "--factor", "nps", *(run.path for run in alternating))
    assert isinstance(result.exception, UsageError)
    assert "assay run test --level nps=" in result.exception.remedy
    both = command("compare", "--factor", "nps", "--across", "nps", *(run.path for run in alternating))
    assert isinstance(both.exception, UsageError)
    shown = command("show", measured["4"][0].path)
    assert "nps 4" in shown.output
    listed = command("list", "--runs", str(Path(measured["4"][0].path).parent))
    assert "nps=4" in listed.output


def without_a_run(runs: Sequence[Run], number: int) -> list[Run]:
    """The runs, one of which ended before its first launch."""
    broken = msgspec.structs.replace(runs[number], launches=(), ending=None)
    return [*runs[:number], broken, *runs[number + 1 :]]


@pytest.mark.usefixtures("undrawn")
def test_a_run_without_figures_costs_its_block_and_the_page_says_so(measured: Mapping[str, Sequence[Run]]) -> None:
    found, shown = compared(without_a_run(in_time(measured, "144114411441"), 4))
    assert len(shown.blocks) == 6
    assert {pair.comparison.blocks for pair in shown.pairs} == {5}
    assert {pair.comparison.verdict for pair in shown.pairs} == {"inconclusive"}
    assert shown.uncompared == {}
    empty = found.singly[2]
    assert not any(each.median for each in empty.analysis.estimates)
    written = page.render(found)
    assert "Compare these figures with care." in written
    assert f"run {empty.run.info.id}: There are no figures to use." in written


@pytest.mark.usefixtures("undrawn")
def test_where_no_run_of_the_levels_has_figures_the_page_says_so(measured: Mapping[str, Sequence[Run]]) -> None:
    runs = in_time(measured, "1441")
    for number in range(len(runs)):
        runs = without_a_run(runs, number)
    written = page.render(levels(runs))
    assert "Do not compare these figures." in written
    assert "There are no figures to use." in written
    assert "These figures can be compared." not in written


@pytest.mark.usefixtures("undrawn")
def test_runs_in_no_block_are_left_out_and_named(measured: Mapping[str, Sequence[Run]]) -> None:
    runs = in_time(measured, "14411444")
    found, shown = compared(runs)
    assert len(shown.blocks) == 3
    assert [run.info.id for run in found.left_out] == [run.info.id for run in runs[-2:]]
    lacking = msgspec.structs.replace(shown, uncompared={"planted": "its pages were small"})
    written = page.render(msgspec.structs.replace(found, compared=(lacking,)))
    assert all(run.info.id in written for run in runs)
    assert "its pages were small" in written


@pytest.mark.usefixtures("undrawn")
def test_figures_of_a_level_have_the_interval_of_its_runs(measured: Mapping[str, Sequence[Run]]) -> None:
    found, _ = compared(in_time(measured, "144114411441"))
    for side in found.sides:
        having = [each for each in side.analysis.estimates if each.value]
        assert {each.launches for each in having} == {6}
        assert {each.basis for each in having} == {"interval"}
        ends = {each.id: each.value for each in having}
        assert all(
            each.value == ends[each.id] for run in side.singly for each in run.analysis.estimates if each.value
        )


def test_a_gate_of_levels_that_decides_nothing_names_the_next_block_also_where_nothing_differs(
    tmp_path: Path,
) -> None:
    paths = in_turn(tmp_path, "1441", {"1": 1, "4": 1})
    error = command("compare", "--factor", "nps", "--fail-below", "90%", *map(str, paths)).exception
    assert isinstance(error, PartialRunError)
    assert error.remedy == "assay run test --level nps=4; then assay run test --level nps=1"
    paths[0].joinpath("ending.json").unlink()
    broken = command("compare", "--factor", "nps", "--fail-below", "90%", *map(str, paths)).exception
    assert isinstance(broken, PartialRunError)
    assert "--resume" not in broken.remedy
