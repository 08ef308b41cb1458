"""Texts and their catalogues: the same placeholders and plural forms, compiled; what is lacking is English."""

import base64
import gettext
import gzip
import importlib.util
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from babel import Locale
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.report_example import example

from assay.model.text import Phrase, Text, encoded, joined, listed, text
from assay.report import html, languages
from assay.report.languages import LANGUAGES, PREFIXES, UNITS, catalogue

pytestmark = pytest.mark.usefixtures("undrawn")

OTHERS = [name for name in LANGUAGES if name != "en"]


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


@pytest.fixture(scope="module", params=OTHERS)
def language(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_a_compiled_catalogue_is_that_of_its_po_file(language: str) -> None:
    path = Path(languages.__file__).with_name(f"{language}.mo")
    tool = _tool()
    read, made = _messages(path.read_bytes()), _messages(tool.compiled(tool.read(language)))
    assert read == made, "tools/texts.py compiles it"


def test_a_catalogue_has_no_translation_of_a_removed_text(language: str) -> None:
    assert not list(_tool().read(language).obsolete)


def _messages(compiled: bytes) -> dict[object, str]:
    found: dict[object, str] = vars(gettext.GNUTranslations(io.BytesIO(compiled)))["_catalog"]
    return {key: words for key, words in found.items() if key != ""}


def test_every_form_has_the_placeholders_of_its_text(language: str) -> None:
    for message in _tool().read(language):
        ids, forms = (each if message.pluralizable else (each,) for each in (message.id, message.string))
        if message.id and not message.fuzzy and any(forms):
            wanted = {_placeholders(each) for each in ids}
            for form in forms:
                assert form.strip(), ids
                assert {_placeholders(form)} <= wanted, ids
                assert form.count("`") == ids[-1].count("`"), ids
                assert form.count("**") == ids[-1].count("**"), ids


def _placeholders(form: str) -> frozenset[str]:
    return frozenset(re.findall(r"\{(\w+)\}", form))


def test_plural_forms_are_those_that_the_browser_asks_for(language: str) -> None:
    known = catalogue(language)
    forms = known.forms("{count} core|{count} cores")
    assert isinstance(forms, dict)
    for number in range(300):
        category = Locale(language).plural_form(number)
        assert known.translations.ngettext("{count} core", "{count} cores", number) == forms[category]


def test_a_text_that_a_catalogue_lacks_is_english() -> None:
    assert catalogue("ru").forms("nobody translated this") == ["nobody translated this"]
    assert catalogue("ru").forms("{count} quux|{count} quuxes") == ["{count} quux", "{count} quuxes"]
    assert catalogue("ja").letters("unit", UNITS) == {}
    assert catalogue("ru").letters("prefix", PREFIXES)["Gi"] == "Ги"


def test_the_check_of_a_release_finds_what_is_lacking_and_what_nobody_read() -> None:
    tool = _tool()
    known = tool.Catalog(locale="ru")
    known.add("read", "прочитано")
    known.add("changed", "изменено", flags=["fuzzy"])
    known.add("empty")
    assert tool.lacking(known, ["read", "changed", "empty", "gone"]) == ["changed", "empty", "gone"]


@pytest.mark.parametrize("language", OTHERS)
def test_catalogues_are_written_alike_again_and_a_per_cent_sign_is_no_format(
    language: str, marked: frozenset[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = _tool()
    shipped = tool.CATALOGUES / f"{language}.po"
    assert "#, python-format" not in shipped.read_text("utf-8")
    (tmp_path / shipped.name).write_text(
        shipped.read_text("utf-8").replace('msgid "Cores for 95 %"', '#, python-format\nmsgid "Cores for 95 %"'),
        encoding="utf-8",
    )
    monkeypatch.setattr(tool, "CATALOGUES", tmp_path)
    template = tool.template_of(marked)
    written = []
    for _ in range(2):
        tool.update(language, template)
        written.append([each.read_bytes() for each in sorted(tmp_path.iterdir())])
    assert written[0] == written[1]
    assert b"#, python-format" not in written[0][1]


def test_two_texts_with_one_form_of_one_are_refused() -> None:
    with pytest.raises(ValueError, match="two texts"):
        _tool().template_of(["{count} core|{count} cores", "{count} core|{count} cores spread"])


def test_code_that_marks_and_page_templates_are_both_found(marked: frozenset[str]) -> None:
    assert {"At a glance", "Problem", "{count} launch|{count} launches", "observed", "Memory"} <= marked


def test_a_text_that_is_computed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rule.py"
    path.write_text('from assay.model.text import text\ntext(f"{1}")\n', encoding="utf-8")
    with pytest.raises(ValueError, match="must be a literal"):
        list(_tool()._in_code(path))


def test_a_text_reads_as_english_and_is_a_string_in_json() -> None:
    sentence = text("{count} of {what} was read|{count} of {what} were read", count=1200, what=text("all"))
    assert sentence == "1,200 of all were read"
    assert text("{count} one|{count} many", count=1) == "1 one"
    assert json.loads(encoded({"claim": sentence})) == {"claim": "1,200 of all were read"}
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
