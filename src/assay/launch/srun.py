"""Slurm's srun: a job step inside the allocation that Assay runs in."""

from assay.launch.command import Command, Layout, Site
from assay.launch.networks import step_variables
from assay.launch.remote import GRACE_S, cpu_mask, forwarded_environment
from assay.model.toolchain import SLURM_PMI

#: A step shares all resources of the job, so that none waits for another; the whole environment is passed on, even
#: if the job was submitted without the user's; if one rank fails, all are ended.
_STEP = ("--quiet", "--overlap", "--mem=0", "--export=ALL", "--input=none", "--kill-on-bad-exit=1")


class Srun:
    """Starts programs by Slurm's own daemons: no ssh is needed, and Slurm ends all processes of a step."""

    name = "srun"
    preference = 10

    def fits(self, layout: Layout, site: Site) -> bool:
        """Inside a Slurm allocation: MPI programs, and programs without MPI on one other host."""
        if site.scheduler != "slurm":
            return False
        if layout.mpi is None:
            return len(layout.hosts) == 1
        # Intel MPI also needs `I_MPI_PMI_LIBRARY`, which only the site knows.
        return layout.mpi.kind != "intel" or site.launcher == self.name

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """A step on the layout's hosts, with their numbers of tasks, each bound to its cpus."""
        counts = layout.counts if layout.mpi else (1,) * len(layout.hosts)
        masks = ",".join(f"{cpu_mask(cpus):#x}" for cpus in layout.ranks)
        binding = (f"--cpu-bind=mask_cpu:{masks}",) if all(layout.ranks) else ()
        if layout.by_host:  # one list is for all hosts
            binding = ("--cpu-bind=none",)
        pmi = SLURM_PMI[layout.mpi.kind] if layout.mpi else "none"
        tasks = tuple(host for host, count in zip(layout.hosts, counts, strict=True) for _ in range(count))
        words = (
            *("srun", *_STEP),
            f"--nodes={len(layout.hosts)}",
            f"--ntasks={len(tasks)}",
            # Any other distribution uses Slurm's order of hosts; this one reads a file with a line for each rank.
            "--distribution=arbitrary",
            *binding,
            *((f"--mpi={pmi}",) if pmi else ()),
        )
        variables = forwarded_environment(environment, site) | step_variables(layout)
        return Command((*words, *argv), variables, GRACE_S, {"SLURM_HOSTFILE": tasks})


launcher = Srun()
