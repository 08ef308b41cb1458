"""Sections of cores on models by hand: shown cells are the figures of the models, and which stand first."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from tests.unit.law_evidence import known, machine, measured, placed
from tests.unit.scene_by_hand import rows, scene

from assay.analyse.estimates import Measured
from assay.model.facts import Fact
from assay.model.placed import Placed
from assay.report.declared import Scene
from assay.topics.cores.models import core_to_core as core_to_core_law
from assay.topics.cores.models import operations_per_cycle
from assay.topics.cores.sections import core_to_core, flops, flops_plain

ONE, ALL = placed("one-core", 0), placed("all", 0, 1, 2, 3)


def rate(
    value: float, place: Placed = ONE, *, form: str = "fp64", mix: str = "fma", width: str = "512"
) -> Measured:
    return measured("flops", "arithmetic", "rate", [value] * 6, place, format=form, width=width, mix=mix)


def hertz(value: float, place: Placed = ONE, kernel: str = "loaded-clock", mix: str = "fma") -> Measured:
    given: dict[str, Any] = {"format": "fp64", "width": "512", "mix": mix}
    return measured("flops", kernel, "frequency", [value] * 6, place, **given)


def section(figures: Sequence[Measured], **facts: Fact) -> Scene:
    """A scene of flops with the law of operations per cycle, on a machine with facts of the processor."""
    of = scene(figures, *operations_per_cycle.fit(known(figures)))
    host = msgspec.structs.replace(machine(), facts={"processor": facts} if facts else {})
    of.run.machines["n1"] = host
    rates = tuple(each for each in of.estimates if each.unit == "flop/s")
    return msgspec.structs.replace(of, estimates=rates)


def test_the_best_rate_of_each_placement_and_precision_is_listed_and_the_widest_in_fp64_is_the_headline() -> None:
    figures = [
        rate(40e9, width="256"),
        rate(50e9),
        rate(90e9, form="fp32"),
        rate(180e9, ALL),
        rate(400e9, ALL, form="fp32"),
        rate(1e9, mix="sqrt", width="scalar"),
    ]
    of = section(figures)
    shown = rows(flops.declared.shared_tables[0], of)
    assert [(row[0], row[1], row[4]) for row in shown] == [
        ("one-core, fp64", "50.0 GFLOP/s", "512-bit fma"),
        ("one-core, fp32", "90.0 GFLOP/s", "512-bit fma"),
        ("all, fp64", "180 GFLOP/s", "512-bit fma"),
        ("all, fp32", "400 GFLOP/s", "512-bit fma"),
    ]
    (headline,) = flops.declared.headlines(of)
    assert headline.estimate.value
    assert headline.estimate.value.value == 180e9
    alone = section(figures[-1:])
    assert rows(flops.declared.shared_tables[0], alone)[0][4] == "scalar sqrt"
    assert str(flops.declared.sentences(section([]))) == "Nothing could be measured."
    assert str(flops.declared.sentences(section(figures[2:3]))) == "Nothing could be measured."


def test_operations_per_cycle_are_listed_in_the_best_width_of_each() -> None:
    figures = [rate(24e9, width="256"), rate(96e9), rate(12e9, mix="add"), rate(6e9, mix="add", width="scalar")]
    clocks = []
    for each in figures:
        params: dict[str, Any] = each.estimate.params
        clocks.append(
            measured("flops", "loaded-clock", "frequency", [3e9] * 6, ONE, **params)  # of the same samples
        )
    of = section([*figures, *clocks])
    shown = rows(flops.declared.terminal_tables[0], of)
    assert [(row[0], row[1], row[3]) for row in shown] == [
        ("one-core, fp64", "512-bit fma", "32.0"),
        ("one-core, fp64", "512-bit add", "4.00"),
    ]
    (chart,) = flops.declared.charts(of)
    cells = {(row["row"], row["column"]): row["text"] for row in chart.spec["data"]["values"] if "row" in row}
    assert cells["fused multiply-add", "fp64 512"] == "32.0"
    assert cells["fused multiply-add", "fp64 256"] == "8.00"
    assert cells["add", "fp64 scalar"] == "2.00"
    assert "flop per cycle of a core" in chart.caption
    (rates,) = flops.declared.charts(section(figures))
    assert "rate (GFLOP/s)" in rates.caption
    assert "96.0" in str(rates.result)
    assert not list(flops.declared.charts(section([])))


def test_clocks_are_listed_from_the_lowest_to_the_highest_of_a_placement_without_impossible_ones() -> None:
    figures = [
        rate(50e9),
        hertz(3.0e9),
        hertz(2.8e9, mix="add"),
        hertz(3.2e9, kernel="clock"),
        hertz(1.39e9, mix="multiply"),  # below half of 2.8 GHz, the median of all
        hertz(1.41e9, mix="divide"),
    ]
    of = section(figures, nominal=Fact(2e9, "Hz", "test"), cores=Fact(4, "", "test"))
    shown = rows(flops.declared.shared_tables[1], of)
    assert shown[0][0] == "nominal (a fact)"
    assert [(row[0], row[1].split(" [")[0], row[2].split(" [")[0], row[3]) for row in shown[1:]] == [
        ("one-core, during the work", "1.41 GHz", "3.00 GHz", "3 cases"),
        ("one-core, alone", "3.20 GHz", "", "1 case"),
    ]
    text = str(flops.declared.sentences(of))
    assert "1 clock is impossibly low and not shown" in text
    assert not rows(flops.declared.shared_tables[1], section(figures[:1], nominal=Fact(2e9, "Hz", "test")))


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        (Fact(2e9, "Hz", "test"), ""),
        (Fact(unavailable="no driver"), "The nominal clock is unknown (no driver), so"),
    ],
)
def test_an_unknown_nominal_clock_is_said(fact: Fact, said: str) -> None:
    of = section([rate(50e9), hertz(3e9)], **{"nominal frequency": fact})
    text = str(flops.declared.sentences(of))
    assert text.startswith(said)
    assert bool(text) == bool(said)


def pair(a: int, b: int, *seconds: float) -> Measured:
    return measured("core_to_core", "handover", "latency", seconds, placed(f"pair:{a}-{b}", a, b))


def pairs(*figures: Measured) -> Scene:
    return scene(figures, *core_to_core_law.fit(known(figures)))


def test_pairs_of_cores_show_the_median_the_fastest_and_the_slowest_of_each_class() -> None:
    of = pairs(pair(0, 1, 2e-8, 2e-8), pair(2, 3, 4e-8, 4e-8), pair(0, 2, 9e-8, 9e-8))
    shown = rows(core_to_core.declared.shared_tables[0], of)
    assert [(row[0], row[1], row[2], row[4], row[5]) for row in shown] == [
        ("same L3", "2", "30.0 ns", "20.0 ns", "40.0 ns"),
        ("same socket", "1", "90.0 ns", "90.0 ns", "90.0 ns"),
    ]
    text = str(core_to_core.declared.sentences(of))
    assert "30.0 ns (same L3; 20.0 ns to 40.0 ns) and 90.0 ns (same socket; 90.0 ns to 90.0 ns)" in text
    (headline,) = core_to_core.declared.headlines(of)
    assert headline.estimate.value
    assert headline.estimate.value.value == 2e-8
    (chart,) = core_to_core.declared.charts(of)
    assert "3 of the 6 pairs of these cpus were measured" in chart.caption
    every = [pair(a, b, 1e-8, 1e-8) for a in range(3) for b in range(a + 1, 3)]
    (whole,) = core_to_core.declared.charts(pairs(*every))
    assert "a sample with pairs of every kind" not in whole.caption


def test_a_single_pair_is_told_by_itself() -> None:
    text = str(core_to_core.declared.sentences(pairs(pair(0, 1, 2e-8, 2e-8))))
    assert text.startswith("The pair takes 20.0 ns")
    assert "(same L3)" in text
    assert str(core_to_core.declared.sentences(pairs())) == "No pair could be measured."


def test_plain_loops_have_a_row_for_each_mix_and_a_column_for_each_build() -> None:
    def loop(mix: str, value: float, compiler: str) -> Measured:
        made = measured("flops_plain", "sum", "rate", [value] * 6, ONE, mix=mix)
        shown = msgspec.structs.replace(
            made.estimate, id=f"{made.estimate.id}/{compiler}", factors={"compiler": compiler} if compiler else {}
        )
        return Measured(shown, made.launches)

    of = scene([loop("2", 2e9, "gcc"), loop("1", 1e9, "gcc"), loop("2", 3e9, "clang")])
    (table,) = flops_plain.declared.shared_tables[0](of)
    assert [str(column) for column in table.columns] == ["Mix", "gcc", "clang"]
    assert [tuple(str(cell).split(" [")[0] for cell in row) for row in table.rows] == [
        ("1", "1.00 GFLOP/s", ""),
        ("2", "2.00 GFLOP/s", "3.00 GFLOP/s"),
    ]
    assert table.numeric == {1, 2}
    # Of one build the table of rates with their intervals has all of it.
    assert not list(flops_plain.declared.shared_tables[0](scene([loop("2", 2e9, "")])))
    assert not list(flops_plain.declared.shared_tables[0](scene([])))
    assert not list(flops_plain.declared.charts(scene([])))
