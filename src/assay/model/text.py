"""Texts that a page can translate: English for every reader, with the template and its parameters.

`text("{count} of {cases} was not measured", ...)` is a `str` like any other: a terminal, a record and an f-string
see English. A page keeps the template and what stands in it, and says it by the catalogues of
`assay.report.languages`.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

#: Between the form of one and that of many in a template that counts.
FORMS = "|"
#: A template that begins with a parameter.
_FIRST = re.compile(r"\{(\w+)\}")
#: A parameter of a template.
_NAMED = re.compile(r"\{(\w+)\}")
#: Between a command and what it is for.
REMARK = "  # "
#: The separator of `listed`.
AND = "and"


Verb = Literal["run", "resume", "doctor", "show", "report", "compare"]


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


class Command(Text):
    """A command of Assay that a reader types; see `cli`.

    Attributes:
        verb: the command; `resume` for the rest of a run.
        subject: the study or the run; empty for a look at the machine.
        options: what follows.
    """

    verb: Verb
    subject: str
    options: tuple[str, ...]


class Rooted(Text):
    """A command that changes the whole machine: only its administrator may type it."""

    __slots__ = ()


def cli(verb: Verb, *words: str) -> Command:
    """`assay run STUDY ...`, `assay run --resume RUN ...`, `assay doctor ...`: the subject, and the options."""
    subject, options = ("", words) if verb == "doctor" else (words[0], words[1:])
    made = Command(shlex.join(("assay", *(("run", "--resume") if verb == "resume" else (verb,)), *words)))
    made.verb, made.subject, made.options = verb, subject, options
    return made


def commands(said: str) -> Iterator[Command]:
    """The commands of Assay inside a text."""
    return (part for part in _parts(said) if isinstance(part, Command))


def is_rooted(said: str) -> bool:
    """Whether a text has a command that only an administrator may type."""
    return any(isinstance(part, Rooted) for part in _parts(said))


def _parts(said: str | int) -> Iterator[str | int]:
    yield said
    if isinstance(said, Joined | Phrase):
        for part in said.parts if isinstance(said, Joined) else said.parameters.values():
            yield from _parts(part)


def text(template: str, /, **parameters: str | int) -> Phrase:
    """The template in English; whole numbers are grouped. The singular form is used if `count` is 1.

    The template is found by its place in the source: it must be a literal.
    """
    return _phrase(template, parameters)


def filled(template: Text, words: Mapping[str, str | int]) -> Text:
    """A text that was made without parameters, with those of `words` that its template names."""
    if not isinstance(template, Phrase) or template.parameters:
        return template
    return _phrase(template.template, {name: words[name] for name in _NAMED.findall(template.template)})


def _phrase(template: str, parameters: Mapping[str, str | int]) -> Phrase:
    one, _, many = template.partition(FORMS)
    form = many if many and parameters and parameters["count"] != 1 else one
    shown = {name: f"{value:,}" if isinstance(value, int) else value for name, value in parameters.items()}
    phrase = Phrase(form.format_map(shown) if shown else form)
    phrase.template, phrase.parameters = template, parameters
    return phrase


def joined(separator: str, parts: Iterable[str]) -> Joined:
    """The parts that are not empty, with the separator between them."""
    kept = tuple(part for part in parts if part)
    return _joined(separator.join(kept), separator, kept)


def listed(parts: Iterable[str]) -> Joined:
    """`a`, `a and b`, `a, b and c`."""
    kept = tuple(parts)
    *first, last = kept or ("",)
    return _joined(f"{', '.join(first)} and {last}" if first else last, AND, kept)


def capital(said: Text) -> Text:
    """The same text with a capital letter, as at the start of a sentence, unless it starts with a name."""
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
        first = capital(said.parts[0])
        return _joined(first + said[len(first) :], said.separator, (first, *said.parts[1:]))
    return said


def _upper(said: str) -> str:
    return said[:1].upper() + said[1:]


def _joined(english: str, separator: str, parts: tuple[str, ...]) -> Joined:
    made = Joined(english)
    made.separator, made.parts = separator, parts
    return made


def encoded(value: Any) -> bytes:  # noqa: ANN401 (anything that msgspec encodes)
    """The JSON of a value; texts in it become strings."""
    return msgspec.json.encode(value, enc_hook=_plain)


def _plain(value: object) -> str:
    if isinstance(value, Text):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")
