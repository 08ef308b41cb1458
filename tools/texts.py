"""The texts of pages, found in the source, and the catalogues: prints what a language lacks, as TOML.

tools/texts.py [LANGUAGE]
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import jinja2

from assay.model.text import FORMS
from assay.report.languages import LANGUAGES, catalogue
from assay.report.vocabulary import vocabulary

SOURCE = Path(__file__).parents[1] / "src" / "assay"


def marked() -> frozenset[str]:
    """Every template that code, page templates and records have."""
    code = (template for path in SOURCE.rglob("*.py") for template in _in_code(path))
    pages = (template for path in SOURCE.rglob("*.html") for template in _in_page(path))
    return frozenset([*code, *pages, *vocabulary()])


def _in_code(path: Path) -> Iterator[str]:
    """First arguments of `text`, where it is that of the model; all of `headings`; the words of `words.count`."""
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
        elif function == "words.count" and len(call.args) > 1:
            one, manies = (list(_literals(word, path)) for word in call.args[1:])
            yield from (f"{{count}} {one[0]}{FORMS}{{count}} {many}" for many in manies)


def _literals(node: ast.expr, path: Path) -> Iterator[str]:
    """The string that stands there, or both of a choice.

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


def main() -> None:
    """Print what each language lacks, or the one that is named."""
    for language in sys.argv[1:] or [name for name in LANGUAGES if name != "en"]:
        lacking = marked() - catalogue(language).texts.keys()
        print(f"# {language}: {len(lacking)} lacking")
        for template in sorted(lacking):
            print(f"{_quoted(template)} = ''")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


if __name__ == "__main__":
    main()
