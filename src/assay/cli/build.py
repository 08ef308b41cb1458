"""`assay build`: compile the native programs, ahead of a run or to use them alone."""

import click

from assay.cli import output


@click.command()
@click.option(
    "--toolchain",
    "names",
    metavar="NAME",
    multiple=True,
    callback=output.each_once,
    help="Compiler to build with: gcc, clang, a name in assay.toml, each with added flags as gcc+O2. "
    "May be given more than once. Default: the first of `assay list toolchains`.",
)
@click.option(
    "--flags", metavar="FLAGS", help='Compiler flags in place of the usual ones, e.g. "-O2 -march=native".'
)
@click.option("--force", is_flag=True, help="Build even if the cache has it.")
@click.option("--json", "as_json", is_flag=True, help="Print the manifests as JSON.")
def command(names: tuple[str, ...], flags: str | None, *, force: bool, as_json: bool) -> None:
    """Build the native programs; print where they are.

    Builds are kept in a cache, keyed by sources, compiler, flags and processor; `assay run` builds by itself what
    it needs. Each program can be used alone: see its --help.
    """
    import msgspec

    from assay import toolchain
    from assay.cli import settings

    declared = settings.table("toolchain")
    chosen = [toolchain.get(name, declared) for name in names or ("",)]
    if flags is not None:
        chosen = [toolchain.with_flags(one, flags) for one in chosen]
    builds = [
        toolchain.build(one, lambda text: click.echo(f"assay: {text}", err=True), again=force) for one in chosen
    ]
    if as_json:
        document = {"schema": 1, "builds": builds}
        click.echo(msgspec.json.format(msgspec.json.encode(document)).decode())
        return
    for build in builds:
        click.echo(f"{build.toolchain.name}: {build.toolchain.version}, {' '.join(build.toolchain.flags)}")
        for path in build.programs.values():
            click.echo(f"  {path}")
