"""The first file system of a guest, in the kernel's "newc" form (Documentation/driver-api/early-userspace)."""

from collections.abc import Iterable, Mapping

_FOLDER, _FILE = 0o040755, 0o100755
_ALIGNMENT = 4


def archive(files: Mapping[str, bytes]) -> bytes:
    """Executable files by path (without a leading `/`), after the folders that contain them."""
    folders = sorted({folder for path in files for folder in _above(path)})
    entries = [_entry(folder, _FOLDER, b"") for folder in folders]
    entries += [_entry(path, _FILE, content) for path, content in files.items()]
    return b"".join([*entries, _entry("TRAILER!!!", 0, b"")])


def _above(path: str) -> Iterable[str]:
    parts = path.split("/")[:-1]
    return ("/".join(parts[: end + 1]) for end in range(len(parts)))


def _entry(path: str, mode: int, content: bytes) -> bytes:
    """Magic and 13 numbers of 8 hexadecimal digits; only mode, links, size of content and of name matter here."""
    name = path.encode() + b"\0"
    numbers = [0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0]
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + name
    return _aligned(head) + _aligned(content)


def _aligned(content: bytes) -> bytes:
    return content + bytes(-len(content) % _ALIGNMENT)
