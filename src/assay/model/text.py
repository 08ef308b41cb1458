"""Sentences that a page can say in another language: English for every reader, with how they were made.

`text("{count} of {cases} was not measured", ...)` is a `str` like any other: a terminal, a record and an f-string
see English. A page keeps the template and what stands in it, and says it by the catalogues of
`assay.report.languages`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

#: Between the form of one and that of many in a template that counts.
FORMS = "|"
#: A template that begins with a parameter.
_FIRST = re.compile(r"\{(\w+)\}")
#: Between a command and what it is for.
REMARK = "  # "
#: The separator of `listed`.
AND = "and"


class Text(str):
    """English that knows how it was made; see `Phrase` and `Joined`."""

    __slots__ = ()


class Phrase(Text):
    """A template with its parameters put in.

    Attributes:
        template: English with `{name}` for each parameter; two forms, parted by `|`, where it counts.
        parameters: name -> texts, strings, whole numbers.
    """

    template: str
    parameters: Mapping[str, str | int]


class Joined(Text):
    """Several texts in a row.

    Attributes:
        separator: between them; `and` for a list in words.
        parts: in their order.
    """

    separator: str
    parts: tuple[str, ...]


def text(template: str, /, **parameters: str | int) -> Phrase:
    """The template in English; whole numbers are grouped. The form of one is taken where `count` is 1.

    The template is found by its place in the source: it must be a literal.
    """
    one, _, many = template.partition(FORMS)
    form = many if many and parameters["count"] != 1 else one
    shown = {name: f"{value:,}" if isinstance(value, int) else value for name, value in parameters.items()}
    phrase = Phrase(form.format_map(shown) if shown else form)
    phrase.template, phrase.parameters = template, parameters
    return phrase


def joined(separator: str, parts: Iterable[str]) -> Joined:
    """The parts that are not empty, one after another."""
    kept = tuple(part for part in parts if part)
    return _joined(separator.join(kept), separator, kept)


def listed(parts: Iterable[str]) -> Joined:
    """`a`, `a and b`, `a, b and c`."""
    kept = tuple(parts)
    *first, last = kept or ("",)
    return _joined(f"{', '.join(first)} and {last}" if first else last, AND, kept)


def capital(said: Text) -> Text:
    """The same as a sentence begins: with a capital letter in English, unless it begins with a name."""
    if isinstance(said, Phrase):
        name = _FIRST.match(said.template)
        first = said.parameters[name[1]] if name else said.template
        if name and not isinstance(first, Text):
            return said
        made = Phrase(_upper(said))
        made.template = said.template
        made.parameters = (
            {**said.parameters, name[1]: capital(first)} if name and isinstance(first, Text) else said.parameters
        )
        return made
    if isinstance(said, Joined) and said.parts and isinstance(said.parts[0], Text):
        return _joined(_upper(said), said.separator, (capital(said.parts[0]), *said.parts[1:]))
    return said


def _upper(said: str) -> str:
    return said[:1].upper() + said[1:]


def _joined(english: str, separator: str, parts: tuple[str, ...]) -> Joined:
    made = Joined(english)
    made.separator, made.parts = separator, parts
    return made


def encoded(value: Any) -> bytes:  # noqa: ANN401 (anything that msgspec encodes)
    """JSON of a value with texts in it, which are strings there."""
    return msgspec.json.encode(value, enc_hook=_plain)


def _plain(value: object) -> str:
    if isinstance(value, Text):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")
