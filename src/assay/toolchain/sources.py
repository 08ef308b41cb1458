"""The native sources: in the checkout that this package runs from, else inside the installed package."""

import hashlib
from pathlib import Path

import assay
from assay.model.errors import UnfitEnvironmentError

_SUFFIXES = {".cpp", ".hpp", ".h", ".cmake", ".txt", ".in"}


def folder() -> Path:
    """The folder `native`; UnfitEnvironmentError when the installation lacks it."""
    package = Path(assay.__file__).resolve().parent
    for candidate in (package.parents[1] / "native", package / "native"):
        if (candidate / "CMakeLists.txt").is_file():
            return candidate
    raise UnfitEnvironmentError(
        "the sources of the native programs are missing",
        why=f"neither {package.parents[1]} nor {package} has a folder 'native'",
        remedy="install Assay again, or run it from a checkout",
    )


def programs(native: Path, *, mpi: bool = False) -> tuple[str, ...]:
    """Names of the programs that a build must yield: one a file in `benchmarks/node`, or in `benchmarks/mpi`."""
    room = native / "benchmarks" / ("mpi" if mpi else "node")
    return tuple(sorted(path.stem for path in room.glob("*.cpp")))


def digest(native: Path) -> str:
    """Hash of every source's path and content; tests are left out, for no program contains them."""
    hashed = hashlib.sha256()
    for path in sorted(native.rglob("*")):
        relative = path.relative_to(native)
        if path.suffix in _SUFFIXES and path.is_file() and relative.parts[0] != "tests":
            hashed.update(f"{relative}\0".encode())
            hashed.update(hashlib.sha256(path.read_bytes()).digest())
    return hashed.hexdigest()
