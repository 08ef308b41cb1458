"""What commands of somebody else printed, as records: figures of their solution and a verdict."""

from collections.abc import Iterator, Sequence

import msgspec

from assay import importing
from assay.importing import Text
from assay.model import benchmarks
from assay.model.errors import UsageError
from assay.model.imported import Skipped, Table
from assay.model.plan import Case
from assay.model.record import (
    End,
    FigureOfMerit,
    Output,
    ProgramRecord,
    RecordError,
    Verdict,
    decode_program_record,
)

#: Lines of an output without figures that are shown.
_LAST = 3


def with_figures(stdout: bytes, cases: Sequence[Case]) -> bytes:
    """The records of Assay's starter with the figures of the command's output; of other programs, unchanged.

    A case whose output holds no figures fails; the reason shows the last lines of it.
    """
    foreign = benchmarks.get(cases[0].benchmark).foreign
    if foreign is None:
        return stdout
    lines: list[bytes] = []
    failed = ""
    for line in filter(None, stdout.split(b"\n")):
        lines.append(line)
        try:
            record = decode_program_record(line)
        except RecordError:  # whoever reads the answer says what is wrong with it
            continue
        if isinstance(record, Output):
            try:
                lines += map(msgspec.json.encode, _figures(foreign.tool, record.text))
            except UsageError as error:
                failed = f"{error.why or error.what}; it ends with: {_end(record.text)}"
        if isinstance(record, End) and record.status == "complete" and failed:
            lines[-1] = msgspec.json.encode(End("failed", failed))
    return b"".join(line + b"\n" for line in lines)


def _figures(tool: str, text: str) -> Iterator[ProgramRecord]:
    """The figures of the one table of an output, and the verdict of the program's own check.

    Raises:
        UsageError: it holds none, or several.
    """
    source = Text.of(tool, text.encode())
    found = list(importing.tables_of(source, tool))
    if torn := next((each for each in found if isinstance(each, Skipped)), None):
        source.refuse(0, f"{torn.where}: {torn.reason}")
    tables = [each for each in found if isinstance(each, Table)]
    if len(tables) != 1:
        source.refuse(0, f"its output holds {len(tables)} results of {tool}, not one")
    (table,) = tables
    time = next((each.value for each in table.figures if each.metric == "time"), None)
    for each in table.figures:
        if each.value > 0:
            yield FigureOfMerit(each.metric, each.unit, each.value, time)
    yield _verdict(table)


def _verdict(table: Table) -> Verdict:
    return Verdict(passed=not table.failed, error=1.0 if table.failed else 0.0, tolerance=0.0)


def _end(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-_LAST:]) or "nothing"
