"""How a figure stands beside a published one: a ratio only where the quantity has one, and in one unit."""

from pathlib import Path

import pytest
from rich.console import Console
from tests.simulation import SANDY_BRIDGE, simulated_run
from tests.unit.test_conclusions import AS_PUBLISHED, of_reference, two_networks

from assay import plan as planning
from assay import references, store
from assay.analyse import analyse
from assay.analyse.agreements import Published, agreement, standing
from assay.compare import terminal
from assay.compare.sides import sides
from assay.model.agreement import Scale, scale
from assay.model.derivation import Derivation, Operand, Printed
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity, exact
from assay.model.repetition import RepeatedRow, Repetition
from assay.report import printed, repetition
from assay.simulation import Law
from assay.topics.comparisons.sections import varied


def interval(value: float, lo: float, hi: float) -> Quantity:
    return Quantity(value, lo, hi, basis="interval")


def published(value: float, kind: Scale, form: Printed = "ratio") -> Published:
    return Published(exact(value), kind, form)


def between(low: float, high: float, kind: Scale) -> Published:
    return Published(Quantity((low + high) / 2, low, high, basis="imported"), kind)


@pytest.mark.parametrize(
    ("derivation", "unit", "kind"),
    [
        (None, "MB/s", "ratio"),
        (Derivation("ratio", Operand(), Operand()), "", "ratio"),
        (Derivation("ratio", Operand(), Operand()), "%", "points"),
        (Derivation("ratio", Operand(), Operand(), printed="gain"), "%", "points"),
        (Derivation("difference", Operand(), Operand()), "Mbps", "difference"),
        (Derivation("best at", Operand(), along="bytes"), "KiB", "place"),
    ],
)
def test_the_quantity_decides_how_it_is_compared(derivation: Derivation | None, unit: str, kind: Scale) -> None:
    assert scale(derivation, unit) == kind


@pytest.mark.parametrize(
    ("of", "ours", "unit", "shown"),
    [
        (published(118e6, "ratio"), 56.3e6, "MB/s", "x0.477"),
        (published(0.7, "points", "loss"), 0.63, "%", "+7.0 points"),
        (published(1.0, "points", "gain"), 0.996, "%", "-0.4 points"),
        (published(1.006, "points"), 0.77, "%", "-23.6 points"),
        (published(150e6 / 8, "difference"), -6.9e6 / 8, "Mbps", "-157 Mbps"),
        (published(0.6e-6, "difference"), 0.592e-6, "us", "-0.00800 µs"),
        (between(750e6 / 8, 800e6 / 8, "ratio"), 780e6 / 8, "Mbps", "inside"),
        (between(750e6 / 8, 800e6 / 8, "ratio"), 962e6 / 8, "Mbps", "above, x1.20"),
        (between(750e6 / 8, 800e6 / 8, "ratio"), 375e6 / 8, "Mbps", "below, x0.500"),
        (between(8192, 65536, "place"), 2**22, "KiB", "above"),
        (between(8192, 65536, "place"), 16384, "KiB", "inside"),
        (published(16, "place"), 8, "nodes", "below"),
    ],
)
def test_only_a_quantity_that_has_a_ratio_is_compared_by_one(
    of: Published, ours: float, unit: str, shown: str
) -> None:
    assert printed.compared(agreement(of, exact(ours)), unit).replace("\N{MULTIPLICATION SIGN}", "x") == shown


def test_an_interval_over_the_end_of_a_range_is_partly_inside() -> None:
    found = agreement(between(8192, 65536, "place"), interval(2**22, 4096, 2**24))
    assert (found.side, found.apart) == ("partly", None)


@pytest.mark.parametrize(
    ("of", "ours", "found"),
    [
        (published(100, "ratio"), interval(104, 103, 105), "as published"),
        (published(100, "ratio"), interval(104, 103, 105.1), "open"),
        (published(100, "ratio"), interval(110, 106, 114), "better"),
        (published(100, "ratio"), interval(90, 85, 94), "worse"),
        # 0 %: two percentage points; 94 %: a twentieth of it.
        (published(1.0, "points", "gain"), interval(1.01, 0.981, 1.019), "as published"),
        (published(1.0, "points", "gain"), interval(1.03, 1.021, 1.04), "better"),
        (published(1.94, "points", "gain"), interval(1.95, 1.9, 1.98), "as published"),
        (published(1.73, "points", "gain"), interval(1.95, 1.9, 1.98), "better"),
        # 37 % are lost instead of 30 %: less is left.
        (published(0.7, "points", "loss"), interval(0.63, 0.62, 0.64), "worse"),
        (between(8192, 65536, "place"), interval(16384, 8192, 65536), "as published"),
        (between(8192, 65536, "place"), interval(131072, 131072, 131072), "elsewhere"),
        (between(750, 800, "ratio"), interval(780, 720, 830), "as published"),
    ],
)
def test_a_standing_is_that_of_the_whole_interval(of: Published, ours: Quantity, found: str) -> None:
    assert standing(of, ours, "higher", is_sure=True) == found
    assert standing(of, ours, "higher", is_sure=False) == "few"


