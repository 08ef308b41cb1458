"""Configure and compile with CMake, the site's or the one in Assay's environment."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from assay.catalogue import declaration_files
from assay.model import other_programs
from assay.model.errors import UnfitEnvironmentError
from assay.model.toolchain import Mpi, Toolchain

_OLDEST = (3, 20)
_VERSION = re.compile(r"cmake version (\d+)\.(\d+)")
_ERROR = re.compile(r"error:|CMake Error|undefined reference|No such file")
_SHOWN_ERRORS = 3
#: Variables that set the compiler of the wrappers of Open MPI, MPICH and Intel MPI.
_COMPILER_OF_WRAPPERS = ("OMPI_CXX", "MPICH_CXX", "I_MPI_CXX")
_INTEL_ROOT = "I_MPI_ROOT"


def compile_programs(
    native: Path, tree: Path, toolchain: Toolchain, log: Path, programs: AbstractSet[str] | None = None
) -> None:
    """Build the programs without MPI, or with the toolchain's MPI, into `tree/bin`; the output goes to `log`.

    An existing tree of the same sources is continued. For each program that is not built yet, `tree/bin` has a
    file `<program>.left`.

    Args:
        native: folder of the sources.
        tree: build folder.
        toolchain: compiler, flags and MPI.
        log: file of the output.
        programs: needed programs; None for all.

    Raises:
        UnfitEnvironmentError: there is no CMake, or CMake or the compiler failed; with the first errors.
    """
    cmake, (generator, make) = _cmake(), _generator()
    if not _is_of(tree, native, generator):
        shutil.rmtree(tree, ignore_errors=True)
    configure = [
        cmake,
        *("-S", str(native), "-B", str(tree), "-G", generator, f"-DCMAKE_MAKE_PROGRAM={make}"),
        f"-DCMAKE_CXX_COMPILER={toolchain.compiler}",
        # No build type, which would add flags: the key of the build covers the toolchain's flags only.
        "-DCMAKE_BUILD_TYPE=None",
        # CMake copies the flags into rules of ninja or make, for a shell.
        f"-DCMAKE_CXX_FLAGS={shlex.join(toolchain.flags).replace('$', '$$')}",
        "-DCMAKE_EXE_LINKER_FLAGS=",
        "-DASSAY_TESTS=OFF",
        f"-DASSAY_PROGRAMS={';'.join(map(str, declaration_files.further_folders()))}",
        f"-DASSAY_ONLY={';'.join(sorted(programs or ()))}",
        *_of_mpi(toolchain.mpi),
    ]
    compile_ = [cmake, "--build", str(tree), "--parallel", str(len(os.sched_getaffinity(0)))]
    # CMake queries the wrapper for its flags, and the wrapper may start its compiler: make that the toolchain's.
    wrapped = dict.fromkeys(_COMPILER_OF_WRAPPERS, toolchain.compiler) | _root_of(toolchain.mpi)
    with log.open("w") as output:
        for command, more in ((configure, wrapped), (compile_, {})):
            environment = {**os.environ, **more}
            output.write(f"$ {shlex.join(command)}\n")
            output.flush()
            done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False, env=environment)
            if done.returncode:
                raise _failure(toolchain, log)


def _is_of(tree: Path, native: Path, generator: str) -> bool:
    """Whether a tree can be continued: it was configured from the same folder, for the same ninja or make."""
    cache = tree / "CMakeCache.txt"
    lines = cache.read_text().splitlines() if cache.is_file() else []
    return {f"CMAKE_HOME_DIRECTORY:INTERNAL={native}", f"CMAKE_GENERATOR:INTERNAL={generator}"} <= set(lines)


def _of_mpi(mpi: Mpi | None) -> tuple[str, ...]:
    if mpi is None:
        return ()
    # Otherwise CMake would search for a launcher and for other languages, and use what it finds first.
    return ("-DASSAY_MPI=ON", f"-DMPI_CXX_COMPILER={mpi.compiler}", f"-DMPIEXEC_EXECUTABLE={mpi.launcher}")


def _root_of(mpi: Mpi | None) -> dict[str, str]:
    """The folder of an Intel MPI from PyPI: its wrapper does not know it."""
    if mpi is None or mpi.kind != "intel" or _INTEL_ROOT in os.environ:
        return {}
    return {_INTEL_ROOT: str(Path(mpi.compiler).parent.parent)}


def tools() -> tuple[str, str]:
    """Paths of CMake and of ninja or make; UnfitEnvironmentError names a missing one."""
    return _cmake(), _generator()[1]


def has_openmp(tree: Path) -> bool:
    """Whether CMake found OpenMP for the compiler of this build tree."""
    match = re.search(r"^OpenMP_CXX_FLAGS:STRING=(.*)$", (tree / "CMakeCache.txt").read_text(), re.MULTILINE)
    return match is not None and not match[1].endswith("NOTFOUND")


def first_errors(log: str) -> Sequence[str]:
    """The first lines of a build log with an error, else its last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip() and not line.startswith("$ ")]
    return [line for line in lines if _ERROR.search(line)][:_SHOWN_ERRORS] or lines[-1:]


def _failure(toolchain: Toolchain, log: Path) -> UnfitEnvironmentError:
    return UnfitEnvironmentError(
        f"cannot build the native programs with {toolchain.name} ({toolchain.version})",
        why="\n        ".join(first_errors(log.read_text(errors="replace"))),
        remedy=f"less {log}; then try another compiler: assay list toolchains",
    )


def _cmake() -> str:
    candidates = [path for path in (shutil.which("cmake"), str(_own("cmake"))) if path and Path(path).exists()]
    for candidate in candidates:
        if _version(candidate) >= _OLDEST:
            return candidate
    found = ", ".join(f"{path} is {'.'.join(map(str, _version(path)))}" for path in candidates)
    raise UnfitEnvironmentError(
        f"no CMake {'.'.join(map(str, _OLDEST))} or newer",
        why=found or "there is no cmake on PATH, nor next to this Python",
        remedy=f"{sys.executable} -m pip install cmake ninja, or: module load cmake",
    )


def _version(cmake: str) -> tuple[int, int]:
    match = _VERSION.search(other_programs.output((cmake, "--version")))
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _generator() -> tuple[str, str]:
    ninja = shutil.which("ninja") or next((str(path) for path in [_own("ninja")] if path.exists()), None)
    if ninja:
        return "Ninja", ninja
    make = shutil.which("make") or shutil.which("gmake")
    if make:
        return "Unix Makefiles", make
    raise UnfitEnvironmentError(
        "neither ninja nor make is here",
        why="CMake needs one of them to compile",
        remedy=f"{sys.executable} -m pip install ninja, or as root: apt install make, dnf install make",
    )


def _own(program: str) -> Path:
    """The path of a program from a wheel: in the folder of this Python."""
    return Path(sys.prefix) / "bin" / program
