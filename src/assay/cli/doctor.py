"""`assay doctor`: settings and states of this machine that can disturb a measurement."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from assay.cli.support import options, output, site
from assay.cli.support.fitness import examine
from assay.cli.support.nodes import UNFIT, addressed, merged, require_fit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rich.console import Console

    from assay.launch.command import Site
    from assay.machine.counters import Counters
    from assay.model.check import Check, Checks
    from assay.model.facts import Fact
    from assay.model.machine import Machine

#: Minimum time to watch other processes: 25 ticks of each cpu.
_WATCHED_S = 0.25
_MEASURABLE = "this machine can be measured. next: "
_MARKS = {"ok": ("ok", "green"), "warning": ("warning", "yellow"), "problem": ("problem", "red")}


@click.command()
@options.place_options
@options.mpis_option
@options.networks_option
@click.option("--json", "as_json", is_flag=True, help="Print every check and its facts as JSON.")
def command(  # noqa: PLR0913, PLR0917 (one parameter an option)
    nodes: tuple[str, ...],
    hostfile: str | None,
    launcher: str | None,
    ssh_config: str | None,
    mpis: tuple[str, ...],
    networks: str | None,
    *,
    as_json: bool,
) -> None:
    """Check the settings and states that can disturb a measurement.

    Assay checks settings, limits, other users and processes, and its own requirements. A warning means that
    figures can change, a problem means that measuring is impossible. Assay changes nothing: it shows the command
    that changes a setting.

    With --hosts, or inside an allocation, it checks whether the nodes can be measured together: ssh, the same
    programs, an MPI that starts, and the interfaces of --network.

    Exit codes: 0 this machine can be measured; 4 it cannot.
    """
    before = _counters()  # first: other processes are watched during all further checks
    hosts = site.node_names(nodes, hostfile)
    place = site.find(launcher, ssh_config)
    if hosts and hosts != (place.host,):
        _show_nodes(hosts, place, mpis, networks, as_json=as_json)
        return
    checks = _checks(before)
    if as_json:
        output.print_json(checks)
    else:
        show_checks(checks.checks, output.console(), f"{_MEASURABLE}assay run quick", UNFIT)
    require_fit(checks.checks)


def _show_nodes(
    hosts: tuple[str, ...], place: Site, mpis: tuple[str, ...], networks: str | None, *, as_json: bool
) -> None:
    """Print whether nodes can be measured together."""
    import msgspec

    from assay import plan as planning
    from assay.launch.starter import Starter

    following = shlex.join(["assay", "run", "network", *output.typed({"as_json"})])
    fresh = msgspec.structs.replace(place, sockets="")  # open connections do not prove that new ones work
    checks = examine(hosts, Starter(fresh), mpis, planning.parse_networks(networks) if networks else {})
    together = merged(checks)
    if as_json:
        output.print_json(
            {"schema": 1, "fit": all(one.fit for one in checks), "hosts": [addressed(one) for one in checks]}
        )
    else:
        show_checks(together, output.console(), f"{_MEASURABLE}{following}", UNFIT)
    require_fit(together)


def _counters() -> Counters | None:
    """Counters of all processes of this machine so far."""
    from pathlib import Path

    from assay.machine import counters

    return counters.read(Path("/"))


def _checks(before: Counters | None) -> Checks:
    """The checks of this machine and of its current state; use by other processes is counted since `before`."""
    import os
    import time
    from pathlib import Path

    import msgspec

    from assay.machine import doctor, state
    from assay.model.check import CHECKS_SCHEMA, Checks

    here = _found()
    if before:
        time.sleep(max(0.0, before.at_s + _WATCHED_S - time.monotonic()))
    now = state.facts(Path("/"), before, frozenset({os.getpid()}))
    checks = doctor.examine(msgspec.structs.replace(here, facts=here.facts | {"now": now}))
    return Checks(CHECKS_SCHEMA, here.host, all(check.state != "problem" for check in checks), checks)


def _found() -> Machine:
    """The facts of this machine, with its tools and folders."""
    from threading import Thread

    import msgspec

    from assay import machine, toolchain
    from assay.model.folders import runs_folder

    finds = {
        "compiler": _compiler,
        "build tools": lambda: ", ".join(toolchain.tools()),
        "MPI": _mpi,
        "BLAS": _blas,
    }
    tools: dict[str, Fact] = {}

    def look(name: str) -> None:
        tools[name] = _of(finds[name])

    # Most of the time goes into other programs that report their versions: they run in parallel.
    asking = [Thread(target=look, args=(name,)) for name in finds]
    for each in asking:
        each.start()
    here, _ = machine.discover()
    output.console()  # load the code for printing meanwhile
    for each in asking:
        each.join()
    facts = {
        "tools": tools,
        "folders": _folder("runs", runs_folder()) | _folder("builds", toolchain.builds_folder()),
    }
    return msgspec.structs.replace(here, facts=here.facts | facts)


def _of(find: Callable[[], str]) -> Fact:
    """The result of a search as a fact, or why it failed."""
    from assay.model.errors import AssayError
    from assay.model.facts import Fact, unavailable

    try:
        return Fact(find(), source="PATH and the environment of this Python")
    except AssayError as error:
        return unavailable(f"{error.what}: {error.why}" if error.why else error.what)


def _compiler() -> str:
    from assay import toolchain

    default = toolchain.get()
    return f"{default.version} ({default.compiler})"


def _mpi() -> str:
    from assay import toolchain
    from assay.cli.support import settings

    first = toolchain.get_mpi("", settings.table("mpi"))
    return f"{first.name} ({first.compiler})"


def _blas() -> str:
    from assay import toolchain
    from assay.cli.support import settings
    from assay.model.errors import UnfitEnvironmentError

    found = toolchain.find_libraries("blas", settings.table("blas"))
    if not found:
        raise UnfitEnvironmentError(
            "there is no BLAS", why="no wheel, no module and no package of the system has one"
        )
    return f"{found[0].name} ({found[0].file})"


def _folder(name: str, folder: Path) -> dict[str, Fact]:
    """Free bytes and the file system of a folder, or of its nearest existing parent."""
    import os
    import shutil

    from assay.model.facts import Fact, unavailable

    folder = folder.absolute()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        return {name: unavailable(f"{there} cannot be written")}
    kind = _file_system(there)
    return {
        name: Fact(shutil.disk_usage(there).free, "B", str(there)),
        f"file system of {name}": Fact(kind, source="/proc/self/mountinfo") if kind else unavailable("not told"),
    }


def _file_system(folder: Path) -> str:
    """Type of the file system of a folder: that of the longest mount point above it (proc(5), mountinfo)."""
    from pathlib import Path

    from assay.machine import files

    kinds: dict[Path, str] = {}
    for line in (files.text(Path("/proc/self/mountinfo")) or "").splitlines():
        mounted, _, tail = line.partition(" - ")
        kinds[Path(mounted.split()[4])] = tail.split()[0]
    resolved = folder.resolve()
    return next((kinds[path] for path in (resolved, *resolved.parents) if path in kinds), "")


def show_checks(checks: Sequence[Check], console: Console, good: str, bad: str) -> None:
    """Print problems and warnings with reason and remedy, then good checks, then unknown ones.

    Args:
        checks: in order.
        console: where to print.
        good: conclusion if there is no problem.
        bad: conclusion if there is a problem.
    """
    from rich.text import Text

    by_state: dict[str, list[Check]] = {}
    for check in checks:
        by_state.setdefault(check.state, []).append(check)
    troubled = by_state.get("problem", []) + by_state.get("warning", [])
    for check in troubled:
        word, style = _MARKS[check.state]
        console.print(Text.assemble((f"{word}: ", style), (f"{check.name}: ", "bold"), check.found))
        _say(check.why, console, "  why:  ")
        if check.remedy:
            _say(check.remedy, console, "  next: ")
    if troubled:
        console.print()
    for check in by_state.get("ok", []):
        _say(f"{check.name}: {check.found}", console, "ok: ")
    unknown = by_state.get("unknown", [])
    if unknown:
        console.print("\nnot known")
    for check in unknown:
        _say(f"{check.name}: {check.found}", console, "  ")
    console.print()
    _say(_sum(by_state, good, bad), console, "")


def _sum(by_state: dict[str, list[Check]], good: str, bad: str) -> str:
    from assay.model.units import count_of

    problems, warnings = len(by_state.get("problem", [])), len(by_state.get("warning", []))
    others = count_of(warnings, "warning") if warnings else "no warnings"
    if problems:
        return f"{count_of(problems, 'problem')}, {others}: {bad}"
    return f"{others}; {good}"


def _say(line: str, console: Console, indent: str) -> None:
    """Print a paragraph, wrapped at the width of the terminal."""
    import textwrap

    wrapped = textwrap.fill(
        line,
        console.width,
        initial_indent=indent,
        subsequent_indent=" " * len(indent),
        break_on_hyphens=False,
        break_long_words=False,
    )
    console.print(wrapped, soft_wrap=True)
