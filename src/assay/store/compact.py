"""Ranks, samples and counters of a large launch in the file `samples.columns`.

In `records.jsonl`, a `shared` record opens such a launch. In each case a `columns` record replaces its series and
its traffic, and the header has no ranks. Both records give the place of their bytes in the file and their CRC-32.
"""

import itertools
import os
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar, overload

import msgspec
import numpy as np

from assay.model.rank import Rank
from assay.model.record import Columns, RecordError, Series, Shared, encode_record
from assay.model.run import CaseRecords, LaunchRecords
from assay.model.samples import PHASES, STOPS, SampleTable, Tabled, starts_of, table_of
from assay.model.traffic import Counter, HostTraffic, Summed, Traffic
from assay.store import columns
from assay.store.columns import Counted, Floats, Head, Ints
from assay.store.files import COLUMNS, COLUMNS_FORM

_Record = TypeVar("_Record")


class Compacted(NamedTuple):
    """A launch in its compact form.

    Attributes:
        content: bytes to append to the file of columns.
        lines: records, without newlines and without the launch record.
        records: the launch, with its samples as columns.
    """

    content: bytes
    lines: list[bytes]
    records: LaunchRecords


class _Host(msgspec.Struct, frozen=True, array_like=True):
    """A host that cases share: its interfaces, and their MTUs."""

    name: str
    boot_id: str
    interfaces: tuple[str, ...]
    mtus: tuple[tuple[str, int], ...] = ()


class _Shared(msgspec.Struct, frozen=True):
    """What the cases of a launch share: ranks and hosts."""

    ranks: tuple[Rank, ...]
    hosts: tuple[_Host, ...]


def compacted(launch: LaunchRecords, at: int) -> Compacted | None:
    """The launch in compact form, for byte `at` of the file; None if a number in it exceeds 64 bits."""
    try:
        return _compacted(launch, at)
    except OverflowError:
        return None


def _compacted(launch: LaunchRecords, at: int) -> Compacted:
    known = _Known()
    tables = [table_of(case.series) for case in launch.cases]
    heads = [_head(case, known) for case in launch.cases]
    shared = zlib.compress(msgspec.msgpack.encode(_Shared(tuple(known.ranks), tuple(known.hosts))))
    opening = encode_record(Shared(COLUMNS_FORM, at, len(shared), zlib.crc32(shared)))
    common, content, kept = Common(shared), [shared], []
    at += len(shared)
    lines = {case: [encode_record(end)] for case, end in launch.unstarted.items()}
    for case, table, head in zip(launch.cases, tables, heads, strict=True):
        first = columns.packed_head(head, table)
        durations, starts = columns.packed_samples(table, starts_of(case.series))
        packed = first + durations + starts
        parts = (len(first), len(durations), len(starts))
        place = Columns(at, parts, zlib.crc32(packed), table.rank.size, table.seconds.size)
        own = msgspec.structs.replace(case.header, ranks=())
        records = (own, place, *case.figures, *case.threads, case.verdict, case.end)
        lines[case.header.case] = [encode_record(record) for record in records if record is not None]
        kept.append(common.case(case, place, packed))
        content.append(packed)
        at += len(packed)
    ordered = [line for case in launch.launch.cases for line in lines.get(case, ())]
    return Compacted(b"".join(content), [opening, *ordered], msgspec.structs.replace(launch, cases=tuple(kept)))


class Common:
    """What the cases of a launch share, read from the file of columns.

    Args:
        packed: the bytes of the `shared` record.
    """

    def __init__(self, packed: bytes) -> None:
        shared = msgspec.msgpack.decode(zlib.decompress(packed), type=_Shared)
        self._ranks, self.hosts = shared.ranks, shared.hosts
        self._placed_ranks: dict[bytes, tuple[Rank, ...]] = {}

    def case(self, case: CaseRecords, place: Columns, packed: bytes) -> CaseRecords:
        """The case with the data of its `columns` record."""
        head = columns.head(packed[: place.parts[0]])
        counted = head.traffic
        return msgspec.structs.replace(
            case,
            header=msgspec.structs.replace(case.header, ranks=self._placed(head.ranks)),
            series=ColumnSeries(place, packed),
            traffic=counted and Traffic(counted.seconds, counted.payload, _CountedHosts(self, place, packed)),
        )

    def _placed(self, ranks: Ints) -> tuple[Rank, ...]:
        """Ranks of a header: the same tuple for all equal ones."""
        key = ranks.tobytes()
        if key not in self._placed_ranks:
            self._placed_ranks[key] = tuple(self._ranks[place] for place in ranks.tolist())
        return self._placed_ranks[key]


class _Decoded(Sequence[_Record]):
    """Records that are decoded on access."""

    @overload
    def __getitem__(self, at: int) -> _Record: ...
    @overload
    def __getitem__(self, at: slice) -> list[_Record]: ...
    def __getitem__(self, at: int | slice) -> _Record | list[_Record]:
        """One of them, or some."""
        return list(self)[at]

    def __eq__(self, other: object) -> bool:
        """Whether another sequence holds the same."""
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment] # as of a list


