"""The sections of a node: what they draw is what the simulated machine's laws say."""

import io
import itertools
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console
from tests.simulation import simulated_run
from tests.unit.report_example import Example
from tests.unit.report_node import LAW, MEMORY, VARIED, node

from assay import store
from assay.analyse import analyse
from assay.model.comparison import Lack
from assay.model.law import Unfitted
from assay.plan import Options
from assay.report import html, terminal, vega, verdicts
from assay.report.charts.heatmap import Cell, heatmap
from assay.report.formatting import interval, percent
from assay.report.section import Figure, Section, Table
from assay.report.sections import sections
from assay.topics.comparisons.sections import varied as varied_section
from assay.topics.health.sections import noise
from assay.topics.memory.sections import touch

_IDS = {
    "memory-bandwidth", "saturation", "first-touch", "memory-nodes", "load-latency", "loaded-latency", "copy-rate",
    "flops", "roofline", "himeno", "core-to-core", "noise", "scaling",
}  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Example:
    return node(tmp_path_factory.mktemp("node"))


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Example:
    return node(tmp_path_factory.mktemp("varied"), VARIED, MEMORY)


@pytest.fixture(scope="module")
def written(here: Example) -> dict[str, Section]:
    return {section.id: section for section in sections(here.run, here.analysis)}


def _rows(figure: Figure) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = figure.spec["data"]["values"]
    return rows


def _layers(figure: Figure, key: str) -> list[dict[str, Any]]:
    """Rows of the layers that have data of their own with this key."""
    found = [layer["data"]["values"] for layer in figure.spec["layer"] if "data" in layer]
    return [row for rows in found for row in rows if key in row]


def _table(section: Section, start: str) -> Table:
    return next(table for table in section.tables if table.caption.startswith(start))


def test_every_topic_of_a_node_has_its_section(written: dict[str, Section]) -> None:
    assert set(written) == _IDS


def test_every_figure_is_drawn_has_its_intervals_and_is_told_in_words(written: dict[str, Section]) -> None:
    for section in written.values():
        for figure in section.figures:
            assert "<svg" in vega.svg(figure.spec, "f-")
            assert len(figure.caption) > 40
            assert re.search(r"\d", figure.result)
            for row in _rows(figure):
                if "lo" in row:
                    assert row["lo"] <= row["value"] <= row["hi"], figure.id
                    assert row["basis"], figure.id
                if {"row", "column"} <= set(row):
                    assert "interval" in row["basis"]


def test_every_figure_has_a_table_with_the_same_estimates(written: dict[str, Section]) -> None:
    for section in written.values():
        if section.figures:
            assert section.estimates or section.tables, section.id


def test_the_staircase_has_the_steps_that_the_caches_have(written: dict[str, Section]) -> None:
    (figure,) = written["load-latency"].figures
    steps = {step["label"]: step for step in _layers(figure, "end") if step["label"]}
    levels = {label.split("  ")[0]: 1e-9 * step["y"] for label, step in steps.items()}
    for level, seconds in (("L1", LAW.load_s[1]), ("L2", LAW.load_s[2]), ("memory", LAW.memory_load_s)):
        assert levels[level] == pytest.approx(seconds, rel=0.12)
    lines = {line["label"]: line["x"] for line in _layers(figure, "short")}
    assert lines["L1 = 32 KiB"] == 2**15
    held = {label.partition(" holds ")[0]: x for label, x in lines.items() if " holds " in label}
    assert held["TLB"] == pytest.approx(LAW.tlb_bytes, rel=0.2)
    assert held["L1"] == pytest.approx(2**15, rel=0.3)
    assert {line["measured"] for line in _layers(figure, "short") if line["label"].startswith("L1 = ")} == {False}
    (second,) = [
        layer["encoding"]["y"]["axis"]
        for layer in figure.spec["layer"]
        if layer["mark"]["type"] == "point" and layer["mark"].get("opacity") == 0
    ]
    cycles_a_ns = float(second["labelExpr"].split("* ")[1].partition(",")[0])
    assert second["orient"] == "right"
    assert cycles_a_ns == pytest.approx(1e-9 * LAW.clock_hz, rel=0.05)
    names = [row[:2] for row in _table(written["load-latency"], "Levels").rows]
    assert ("huge pages", "memory") in names
    assert ("small pages", "L3") in names


