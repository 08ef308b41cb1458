"""Cached output about a run, valid until something changes from which it was made."""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from assay import store
from assay.catalogue import application_files, topics
from assay.cli.support import output, settings
from assay.model.folders import cache_folder
from assay.store.files import kept, stamp
from assay.store.reading import sources

#: Number of cached pages, the newest ones; a run may have several for widths, forms and limits.
_MOST = 100


def tell(run: Path, options: tuple[str, ...], make: Callable[[Console], str]) -> None:
    """Print the page of a run, cached or made by `make`: to load its code and to analyse takes a second.

    Args:
        run: its directory, or its one file.
        options: all choices that change the page, apart from the run, the settings and the terminal.
        make: makes the page for a terminal.
    """
    console, folder = output.console(), cache_folder() / "shown"

    def made() -> str:
        _make_room(folder)
        return make(console)

    page = kept(folder / f"{_key(run, options, console)}.gz", made)
    sys.stdout.write(output.coloured(page))
    sys.stdout.flush()


def _key(run: Path, options: tuple[str, ...], console: Console) -> str:
    """A key that changes with everything from which a page is made."""
    screen = (console.width, console.encoding, console.is_terminal, console.color_system, console.no_color)
    code = [path for folder in topics.folders() for path in _below(folder)]
    own = [*settings.files(), *application_files.of_user().values()]
    changing = stamp([*sources(run), *code, *sys.path, *own])  # folders of packages change when they are updated
    everything = (str(run), str(store.runs_folder()), options, screen, sys.version, changing)
    return hashlib.sha256(repr(everything).encode()).hexdigest()


def _below(folder: str) -> Iterator[str]:
    """Every file except those that Python compiled."""
    for place, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each != "__pycache__"]
        yield from (os.path.join(place, name) for name in names)  # noqa: PTH118 (ten times as fast as paths)


def _make_room(folder: Path) -> None:
    """Remove the oldest pages."""
    with suppress(OSError):  # the folder does not exist yet, or another process removes files
        for old in sorted(folder.iterdir(), key=lambda page: -page.stat().st_mtime)[_MOST - 1 :]:
            old.unlink()
