"""What was printed of a run, kept in the user's cache until something changes of which it was made."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from assay.cli import output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rich.console import Console

#: So many pages are kept, those that were made last: of a run, some for each width, form and set of limits.
_MOST = 100


def tell(run: Path, options: tuple[str, ...], make: Callable[[Console], str]) -> None:
    """Print the page that `make` makes of a run, or made before: to load its code and to analyse takes a second.

    Args:
        run: its directory, or its one file.
        options: all that decides, besides the run, the settings and the terminal, what the page says.
        make: a page for a terminal.
    """
    from assay.store.files import kept
    from assay.toolchain.cache import cache_folder

    console, folder = output.console(), cache_folder() / "shown"

    def made() -> str:
        _make_room(folder)
        return make(console)

    page = kept(folder / f"{_key(run, options, console)}.gz", made)
    sys.stdout.write(output.coloured(page))
    sys.stdout.flush()


def _key(run: Path, options: tuple[str, ...], console: Console) -> str:
    """Another word as soon as anything changes of which a page is made."""
    import hashlib

    from assay import store
    from assay.cli import settings
    from assay.model import application_files, topics
    from assay.store.files import stamp
    from assay.store.reading import sources

    screen = (console.width, console.encoding, console.is_terminal, console.color_system, console.no_color)
    code = [path for folder in topics.folders() for path in _below(folder)]
    own = [*settings.files(), *application_files.of_user().values()]
    changing = stamp([*sources(run), *code, *sys.path, *own])  # folders of packages change when those are updated
    everything = (str(run), str(store.runs_folder()), options, screen, sys.version, changing)
    return hashlib.sha256(repr(everything).encode()).hexdigest()


def _below(folder: str) -> Iterator[str]:
    """Every file that Python did not compile itself."""
    for place, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each != "__pycache__"]
        yield from (os.path.join(place, name) for name in names)  # noqa: PTH118 (a tenth of the time of paths)


def _make_room(folder: Path) -> None:
    """Remove the pages that are the oldest."""
    from contextlib import suppress

    with suppress(OSError):  # not there yet, or another process removes them
        for old in sorted(folder.iterdir(), key=lambda page: -page.stat().st_mtime)[_MOST - 1 :]:
            old.unlink()