def test_the_saturation_point_is_the_fewest_cores_that_reach_it(written: dict[str, Section]) -> None:
    (figure,) = written["saturation"].figures
    marks = {mark["series"]: mark for mark in _layers(figure, "label") if "series" in mark}
    series = {name: list(rows) for name, rows in itertools.groupby(_rows(figure), lambda row: row["series"])}
    assert set(marks) == set(series)
    for name, rows in series.items():
        top = max(row["value"] for row in rows)
        assert marks[name]["x"] == min(row["x"] for row in rows if row["value"] >= 0.95 * top)
        assert marks[name]["lo"] <= marks[name]["x"] <= marks[name]["hi"]
        assert marks[name]["label"] in figure.result


def test_a_matrix_has_every_cell_its_ratio_to_local_and_its_distance(written: dict[str, Section]) -> None:
    for figure in written["memory-nodes"].figures:
        cells = {(cell["row"], cell["column"]): cell for cell in _rows(figure)}
        assert set(cells) == set(itertools.product("01", repeat=2))
        assert {cells[name]["note"] for name in cells if name[0] != name[1]} == {"distance 21"}
        assert {cells[name]["ratio"] for name in cells if name[0] == name[1]} == {"×1.00"}  # noqa: RUF001
    far = [cell["ratio"] for cell in _rows(written["memory-nodes"].figures[0]) if cell["row"] != cell["column"]]
    assert all(float(ratio[1:]) == pytest.approx(LAW.remote, abs=0.01) for ratio in far)


def test_the_matrix_is_held_against_the_distances_that_firmware_gives(written: dict[str, Section]) -> None:
    rows = [row[1:3] for row in _table(written["memory-nodes"], "Classes").rows]
    assert rows.count(("same node", "10")) == rows.count(("other socket", "21")) == 2
    assert "Kendall" in written["memory-nodes"].meaning[1]


def test_the_published_table_has_two_rows_and_the_paired_ratio(written: dict[str, Section]) -> None:
    table = _table(written["first-touch"], "Himeno without a memory option and with interleave")
    assert table.columns == ("Option", "MFLOPS", "Interval", "Launches", "Ratio", "Its interval", "Pairs")
    assert [row[0] for row in table.rows] == ["none", "interleave"]
    none, interleaved = (float(row[1].replace(",", "")) for row in table.rows)
    ratio = float(table.rows[1][4])
    lo, hi = map(float, re.findall(r"\d+\.\d+", table.rows[1][5]))
    assert ratio == pytest.approx(interleaved / none, rel=0.02)
    assert ratio == pytest.approx(2.0, rel=0.02)  # the memory of two nodes in place of one
    assert lo <= ratio <= hi
    assert {row[3] for row in table.rows} == {table.rows[1][6]} == {"6"}
    assert table.note == "The ratio comes from launches paired by block. It is not the ratio of the two medians."


def test_one_pair_has_no_interval_and_one_memory_node_promises_a_ratio_of_one(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, study="interleave", options=Options(launches=1)))
    table, slowest = touch.declared.tables(run, analyse(run))
    assert slowest.rows
    assert [row[2:4] for row in table.rows] == [("no interval", "1")] * 2
    assert table.rows[1][5:] == ("one pair, no interval", "1")
    assert table.note.endswith("the expected ratio is 1.")


def test_two_pairs_have_a_range_and_prove_nothing(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, study="interleave", options=Options(launches=2)))
    table, slowest = touch.declared.tables(run, analyse(run))
    assert slowest.rows
    assert table.columns[5:] == ("Its range", "Pairs")
    assert "2 pairs are too few for an interval: a ratio needs 6." in table.note


def test_arithmetic_is_one_heat_map_of_operations_a_cycle(here: Example, written: dict[str, Section]) -> None:
    (figure,) = written["flops"].figures
    points = [
        point for model in here.analysis.models if model.law == "operations-per-cycle" for point in model.points
    ]
    assert sorted(row["value"] for row in _rows(figure)) == pytest.approx(
        sorted(each.value.value for each in points)
    )
    cells = {(row["row"], row["column"]) for row in _rows(figure)}
    assert len(cells) == len(points) > 1


