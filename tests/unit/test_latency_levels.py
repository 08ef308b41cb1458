"""The levels of caches and memory in the time of a load, and what ends them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.analyse.plateaus import plateaus
from assay.model.law import Unfitted
from assay.model.plan import Measure, Study
from assay.model.result import Analysis
from assay.model.units import format_size
from assay.simulation import Law

FOUR_NODES = "pack:2 numa:2(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
SIZES = tuple(int(2 ** (step / 8)) // 64 * 64 for step in range(12 * 8, 28 * 8 + 1))
TLB = Law(tlb_bytes=2**21, tlb_s=6e-9)


def _study(*measures: Measure, launches: int = 6) -> Study:
    return Study("Levels", "Is every level found?", measures, launches=launches)


def _analysis(folder: Path, study: Study, law: Law | None = None, description: str = FOUR_NODES) -> Analysis:
    return analyse(store.load(simulated_run(folder, law, description=description, study=study)))


def _models(analysis: Analysis, law: str, *marks: str) -> list[Any]:
    return [each for each in analysis.models if each.law == law and all(mark in each.id for mark in marks)]


@pytest.fixture(scope="module")
def staircase(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    both = _study(Measure("latency", ("one-core",), axes={"bytes": SIZES, "pages": ("small", "huge")}))
    return _analysis(tmp_path_factory.mktemp("latency"), both, TLB)


def test_the_levels_of_latency_are_those_of_the_law_with_their_caches(staircase: Analysis) -> None:
    (model,) = _models(staircase, "latency-levels", "pages=huge")
    assert [each.answered_by for each in model.levels] == ["L1", "L2", "L3", "memory"]
    assert [each.latency.value for each in model.levels] == pytest.approx([1.2e-9, 4e-9, 14e-9, 90e-9], rel=0.01)
    ends = [each.end for each in model.levels if each.end]
    assert [(each.cause, each.cache_bytes) for each in ends] == [("L1", 2**15), ("L2", 2**19), ("L3", 2**23)]
    for (_, before, after), size in zip((each.size for each in ends), (2**15, 2**19, 2**23), strict=True):
        assert before <= size < after <= 1.2 * before


def test_a_knee_that_only_small_pages_show_is_the_tlb(staircase: Analysis) -> None:
    (model,) = _models(staircase, "latency-levels", "pages=small")
    (end,) = [each.end for each in model.levels if each.end and each.end.cause == "TLB"]
    _, before, after = end.size
    assert before <= 2**21 < after
    beyond = [(each.answered_by, each.beyond_tlb) for each in model.levels[2:]]
    assert beyond == [("L3", False), ("L3", True), ("memory", True)]
    assert [each.latency.value for each in model.levels[2:4]] == pytest.approx([14e-9, 20e-9], rel=0.01)
    assert model.huge_twin == _models(staircase, "latency-levels", "pages=huge")[0].id


@pytest.mark.parametrize(("tlb_bytes", "memory"), [(2**25, True), (2**17, False)])
def test_no_two_levels_are_called_alike(tmp_path: Path, tlb_bytes: int, memory: bool) -> None:  # noqa: FBT001
    for pages in (("small", "huge"), ("small",)):
        study = _study(Measure("latency", ("one-core",), axes={"bytes": SIZES, "pages": pages}), launches=2)
        analysis = _analysis(tmp_path / str(len(pages)), study, Law(tlb_bytes=tlb_bytes, tlb_s=60e-9))
        (model,) = _models(analysis, "latency-levels", "pages=small")
        levels = [(each.answered_by, each.beyond_tlb, each.step) for each in model.levels]
        assert len(set(levels)) == len(levels) == 5
        where = "memory" if memory else "L2"
        if len(pages) == 2:
            split = {(where, False, 1), (where, True, 1)}
        else:
            split = {(where, False, 1), (where, False, 2)}
        assert split <= set(levels)


def test_a_knee_without_a_curve_of_huge_pages_is_named_after_nothing_but_a_cache(tmp_path: Path) -> None:
    study = _study(Measure("latency", ("one-core",), axes={"bytes": SIZES, "pages": "small"}))
    (model,) = _models(_analysis(tmp_path, study, TLB), "latency-levels")
    assert not any(each.beyond_tlb or (each.end and each.end.cause == "TLB") for each in model.levels)
    assert model.levels[2].end.cause == ""


def test_memory_is_called_so_whatever_cache_is_claimed(tmp_path: Path) -> None:
    claims = FOUR_NODES.replace("l3:1(size=8MB)", "l3:1(size=512MB)")
    study = _study(Measure("latency", ("one-core",), axes={"bytes": SIZES, "pages": ("small", "huge")}))
    gets = Law(held={3: 2**23}, tlb_bytes=2**21, tlb_s=6e-9)
    analysis = _analysis(tmp_path, study, gets, claims)
    for model in _models(analysis, "latency-levels"):
        assert [each.answered_by for each in model.levels][-2:] == ["L3", "memory"]
        end = model.levels[-2].end
        assert (end.cause, end.cache_bytes) == ("L3", 2**29)
        assert end.size.lo <= 2**23 < end.size.hi <= model.memory_from
    (found,) = (each for each in analysis.findings if each.rule == "claimed_cache")
    assert found.numbers["statistic"].value == pytest.approx(2**23 / 2**29, rel=0.1)
    ends = format_size(end.size.lo), format_size(min(end.size.hi, model.memory_from))
    assert (
        "a core gets about {} to {} of it. From {} on".format(*ends, format_size(model.memory_from)) in found.claim
    )


def test_a_step_within_memory_is_the_end_of_no_cache_whatever_size_it_claims(tmp_path: Path) -> None:
    claims = FOUR_NODES.replace("l3:1(size=8MB)", "l3:1(size=64MB)")
    study = _study(Measure("latency", ("one-core",), axes={"bytes": SIZES, "pages": ("small", "huge")}))
    analysis = _analysis(tmp_path, study, Law(held={3: 2**23}, tlb_bytes=2**26, tlb_s=25e-9), claims)
    (model,) = _models(analysis, "latency-levels", "pages=small")
    of_memory = [each.end for each in model.levels if each.answered_by == "memory" and each.end]
    assert [(each.cause, each.cache_bytes) for each in of_memory] == [("", None)]
    assert of_memory[0].size.lo <= 2**26 < of_memory[0].size.hi
    (end,) = (each.end for each in model.levels if each.end and each.end.cause == "L3")
    assert end.size.lo <= 2**23 < end.size.hi


def test_sizes_that_end_inside_a_cache_reach_no_memory(tmp_path: Path) -> None:
    sizes = tuple(size for size in SIZES if size <= 2**22)
    study = _study(Measure("latency", ("one-core",), axes={"bytes": sizes, "pages": "huge"}), launches=2)
    (model,) = _models(_analysis(tmp_path, study), "latency-levels")
    assert model.memory_from is None
    assert model.levels[-1].answered_by == "L3"


def test_no_tlb_has_a_hundred_thousand_entries(tmp_path: Path) -> None:
    both = Measure("latency", ("one-core",), axes={"bytes": SIZES, "pages": ("small", "huge")})
    analysis = _analysis(tmp_path, _study(both, launches=2), Law(tlb_bytes=2**26, tlb_s=60e-9))
    (model,) = _models(analysis, "latency-levels", "pages=small")
    assert not any(each.end and each.end.cause == "TLB" for each in model.levels)


def test_few_sizes_have_no_levels_and_say_so(tmp_path: Path) -> None:
    study = _study(Measure("latency", ("one-core",), axes={"bytes": (4096, 2**20, 2**26)}))
    (model,) = _models(_analysis(tmp_path, study), "latency-levels")
    assert isinstance(model, Unfitted)
    assert "3 sizes" in model.reason


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.04])
def test_plateaus_are_found_at_their_edges_under_noise(noise: float) -> None:
    levels = np.repeat(np.log([1.0, 3.5, 12.0, 90.0]), (24, 40, 40, 25))
    values = levels + np.random.default_rng(3).normal(0, noise, levels.size)
    assert plateaus(values, np.arange(values.size) / 8) == [(0, 24), (24, 64), (64, 104), (104, 129)]


def test_a_slope_between_two_plateaus_is_no_plateau() -> None:
    slope = np.linspace(0, np.log(6), 14)[1:-1]
    values = np.concatenate((np.zeros(20), slope, np.full(20, np.log(6))))
    octaves = np.arange(values.size) / 8
    assert [round(float(np.exp(values[begin]))) for begin, _ in plateaus(values, octaves)] == [1, 6]


def test_outliers_make_no_level() -> None:
    values = np.zeros(40)
    values[[7, 20, 33]] = np.log(1.5)
    assert plateaus(values, np.arange(values.size) / 8) == [(0, 40)]
