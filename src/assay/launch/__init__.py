"""Launchers: pure translators from a placed launch to a command line. They start nothing.

One file each, found by its name; it defines `launcher`. Nothing else needs to know that one exists.
"""

import importlib
import pkgutil
from functools import cache

from assay.launch.command import Launcher, Layout, Site
from assay.launch.remote import doctor_command
from assay.model.errors import UnfitEnvironmentError, UsageError

#: The other modules of this package.
_NOT_LAUNCHERS = {"allocation", "arguments", "batch", "command", "hydra", "networks", "remote", "starter", "sweep"}


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
    """The launcher for a layout: the one that the user names, else the preferred one of those that fit.

    Raises:
        UsageError: no launcher has that name.
        UnfitEnvironmentError: it does not fit, or no launcher fits.
    """
    wanted = (get(site.launcher),) if site.launcher and layout.mpi else tuple(map(get, names()))
    found = [launcher for launcher in wanted if launcher.fits(layout, site)]
    if found:
        return min(found, key=lambda launcher: launcher.preference)
    mpi = f" with {layout.mpi.name}" if layout.mpi else ""
    others = [each for each in names() if get(each).fits(layout, site)] if site.launcher else []
    raise UnfitEnvironmentError(
        f"nothing here starts {layout.size} processes on {', '.join(layout.hosts)}{mpi}",
        why=f"asked for: {site.launcher}; what fits here: {', '.join(others)}"
        if others
        else f"tried: {', '.join(launcher.name for launcher in wanted)}",
        remedy=f"leave out --launcher {site.launcher}" if others else doctor_command(layout.hosts, site),
    )
