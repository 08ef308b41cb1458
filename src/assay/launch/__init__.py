"""Launchers: pure translators from a placed launch to a command line. They start nothing.

One file each, found by its name; it defines `launcher`. Nothing else needs to know that one exists.
"""

import importlib
import pkgutil
from functools import cache

from assay.launch.command import Launcher
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.plan import Plan

#: What stands beside them: the words that they share, and machines that do not exist.
_NOT_LAUNCHERS = {"command", "simulated"}


@cache
def names() -> tuple[str, ...]:
    """Every launcher's name, sorted."""
    return tuple(sorted({module.name for module in pkgutil.iter_modules(__path__)} - _NOT_LAUNCHERS))


@cache
def get(name: str) -> Launcher:
    """The launcher; UsageError names those that exist."""
    if name not in names():
        raise UsageError(f"there is no launcher '{name}'", why=f"known: {', '.join(names())}")
    launcher: Launcher = importlib.import_module(f"{__name__}.{name}").launcher
    return launcher


def fitting(plan: Plan) -> Launcher:
    """The launcher for a plan, here and now; UnfitEnvironmentError where there is none."""
    for name in names():
        if get(name).fits(plan):
            return get(name)
    raise UnfitEnvironmentError(
        f"nothing here starts programs on {len(plan.hosts)} hosts",
        why=f"launchers: {', '.join(names())}",
        remedy=f"assay run {plan.study}   on one host",
    )
