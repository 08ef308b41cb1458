"""Figures of two machines compared with the ratios of the machines: published ones, and planted laws."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.simulation import TWO_CORES, simulated_run

from assay import store
from assay.cli import assay
from assay.compare.meeting import Declared
from assay.compare.runs import between
from assay.model.compared import Compared
from assay.model.plan import Measure, Study
from assay.simulation import Law

FOUR_CORES = TWO_CORES.replace("l2:2", "l2:4")


def test_the_published_headline_is_found_and_is_more_than_the_clock() -> None:
    done = CliRunner().invoke(assay, ["compare", "sci", "leo", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    (clock,) = found["yardsticks"]
    assert (clock["name"], clock["stated"]) == ("clock", True)
    assert clock["ratio"]["value"] == pytest.approx(2660 / 500)
    pairs = {pair["a"]["benchmark"] + " " + pair["a"]["metric"]: pair["comparison"] for pair in found["pairs"]}
    assert pairs["hpl rate"]["value"]["value"] == pytest.approx(9.5, abs=0.01)
    growth = found["growth"]
    grown = {name: growth[each["id"]]["clock"] for name, each in pairs.items() if each["id"] in growth}
    assert grown == {"hpl rate": "more", "pt2pt latency": "less", "pt2pt bandwidth": "less"}
    assert any("9.50 times as fast" in sentence for sentence in found["statements"])


STUDY = Study(
    "Machines",
    "How much more?",
    (
        Measure("flops", ("all",), axes={"mix": ("add", "fma"), "width": "256"}),
        Measure("stream", ("all",), axes={"stores": "ordinary"}),
        Measure("latency", ("one-core",), axes={"bytes": 2**28, "pages": "huge"}),
    ),
    launches=6,
)


def compared(folder: Path, law: Law) -> Compared:
    """A machine of twice the cores, with this law, against one of the usual law."""
    base = simulated_run(folder / "base", Law(), study=STUDY)
    other = simulated_run(folder / "other", law, study=STUDY, description=FOUR_CORES, seed=2)
    return between(store.load(other), store.load(base), Declared(across="topology"))


def test_planted_ratios_of_clock_peak_and_memory_are_found_and_figures_stand_beside_them(tmp_path: Path) -> None:
    law = Law(clock_hz=4.5e9, loaded_clock_hz=4.5e9, node_traffic=2 * 30e9, core_traffic=2 * 12e9)
    found = compared(tmp_path, law)
    ratios = {each.name: each.ratio for each in found.yardsticks}
    assert set(ratios) == {"clock", "FMA peak", "memory rate"}
    assert ratios["clock"].value == pytest.approx(1.5, rel=0.02)
    assert ratios["FMA peak"].value == pytest.approx(3.0, rel=0.02)  # twice the cores
    assert not any(each.stated for each in found.yardsticks)
    assert all(ratio.has_interval for ratio in ratios.values())
    grown = {pair.a.kernel: found.growth[pair.comparison.id] for pair in found.pairs if pair.a.unit}
    assert grown["triad"]["clock"] == "more"
    assert grown["triad"]["memory rate"] == "equal"
    assert grown["chase"] == {"clock": "less", "FMA peak": "less", "memory rate": "less"}


def test_one_machine_has_no_yardsticks(tmp_path: Path) -> None:
    base = simulated_run(tmp_path / "base", Law(), study=STUDY)
    other = simulated_run(tmp_path / "other", Law(), study=STUDY, seed=2)
    found = between(store.load(other), store.load(base))
    assert (found.yardsticks, found.growth) == ((), {})
