"""Test in a separate process whether a library can be loaded and has the functions that programs call."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.model.errors import UnfitEnvironmentError, UsageError

#: Prefixes and suffixes of names of functions: wheels add a prefix, builds with 64-bit integers a suffix
#: (native/harness/blas.cpp tries the same).
NAMINGS = (("", ""), ("scipy_", ""), ("", "64_"), ("scipy_", "64_"), ("", "_64"), ("", "_64_"))
_ELF = b"\x7fELF"
#: Time limit for loading a library.
_PATIENCE_S = 60.0
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
    try:
        probe = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROBE, file, *names],
            env=os.environ | {"OMP_NUM_THREADS": "1"},  # one thread is enough here
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        why = f"it is not loaded after {_PATIENCE_S:.0f} s"
        raise UnfitEnvironmentError(f"'{file}' cannot be loaded", why=why, remedy=remedy) from error
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
