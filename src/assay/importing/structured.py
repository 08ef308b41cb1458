"""What tools print as JSON, also in the middle of a log: iperf3 --json."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from assay.importing.lines import Format, Lines
from assay.importing.text import Column, Text, figure, lines
from assay.model.imported import Figure, Skipped, Table

if TYPE_CHECKING:
    from assay.model.benchmark import ParamValue

#: Objects that begin a line; more of them are no output of a tool.
_MOST = 1000
_SIDES = {"sum_sent": "sender", "sum_received": "receiver", "sum": "both"}


def _objects(source: Lines) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """First line, last line and content of each object that begins a line; numbers are words, as printed."""
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
    """What each side counted at the end of a test; one that ended with an error is skipped."""
    text = source.text
    for first, last, content in _objects(source):
        if not isinstance(content.get("end"), dict) and "error" not in content:
            continue
        if "error" in content:
            yield Skipped(text.name, lines(first, last), f"iperf3 says: {str(content['error'])[:80]}", first)
            continue
        figures = [
            each for name, side in _SIDES.items() for each in _side(text, first, content["end"].get(name), side)
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


def _side(text: Text, line: int, side: object, kernel: str) -> Iterator[Figure]:
    if not isinstance(side, dict) or "bits_per_second" not in side:
        return
    yield figure(text, line, Column(kernel, "bandwidth", "bit/s"), str(side["bits_per_second"]), {})
    if "jitter_ms" in side:
        yield figure(text, line, Column(kernel, "jitter", "ms"), str(side["jitter_ms"]), {})


def _within(content: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        found = content.get(name)
        content = found if isinstance(found, dict) else {}
    return content


FORMATS = (Format("iperf3-json", re.compile(r'^\s*"bits_per_second":'), _read_iperf3, re.compile(r"^iperf3?$")),)
