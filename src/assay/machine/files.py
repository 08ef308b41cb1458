"""Read the small text files of /proc and /sys, below a root that tests can replace."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.model.facts import Fact, FactValue

Value = TypeVar("Value", bound="FactValue")


def text(path: Path) -> str | None:
    """Content of a file without surrounding white space; None if it cannot be read."""
    try:
        return path.read_bytes().decode(errors="replace").strip("\0 \t\n")
    except OSError:
        return None


def number(path: Path) -> int | None:
    """Content of a file as an integer; None if it cannot be read or is not an integer."""
    content = text(path)
    try:
        return None if content is None else int(content)
    except ValueError:
        return None


def entries(folder: Path, pattern: str = "*") -> list[Path]:
    """Matching entries, `cpu2` before `cpu10`; empty if the folder does not exist."""
    try:
        found = list(folder.glob(pattern))
    except OSError:
        return []
    return sorted(found, key=lambda path: (len(path.name), path.name))


def fields(content: str | None) -> dict[str, str]:
    """`name : value` lines as a dictionary; the first of equal names counts."""
    found: dict[str, str] = {}
    for line in (content or "").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip(), value.strip())
    return found


def amounts(content: str | None) -> dict[str, int]:
    """Bytes by name, from the lines `MemTotal: 123 kB` of the machine or `Node 0 MemTotal: 123 kB` of a node."""
    lines = ((name.split(), value.split()) for name, value in fields(content).items())
    known = {name[-1]: amount[0] for name, amount in lines if name and amount[1:] == ["kB"]}
    return {name: int(amount) * 1024 for name, amount in known.items() if amount.isdecimal()}


def unreadable_reason(path: Path) -> str:
    """The kernel's reason as text: `/sys/x: no such file`, `/sys/x: permission denied (needs root)`."""
    try:
        path.read_bytes()
    except PermissionError:
        return f"{path}: permission denied (needs root)"
    except OSError as error:
        return f"{path}: {(error.strerror or str(error)).lower()}"
    return f"{path}: no usable value"


def fact(root: Path, name: str, parse: Callable[[str], Value | None], unit: str = "") -> Fact:
    """A fact read from one file below the root.

    Args:
        root: `/`, or a test folder.
        name: path below the root, e.g. `proc/sys/kernel/osrelease`.
        parse: converts the content to the value; None or ValueError if there is none.
        unit: unit of the value.
    """
    from assay.model.facts import Fact, unavailable  # noqa: PLC0415 (counters do not need msgspec)

    path = root / name
    content = text(path)
    if content:
        try:
            value = parse(content)
        except ValueError:
            value = None
        if value is not None:
            return Fact(value, unit, f"/{name}")
    return unavailable(f"/{name}: is empty" if content == "" else _below_root(unreadable_reason(path), root))


def _below_root(reason: str, root: Path) -> str:
    prefix = str(root)
    return reason if prefix == "/" else reason.removeprefix(prefix)
