"""Keeps the catalogues of translations with the source.

tools/texts.py          brings the .po files up to date with the texts of the source, and compiles the .mo files
tools/texts.py --check  prints what a language lacks, and fails if that is anything: the check of a release
"""

import ast
import io
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import jinja2
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from assay.model.text import FORMS
from assay.report.languages import LANGUAGES, PREFIXES, UNITS
from assay.report.vocabulary import vocabulary

SOURCE = Path(__file__).parents[1] / "src" / "assay"
CATALOGUES = SOURCE / "report" / "languages"
TRANSLATED = tuple(name for name in LANGUAGES if name != "en")


def marked() -> frozenset[str]:
    """Every template of the code, the page templates and the vocabulary of records."""
    code = (template for path in SOURCE.rglob("*.py") for template in _in_code(path))
    pages = (template for path in SOURCE.rglob("*.html") for template in _in_page(path))
    return frozenset([*code, *pages, *vocabulary()])


def _in_code(path: Path) -> Iterator[str]:
    """First arguments of the model's `text`, all of `headings`, and words of `formatting.count`."""
    tree = ast.parse(path.read_text("utf-8"))
    imports = [each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)]
    names = {name.name for each in imports if each.module == "assay.model.text" for name in each.names}
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        function = ast.unparse(call.func)
        if function == "text" and "text" in names:
            yield from _literals(call.args[0], path)
        elif function == "headings":
            yield from (name for each in call.args for name in _literals(each, path))
        elif function == "formatting.count" and len(call.args) > 1:
            ones, manies = (_literals(word, path) for word in call.args[1:])
            yield from (f"{{count}} {one}{FORMS}{{count}} {many}" for one, many in zip(ones, manies, strict=True))


def _literals(node: ast.expr, path: Path) -> Iterator[str]:
    """The literal string, or both strings of a conditional.

    Raises:
        ValueError: it is computed, so that no catalogue can have it.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*_literals(node.body, path), *_literals(node.orelse, path))
    else:
        raise ValueError(f"{path}:{node.lineno}: a text must be a literal")  # noqa: TRY004 (of the source read)


def _in_page(path: Path) -> Iterator[str]:
    """First arguments of `text`, on one line."""
    tree = jinja2.Environment(autoescape=True).parse(path.read_text("utf-8"))
    for call in tree.find_all(jinja2.nodes.Call):
        if isinstance(call.node, jinja2.nodes.Name) and call.node.name == "text":
            yield " ".join(call.args[0].as_const().split())


def template_of(templates: Iterable[str]) -> Catalog:
    """The messages of a source: those templates, the units and their prefixes.

    Raises:
        ValueError: two templates differ only in the form of many, which gettext cannot tell apart.
    """
    catalogue = Catalog()
    for template in sorted(templates):
        one, counts, many = template.partition(FORMS)
        known = catalogue.get(one)
        if known and known.id != one and counts:
            raise ValueError(f"two texts have the form of one {one!r}: {known.id[1]!r} and {many!r}")
        catalogue.add((one, many) if counts else one)
    for unit in UNITS:
        catalogue.add(unit, context="unit")
    for prefix in PREFIXES:
        catalogue.add(prefix, context="prefix")
    return catalogue


def read(language: str) -> Catalog:
    """The translations of a language from its .po file; none if there is no file yet."""
    path = CATALOGUES / f"{language}.po"
    if not path.exists():
        return Catalog(language, project="Assay", version="pages", fuzzy=False)
    with path.open("rb") as file:
        return read_po(file, locale=language, abort_invalid=True)


def compiled(catalogue: Catalog) -> bytes:
    """The catalogue as .mo, without messages marked fuzzy."""
    file = io.BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def lacking(catalogue: Catalog, templates: Iterable[str]) -> list[str]:
    """The templates that a catalogue lacks, or has only as fuzzy."""
    return sorted(each for each in templates if not _is_done(catalogue.get(each.partition(FORMS)[0]), each))


def _is_done(message: Message | None, template: str) -> bool:
    if message is None or message.fuzzy or (FORMS in template) != message.pluralizable:
        return False
    words = message.string
    return bool(words and all(words))


def update(language: str, template: Catalog) -> None:
    """Update both files of a language.

    A text that changed a little keeps its translation, marked fuzzy until somebody reads it. The translation of a
    removed text is removed.
    """
    catalogue = read(language)
    created = catalogue.creation_date
    catalogue.update(template)
    catalogue.creation_date = created
    for message in catalogue:
        message.flags.discard("python-format")  # set because of a per cent sign
        if message.context and message.fuzzy:  # a unit resembles no other
            message.flags.discard("fuzzy")
            message.string = ""
    with (CATALOGUES / f"{language}.po").open("wb") as file:
        write_po(file, catalogue, width=0, sort_output=True, ignore_obsolete=True)
    (CATALOGUES / f"{language}.mo").write_bytes(compiled(read(language)))


def check() -> int:
    """Print what each language lacks; return 1 if there is any."""
    found = {language: lacking(read(language), marked()) for language in TRANSLATED}
    for language, templates in found.items():
        print(f"{language}: {len(templates)} texts are lacking", *templates, sep="\n  ")
    return int(any(found.values()))


def main() -> int:
    """Update the catalogues, or check them."""
    if "--check" in sys.argv[1:]:
        return check()
    template = template_of(marked())
    for language in TRANSLATED:
        update(language, template)
    return 0


if __name__ == "__main__":
    sys.exit(main())