def test_the_latency_under_load_stands_against_the_share_of_the_limit(
    here: Example, written: dict[str, Section]
) -> None:
    (figure,) = written["loaded-latency"].figures
    loads = [e for e in here.analysis.estimates if e.benchmark == "loaded_latency" and e.unit == "B/s" and e.limit]
    shares = [100 * (e.median or 0.0) / e.limit.value for e in loads if e.limit]
    assert max(row["x"] for row in _rows(figure)) == pytest.approx(max(shares), rel=0.01)
    assert "(%)" in figure.spec["layer"][0]["encoding"]["x"]["axis"]["title"]


def test_a_slow_and_a_disturbed_launch_are_seen_where_they_were(
    here: Example, written: dict[str, Section]
) -> None:
    healthy = {figure.id: figure for figure in written["noise"].figures}
    assert max(row["value"] for row in _rows(healthy["figure-launches"])) < 1.5
    assert {row["state"] for row in _rows(healthy["figure-timeline"])} == {"quiet"}
    slow = here.run.launches[7]
    series = [
        msgspec.structs.replace(each, seconds=[5 * s for s in each.seconds]) for each in slow.cases[0].series
    ]
    bracket = msgspec.structs.replace(slow.launch.bracket, foreign=0.5)
    planted = msgspec.structs.replace(
        slow,
        launch=msgspec.structs.replace(slow.launch, bracket=bracket),
        cases=(msgspec.structs.replace(slow.cases[0], series=tuple(series)), *slow.cases[1:]),
    )
    launches = tuple(planted if each is slow else each for each in here.run.launches)
    run = msgspec.structs.replace(here.run, launches=launches)
    section = noise.declared.section(run, analyse(run))
    assert section
    found = {figure.id: figure for figure in section.figures}
    (far,) = [row for row in _rows(found["figure-launches"]) if row["value"] > 3]
    assert far["value"] == pytest.approx(5, rel=0.2)
    assert far["launch"] == slow.launch.id
    assert far["series"] == str(slow.launch.block + 1)
    (disturbed,) = [row for row in _rows(found["figure-timeline"]) if row["state"] == "disturbed"]
    assert (disturbed["program"], disturbed["foreign"]) == (slow.launch.program, 50)
    clocks = [row["clock"] for row in _rows(found["figure-timeline"]) if row["clock"]]
    assert clocks == pytest.approx([1e-9 * LAW.clock_hz] * len(clocks), rel=0.1)
    assert found["figure-samples"].folded
    assert max(row["value"] for row in _rows(found["figure-samples"]) if row["share"] <= 50) < 1.5


def test_ways_of_touching_memory_stand_in_one_figure(written: dict[str, Section]) -> None:
    figure = next(f for f in written["first-touch"].figures if "triad" in f.id)
    points = {(row["row"], row["series"]): row["value"] for row in _rows(figure)}
    serial = "ordinary stores, serial touch"
    assert points["interleaved", serial] > points["first touch", serial]
    assert not {row for row, _ in points if row.startswith("on node")}


def test_a_roof_meets_the_peak_at_its_ridge_and_no_kernel_stands_above(written: dict[str, Section]) -> None:
    for figure in written["roofline"].figures:
        ends = _layers(figure, "roof")
        peak = max(row["value"] for row in ends)
        bandwidth = {
            roof: max(row["value"] / row["intensity"] for row in rows)
            for roof, rows in itertools.groupby(ends, lambda row: row["roof"])
        }
        assert "memory" in bandwidth
        for row in ends:
            assert row["value"] == pytest.approx(min(peak, row["intensity"] * bandwidth[row["roof"]]))
        names = {row["label"] for row in _rows(figure)}
        assert {"scale", "add", "triad"} <= names
        for row in _rows(figure):
            assert row["value"] <= 1.02 * min(peak, row["intensity"] * bandwidth["memory"])
    assert any("himeno L" in figure.result for figure in written["roofline"].figures)


