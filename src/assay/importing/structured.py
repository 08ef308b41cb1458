"""JSON output of tools, also in the middle of a log: iperf3 --json, nvbandwidth --json."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from assay.importing.lines import Format, Lines
from assay.importing.text import UNITS, Column, Text, figure, lines, slug
from assay.model.imported import Figure, Skipped, Table

if TYPE_CHECKING:
    from assay.model.declaration import ParamValue

#: Maximum objects in a text.
_MOST = 1000
_SIDES = {"sum_sent": "sender", "sum_received": "receiver", "sum": "both"}
#: End of the names of the same in the opposite direction of a test of both.
_REVERSE = "_bidir_reverse"


def _objects(source: Lines) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """First line, last line and content of each object at the start of a line; numbers are strings, as printed."""
    for _ in source:  # to its end: an object may be one long line
        pass
    whole = "\n".join(source.text.lines)
    decoder = json.JSONDecoder(parse_float=str, parse_int=str)
    ends = 0
    for begun, match in enumerate(re.finditer(r"^\s*\{", whole, re.MULTILINE)):
        if match.end() <= ends or begun >= _MOST:
            continue
        first = whole.count("\n", 0, match.end()) + 1
        try:
            content, ends = decoder.raw_decode(whole, match.end() - 1)
        except (ValueError, RecursionError):
            continue
        yield first, whole.count("\n", 0, ends) + 1, content


def _read_iperf3(source: Lines) -> Iterator[Table | Skipped]:
    """The figures of each side at the end of a test; a test that ended with an error is skipped."""
    text = source.text
    for first, last, content in _objects(source):
        if not isinstance(content.get("end"), dict) and "error" not in content:
            continue
        if "error" in content:
            yield Skipped(text.name, lines(first, last), f"iperf3 says: {str(content['error'])[:80]}", first)
            continue
        end = content["end"]
        both = any(name.endswith(_REVERSE) for name in end)
        figures = [
            each
            for mark, way in (("", "out"), (_REVERSE, "in"))
            for name, side in _SIDES.items()
            for each in _side(text, first, end.get(name + mark), side, {"direction": way} if both else {})
        ]
        if not figures:
            yield Skipped(text.name, lines(first, last), "no rates stand in the end of this test", first)
            continue
        start = _within(content, "start", "test_start")
        params: dict[str, ParamValue] = {
            name: str(start[key])
            for key, name in (("protocol", "transport"), ("num_streams", "streams"))
            if key in start
        }
        if str(start.get("reverse", "0")) != "0":
            params["reverse"] = "Reverse"
        version = str(_within(content, "start").get("version", "")).removeprefix("iperf ")
        yield Table(
            text.name, lines(first, last), "iperf3", "iperf3", tuple(figures), version=version, params=params
        )


def _side(text: Text, line: int, side: object, kernel: str, params: "dict[str, ParamValue]") -> Iterator[Figure]:
    if not isinstance(side, dict) or "bits_per_second" not in side:
        return
    yield figure(text, line, Column(kernel, "bandwidth", "bit/s"), str(side["bits_per_second"]), params)
    if "jitter_ms" in side:
        yield figure(text, line, Column(kernel, "jitter", "ms"), str(side["jitter_ms"]), params)
    if "retransmits" in side:
        retransmits = figure(text, line, Column(kernel, "retransmits", "count"), str(side["retransmits"]), params)
        yield msgspec.structs.replace(retransmits, better="lower")


def _within(content: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        found = content.get(name)
        content = found if isinstance(found, dict) else {}
    return content


def _read_nvbandwidth(source: Lines) -> Iterator[Table | Skipped]:
    """The matrix of each test that passed; failed tests are skipped parts, waived ones are ignored."""
    text = source.text
    for first, last, content in _objects(source):
        if not isinstance(content.get("nvbandwidth"), dict):
            continue
        results = content["nvbandwidth"]
        tests = [each for each in results.get("testcases") or () if isinstance(each, dict)]
        passed = [each for each in tests if each.get("status") == "Passed"]
        failed = [each for each in tests if each.get("status") not in {"Passed", "Waived"}]
        figures = [found for each in passed for found in _of_test(text, first, each)]
        errors = [f"{each.get('name')}: {each.get('status')}" for each in failed]
        if "error" in results or not tests:
            errors.append(str(results.get("error", "no test was run")).strip())
        for error in errors:
            yield Skipped(text.name, lines(first, last), f"nvbandwidth says: {error[:80]}", first)
        if figures:
            version = str(results.get("version", "")).removeprefix("v")
            where = lines(first, last)
            yield Table(text.name, where, "nvbandwidth", "nvbandwidth", tuple(figures), version=version)


def _of_test(text: Text, line: int, test: Mapping[str, Any]) -> Iterator[Figure]:
    """A figure for each row and column, as in the tool's text output; `N/A` is missing."""
    unit = re.search(r"\(([^()]+)\)\s*$", str(test.get("bandwidth_description", "")))
    matrix = test.get("bandwidth_matrix")
    if unit is None or unit[1] not in UNITS or not isinstance(matrix, list):
        text.refuse(line, f"'{str(test.get('name'))[:40]}' states no matrix with a unit that is known")
    metric = "latency" if UNITS[unit[1]][0] == "s" else "bandwidth"
    column = Column(slug(str(test.get("name"))), metric, unit[1])
    for row, words in enumerate(matrix):
        for at, word in enumerate(words if isinstance(words, list) else ()):
            if word != "N/A":
                yield figure(text, line, column, str(word), {"row": row, "column": at})


FORMATS = (
    Format("iperf3-json", re.compile(r'^\s*"bits_per_second":'), _read_iperf3, re.compile(r"^iperf3?$")),
    Format(
        "nvbandwidth-json", re.compile(r'^\s*"nvbandwidth"\s*:'), _read_nvbandwidth, re.compile(r"nvbandwidth")
    ),
)
