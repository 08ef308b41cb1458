"""The native sources: in the checkout of this package, else inside the installed package."""

import hashlib
import importlib
from pathlib import Path

import assay
from assay.model import topics
from assay.model.errors import UnfitEnvironmentError

_SUFFIXES = {".cpp", ".hpp", ".h", ".f90", ".cmake", ".txt", ".in"}


def folder() -> Path:
    """The folder `native`; UnfitEnvironmentError if the installation lacks it."""
    package = Path(assay.__file__).resolve().parent
    for candidate in (package.parents[1] / "native", package / "native"):
        if (candidate / "CMakeLists.txt").is_file():
            return candidate
    raise UnfitEnvironmentError(
        "the sources of the native programs are missing",
        why=f"neither {package.parents[1]} nor {package} has a folder 'native'",
        remedy="install Assay again, or run it from a checkout",
    )


def further_folders() -> tuple[Path, ...]:
    """Folders `native` of topics in other packages: one program per source file."""
    every = (
        Path(place) / "native" for each in topics.packages() for place in importlib.import_module(each).__path__
    )
    return tuple(path for path in every if path.is_dir())


def digest(native: Path) -> str:
    """Hash of every source's path and content, without tests, which are in no program."""
    hashed = hashlib.sha256()
    for folder in (native, *further_folders()):
        for path in sorted(folder.rglob("*")):
            relative = path.relative_to(folder)
            if path.suffix in _SUFFIXES and path.is_file() and relative.parts[0] != "tests":
                hashed.update(f"{relative}\0".encode())
                hashed.update(hashlib.sha256(path.read_bytes()).digest())
    return hashed.hexdigest()
