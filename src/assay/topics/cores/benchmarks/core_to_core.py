"""The time a cache line takes from one core to another."""

from assay.model.benchmark import Benchmark
from assay.model.declaration import Metric

_LINES_BYTES = 4096

benchmark = Benchmark(
    name="core_to_core",
    title="Core-to-core latency",
    measures="the time until a core sees the write of another core",
    source="the hand-over of a flag in one cache line, as in N. Viennot, core-to-core-latency, 2022",
    program="core_to_core",
    kernels=("handover",),
    axes=(),
    metrics=(
        Metric(
            "latency",
            "s",
            "lower",
            "handovers",
            "one way: half of a round trip of the flag",
            role="hand-over-time",
        ),
    ),
    memory_bytes=lambda _params, _placement: _LINES_BYTES,
    min_cpus=2,
    max_cpus=2,
)
