"""The languages that a page speaks: a folder of catalogues for each, from English templates to theirs.

A catalogue is TOML. A value is a string, or a table of plural forms (`one`, `few`, `many`, `other`) where the
template counts. `[units]` and `[prefixes]` rewrite units where the language has its own letters for them.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

#: Language -> its name in itself; English needs no catalogue.
LANGUAGES = {"en": "English", "ja": "日本語", "ru": "Русский"}

Forms = str | dict[str, str]


@dataclass(frozen=True)
class Catalogue:
    """What a language says.

    Attributes:
        texts: English template -> its words.
        units: unit -> its letters, where they are its own.
        prefixes: prefix of a unit -> its letters.
    """

    texts: Mapping[str, Forms]
    units: Mapping[str, str]
    prefixes: Mapping[str, str]


@cache
def catalogue(language: str) -> Catalogue:
    """All catalogues of a language together.

    Raises:
        ValueError: a template stands in two of its files.
    """
    texts: dict[str, Forms] = {}
    units: dict[str, str] = {}
    prefixes: dict[str, str] = {}
    for file in sorted(resources.files(__name__).joinpath(language).iterdir(), key=lambda each: each.name):
        found = tomllib.loads(file.read_text("utf-8"))
        units |= found.pop("units", {})
        prefixes |= found.pop("prefixes", {})
        if twice := texts.keys() & found.keys():
            raise ValueError(f"{file}: is in another catalogue, too: {sorted(twice)}")
        texts |= found
    return Catalogue(texts, units, prefixes)
