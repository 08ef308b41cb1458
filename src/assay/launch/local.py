"""This node: the program is started directly, it places itself."""

from assay.launch.command import Command, Layout, Site


class Local:
    """Starts the program itself, on the node where Assay runs."""

    name = "local"
    preference = 0

    def fits(self, layout: Layout, site: Site) -> bool:
        """A program that stands alone, on this very node."""
        return layout.mpi is None and layout.hosts == (site.host,)

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """The program with its arguments."""
        del layout, site  # one process on this node needs neither
        return Command(argv, environment)


launcher = Local()
