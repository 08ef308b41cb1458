"""MPICH, with its own mpiexec (Hydra)."""

from assay.launch import hydra, networks
from assay.launch.command import Command, Layout, Site
from assay.launch.remote import GRACE_S, MpiLauncher, forwarded_environment


class Mpich(MpiLauncher):
    """Starts the programs of an MPICH with the mpiexec that belongs to it."""

    name = "mpich"

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """The mpiexec of the MPI: the hosts in order, with their numbers of ranks, each bound to its cpus."""
        assert layout.mpi is not None  # noqa: S101 (it would not fit)
        environment = forwarded_environment(environment, site)
        reaching = hydra.extra_ssh(layout, site, "HYDRA_LAUNCHER_EXTRA_ARGS")
        words = (
            layout.mpi.launcher,
            *("-launcher", "ssh" if reaching else "fork"),
            *hydra.control(layout, site),
            *hydra.FOLDER,
            *(
                "-hosts",
                ",".join(f"{host}:{count}" for host, count in zip(layout.hosts, layout.counts, strict=True)),
            ),
            *("-n", f"{layout.size}"),
            *("-bind-to", hydra.binding(layout)),
            *hydra.variables(environment | networks.network_variables(layout.mpi, layout.network)),
        )
        return Command((*words, *argv), environment | reaching, GRACE_S)


launcher = Mpich()
