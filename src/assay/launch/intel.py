"""Intel MPI, with its own mpiexec (a Hydra with additional options and variables)."""

from assay.launch import hydra, networks
from assay.launch.command import Command, Layout, Site
from assay.launch.remote import GRACE_S, MpiLauncher, cpu_mask, forwarded_environment


class Intel(MpiLauncher):
    """Starts the programs of an Intel MPI with the mpiexec that belongs to it."""

    name = "intel"

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """The mpiexec of the MPI: the hosts in order, with their numbers of ranks, each in its own domain."""
        assert layout.mpi is not None  # noqa: S101 (it would not fit)
        environment = forwarded_environment(environment, site)
        messages = networks.network_variables(layout.mpi, layout.network)
        reaching = hydra.extra_ssh(layout, site, "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS")
        scheduled = bool(reaching) and (site.scheduler == "slurm" or bool(site.task_starter))
        if scheduled:
            tasks = ("rsh", "-bootstrap-exec", site.task_starter)
            bootstrap = ("slurm",) if site.scheduler == "slurm" else tasks
        else:
            bootstrap = ("ssh" if reaching else "fork",)
        domains = f"[{','.join(f'{cpu_mask(cpus):X}' for cpus in layout.ranks)}]"
        free = layout.by_host or not all(layout.ranks)
        pinned = {"I_MPI_PIN": "off"} if free else {"I_MPI_PIN_DOMAIN": domains}
        words = (
            layout.mpi.launcher,
            *("-bootstrap", *bootstrap),
            *hydra.control(layout, site),
            *hydra.FOLDER,
        )
        variables = hydra.variables(environment | pinned | messages)
        if len(set(layout.counts)) > 1:  # `-ppn` is for all hosts: each host is a separate part
            parts = [
                (*(":",) * bool(number), "-host", host, "-n", f"{count}", *argv)
                for number, (host, count) in enumerate(zip(layout.hosts, layout.counts, strict=True))
            ]
            started = (*variables, *(word for part in parts for word in part))
        else:
            each = ("-ppn", f"{len(layout.ranks)}", "-n", f"{layout.size}")
            started = ("-hosts", ",".join(layout.hosts), *each, *variables, *argv)
        # Else the scheduler's number of tasks per node would override the requested one.
        own = {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "0"}
        return Command((*words, *started), environment | own | ({} if scheduled else reaching), GRACE_S)


launcher = Intel()
