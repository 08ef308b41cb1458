"""Write files so that a crash, a full disk or a second process loses nothing."""

import errno
import fcntl
import gzip
import hashlib
import os
import secrets
import zlib
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from assay.model.errors import UnfitEnvironmentError
from assay.model.text import encoded

#: The file of the columns of a run, and the newest form of them that is read: see `assay.store.compact`.
COLUMNS, COLUMNS_FORM = "samples.columns", 2
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
#: Longer texts are not cached. Texts are encoded with every character, including those of odd file names.
_LONGEST, _ANY = 1 << 24, "surrogatepass"


def pretty(value: msgspec.Struct) -> bytes:
    """The indented JSON of a record, with a final newline."""
    return msgspec.json.format(encoded(value), indent=2) + b"\n"


def write_json(path: Path, value: msgspec.Struct) -> None:
    """Write a record as indented JSON; see `write_atomically`."""
    write_atomically(path, pretty(value))


def write_atomically(path: Path, content: bytes) -> None:
    """Write the file, or leave it unchanged: write and sync a temporary file, then rename it.

    Raises:
        UnfitEnvironmentError: the disk is full or the folder cannot be written.
    """
    with write_errors(path):
        with replacing(path) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(path.parent)


@contextmanager
def replacing(path: Path) -> Generator[BinaryIO]:
    """A new file with a random name that replaces `path` when it is complete.

    Raises:
        OSError: for `path`, which is then unchanged.
    """
    draft = path.with_name(f".{secrets.token_hex(8)}.draft")
    try:
        with draft.open("xb") as file:
            yield file
        draft.replace(path)
    except OSError as error:  # name the wanted file, not its draft
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        with suppress(OSError):
            draft.unlink()


def kept(path: Path, make: Callable[[], str]) -> str:
    """The text in a file of the user's cache; if there is none, it is made and, unless empty, cached.

    A damaged cache, or one that cannot be written, only costs time.
    """
    with suppress(OSError, EOFError, zlib.error, UnicodeDecodeError), gzip.open(path) as there:
        content = there.read(_LONGEST + 1)  # past the end, where gzip checks the checksum
        if 0 < len(content) <= _LONGEST:
            return content.decode("utf-8", _ANY)
    made = make()
    content = made.encode("utf-8", _ANY)
    if 0 < len(content) <= _LONGEST:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                file.write(gzip.compress(content, mtime=0))
    return made


def stamp(paths: Iterable[str | Path]) -> str:
    """A hash that changes when one of these files or folders appears, disappears or changes."""
    found = []
    for path in paths:
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # NFS revalidates when a file is opened
            known = os.fstat(handle)
            os.close(handle)
            found.append((os.path.basename(path), known.st_size, known.st_mtime_ns, known.st_ctime_ns))  # noqa: PTH119
    return hashlib.sha256(repr(sorted(found)).encode()).hexdigest()


def writing(path: Path) -> AbstractContextManager[BinaryIO]:
    """Open a user's file for writing: complete or not at all; devices, pipes and links are written directly."""
    as_it_is = path.is_symlink() or (path.exists() and not path.is_file())
    return path.open("wb") if as_it_is else replacing(path)


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder to disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:  # some network file systems cannot sync folders, and need not
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(handle)


def append_atomically(handle: int, committed: int, content: bytes) -> int:
    """Append to an open file of `committed` bytes and sync it; returns the new size.

    Raises:
        OSError: it could not be written completely. Then, and if the user interrupts, the file is truncated to
            `committed` bytes.
    """
    try:
        os.lseek(handle, committed, os.SEEK_SET)
        left = memoryview(content)
        while left:
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    except BaseException:
        os.ftruncate(handle, committed)
        raise
    return committed + len(content)


def lock(path: Path) -> int:
    """Hold a lock file until the returned handle is closed or this process ends.

    Raises:
        UnfitEnvironmentError: another process holds it, or the file system has no locks.
    """
    with write_errors(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} on {os.uname().nodename}\n".encode(), 0)
    except OSError as error:
        holder = os.pread(handle, 200, 0).decode(errors="replace").strip()
        os.close(handle)
        if error.errno in {errno.EACCES, errno.EAGAIN}:
            raise UnfitEnvironmentError(
                f"run '{path.parent.name}' is being measured already",
                why=f"{holder or 'another process'} holds {path}",
                remedy=f"wait until it ends, or end it; then: assay run --resume {path.parent}",
            ) from error
        raise _write_error(path, error) from error
    return handle


@contextmanager
def write_errors(path: Path) -> Generator[None]:
    """Raise an error of the operating system as UnfitEnvironmentError: `path` could not be written, and why."""
    try:
        yield
    except OSError as error:
        raise _write_error(path, error) from error


def _write_error(path: Path, error: OSError) -> UnfitEnvironmentError:
    """The error for the user if `path` could not be written."""
    if error.errno in _FULL:
        return UnfitEnvironmentError(
            f"no space left to write '{path}'",
            why=f"{error.strerror}; what was measured before is kept",
            remedy="free some space, then: assay run --resume last",
        )
    return UnfitEnvironmentError(
        f"cannot write '{path}'",
        why=error.strerror or str(error),
        remedy="choose another folder for runs: assay run --runs DIRECTORY, or export ASSAY_RUNS=DIRECTORY",
    )
