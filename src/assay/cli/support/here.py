"""The checks of this machine, and how checks are printed and judged."""

import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread

import msgspec
from rich.console import Console
from rich.text import Text

from assay import machine, toolchain
from assay.cli.support import output, settings
from assay.machine import doctor, folders, state
from assay.machine.counters import Counters
from assay.model.errors import AssayError, UnfitEnvironmentError
from assay.model.facts import CHECKS_SCHEMA, Check, Checks, Fact, unavailable
from assay.model.folders import runs_folder
from assay.model.machine import Machine
from assay.model.units import count_of

#: The consequence of a problem.
UNFIT = "nothing can be measured here yet"
#: Minimum time to watch other processes: 25 ticks of each cpu.
_WATCHED_S = 0.25
_MARKS = {"ok": ("ok", "green"), "warning": ("warning", "yellow"), "problem": ("problem", "red")}


def checks_here(before: Counters | None) -> Checks:
    """The checks of this machine and of its current state; use by other processes is counted since `before`."""
    here = _found()
    if before:
        time.sleep(max(0.0, before.at_s + _WATCHED_S - time.monotonic()))
    now = state.facts(Path("/"), before, frozenset({os.getpid()}))
    checks = doctor.examine(msgspec.structs.replace(here, facts=here.facts | {"now": now}))
    return Checks(CHECKS_SCHEMA, here.host, all(check.state != "problem" for check in checks), checks)


def _found() -> Machine:
    """The facts of this machine, with its tools and folders."""
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
    try:
        return Fact(find(), source="PATH and the environment of this Python")
    except AssayError as error:
        return unavailable(f"{error.what}: {error.why}" if error.why else error.what)


def _compiler() -> str:
    default = toolchain.get()
    return f"{default.version} ({default.compiler})"


def _mpi() -> str:
    first = toolchain.get_mpi("", settings.table("mpi"))
    return f"{first.name} ({first.compiler})"


def _blas() -> str:
    found = toolchain.find_libraries("blas", settings.table("blas"))
    if not found:
        raise UnfitEnvironmentError(
            "there is no BLAS", why="no wheel, no module and no package of the system has one"
        )
    return f"{found[0].name} ({found[0].file})"


def _folder(name: str, folder: Path) -> dict[str, Fact]:
    """Free bytes and the file system of a folder, or of its nearest existing parent."""
    folder = folder.absolute()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        return {name: unavailable(f"{there} cannot be written")}
    kind = folders.file_system(there.resolve())
    return {
        name: Fact(shutil.disk_usage(there).free, "B", str(there)),
        f"file system of {name}": Fact(kind, source="/proc/self/mountinfo") if kind else unavailable("not told"),
    }


def show_checks(checks: Sequence[Check], console: Console, good: str, bad: str) -> None:
    """Print problems and warnings with reason and remedy, then good checks, then unknown ones.

    Args:
        checks: in order.
        console: where to print.
        good: conclusion if there is no problem.
        bad: conclusion if there is a problem.
    """
    by_state: dict[str, list[Check]] = {}
    for check in checks:
        by_state.setdefault(check.state, []).append(check)
    troubled = by_state.get("problem", []) + by_state.get("warning", [])
    for check in troubled:
        word, style = _MARKS[check.state]
        console.print(Text.assemble((f"{word}: ", style), (f"{check.name}: ", "bold"), check.found))
        output.paragraph(check.why, console, "  why:  ")
        if check.remedy:
            output.paragraph(check.remedy, console, "  next: ")
    if troubled:
        console.print()
    for check in by_state.get("ok", []):
        output.paragraph(f"{check.name}: {check.found}", console, "ok: ")
    unknown = by_state.get("unknown", [])
    if unknown:
        console.print("\nnot known")
    for check in unknown:
        output.paragraph(f"{check.name}: {check.found}", console, "  ")
    console.print()
    output.paragraph(_sum(by_state, good, bad), console, "")


def _sum(by_state: dict[str, list[Check]], good: str, bad: str) -> str:
    problems, warnings = len(by_state.get("problem", [])), len(by_state.get("warning", []))
    others = count_of(warnings, "warning") if warnings else "no warnings"
    if problems:
        return f"{count_of(problems, 'problem')}, {others}: {bad}"
    return f"{others}; {good}"


def require_fit(checks: Sequence[Check], unfit: str = UNFIT) -> None:
    """UnfitEnvironmentError, with the first remedy, if a check is a problem."""
    if found := problems(checks):
        why = "; ".join(f"{check.name}: {check.found}" for check in found)
        raise UnfitEnvironmentError(unfit, why=why, remedy=found[0].remedy)


def problems(checks: Sequence[Check]) -> list[Check]:
    """The checks that prevent measuring."""
    return [check for check in checks if check.state == "problem"]
