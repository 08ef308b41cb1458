"""The words that MPICH's mpiexec and Intel's share: both are Hydra."""

from assay.launch.command import Layout, Site
from assay.launch.networks import control_interface
from assay.launch.remote import ssh_options, uses_remote_hosts


def variables(environment: dict[str, str]) -> tuple[str, ...]:
    """Set for every rank."""
    return tuple(word for name, value in environment.items() for word in ("-genv", name, value))


#: A folder that every host has: the one that we are in may be this machine's own, and Hydra gives up without it.
FOLDER = ("-wdir", "/")


def binding(layout: Layout) -> str:
    """The cpus of each rank; none where they may be any, or hosts differ in them: one list counts for all."""
    if layout.by_host or not all(layout.ranks):
        return "none"
    return "user:" + ",".join("+".join(map(str, cpus)) for cpus in layout.ranks)


def control(layout: Layout, site: Site) -> tuple[str, ...]:
    """The interface of its own messages."""
    interface = control_interface(layout, site)
    return ("-iface", interface) if interface else ()


def extra_ssh(layout: Layout, site: Site, variable: str) -> dict[str, str]:
    """The options of its ssh, in the variable that it reads them from; empty if nobody else is reached."""
    return {variable: " ".join(ssh_options(site))} if uses_remote_hosts(layout, site) else {}
