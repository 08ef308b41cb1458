"""Pages whole in another language: what remains of English is names, units, commands and recorded facts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit import report_node, test_compare_curves, test_report_messages
from tests.unit.page_words import english

from assay import references
from assay.analyse.findings import rules
from assay.catalogue import benchmarks
from assay.compare import page as compare_page
from assay.report import html

pytestmark = pytest.mark.usefixtures("undrawn")


def _declared() -> frozenset[str]:
    """Names of benchmarks, kernels, metrics, axes and their words, some at the beginning of a title; of rules."""
    every = [benchmarks.get(name) for name in benchmarks.names()]
    axes = [axis for each in every for axis in each.axes]
    words = [value for axis in axes for value in axis.values if isinstance(value, str)]
    kernels = [kernel for each in every for kernel in each.kernels]
    metrics = [metric.name for each in every for metric in each.metrics]
    names = [*(each.name for each in every), *kernels, *metrics, *(axis.name for axis in axes), *words]
    titles = [name.capitalize() for name in (*kernels, *words)]
    return frozenset([*names, *titles, *(rule.name for rule in rules())])


#: Units, as the script writes them where the language has letters of its own.
UNITS = frozenset({"ns", "ms", "flop", "Hz"})
#: Words of placements, memory policies and factors, as the command line takes them.
PLACES = frozenset({"all", "half", "pair", "interleave", "spread", "compact", "default", "c-states", "memory"})
#: Programs, MPIs, networks of the examples and products by their names.
NAMES = frozenset({"Assay", "Ethernet", "mpi", "openmpi", "mpich", "network", "gbe", "ib", "simulated"})
#: Commands that stand alone.
COMMANDS = frozenset({"assay", "run", "test"})
#: What a machine said of itself, as it was recorded.
RECORDED = frozenset(
    {"the description does not tell", *(references.get(each).label for each in references.names())}
)
STAYS = _declared() | UNITS | PLACES | NAMES | COMMANDS


def _node(folder: Path) -> str:
    here = report_node.node(folder)
    return html.render(here.run, here.analysis)


def _varied(folder: Path) -> str:
    here = report_node.node(folder, report_node.VARIED, report_node.MEMORY)
    return html.render(here.run, here.analysis)


def _messages(folder: Path) -> str:
    here = test_report_messages.example(folder)
    return html.render(here.run, here.analysis)


def _many(folder: Path) -> str:
    shared = test_report_messages
    here = shared.example(folder, study=shared.MANY, options=shared.ONE_MPI)
    return html.render(here.run, here.analysis)


def _several(_folder: Path) -> str:
    return compare_page.render(test_compare_curves.published("hpcdiy-qdr", "hpcdiy-gbe"))


@pytest.mark.parametrize("made", [_node, _varied, _messages, _many, _several])
def test_no_sentence_of_a_page_stays_english(tmp_path: Path, made: Callable[[Path], str]) -> None:
    found = english(made(tmp_path), STAYS)
    assert [each for each in found if each not in RECORDED] == []
