"""The page: everything in it, everything escaped, nothing loaded."""

import base64
import gzip
import itertools
import re
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from tests.simulation import EPYC_7601, simulated_run
from tests.unit.report_example import example

from assay import analyse, plan, store
from assay.model.declaration import keep, undeclared
from assay.model.result import Analysis
from assay.model.run import Run
from assay.report import formatting, html, raw, selection, vega
from assay.report.charts.curve import CurvePoint, curve
from assay.report.section import Figure
from assay.report.sections import declared
from assay.simulation import Law

HOSTILE = "<script>alert(1)</script>\"'&</title></style>"


@pytest.fixture(scope="module")
def page() -> str:
    here = example()
    return html.render(here.run, here.analysis)


def _text(page: str) -> str:
    """What a reader sees: without scripts, styles and tags."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def test_every_estimate_stands_with_its_interval_and_its_limit(page: str) -> None:
    rows = re.findall(r'<tr id="e\d+">.*?</tr>', page, flags=re.DOTALL)
    estimates = example().analysis.estimates
    assert len(rows) == len(estimates)
    for estimate in estimates:
        figure = formatting.shown(estimate)
        if not figure:
            continue
        wanted = [f">{figure.value} {figure.unit}<", f">{figure.ends}<", figure.basis]
        wanted.append("44.0 GB/s (measured)" if estimate.limit else "none known")
        assert any(all(part in row for part in wanted) for row in rows), estimate.id


def test_every_finding_stands_with_its_next_step_and_its_rivals(page: str) -> None:
    text = _text(page)
    for finding in example().analysis.findings:
        assert formatting.sentence(finding.claim) in text
        assert formatting.sentence(finding.next).rstrip(".") in text
    assert "the compiler may already use them" in text
    assert "least ratio of a block 1.33" in text


def test_everything_not_measured_stands_with_its_reason(page: str) -> None:
    text = _text(page)
    for reason in (
        "this machine has one thread a core",
        "this machine has one memory node",
        "result wrong by 0.5",
        "the budget of 60 s was used up",
        "line 17: torn off",
        "half of the cores could not be compared with all",
    ):
        assert reason.lower() in text.lower()


def test_what_a_finding_says_is_missing_stands_beside_the_reasons() -> None:
    here = example()
    (first, *others) = here.analysis.findings
    missing = msgspec.structs.replace(
        first, id="cases", rule="not_measured", claim="a case is missing", evidence=()
    )
    page = html.render(here.run, msgspec.structs.replace(here.analysis, findings=(missing, *others)))
    _, section = page.split('<section id="not-measured"')
    assert "A case is missing." in section.partition("</section>")[0]


def test_provenance_names_command_compiler_flags_seed_and_environment(page: str) -> None:
    text = _text(page)
    for wanted in ("assay run quick", "g++ 13.2", "-O3", "Seed of the order 42", "OMP_PROC_BIND close", "ab12"):
        assert wanted in text


def test_a_hostile_name_is_only_ever_text() -> None:
    here = example(host=HOSTILE)
    page = html.render(here.run, here.analysis)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page[: page.index("</title>")].endswith(" – Assay")  # noqa: RUF001 (as in the page)
    assert page.count("</style>") == 1


def test_json_cannot_close_its_script_element() -> None:
    block = vega.json_block({"name": "</script><script>alert(1)</script>\u2028"})
    assert "<" not in block
    assert "\u2028" not in block
    assert msgspec.json.decode(block) == {"name": "</script><script>alert(1)</script>\u2028"}


def test_text_inside_a_drawing_is_escaped() -> None:
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": 100,
        "data": {"values": [{"name": HOSTILE}]},
        "mark": "text",
        "encoding": {"text": {"field": "name"}},
    }
    drawn = vega.svg(Figure("f", "", "", spec).spec, "f-")
    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn


def test_the_policy_lets_only_the_pages_own_scripts_run(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert "default-src 'none'" in policy[1]
    scripts = re.search(r"script-src ([^;]*);", policy[1])
    assert scripts
    hashes = re.findall(r"'sha256-[A-Za-z0-9+/=]{44}'", scripts[1])
    assert " ".join(hashes) == scripts[1].strip()
    # Those of the page, and the figures' library, which one of them starts.
    assert len(hashes) == len(set(hashes)) == page.count("<script>") + 1


def test_nothing_in_the_page_names_another_place_to_load_from(page: str) -> None:
    assert not re.findall(r'(?:src|href|action|poster|data)="(?!#)[^"]*"', page)
    assert not re.findall(r"@import|url\((?!#)", page)


def test_headings_are_in_order_and_anchors_exist(page: str) -> None:
    levels = [int(level) for level in re.findall(r"<h(\d)", page)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


def test_every_table_has_a_caption_and_headings_with_a_scope(page: str) -> None:
    tables = re.findall(r"<table.*?</table>", page, flags=re.DOTALL)
    assert len(tables) > 5
    for table in tables:
        assert "<caption>" in table
        assert not re.findall(r"<th(?![^>]*scope=)[ >]", table)


def unpacked(run: Run) -> list[tuple[raw.RawSeries, npt.NDArray[np.int64]]]:
    """Every series of the page's block with its samples in nanoseconds, as the page's script reads it."""
    index, block = raw.pack(run)
    head = msgspec.json.decode(index, type=raw.RawIndex)
    planes = np.frombuffer(gzip.decompress(base64.b64decode(block)), dtype=np.uint8)
    every = np.zeros(head.samples, dtype=np.int64)
    for plane in range(head.planes):
        every += planes[plane * head.samples : (plane + 1) * head.samples].astype(np.int64) << (8 * plane)
    ends = np.cumsum([series.samples for series in head.series], dtype=np.int64)
    return [
        (series, part + series.base) for series, part in zip(head.series, np.split(every, ends[:-1]), strict=True)
    ]


def test_raw_samples_come_back_to_the_nanosecond() -> None:
    run = example().run
    series = unpacked(run)
    written = [s for records in run.launches for case in records.cases for s in case.series]
    read = [(entry, nanoseconds) for entry, nanoseconds in series if entry.case]
    assert len(read) == len(written)
    for (entry, nanoseconds), original in zip(read, written, strict=True):
        assert entry.phase == original.phase
        assert entry.iterations == original.iterations
        assert np.array_equal(nanoseconds, np.rint(np.array(original.seconds) * 1e9).astype(np.int64))
    probes = [entry.phase for entry, _ in series if not entry.case]
    assert probes.count("before") == probes.count("after") == len(run.launches)


def test_samples_longer_than_four_seconds_survive_packing() -> None:
    run = example().run
    case = run.launches[0].cases[0]
    slow = msgspec.structs.replace(case.series[1], start_s=[0.0, 1.0, 2.0], seconds=[1e-9, 7.25, 5000.000000001])
    case = msgspec.structs.replace(case, series=(slow,))
    run = msgspec.structs.replace(run, launches=(msgspec.structs.replace(run.launches[0], cases=(case,)),))
    (measured,) = [values for entry, values in unpacked(run) if entry.case]
    assert measured.tolist() == [1, 7_250_000_000, 5_000_000_000_001]


def test_a_benchmark_without_a_section_of_its_own_gets_one() -> None:
    here = example()
    renamed = tuple(
        msgspec.structs.replace(e, benchmark="newcomer", declaration=keep(undeclared("newcomer")))
        if e.benchmark == "stream"
        else e
        for e in here.analysis.estimates
    )
    text = html.render(here.run, msgspec.structs.replace(here.analysis, estimates=renamed))
    assert '<h2 id="newcomer-title">newcomer</h2>' in text
    assert 'id="figure-newcomer-triad"' in text


def test_each_topic_says_where_it_stands() -> None:
    orders = [topic.order for topic in declared()]
    assert orders == sorted(orders)
    assert len(set(orders)) == len(orders)


def _bare(run: Run, analysis: Analysis) -> tuple[Run, Analysis]:
    run = msgspec.structs.replace(run, launches=(), ending=None, machines={})
    return run, msgspec.structs.replace(
        analysis, estimates=(), findings=(), comparisons=(), outcomes=(), status="incomplete"
    )


def test_a_run_with_nothing_measured_says_so() -> None:
    here = example()
    text = _text(html.render(*_bare(here.run, here.analysis)))
    assert "Nothing could be measured" in text
    assert "assay run --resume" in text
    assert "all 0 samples" in text


@pytest.mark.usefixtures("undrawn_here")
def test_both_states_of_a_machine_are_shown(tmp_path: Path) -> None:
    law = Law(flips=((30.0, "far"), (60.0, "near")))
    run = store.load(simulated_run(tmp_path, law, options=plan.Options(launches=8)))
    analysis = analyse.analyse(run)
    states = {e.state for e in analysis.estimates if e.state}
    text = _text(html.render(run, analysis))
    assert states == {"near", "far"}
    for state in states:
        assert f"{state} cores" in text
        assert f"“{state}”" in text


@pytest.mark.usefixtures("undrawn_here")
def test_eight_memory_nodes_make_a_matrix_of_sixty_four_cells(tmp_path: Path) -> None:
    run = store.load(
        simulated_run(tmp_path, description=EPYC_7601, study="memory", options=plan.Options(launches=1))
    )
    page = html.render(run, analyse.analyse(run))
    spec = re.search(r'id="figure-numa".*?class="spec">(.*?)</script>', page, flags=re.DOTALL)
    assert spec
    cells = msgspec.json.decode(spec[1])["data"]["values"]
    assert len(cells) == 64
    assert sum(cell["local"] for cell in cells) == 8
    assert {cell["ratio"] for cell in cells if cell["local"]} == {"×1.00"}  # noqa: RUF001 (a factor)
    assert page.count('<li class="measured">') == 64


@pytest.mark.usefixtures("undrawn_here")
def test_many_nodes_are_ranked_and_the_slow_one_is_named(tmp_path: Path) -> None:
    hosts = tuple(f"n{number:02}" for number in range(1, 13))
    law = Law(slow_hosts={"n07": 0.8})
    run = store.load(simulated_run(tmp_path, law, options=plan.Options(launches=3, hosts=hosts)))
    analysis = analyse.analyse(run)
    page = html.render(run, analysis)
    assert "Node by node" in page
    table = re.search(
        r'<caption><span><span data-text="\d+">The slowest, the middle.*?</table>', page, flags=re.DOTALL
    )
    assert table
    assert "n07: " in table[0]
    middle = selection.middle(e for e in analysis.estimates if e.benchmark == "stream")
    assert "n07" not in {host for e in middle for host in e.placement.hosts}


def test_a_line_joins_only_neighbours_of_one_state() -> None:
    def at(x: float, state: str) -> CurvePoint:
        return CurvePoint(x, "hot", state, 1.0, 1.0, 1.0, "", "", "")

    sizes = [at(1, ""), at(2, "near"), at(2, "far"), at(4, "near"), at(8, "near"), at(8, "far")]
    spec = curve(sizes, ("size", "rate"))
    joined: dict[tuple[str, int], list[float]] = {}
    for point in next(layer["data"]["values"] for layer in spec["layer"] if layer["mark"].get("type") == "line"):
        joined.setdefault((point["series"], point["segment"]), []).append(point["x"])
    assert joined == {("hot, near", 0): [1, 2, 4, 8], ("hot, far", 0): [1, 2], ("hot, far", 1): [8]}
