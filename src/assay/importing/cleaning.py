"""Clean a file: the lines that a program printed, without the additions of pages, mails, launchers and logs."""

import gzip
import html
import io
import re
import zlib

from assay.model.errors import UsageError

#: Maximum size of a file.
MOST_BYTES = 64 * 2**20
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
    if content.startswith(_GZIP):
        content = _unpacked(name, content)
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


def _unpacked(name: str, content: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            plain = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        why = f"it begins as gzip does, but cannot be unpacked: {error}"
        raise UsageError(f"cannot read '{name}'", why=why) from error
    if len(plain) > MOST_BYTES:
        raise UsageError(f"'{name}' is larger than 64 MiB when unpacked", why="the output of a benchmark is not")
    return plain


__all__ = ["MOST_BYTES", "lines_of"]
