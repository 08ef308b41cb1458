"""The words that MPICH's mpiexec and Intel's share: both are Hydra."""

from assay.launch.command import Layout, Site
from assay.launch.networks import of_control
from assay.launch.remote import is_elsewhere, ssh_options


def variables(environment: dict[str, str]) -> tuple[str, ...]:
    """Set for every rank."""
    return tuple(word for name, value in environment.items() for word in ("-genv", name, value))


#: A folder that every host has: the one that we are in may be this machine's own, and Hydra gives up without it.
FOLDER = ("-wdir", "/")


def control(layout: Layout, site: Site) -> tuple[str, ...]:
    """The interface of its own messages."""
    interface = of_control(layout, site)
    return ("-iface", interface) if interface else ()


def extra_ssh(layout: Layout, site: Site, variable: str) -> dict[str, str]:
    """The options of its ssh, in the variable that it reads them from; empty where nobody else is reached."""
    return {variable: " ".join(ssh_options(site))} if is_elsewhere(layout, site) else {}
