"""Ranks that report the devices that they were given, or others, or none."""

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark

benchmark = Benchmark(**declared("wrong_device"), memory_bytes=lambda _params, _placement: 0)
