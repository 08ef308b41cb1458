"""The launcher of a simulated machine: it tells it the hosts of a launch, which no argument of a program names."""

from collections.abc import Mapping

from assay.launch.command import Command, Layout, Site

#: Hosts of a launch, with blanks.
_HOSTS = "ASSAY_SIMULATED_HOSTS"


class Simulated:
    """Starts anything anywhere."""

    name = "simulated"
    preference = 0

    def fits(self, layout: Layout, site: Site) -> bool:
        """Always."""
        del layout, site
        return True

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """The program with its arguments, and the hosts as a variable."""
        del site
        return Command(argv, environment | {_HOSTS: " ".join(layout.hosts)})


def hosts_of(environment: Mapping[str, str], known: tuple[str, ...]) -> tuple[str, ...]:
    """Of the `known` hosts those that the launcher told; all of them where it told none of them."""
    told = environment.get(_HOSTS, "").split()
    return tuple(host for host in told if host in known) or known
