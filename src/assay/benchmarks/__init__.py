"""The benchmarks: one declaration a file, found by its name. Nothing else needs to know that one exists."""

import importlib
import pkgutil
from functools import cache

from assay.model.benchmark import Benchmark
from assay.model.errors import UsageError

#: What stands beside them: words that several of them share.
_NOT_BENCHMARKS = {"messages"}


@cache
def names() -> tuple[str, ...]:
    """Every benchmark's name, sorted."""
    return tuple(sorted({module.name for module in pkgutil.iter_modules(__path__)} - _NOT_BENCHMARKS))


@cache
def get(name: str) -> Benchmark:
    """The declaration; UsageError names those that exist."""
    if name not in names():
        raise UsageError(
            f"there is no benchmark '{name}'",
            why=f"known: {', '.join(names())}",
            remedy="assay list benchmarks",
        )
    benchmark: Benchmark = importlib.import_module(f"{__name__}.{name}").benchmark
    return benchmark


def find(name: str) -> Benchmark | None:
    """The declaration; None of a benchmark that is another tool's, or another version's."""
    return get(name) if name in names() else None
