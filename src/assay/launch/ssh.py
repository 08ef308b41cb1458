"""OpenSSH: a program without MPI on one other host."""

import shlex

from assay.launch.command import Command, Layout, Site
from assay.launch.remote import GRACE_S, forwarded_environment, ssh_options


class Ssh:
    """Starts a program through the remote user's shell; its environment and arguments arrive unchanged."""

    name = "ssh"
    preference = 30

    def fits(self, layout: Layout, site: Site) -> bool:
        """A program without MPI on one other host."""
        return layout.mpi is None and len(layout.hosts) == 1 and layout.hosts != (site.host,)

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """One ssh; `env` sets the variables, because servers accept only known ones."""
        variables = (f"{name}={value}" for name, value in forwarded_environment(environment, site).items())
        there = shlex.join(("exec", "env", *variables, *argv))
        run = {"ASSAY_RUN": site.run} if site.run else {}
        return Command(("ssh", *ssh_options(site), "--", layout.hosts[0], there), run, GRACE_S)


launcher = Ssh()
