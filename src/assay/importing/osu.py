"""Tables of the OSU Micro-Benchmarks 2 to 7: of one pair, of many pairs, collective, one-sided."""

import re
from collections.abc import Iterator

import msgspec

from assay.importing.command import CommandLine
from assay.importing.lines import Format, Lines
from assay.importing.text import Column, Text, figure, is_number, is_whole, slug
from assay.model.declaration import ParamValue
from assay.model.imported import Figure, Table

_TITLE = re.compile(
    r"#?\s*(?:OSU|OMB Python|OMB-Py)\s+(.*?)\s+Test(?:\s+v(\d[\d.]*)|\s*\(Version (\d[\d.]*)\))?\s*"
)
_HEADING = re.compile(r"#?\s*(Size\s)?(.*)")
_COLUMN = re.compile(
    r"([A-Z][\w.-]*(?: [A-Z][\w.-]*)*)\s?\((us|MB/s|%)\)|(MB/s)|(Messages/s)|(Iterations)|(Validation)"
)
_FACTS = {
    "pairs": re.compile(r"\[\s*pairs:\s*(\d{1,9})\s*\]"),
    "window": re.compile(r"\[\s*window size:\s*(\d{1,9})\s*\]"),
    "datatype": re.compile(r"#\s*Datatype:\s*(\w+)"),
    "sent-from": re.compile(r"#\s*Send Buffer on (DEVICE|MANAGED)\b.*"),
    "received-on": re.compile(r"#.*\bReceive Buffer on (DEVICE|MANAGED)\b.*"),
    "synchronisation": re.compile(r"#\s*Synchronization:\s*MPI_Win_(\w+)"),
    "allocation": re.compile(r"#\s*Window creation:\s*MPI_Win_(\w+)"),
}
_PAIR_TESTS = {
    "latency": "latency",
    "bandwidth": "bandwidth",
    "bi-directional bandwidth": "bidirectional",
    "multiple bandwidth / message rate": "multi-bandwidth",
    "multi latency": "multi-latency",
    "multi-threaded latency": "multi-threaded-latency",
    "multi-process latency": "multi-process-latency",
    "partitioned latency": "partitioned",
}
_OPERATIONS = {
    "broadcast": "bcast",
    "all-to-all personalized exchange": "alltoall",
    "alltoall personalized exchange": "alltoall",
    "all-to-allv personalized exchange": "alltoallv",
    "reduce_scatter": "reduce-scatter",
    "allreduce": "allreduce",
}
#: Name of the executable -> title of its test, for output without a title.
_PROGRAMS = {
    "osu_latency": "MPI Latency",
    "osu_bw": "MPI Bandwidth",
    "osu_bibw": "MPI Bi-Directional Bandwidth",
    "osu_mbw_mr": "MPI Multiple Bandwidth / Message Rate",
    "osu_multi_lat": "MPI Multi Latency",
    "osu_latency_mt": "MPI Multi-threaded Latency",
    "osu_latency_mp": "MPI Multi-process Latency",
}
#: Ends of a message, and the words after the options for the place of their buffers; the host is not named.
_ENDS = ("sent-from", "received-on")
_PLACES = {"D": "device", "H": "host", "M": "managed", "MD": "managed", "MH": "managed"}
_ACCELERATED = re.compile(r"^MPI[-_ ](CUDA|ROCM|OpenACC) ", re.IGNORECASE)
_ONE_SIDED = {"put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"}
_COLLECTIVES = {
    *("allgather", "allreduce", "alltoall", "barrier", "bcast"),
    *("gather", "reduce", "reduce_scatter", "scatter"),
}
#: Headings -> metrics of Assay's benchmarks.
_USUAL = {"latency": "latency", "avg-latency": "latency", "bandwidth": "bandwidth", "bi-bandwidth": "bandwidth"}
_RATES = [("", "MB/s"), ("", "Messages/s")]
_PROGRAM = re.compile(r"\bosu_i?[a-z_]+")
_MARKS = re.compile(
    rf"#\s*(?:OSU|OMB)\b.*\bTest\b|^\s*OSU MPI.*\bTest v\d|#\s*Size\b.*(?:\(us\)|MB/s)|{_PROGRAM.pattern}"
)


#: Log lines of libraries between the rows, `[1675729687.002730] [cn2:32621:0] ucp_worker.c:1775 UCX INFO`; UCX
#: also prints tables of its protocols.
_LOGGED = re.compile(r"\b(?:INFO|WARN|WARNING|DEBUG|TRACE|DIAG)\b|^\[\d{9,10}\.\d{6}\] \[\S")


