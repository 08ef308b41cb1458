"""Programs of declared applications: check whether they are installed, and install them."""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.catalogue import application_files
from assay.model import other_programs
from assay.model.application import Application
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.folders import cache_folder


def prefix(application: Application) -> Path:
    """The folder in which Assay installs an application on request."""
    return cache_folder() / "applications" / (application.needs.folder or application.name)


def folder(application: Application, peers: Sequence[str] = ()) -> str:
    """The folder that is searched first: the first of `peers` with a program of it, else Assay's own, if any.

    Args:
        application: the declaration.
        peers: folders that the user named, each with programs in it or in its `bin`.
    """
    for each in peers:
        if any(shutil.which(name, path=_path(each)) for name in application.executables):
            return each
    own = prefix(application)
    return str(own) if own.is_dir() else ""


def found(application: Application, first: str = "") -> dict[str, str]:
    """Executable -> its path, of those that are here; `first`: folder that is searched before PATH."""
    path = os.pathsep.join(filter(None, (_path(first), os.environ.get("PATH", os.defpath))))
    paths = {name: shutil.which(name, path=path) for name in application.executables}
    return {name: each for name, each in paths.items() if each}


def absent(application: Application, first: str | None = None) -> str:
    """Why it cannot be started here, and how to install it; empty if it can.

    Args:
        application: the declaration.
        first: folder that is searched before PATH; None: that of `folder`.
    """
    needs = application.needs
    programs = found(application, folder(application) if first is None else first)
    if not programs:
        return f"the program {application.executables[0]} is not here; {remedy(application)}"
    program = next(iter(programs.values()))
    if needs.modules and not _imports(program, needs.modules):
        return f"{needs.program} has no {' and no '.join(needs.modules)}; {remedy(application)}"
    for name, each in application.inputs.items():
        if each.file and (why := _wrong_file(Path(each.file), each.sha256)):
            return f"its input {name}: {why}"
    return ""


def _path(place: str) -> str:
    """The folders in which the starter looks first; empty without a place."""
    return os.pathsep.join((place, f"{place}/bin", f"{place}/usr/bin")) if place else ""


def remedy(application: Application) -> str:
    """The commands that install it, as text."""
    alone = _without_root(application)
    if alone and application.name in dict(application_files.everywhere()):
        alone = f"assay build --application {application.name}"
    commands = {"as root": _as_root(application), "without root": alone}
    ways = [f"{who}: {command}" for who, command in commands.items() if command]
    built = application.needs.install or "no package has it: install it"
    ways = ways or [f"{built}, and name its folder by --peer DIR"]
    others = (f"the same problem by another program: assay run {name}" for name in application.needs.instead)
    return "; ".join((*others, *ways))


def install(application: Application, say: Callable[[str], None]) -> Path:
    """Install it without root and return its folder.

    Raises:
        UsageError: its declaration names no packages.
        UnfitEnvironmentError: the packages cannot be installed.
    """
    command = _without_root(application)
    if not command:
        built = application.needs.install or f"install {application.needs.program}"
        raise UsageError(
            f"nothing says which package brings '{application.name}'",
            why="its declaration names neither debian nor pypi packages",
            remedy=f"{built}; then: assay run {application.name} --peer DIR",
        )
    say(command)
    done = subprocess.run(["/bin/sh", "-ec", command], capture_output=True, text=True, check=False)
    if done.returncode or absent(application):
        shutil.rmtree(prefix(application), ignore_errors=True)
        why = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise UnfitEnvironmentError(
            f"'{application.name}' could not be installed", why=why, remedy=_as_root(application) or command
        )
    return prefix(application)


def _as_root(application: Application) -> str:
    return f"apt-get install {' '.join(application.needs.debian)}" if application.needs.debian else ""


def _without_root(application: Application) -> str:
    """The shell line that installs it in its folder; empty if there is none."""
    folder, needs = shlex.quote(str(prefix(application))), application.needs
    if needs.pypi:
        packages = shlex.join(needs.pypi)
        return f"{shlex.quote(sys.executable)} -m venv {folder} && {folder}/bin/pip install {packages}"
    if not needs.debian:
        return ""
    packages = shlex.join(needs.debian)
    # Installed packages are listed, too, because apt-get fails on an empty list.
    wanted = f"apt-get -s install --reinstall --no-install-recommends {packages} | awk '/^Inst/ {{print $2}}'"
    return (
        f"mkdir -p {folder} && cd {folder} && apt-get download $({wanted}) && "
        'for file in *.deb; do dpkg -x "$file" .; done && rm *.deb'
    )


def _imports(python: str, modules: tuple[str, ...]) -> bool:
    """Whether a Python has the modules; they are searched, not imported."""
    script = f"import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, {list(modules)!r})))"
    done = other_programs.outcome((python, "-c", script))
    return done is not None and done.returncode == 0


def _wrong_file(path: Path, sha256: str) -> str:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"{path}: {error.strerror}"
    return "" if found == sha256 else f"{path} has sha256 {found[:12]}..., declared is {sha256[:12]}..."
