"""Sort the records of one launch by case while they are read."""

from collections.abc import Sequence

from assay.model.record import (
    End,
    FigureOfMerit,
    Header,
    Output,
    ProgramRecord,
    RecordError,
    Series,
    Threads,
    Verdict,
)
from assay.model.run import CaseRecords
from assay.model.traffic import Traffic
from assay.model.units import count_of


class Grouping:
    """Sorts the records of one launch by case, in the order in which they were written.

    Args:
        case_ids: cases of the launch, in the order requested.
    """

    def __init__(self, case_ids: Sequence[str]) -> None:
        self._waiting = list(case_ids)
        self._header: Header | None = None
        self._series: list[Series] = []
        self._verdict: Verdict | None = None
        self._traffic: Traffic | None = None
        self._figures: list[FigureOfMerit] = []
        self._threads: list[Threads] = []
        self._cases: list[CaseRecords] = []
        self.unstarted: dict[str, End] = {}

    @property
    def case(self) -> str:
        """The case of the current record; RecordError if there is none."""
        if self._header is None:
            raise RecordError("a columns record stands outside any case")
        return self._header.case

    @property
    def cases(self) -> tuple[CaseRecords, ...]:
        """Cases that began; the last one may have no end."""
        return (*self._cases, *self._closed(None))

    def take(self, record: ProgramRecord) -> None:
        """Take the next record; RecordError, and no change, if a record of its kind is not allowed here."""
        match record:
            case Series() if self._header:
                _check(self._header, record)
                self._series.append(record)
            case Header():
                if record.case not in self._waiting:
                    raise RecordError(f"records of a case that was not asked for here: '{record.case}'")
                self._cases += self._closed(None)
                del self._waiting[: self._waiting.index(record.case) + 1]
                self._header, self._series, self._verdict, self._traffic = record, [], None, None
                self._figures, self._threads = [], []
            case End() if self._header:
                self._cases += self._closed(record)
                self._header = None
            case End():
                if not self._waiting:
                    raise RecordError("an end record follows that belongs to no case")
                self.unstarted[self._waiting.pop(0)] = record
            case Verdict() if self._header:
                self._verdict = record
            case FigureOfMerit() | Traffic() | Threads() | Output() if self._header:
                self._keep(record)
            case _:
                raise RecordError(f"a {type(record).__name__.lower()} record stands outside any case")

    def _keep(self, record: FigureOfMerit | Traffic | Threads | Output) -> None:
        """Keep a record; an output is not kept, because its figures were parsed when the launch was made."""
        if isinstance(record, FigureOfMerit):
            self._figures.append(record)
        elif isinstance(record, Threads):
            self._threads.append(record)
        elif isinstance(record, Traffic):
            self._traffic = record

    def _closed(self, end: End | None) -> list[CaseRecords]:
        if self._header is None:
            return []
        return [
            CaseRecords(
                self._header,
                tuple(self._series),
                self._verdict,
                end,
                self._traffic,
                tuple(self._figures),
                tuple(self._threads),
            )
        ]


def _check(header: Header, record: Series) -> None:
    if record.kernel not in header.work:
        raise RecordError(
            f"samples of kernel '{record.kernel}', of which the header of '{header.case}' says nothing"
        )
    if not 0 <= record.rank < len(header.ranks):
        raise RecordError(
            f"samples of rank {record.rank}, but '{header.case}' has {count_of(len(header.ranks), 'rank')}"
        )
