"""Open MPI 4 and 5, with their own mpiexec. They differ: version 5 launches by PRRTE, which has its own options.

Cpus cannot be bound per rank without a file: `--cpu-set` of version 4 ignores the order of its list, no version
accepts several cpus for a rank, and both use their own numbering. So Assay requests hosts in order and no binding,
and the programs bind themselves before they touch memory.
"""

from assay.launch.command import Command, Layout, Site
from assay.launch.networks import control_interface, mca_parameters, network_variables, uses_prrte
from assay.launch.remote import GRACE_S, MpiLauncher, forwarded_environment, ssh_options, uses_remote_hosts


class OpenMpi(MpiLauncher):
    """Starts the programs of an Open MPI with the mpiexec that belongs to it."""

    name = "openmpi"

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """The mpiexec of the MPI: the hosts in order, with their numbers of ranks."""
        assert layout.mpi is not None  # noqa: S101 (it would not fit)
        new = uses_prrte(layout.mpi)
        environment = forwarded_environment(environment, site)
        sent = environment | network_variables(layout.mpi, layout.network)
        exported = tuple(word for name, value in sent.items() for word in ("-x", f"{name}={value}"))
        messages = mca_parameters(layout.mpi, layout.network).items()
        options = (
            *_placement(layout, site, new=new),
            *_remote_options(layout, site, new=new),
            *(word for name, value in messages for word in ("--mca", name, value)),
        )
        if _by_parts(layout, site, new=new):
            parts = [
                (*_host_list((host,), (count,)), "-n", f"{count}")
                for host, count in zip(layout.hosts, layout.counts, strict=True)
            ]
            started = tuple(word for part in parts for word in (":", *part, *exported, *argv))[1:]
        else:
            started = (*_host_list(layout.hosts, layout.counts), *exported, *argv)
        root = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") if site.root else ()
        return Command((layout.mpi.launcher, *options, *started), environment | dict.fromkeys(root, "1"), GRACE_S)


launcher = OpenMpi()


def _host_list(hosts: tuple[str, ...], counts: tuple[int, ...]) -> tuple[str, str]:
    return "--host", ",".join(f"{host}:{count}" for host, count in zip(hosts, counts, strict=True))


def _by_parts(layout: Layout, site: Site, *, new: bool) -> bool:
    """Whether each host needs a separate part of the command, which fixes the numbering of ranks.

    Version 4 numbers the ranks of its own host first, whatever the order; and there is a single number of ranks
    per node for all hosts.
    """
    return (not new and site.host in layout.hosts[1:]) or len(set(layout.counts)) > 1


def _placement(layout: Layout, site: Site, *, new: bool) -> tuple[str, ...]:
    """Options to start ranks even if the scheduler gave fewer slots; ranks never yield their cpus."""
    parts = _by_parts(layout, site, new=new)
    mapping = "slot:OVERSUBSCRIBE" if parts else f"ppr:{len(layout.ranks)}:node:OVERSUBSCRIBE"
    return ("--map-by", mapping, "--rank-by", "slot", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "0")


def _remote_options(layout: Layout, site: Site, *, new: bool) -> tuple[str, ...]:
    """Options to reach other hosts: by ssh from this host only, with the run's id for the remote daemons."""
    if not uses_remote_hosts(layout, site):
        return ()
    agent = " ".join(("ssh", *ssh_options(site)))
    option, agents, tree, daemon = (
        ("--prtemca", "plm_ssh_agent", "plm_ssh_no_tree_spawn", "prte_launch_agent")
        if new
        else ("--mca", "plm_rsh_agent", "plm_rsh_no_tree_spawn", "orte_launch_agent")
    )
    named = (option, daemon, f"env ASSAY_RUN={site.run} {'prted' if new else 'orted'}") if site.run else ()
    return (option, agents, agent, option, tree, "1", *named, *_control(layout, site, new=new))


def _control(layout: Layout, site: Site, *, new: bool) -> tuple[str, ...]:
    interface = control_interface(layout, site)
    if not interface:
        return ()
    return ("--prtemca", "prte_if_include", interface) if new else ("--mca", "oob_tcp_if_include", interface)
