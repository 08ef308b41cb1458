"""Nonblocking collective operations during computing: how much of them is hidden."""

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark
from assay.topics.collectives.benchmarks import collective

benchmark = Benchmark(
    **declared("overlap"),
    memory_bytes=collective.benchmark.memory_bytes,
    message_bytes=collective.benchmark.message_bytes,
    setup_seconds=collective.benchmark.setup_seconds,
)
