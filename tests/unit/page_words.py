"""What a page would still say in English where every catalogue were of letters of its own: words no text marks.

The page is read as its script reads it: elements with a number say the text of that number, whose template is of
another language and whose parameters are as they are; all else stands as it is.
"""

import base64
import gzip
import json
import re
from collections.abc import Collection, Iterator
from html.parser import HTMLParser
from typing import Any

#: What is not prose of the page: code, drawings that the charts replace, and what a template excludes from
#: translation.
_NO_PROSE = frozenset({"script", "style", "code", "noscript", "title"})
_EMPTY = frozenset({"meta", "link", "br", "hr", "img", "input", "rect", "line", "path", "circle"})
_CODE = re.compile(r"`[^`]*`")
_NAMED = re.compile(r"`\{(\w+)\}`")
#: Two ends of a range, which the script writes in the way of the language.
_RANGE = re.compile(r"(?<=\d) (?:[A-Za-zµ%/]+ )?to (?=[-+\d])")
#: A word of prose: small letters, at most one capital before them, without characters that names have.
_WORD = re.compile(r"(?<![\w:/=_.@*-])[A-Za-z][a-z]+(?![\w:/=_@*]|\.\w|-\w)")
_CHART_WORDS = frozenset({"title", "domain", "values"})


class _Page(HTMLParser):
    """Texts outside marked elements, numbers of the marked ones, and the blocks of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.plain: list[str] = []
        self.numbers: set[int] = set()
        self.blocks: dict[str, list[str]] = {}
        self._open: list[tuple[str, bool]] = []
        self._block: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if ("data-text" in known or "data-label" in known) and not self._is_silent():
            self.numbers |= {int(known[name] or 0) for name in ("data-text", "data-label") if name in known}
        kept = known.get("translate") == "no" or "static" in (known.get("class") or "").split()
        silent = kept or tag in _NO_PROSE or "data-text" in known or self._is_silent()
        label = known.get("aria-label")
        if label and "data-label" not in known and not self._is_silent():
            self.plain.append(label)
        if tag == "script":
            self._block = self.blocks.setdefault(
                "#" + (known["id"] or "") if "id" in known else known.get("class") or "", []
            )
            self._block.append("")
        if tag not in _EMPTY:
            self._open.append((tag, silent))

    def handle_endtag(self, tag: str) -> None:
        self._block = None
        while any(tag == each for each, _ in self._open) and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._block is not None:
            self._block[-1] += data
        elif not self._is_silent() and data.strip() and self._open:
            self.plain.append(" ".join(data.split()))

    def _is_silent(self) -> bool:
        return bool(self._open) and self._open[-1][1]


def english(page: str, names: Collection[str]) -> list[str]:
    """Strings of a page with a word that is not in `names` and that no catalogue can translate, each once."""
    reader = _Page()
    reader.feed(page)
    words = json.loads(gzip.decompress(base64.b64decode(reader.blocks["#words"][0])))
    found = list(reader.plain)
    numbers = set(reader.numbers)
    for spec, known in zip(reader.blocks.get("spec", []), reader.blocks.get("words", []), strict=True):
        own = json.loads(known)
        numbers |= set(own.values())
        found += [each for each in _of_chart(json.loads(spec), "") if each not in own]
    templates = words["languages"]["ja"]["texts"]
    for number in numbers:
        found += _unmarked(words["messages"][number], templates)
    return [each for each in dict.fromkeys(found) if _prose(each, names)]


def _unmarked(part: Any, templates: list[Any]) -> Iterator[str]:  # noqa: ANN401 (JSON)
    """Strings that a text contains unchanged, except those that it shows as code."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, list):
        head, rest = part
        code = set(_NAMED.findall(f"{templates[head]}")) if isinstance(head, int) else set()
        inside = rest.items() if isinstance(head, int) else enumerate(rest)
        yield from (each for name, one in inside if name not in code for each in _unmarked(one, templates))


def _of_chart(part: Any, key: str) -> Iterator[str]:  # noqa: ANN401 (JSON)
    """Strings of a chart that a reader sees."""
    if isinstance(part, str):
        if key in _CHART_WORDS:
            yield part
    elif isinstance(part, list):
        for each in part:
            yield from _of_chart(each, key)
    elif isinstance(part, dict):
        for name, each in part.items():
            if name == "expr":  # of the chart's own language
                continue
            inside = key if key in {"values", "domain"} else name
            yield from _of_chart(each, inside)


def _prose(line: str, names: Collection[str]) -> bool:
    return any(word not in names for word in _WORD.findall(_RANGE.sub(" ", _CODE.sub("", line))))
