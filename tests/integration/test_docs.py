"""What the documents promise exists: commands, verbs, links and pages."""

import re
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import click
import pytest

from assay import cli
from assay.analyse.findings import rules

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "bench" / "README.md", *(ROOT / "docs").rglob("*.md")]
)
PAGES = [page for page in PAGES if "_build" not in page.parts]
OTHER_CODE = re.compile(r"^```(?!console|sh|bash|\n).*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```\w*\n.*?^```$|^(?:    .+\n)+|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s#]+)")


def commands(page: Path) -> list[list[str]]:
    """Words of each line of code that calls `assay` or `make`."""
    text = OTHER_CODE.sub("", page.read_text())
    lines = [line for match in CODE.finditer(text) for line in (match[0].strip("`\n")).splitlines()]
    words = [line.strip().removeprefix("$ ").removeprefix(".venv/bin/").split() for line in lines]
    return [line for line in words if line and line[0] in {"assay", "make"} and len(line) > 1]


@pytest.mark.parametrize(("tool", "page"), [("cli_reference", "cli"), ("json_reference", "show-json")])
def test_a_reference_is_what_its_tool_writes(tool: str, page: str) -> None:
    written = subprocess.run(
        [sys.executable, str(ROOT / "tools" / f"{tool}.py")], capture_output=True, text=True, check=True
    )
    assert (ROOT / "docs" / f"{page}.md").read_text() == written.stdout, "make format writes it anew"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_page_shows_exists_with_its_options(page: Path) -> None:
    context = click.Context(cli.assay)
    verbs = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for words in commands(page):
        if words[0] == "make":
            assert words[1] in verbs, words
            continue
        if words[1].startswith("-"):
            continue
        command = cli.assay.get_command(context, words[1])
        assert command is not None, words
        known = {spelling for parameter in command.params for spelling in parameter.opts} | {"--help", "-h"}
        own = takewhile(lambda word: word != "--", words[2:])  # what follows is a command of somebody else
        shown = {word.partition("=")[0] for word in own if re.match(r"--?[a-z]", word)}
        assert shown <= known, words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    targets = [link for link in LINK.findall(OTHER_CODE.sub("", page.read_text())) if "://" not in link]
    missing = [
        link for link in targets if not (page.parent / link).exists() and not (page.parent / f"{link}.md").exists()
    ]
    assert missing == []


def test_the_table_of_findings_has_a_row_for_every_rule_and_none_for_another() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "findings.md").read_text(), re.MULTILINE)
    assert len(rows) == len(set(rows))
    assert set(rows) == {rule.name for rule in rules()}


def test_the_readme_begins_with_the_two_commands() -> None:
    top = (ROOT / "README.md").read_text()[:1500]
    assert "make run" in top
    assert "make test" in top


def test_the_test_would_see_a_command_that_does_not_exist(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Say `assay gauge quick`.\n\n```console\n$ .venv/bin/assay show last --jsn\n```\n\n    make rn\n"
    )
    assert commands(page) == [["assay", "gauge", "quick"], ["assay", "show", "last", "--jsn"], ["make", "rn"]]
