"""What topics add to the command line: commands, views over many runs, and forms in which a run is exported.

A module of a topic's `commands` defines `command`, a command of click: `assay NAME`. It returns an `Answer`, to
which the command line adds `--json`; an argument `run` completes ids of runs, and click's object, which
`click.pass_obj` passes, is a `Site`. A module of `views` defines `view`: `assay show NAME`. Both are found by
place, and imported when they are called or explained: what is slow to load is imported inside their functions.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from rich.console import Console

    from assay.model.result import Analysis
    from assay.model.run import Run


class Answer(NamedTuple):
    """What a command or a view found out.

    Attributes:
        value: a record, or a mapping of records, with a number `schema`, for `--json`.
        render: prints it to a terminal.
    """

    value: object
    render: "Callable[[Console], None]"


class View(NamedTuple):
    """A page or table over many runs.

    Attributes:
        title: what it shows, in one sentence.
        answer: of the runs and their analyses, oldest first; they are loaded one after the other.
        runs: of a folder, that it reads; by default all of them.
    """

    title: str
    answer: "Callable[[Iterable[tuple[Run, Analysis]]], Answer]"
    runs: Callable[[Path], Iterable[Path]] | None = None


class Site(NamedTuple):
    """What commands know of the site.

    Attributes:
        limits: reads the limits of the configuration, name -> value in SI units.
    """

    limits: Callable[[], Mapping[str, float]]


class Decided(NamedTuple):
    """A decision on a figure, for an export that CI reads.

    Attributes:
        group: the run that is judged.
        name: of the figure.
        verdict: `failure`, `skipped` if it is not decided, or empty if it passed.
        words: with its numbers.
    """

    group: str
    name: str
    verdict: Literal["", "failure", "skipped"]
    words: str


#: Text, or bytes of a binary form.
Parts = Iterable[str] | Iterable[bytes]


class Export(NamedTuple):
    """One export format.

    Attributes:
        words: what the format holds, for the help of the command line.
        figures: writes the figures.
        samples: writes the raw samples; None if the format has no such table.
    """

    words: str
    figures: "Callable[[Run, Analysis], Parts]"
    samples: "Callable[[Run], Parts] | None" = None
