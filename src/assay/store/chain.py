"""The chain of hashes over the records of a run: a record that was edited, moved, added or removed is found.

A launch or a prediction states the hash of these: the hash of the one before, all lines and columns since then,
and its own line with an empty `chain`. Records of earlier versions state none; the next one that does covers them.
"""

import os
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec

from assay.model.record import Columns, Launch, Prediction, Record, RecordError, Shared, decode_record
from assay.model.run import Chain, Run
from assay.store.files import COLUMNS

_SIZE = 16
_FIELD = b'"chain":"%s"'


class Link(NamedTuple):
    """The end of a chain.

    Attributes:
        hash: of the last chained record; that of the run's id before the first.
        lines: what follows it in the records and is not chained yet.
        columns: the same of the file of columns.
    """

    hash: str
    lines: bytes = b""
    columns: bytes = b""

    def sealed(self, lines: Sequence[bytes], columns: bytes = b"") -> tuple[list[bytes], "Link"]:
        """Return lines, without newlines, of which the last now states its hash; and the new end of the chain."""
        *earlier, own = lines
        text = self.lines + b"".join(line + b"\n" for line in earlier)
        made = _hash(self.hash, self.columns + columns, text + own)
        return [*earlier, _stating(own, "", made)], Link(made)


def root(run: str) -> Link:
    """Return the begin of the chain of a run, by its id."""
    return Link(_hash("", b"", run.encode()))


def reseal(folder: Path, run: Run) -> None:
    """Write new hashes where the records of a copy, redacted on purpose, have hashes."""
    records, samples, ended = (folder / name for name in ("records.jsonl", COLUMNS, "ending.json"))
    columns = samples.read_bytes() if samples.is_file() else b""
    end, made, since = root(run.info.id), [], 0
    for line in records.read_bytes().splitlines():
        try:
            record = decode_record(line)
        except RecordError:
            record = None
        upto = max(since, columns_end(record))
        end = end._replace(columns=end.columns + columns[since:upto])
        since = upto
        if isinstance(record, Launch | Prediction) and record.chain:
            (line,), end = end.sealed([_stating(line, record.chain, "")])  # noqa: PLW2901 (the same line, sealed)
        else:
            end = end._replace(lines=end.lines + line + b"\n")
        made.append(line)
    records.write_bytes(b"".join(line + b"\n" for line in made))
    if run.ending and run.ending.chain:
        ended.write_bytes(ended.read_bytes().replace(run.ending.chain.encode(), end.hash.encode()))


class Links:
    """The links of a chain as they are read.

    Args:
        content: of the records.
        file: handle of the file of columns; -1 if there is none.
        run: id.

    Attributes:
        commits: line -> launch or prediction, without their hashes.
    """

    def __init__(self, content: bytes, file: int, run: str) -> None:
        self._content, self._file = content, file
        self._last, self._chained = root(run).hash, 0
        self._since = self._columns_since = self._columns_end = 0
        self._bare = self._broken = 0
        self.commits: dict[int, Launch | Prediction] = {}

    def taken(self, record: Record, number: int, place: slice, before: Iterable[object]) -> Record:
        """Check the hash that a launch or a prediction states; return the record without it.

        Args:
            record: of line `number`, counted from 1.
            number: of the line.
            place: of the line in the content, without the newline.
            before: records before a launch that belong to it.
        """
        if not isinstance(record, Launch | Prediction):
            return record
        self.commits[number] = bare = msgspec.structs.replace(record, chain="")
        self._columns_end = max(self._columns_end, *map(columns_end, before), 0)
        if not record.chain:
            self._bare = number
            return bare
        own = _stating(self._content[place], record.chain, "")
        made = _hash(self._last, self._columns(), self._content[self._since : place.start] + own)
        if made != record.chain:
            self._broken = self._broken or number
        self._chained, self._bare = self._chained or number, 0
        self._last, self._since, self._columns_since = record.chain, place.stop + 1, self._columns_end
        return bare

    def rest(self) -> Link:
        """Return the end of the chain, from which it goes on."""
        return Link(self._last, self._content[self._since :], self._columns())

    def chain(self, ending: str, *, from_the_start: bool) -> Chain:
        """Return what is known of the whole chain.

        Args:
            ending: hash in the ending of the run; empty without one.
            from_the_start: whether the version that began the run chained its records.
        """
        broken = self._broken
        if not broken and self._bare and (self._chained or from_the_start):
            broken = self._bare
        if not broken and ending and ending != self._last:
            broken = max(self.commits, default=0) + 1
        return Chain(self._last if self._chained else "", self._chained, broken)

    def _columns(self) -> bytes:
        there = os.fstat(self._file).st_size if self._file >= 0 else 0
        size = max(0, min(self._columns_end, there) - self._columns_since)
        return os.pread(self._file, size, self._columns_since) if size else b""


def columns_end(record: object) -> int:
    """Return the offset in the file of columns at which the bytes of a record end; 0 for most records."""
    match record:
        case Shared():
            return record.at + record.bytes
        case Columns():
            return record.at + sum(record.parts)
        case _:
            return 0


def _hash(before: str, columns: bytes, lines: bytes) -> str:
    made = blake2b(before.encode(), digest_size=_SIZE)
    for part in (columns, lines):
        made.update(len(part).to_bytes(8, "little"))
        made.update(part)
    return made.hexdigest()


def _stating(line: bytes, before: str, after: str) -> bytes:
    """Return a line with another hash in its last field of this name."""
    head, _, tail = line.rpartition(_FIELD % before.encode())
    return head + _FIELD % after.encode() + tail
