"""jsrun of IBM's Job Step Manager: one resource set of all cpus on each host of an allocation of LSF."""

from assay.launch.command import Command, Layout, Site
from assay.launch.networks import step_variables
from assay.launch.remote import GRACE_S, StepLauncher, forwarded_environment


class Jsrun(StepLauncher):
    """Starts programs inside LSF by JSM's daemons; no ssh is needed."""

    name = "jsrun"
    scheduler = "lsf"

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """A resource set on each host with all of its ranks, which bind themselves; hosts are in LSF's order."""
        variables = forwarded_environment(environment, site) | step_variables(layout)
        words = (
            *("jsrun", f"--nrs={len(layout.hosts)}", "--rs_per_host=1", f"--tasks_per_rs={layout.counts[0]}"),
            *("--cpu_per_rs=ALL_CPUS", "--gpu_per_rs=ALL_GPUS", "--bind=none"),
            *(word for name, value in variables.items() for word in ("-E", f"{name}={value}")),
        )
        return Command((*words, *argv), variables, GRACE_S)


launcher = Jsrun()
