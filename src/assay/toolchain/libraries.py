"""Find libraries that programs load at launch: of the user, of PyPI wheels, of modules and of the system."""

import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from assay.model import other_programs
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.toolchain import Library

BLAS = "blas"
#: PyPI package -> name, and path of its library below the package.
_WHEELS = {
    "scipy_openblas32": ("openblas", "lib/libscipy_openblas*.so"),
    "scipy_openblas64": ("openblas64", "lib/*.so"),
}
#: Wheel with a library outside its package -> name, file, and licence.
_FILES = {"mkl": ("mkl", "libmkl_rt.so", "Intel Simplified Software License")}
#: Name -> files below a folder of libraries; distributions keep each build of a BLAS in its own folder.
_SYSTEM = {
    "openblas-pthread": ("openblas-pthread/libopenblas.so.0",),
    "openblas-openmp": ("openblas-openmp/libopenblas.so.0", "libopenblaso.so.0"),
    "openblas-serial": ("openblas-serial/libopenblas.so.0",),
    "openblas-system": ("libopenblas.so.0", "libopenblasp.so.0"),
    "blis-pthread": ("blis-pthread/libblis.so.4",),
    "blis-openmp": ("blis-openmp/libblis.so.4",),
    "blis-serial": ("blis-serial/libblis.so.4",),
    "blis-system": ("libblis.so.4", "libblis.so"),
    "aocl": ("libblis-mt.so.5", "libblis-mt.so.4", "libblis-mt.so"),
    "mkl": ("libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"),
    "armpl": ("libarmpl_lp64_mp.so",),
    "libsci": ("libsci_gnu_mp.so",),
}
#: Variables with folders that modules set -> subfolder.
_VARIABLES = {"LD_LIBRARY_PATH": "", "MKLROOT": "lib", "ARMPL_DIR": "lib", "CRAY_LIBSCI_PREFIX_DIR": "lib"}
_FOLDERS = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/local/lib", "/opt/intel/oneapi/mkl/latest/lib")


def find_libraries(role: str = BLAS, declared: Mapping[str, Any] | None = None) -> tuple[Library, ...]:
    """The installed libraries of a role, each file once: declared ones, then those of wheels, then others.

    Args:
        role: only `blas` is known.
        declared: the table `[blas]` of the configuration: name -> path.

    Raises:
        UsageError: a declared file does not exist.
    """
    found: dict[str, Library] = {}
    every = (*_declared(declared or {}), *_of_wheels(), *_of_files(), *_of_system()) if role == BLAS else ()
    for each in every:
        found.setdefault(str(Path(each.file).resolve()), each)
    return tuple(found.values())


def _declared(table: Mapping[str, Any]) -> Iterator[Library]:
    for name, path in table.items():
        if not isinstance(path, str) or not Path(path).expanduser().is_file():
            raise UsageError(
                f"[blas] {name} of the configuration is not a file",
                why=f"{path!r} is not there",
                remedy=f'[blas] takes {name} = "/path/to/libopenblas.so"',
            )
        yield Library(name, BLAS, str(Path(path).expanduser()), "the configuration")


def _of_wheels() -> Iterator[Library]:
    for package, (name, pattern) in _WHEELS.items():
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            for file in sorted(Path(folder).glob(pattern))[:1]:
                yield Library(name, BLAS, str(file), f"PyPI {package.replace('_', '-')}")


def _of_files() -> Iterator[Library]:
    import importlib.metadata  # noqa: PLC0415 (10 ms; only a study that needs a BLAS looks for one)

    for wheel, (name, beginning, licence) in _FILES.items():
        try:
            files = importlib.metadata.files(wheel) or ()
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in [each for each in files if each.name.startswith(beginning)][:1]:
            yield Library(name, BLAS, str(Path(str(file.locate())).resolve()), f"PyPI {wheel} ({licence})")


