"""Launchers: pure translators from a placed launch to a command line. They start nothing.

One file each, found by its name; it defines `launcher`. Nothing else needs to know that one exists.
"""

import importlib
import pkgutil
from functools import cache

from assay.launch.command import Launcher, Layout, Site
from assay.launch.remote import doctor_command
from assay.model.errors import UnfitEnvironmentError, UsageError

#: What stands beside them: the words that they share.
_NOT_LAUNCHERS = {"allocation", "arguments", "batch", "command", "starter", "sweep"}
_NOT_LAUNCHERS |= {"hydra", "networks", "remote"}


@cache
def names() -> tuple[str, ...]:
    """Every launcher's name, sorted."""
    return tuple(sorted({module.name for module in pkgutil.iter_modules(__path__)} - _NOT_LAUNCHERS))


@cache
def get(name: str) -> Launcher:
    """The launcher; UsageError names those that exist."""
    if name not in names():
        raise UsageError(
            f"there is no launcher '{name}'", why=f"known: {', '.join(names())}", remedy="leave out --launcher"
        )
    launcher: Launcher = importlib.import_module(f"{__name__}.{name}").launcher
    return launcher


def select(layout: Layout, site: Site) -> Launcher:
    """The launcher for a layout: the one that the user names, else the most preferred one that fits.

    Raises:
        UsageError: there is no launcher of that name.
        UnfitEnvironmentError: it does not fit, or none does.
    """
    wanted = (get(site.launcher),) if site.launcher and layout.mpi else tuple(map(get, names()))
    found = [launcher for launcher in wanted if launcher.fits(layout, site)]
    if found:
        return min(found, key=lambda launcher: launcher.preference)
    of = f" with {layout.mpi.name}" if layout.mpi else ""
    others = [each for each in names() if get(each).fits(layout, site)] if site.launcher else []
    raise UnfitEnvironmentError(
        f"nothing here starts {layout.size} processes on {', '.join(layout.hosts)}{of}",
        why=f"asked for: {site.launcher}; what fits here: {', '.join(others)}"
        if others
        else f"tried: {', '.join(launcher.name for launcher in wanted)}",
        remedy=f"leave out --launcher {site.launcher}" if others else doctor_command(layout.hosts, site),
    )
