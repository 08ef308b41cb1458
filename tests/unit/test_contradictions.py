"""No sentence of a comparison contradicts its own numbers; and the checker finds what is planted."""

import html
import io
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console
from tests import contradictions, contradictions_of_runs
from tests.simulation import EPYC_7601, simulated_run
from tests.unit.compare_example import boosted

from assay import references, store
from assay.analyse import analyse
from assay.compare import figure_rows, page, terminal
from assay.compare.contrast_statements import Spread
from assay.compare.meeting import Declared
from assay.compare.runs import within
from assay.compare.sides import Sides, sides
from assay.compare.statements import Crossing, Jump, Saturated, Statement, statements
from assay.compare.widest import differences
from assay.model.comparison import Lack
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.plan import Options
from assay.report import formatting
from assay.report.statements import Difference
from assay.simulation import Law, Link

pytestmark = pytest.mark.usefixtures("undrawn")

ROOT = Path(__file__).parents[2]
PACKED = sorted((*ROOT.glob("docs/gallery/*.tar.xz"), *ROOT.glob("tests/runs/n*.tar.xz")))
DECLARED = Declared(allowed=("machine", "topology"))
RATES = Study("Rates", "q?", (Measure("stream", ("one-core", "all")), Measure("memcpy", ("one-core",))))
SIZES = (8, 64, 512, 4096, 65536)
MESSAGES = Study(
    "Messages",
    "q?",
    (
        Measure("pt2pt", ("pair:other-node",), axes={"pattern": "latency", "bytes": SIZES}),
        Measure("pt2pt", ("pair:other-node",), axes={"pattern": "bandwidth", "bytes": SIZES}),
    ),
)
LINKS = {"gbe": Link(20e-6, 119e6, 119e6, gap_s=1e-6), "fast": Link(2e-6, 3.4e9, 3.4e9, gap_s=0.0)}


def of(found: Sides) -> list[str]:
    """All contradictions: in sentences, in the widest differences, in the rows of each comparison."""
    lines = contradictions.of_sides(found)
    for each in found.compared:
        lines += contradictions.of_pairs(each.pairs)
    if len(found.sides) == 1:
        (side,) = found.sides
        lines += contradictions.of_pairs(within(side.run, side.analysis).pairs)
    return [
        *lines,
        *(line for side in found.sides for line in contradictions_of_runs.of_run(side.run, side.analysis)),
    ]


def machines(folder: Path, speeds: Iterable[float], launches: int, noise: float = 0.01) -> Sides:
    """Machines of which each is faster than the first by a factor."""
    options = Options(launches=launches)
    runs = [
        simulated_run(
            folder,
            Law(core_traffic=12e9 * speed, node_traffic=60e9 * speed, launch_noise=noise),
            study=RATES,
            options=options,
            seed=seed,
        )
        for seed, speed in enumerate(speeds, 1)
    ]
    return sides([store.load(each) for each in runs], declared=DECLARED)


def networks(folder: Path, launches: int) -> Sides:
    """Two networks within one run."""
    law = Law(links={**Law().links, "eth0": LINKS["gbe"], "ib0": LINKS["fast"]})
    options = Options(hosts=("n1", "n2"), networks={"gbe": "eth0", "fast": "ib0"}, launches=launches)
    return sides([store.load(simulated_run(folder, law, description=EPYC_7601, study=MESSAGES, options=options))])


def clusters(folder: Path, launches: int) -> Sides:
    """The same messages on two machines, of which one has the faster network."""
    options = Options(hosts=("n1", "n2"), networks={"net": "eth0"}, launches=launches)
    runs = [
        simulated_run(
            folder,
            Law(links={**Law().links, "eth0": link}),
            description=EPYC_7601,
            study=MESSAGES,
            options=options,
            seed=seed,
        )
        for seed, link in enumerate(LINKS.values())
    ]
    return sides([store.load(each) for each in runs], declared=DECLARED)


def levels(folder: Path, launches: int, gain: float) -> Sides:
    """Two levels of a factor within one run."""
    return sides([boosted(folder, gain, 1, launches=launches)])


