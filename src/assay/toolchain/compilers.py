"""Find the C++ compilers of this machine, and their flags."""

import os
import platform
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from assay.model import other_programs
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.toolchain import Toolchain
from assay.toolchain.mpis import get_mpi, strings

#: The first major version with sufficient C++20 for the native programs, and the pattern of its number.
_OLDEST = {"gcc": 11, "clang": 12}
_MAJOR = {"gcc": re.compile(r"\) (\d+)\."), "clang": re.compile(r"clang version (\d+)\.")}
#: Fortran compilers, in the order of linpack_fortran.cmake.
_FORTRAN = ("gfortran", "flang", "flang-new", "ifx")
#: Newest major version in names such as g++-13, which are tried if the plain name is missing or too old.
_NEWEST = 30
_INSTALL = (
    "module load gcc, or as root: apt install g++ (Debian, Ubuntu), dnf install gcc-c++ (Fedora, RHEL), "
    "zypper install gcc-c++ (SUSE)"
)
_KEYS = ("compiler", "flags", "mpi")


def find() -> tuple[Toolchain, ...]:
    """Every usable toolchain with default flags, the default first: `$CXX` if set, then gcc, then clang.

    In HPE's programming environment, `CC` is the compiler that the user has chosen.
    """
    found: dict[str, Toolchain] = {}
    for toolchain in _each():
        found.setdefault(toolchain.name, toolchain)
    return tuple(found.values())


def _each() -> Iterator[Toolchain]:
    """The same, examined lazily; two may have the same name."""
    if os.environ.get("CXX", "").strip():
        yield _from_variable(os.environ["CXX"].strip())
    for plain in (*("CC",) * bool(os.environ.get("CRAYPE_VERSION")), "g++", "clang++"):
        usable = (_examine(command) for command in _commands(plain) if shutil.which(command))
        yield from islice(filter(None, usable), 1)


def get(
    name: str = "", declared: Mapping[str, Any] | None = None, mpis: Mapping[str, Any] | None = None
) -> Toolchain:
    """The toolchain of a name.

    Args:
        name: `gcc`, `clang`, a name in `declared`, or empty for the default; followed by any number of `+FLAG`,
            compiler flags without the dash that are added to the default ones: `gcc+O2`, `clang+march=x86-64-v3`.
            Flags after a space replace the default ones: `gcc -O2 -g`. An MPI follows a slash: `gcc/mpich`,
            `gcc/openmpi-4+O2`.
        declared: the tables `[toolchain.NAME]` of the configuration, with some of `compiler`, `flags`, `mpi`.
        mpis: the tables `[mpi.NAME]` of the configuration.

    Raises:
        UsageError: the name is unknown, or the compiler refuses a flag.
        UnfitEnvironmentError: there is no usable compiler, or no MPI.
    """
    declared = declared or {}
    parts = split_name(full_name(name, declared))
    base = parts.compiler
    toolchain = _declared(base, declared[base]) if base in declared else _found(base, tuple(declared))
    usual = tuple(_split(parts.flags)) if parts.flags else toolchain.flags
    chosen = (*usual, *(f"-{level}" for level in parts.levels))
    _check(toolchain.compiler, chosen)
    mpi = get_mpi(parts.mpi, mpis) if parts.mpi else None
    known = join_name(parts._replace(compiler=toolchain.name, mpi=mpi.name if mpi else ""))
    return Toolchain(known, toolchain.compiler, toolchain.version, chosen, mpi)


def full_name(name: str, declared: Mapping[str, Any]) -> str:
    """The name, with the MPI of its table in the configuration if the name has none."""
    table = declared.get(split_name(name).compiler)
    mpi = table.get("mpi") if isinstance(table, Mapping) else None
    return with_mpi(name, mpi) if isinstance(mpi, str) else name


def with_flags(toolchain: Toolchain, text: str) -> Toolchain:
    """The same compiler with other flags, split as by a shell; UsageError if the compiler refuses them."""
    flags = tuple(_split(text))
    _check(toolchain.compiler, flags)
    return Toolchain(toolchain.name, toolchain.compiler, toolchain.version, flags, toolchain.mpi)


def major_version(kind: str, version: str) -> int | None:
    """The major version in the first line of `--version` of a `gcc` or `clang`; None if there is none."""
    match = _MAJOR[kind].search(version)
    return int(match[1]) if match else None


def kind_of(version: str) -> str:
    """`gcc`, `clang`, or empty for another compiler, from the output of `--version`."""
    if "clang version" in version:
        return "clang"
    return "gcc" if "Free Software Foundation" in version else ""


def accepts(compiler: str, flags: Sequence[str]) -> bool:
    """Whether the compiler accepts these flags on this machine."""
    return not _refusal(compiler, tuple(flags))


def fortran_compilers() -> tuple[str, ...]:
    """Path and version of each Fortran compiler on PATH: some programs have parts in Fortran."""
    paths = filter(None, map(shutil.which, _FORTRAN))
    return tuple(word for path in paths for word in (str(Path(path).resolve()), *_version(path).splitlines()[:1]))


