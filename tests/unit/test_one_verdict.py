"""One comparison, one verdict: terminal, page, JSON and gate say the same of each pair of figures."""

import html
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.simulation import simulated_run
from tests.unit.compare_example import boosted, in_turn

from assay.analyse import analyse
from assay.cli import assay
from assay.model.errors import PartialRunError, ThresholdError
from assay.model.plan import Measure, Study
from assay.plan import Options
from assay.report import formatting, verdicts
from assay.simulation import Law

pytestmark = pytest.mark.usefixtures("undrawn")

STUDY = Study(
    "t",
    "q?",
    (
        Measure("stream", ("one-core", "all")),
        Measure("memcpy", ("one-core",), axes={"bytes": "1M:16M", "buffers": "hot"}),
    ),
    launches=6,
)
#: Ratio, interval, p, verdict of a row, in words.
Row = tuple[str, str, str, str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "assay-runs"


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(assay, arguments, env={"COLUMNS": "160"})


def machines(home: Path, rates: Sequence[float]) -> list[str]:
    """Runs of machines whose cores draw so many GB/s; those of other rates are other machines."""
    return [
        simulated_run(home, Law(core_traffic=1e9 * rate), study=STUDY, options=Options(launches=6), seed=seed).name
        for seed, rate in enumerate(rates)
    ]


def words(comparison: dict[str, Any], better: str) -> Row:
    """What a row must say of a comparison in JSON."""
    ratio, lo, hi = (comparison["value"][end] for end in ("value", "lo", "hi"))
    if better == "lower":
        ratio, lo, hi = 1 / ratio, 1 / hi, 1 / lo
    ends = f"[{formatting.factor(lo)}, {formatting.factor(hi)}]"
    p = comparison["adjusted_p"]
    return formatting.factor(ratio), ends, "" if p is None else f"{p:.2g}", comparison["verdict"]


ROW = re.compile(r"(\S+) +(\[\S+ \S+\]) +\d+ +(\S+) +(\w+(?: \w+)?)$")


def of_terminal(text: str) -> Counter[Row]:
    found = (ROW.search(line.rstrip()) for line in text.splitlines())
    return Counter((each[1], each[2], each[3], each[4]) for each in found if each)


def of_page(path: str) -> Counter[Row]:
    text = re.sub(r"<(script|style|svg).*?</\1>", "", Path(path).read_text("utf-8"), flags=re.DOTALL)
    rows = re.findall(r"<tr>.*?</tr>", text, flags=re.DOTALL)
    lines = (" ".join(html.unescape(re.sub(r"<[^>]+>", " ", row)).split()) for row in rows)
    return of_terminal("\n".join(lines))


@pytest.mark.parametrize("rates", [(6, 18), (6, 18, 3, 4.5)], ids=["two machines", "four machines"])
def test_machines_are_called_alike_on_page_terminal_json_and_gate(home: Path, rates: tuple[float, ...]) -> None:
    names = machines(home, rates)
    document = json.loads(invoke("compare", *names, "--json").stdout)
    compared = document.get("compared", [document])
    pairs = [pair for each in compared for pair in each["pairs"]]
    expected = Counter(words(pair["comparison"], pair["a"]["better"]) for pair in pairs)
    assert len(pairs) == 13 * (len(rates) - 1)
    assert of_terminal(invoke("compare", *names, "--all").output) == expected
    assert of_page(invoke("report", *names, "-o", "page.html").stdout.strip()) == expected
    # Curves and shared figures hold the very comparisons of the figures.
    judged = {pair["comparison"]["id"]: pair["comparison"] for pair in pairs}
    side = document["side_by_side"]
    points = [point["comparison"] for pair in side["pairs"] for point in pair["points"]]
    points += [each for shared in side["shared"] for each in shared.get("comparisons", {}).values()]
    assert len(points) == len(pairs)
    assert all(point == judged[point["id"]] for point in points)
    # The gate counts what JSON calls slower beyond its border.
    slower = sum(
        each["verdict"] == "slower" and each["value"]["hi"] < 0.95 for each in (p["comparison"] for p in pairs)
    )
    error = invoke("compare", *names, "--fail-below", "5%").exception
    if slower:
        assert isinstance(error, ThresholdError)
        assert error.what.startswith(f"{slower} of {len(pairs)} figures")
    triads = [
        p["comparison"]
        for p in pairs
        if p["a"]["kernel"] == "triad" and p["a"]["placement"]["label"] == "one-core"
    ]
    assert [each["verdict"] for each in triads] == ["faster", "slower", "slower"][: len(rates) - 1]
    assert triads[0]["value"]["value"] == pytest.approx(3, rel=0.02)


@pytest.mark.parametrize(
    ("order", "speeds"),
    [
        ("144114411441", {"1": 1, "4": 0.5}),
        ("1441", {"1": 1, "4": 2}),
        ("124421142241124421", {"1": 1, "2": 1.5, "4": 0.5}),
    ],
    ids=["six blocks", "two blocks", "three levels"],
)
def test_levels_of_whole_runs_are_called_alike_on_page_terminal_json_and_gate(
    home: Path, order: str, speeds: Mapping[str, float]
) -> None:
    names = [path.name for path in in_turn(home, order, speeds, STUDY)]
    document = json.loads(invoke("compare", *names, "--factor", "nps", "--json").stdout)
    compared = document.get("compared", [document])
    pairs = [pair for each in compared for pair in each["pairs"]]
    expected = Counter(words(pair["comparison"], pair["a"]["better"]) for pair in pairs)
    assert len(pairs) == 13 * (len(speeds) - 1)
    blocks = len(order) // len(speeds)
    assert {len(each["blocks"]) for each in compared} == {blocks}
    if blocks >= 6:
        assert of_terminal(invoke("compare", *names, "--factor", "nps", "--all").output) == expected
    path = invoke("report", *names, "--factor", "nps", "-o", "page.html").stdout.strip()
    page = Path(path).read_text("utf-8")
    if blocks >= 6:
        assert of_page(path) == expected
    assert all(name in page for name in names)
    # Curves and shared figures hold the very comparisons of the figures.
    judged = {pair["comparison"]["id"]: pair["comparison"] for pair in pairs}
    assert len(judged) == len(pairs)
    side = document["side_by_side"]
    points = [point["comparison"] for pair in side["pairs"] for point in pair["points"]]
    points += [each for shared in side["shared"] for each in shared.get("comparisons", {}).values()]
    assert len(points) == len(pairs)
    assert all(point == judged[point["id"]] for point in points)
    error = invoke("compare", *names, "--factor", "nps", "--fail-below", "5%", "--junit", "gate.xml").exception
    slower = sum(each["verdict"] == "slower" and each["value"]["hi"] < 0.95 for each in judged.values())
    if blocks < 6:
        assert {each["verdict"] for each in judged.values()} == {"inconclusive"}
        assert isinstance(error, PartialRunError)
        assert "--level nps=" in error.remedy
    else:
        assert slower
        assert isinstance(error, ThresholdError)
        assert error.what.startswith(f"{slower} of {len(pairs)} figures")
        assert Path("gate.xml").read_text("utf-8").count("<failure") == slower


def test_levels_of_one_run_are_called_alike_on_page_terminal_and_json(home: Path) -> None:
    run = boosted(home, 0.05, 1, launches=6)
    (name,) = [run.info.id]
    expected = {
        each.id: (each.value, each.adjusted_p, each.verdict) for each in analyse(run).comparisons if each.varied
    }
    assert {verdict for _, _, verdict in expected.values()} == {"faster"}
    of_compare = json.loads(invoke("compare", name, "--json").stdout)["pairs"]
    of_show = json.loads(invoke("show", name, "--json").stdout)["comparisons"]
    for found in ([pair["comparison"] for pair in of_compare], of_show):
        varied = [each for each in found if each["varied"]]
        assert {each["id"] for each in varied} == expected.keys()
        for each in varied:
            value, p, verdict = expected[each["id"]]
            assert (each["value"]["value"], each["value"]["lo"], each["value"]["hi"]) == value.parts
            assert (each["adjusted_p"], each["verdict"]) == (p, verdict)
    written = invoke("export", name, "--format", "junit").output
    for value, p, verdict in expected.values():
        assert f"{value.value!r} ({value.lo!r} to {value.hi!r}, interval), {verdict}, p {p!r} among 4" in written
    rows = Counter(
        words(pair["comparison"], pair["a"]["better"]) for pair in of_compare if pair["comparison"]["varied"]
    )
    assert of_terminal(invoke("compare", name, "--all").output) == rows
    page = Path(invoke("report", name, "-o", "page.html").stdout.strip()).read_text("utf-8")
    for row in rows:
        assert all(cell in page for cell in row[:3])


@pytest.mark.usefixtures("home")
def test_imports_claim_nothing_anywhere() -> None:
    names = ("hpcdiy-gbe", "hpcdiy-qdr")
    document = json.loads(invoke("compare", *names, "--json").stdout)
    comparisons = [pair["comparison"] for pair in document["pairs"]]
    comparisons += [point["comparison"] for pair in document["side_by_side"]["pairs"] for point in pair["points"]]
    assert comparisons
    assert {(each["verdict"], each.get("p"), each.get("adjusted_p")) for each in comparisons} == {
        ("inconclusive", None, None)
    }
    assert {tuple(each["lack"]["why"]) for each in comparisons} == {("samples",)}
    judged = {each["id"]: each for each in comparisons}
    assert all(each == judged[each["id"]] for each in comparisons)
    page = Path(invoke("report", *names, "-o", "page.html").stdout.strip()).read_text("utf-8")
    for text in (page, invoke("compare", *names, "--all").output):
        assert not re.search(r">\s*(faster|slower)\s*</td>|  (faster|slower)$", text, flags=re.MULTILINE)


def test_a_published_system_and_its_runs_share_one_comparison_a_pair(home: Path) -> None:
    """The same two figures are one comparison, whoever names them."""
    names = machines(home, (6, 18))
    document = json.loads(invoke("compare", *names, "--json").stdout)
    ids = [pair["comparison"]["id"] for pair in document["pairs"]]
    assert len(ids) == len(set(ids))
    assert {pair["comparison"]["among"] for pair in document["pairs"]} == {len(ids)}


def test_what_a_comparison_lacks_is_told_as_numbers(home: Path) -> None:
    """Three blocks of a plain difference: three more decide."""
    few = [each for each in analyse(boosted(home, 0.5, 1, launches=3)).comparisons if each.varied]
    assert [(each.lack.why, each.lack.more) for each in few if each.lack] == [(("launches",), 3)] * 4
    assert all(verdicts.missing(each) for each in few)
    more = [each for each in analyse(boosted(home, 0.5, 1, launches=6)).comparisons if each.varied]
    assert {(each.verdict, each.lack) for each in more} == {("faster", None)}


def test_the_assumed_variance_between_runs_is_named_as_an_assumption_and_a_known_one_is_not(home: Path) -> None:
    base, run, *_ = machines(home, (6, 6))
    text = " ".join(invoke("compare", base, run).output.split())
    assert "Assay assumes that a figure varies by 2.0 % from run to run" in text
    assert "other runs of this machine: figures vary" not in text
    names = machines(home, (6, 6, 6, 6))
    text = " ".join(invoke("compare", names[2], names[3]).output.split())
    assert "from 4 other runs of this machine: figures vary" in text
    assert "assumes" not in text