SIMULATED: dict[str, Callable[[Path], Sides]] = {
    "two machines": lambda folder: machines(folder, (1.0, 3.0), 6),
    "two machines, three launches": lambda folder: machines(folder, (1.0, 3.0), 3),
    "two equal machines": lambda folder: machines(folder, (1.0, 1.0), 6),
    "two noisy machines": lambda folder: machines(folder, (1.0, 1.05), 6, noise=0.05),
    "four machines": lambda folder: machines(folder, (1.0, 3.0, 1.0, 0.5), 6),
    "two networks": lambda folder: networks(folder, 6),
    "two networks, three launches": lambda folder: networks(folder, 3),
    "two clusters": lambda folder: clusters(folder, 6),
    "two clusters, one launch": lambda folder: clusters(folder, 1),
    "levels": lambda folder: levels(folder, 7, 0.05),
    "levels, three launches": lambda folder: levels(folder, 3, 0.5),
    "equal levels": lambda folder: levels(folder, 9, 0.0),
}


@pytest.mark.parametrize("name", SIMULATED)
def test_no_sentence_on_simulated_runs_contradicts_its_numbers(tmp_path: Path, name: str) -> None:
    assert of(SIMULATED[name](tmp_path)) == []


@pytest.mark.parametrize("path", PACKED, ids=lambda path: path.stem)
def test_no_sentence_on_a_packed_run_contradicts_its_numbers(path: Path) -> None:
    assert of(sides([store.load(path)])) == []


@cache
def published(*names: str) -> Sides:
    return sides([store.load(store.find(name)) for name in names])


@pytest.mark.parametrize("name", references.names())
def test_no_sentence_on_references_contradicts_its_numbers(name: str) -> None:
    assert of(published(name)) == []
    for other in references.names():
        if other != name:
            assert of(published(name, other)) == []


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Sides:
    """Two networks in one run, with figures that are certainly unlike."""
    return networks(tmp_path_factory.mktemp("two"), 8)


def first(found: Sides, kind: str) -> Statement:
    return next(each for each in statements(found) if each.kind == kind)


def claim(found: Sides, kind: str) -> Difference:
    said = first(found, kind)
    assert isinstance(said, Difference)
    assert said.relation == "more"
    assert contradictions.of_statement(said) == []
    return said


def seen(said: Difference, **changes: object) -> Difference:
    """The same statement on a comparison with other facts."""
    assert said.comparison
    return replace(said, comparison=replace(said.comparison, **changes))


AROUND_ONE = Quantity(1.3, 0.9, 1.9, basis="interval")


@pytest.mark.parametrize(
    ("why", "plant"),
    [
        ("direction", lambda said: replace(said, more=said.less, less=said.more)),
        ("direction", lambda said: replace(said, ratio=said.ratio.inverse(""))),
        ("the words say", lambda said: replace(said, relation="same")),
        ("the words say", lambda said: seen(said, verdict="inconclusive")),
        (
            "equivalent' beside disjoint",
            lambda said: replace(seen(said, verdict="equivalent"), relation="same"),
        ),
        (
            "not inside the margin",
            lambda said: replace(seen(said, verdict="equivalent"), relation="same"),
        ),
        ("not beyond the margin", lambda said: replace(said, ratio=AROUND_ONE)),
        (
            "without what is missing",
            lambda said: replace(seen(said, verdict="inconclusive"), relation="open"),
        ),
        (
            "reaches into the margin' beside",
            lambda said: replace(seen(said, verdict="inconclusive", lack=Lack(("margin",), 3)), relation="open"),
        ),
        ("a claim that lacks", lambda said: seen(said, lack=Lack(("among",), 3))),
        ("a claim without a comparison", lambda said: replace(said, comparison=None)),
        ("equality without proof", lambda said: replace(said, noun="no difference in bandwidth")),
    ],
)
def test_a_planted_contradiction_of_two_figures_is_found(
    two: Sides, why: str, plant: Callable[[Difference], Difference]
) -> None:
    lines = contradictions.of_statement(plant(claim(two, "rate")))
    assert any(why in line for line in lines), lines


@pytest.mark.parametrize(
    ("why", "factor"),
    [("the sign of the difference", -1.0), ("the difference is not one of these two figures", 50.0)],
)
def test_a_difference_of_another_sign_or_another_size_is_found(two: Sides, why: str, factor: float) -> None:
    said = claim(two, "time")
    assert said.apart
    value, *ends = (factor * each for each in said.apart)
    apart = Quantity(value, min(ends), max(ends), said.apart.unit, said.apart.basis)
    lines = contradictions.of_statement(replace(said, apart=apart))
    assert any(why in line for line in lines), lines


def test_a_ratio_that_is_not_that_of_its_means_is_found() -> None:
    said = first(published("hpcdiy-gbe", "hpcdiy-qdr"), "rate")
    assert isinstance(said, Difference)
    wrong = replace(said, ratio=Quantity(8.0, 8.0, 8.0))
    assert any("the ratio is not that of the figures" in line for line in contradictions.of_statement(wrong))


