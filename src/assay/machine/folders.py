"""Folders on this machine that ranks may be given: file system, size, and why one cannot be used."""

import os
import re
from pathlib import Path

from assay.machine import files
from assay.model.resource import GivenFolder

_OCTAL = re.compile(r"\\(\d{3})")


def folder(path: str, root: Path = Path("/")) -> tuple[GivenFolder, str]:
    """The folder, and why nothing can be written into it; empty if something can.

    Args:
        path: as the user names it.
        root: `/`, or a test folder with `proc/self/mountinfo`.
    """
    there = Path(path).resolve()
    if not there.is_dir():
        why = "it is not a folder" if there.exists() else "there is no such folder"
        return GivenFolder(str(there)), f"the folder '{path}' cannot be used: {why} (mkdir -p {path})"
    if not os.access(there, os.W_OK | os.X_OK):
        return GivenFolder(str(there)), f"the folder '{path}' cannot be used: this user may not write into it"
    sizes = os.statvfs(there)
    return (
        GivenFolder(
            str(there),
            file_system(there, root),
            sizes.f_blocks * sizes.f_frsize,
            sizes.f_bavail * sizes.f_frsize,
        ),
        "",
    )


def file_system(path: Path, root: Path = Path("/")) -> str:
    """Type of the deepest mount that holds a resolved path, the last of equal ones; empty if unknown."""
    mounts = files.text(root / "proc/self/mountinfo") or ""
    deepest, found = 0, ""
    for line in mounts.splitlines():
        fields, _, mounted = line.partition(" - ")
        point = Path(_OCTAL.sub(lambda code: chr(int(code[1], 8)), fields.split()[4]))
        if path.is_relative_to(point) and len(point.parts) >= deepest:
            deepest, found = len(point.parts), mounted.split()[0]
    return found
