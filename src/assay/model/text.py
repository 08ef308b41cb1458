"""Texts that can be translated: English strings that keep their template and its parameters.

`text("{count} of {cases} was not measured", ...)` is a `str`: a terminal, a record and an f-string see English. A
page uses the template and the parameters, and translates them by the catalogues of `assay.report.languages`.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

#: Separates singular and plural in a template with a count.
FORMS = "|"
#: A parameter of a template.
_NAMED = re.compile(r"\{(\w+)\}")
#: Separates a command from its purpose.
REMARK = "  # "
#: The separator of `listed`.
AND = "and"


Verb = Literal["run", "resume", "doctor", "show", "report", "compare"]


class Text(str):
    """An English text that keeps its parts; see `Phrase` and `Joined`."""

    __slots__ = ()


class Phrase(Text):
    """A template, filled with its parameters.

    Attributes:
        template: English with `{name}` for each parameter; singular and plural separated by `|` if it has a count.
        parameters: name -> texts, strings, whole numbers.
    """

    template: str
    parameters: Mapping[str, str | int]


class Joined(Text):
    """Several texts, one after the other.

    Attributes:
        separator: between them; `and` for a list in words.
        parts: in their order.
    """

    separator: str
    parts: tuple[str, ...]


class Command(Text):
    """A command of Assay for the reader to type; see `cli`.

    Attributes:
        verb: the command; `resume` for the rest of a run.
        subject: the study or the run; empty for `doctor`.
        options: further words.
    """

    verb: Verb
    subject: str
    options: tuple[str, ...]


class Rooted(Text):
    """A command that changes the whole machine and needs its administrator."""

    __slots__ = ()


def cli(verb: Verb, *words: str) -> Command:
    """`assay run STUDY ...`, `assay run --resume RUN ...`, `assay doctor ...`: the subject, and the options."""
    subject, options = ("", words) if verb == "doctor" else (words[0], words[1:])
    made = Command(shlex.join(("assay", *(("run", "--resume") if verb == "resume" else (verb,)), *words)))
    made.verb, made.subject, made.options = verb, subject, options
    return made


def commands(sentence: str) -> Iterator[Command]:
    """The commands of Assay inside a text."""
    return (part for part in _parts(sentence) if isinstance(part, Command))


def is_rooted(sentence: str) -> bool:
    """Whether a text contains a command that needs an administrator."""
    return any(isinstance(part, Rooted) for part in _parts(sentence))


def _parts(sentence: str | int) -> Iterator[str | int]:
    yield sentence
    if isinstance(sentence, Joined | Phrase):
        for part in sentence.parts if isinstance(sentence, Joined) else sentence.parameters.values():
            yield from _parts(part)


def text(template: str, /, **parameters: str | int) -> Phrase:
    """The template in English; whole numbers have thousands separators. The singular is used if `count` is 1.

    `tools/texts.py` collects the templates from the source: it must be a literal.
    """
    return _phrase(template, parameters)


def filled(template: Text, words: Mapping[str, str | int]) -> Text:
    """A text without parameters, filled with those of `words` that its template names."""
    if not isinstance(template, Phrase) or template.parameters:
        return template
    return _phrase(template.template, {name: words[name] for name in named(template)})


def named(template: Text) -> list[str]:
    """The names of the parameters of a text."""
    return _NAMED.findall(template.template) if isinstance(template, Phrase) else []


def _phrase(template: str, parameters: Mapping[str, str | int]) -> Phrase:
    one, _, many = template.partition(FORMS)
    form = many if many and parameters and parameters["count"] != 1 else one
    shown = {name: f"{value:,}" if isinstance(value, int) else value for name, value in parameters.items()}
    phrase = Phrase(form.format_map(shown) if shown else form)
    phrase.template, phrase.parameters = template, parameters
    return phrase


def joined(separator: str, parts: Iterable[str]) -> Joined:
    """The non-empty parts, with the separator between them."""
    kept = tuple(part for part in parts if part)
    return _joined(separator.join(kept), separator, kept)


def listed(parts: Iterable[str]) -> Joined:
    """`a`, `a and b`, `a, b and c`."""
    kept = tuple(parts)
    *first, last = kept or ("",)
    return _joined(f"{', '.join(first)} and {last}" if first else last, AND, kept)


def capital(sentence: Text) -> Text:
    """The text with a capital first letter, as at the start of a sentence, unless it starts with a name."""
    if isinstance(sentence, Phrase):
        name = _NAMED.match(sentence.template)
        first = sentence.parameters[name[1]] if name else sentence.template
        if name and not isinstance(first, Text):
            return sentence
        made = Phrase(sentence[:1].upper() + sentence[1:])
        made.template = sentence.template
        made.parameters = (
            {**sentence.parameters, name[1]: capital(first)}
            if name and isinstance(first, Text)
            else sentence.parameters
        )
        return made
    if isinstance(sentence, Joined) and sentence.parts and isinstance(sentence.parts[0], Text):
        first = capital(sentence.parts[0])
        return _joined(first + sentence[len(first) :], sentence.separator, (first, *sentence.parts[1:]))
    return sentence


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