class _Test(msgspec.Struct, frozen=True):
    """The test of a title.

    Attributes:
        benchmark: Assay's benchmark.
        kernel: kernel of its figures.
        params: params of the test.
    """

    benchmark: str
    kernel: str
    params: dict[str, ParamValue]


class _Head(msgspec.Struct):
    """The heading of a table."""

    test: _Test | None = None
    title: str = ""
    version: str = ""
    columns: list[tuple[str, str]] = []
    sized: bool = True
    params: dict[str, ParamValue] = {}
    line: int = 0


def _read(source: Lines) -> Iterator[Table]:
    """Every table of a text; other lines between them are ignored.

    Raises:
        UsageError: a row cannot be read, a heading has no rows, or rows belong to an unknown test.
    """
    text, wanted = source.text, _wanted(source)
    started, unnamed = CommandLine(), 0
    head, rows = _Head(test=wanted), list[tuple[int, list[str]]]()
    for number, line in ((each, line) for each, line in source if source.starts or not _LOGGED.search(line)):
        words = line.split()
        if not head.columns and head.test is None and _are_figures(words):
            unnamed = unnamed or number
        elif _is_row(text, number, words, head):
            if rows and head.sized and int(words[0]) <= int(rows[-1][1][0]):  # the next table, without a heading
                yield _table(text, head, rows, started)
                rows = []
            rows.append((number, words))
            continue
        if rows and (words or source.starts):
            yield _table(text, head, rows, started)
            again = _FACTS["datatype"].search(line) and not source.starts  # the same test, with another type
            head, rows = msgspec.structs.replace(head, columns=[], line=0) if again else _Head(test=wanted), []
        started = source.command
        head = _begun(source, head) if source.starts else head
        if words and not source.starts:
            _heading(text, number, line, head)
    if rows:
        yield _table(text, head, rows, started)
    elif head.line:
        text.refuse(head.line, "no rows follow this heading")
    elif unnamed and source.named and not source.found:
        text.refuse(unnamed, "a row, but neither a heading nor a command names the test; say it with --test")


def _begun(source: Lines, head: _Head) -> _Head:
    """The heading from a command; UsageError if a heading before it has no rows."""
    if head.line:
        source.text.refuse(head.line, "no rows follow this heading")
    return _Head(test=_test_of_program(source.command.program) or _wanted(source))


def _wanted(source: Lines) -> _Test | None:
    """The test named by the user for rows without a heading."""
    found = _test_of_program(source.test)
    if source.test and found is None:
        known = ", ".join(_PROGRAMS)
        source.text.refuse(0, f"'{source.test[:40]}' is no test of OSU that is known: {known}, osu_allreduce ...")
    return found


def _are_figures(words: list[str]) -> bool:
    """Whether a line looks like a row without a heading: a size and its figures."""
    return len(words) > 1 and is_whole(words[0]) and all(map(is_number, words))


def _heading(text: Text, number: int, line: str, head: _Head) -> None:
    """Read a line above the rows."""
    title = _TITLE.fullmatch(line.strip())
    if title and not line.lstrip().startswith("#"):  # a title without its mark, or prose that names a test
        if (title[2] or title[3]) and (test := _test_of_title(title[1])):
            head.test, head.version = test, title[2] or title[3]
    elif title:
        if head.line and title[1] != head.title:  # else two ranks printed the same
            text.refuse(head.line, "no rows follow this heading")
        head.title = title[1]
        own = _Test("osu", slug(title[1]), {})  # without a counterpart in Assay
        head.test, head.version = _test_of_title(title[1]) or own, title[2] or title[3] or ""
        head.line = number
    elif line.lstrip().startswith("#") or (head.test and line.split(maxsplit=1)[0] == "Size"):
        for name, pattern in _FACTS.items():
            if match := pattern.search(line):
                head.params = head.params | {name: int(match[1]) if match[1].isdigit() else match[1].lower()}
        if (heading := _HEADING.match(line.strip())) and (found := _COLUMN.findall(heading[2])):
            head.columns = [(name, unit or next(filter(None, others))) for name, unit, *others in found]
            head.sized = heading[1] is not None
            head.line = head.line or number


def _is_row(text: Text, number: int, words: list[str], head: _Head) -> bool:
    """Whether a line is a row of the current table; UsageError if it only begins like one."""
    if not words:
        return False
    if not head.columns:
        if head.test is None or not _are_figures(words):
            return False
        head.columns = _RATES if len(words) > 2 else [("", _unit(head.test))]  # noqa: PLR2004 (size and figure)
    if not is_number(words[0]):
        return False
    if head.sized and not is_whole(words[0]):
        text.refuse(number, f"'{words[0]}' is no size of a message")
    wanted = len(head.columns) + head.sized
    if len(words) != wanted:
        text.refuse(number, f"{len(words)} words in a row, but the heading names {wanted} columns")
    return True


