"""A run as one file, to send or to keep: a tar archive of its directory, compressed with xz."""

import lzma
import re
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from assay.model.errors import UsageError
from assay.model.units import format_size
from assay.store.files import writing

SUFFIX = ".tar.xz"
#: Files of a run, by path in the directory; the lock and reports are not among them.
_FILES = re.compile(
    r"(run|plan|ending|imported)\.json|records\.jsonl|samples\.columns|machine/[^/\0]+\.(json|xml)|logs/[^/\0]+"
)
_MAGIC = b"\xfd7zXZ\0"
#: Limits of unpacking: bytes in total, files, seconds; bytes of the decoder's memory, and of a file's name.
_MOST_BYTES, _MOST_FILES, _MOST_S = 1 << 30, 100_000, 60.0
_MOST_MEMORY, _LONGEST_NAME = 1 << 27, 1 << 14
_COPIED = 1 << 20
_PAX_SIZE = re.compile(rb"(?:\A|\n)\d+ (?:size|GNU\.sparse[.\w]*)=")
_PAX_NAME = re.compile(rb"(?:\A|\n)\d+ path=([^\n]+)\n")


def pack(run: Path, file: Path) -> None:
    """Write the directory `run` into the archive `file`, completely or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    with writing(file) as packed, tarfile.open(fileobj=packed, mode="w:xz") as archive:
        for path in sorted(run.rglob("*")):
            name = path.relative_to(run).as_posix()
            if path.is_file() and belongs(name):
                archive.add(path, f"{run.name}/{name}", filter=_anonymous)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove the owner of a file, and make it readable for everyone."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def belongs(name: str) -> bool:
    """Whether a path in the directory is a file of a run."""
    return _FILES.fullmatch(name) is not None


def is_packed(path: Path) -> bool:
    """Whether a path is an archive."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


@contextmanager
def unpacked(file: Path) -> Generator[Path]:
    """Unpack a run to a temporary directory; only files of a run are extracted.

    Raises:
        UsageError: the archive is damaged, or exceeds the limits.
    """
    with file.open("rb") as packed, emptied_folder() as folder:
        try:
            for name, pieces in _members(_Stream(packed)):
                _take(name.removeprefix("./").partition("/")[2], pieces, folder)
        except (_DamageError, tarfile.TarError, lzma.LZMAError, OSError) as error:
            raise UsageError(
                f"the packed run '{file}' is damaged, or is none", why=str(error), remedy=f"xz --test {file}"
            ) from error
        yield folder


@contextmanager
def emptied_folder() -> Generator[Path]:
    """A temporary folder, removed even if a signal ends this process: a shell waits for that."""
    folder = tempfile.mkdtemp(prefix="assay-")
    remove = ("/bin/sh", "-c", 'read -r _; rm -rf "$1"', "sh", folder)
    with subprocess.Popen(remove, stdin=subprocess.PIPE, start_new_session=True):  # leaving it closes its input
        yield Path(folder)


class _DamageError(Exception):
    """An archive is wrong."""


class _Stream:
    """A compressed file, decompressed piece by piece within the limits."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = lzma.LZMADecompressor(memlimit=_MOST_MEMORY)
        self._left = _MOST_BYTES
        self._until_s = time.monotonic() + _MOST_S

    def pieces(self, size: int) -> Iterator[bytes]:
        """The next `size` bytes."""
        if not 0 <= size <= self._left:
            raise _DamageError(f"it holds more than {format_size(_MOST_BYTES)}")
        self._left -= size
        while size:
            piece = self._piece(min(size, _COPIED))
            size -= len(piece)
            yield piece

    def read(self, size: int) -> bytes:
        """The next `size` bytes at once."""
        return b"".join(self.pieces(size))

    def _piece(self, most: int) -> bytes:
        piece = b""
        while not piece:
            if time.monotonic() > self._until_s:
                raise _DamageError(f"it takes more than {_MOST_S:.0f} s to unpack")
            compressed = self._file.read(_COPIED) if self._decoder.needs_input else b""
            if self._decoder.eof or (self._decoder.needs_input and not compressed):
                raise _DamageError("it ends too early")
            piece = self._decoder.decompress(compressed, most)
        return piece


def _members(stream: _Stream) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Name and content of each file. `tarfile` itself would trust the sizes in headers, as of sparse files."""
    name = ""
    for _ in range(_MOST_FILES):
        block = stream.read(tarfile.BLOCKSIZE)
        if not any(block):
            return
        member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        whole = -(-member.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
        if member.type in {tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME}:
            if member.size > _LONGEST_NAME:
                raise _DamageError("a file's name is longer than any")
            name = _long_name(member, stream.read(whole)[: member.size])
        elif member.type in {tarfile.GNUTYPE_SPARSE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE}:
            raise _DamageError(f"'{member.name}' is sparse, or otherwise not as assay pack writes it")
        elif member.isreg():
            pieces = stream.pieces(whole)
            yield name or member.name, _cut(pieces, member.size)
            for _piece in pieces:  # skip what was not read
                pass
            name = ""
        else:
            name = ""
    raise _DamageError(f"it holds more than {_MOST_FILES} files")


def _long_name(member: tarfile.TarInfo, content: bytes) -> str:
    """The name that a header gives the next file; empty if the header is about something else."""
    if member.type == tarfile.GNUTYPE_LONGNAME:
        return content.rstrip(b"\0").decode("utf-8", "surrogateescape")
    if _PAX_SIZE.search(content):
        raise _DamageError("a file in it is sparse, or larger than any of a run")
    found = _PAX_NAME.search(content)
    return found[1].decode("utf-8", "surrogateescape") if found else ""


def _cut(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        yield piece[:size]
        size -= min(size, len(piece))


def _take(name: str, pieces: Iterator[bytes], folder: Path) -> None:
    """Extract a file of the run; ignore all others."""
    if not belongs(name):
        return
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        for piece in pieces:
            file.write(piece)
