"""The cache of builds, shared by all runs: one folder for each key, to which programs are added when needed."""

import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay.model.errors import UnfitEnvironmentError
from assay.model.folders import builds_folder
from assay.model.toolchain import Build, Toolchain
from assay.toolchain import cmake, sources
from assay.toolchain.compilers import fortran_compilers, join_name, split_name

_KEY_DIGITS = 16
_MANIFEST = "manifest.json"


def build(
    toolchain: Toolchain,
    say: Callable[[str], None] = lambda _text: None,
    *,
    programs: AbstractSet[str] | None = None,
    again: bool = False,
) -> Build:
    """The native programs of a toolchain, from the cache if they are there and intact.

    Programs without MPI come from the build without MPI, also for a toolchain with an MPI.

    Args:
        toolchain: compiler, flags and MPI.
        say: prints a line on the progress.
        programs: needed programs; None for all. The build may have others, too.
        again: build even if the cache has it.

    Raises:
        UnfitEnvironmentError: no CMake, no sources, a failing compiler, or a cache that cannot be written.
    """
    made = _build(toolchain, say, programs, again=again)
    return (
        made
        if toolchain.mpi is None
        else _with_mpi_programs(_build(_without_mpi(toolchain), say, programs, again=again), made)
    )


def cached_build(toolchain: Toolchain) -> Build | None:
    """The native programs in the cache; None if they must be built first."""
    made = _ready(builds_folder() / _key(toolchain, sources.digest(sources.folder()), target_name()), toolchain)
    if made is None or toolchain.mpi is None:
        return made
    alone = cached_build(_without_mpi(toolchain))
    return None if alone is None else _with_mpi_programs(alone, made)


def _with_mpi_programs(alone: Build, made: Build) -> Build:
    """A build with the programs without MPI, and those of an MPI."""
    return msgspec.structs.replace(
        made,
        programs=alone.programs | made.programs,
        sha256=alone.sha256 | made.sha256,
        openmp=alone.openmp,
        absent=alone.absent | made.absent,
        left=alone.left + made.left,
    )


def _without_mpi(toolchain: Toolchain) -> Toolchain:
    name = join_name(split_name(toolchain.name)._replace(mpi=""))
    return msgspec.structs.replace(toolchain, name=name, mpi=None)


def _build(
    toolchain: Toolchain, say: Callable[[str], None], programs: AbstractSet[str] | None, *, again: bool
) -> Build:
    """One entry of the cache: the programs without MPI, or those of an MPI."""
    native = sources.folder()
    digest = sources.digest(native)
    target = target_name()
    key = _key(toolchain, digest, target)
    folder = _writable(builds_folder()) / key
    ready = None if again else _ready(folder, toolchain)
    if ready and not _lacks(ready, programs):
        return ready
    with _lock(folder.with_suffix(".lock"), say):
        ready = None if again else _ready(folder, toolchain)
        if ready and not _lacks(ready, programs):  # another process built it while this one waited
            return ready
        say(f"building the native programs with {toolchain.name} ({toolchain.version})")
        known = ready or Build(key, toolchain, target, digest, {}, {}, openmp=False, built="")
        made = _make(native, folder, known, programs)
    if added := [name for name in made.programs if name not in known.programs]:
        say(f"built {', '.join(added)} in {folder}")
    return made


def _lacks(ready: Build, programs: AbstractSet[str] | None) -> bool:
    """Whether a needed program is not built yet."""
    return bool(ready.left if programs is None else programs & set(ready.left))


def target_name() -> str:
    """Microarchitecture and a hash of the processor's features, on which `-march=native` depends."""
    import archspec.cpu  # noqa: PLC0415 (reads a large table)

    features = hashlib.sha256()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() in {"vendor_id", "cpu family", "model", "flags", "Features", "CPU part", "cpu"}:
            features.update(f"{name.strip()}={value.strip()}\n".encode())
        if not line:  # the first processor is enough: builds run on every core
            break
    return f"{archspec.cpu.host().name}-{features.hexdigest()[:8]}"


def _key(toolchain: Toolchain, digest: str, target: str) -> str:
    compiler = str(Path(toolchain.compiler).resolve())
    mpi = toolchain.mpi
    wrapper = (str(Path(mpi.compiler).resolve()), mpi.version) if mpi else ()
    parts = (digest, compiler, toolchain.version, *toolchain.flags, target, *wrapper, *fortran_compilers())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_KEY_DIGITS]


def _ready(folder: Path, toolchain: Toolchain) -> Build | None:
    """The build in a folder of the cache, with this toolchain; None if it is absent or incomplete."""
    try:
        made = msgspec.json.decode((folder / _MANIFEST).read_bytes(), type=Build)
        intact = all(_sha256(Path(path)) == made.sha256[name] for name, path in made.programs.items())
    except (OSError, msgspec.MsgspecError, KeyError):
        return None
    return msgspec.structs.replace(made, toolchain=toolchain) if intact else None


def _make(native: Path, folder: Path, known: Build, programs: AbstractSet[str] | None) -> Build:
    """Add programs to a folder of the cache, each in one step and the manifest last.

    Args:
        native: folder of the sources.
        folder: folder of the entry; it also has the build tree, so that shared code is compiled once.
        known: the build that the folder has already.
        programs: needed programs; None for all.
    """
    try:
        return _added(native, folder, known, programs)
    except BaseException:
        if not (folder / _MANIFEST).exists():  # nothing in it was ever used
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _added(native: Path, folder: Path, known: Build, programs: AbstractSet[str] | None) -> Build:
    log, tree = folder.with_suffix(".log"), folder / "tree"
    if not known.programs:
        shutil.rmtree(tree, ignore_errors=True)
    folder.mkdir(exist_ok=True)
    cmake.compile_programs(native, tree, known.toolchain, log, programs)
    built = {path.name: path for path in sorted((tree / "bin").glob("*"))}
    left = {Path(name).stem for name in built if name.endswith(".left")}
    fresh = {name for name, path in built.items() if not path.suffix} - left - known.programs.keys()
    if not fresh and not left and not known.programs:
        raise UnfitEnvironmentError("the build made no program", why=f"the log is {log}", remedy=f"less {log}")
    for name in fresh:
        shutil.copy2(built[name], folder / f".{name}")
        (folder / f".{name}").rename(folder / name)
    made = msgspec.structs.replace(
        known,
        programs={name: str(folder / name) for name in sorted(fresh | known.programs.keys())},
        sha256=known.sha256 | {name: _sha256(folder / name) for name in fresh},
        openmp=cmake.has_openmp(tree),
        built=datetime.now(UTC).isoformat(timespec="seconds"),
        absent={Path(name).stem: path.read_text() for name, path in built.items() if name.endswith(".absent")},
        left=tuple(sorted(left - known.programs.keys())),
    )
    (folder / f".{_MANIFEST}").write_bytes(msgspec.json.format(msgspec.json.encode(made)))
    (folder / f".{_MANIFEST}").rename(folder / _MANIFEST)
    return made


@contextmanager
def _lock(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Let one process at a time build a key; on a file system without locks, the last rename wins."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another process that builds the same programs")
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            say("this file system cannot lock; building all the same")
        yield


def _writable(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise UnfitEnvironmentError(
            f"cannot write to the cache of builds, {folder}",
            why=error.strerror or str(error),
            remedy="export ASSAY_CACHE=/a/folder/with/space",
        ) from error
    return folder


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