def _unit(test: _Test) -> str:
    return "MB/s" if "bandwidth" in str(test.params.get("pattern")) or _is_both(test) else "us"


def _is_both(test: _Test) -> bool:
    return test.params.get("pattern") == "bidirectional"


def _table(text: Text, head: _Head, rows: list[tuple[int, list[str]]], started: CommandLine) -> Table:
    test = head.test
    if test is None:
        text.refuse(rows[0][0], "a row, but neither a heading nor a command names the test; say it with --test")
    figures: list[Figure] = []
    failed = ""
    for line, words in rows:
        size: dict[str, ParamValue] = {"bytes": text.whole(line, words[0])} if head.sized else {}
        for (name, unit), word in zip(head.columns, words[head.sized :], strict=True):
            if unit == "Validation":
                failed = failed or (f"validation failed in line {line}" if word.lower().startswith("f") else "")
            elif unit != "Iterations":
                figures.append(figure(text, line, _column(test, name, unit), word, size))
    return text.table(
        started,
        "OSU Micro-Benchmarks",
        test.benchmark,
        figures,
        version=head.version,
        params=_params(test, head, started),
        failed=failed,
    )


def _params(test: _Test, head: _Head, started: CommandLine) -> dict[str, ParamValue]:
    """Params of the test and of the heading, and window and buffers of the command line."""
    params = _buffers(started) | test.params | head.params
    window = started.option("-W") or started.option("--window-size")
    if is_whole(window):
        params["window"] = int(window)
    if params.get("datatype") in {"mpi_char", "mpi_byte"}:
        params["datatype"] = "contiguous"
    if f"cores:{params.get('pairs')}" in started.placement:  # the placement has the number
        del params["pairs"]
    return params


def _buffers(started: CommandLine) -> dict[str, ParamValue]:
    """The places of buffers in the command line: `-d cuda`, and `D H` after the options."""
    params: dict[str, ParamValue] = {}
    if accelerator := started.option("-d") or started.option("--accelerator"):
        params["accelerator"] = slug(accelerator)
    where = started.options[-2:]
    if len(where) == len(_ENDS) and all(word in _PLACES for word in where):
        params |= {end: _PLACES[word] for end, word in zip(_ENDS, where, strict=True) if _PLACES[word] != "host"}
    return params


def _column(test: _Test, name: str, unit: str) -> Column:
    metric = {"MB/s": "bandwidth", "Messages/s": "message-rate"}.get(unit) if not name else slug(name)
    metric = _USUAL.get(metric or "latency", metric or "latency")
    if test.benchmark == "collective" and metric == "latency":
        metric = "mean-latency"
    return Column(test.kernel, metric, unit)


def _test_of_program(program: str) -> _Test | None:
    """The test of an executable."""
    if program in _PROGRAMS:
        return _test_of_title(_PROGRAMS[program])
    operation = program.removeprefix("osu_")
    if program.startswith("osu_") and operation.removeprefix("i") in _COLLECTIVES:
        named = operation if operation in _COLLECTIVES else f"Non-blocking {operation[1:]}"
        return _test_of_title(f"MPI {named} Latency")
    return None


def _test_of_title(title: str) -> _Test | None:
    """The test of a title, `MPI-CUDA Allreduce Latency`."""
    accelerated = _ACCELERATED.match(title)
    found = _plain_test("MPI " + title[accelerated.end() :] if accelerated else title)
    if not found or not accelerated:
        return found
    return msgspec.structs.replace(found, params=found.params | {"accelerator": slug(accelerated[1])})


def _plain_test(title: str) -> _Test | None:
    """The test of a title without an accelerator."""
    name = re.sub(r"^MPI[-_ ]", "", title, flags=re.IGNORECASE).lower()
    usual = re.sub(r"\bpersistent ", "", name)
    if usual != name and (found := _plain_test(usual)):
        return msgspec.structs.replace(found, params=found.params | {"calls": "persistent"})
    if name in _PAIR_TESTS:
        return _Test("pt2pt", "message", {"pattern": _PAIR_TESTS[name]})
    name, _, what = name.rpartition(" ")
    if what not in {"latency", "bandwidth"}:
        return None
    if name in _ONE_SIDED:
        return _Test("onesided", "transfer", {"operation": slug(name), "pattern": what})
    calls = "nonblocking" if name.startswith("non-blocking ") else "blocking"
    operation = name.removeprefix("non-blocking ")
    if what != "latency" or not operation:
        return None
    return _Test("collective", "own", {"operation": _OPERATIONS.get(operation, slug(operation)), "calls": calls})


FORMAT = Format("osu", _MARKS, _read, _PROGRAM)
