"""The languages of a page: a gettext catalogue for each, from English templates to theirs.

Translators edit `ja.po`; `tools/texts.py` makes `ja.mo` of it, which is read here. A sentence that is lacking
stays English. Units and their prefixes have the contexts `unit` and `prefix`.
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

#: A sentence; its plural forms by category; or, where the language lacks it, the English forms.
Forms = str | dict[str, str] | list[str]


class _Lacking(gettext.NullTranslations):
    """What a catalogue answers for a message that it lacks: nothing."""

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
        translations: the compiled catalogue; empty for what it lacks.
        plurals: plural category -> a number that has it.
    """

    translations: gettext.NullTranslations
    plurals: Mapping[str, int]

    def forms(self, template: str) -> Forms:
        """The words of a template; the English forms, as a list, where the catalogue lacks it."""
        one, counts, many = template.partition(FORMS)
        if not counts:
            return self.translations.gettext(one) or [one]
        said = {name: self.translations.ngettext(one, many, number) for name, number in self.plurals.items()}
        return said if all(said.values()) else [one, many]

    def letters(self, context: str, names: Iterable[str]) -> dict[str, str]:
        """Unit or prefix -> its letters, where they are its own; `context`: `unit` or `prefix`."""
        said = {name: self.translations.pgettext(context, name) for name in names}
        return {name: letters for name, letters in said.items() if letters}


@cache
def catalogue(language: str) -> Catalogue:
    """The catalogue of a language of `LANGUAGES` other than English."""
    with resources.files(__name__).joinpath(f"{language}.mo").open("rb") as file:
        translations = gettext.GNUTranslations(file)
    translations.add_fallback(_Lacking())
    return Catalogue(translations, PLURALS[language])