def _found(name: str, declared: tuple[str, ...]) -> Toolchain:
    found: list[str] = []
    for toolchain in _each():
        if name in ("", toolchain.name):
            return toolchain
        found.append(toolchain.name)
    if not found:
        raise UnfitEnvironmentError(
            "no usable C++ compiler",
            why=_none_found(),
            remedy=f"{_INSTALL}; or set CXX to its path",
        )
    known = [*dict.fromkeys(found), *declared]
    raise UsageError(
        f"there is no toolchain '{name}'", why=f"known here: {', '.join(known)}", remedy="assay list toolchains"
    )


def _declared(name: str, table: object) -> Toolchain:
    where = f"[toolchain.{name}] of the configuration"
    remedy = f'[toolchain.{name}] takes compiler = "g++-13", flags = "-O3 -march=native" and mpi = "mpich"'
    table = strings(table, where, _KEYS, remedy)
    if "compiler" in table:
        toolchain = _examine(table["compiler"])
        if toolchain is None:
            raise UsageError(
                f"cannot use the compiler of {where}", why=_complaint(table["compiler"]), remedy=remedy
            )
    else:
        toolchain = next((known for known in _each() if known.name == name), None) or _found("", ())
    flags = tuple(_split(table["flags"])) if "flags" in table else toolchain.flags
    return Toolchain(name, toolchain.compiler, toolchain.version, flags)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"cannot split the flags '{text}'", why=str(error), remedy="close the quotation"
        ) from error


def _from_variable(command: str) -> Toolchain:
    toolchain = _examine(command)
    if toolchain is None:
        raise UsageError(
            f"cannot use the compiler in CXX, '{command}'",
            why=_complaint(command),
            remedy="unset CXX, or set it to the path of a C++ compiler",
        )
    return toolchain


def _commands(plain: str) -> Iterator[str]:
    yield plain
    yield from (f"{plain}-{major}" for major in range(_NEWEST, _OLDEST["gcc"] - 1, -1))


def _examine(command: str) -> Toolchain | None:
    """The toolchain of a command; None if it is missing or too old."""
    path = shutil.which(command)
    version = _version(path) if path else ""
    if not path or not version or _complaint(command):
        return None
    name = kind_of(version) or Path(path).name.replace("+", "")
    return Toolchain(name, path, version.splitlines()[0], _default_flags(path))


def _complaint(command: str) -> str:
    """Why a command cannot be used; empty if it can."""
    path = shutil.which(command)
    if not path:
        return f"there is no program '{command}'"
    version = _version(path)
    if not version:
        return f"'{path} --version' fails"
    kind = kind_of(version)
    major = major_version(kind, version) if kind else None
    if major is not None and major < _OLDEST[kind]:
        return f"{path} is {kind} {major}, and the programs need C++20: {kind} {_OLDEST[kind]} or newer"
    return ""


def _none_found() -> str:
    complaints = [_complaint(command) for command in ("g++", "clang++") if shutil.which(command)]
    return "; ".join(complaints) or "neither g++ nor clang++ is on PATH"


@cache
def _version(path: str) -> str:
    return other_programs.output((path, "--version")).strip()


def _default_flags(compiler: str) -> tuple[str, ...]:
    """Optimisation flags for this processor, if the compiler has them."""
    native = "-mcpu=native" if platform.machine() in {"aarch64", "ppc64le"} else "-march=native"
    return ("-O3", native) if accepts(compiler, ("-O3", native)) else ("-O3",)


def _check(compiler: str, flags: tuple[str, ...]) -> None:
    refusal = _refusal(compiler, flags)
    if refusal:
        raise UsageError(
            f"{compiler} refuses the flags '{shlex.join(flags)}'", why=refusal, remedy=f"{compiler} --help"
        )


@cache
def _refusal(compiler: str, flags: tuple[str, ...]) -> str:
    """The compiler's error message for these flags; empty if it accepts them."""
    command = [compiler, *flags, "-x", "c++", "-S", "-o", "-", "-"]
    done = other_programs.outcome(command)
    if done is None:
        return "it cannot be started, or does not end"
    if done.returncode == 0:
        return ""
    return (done.stderr.strip().splitlines() or ["it says nothing"])[0]


class Parts(NamedTuple):
    """The parts of a name; missing parts are empty.

    Attributes:
        compiler: `gcc`, or a name of assay.toml.
        mpi: `mpich-4.0.2`.
        levels: flags, without their dash, that are added to the default ones.
        flags: flags that replace the default ones, not split.
    """

    compiler: str
    mpi: str
    levels: tuple[str, ...]
    flags: str


def split_name(name: str) -> Parts:
    """The parts of a toolchain's name."""
    named, _, flags = name.partition(" ")
    base, *levels = named.split("+")
    compiler, _, mpi = base.partition("/")
    return Parts(compiler, mpi, tuple(levels), flags)


def join_name(parts: Parts) -> str:
    """The toolchain's name from its parts."""
    base = f"{parts.compiler}/{parts.mpi}" if parts.mpi else parts.compiler
    named = "+".join([base, *parts.levels])
    return f"{named} {parts.flags}" if parts.flags else named


def with_mpi(name: str, mpi: str) -> str:
    """The name of a toolchain with an MPI; a name that has an MPI keeps it."""
    parts = split_name(name)
    return name if parts.mpi else join_name(parts._replace(mpi=mpi))
