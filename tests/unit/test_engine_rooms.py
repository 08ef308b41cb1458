"""The engine rooms know no benchmark, axis, pattern, rule or law by name, and recover no fact from a text."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from tests.unit.report_example import estimates
from tools.schemas import types

import assay
from assay.analyse.findings import rules
from assay.catalogue import benchmarks
from assay.model import roles
from assay.model.law import Unfitted
from assay.model.measurand import Direction
from assay.model.result import Estimate
from assay.report import sections

SOURCE = Path(assay.__file__).parent
#: Kind -> role -> its meaning.
LISTED: dict[str, dict[str, str]] = json.loads((Path(__file__).parents[2] / "schema" / "roles.json").read_text())
ROLES, AXIS_ROLES = LISTED["metrics"], LISTED["axes"]
GENERIC_TOPICS = ("topics/health", "topics/comparisons", "topics/interchange", "topics/scaling")
ROOMS = ("analyse", "plan", "run", "store", "simulation", "report", "compare", "cli", *GENERIC_TOPICS)
#: Ordinary words of another language or of English, by the part of the source that needs them -> why.
ALLOWED = {
    "report/charts/": (
        {"width", "size", "format", "line", "round", "segment"},
        "properties and marks of Vega-Lite, and fields of charts' own data",
    ),
    "analyse/messages/steps.py": ({"message-law"}, "its own name: the law of messages is this room's"),
    "analyse/plateaus.py": ({"cache-plateaus"}, "its own name: several topics read the results of this law"),
    "analyse/overlap.py": ({"overlap"}, "its own name: several topics read the results of this law"),
    "plan/placement": ({"interleave"}, "a word of memory"),
    "simulation/rates.py": ({"interleave"}, "a word of memory"),
    "cli/support/machine_page.py": ({"mtu", "threads"}, "a fact of an interface; a word of the machine's tree"),
    "cli/export.py": ({"size"}, "an option"),
    "report/test_bed.py": ({"size", "product", "interleave"}, "names of facts, of sources and of machines"),
    "cli/list_.py": ({"source"}, "a column"),
    "store/standins.py": ({"root"}, "a user, and the home of one"),
    "report/languages/": ({"n"}, "the number in gettext's rules of plurals"),
    "report/published.py": ({"pattern", "source"}, "fields of the data of a page"),
    "compare/charts.py": ({"format", "line", "round"}, "properties and marks of Vega-Lite"),
    "simulation/machine.py": ({"segment", "threads"}, "fields of what the header says of its MPI"),
    "report/languages/__init__.py": ({"p", "k"}, "prefixes of units: pico and kilo"),
    "report/verdicts.py": ({"pairs"}, "the plural of pair: launches side by side"),
    "topics/health/rules/": (
        {
            "folder_left",
            "machine_noise",
            "not_measured",
            "prediction",
            "slow_node",
            "unknown_limit",
            "wrong_limit",
        },
        "its own rules",
    ),
    "topics/health/sections/": ({"machine_noise", "slow_node"}, "its own rules"),
    "topics/health/ranked.py": ({"size"}, "a property of Vega-Lite"),
    "topics/health/strips.py": ({"format", "line"}, "properties and marks of Vega-Lite"),
    "topics/health/timeline.py": ({"format", "round", "size"}, "properties and marks of Vega-Lite"),
    "topics/comparisons/": ({"slower_than_peer"}, "its own rule"),
    "topics/scaling/": ({"losses", "scaling"}, "its own laws and rules"),
    "topics/scaling/commands/predict.py": ({"latency", "bandwidth"}, "what a user says of a network"),
    "topics/scaling/scores_table.py": ({"prediction"}, "the heading of a column"),
    "topics/scaling/models/losses.py": ({"collective"}, "a kind of MPI's calls"),
}
#: What takes a text apart.
TAKES_APART = frozenset(
    ("split", "rsplit", "partition", "rpartition", "startswith", "endswith", "removeprefix", "removesuffix")
)
#: Words of closed types that have a space, and are no sentences.
WORDS = frozenset((*get_args(Direction), "share of cores"))
#: Fields of findings that are sentences.
SENTENCES = frozenset(("claim", "statistic", "threshold", "sentence"))
#: The only modules outside the parsers of other people's files that do so, and whose text it is.
READERS = {
    "analyse/joint.py": "the domain of a host's name",
    "analyse/refusals.py": "names of processors, as a source prints them and a machine states its own",
    "analyse/repetition.py": "the unit of a number, as a source prints it",
    "report/printed.py": "the unit of a number, as a source prints it",
    "analyse/source_levels.py": "levels of factors, as a source prints them and a user names their own",
    "plan/chosen.py": "`--set` and `--vary`, as a user types them",
    "plan/factors.py": "`--vary`, as a user types it",
    "plan/hosts.py": "words of placements, as a user types them",
    "plan/networks.py": "words of placements, `--network` and `--nic-node`, as a user types them",
    "plan/placement.py": "words of placements, as a user types them",
    "plan/points.py": "values of axes in a study, as a user writes them",
    "run/causes.py": "the messages by which MPIs fail",
    "run/foreign.py": "lines of a program's output",
    "run/leftovers.py": "what a shell on a node says of its processes",
    "run/merging.py": "lines of a program's output",
    "run/process.py": "/proc/stat",
    "run/records.py": "lines of a program's output",
    "store/chain.py": "lines of a file, and the field of a line that states its hash",
    "store/directory.py": "lines of a file, names of variables, the letters of a file's name",
    "store/earlier.py": "what earlier versions stored in sentences and ids",
    "store/folder.py": "the beginning of a run's id, as a user types it",
    "store/packed.py": "names of files in an archive",
    "store/shared.py": "names of files",
    "store/standins.py": "what others wrote: names, paths and addresses in texts of any kind",
    "simulation/launcher.py": "variables by which a launcher speaks to its ranks",
    "simulation/rates.py": "the command line of a program",
    "simulation/request.py": "the command line of a program",
    "simulation/resources.py": "the command line of a program",
    "report/environment.py": "line breaks in a template of a page",
    "report/formatting.py": "a size, of which a heading has the unit",
    "report/languages/__init__.py": "the forms of a text in a catalogue",
    "report/remedies.py": "options, as a user typed them",
    "report/columns.py": "words of a heading, to break its line",
    "report/screen.py": "words of a cell, to break its line; the name of an encoding",
    "report/spoken.py": "marks of emphasis in a text",
    "report/vega.py": "SVG, CSS and versions of Vega",
    "compare/sides.py": "names of files that somebody imported",
    "cli/__init__.py": "the command line",
    "cli/check.py": "`--set`, as a user types it, and the first bytes of a file",
    "cli/support/machine_page.py": "mitigations, as the kernel says them",
    "cli/export.py": "forms of charts, as a user types them; the name of a file from the anchor of a figure",
    "cli/support/hosts.py": "names of nodes, as a user types them",
    "cli/support/fitness.py": "what srun says",
    "cli/support/opened.py": "limits, as a user types them",
    "cli/support/output.py": "the beginning of an id, as a user types it; characters that a terminal executes",
    "cli/support/plan_page.py": "names of toolchains; digits of lines that differ in nothing else",
    "cli/support/prepare.py": "a list of libraries, as a user types it",
    "cli/support/settings.py": "names of variables, and the configuration",
    "cli/support/site.py": "a file of hosts, and what a node says",
    "cli/status.py": "the beginning of a run's id, as a user types it",
    "cli/support/submitting.py": "a time limit, as a user types it",
    "topics/scaling/commands/predict.py": "latency and bandwidth of a network, as a user types them",
    "topics/interchange/exports/junit.py": "characters that XML cannot hold",
    "topics/interchange/exports/openmetrics.py": "characters that names of labels cannot have",
}


def _names() -> set[str]:
    declared = [benchmarks.get(name) for name in benchmarks.names()]
    axes = {axis.name for each in declared for axis in each.axes}
    laws = {str(law.__struct_config__.tag) for law in types() if law is not Unfitted}
    found = {each.name for each in declared} | axes | set(benchmarks.patterns())
    return found | ({rule.name for rule in rules()} | laws) - ROLES.keys()


def _takes_apart(tree: ast.Module) -> bool:
    """Whether a text is taken apart by a method of strings or by `re`; a function of a module is another thing."""
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    methods = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return any(
        isinstance(each.value, ast.Name) and each.value.id == "re"
        if isinstance(each.value, ast.Name) and each.value.id in imported
        else each.attr in TAKES_APART
        for each in methods
    )


def _literals(tree: ast.Module) -> Iterator[ast.Constant]:
    """String literals of the code: no docstrings, and no names that a module exports."""
    skipped = {
        id(node)
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and "__all__" in {getattr(each, "id", "") for each in statement.targets}
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node


def _sentences(tree: ast.Module) -> Iterator[str]:
    """The comparisons with a sentence: with a literal that has a space, or with a field of sentences.

    The key of a fact, looked up in a mapping, is no sentence.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            lookup = isinstance(node.ops[0], ast.In | ast.NotIn)
            sides = [*([] if lookup else [node.left]), *node.comparators]
            if any(_is_sentence(part) for side in sides for part in getattr(side, "elts", [side])):
                yield ast.unparse(node)


