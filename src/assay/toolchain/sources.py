"""The identity of the native sources."""

import hashlib
from pathlib import Path

from assay.catalogue import declaration_files

_SUFFIXES = {".cpp", ".hpp", ".h", ".f90", ".cmake", ".txt", ".in", ".json"}


def folder() -> Path:
    """The folder `native`; UnfitEnvironmentError if the installation lacks it."""
    return declaration_files.native()


def digest(native: Path) -> str:
    """Hash of every source's path and content, without tests, which are in no program."""
    hashed = hashlib.sha256()
    for folder in (native, *declaration_files.further_folders()):
        for path in sorted(folder.rglob("*")):
            relative = path.relative_to(folder)
            if path.suffix in _SUFFIXES and path.is_file() and relative.parts[0] != "tests":
                hashed.update(f"{relative}\0".encode())
                hashed.update(hashlib.sha256(path.read_bytes()).digest())
    return hashed.hexdigest()
