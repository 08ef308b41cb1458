"""Texts and their catalogues: complete, with the same placeholders, nothing that no code says any more."""

import base64
import gzip
import importlib.util
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.report_example import example

from assay.model.text import Phrase, Text, encoded, joined, listed, text
from assay.report import html
from assay.report.languages import LANGUAGES, catalogue

OTHERS = [name for name in LANGUAGES if name != "en"]
#: Plural forms of CLDR that whole numbers have in a language.
PLURALS = {"ja": {"other"}, "ru": {"one", "few", "many"}}


def _tool() -> ModuleType:
    path = Path(__file__).parents[2] / "tools" / "texts.py"
    spec = importlib.util.spec_from_file_location("texts", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def marked() -> frozenset[str]:
    found: frozenset[str] = _tool().marked()
    return found


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_has_every_text_and_no_other(language: str, marked: frozenset[str]) -> None:
    known = catalogue(language).texts.keys()
    assert sorted(marked - known) == [], f"tools/texts.py {language} prints what is lacking"
    assert sorted(known - marked) == [], "no code says this any more"


@pytest.mark.parametrize("language", OTHERS)
def test_every_form_has_the_placeholders_of_its_template(language: str) -> None:
    for template, words in catalogue(language).texts.items():
        wanted = set(re.findall(r"\{(\w+)\}", template))
        forms = [words] if isinstance(words, str) else list(words.values())
        for form in forms:
            assert form.strip(), template
            assert set(re.findall(r"\{(\w+)\}", form)) == wanted, template
            assert form.count("`") == template.count("`"), template
            assert form.count("**") == template.count("**"), template
        if isinstance(words, dict):
            assert set(words) == PLURALS[language], template
            assert "count" in wanted, template


def test_code_that_marks_and_page_templates_are_both_found(marked: frozenset[str]) -> None:
    assert {"At a glance", "Problem", "{count} launch|{count} launches", "observed", "Memory"} <= marked


def test_a_text_that_is_computed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rule.py"
    path.write_text('from assay.model.text import text\ntext(f"{1}")\n', encoding="utf-8")
    with pytest.raises(ValueError, match="must be a literal"):
        list(_tool()._in_code(path))


def test_a_text_reads_as_english_and_is_a_string_in_json() -> None:
    said = text("{count} of {what} was read|{count} of {what} were read", count=1200, what=text("all"))
    assert said == "1,200 of all were read"
    assert text("{count} one|{count} many", count=1) == "1 one"
    assert json.loads(encoded({"claim": said})) == {"claim": "1,200 of all were read"}
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed([]) == ""
    assert joined("; ", ["a", "", "b"]) == "a; b"
    with pytest.raises(TypeError):
        encoded(object())


@given(st.text())
def test_what_stands_in_a_text_is_never_a_template(name: str) -> None:
    assert text("at {name}", name=name) == f"at {name}"


class _Attributes(HTMLParser):
    """Values of all attributes, and the numbers of texts in them."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[str] = []
        self.numbers: set[int] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        self.values += [value for _, value in attrs if value]
        self.numbers |= {int(value or 0) for name, value in attrs if name in {"data-text", "data-label"}}


def test_the_page_carries_the_words_of_each_text_it_numbers_and_no_markup_in_attributes() -> None:
    here = example()
    page = html.render(here.run, here.analysis, "ja")
    reader = _Attributes()
    reader.feed(page)
    block = re.search(r'id="words">([^<]*)<', page)
    assert block
    words = json.loads(gzip.decompress(base64.b64decode(block[1])))
    assert not [value for value in reader.values if "<span" in value]
    assert reader.numbers <= set(range(len(words["messages"])))
    templates = {part[0] for part in words["messages"] if isinstance(part[0], int)}
    for language in OTHERS:
        assert all(words["languages"][language]["texts"][number] for number in templates)
    assert '<html lang="en" data-wanted="ja">' in page


def test_a_finding_with_a_text_is_a_string_in_the_pages_data() -> None:
    here = example()
    claim: Text = text("At a glance")
    finding = msgspec.structs.replace(here.analysis.findings[0], claim=claim)
    analysis = msgspec.structs.replace(here.analysis, findings=(finding,))
    assert isinstance(analysis.findings[0].claim, Phrase)
    assert "At a glance" in encoded(analysis).decode()
    assert html.render(here.run, analysis)