def _is_sentence(part: ast.expr) -> bool:
    if isinstance(part, ast.Constant):
        return isinstance(part.value, str) and " " in part.value.strip() and part.value not in WORDS
    return isinstance(part, ast.Attribute) and part.attr in SENTENCES


def _found(room: str) -> set[tuple[str, str]]:
    names = _names()
    return {
        (str(path.relative_to(SOURCE)), node.value)
        for path in sorted((SOURCE / room).rglob("*.py"))
        for node in _literals(ast.parse(path.read_text()))
        if node.value in names
    }


def _allowed(path: str, word: str) -> bool:
    return any(path.startswith(part) and word in words for part, (words, _) in ALLOWED.items())


@pytest.mark.parametrize("room", [room for room in ROOMS if (SOURCE / room).is_dir()])
def test_no_literal_is_the_name_of_a_benchmark_an_axis_a_pattern_a_rule_or_a_law(room: str) -> None:
    assert {each for each in _found(room) if not _allowed(*each)} == set()


def test_nothing_is_compared_with_a_sentence() -> None:
    trees = {path: ast.parse(path.read_text()) for room in ROOMS for path in (SOURCE / room).rglob("*.py")}
    found = {(str(path.relative_to(SOURCE)), words) for path, tree in trees.items() for words in _sentences(tree)}
    assert found == set()


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ('claim == "the machine was quiet"', True),
        ('status in {"open", "not assessed"}', True),
        ("one.claim != other", True),
        ('"link layer" in facts', False),
        ('facts["link layer"] == "InfiniBand"', False),
        ('name == "quiet"', False),
    ],
)
def test_a_comparison_with_a_sentence_is_found(code: str, *, is_found: bool) -> None:
    assert bool(list(_sentences(ast.parse(code)))) == is_found


