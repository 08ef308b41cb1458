"""Intel MPI, by its own mpiexec (a Hydra with options and variables of its own)."""

from assay.launch import hydra, networks
from assay.launch.command import Command, Layout, Site
from assay.launch.remote import GRACE_S, carried, mask


class Intel:
    """Starts the programs of an Intel MPI with the mpiexec that belongs to it."""

    name = "intel"
    preference = 20

    def fits(self, layout: Layout, site: Site) -> bool:
        """A program of this MPI, anywhere that mpiexec reaches."""
        del site
        return layout.mpi is not None and layout.mpi.kind == "intel" and bool(layout.mpi.launcher)

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """The mpiexec of the MPI: hosts in order, so many ranks on each, each in a domain of its cpus."""
        assert layout.mpi is not None  # noqa: S101 (it would not fit)
        environment = carried(environment, site)
        messages = networks.variables(layout.mpi, layout.network)
        reaching = hydra.extra_ssh(layout, site, "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS")
        by_slurm = bool(reaching) and site.scheduler == "slurm"
        bootstrap = "slurm" if by_slurm else "ssh" if reaching else "fork"
        domains = f"[{','.join(f'{mask(cpus):X}' for cpus in layout.ranks)}]"
        words = (
            layout.mpi.launcher,
            *("-bootstrap", bootstrap),
            *hydra.control(layout, site),
            *hydra.FOLDER,
            *("-hosts", ",".join(layout.hosts), "-ppn", f"{len(layout.ranks)}", "-n", f"{layout.size}"),
            *hydra.variables(environment | {"I_MPI_PIN_DOMAIN": domains} | messages),
        )
        # A scheduler's own number of tasks a node would be taken for the one that is asked for.
        asked = {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "0"}
        return Command((*words, *argv), environment | asked | ({} if by_slurm else reaching), GRACE_S)


launcher = Intel()
