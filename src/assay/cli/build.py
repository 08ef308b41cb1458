"""`assay build`: compile the native programs, before a run or to use them alone."""

import click

from assay.cli.support import hosts, options, output
from assay.model.errors import UsageError


@click.command()
@click.option(
    "--toolchain",
    "names",
    metavar="NAME",
    multiple=True,
    callback=options.each_once,
    help="Compiler: gcc, clang or a name in assay.toml; flags can be added, as gcc+O2. Can be given several "
    "times. Default: the first of `assay list toolchains`.",
)
@click.option(
    "--mpi",
    "mpis",
    metavar="NAME",
    multiple=True,
    callback=options.each_once,
    help="Build the MPI programs, too, with openmpi, mpich-4 or a name in assay.toml. Can be given several times.",
)
@click.option(
    "--flags", metavar="FLAGS", help='Compiler flags instead of the default ones, e.g. "-O2 -march=native".'
)
@click.option("--force", is_flag=True, help="Build even if the cache has the programs.")
@click.option(
    "--deploy",
    is_flag=True,
    help="Copy the programs to --hosts that do not share a home directory with this machine.",
)
@click.option(
    "--application",
    metavar="NAME",
    help="Install an application instead, without root, in a folder of Assay's: its Debian or Python packages.",
)
@hosts.hosts_option
@click.option("--ssh-config", metavar="FILE", help="Configuration file for ssh to the hosts.")
@click.option("--json", "as_json", is_flag=True, help="Print the manifests as JSON.")
def command(  # noqa: PLR0913, PLR0917 (one parameter an option)
    names: tuple[str, ...],
    mpis: tuple[str, ...],
    flags: str | None,
    nodes: tuple[str, ...],
    ssh_config: str | None,
    application: str | None,
    *,
    force: bool,
    deploy: bool,
    as_json: bool,
) -> None:
    """Build the native programs and print their paths.

    A cache keeps the builds; its key is sources, compiler, flags and processor. `assay run` builds what it needs.
    Each program also works alone: see its --help.

    --deploy copies the programs over ssh to the same folder on each of the --hosts, checks their hashes and starts
    them once. Hosts that already have them stay unchanged.
    """
    from assay import toolchain
    from assay.catalogue import application_files
    from assay.cli.support import settings, site
    from assay.launch.remote import ssh_options

    if application is not None:
        output.echo(toolchain.applications.install(application_files.named(application), output.say))
        return
    if deploy != bool(nodes):
        raise UsageError(
            "--deploy and --hosts need each other",
            why="it copies programs to hosts",
            remedy="assay build --deploy --hosts 'node[01-04]'",
        )
    declared, tables = settings.table("toolchain"), settings.table("mpi")
    requested = [
        toolchain.with_mpi(name, mpi)
        for name in names or ("",)
        for mpi in (toolchain.mpi_names(mpis, tables) if mpis else ("",))
    ]
    chosen = [toolchain.get(name, declared, tables) for name in requested]
    if flags is not None:
        chosen = [toolchain.with_flags(one, flags) for one in chosen]
    builds = [toolchain.build(one, output.say, again=force) for one in chosen]
    if deploy:
        ssh = ("ssh", *ssh_options(site.find(ssh_config=ssh_config)), "--")
        toolchain.deploy(builds, nodes, lambda host: (*ssh, host), output.say)
    if as_json:
        output.print_json({"schema": 1, "builds": builds})
        return
    for build in builds:
        output.echo(f"{build.toolchain.name}: {build.toolchain.version}, {' '.join(build.toolchain.flags)}")
        for path in build.programs.values():
            output.echo(f"  {path}")
