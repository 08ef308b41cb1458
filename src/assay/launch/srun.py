"""Slurm's srun: a job step inside the allocation that Assay runs in."""

from assay.launch.command import Command, Layout, Site
from assay.launch.networks import step_variables
from assay.launch.remote import GRACE_S, cpu_mask, forwarded_environment
from assay.model.toolchain import SLURM_PMI

#: A step shares all that the job has, so that none waits for another's end; the environment travels whole, even
#: where the job was submitted without the user's; one rank's end ends all.
_STEP = ("--quiet", "--overlap", "--mem=0", "--export=ALL", "--input=none", "--kill-on-bad-exit=1")


class Srun:
    """Starts programs by Slurm's own daemons: no ssh is needed, and Slurm ends all that a step started."""

    name = "srun"
    preference = 10

    def fits(self, layout: Layout, site: Site) -> bool:
        """Inside an allocation of Slurm: MPI programs, and programs that stand alone on one other host."""
        if site.scheduler != "slurm":
            return False
        if layout.mpi is None:
            return len(layout.hosts) == 1
        # Intel's needs `I_MPI_PMI_LIBRARY`, too, which only the site knows.
        return layout.mpi.kind != "intel" or site.launcher == self.name

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """A step on the layout's hosts, so many tasks on each, each bound to its cpus."""
        counts = layout.counts if layout.mpi else (1,) * len(layout.hosts)
        masks = ",".join(f"{cpu_mask(cpus):#x}" for cpus in layout.ranks)
        binding = (f"--cpu-bind=mask_cpu:{masks}",) if all(layout.ranks) else ()
        if layout.by_host:  # one list counts for every host
            binding = ("--cpu-bind=none",)
        pmi = SLURM_PMI[layout.mpi.kind] if layout.mpi else "none"
        tasks = tuple(host for host, count in zip(layout.hosts, counts, strict=True) for _ in range(count))
        words = (
            *("srun", *_STEP),
            f"--nodes={len(layout.hosts)}",
            f"--ntasks={len(tasks)}",
            # Any other distribution takes the hosts in Slurm's order; this one has a line of a file for each rank.
            "--distribution=arbitrary",
            *binding,
            *((f"--mpi={pmi}",) if pmi else ()),
        )
        variables = forwarded_environment(environment, site) | step_variables(layout)
        return Command((*words, *argv), variables, GRACE_S, {"SLURM_HOSTFILE": tasks})


launcher = Srun()