def _of_modules() -> Iterator[Path]:
    """Folders named by environment variables."""
    for variable, below in _VARIABLES.items():
        yield from (Path(each, below) for each in os.environ.get(variable, "").split(":") if each)


def _of_system() -> Iterator[Library]:
    folders = [
        *_of_modules(),
        *(folder for pattern in _FOLDERS for folder in sorted(Path("/").glob(pattern[1:]))),
    ]
    for name, files in _SYSTEM.items():
        for folder in folders:
            if file := next((path for each in files if (path := folder / each).is_file()), None):
                yield Library(name, BLAS, str(file), str(folder))
                break
        else:
            for known in [each for each in files if each in _of_loader()][:1]:
                yield Library(name, BLAS, known, "the loader's path")


@cache
def _of_loader() -> frozenset[str]:
    """Names of libraries on the path of the loader."""
    listed = other_programs.output(("/sbin/ldconfig", "-p"))
    return frozenset(line.split()[0] for line in listed.splitlines() if line.startswith("\t"))


#: Prefixes and suffixes of names of functions: wheels add a prefix, builds with 64-bit integers a suffix
#: (native/harness/blas.cpp tries the same).
NAMINGS = (("", ""), ("scipy_", ""), ("", "64_"), ("scipy_", "64_"), ("", "_64"), ("", "_64_"))
_ELF = b"\x7fELF"
#: Arguments: the file, then for each naming the required functions, and the optional ones. It prints the missing
#: required functions under the best naming, and the indices of the missing optional ones.
_PROBE = """
import ctypes, os, sys
file, *namings = sys.argv[1:]
try:
    library = ctypes.CDLL(file)
except OSError as error:
    sys.exit(str(error))
needed, others = ([each.split() for each in part] for part in (namings[::2], namings[1::2]))
lacking = [[name for name in each if not hasattr(library, name)] for each in needed]
best = min(range(len(lacking)), key=lambda at: len(lacking[at]))
print(*lacking[best], sep=", ")
print(*(at for at, name in enumerate(others[best]) if not hasattr(library, name)), flush=True)
os._exit(0)
"""


def require_loadable(role: str, file: str, functions: Sequence[str], others: Sequence[str] = ()) -> frozenset[str]:
    """Check that programs can load a library and call its functions; returns the optional ones that it lacks.

    Args:
        role: role of the library, e.g. `blas`.
        file: its path, or a name that the loader finds.
        functions: required functions, by their standard names.
        others: optional functions.

    Raises:
        UsageError: it is not a library, or lacks a required function.
        UnfitEnvironmentError: it is a library that cannot be loaded here.
    """
    remedy = f"assay list {role}   # then --{role} NAME"
    if "/" in file and not _is_library(Path(file)):
        why = "it holds something else" if Path(file).is_file() else "there is no such file"
        raise UsageError(f"'{file}' is not a shared library", why=why, remedy=remedy)
    names = [
        " ".join(f"{before}{name}{after}" for name in part)
        for before, after in NAMINGS
        for part in (functions, others)
    ]
    probing = (sys.executable, "-I", "-S", "-c", _PROBE, file, *names)
    probe = other_programs.outcome(probing, OMP_NUM_THREADS="1")  # one thread is enough here
    if probe is None:
        raise UnfitEnvironmentError(f"'{file}' cannot be loaded", why="loading it does not end", remedy=remedy)
    if probe.returncode:
        why = probe.stderr.strip() or f"the process that loads it is ended by signal {-probe.returncode}"
        raise UnfitEnvironmentError(f"'{file}' cannot be loaded", why=why, remedy=remedy)
    lacking, places = probe.stdout.splitlines()
    if lacking:
        raise UsageError(f"'{file}' cannot serve as {role}", why=f"it lacks {lacking}", remedy=remedy)
    return frozenset(others[int(place)] for place in places.split())


def _is_library(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(_ELF)) == _ELF
    except OSError:
        return False
