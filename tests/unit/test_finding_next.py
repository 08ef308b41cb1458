"""What comes next after a finding can be typed: the command line reads it, and knows its study."""

import re
import shlex

import pytest

from assay import references, store, studies
from assay.analyse import analyse
from assay.cli.run import command
from assay.model.run import Run
from assay.plan import parse

#: A command ends with its quotation, before words that explain it, or with the text.
_RUN = re.compile(r"assay run (?P<words>[^`;:(]*?)(?=  #|   |`|:|;| with |  \(|$)")


def typed(run: Run) -> list[list[str]]:
    """Words after `assay run` in what comes next, of every finding."""
    return [
        shlex.split(found["words"], comments=True)
        for finding in analyse(run).findings
        for found in _RUN.finditer(finding.next)
        if found["words"]
    ]


@pytest.mark.parametrize("name", references.names())
def test_what_comes_next_for_published_figures_can_be_typed(name: str) -> None:
    commands = typed(store.load(store.find(name)))
    assert commands
    for words in commands:
        context = command.make_context("run", list(words))
        assert context.params["study"] in studies.names(), words
        parse(context.params["wishes"], studies.get(context.params["study"]), {})
