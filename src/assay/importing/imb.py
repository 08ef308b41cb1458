"""Blocks of the Intel MPI Benchmarks: pairs, parallel, collective, non-blocking, one-sided."""

import re
from collections.abc import Iterator

import msgspec

from assay.importing.command import CommandLine
from assay.importing.lines import Format, Lines
from assay.importing.text import Column, Text, figure, is_number, slug
from assay.model.declaration import ParamValue
from assay.model.imported import UNSTATED, Figure, Table

_BLOCK = re.compile(r"#\s*Benchmarking\s+(Multi-)?(\w[\w-]*)\s*")
_PROCESSES = re.compile(r"#\s*#?\s*processes\s*=\s*(\d{1,9})\s*")
_GROUPS = re.compile(r"#\s*\(?\s*(\d{1,9}) groups? of (\d{1,9}) processes.*")
_MODE = re.compile(r"#\s*MODE:\s*(\S+)\s*")
_VERSION = re.compile(r"#\s*Intel\s*\(R\)\s*MPI Benchmarks\s*(.*?)(?:,.*)?")
_HEADING = re.compile(r"(Group\s+)?#(bytes|repetitions)\b.*")
#: A user's title of a block without its heading: `Sendrecv:`.
_TITLE = re.compile(r"#?\s*(\w[\w-]*)\s*[:\uff1a]")
#: Column for `-multi 1`, where each group of ranks has its own rows.
_GROUP = "Group"
_PAIRS: dict[str, dict[str, ParamValue]] = {
    "PingPong": {"pattern": "latency"},
    "PingPongSpecificSource": {"pattern": "latency"},
    "PingPongAnySource": {"pattern": "latency", "source": "any"},
    "PingPing": {"pattern": "pingping"},
    "PingPingSpecificSource": {"pattern": "pingping"},
    "PingPingAnySource": {"pattern": "pingping", "source": "any"},
    "Sendrecv": {"pattern": "sendrecv"},
    "Exchange": {"pattern": "exchange"},
    "Uniband": {"pattern": "multi-bandwidth"},
    "Biband": {"pattern": "multi-bidirectional"},
}
#: Tests whose time is one way, so that a rate follows from it.
_ONE_WAY = {"PingPong", "PingPongSpecificSource"}
_COLLECTIVES = {
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast"),
    *("gather", "gatherv", "reduce", "reduce_scatter", "scatter", "scatterv"),
}
_TIMES = {"t": "latency", "t_avg": "mean-latency", "t_pure": "mean-latency"}
#: Times of pairs: the mean; with several groups, the slowest one.
_OF_PAIRS = {"t": "latency", "t_avg": "latency"}
_OF_GROUPS = {"t": "latency", "t_max": "latency", "t_avg": "mean-latency"}
_TOGETHER = {"latency": "multi-latency", "multi-bandwidth": "multi-bandwidth"}
#: Columns with counts, and rates that follow from size and time: MB are 2^20 bytes in older versions, 10^6 in
#: newer.
_PASSED_OVER = {"#bytes", "bytes", "#repetitions", "repetitions", "Mbytes/sec", "defects"}
_MESSAGES = "Msg/sec"
#: If it is alone on a line, rows were broken into two lines at 72 characters, as by archives of mails.
_LAST = "Mbytes/sec"
_PAIR = 2
#: Placement words with the cores per node, and the nodes.
_PLACED = re.compile(r"(?:one-core(?::numa:\d+)?|cores:(\d+))(?:@(\d+))?", re.ASCII)


class _Head(msgspec.Struct):
    """The heading of a block."""

    name: str = ""
    params: dict[str, ParamValue] = {}
    columns: list[str] = []
    line: int = 0
    wrapped: bool = False


def _read(source: Lines) -> Iterator[Table]:
    """Every block of a text.

    Raises:
        UsageError: a row cannot be read, or a block has no rows.
    """
    text, started, version = source.text, CommandLine(), ""
    head, rows = _Head(), list[tuple[int, list[str]]]()
    for number, line in source:
        words = line.split()
        if head.columns and _is_row(text, number, words, head, rows):
            continue
        if rows:
            yield _table(text, head, rows, started, version)
            head, rows = _Head(params=head.params, name=head.name), []
        started = source.command
        if match := _VERSION.fullmatch(line.strip()):
            version = match[1]
        _heading(text, number, line.strip(), head)
    if rows:
        yield _table(text, head, rows, started, version)
    elif head.line:
        text.refuse(head.line, "no rows follow this heading")


def _is_row(text: Text, number: int, words: list[str], head: _Head, rows: list[tuple[int, list[str]]]) -> bool:
    """Whether a line belongs to the rows below a heading; adds a row, or the second part of a broken one."""
    if not words:
        return _GROUP in head.columns or head.wrapped
    if words == [_LAST] and not rows:
        head.columns, head.wrapped = [*head.columns, _LAST], True
    elif not is_number(words[0]):
        return False
    elif head.wrapped and rows and len(rows[-1][1]) < len(head.columns):
        rows[-1][1].extend(words)
    else:
        if not head.wrapped:
            if len(words) > len(head.columns) and not is_number(words[len(head.columns)]):
                words = words[: len(head.columns)]  # a user's remark follows
            _require_columns(text, number, words, head)
        rows.append((number, words))
    return True


