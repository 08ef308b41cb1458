"""The languages of a page: a gettext catalogue for each, from English templates to translations.

Translators edit `ja.po`; `tools/texts.py` compiles it to `ja.mo`, which is read here. A missing sentence stays
English. Units and their prefixes have the contexts `unit` and `prefix`.
"""

import gettext
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources

import msgspec

from assay.model.text import FORMS

#: Language -> its name in itself; English needs no catalogue.
LANGUAGES = {"en": "English", "ja": "日本語", "ru": "Русский"}
#: Language -> the plural categories that CLDR gives to whole numbers, each with a number that has it.
PLURALS: Mapping[str, Mapping[str, int]] = {"ja": {"other": 0}, "ru": {"one": 1, "few": 2, "many": 5}}
UNITS = ("B/s", "bit/s", "flop/s", "FLOP/s", "op/s", "update/s", "B", "Hz", "s", "/s")
PREFIXES = ("k", "K", "M", "G", "T", "P", "m", "n", "p", "µ", "Ki", "Mi", "Gi", "Ti")

#: A sentence; its plural forms by category; or, if the catalogue lacks it, the English forms.
Forms = str | dict[str, str] | list[str]


class _Lacking(gettext.NullTranslations):
    """The empty answer for a message that a catalogue lacks."""

    def gettext(self, message: str) -> str:
        del message
        return ""

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        del msgid1, msgid2, n
        return ""

    def pgettext(self, context: str, message: str) -> str:
        del context, message
        return ""


class Catalogue(msgspec.Struct, frozen=True):
    """The translations of one language.

    Attributes:
        translations: the compiled catalogue; empty for a missing message.
        plurals: plural category -> a number that has it.
    """

    translations: gettext.NullTranslations
    plurals: Mapping[str, int]

    def forms(self, template: str) -> Forms:
        """Return the translation of a template; the English forms, as a list, if it is missing."""
        one, counts, many = template.partition(FORMS)
        if not counts:
            return self.translations.gettext(one) or [one]
        plurals = {name: self.translations.ngettext(one, many, number) for name, number in self.plurals.items()}
        return plurals if all(plurals.values()) else [one, many]

    def letters(self, context: str, names: Iterable[str]) -> dict[str, str]:
        """Return the letters of units or prefixes, if the language has its own; `context`: `unit` or `prefix`."""
        letters_of = {name: self.translations.pgettext(context, name) for name in names}
        return {name: letters for name, letters in letters_of.items() if letters}


@cache
def catalogue(language: str) -> Catalogue:
    """Return the catalogue of a language of `LANGUAGES` other than English."""
    with resources.files(__name__).joinpath(f"{language}.mo").open("rb") as file:
        translations = gettext.GNUTranslations(file)
    translations.add_fallback(_Lacking())
    return Catalogue(translations, PLURALS[language])