def test_the_ledger_shows_band_measurement_and_error(here: Example, written: dict[str, Section]) -> None:
    figure = next(figure for figure in written["himeno"].figures if figure.id == "figure-ledger")
    assert len(_rows(figure)) == len(here.analysis.predictions) == 3
    for row, line in zip(_rows(figure), here.analysis.predictions, strict=True):
        assert row["band"][0] / row["value"] == pytest.approx(line.predicted.lo / line.value.value)
        assert row["band"][1] / row["value"] == pytest.approx(line.predicted.hi / line.value.value)
        assert ("overlaps the band" in row["text"]) == (line.error == 0)
    wrong = msgspec.structs.replace(here.analysis.predictions[0], error=-0.25)
    analysis = msgspec.structs.replace(here.analysis, predictions=(wrong,))
    section = next(each for each in sections(here.run, analysis) if each.id == "himeno")
    assert "0 of 1 prediction holds" in section.meaning[0]
    table = _table(section, "Predictions")
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["Gap"] == "-25.0 %"
    assert row["Width"] == percent(2 * wrong.half_width)
    assert wrong.score is not None
    assert row["Score"] == percent(wrong.score)
    assert row["From the middle"] == f"{100 * wrong.deviation:+.1f} %"
    assert row["Predicted"] == interval(wrong.predicted, "").short
    assert len(row) == 7
    stated = msgspec.structs.replace(wrong, states=("near", "far"))
    analysis = msgspec.structs.replace(here.analysis, predictions=(stated,))
    (section,) = (each for each in sections(here.run, analysis) if each.id == "himeno")
    table = _table(section, "Predictions")
    assert dict(zip(table.columns, table.rows[0], strict=True))["States: sources, figure"] == "near, far"


def test_all_pairs_of_cores_make_a_symmetric_matrix(written: dict[str, Section]) -> None:
    (figure,) = written["core-to-core"].figures
    cells = {(cell["row"], cell["column"]): cell["value"] for cell in _rows(figure)}
    assert len(cells) == 8 * 7
    assert all(cells[column, row] == value for (row, column), value in cells.items())
    assert "sample" not in figure.caption
    kinds = {row[0]: row[1] for row in _table(written["core-to-core"], "Cache-line transfer").rows}
    assert kinds == {"same L3": "12", "other socket": "16"}


def test_a_sample_of_pairs_says_that_it_is_one(here: Example) -> None:
    (model,) = (model for model in here.analysis.models if model.law == "core-to-core")
    fewer = msgspec.structs.replace(model, points=model.points[::3], of=model.of[::3])
    analysis = msgspec.structs.replace(here.analysis, models=(fewer,))
    section = next(each for each in sections(here.run, analysis) if each.id == "core-to-core")
    assert f"{len(fewer.points)} of the 28 pairs" in section.figures[0].caption


def test_latency_under_load_rises_with_the_bandwidth_beside_it(written: dict[str, Section]) -> None:
    (figure,) = written["loaded-latency"].figures
    points = sorted(_rows(figure), key=lambda row: row["number"])
    assert [row["x"] for row in points] == sorted(row["x"] for row in points)
    assert points[-1]["value"] / points[0]["value"] == pytest.approx(LAW.load_queue, rel=0.05)
    assert all(row["x_lo"] <= row["x"] <= row["x_hi"] for row in points)


def test_the_clock_is_told_alone_and_beside_the_work(written: dict[str, Section]) -> None:
    rows = {row[0]: row[1] for row in _table(written["flops"], "Clock").rows}
    assert {"all, alone", "all, during the work", "one-core, alone", "one-core, during the work"} <= set(rows)
    assert all(text.startswith(("2.9", "3.0")) for name, text in rows.items() if "(a fact)" not in name)


def test_what_was_varied_stands_with_margin_verdict_and_resolution(varied: Example) -> None:
    section = next(each for each in sections(varied.run, varied.analysis) if each.id == "comparisons")
    (figure,) = section.figures
    known = {e.id: e for e in varied.analysis.estimates}
    of_speeds = [verdicts.speeds(c, known[c.a].better) for c in varied.analysis.comparisons if c.varied]
    compared = {c.ratio: c for c in of_speeds if c.differ != "control"}
    assert {row["value"] for row in _rows(figure)} == set(compared)
    for row in _rows(figure):
        comparison = compared[row["value"]]
        assert (row["lo"], row["hi"]) == (comparison.lo, comparison.hi)
        assert row["band"][1] == pytest.approx(1 + comparison.margin)
        assert row["text"].endswith(comparison.verdict)
    resolutions = [c.resolution for c in varied.analysis.comparisons if c.varied and c.resolution is not None]
    assert f"{percent(max(resolutions))} in the worst" in section.meaning[1]
    controls = [c for c in varied.analysis.comparisons if c.differ == "control"]
    assert len(_table(section, "A against A").rows) == len(controls) > 0
    assert len(_table(section, "Comparisons").rows) == len(compared)


