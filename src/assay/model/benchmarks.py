"""The declared benchmarks of all topics, by name."""

import importlib
from functools import cache

from assay.model import topics
from assay.model.benchmark import Benchmark
from assay.model.errors import UsageError


@cache
def names() -> tuple[str, ...]:
    """Every benchmark's name, sorted."""
    return tuple(topics.found("benchmarks"))


@cache
def get(name: str) -> Benchmark:
    """The declaration; UsageError names those that exist."""
    if name not in names():
        raise UsageError(
            f"there is no benchmark '{name}'",
            why=f"known: {', '.join(names())}",
            remedy="assay list benchmarks",
        )
    benchmark: Benchmark = importlib.import_module(topics.found("benchmarks")[name]).benchmark
    return benchmark


@cache
def of(name: str) -> Benchmark:
    """The declaration; one without axes, kernels and metrics of what is another tool's, or another version's."""
    if name in names():
        return get(name)
    return Benchmark(name, name, "", "", "", (), (), (), memory_bytes=lambda _params, _placement: 0)
