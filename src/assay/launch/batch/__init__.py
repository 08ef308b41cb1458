"""Batch schedulers: pure translators from a job to a script and commands. They start nothing.

One file each, found by its name; it defines `scheduler`. Nothing else needs to know that one exists.
"""

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

from assay.launch.batch.job import Job, Queue, Scheduler, State, Status
from assay.model.errors import UnfitEnvironmentError, UsageError

__all__ = ["Job", "Queue", "Scheduler", "State", "Status", "find_scheduler", "get", "names"]

#: The other modules of this package.
_NOT_SCHEDULERS = {"job"}


@cache
def names() -> tuple[str, ...]:
    """Every scheduler's name, sorted."""
    return tuple(sorted({module.name for module in pkgutil.iter_modules(__path__)} - _NOT_SCHEDULERS))


@cache
def get(name: str) -> Scheduler:
    """The scheduler; UsageError names those that exist."""
    if name not in names():
        raise UsageError(f"there is no scheduler '{name}'", why=f"known: {', '.join(names())}")
    scheduler: Scheduler = importlib.import_module(f"{__name__}.{name}").scheduler
    return scheduler


def find_scheduler(which: Callable[[str], str | None]) -> Scheduler:
    """The first scheduler whose submitting program `which` finds.

    Raises:
        UnfitEnvironmentError: there is none.
    """
    found = next((one for one in map(get, names()) if which(one.submits)), None)
    if found is None:
        submitting = ", ".join(get(name).submits for name in names())
        raise UnfitEnvironmentError(
            "no batch scheduler is here",
            why=f"none on the path: {submitting}",
            remedy="over ssh it goes without one: assay run network --hosts 'node[01-02]'",
        )
    return found
