"""`assay check`: check a declaration with the figures that it finds in an output, or the records of a run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.support import output, settings
from assay.model.errors import MeasurementError, PartialRunError, UnfitEnvironmentError, UsageError

if TYPE_CHECKING:
    from assay.importing.application import Reading
    from assay.model.application import Application
    from assay.model.toolchain import Build


@click.command()
@click.argument("application", metavar="APPLICATION|RUN")
@click.argument("kept", metavar="[OUTPUT]", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--set",
    "values",
    metavar="NAME=VALUE",
    multiple=True,
    help="Parameter of the run that wrote the output, or its ranks or threads: edge=20, ranks=4.  [default: the "
    "declared ones]",
)
@click.option(
    "--hash", "last", metavar="HASH", default="", help="Last hash of the RUN, as somebody kept it when it ended."
)
@output.json_option
def command(application: str, kept: Path | None, values: tuple[str, ...], last: str, *, as_json: bool) -> None:
    """Check an application, a package, or the records of a run.

    The patterns of the declaration are tried on the OUTPUT of a run of it. APPLICATION is a .toml file or a name
    of assay list applications. OUTPUT is a file, also compressed as the runs keep it (logs/*.output.gz).

    APPLICATION may also be an installed package that adds benchmarks: its programs are built and describe
    themselves, and those that need no MPI, library, device or folder measure a short case. Both are compared with
    their declarations.

    RUN is a directory, a packed file, an id (or its begin) or last. Each of its records states the hash of the one
    before: a record that somebody edited, added or removed later is named. Who makes all hashes anew is found only
    by --hash, the last hash, which assay run and assay pack print.

    Exit codes: 0 every figure is found and nothing is wrong; 1 a figure is not found, a check failed, a program
    does not measure what is declared, or a record is not as it was written; 2 the declaration is wrong, or a
    package ships program and declaration apart; 4 without OUTPUT: its program is not here; 5 the records of the
    RUN are not chained, so nobody can tell.
    """
    import msgspec

    from assay import importing, toolchain
    from assay.catalogue import application_files
    from assay.importing import application as reading
    from assay.model.units import count_of
    from assay.toolchain import conformity

    if run := _run(application):
        _check_run(run, last, as_json=as_json)
        return
    if last:
        raise UsageError(f"'{application}' is not a run", why="--hash is of a run", remedy="assay check last")
    if package := conformity.package_of(application):
        _check_package(package, as_json=as_json)
        return
    declared = application_files.named(application)
    if kept is None:
        why = toolchain.applications.absent(declared)
        if as_json:
            output.print_json({"schema": 1, "application": declared.name, "absent": why})
        else:
            figures, checks = count_of(len(declared.figures), "figure"), count_of(len(declared.verify), "check")
            output.echo(f"{declared.name}: {figures}, {checks}")
        if why:
            raise UnfitEnvironmentError(f"'{declared.name}' cannot run here", why=why, remedy="assay build --help")
        return
    content = importing.read_file(str(kept), "assay check --help")
    text = importing.unpacked(str(kept), content).decode(errors="replace")
    found = reading.read(declared, text, _values(declared, values))
    if as_json:
        output.print_json({"schema": 1, "application": declared.name, "reading": msgspec.to_builtins(found)})
    else:
        _show(found)
    if found.missing or found.wrong:
        again = ("assay", "check", application, str(kept), *(word for each in values for word in ("--set", each)))
        sought = [*found.missing, *(f"{each.about}: {each.said}" for each in found.wrong)]
        raise MeasurementError(
            f"'{kept}' is not an output of a good run of {declared.name}",
            why=f"{sought[0]}; it ends with: {reading.last_lines(text)}",
            remedy=f"correct the declaration or the run; then: {shlex.join(again)}",
        )


def _run(word: str) -> Path | None:
    """The run that a word names; None for an application or a package."""
    from assay import store

    path = Path(word)
    named = word == "last" or word[:1].isdigit() or (path / "run.json").is_file() or store.is_packed(path)
    return store.find(word) if named else None


def _check_run(path: Path, last: str, *, as_json: bool) -> None:
    """Check that the records of a run are as they were written."""
    from assay import store
    from assay.report.provenance import chained

    run = store.load(path)
    if run.imported:
        raise UsageError(
            f"run '{run.info.id}' was imported", why="it has no records of Assay", remedy=f"assay show {path}"
        )
    if as_json:
        output.print_json({"schema": 1, "run": run.info.id, "chain": run.chain, "damage": run.damage})
    else:
        output.echo(f"{run.info.id}: {chained(run)}")
        for sentence in run.damage[:-1]:  # the last one is in the error
            output.echo(sentence)
    again = f"restore the run from a copy, then: assay check {store.typed(path)}"
    if last and not run.chain.broken and last != run.chain.last:
        ends = run.chain.last or "none"
        raise MeasurementError(
            f"the records of run '{run.info.id}' do not end with this hash",
            why=f"they end with {ends}: made anew, or the run was resumed after the hash was kept",
            remedy=again,
        )
    if run.damage:
        raise MeasurementError(
            f"records of run '{run.info.id}' are not as they were written", why=run.damage[-1], remedy=again
        )
    if not run.chain.last:
        raise PartialRunError(
            f"the records of run '{run.info.id}' cannot be checked",
            why="they are not chained by hashes: the run was made by an earlier Assay",
            remedy=shlex.join(run.info.command),
        )


def _check_package(package: str, *, as_json: bool) -> None:
    """Check the programs of a package against their declarations."""
    import msgspec

    from assay import toolchain
    from assay.toolchain import conformity

    def built(programs: frozenset[str], *, by_mpi: bool) -> Build:
        tables = settings.table("mpi")
        name = toolchain.with_mpi("", toolchain.get_mpi("", tables).name) if by_mpi else ""
        return toolchain.build(
            toolchain.get(name, settings.table("toolchain"), tables), output.say, programs=programs
        )

    checked = conformity.check(package, built)
    if as_json:
        output.print_json({"schema": 1, "package": package, "benchmarks": msgspec.to_builtins(checked)})
    for one in () if as_json else checked:
        passed = "measures what is declared" if one.tried else "describes itself as declared"
        output.echo("\n".join(f"{one.benchmark}: {line}" for line in one.problems or (passed,)))
    if wrong := [one for one in checked if one.problems]:
        raise MeasurementError(
            f"{wrong[0].benchmark} of package '{package}' does not measure what it declares",
            why=wrong[0].problems[0],
            remedy=f"correct the program or its declaration; then: assay check {package}",
        )


def _values(declared: Application, given: tuple[str, ...]) -> dict[str, str]:
    """The value of each placeholder; ranks and threads only if they are given."""
    from assay.model.application import PLACED

    values = {
        name: str(axis.values[0] if axis.default is None else axis.default)
        for name, axis in declared.parameters.items()
    }
    for word in given:
        name, equals, value = word.partition("=")
        if not equals or name not in {*values, *PLACED}:
            known = ", ".join((*values, *PLACED))
            raise UsageError(
                f"'{word}' is not a value of a parameter", why=f"known: {known}", remedy="--set ranks=4"
            )
        values[name] = value
    return values


def _show(found: Reading) -> None:
    """Print a line for each figure and each check."""
    if found.version:
        output.echo(f"version  {found.version}")
    for each in found.taken:
        values = ", ".join(f"{value:.6g}" for value in each.values)
        matches = f"   ({each.matches} matches)" if each.matches > 1 else ""
        output.echo(f"figure   {each.name}: {values} {each.unit}{matches}")
    for why in found.missing:
        output.echo(f"missing  {why}")
    for check in found.checks:
        output.echo(f"{check.status:<8} {check.about}: {check.said}")