@pytest.mark.usefixtures("undrawn_here")
def test_a_law_that_could_not_be_fitted_says_why(here: Example) -> None:
    why = "1 number of cores: a curve needs 2"
    failed = Unfitted(id="saturation/compact", of=(), wanted="saturation", reason=why)
    kept = tuple(model for model in here.analysis.models if model.law != "saturation")
    page = html.render(here.run, msgspec.structs.replace(here.analysis, models=(*kept, failed)))
    assert "Models that could not be fitted" in page
    assert "1 number of cores: a curve needs 2" in page
    assert 'id="saturation"' not in page


def test_without_models_nothing_of_them_is_drawn(here: Example) -> None:
    bare = msgspec.structs.replace(here.analysis, models=(), predictions=(), comparisons=())
    found = {section.id for section in sections(here.run, bare)}
    assert not found & {"saturation", "memory-nodes", "roofline", "comparisons"}
    assert {"load-latency", "core-to-core", "flops", "himeno"} <= found


def _printed(example: Example) -> str:
    console = Console(width=80, markup=False, highlight=False, file=io.StringIO())
    with console.capture() as captured:
        terminal.render(example.run, example.analysis, console)
    return captured.get()


def test_the_terminal_tells_the_same_topics_in_eighty_columns(here: Example) -> None:
    text = _printed(here)
    assert max(map(len, text.splitlines())) <= 80
    headings = (
        "Himeno without a memory option", "Saturation", "Classes of pairs", "Levels of the load latency", "Roofs",
        "Memory latency without load", "Best rate", "Clock of the cores", "Predictions", "Cache-line transfer",
    )  # fmt: skip
    for heading in headings:
        assert f"\n{heading}" in text, heading
    assert re.search(r"none +[\d,]+ +\[[\d,]+, [\d,]+\] +6 +1 +the base *\n", text)
    assert re.search(r"interleave +[\d,]+ +\[[\d,]+, [\d,]+\] +6 +(1\.9|2\.0)\d+ +\[", text)
    assert not re.search(r"^  triad.* (cores|spread|all:numa):\d", text, flags=re.MULTILINE)


def test_no_line_breaks_a_figure_of_a_table(here: Example) -> None:
    written = io.StringIO()
    terminal.render(here.run, here.analysis, Console(file=written, width=100))
    tables = written.getvalue().partition("\nFindings")[0].splitlines()
    assert any(re.search(r"\d \(\d+\.\d+ to \d+\.\d+\)", line) for line in tables)
    assert [line for line in tables if re.search(r"[(\[]\d[^)\]]*$", line.rstrip())] == []


def test_a_roofline_says_why_a_cache_has_no_roof(written: dict[str, Section]) -> None:
    (meaning,) = written["roofline"].meaning
    assert "No cache has a roof on “all”: memcpy" in meaning
    assert "On “one-core” no cache" not in meaning
    assert any(row[0].startswith("one-core: L") for row in _table(written["roofline"], "Roofs").rows)


def test_cells_of_a_matrix_hold_no_line_that_they_have_no_room_for() -> None:
    def lines(note: str, columns: int) -> list[tuple[str, bool]]:
        """Fields of the lines, and whether a phone shows them."""
        names = [f"{at}" for at in range(columns)]
        cells = [Cell(row, column, 1.0, "28.0", "", "", note=note) for row in names for column in names]
        marks = [each for each in heatmap(cells, ("a", "b", "c"))["layer"] if each["mark"]["type"] == "text"]
        return [(each["encoding"]["text"]["field"], "? 1" in each["mark"]["opacity"]["expr"]) for each in marks]

    assert lines("L3", 8) == [("text", True), ("note", True)]
    assert lines("same L3", 8) == [("text", True), ("note", False)]
    assert lines("other socket", 8) == [("text", True)]
    assert lines("distance 21", 2) == [("text", True), ("note", True)]


def test_levels_that_only_their_number_makes_inconclusive_say_so(tmp_path: Path) -> None:
    example = node(tmp_path, VARIED, MEMORY)
    lack = Lack(("among",), 2)
    unsure = tuple(
        msgspec.structs.replace(each, verdict="inconclusive", lack=lack) if each.varied else each
        for each in example.analysis.comparisons
    )
    analysis = msgspec.structs.replace(example.analysis, comparisons=unsure)
    section = varied_section.declared.section(example.run, analysis)
    assert section
    (reason,) = verdicts.silent(each for each in unsure if each.varied)
    assert "2 more blocks can decide" in reason
    assert reason in section.meaning[0]
