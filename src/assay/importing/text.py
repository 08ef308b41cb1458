"""Text of a file: the lines that a program printed, without the additions of pages, mails, launchers and logs.

Its numbers are checked, and errors name the line.
"""

import gzip
import hashlib
import html
import io
import math
import re
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, NoReturn, TypedDict, Unpack

import msgspec

from assay.importing.command import CommandLine
from assay.model.declaration import ParamValue
from assay.model.errors import UsageError
from assay.model.imported import Figure, Skipped, Table

#: Indentation and comment marks at the start of a line.
_INDENT = re.compile(r"\s*(?:(?:#+|//)\s*)?")
#: The word for standard input, and its name.
_STDIN, _STDIN_NAME = "-", "standard input"
#: Maximum length of a number.
_LONGEST = 40
_SHOWN = 60
#: Printed unit -> SI unit and factor.
UNITS = msgspec.toml.decode(Path(__file__).with_name("units.toml").read_bytes(), type=dict[str, tuple[str, float]])


class RefusedError(UsageError):
    """A part of a text cannot be read.

    Attributes:
        line: line number from 1; 0 for the whole file.
        reason: what is wrong.
    """

    def __init__(self, name: str, line: int, reason: str) -> None:
        super().__init__(
            f"cannot import '{name}'",
            why=(f"line {line}: " if line else "") + reason,
            remedy="correct or cut it and import again; see docs/importing.md for what is read",
        )
        self.line = line
        self.reason = reason


class About(TypedDict, total=False):
    """Further parts of a table; see Table."""

    version: str
    params: dict[str, ParamValue]
    failed: str


class Text(msgspec.Struct, frozen=True):
    """A file that was read.

    Attributes:
        name: name given by the user; `standard input` for `-`.
        sha256: hash of its bytes.
        lines: cleaned lines, see `cleaning`.
    """

    name: str
    sha256: str
    lines: tuple[str, ...]

    def bare(self) -> "Text":
        """The same without indentation and comment marks."""
        return msgspec.structs.replace(self, lines=tuple(_INDENT.sub("", line, count=1) for line in self.lines))

    @classmethod
    def of(cls, name: str, content: bytes) -> "Text":
        """The text of a file's bytes; invalid UTF-8 is replaced, which loses no number."""
        return cls(name, hashlib.sha256(content).hexdigest(), lines_of(name, content))

    @classmethod
    def read(cls, name: str, remedy: str) -> "Text":
        """The text of a file, or of standard input for `-`; see `read_file`."""
        return cls.of(_STDIN_NAME if name == _STDIN else name, read_file(name, remedy))

    def refuse(self, line: int, reason: str) -> NoReturn:
        """Raise RefusedError with the line (from 1; 0 for the whole file) and what is wrong with it."""
        raise RefusedError(self.name, line, self._with_line(line, reason))

    def skipped(self, line: int, reason: str) -> Skipped:
        """A single line that cannot be read, of a table whose other lines can."""
        return Skipped(self.name, lines(line, line), self._with_line(line, reason), line)

    def _with_line(self, line: int, reason: str) -> str:
        shown = self.lines[line - 1].strip()[:_SHOWN] if line else ""
        return reason + (f": '{shown}'" if shown else "")

    def table(
        self,
        started: CommandLine,
        tool: str,
        benchmark: str,
        figures: Iterable[Figure],
        *,
        where: str = "",
        **about: Unpack[About],
    ) -> Table:
        """The table of figures after a command line; without a place, it is at the lines of its figures."""
        kept = tuple(figures)
        numbers = [figure.line for figure in kept]
        where = where or lines(min(numbers), max(numbers))
        return started.annotate(Table(self.name, where, tool, benchmark, kept, **about))

    def number(self, line: int, word: str) -> float:
        """A finite, non-negative number; else UsageError."""
        value = _float(word)
        if value is None or not math.isfinite(value) or value < 0:
            self.refuse(line, f"'{word[:_LONGEST]}' is no number from 0")
        return value

    def scaled(self, line: int, word: str, factor: float) -> float:
        """Number x factor, rounded to the double with these digits: 3402.54 MB/s are 3402540000.0 B/s."""
        value = float(f"{self.number(line, word) * factor:.15g}")
        if not math.isfinite(value):
            self.refuse(line, f"'{word[:_LONGEST]}' is too large")
        return value

    def whole(self, line: int, word: str) -> int:
        """A non-negative whole number; else UsageError."""
        if not is_whole(word):
            self.refuse(line, f"'{word[:_LONGEST]}' is no whole number")
        return int(word)


class Column(NamedTuple):
    """The meaning of a column of numbers.

    Attributes:
        kernel: name.
        metric: name.
        unit: as printed, a key of UNITS.
        remark: see Figure.
    """

    kernel: str
    metric: str
    unit: str
    remark: str = ""


def figure(text: Text, line: int, column: Column, word: str, params: dict[str, int | float | str]) -> Figure:
    """The printed word as a figure in SI units."""
    unit, factor = UNITS[column.unit]
    return Figure(
        kernel=column.kernel,
        metric=column.metric,
        unit=unit,
        value=text.scaled(line, word, factor),
        printed=f"{word} {column.unit}".strip(),
        printed_unit=column.unit,
        better="lower" if unit == "s" else "higher",
        params=params,
        line=line,
        remark=column.remark,
    )


#: Words that programs print where they could not compute a number.
NO_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:nan|inf(?:inity)?)(?:\([^)\s]*\))?(?![\w.])", re.IGNORECASE)


