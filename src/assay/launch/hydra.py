"""Options that the mpiexec of MPICH and that of Intel share: both are Hydra."""

from assay.launch.command import Layout, Site
from assay.launch.networks import control_interface
from assay.launch.remote import ssh_options, uses_remote_hosts


def variables(environment: dict[str, str]) -> tuple[str, ...]:
    """The options that set variables for every rank."""
    return tuple(word for name, value in environment.items() for word in ("-genv", name, value))


#: A working directory that every host has: the current one may be local to this machine, and Hydra then fails.
FOLDER = ("-wdir", "/")


def binding(layout: Layout) -> str:
    """The cpus of each rank; `none` if any may be used, or if hosts differ, because one list is for all hosts."""
    if layout.by_host or not all(layout.ranks):
        return "none"
    return "user:" + ",".join("+".join(map(str, cpus)) for cpus in layout.ranks)


def control(layout: Layout, site: Site) -> tuple[str, ...]:
    """The option for the interface of Hydra's own messages."""
    interface = control_interface(layout, site)
    return ("-iface", interface) if interface else ()


def extra_ssh(layout: Layout, site: Site, variable: str) -> dict[str, str]:
    """The variable with the options of its ssh; empty if there is no other host."""
    return {variable: " ".join(ssh_options(site))} if uses_remote_hosts(layout, site) else {}