@pytest.mark.parametrize(
    ("figure", "unit", "shown"),
    [
        (exact(14.7 * 2**30), "MB", "15053 MB"),
        (interval(2**22, 4096, 2**24), "KiB", "4096 KiB [4, 16384]"),
        (exact(8192), "KiB", "8 KiB"),
        (exact(8), "nodes", "8 nodes"),
        (interval(218e9 / 8, 211e9 / 8, 232e9 / 8), "Mbps", "218000 Mbps [211000, 232000]"),
        (exact(25.32e-6), "us", "25.3 µs"),
    ],
)
def test_a_figure_has_the_unit_of_the_source(figure: Quantity, unit: str, shown: str) -> None:
    assert printed.in_unit(figure, unit) == shown


@pytest.mark.parametrize(
    ("is_ratio", "unit", "form", "shown", "typed"),
    [
        (True, "", "ratio", "x28.7 [28.1, 29.0]", "x28"),
        (False, "", "ratio", "28.7 [28.1, 29.0]", "28"),
        (True, "%", "gain", "2770 % [2710, 2800]", "28"),
    ],
)
def test_a_ratio_without_a_unit_has_the_sign_of_one(
    unit: str, form: Printed, shown: str, typed: str, *, is_ratio: bool
) -> None:
    ours = printed.in_unit(interval(28.7, 28.1, 29.0), unit, form, is_ratio=is_ratio)
    assert ours.replace("\N{MULTIPLICATION SIGN}", "x") == shown
    theirs = printed.number("28", unit, is_ratio=is_ratio)
    assert theirs.replace("\N{MULTIPLICATION SIGN}", "x") == typed


@pytest.mark.parametrize(
    ("is_least", "nodes", "side", "found"),
    [
        (True, 16, "inside", "as published"),
        (True, 8, "inside", "as published"),
        (True, 4, "below", "elsewhere"),
        (False, 16, "above", "elsewhere"),
        (False, 8, "inside", "as published"),
    ],
)
def test_a_low_end_alone_has_no_upper_one(nodes: float, side: str, found: str, *, is_least: bool) -> None:
    of = Published(exact(8), "place", is_least=is_least)
    assert agreement(of, exact(nodes)).side == side
    assert standing(of, exact(nodes), "higher", is_sure=True) == found


def test_what_a_second_processor_gives_is_told_apart_by_its_authors_and_by_the_rule() -> None:
    """94 and 73 % on one cluster, 100 and 87 % on the other one: no region has the number of another sentence."""
    rules = {
        each.stated: each
        for name in ("leo", "sci")
        for each in references.get(name).conclusions
        if each.says.startswith("a second processor") and each.stated
    }
    assert rules.keys() == {"94 %", "73 %", "100 %", "87 %"}
    for stated, rule in rules.items():
        inside = {
            other
            for other in (94, 73, 100, 87)
            if rule.region.holds(exact(1 + other / 100)) and abs(other - float(stated[:-2])) > 6
        }
        assert not inside, stated


def test_words_without_a_number_show_none() -> None:
    words = [each for each in of_reference("epyc-7601").conclusions if each.conclusion.assumes == "same"]
    assert words
    for each in words:
        assert not each.conclusion.stated
        assert bool(repetition.theirs(each)) != each.is_stated


def row(ours: Quantity, launches: int, theirs: float = 118e6) -> RepeatedRow:
    of = Published(exact(theirs), "ratio")
    return RepeatedRow(
        benchmark="pt2pt",
        kernel="message",
        metric="bandwidth",
        better="higher",
        params={},
        placement="one-core@2",
        memory="first-touch",
        factors={},
        where="",
        printed="118 MB/s",
        unit="MB/s",
        theirs=of.value,
        ours=ours,
        launches=launches,
        agreement=agreement(of, ours),
        standing=standing(of, ours, "higher", is_sure=ours.has_interval),
    )


def test_a_figure_of_three_launches_that_is_far_from_the_published_one_is_said_in_words() -> None:
    three = Quantity(354e6, 350e6, 358e6, "B/s", "range")
    said = str(repetition.undecided(Repetition("x", "x", (row(three, 3),))))
    assert "354 MB/s (350 to 358) here, 118 MB/s published (" in said
    assert "3.00). Not certain: 3 launches give no interval; 3 more decide." in said
    near = Quantity(120e6, 110e6, 130e6, "B/s", "range")
    assert not repetition.undecided(Repetition("x", "x", (row(near, 3),)))
    assert not repetition.undecided(Repetition("x", "x", (row(interval(354e6, 350e6, 358e6), 6),)))


def test_two_runs_of_three_launches_that_are_far_apart_are_compared_in_words(tmp_path: Path) -> None:
    study = Study("Two", "How fast?", (Measure("stream", ("all",)),))
    runs = []
    for name, traffic in (("a", 6e9), ("b", 18e9)):
        law = Law(node_traffic=traffic, core_traffic=traffic / 2)
        options = planning.Options(hosts=(name,), launches=3)
        path = simulated_run(tmp_path / name, law, description=SANDY_BRIDGE, study=study, options=options)
        runs.append(store.load(path))
    console = Console(width=400, record=True)
    terminal.render(sides(runs), console)
    said = console.export_text()
    assert "3.00 (2.9" in said
    assert "3 launches of a run give no interval; 1 more launch of each run can decide" in said
    assert "0 of 4 tested differences are certain" in said


def test_two_networks_of_a_run_of_three_launches_are_compared_in_words(tmp_path: Path) -> None:
    run = store.load(two_networks(tmp_path, AS_PUBLISHED, launches=3))
    section = varied.declared.section(run, analyse(run))
    assert section
    said = " ".join(map(str, section.meaning))
    assert "The largest difference that was seen: " in said
    assert "3 blocks give no interval" in said
