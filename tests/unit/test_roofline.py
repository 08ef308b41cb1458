"""The roofline of a core: its ceilings, and the kernels below them."""

from pathlib import Path

import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.simulation import Law
from assay.topics.cores.models.roofline import Roofline

MACHINE = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) l2:4(size=1MB) l1:1(size=32kB) core:1 pu:2"


def test_the_roofline_has_its_ceilings_and_every_kernel_below_them(tmp_path: Path) -> None:
    study = Study(
        "Roofline",
        "Where do the kernels stand?",
        (
            Measure("flops", ("one-core",), axes={"format": "fp64", "width": "512", "mix": "fma"}),
            Measure("stream", ("one-core",), axes={"stores": ("ordinary", "non-temporal")}),
            Measure("memcpy", ("one-core",), axes={"bytes": tuple(2**power for power in range(8, 27))}),
            Measure("himeno", ("one-core",), axes={"size": "L"}),
        ),
        launches=6,
    )
    path = simulated_run(tmp_path, Law(clock_hz=2e9), description=MACHINE, study=study)
    analysis = analyse(store.load(path))
    (model,) = [each for each in analysis.models if each.law == "roofline"]
    assert isinstance(model, Roofline)
    memory, caches = model.roofs[0], {each.level: each for each in model.roofs[1:]}
    assert model.peak.value == pytest.approx(2e9 * 2 * 8 * 2, rel=0.02)
    assert memory.bandwidth.value == pytest.approx(12e9, rel=0.02)
    assert caches["L2"].bandwidth.value == pytest.approx(2 * 35e9, rel=0.05)
    assert memory.ridge.value == pytest.approx(64 / 12, rel=0.03)
    intensities = {(point.at["kernel"], round(float(point.at["intensity"]), 4)) for point in model.points}
    assert {("triad", 0.0625), ("triad", 0.0833), ("scale", 0.0625), ("jacobi", 0.4722)} <= intensities
    assert "copy" not in {kernel for kernel, _ in intensities}
    # STREAM's table (J. D. McCalpin): bytes and flops of an iteration; 8 B more where the target is read first.
    counted = {"scale": (16, 1), "add": (24, 1), "triad": (24, 2)}
    for moved in (0, 8):
        wanted = {(kernel, round(flops / (size + moved), 4)) for kernel, (size, flops) in counted.items()}
        assert wanted <= intensities
    medians = {each.id: each.median for each in analysis.estimates}
    for point in model.points:
        if point.at["kernel"] in counted:
            size, flops = counted[str(point.at["kernel"])]
            assert point.value.value == pytest.approx((medians[point.estimate] or 0) * flops / size)
    assert all(point.ratio is not None and 0.9 < point.ratio < 1.02 for point in model.points)
