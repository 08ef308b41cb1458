"""A run as one file, to send and to keep: a tar archive of its directory, compressed with xz."""

import re
import tarfile
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from assay.model.errors import UsageError
from assay.store.files import write_error

SUFFIX = ".tar.xz"
#: What belongs to a run, by its path in the directory; a lock and what was drawn from the records do not.
_FILES = re.compile(
    r"(run|plan|ending|imported)\.json|records\.jsonl|samples\.columns|machine/[^/]+\.(json|xml)|logs/[^/]+"
)
_COPIED = 1 << 20


def pack(run: Path, file: Path) -> None:
    """Write the directory `run` into the archive `file`: whole, or not at all.

    Raises:
        UnfitEnvironmentError: the file cannot be written.
    """
    draft = file.with_name(f".{file.name}.draft")
    try:
        with tarfile.open(draft, "w:xz") as archive:
            for path in sorted(run.rglob("*")):
                name = path.relative_to(run).as_posix()
                if path.is_file() and _FILES.fullmatch(name):
                    archive.add(path, f"{run.name}/{name}", filter=_anonymous)
        draft.replace(file)
    except OSError as error:
        raise write_error(file, error) from error
    finally:
        draft.unlink(missing_ok=True)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Whose a file was is nobody's business, and everybody may read it."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def is_packed(path: Path) -> bool:
    """Whether a path is an archive."""
    return path.is_file() and tarfile.is_tarfile(path)


@contextmanager
def unpacked(file: Path) -> Generator[Path]:
    """The directory of a packed run, while it is read: nothing is taken out but files that a run has.

    Raises:
        UsageError: the archive is broken, or holds no run.
    """
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        try:
            with tarfile.open(file) as archive:
                for member in archive:
                    _take(archive, member, Path(folder))
        except (tarfile.TarError, EOFError, OSError) as error:
            why = f"{error}" or "it ends too early"
            raise UsageError(f"cannot read the packed run '{file}'", why=why, remedy="assay list") from error
        yield Path(folder)


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """A file of the run; everything else in the archive is left there."""
    name = member.name.removeprefix("./").partition("/")[2]
    content = archive.extractfile(member) if member.isreg() and _FILES.fullmatch(name) else None
    if content is None:
        return
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        while part := content.read(_COPIED):
            file.write(part)
