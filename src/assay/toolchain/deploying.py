"""Copy programs to the same path on nodes that share no home directory, and check them by hash."""

import io
import re
import shlex
import subprocess
import tarfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.toolchain import Build

#: Prints the hash of each existing program, then the names of those that do not start.
_CHECK = (
    'cd "$1" 2>/dev/null || exit 0; shift; sha256sum -- "$@" 2>/dev/null; '
    'for program in "$@"; do "./$program" --describe >/dev/null || echo "refused  $program"; done; true'
)
#: Unpacks the archive from stdin into the folder. Each file is renamed in one step: running programs continue, and
#: hosts that share a home may do it at the same time.
_PLACE = (
    'set -e; umask 077; new="$1.$(uname -n).$$"; trap \'rm -rf "$new"\' EXIT; '
    'mkdir -p "$1" "$new"; tar -xf - -C "$new"; mv -f "$new"/* "$1"'
)
#: Paths without characters that are special to a shell.
_PLAIN = re.compile(r"/[\w./+@~-]*", re.ASCII)
_AT_ONCE = 16
_SECONDS = 300

#: Host -> words before a command that run it there: `ssh`, its options, the host.
Reach = Callable[[str], Sequence[str]]


class Shipment(msgspec.Struct, frozen=True):
    """The programs of one folder of the cache.

    Attributes:
        folder: absolute path, the same on all nodes, because launchers start a program under one path.
        sha256: program -> hash.
    """

    folder: str
    sha256: dict[str, str]


def deploy(
    builds: Iterable[Build], hosts: Sequence[str], reach: Reach, say: Callable[[str], None] = lambda _text: None
) -> None:
    """Copy programs to every host that lacks them, and check each host again.

    Raises:
        UsageError: the path of the cache has characters that are special to a shell.
        UnfitEnvironmentError: a host cannot be reached or written to, or cannot start the programs.
    """
    wanted = shipments(builds)
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        complaints = list(pool.map(lambda host: _deploy_to(wanted, host, reach(host), say), hosts))
    failed = [(host, complaint) for host, complaint in zip(hosts, complaints, strict=True) if complaint]
    if failed:
        raise UnfitEnvironmentError(
            f"{len(failed)} of {len(hosts)} hosts cannot run the programs",
            why="\n        ".join(f"{host}: {complaint}" for host, complaint in failed),
            remedy=f"ssh {failed[0][0]}   # or export ASSAY_CACHE=/a/folder/that/all/nodes/share, and build there",
        )


def shipments(builds: Iterable[Build]) -> tuple[Shipment, ...]:
    """The folders of builds; several builds share the programs without MPI."""
    folders: dict[str, dict[str, str]] = {}
    for build in builds:
        for name, path in build.programs.items():
            folders.setdefault(str(Path(path).parent), {})[Path(path).name] = build.sha256[name]
    for folder in folders:
        if not _PLAIN.fullmatch(folder):
            raise UsageError(
                f"'{folder}' cannot be named to other hosts",
                why="their shells may read it as something else",
                remedy="export ASSAY_CACHE=/a/folder/with/a/plain/name",
            )
    return tuple(Shipment(folder, programs) for folder, programs in folders.items())


def check_command(shipment: Shipment) -> str:
    """The command that prints the hashes of a host's programs."""
    return shlex.join(["sh", "-c", _CHECK, "assay", shipment.folder, *shipment.sha256])


def unpack_command(shipment: Shipment) -> str:
    """The command that unpacks the archive from stdin into its folder."""
    return shlex.join(["sh", "-c", _PLACE, "assay", shipment.folder])


def archive(shipment: Shipment) -> bytes:
    """An archive of the folder; with the manifest in it, the host has the build as if it were built there."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path in sorted(Path(shipment.folder).iterdir()):
            tar.add(path, path.name, recursive=False, filter=_without_owner)
    return packed.getvalue()


def missing_programs(shipment: Shipment, output: str) -> tuple[str, ...]:
    """The programs that are missing or different on a host, from the output of `check_command`."""
    there = set(output.splitlines())
    return tuple(name for name, digest in shipment.sha256.items() if f"{digest}  {name}" not in there)


def failing_programs(output: str) -> tuple[str, ...]:
    """The programs that do not start on a host, from the output of `check_command`."""
    return tuple(line.removeprefix("refused  ") for line in output.splitlines() if line.startswith("refused  "))


def _deploy_to(wanted: Sequence[Shipment], host: str, reach: Sequence[str], say: Callable[[str], None]) -> str:
    """Copy programs to a host if necessary; returns why it cannot run them, empty if it can."""
    copied = 0
    for shipment in wanted:
        code, output, complaint = _run([*reach, check_command(shipment)])
        if not code and missing_programs(shipment, output):
            code, _, complaint = _run([*reach, unpack_command(shipment)], archive(shipment))
            if not code:
                copied += len(shipment.sha256)
                code, output, complaint = _run([*reach, check_command(shipment)])
        if code:
            return complaint or f"exit code {code}"
        if missing_programs(shipment, output):
            return f"{missing_programs(shipment, output)[0]} is another one than here after it was copied"
        if failing_programs(output):
            return f"cannot start {failing_programs(output)[0]}: {complaint or 'it says nothing'}"
    say(f"{host}: {copied} programs copied, all checked" if copied else f"{host}: has them already")
    return ""


def _run(command: Sequence[str], content: bytes = b"") -> tuple[int, str, str]:
    """Exit code, stdout, and the last line of stderr."""
    try:
        done = subprocess.run(command, input=content, capture_output=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, "", str(error)
    complaints = done.stderr.decode(errors="replace").strip().splitlines()
    return done.returncode, done.stdout.decode(errors="replace"), complaints[-1] if complaints else ""


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
