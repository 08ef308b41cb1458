"""This node: the program is started directly and places itself."""

from assay.launch.command import Command, Layout, Site


class Local:
    """Starts the program directly, on the node where Assay runs."""

    name = "local"
    preference = 0

    def fits(self, layout: Layout, site: Site) -> bool:
        """A program without MPI on this node."""
        return layout.mpi is None and layout.hosts == (site.host,)

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """The program with its arguments."""
        del layout, site  # not needed for one process on this node
        return Command(argv, environment)


launcher = Local()
