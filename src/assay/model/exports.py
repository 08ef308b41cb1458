"""What a module of `exports` declares as `export`: a form in which a run is written for other programs."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from assay.model.result import Analysis
from assay.model.run import Run

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
    figures: Callable[[Run, Analysis], Parts]
    samples: Callable[[Run], Parts] | None = None
