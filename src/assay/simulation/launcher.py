"""The launcher of a simulated machine: it passes the hosts of a launch, which no argument of a program names."""

from collections.abc import Mapping

from assay.launch.command import Command, Layout, Site

#: Hosts of a launch, separated by blanks.
_HOSTS = "ASSAY_SIMULATED_HOSTS"
#: Numbers of ranks on them, where these differ.
_COUNTS = "ASSAY_SIMULATED_RANKS"


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
        counts = {_COUNTS: " ".join(map(str, layout.counts))} if layout.by_host else {}
        return Command(argv, environment | {_HOSTS: " ".join(layout.hosts)} | counts)


def counts_of(environment: Mapping[str, str]) -> tuple[int, ...]:
    """Return the numbers of ranks on the hosts of a launch; empty where all have the same ranks."""
    return tuple(map(int, environment.get(_COUNTS, "").split()))


def hosts_of(environment: Mapping[str, str], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the hosts of a launch, of those that are `known`; all known hosts where the launcher names none."""
    named = environment.get(_HOSTS, "").split()
    return tuple(host for host in named if host in known) or known
