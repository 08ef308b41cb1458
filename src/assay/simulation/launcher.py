"""The launcher of a simulated machine: it tells it the hosts of a launch, which no argument of a program names."""

from collections.abc import Mapping

from assay.launch.command import Command, Layout, Site

#: Hosts of a launch, with blanks.
_HOSTS = "ASSAY_SIMULATED_HOSTS"
#: Numbers of ranks on them, where those are not the same.
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
    """Numbers of ranks on the hosts that the launcher told; empty where all have the same ranks."""
    return tuple(map(int, environment.get(_COUNTS, "").split()))


def hosts_of(environment: Mapping[str, str], known: tuple[str, ...]) -> tuple[str, ...]:
    """Of the `known` hosts those that the launcher told; all of them where it told none of them."""
    told = environment.get(_HOSTS, "").split()
    return tuple(host for host in told if host in known) or known