def _require_columns(text: Text, number: int, words: list[str], head: _Head) -> None:
    if len(words) != len(head.columns):
        text.refuse(number, f"{len(words)} words in a row, but the heading names {len(head.columns)} columns")


def _heading(text: Text, number: int, line: str, head: _Head) -> None:
    if match := _BLOCK.fullmatch(line):
        if head.line:
            text.refuse(head.line, "no rows follow this heading")
        head.name, head.line = match[2], number
        head.params = {"groups": "several"} if match[1] else {}
    elif match := _PROCESSES.fullmatch(line):
        head.params = head.params | {"ranks": int(match[1])}
    elif match := _GROUPS.fullmatch(line):
        head.params = head.params | {"groups": int(match[1]), "ranks": int(match[2])}
    elif match := _MODE.fullmatch(line):
        head.params = head.params | {"mode": match[1].lower()}
    elif (match := _TITLE.fullmatch(line)) and (match[1] in _PAIRS or match[1].lower() in _COLLECTIVES):
        head.name, head.params = match[1], {}
    elif _HEADING.fullmatch(line):
        if not head.name:
            text.refuse(number, "a heading of columns, but no '# Benchmarking NAME' before it")
        head.columns = line.split()
        head.line = head.line or number


def _table(
    text: Text, head: _Head, rows: list[tuple[int, list[str]]], started: CommandLine, version: str
) -> Table:
    benchmark, kernel, params = _benchmark_of(head)
    figures = [figure for line, words in rows for figure in _figures(text, line, words, head, kernel)]
    if not figures:
        text.refuse(rows[0][0], "no column of this block is known")
    at_work = _ranks(started.placement)
    if at_work and params.get("ranks") == at_work:
        params.pop("ranks")  # the placement has the number
    elif at_work and "ranks" in params:  # it is unknown which of the started ranks were used
        started = msgspec.structs.replace(started, placement=UNSTATED, hosts=())
    return text.table(started, "Intel MPI Benchmarks", benchmark, figures, version=version, params=params)


def _ranks(placement: str) -> int:
    """Number of ranks that a placement word means; 0 if it says none."""
    if placement.partition(":")[0] == "pair":
        return _PAIR
    word = _PLACED.fullmatch(placement)
    return int(word[1] or 1) * int(word[2] or 1) if word else 0


def _benchmark_of(head: _Head) -> tuple[str, str, dict[str, ParamValue]]:
    """Assay's benchmark, kernel and params of a block; `imb` and its own name if there is no counterpart."""
    if head.name in _PAIRS:
        params = _PAIRS[head.name] | head.params
        if "groups" in params:
            params["pattern"] = _TOGETHER.get(str(params["pattern"]), params["pattern"])
        return "pt2pt", "message", params
    operation = head.name.lower().removesuffix("_pure")
    calls = "blocking" if operation in _COLLECTIVES else "nonblocking"
    operation = operation if calls == "blocking" else operation.removeprefix("i")
    if operation in _COLLECTIVES:
        return "collective", "own", {"operation": slug(operation), "calls": calls} | head.params
    return "imb", slug(head.name), dict(head.params)


def _figures(text: Text, line: int, words: list[str], head: _Head, kernel: str) -> Iterator[Figure]:
    _require_columns(text, line, words, head)
    by_name = dict(zip(head.columns, words, strict=True))
    times = _TIMES if kernel != "message" else _OF_GROUPS if "groups" in head.params else _OF_PAIRS
    size: dict[str, ParamValue] = {"bytes": text.whole(line, by_name["#bytes"])} if "#bytes" in by_name else {}
    if _GROUP in by_name:
        size["group"] = text.whole(line, by_name[_GROUP])
    for heading, word in by_name.items():
        name, _, unit = heading.rstrip("]").partition("[")
        if heading in _PASSED_OVER:
            text.number(line, word)
        elif heading == _MESSAGES:
            rate = figure(text, line, Column(kernel, "message-rate", "1/s"), word, size)
            yield rate
            if size.get("bytes"):  # empty messages have no bandwidth
                bandwidth = rate.value * float(size["bytes"])
                yield msgspec.structs.replace(rate, metric="bandwidth", unit="B/s", value=bandwidth, printed="")
        elif unit in {"usec", "%"}:
            known = kernel in {"message", "own"}
            metric = times.get(name, f"latency-{slug(name)}") if known and unit == "usec" else slug(name)
            time = figure(text, line, Column(kernel, metric, unit), word, size)
            yield time
            if head.name in _ONE_WAY and "groups" not in head.params and time.value > 0 and size.get("bytes"):
                yield msgspec.structs.replace(
                    time,
                    metric="bandwidth",
                    unit="B/s",
                    value=float(size["bytes"]) / time.value,
                    better="higher",
                    params=size | {"pattern": "ping-pong"},
                    printed=f"{size['bytes']} B in {time.printed}",
                )


FORMAT = Format("imb", re.compile(rf"{_BLOCK.pattern}|^\s*#bytes\s+#repetitions\b"), _read, re.compile(r"IMB"))