def is_whole(word: str) -> bool:
    """Whether a word is a non-negative whole number."""
    return word.isascii() and word.isdigit() and len(word) < len(str(2**62))


def is_number(word: str) -> bool:
    """Whether a word is a finite number."""
    value = _float(word)
    return value is not None and math.isfinite(value)


def _float(word: str) -> float | None:
    if len(word) > _LONGEST or not word.isascii() or "_" in word:
        return None
    try:
        return float(word)
    except ValueError:
        return None


def lines(first: int, last: int) -> str:
    """The place of a table: `lines 40 to 63`."""
    return f"lines {first} to {last}" if last > first else f"line {first}"


def slug(words: str) -> str:
    """The name of a metric from a column's heading: `P50 Tail Lat` -> `p50-tail-lat`."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


#: Maximum size of a file.
_MOST_BYTES = 64 * 2**20
_GZIP = b"\x1f\x8b"
_UTF_16 = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
#: Escape sequences: colours, movements of the cursor, titles of windows.
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B])")
#: Non-breaking spaces, spaces without width.
_BLANKS = str.maketrans({"\xa0": " ", "\u2007": " ", "\u202f": " ", **dict.fromkeys("\u200b\u2060\ufeff")})
_PAGE = re.compile(r"<(?:!doctype html|html|body|pre|code|table|div|span|p|br)\b[^<>]{0,2000}>", re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style)\b(?:(?!<(?:script|style)\b).)*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_ENDS_LINE = re.compile(r"<(?:br|/p|/div|/tr|/li|/h\d)\b[^<>]{0,2000}>\n?", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z!][^<>\n]{0,2000}>")
#: Prefixes of lines, outermost first: `> ` of mails, `(head, rank=0, pid=7)` of Ray, times of logs.
_QUOTES = re.compile(r"\s{0,3}(?:>+\s?)+")
_RAY = re.compile(r"\([\w.-]{1,40},(?: \w{2,8}=[\w.:-]{1,60},?)+\)\s?")
_TIME = re.compile(
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?(?::\s|\s?\|\s?|\s|$)", re.ASCII
)
#: `[1,0]<stdout>:` of Open MPI's --tag-output, with the date of --timestamp-output; also in the middle of a line,
#: if the program flushed there.
_TAGGED = re.compile(
    r"(?:[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})?\[\d{1,9},\d{1,9}\]<std(?:out|err)>:\s?",
    re.ASCII,
)
#: Prefixes of `srun --label`, and Jenkins' time of day. They count only if a benchmark's first line has them,
#: because `0: 10 21` may be a row of distances.
_LABELS = (re.compile(r"\s*\d{1,7}:\s?", re.ASCII), re.compile(r"\d\d:\d\d:\d\d\s", re.ASCII))
_BEGINS = re.compile(r"\s*(?:#|-{9}|={9}|T/V|STREAM\b|HPLinpack\b|\[ ?ID\])", re.ASCII)
_MARKDOWN = re.compile(r"\\([#_*\[\]|<>`~-])")


def lines_of(name: str, content: bytes) -> tuple[str, ...]:
    """The cleaned lines of a file; for an HTML page, the lines of its text.

    Raises:
        UsageError: a compressed file cannot be unpacked, or is too large.
    """
    content = unpacked(name, content)
    encoding = _UTF_16.get(content[:2], "utf-8-sig")
    text = content.decode(encoding, errors="replace").replace("\r\n", "\n")
    text = _ESCAPES.sub("", text).translate(_BLANKS)
    if _PAGE.search(text):
        text = html.unescape(_TAG.sub("", _ENDS_LINE.sub("\n", _HIDDEN.sub("", text))))
        text = text.translate(_BLANKS)
    lines = [line.rpartition("\r")[2] for line in text.split("\n")]
    for prefix in (_QUOTES, _RAY, _TIME):
        lines = [line[found.end() :] if (found := prefix.match(line)) else line for line in lines]
    lines = [_TAGGED.sub("", line) if "]<std" in line else line for line in lines]
    for label in _LABELS:
        if any((found := label.match(line)) and _BEGINS.match(line, found.end()) for line in lines):
            lines = [line[found.end() :] if (found := label.match(line)) else line for line in lines]
    return tuple(_MARKDOWN.sub(r"\1", line) if "\\" in line else line for line in lines)


def read_file(name: str, remedy: str) -> bytes:
    """The bytes of a file of at most 64 MiB, or of standard input for `-`.

    Raises:
        UsageError: it cannot be read, or is larger.
    """
    try:
        if name == _STDIN:
            content, name = sys.stdin.buffer.read(_MOST_BYTES + 1), _STDIN_NAME
        else:
            with Path(name).open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        raise UsageError(f"cannot read '{name}'", why=why, remedy=remedy) from error
    if len(content) > _MOST_BYTES:
        raise UsageError(f"'{name}' is larger than 64 MiB", why="the output of a benchmark is not")
    return content


def unpacked(name: str, content: bytes) -> bytes:
    """The content of a file, decompressed if gzip compressed it.

    Raises:
        UsageError: it cannot be unpacked, or is too large.
    """
    if not content.startswith(_GZIP):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            plain = file.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        why = f"it begins as gzip does, but cannot be unpacked: {error}"
        raise UsageError(f"cannot read '{name}'", why=why) from error
    if len(plain) > _MOST_BYTES:
        raise UsageError(f"'{name}' is larger than 64 MiB when unpacked", why="the output of a benchmark is not")
    return plain


__all__ = ["_MOST_BYTES", "lines_of"]
