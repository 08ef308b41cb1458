"""Ranks that report the devices that they were given, or others, or none."""

from assay.model.benchmark import Benchmark
from assay.model.declaration import Axis, Metric

benchmark = Benchmark(
    name="wrong_device",
    title="Ranks on other devices",
    measures="nothing: tests look at what becomes of ranks that opened other devices than they were given",
    source="tests/integration/test_outside_packages.py",
    program="wrong_device",
    kernels=("add",),
    axes=(
        Axis(
            "reports",
            "what ranks report: given; other: all another device; one: the last rank another; none",
            ("given", "other", "one", "none"),
            "given",
        ),
    ),
    metrics=(Metric("rate", "flop/s", "higher", "flops", "additions", role="loop-rate"),),
    memory_bytes=lambda _params, _placement: 0,
    launcher="mpi",
    devices=True,
)
