"""HPL.dat: the orders, block sizes and grids of HPL's input file as a study."""

from collections.abc import Iterator, Mapping, Sequence

from assay.model.errors import UsageError
from assay.model.plan import Measure, Study
from assay.topics.linear_algebra.variants import BROADCASTS

_FIRST = "HPLinpack benchmark input file"
#: Lines before the first count of values: two of heading, the output's name and its unit.
_BEFORE = 4
#: HPL's depth of look-ahead -> level of the axis `look-ahead`.
_DEPTHS = {0: "none", 1: "one"}


def study(text: str) -> Study | None:
    """Return the study of the file, one measure for each grid P x Q, one rank per core; None for another file.

    HPL's settings of panel factorisation, swapping and alignment have no effect.

    Raises:
        UsageError: the file breaks off, or a line does not have the expected numbers.
    """
    lines = text.splitlines()
    if not lines or not lines[0].startswith(_FIRST):
        return None
    given = _Lines(lines[_BEFORE:])
    orders, blocks = given.values(), given.values()
    given.skip(1)  # process mapping
    ps, qs = given.grids()
    given.skip(1)  # threshold
    for _ in range(4):  # panel factorisations, NBMINs, NDIVs, recursive ones
        given.values()
    broadcasts = tuple(dict.fromkeys(given.words(BROADCASTS, "broadcast", "HPL")))
    depths = tuple(dict.fromkeys(given.words(_DEPTHS, "look-ahead depth", "Assay's HPL")))
    measures = tuple(
        Measure(
            "hpl",
            (f"{p * q}x1",),
            axes={"n": orders, "nb": blocks, "p": p, "q": q, "broadcast": broadcasts, "look-ahead": depths},
            why="from the input file of HPL",
        )
        for p, q in zip(ps, qs, strict=True)
    )
    return Study(
        "HPL.dat", "What rate does HPL reach with the values of its input file?", measures, precision=0.02
    )


class _Lines:
    """The lines of the file, one after the other."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines: Iterator[tuple[int, str]] = iter(enumerate(lines, _BEFORE + 1))
        self._at = _BEFORE

    def values(self) -> tuple[int, ...]:
        """Read a line with a count, then a line with as many numbers."""
        return self._numbers(self._numbers(1)[0])

    def words(self, known: Mapping[int, str], what: str, who: str) -> tuple[str, ...]:
        """Read a count and its numbers, and return their words; UsageError lists the known ones of `who`."""
        numbers = self.values()
        for number in numbers:
            if number not in known:
                raise UsageError(
                    f"line {self._at} of the HPL.dat has an unknown {what}: {number}",
                    why=f"{who} knows {', '.join(map(str, known))}",
                    remedy="write one of these there; see HPL's TUNING file",
                )
        return tuple(known[number] for number in numbers)

    def grids(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Read a line with a count, then the Ps, then the Qs."""
        (count,) = self._numbers(1)
        return self._numbers(count), self._numbers(count)

    def skip(self, count: int) -> None:
        for _ in range(count):
            self._next()

    def _next(self) -> str:
        try:
            self._at, line = next(self._lines)
        except StopIteration:
            raise UsageError(
                "the HPL.dat breaks off", why="HPL reads 31 lines", remedy="give the whole file"
            ) from None
        return line

    def _numbers(self, count: int) -> tuple[int, ...]:
        line = self._next()
        words = line.split()[:count]
        if len(words) < count or not all(word.isdecimal() for word in words):
            raise UsageError(
                f"line {self._at} of the HPL.dat cannot be read",
                why=f"it should begin with {count} whole numbers: {line.strip()!r}",
                remedy="see HPL's TUNING file",
            )
        return tuple(map(int, words))