class ColumnSeries(_Decoded[Series], Tabled):
    """The series of a case, decoded on access.

    Args:
        place: the `columns` record.
        packed: the bytes of the record.
    """

    def __init__(self, place: Columns, packed: bytes) -> None:
        self._place = place
        self._packed = packed

    def __len__(self) -> int:
        """Number of series."""
        return self._place.series

    def __iter__(self) -> Iterator[Series]:
        """All of them, in the order in which they were written."""
        table, starts = self.table(), self.starts()
        rows = (table.kernel, table.rank, table.phase, table.stop, table.iterations, table.ends, table.counts)
        for kernel, rank, phase, stop, iterations, end, count in zip(*(row.tolist() for row in rows), strict=True):
            began = array("d", starts[end - count : end].tobytes())
            seconds = array("d", table.seconds[end - count : end].tobytes())
            yield Series(table.kernels[kernel], rank, PHASES[phase], iterations, STOPS[stop], began, seconds)

    @property
    def samples(self) -> int:
        """Number of samples of all series."""
        return self._place.samples

    def table(self) -> SampleTable:
        """The columns without the starts."""
        first, durations, _ = self._parts()
        return columns.table(first, durations)

    def starts(self) -> Floats:
        """Start of each sample of all series, seconds since the program's start."""
        return columns.starts(*self._parts())

    def _parts(self) -> tuple[bytes, bytes, bytes]:
        first, second, _ = self._place.parts
        return self._packed[:first], self._packed[first : first + second], self._packed[first + second :]


class _CountedHosts(_Decoded[HostTraffic], Summed):
    """The counters of a case's hosts, decoded on access."""

    def __init__(self, common: Common, place: Columns, packed: bytes) -> None:
        self._common = common
        self._place = place
        self._packed = packed

    def __len__(self) -> int:
        """Number of hosts."""
        return len(self._counted().hosts)

    def __iter__(self) -> Iterator[HostTraffic]:
        """All of them, in the order in which they were written."""
        counted = self._counted()
        counts = map(Counter, counted.sent, counted.received)
        spent = counted.spent or itertools.repeat((0, 0.0, 0.0))
        for host, known, own_s in zip(counted.hosts, spent, counted.own or itertools.repeat(0.0), strict=False):
            shared = self._common.hosts[host]
            counters = {each: next(counts) for each in shared.interfaces}
            yield HostTraffic(shared.name, shared.boot_id, counters, dict(shared.mtus), *known, own_s)

    def sent(self) -> Mapping[str, int]:
        """See Traffic."""
        return self._counted().sums

    def _counted(self) -> Counted:
        counted = columns.head(self._packed[: self._place.parts[0]]).traffic
        assert counted is not None  # noqa: S101 (there would be no such sequence)
        return counted


class _Known:
    """Ranks and hosts of the cases of a launch so far, each with its index."""

    def __init__(self) -> None:
        self.ranks: list[Rank] = []
        self.hosts: dict[_Host, int] = {}
        self._places: dict[bytes, int] = {}

    def rank(self, rank: Rank) -> int:
        """The index of a rank."""
        key = msgspec.msgpack.encode(rank)
        if key not in self._places:
            self._places[key] = len(self.ranks)
            self.ranks.append(rank)
        return self._places[key]

    def host(self, host: HostTraffic) -> int:
        """The index of a host."""
        shared = _Host(host.host, host.boot_id, tuple(host.interfaces), tuple(host.mtus.items()))
        return self.hosts.setdefault(shared, len(self.hosts))


def _head(case: CaseRecords, known: _Known) -> Head:
    ranks = np.array([known.rank(rank) for rank in case.header.ranks], dtype=np.int64)
    return Head(ranks, _counted(case.traffic, known) if case.traffic else None)


def _counted(traffic: Traffic, known: _Known) -> Counted:
    counters = [counter for host in traffic.hosts for counter in host.interfaces.values()]
    return Counted(
        traffic.seconds,
        traffic.payload,
        dict(traffic.sent()),
        tuple((host.cpus, host.used_s, host.stolen_s) for host in traffic.hosts),
        tuple(host.own_s for host in traffic.hosts),
        [known.host(host) for host in traffic.hosts],
        [counter.sent for counter in counters],
        [counter.received for counter in counters],
    )


def checked(file: int, at: int, size: int, crc32: int) -> bytes:
    """Read bytes of the open file of columns.

    Raises:
        RecordError: the bytes are missing, or the checksum is wrong.
    """
    content = os.pread(file, size, at) if file >= 0 else b""
    if len(content) < size:
        raise RecordError(f"{COLUMNS} ends at byte {at + len(content)}, within its samples")
    if zlib.crc32(content) != crc32:
        raise RecordError(f"bytes {at} to {at + size} of {COLUMNS} are not as they were written")
    return content
