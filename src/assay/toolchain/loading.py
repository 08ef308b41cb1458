"""Whether a library can be loaded and has what programs call: the loader is asked, in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.model.errors import UnfitEnvironmentError, UsageError

#: What stands before and after the names of functions: wheels add a prefix, builds with 64-bit integers a suffix
#: (native/harness/blas.cpp tries the same).
NAMINGS = (("", ""), ("scipy_", ""), ("", "64_"), ("scipy_", "64_"), ("", "_64"), ("", "_64_"))
_ELF = b"\x7fELF"
#: A library that takes longer to load waits for something.
_PATIENCE_S = 60.0
#: Arguments: the file, then under each naming the functions that it must have, and the others. Prints what it
#: lacks of these under the best naming, and the places of the others that it lacks.
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
    """Which other functions a library lacks that programs can load, and whose functions they can call.

    Args:
        role: what the library is to them, e.g. `blas`.
        file: its path, or a name that the loader knows.
        functions: as its standard names them.
        others: that not every library has.

    Raises:
        UsageError: it is no library, or lacks a function.
        UnfitEnvironmentError: it is one, and cannot be loaded here.
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
            env=os.environ | {"OMP_NUM_THREADS": "1"},  # a thread for each cpu is of no use here
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
