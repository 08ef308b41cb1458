"""Ranks that report the devices that they were given, or others, or none."""

from assay.model.benchmark import Benchmark
from assay.model.declaration_files import declared

benchmark = Benchmark(**declared("wrong_device"), memory_bytes=lambda _params, _placement: 0)
