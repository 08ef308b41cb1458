"""PALS, the launcher of HPE Cray systems inside PBS: an mpiexec with its own options."""

from assay.launch.command import Command, Layout, Site
from assay.launch.networks import step_variables
from assay.launch.remote import GRACE_S, StepLauncher, forwarded_environment


class Pals(StepLauncher):
    """Starts programs inside PBS by PALS's daemons; no ssh is needed."""

    name = "pals"
    scheduler = "pbs"

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """The hosts in order, with the same number of ranks on each; ranks bind themselves."""
        variables = forwarded_environment(environment, site) | step_variables(layout)
        words = (
            *("mpiexec", f"--np={layout.size}", f"--ppn={layout.counts[0]}", f"--hosts={','.join(layout.hosts)}"),
            "--cpu-bind=none",
            *(word for name, value in variables.items() for word in ("--env", f"{name}={value}")),
        )
        return Command((*words, *argv), variables, GRACE_S)


launcher = Pals()
