"""Flux's own launcher: a job inside the instance that Assay runs in."""

from assay.launch.command import Command, Layout, Site
from assay.launch.networks import step_variables, uses_prrte
from assay.launch.remote import GRACE_S, StepLauncher, forwarded_environment


class Flux(StepLauncher):
    """Starts programs by Flux's own daemons; no ssh is needed."""

    name = "flux"
    scheduler = "flux"

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """A job on the layout's hosts; ranks bind themselves. Flux orders the hosts itself."""
        pmi = ("-opmi=pmix",) if layout.mpi and layout.mpi.kind == "openmpi" and uses_prrte(layout.mpi) else ()
        words = (
            *("flux", "run", "--exclusive", f"--nodes={len(layout.hosts)}"),
            f"--tasks-per-node={layout.counts[0]}",
            f"--requires=host:{','.join(layout.hosts)}",
            "-ocpu-affinity=off",
            *pmi,
        )
        return Command((*words, *argv), forwarded_environment(environment, site) | step_variables(layout), GRACE_S)


launcher = Flux()