@pytest.mark.parametrize(
    ("why", "changes"),
    [
        ("largest to the smallest", {"ratio": 2.0}),
        ("the share is not", {"share": 0.5}),
    ],
)
def test_a_wrong_ratio_or_share_of_several_figures_is_found(why: str, changes: dict[str, float]) -> None:
    said = next(each for each in statements(published("vtpcc")) if isinstance(each, Spread) and each.share)
    assert contradictions.of_statement(said) == []
    wrong = replace(said, **changes)
    assert any(why in line for line in contradictions.of_statement(wrong))
    upside_down = replace(said, groups=said.groups[::-1])
    assert any("does not come first" in line for line in contradictions.of_statement(upside_down))


def test_a_crossing_in_the_other_direction_or_without_proof_is_found() -> None:
    said = first(published("hpcdiy-qdr"), "crossover")
    assert isinstance(said, Crossing)
    for why, wrong in {
        "do not change their direction": replace(said, low=said.high, high=said.low),
        "an interval contains 1": replace(said, low=AROUND_ONE, crossover=replace(said.crossover, certain=True)),
    }.items():
        assert any(why in line for line in contradictions.of_statement(wrong))


def test_a_jump_whose_time_is_of_another_size_is_found() -> None:
    said = first(published("hpcdiy-gbe"), "jump")
    assert isinstance(said, Jump)
    wrong = replace(said, step=replace(said.step, seconds=2 * said.step.seconds))
    assert any("not of the same size" in line for line in contradictions.of_statement(wrong))


def test_a_saturation_beyond_the_sizes_measured_is_found() -> None:
    said = first(published("hpcdiy-gbe"), "saturated")
    assert isinstance(said, Saturated)
    sizes = tuple((name, size, 1) for name, size, _ in said.sizes)
    wrong = replace(said, sizes=sizes)
    assert any("beyond the sizes" in line for line in contradictions.of_statement(wrong))


def test_widest_differences_that_are_not_the_widest_are_found() -> None:
    both = published("hpcdiy-gbe", "hpcdiy-qdr")
    found = differences(both)
    assert contradictions.of_widest(found, both) == []
    assert any("the widest difference is 83" in line for line in contradictions.of_widest(found[1:], both))
    assert any("does not come first" in line for line in contradictions.of_widest(found[::-1], both))


@pytest.mark.parametrize(
    ("why", "changes"),
    [
        ("the direction of the verdict", {"verdict": "slower"}),
        ("not inside the margin", {"verdict": "equivalent"}),
        ("without what is missing", {"verdict": "inconclusive"}),
        ("an adjusted p above 5 %", {"adjusted_p": 0.2}),
    ],
)
def test_a_planted_contradiction_in_a_row_is_found(two: Sides, why: str, changes: dict[str, object]) -> None:
    (side,) = two.sides
    pair = next(each for each in within(side.run, side.analysis).pairs if each.comparison.verdict == "faster")
    assert contradictions.of_pairs([pair]) == []
    wrong = replace(pair, comparison=replace(pair.comparison, **changes))
    assert any(why in line for line in contradictions.of_pairs([wrong]))


def test_page_and_terminal_say_the_same_sentences_and_show_the_same_rows(tmp_path: Path) -> None:
    found = clusters(tmp_path, 6)
    (compared,) = found.compared
    console = Console(file=io.StringIO(), width=300)
    figure_rows.render(compared, console, curves=lambda: terminal.render(found, console))
    assert isinstance(console.file, io.StringIO)
    printed = one_line(console.file.getvalue())
    words = one_line(html.unescape(re.sub(r"<[^>]+>", "", page.render(found))))
    assert statements(found)
    for said in statements(found):
        assert said.text in printed
        assert said.text in words
    for table in figure_rows.figure_tables(compared):
        assert all(" ".join(filter(None, row)) in printed for row in table.rows)
        assert all("".join(row) in words.replace("\n", "") for row in table.rows)


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_a_figure_whose_own_traffic_is_the_limit_has_no_share_of_it() -> None:
    analysis = analyse(store.load(ROOT / "tests/runs/node.tar.xz"))
    own = [each for each in analysis.estimates if each.limit and each.limit.measured_by == each.id]
    assert {each.metric for each in own} >= {"bandwidth", "traffic"}
    assert {formatting.share_cell(each) for each in own} == {"is the limit"}