def test_no_template_of_a_page_has_the_name_of_a_rule_or_a_law() -> None:
    named = {rule.name for rule in rules()} | {str(law.__struct_config__.tag) for law in types()}
    named -= {"mtu"}  # a fact of an interface, too
    for file in (SOURCE / "report" / "templates").iterdir():
        assert not named.intersection(re.findall(r"""["']([\w-]+)["']""", file.read_text("utf-8"))), file.name


def test_every_word_that_is_allowed_is_needed() -> None:
    found = set[tuple[str, str]]().union(*(_found(room) for room in ROOMS))
    used = {(part, word) for part, (words, _) in ALLOWED.items() for path, word in found if path.startswith(part)}
    for part, (words, _) in ALLOWED.items():
        if (SOURCE / part).exists():
            assert words <= {word for used_part, word in used if used_part == part}


def test_only_those_who_read_what_others_wrote_take_a_text_apart() -> None:
    files = [path for room in ROOMS for path in (SOURCE / room).rglob("*.py")]
    found = {path for path in files if _takes_apart(ast.parse(path.read_text()))}
    assert {str(path.relative_to(SOURCE)) for path in found} == READERS.keys()


def test_the_rules_whose_findings_a_section_claims_exist() -> None:
    assert frozenset().union(*(each.rules for each in sections.declared())) <= {rule.name for rule in rules()}


def test_every_metric_of_assays_own_benchmarks_has_a_role() -> None:
    for name in benchmarks.names():
        declared = benchmarks.get(name)
        assert all(metric.role in ROLES for metric in declared.metrics), name
        assert all(axis.role in {None, *AXIS_ROLES} for axis in declared.axes), name
        given = [axis.role for axis in declared.axes if axis.role]
        assert len(given) == len(set(given)), name


def test_every_level_of_an_axis_of_patterns_is_described() -> None:
    for name in benchmarks.names():
        axis = benchmarks.get(name).axis("message-pattern")
        assert axis is None or set(axis.values) <= axis.patterns.keys(), name


def test_one_benchmark_of_assays_own_is_the_fixed_work_between_blocks() -> None:
    declared = [each for each in map(benchmarks.get, benchmarks.names()) if each.sentinel]
    assert [each.name for each in declared] == [benchmarks.sentinel().name]
    (one,) = declared
    assert one.sentinel.keys() == {axis.name for axis in one.axes}


def test_figures_of_others_benchmarks_have_no_role_and_our_usual_axes(other: Estimate) -> None:
    assert roles.role(other) is None
    assert roles.pattern(other) is None
    assert roles.size(other) == 8
    assert not other.declared.between_two


@pytest.fixture
def other() -> Estimate:
    return msgspec.structs.replace(estimates()[0], benchmark="another: tool", declaration="", params={"bytes": 8})
