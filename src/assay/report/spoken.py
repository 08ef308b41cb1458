"""The numbered texts of a page with their translations, so that the page can change its language."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from markupsafe import Markup, escape

from assay.model.text import REMARK, Command, Joined, Phrase, Text, encoded, text
from assay.report import formatting, raw
from assay.report.languages import LANGUAGES, PREFIXES, UNITS, catalogue

#: Texts of scripts and styles.
RANGE, FIGURE, TABLE = text("{low} to {high}", low="", high=""), text("Figure"), text("Table")

_MARKS = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")
_KEPT = Markup('<span translate="no">{}</span>')
_TYPED, _CODE = Markup('<code class="typed">{}</code>'), Markup("<code>{}</code>")
_WORD, _BOLD, _ENGLISH = Markup("<span>{}</span>"), Markup("<b>{}</b>"), Markup('<span lang="en">{}</span>')


class Spoken:
    """The texts of one page. A text that occurs twice is stored once."""

    def __init__(self) -> None:
        self._templates: dict[str, int] = {}
        self._messages: dict[bytes, int] = {}
        for own in (RANGE, FIGURE, TABLE):
            self.number(own)

    def number(self, value: Text) -> int:
        """Return the number of a text in the page."""
        return self._messages.setdefault(encoded(self._part(value)), len(self._messages))

    def put(self, value: object) -> object:
        """Return the output of a template: a text as an element with its number, other values unchanged."""
        return self._element(value, escape(str(value))) if isinstance(value, Text) else value

    def prose(self, line: str) -> Markup:
        """Return a sentence with words in backticks as code; without translations it is marked as English."""
        if isinstance(line, Joined) and line.separator == REMARK:
            command, remark = line.parts
            return Markup(" ").join((_code(command, alone=True), self.prose(remark)))
        if isinstance(line, Command):
            return _code(line, alone=True)
        if isinstance(line, Joined) and line.separator == " ":  # each part is marked on its own
            return Markup(" ").join(map(self.prose, line.parts))
        line = formatting.sentence(line)
        shown = _marked(str(line))
        if not isinstance(line, Text):
            return _ENGLISH.format(shown)
        return Markup('<span data-text="{}" data-sentence>{}</span>').format(self.number(line), shown)

    def kept(self, value: object) -> Markup:
        """Return a value that is not translated, since it was recorded or quoted; a text is translated."""
        return self._element(value, escape(str(value))) if isinstance(value, Text) else _KEPT.format(value)

    @staticmethod
    def is_text(value: object) -> bool:
        """Whether a value has translations."""
        return isinstance(value, Text)

    def label(self, name: str) -> Markup:
        """Return the `aria-label` attribute for screen readers, with the number of its text."""
        number = Markup(' data-label="{}"').format(self.number(name)) if isinstance(name, Text) else ""
        return Markup(' aria-label="{}"{}').format(str(name), number)

    def of_chart(self, spec: Mapping[str, Any]) -> dict[str, int]:
        """Return the texts of a chart: English -> number."""
        return {str(each): self.number(each) for each in _texts(spec)}

    def block(self) -> str:
        """Return the data for the script of the page, gzip in base64, of all texts so far: call it last."""
        messages = b",".join(self._messages)
        return raw.compressed(b'{"messages":[%b],"languages":%b}' % (messages, encoded(self._languages())))

    def _languages(self) -> dict[str, Any]:
        known = {name: catalogue(name) for name in LANGUAGES if name != "en"}
        return {
            name: {
                "texts": [each.forms(template) for template in self._templates],
                "units": each.letters("unit", UNITS),
                "prefixes": each.letters("prefix", PREFIXES),
            }
            for name, each in known.items()
        }

    def _part(self, value: str | int) -> Any:  # noqa: ANN401 (JSON)
        """A text as the script reads it: [template, parameters] or [separator, parts]; other values unchanged."""
        if isinstance(value, Phrase):
            number = self._templates.setdefault(value.template, len(self._templates))
            return [number, {name: self._part(each) for name, each in value.parameters.items()}]
        if isinstance(value, Joined):
            return [value.separator, [self._part(part) for part in value.parts]]
        return value

    def _element(self, value: Text, shown: Markup) -> Markup:
        return Markup(f'<span data-text="{self.number(value)}">{shown}</span>')  # noqa: S704 (escaped before)


def _code(line: str, *, alone: bool) -> Markup:
    """A command with unbreakable words: no line breaks inside an option. If `alone`, it is a block."""
    words = Markup(" ").join(map(_WORD.format, line.split(" ")))
    return (_TYPED if alone and " " in line else _CODE).format(words)


def _marked(line: str) -> Markup:
    """Words in backticks as code, between two stars in bold; the page's script does the same."""
    parts = iter(_MARKS.split(line))
    shown = [escape(next(parts))]
    for code, bold, plain in zip(parts, parts, parts, strict=True):
        shown += [_code(code, alone=not plain) if code else _BOLD.format(bold), escape(plain)]
    return Markup().join(shown)


def _texts(part: Any) -> Iterator[Text]:  # noqa: ANN401 (JSON)
    """Every text inside a chart."""
    if isinstance(part, Text):
        yield part
    elif isinstance(part, dict):
        yield from chain.from_iterable(map(_texts, part.values()))
    elif isinstance(part, (list, tuple)):
        yield from chain.from_iterable(map(_texts, part))
