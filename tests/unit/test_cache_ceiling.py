"""What cores copy in cache bounds what they draw from memory; copies of a few bytes show what a call costs."""

from pathlib import Path

import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.model.result import Estimate
from assay.simulation import Law


def _triad(folder: Path, sizes: tuple[int, ...], law: Law) -> Estimate:
    study = Study(
        "Ceiling",
        "Is it one?",
        (Measure("stream", ("all",)), Measure("memcpy", ("one-core",), axes={"bytes": sizes})),
    )
    found = analyse(store.load(simulated_run(folder, law, study=study))).estimates
    return next(each for each in found if (each.kernel, each.metric) == ("triad", "bandwidth"))


@pytest.mark.parametrize("sizes", [(64,), (64, 256, 512), (1023,)])
def test_copies_of_a_few_bytes_are_no_ceiling(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    triad = _triad(tmp_path, sizes, Law(call_s=300e-9))  # 1023 B in 317 ns at best: 13 GB/s on both cores
    assert (triad.status, triad.reason) == ("complete", None)
    assert triad.median == pytest.approx(0.75 * 24e9, rel=0.02)  # 24 B counted of 32 B moved


@pytest.mark.parametrize("sizes", [(1024,), (64, 4096)])
def test_copies_from_a_kibibyte_on_are_one(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    slow = Law(cache_rates={1: 2e9, 2: 2e9, 3: 2e9}, call_s=1e-9)
    triad = _triad(tmp_path, sizes, slow)
    assert (triad.status, triad.median) == ("invalid", None)
    assert "the maximum copy rate of 2 cores in cache" in (triad.reason or "")
