"""Data that leaves the site: `--share` of the commands that write a file for others."""

from __future__ import annotations

import getpass
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

from assay.cli.support import output

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path

    from assay.model.private import Kind
    from assay.model.run import Run

share_option = click.option(
    "--share",
    is_flag=True,
    help="Replace names of hosts and users, paths, addresses, ids of jobs and other private data by stand-ins.",
)
list_option = click.option(
    "--list-replaced", "listed", is_flag=True, help="Print each replaced value with its stand-in (to stderr)."
)
_COUNTED: dict[Kind, str] = {
    "host": "host names",
    "domain": "domains",
    "user": "users",
    "login": "logins",
    "path": "parts of paths",
    "address": "IP addresses",
    "hardware": "hardware addresses",
    "identifier": "serial numbers and ids",
    "job": "jobs",
    "other": "other private values",
}


@contextmanager
def shared(runs: Sequence[Path], *, listed: bool) -> Generator[tuple[Path, ...]]:
    """Temporary directories of the redacted runs; prints what was replaced at the end."""
    from assay.store.shared import shared as made
    from assay.store.standins import StandIns

    users = []
    with suppress(KeyError, OSError):  # the user has no name
        users.append(getpass.getuser())
    standing = StandIns(users)
    with made(runs, standing) as folders:
        yield folders
    _tell(standing.replaced, listed=listed)


@contextmanager
def loaded(references: Sequence[str], *, share: bool, listed: bool) -> Generator[list[Run]]:
    """The runs of these names, redacted with `share`; published references are not."""
    import msgspec

    from assay import store

    paths = [store.find(each) for each in references]
    if not share:
        yield [store.load(path) for path in paths]
        return
    own = [path for path in paths if path.is_dir() or store.is_packed(path)]
    with shared(own, listed=listed) as folders:
        place = dict(zip(own, folders, strict=True))
        found = [store.load(place.get(path, path)) for path in paths]
        packed = (f"{run.info.id}{store.SUFFIX}" for run in found)  # as `assay pack --share` calls it
        yield [msgspec.structs.replace(run, path=name) for run, name in zip(found, packed, strict=True)]


def _tell(replaced: Mapping[Kind, Mapping[str, str]], *, listed: bool) -> None:
    """Print the number of replacements of each kind, and each of them with `listed`."""
    counts = [f"{what}: {len(replaced[kind])}" for kind, what in _COUNTED.items() if replaced.get(kind)]
    output.say(f"replaced {', '.join(counts) or 'nothing'}")
    if counts and not listed:
        output.say("read the file before you send it; --list-replaced prints each value with its stand-in")
    for kind, what in _COUNTED.items() if listed else ():
        for value, stand_in in sorted(replaced.get(kind, {}).items()):
            output.echo(f"  {what}: {value} -> {stand_in}", err=True)
