"""What a module of `exports` declares as `export`: a form in which a run is written for other programs."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from assay.model.result import Analysis
from assay.model.run import Run

#: Text, or bytes of a binary form.
Parts = Iterable[str] | Iterable[bytes]


class Export(NamedTuple):
    """A form of a file.

    Attributes:
        words: what it has, for the help of the command line.
        figures: what is written of the figures.
        samples: what is written of the raw samples; None where the form has no such table.
    """

    words: str
    figures: Callable[[Run, Analysis], Parts]
    samples: Callable[[Run], Parts] | None = None
