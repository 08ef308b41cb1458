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
#: Arguments: the file, then the names of all functions under each naming. Prints what is lacking of the best one.
_PROBE = """
import ctypes, os, sys
file, *namings = sys.argv[1:]
try:
    library = ctypes.CDLL(file)
except OSError as error:
    sys.exit(str(error))
lacking = [[name for name in each.split() if not hasattr(library, name)] for each in namings]
print(*min(lacking, key=len), sep=", ", end="", flush=True)
os._exit(0)
"""


def require_loadable(role: str, file: str, functions: Sequence[str]) -> None:
    """Nothing where programs can load the library and call these functions.

    Args:
        role: what the library is to them, e.g. `blas`.
        file: its path, or a name that the loader knows.
        functions: as its standard names them.

    Raises:
        UsageError: it is no library, or lacks a function.
        UnfitEnvironmentError: it is one, and cannot be loaded here.
    """
    remedy = f"assay list {role}   # then --{role} NAME"
    if "/" in file and not _is_library(Path(file)):
        why = "it holds something else" if Path(file).is_file() else "there is no such file"
        raise UsageError(f"'{file}' is no shared library", why=why, remedy=remedy)
    names = [" ".join(f"{before}{name}{after}" for name in functions) for before, after in NAMINGS]
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
    if probe.stdout:
        raise UsageError(f"'{file}' cannot serve as {role}", why=f"it lacks {probe.stdout}", remedy=remedy)


def _is_library(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(_ELF)) == _ELF
    except OSError:
        return False
