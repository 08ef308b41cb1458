"""What the report says of messages: on the page, in the terminal, before any figure where the way was another."""

import dataclasses
import io
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console
from tests.simulation import EPYC_7601, simulated_run
from tests.unit.report_example import Example

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.model.quantity import exact
from assay.plan import Options
from assay.report import html, messages, provenance, terminal
from assay.report.section import Figure, Section, Table
from assay.report.sections import sections
from assay.simulation import Law, Link

pytestmark = pytest.mark.usefixtures("undrawn")

FAST = Link(1.5e-6, 12e9, 12e9, duplex=2.0, gap_s=0.0, eager_bytes=8192, rendezvous_s=2e-6)
SLOW = Link(25e-6, 0.117e9, 0.117e9, duplex=1.0, gap_s=0.0)
LAW = Law(links={**Law().links, "mlx5_0:1": FAST, "eth0": SLOW})
NETWORKS = {"ib": "mlx5_0:1", "gbe": "eth0"}
SIZES = (0, 8, 1024, 65536)
STUDY = Study(
    "Messages",
    "How fast?",
    (
        Measure(
            "pt2pt", ("pair:other-node", "pair", "pair:other-socket"), axes={"pattern": "latency", "bytes": SIZES}
        ),
        Measure(
            "pt2pt",
            ("pair:other-node", "pair"),
            axes={"pattern": ("bandwidth", "bidirectional"), "bytes": (8, 1024, 65536)},
        ),
        Measure("tcp", ("pair:other-node",), axes={"pattern": "latency", "bytes": SIZES}),
    ),
    launches=3,
)
MANY = Study(
    "Many",
    "How much?",
    (
        Measure(
            "pt2pt",
            ("all:numa:*@2", "all:socket:*@2", "all@2", "one-core@2", "spread:2@2", "spread:4@2"),
            axes={"pattern": ("multi-bandwidth", "multi-latency"), "bytes": (8, 65536)},
        ),
        Measure(
            "collective",
            ("all@2", "spread:4@2"),
            axes={"operation": ("allreduce", "bcast"), "bytes": (8, 1024, 65536)},
        ),
    ),
    launches=3,
)


ONE_MPI = Options(hosts=("n1", "n2"), networks=NETWORKS, launches=3)


def example(folder: Path, law: Law = LAW, study: Study = STUDY, options: Options | None = None) -> Example:
    options = options or Options(hosts=("n1", "n2"), networks=NETWORKS, mpis=("openmpi", "mpich"), launches=3)
    run = store.load(simulated_run(folder, law, description=EPYC_7601, study=study, options=options))
    return Example(run, analyse(run))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Example:
    return example(tmp_path_factory.mktemp("messages"))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Example:
    return example(tmp_path_factory.mktemp("many"), study=MANY, options=ONE_MPI)


@pytest.fixture(scope="module")
def written(here: Example) -> dict[str, Section]:
    return {section.id: section for section in sections(here.run, here.analysis)}


def small(*placements: str, **axes: Any) -> Study:  # noqa: ANN401 (values of axes)
    return Study("Messages", "How fast?", (Measure("pt2pt", placements, axes=axes),), launches=3)


def printed(example: Example, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    terminal.render(example.run, example.analysis, Console(file=stream, width=200))
    stream.flush()
    return raw.getvalue().decode(encoding)


def row(table: Table, *starts: str) -> tuple[str, ...]:
    (found,) = (cells for cells in table.rows if all(start in cells for start in starts))
    return found


def values(figure: Figure) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = figure.spec["data"]["values"]
    return found


def number(cell: str) -> float:
    found = re.match(r"[\d.]+", cell)
    assert found, cell
    return float(found[0])


def test_every_direction_is_said(written: dict[str, Section]) -> None:
    drawn_section = written["messages"]
    text = " ".join([*drawn_section.meaning, *(figure.caption for figure in drawn_section.figures)])
    assert "The one-way time is half of a round trip" in text
    for figure in drawn_section.figures:
        assert re.search("one way|one direction|both directions added", figure.caption), figure.caption
    for headline in drawn_section.headlines:
        assert re.search("one way|one direction|both directions added", headline.label), headline.label


def test_both_directions_stand_over_one_with_ends(written: dict[str, Section]) -> None:
    table = next(each for each in written["messages"].tables if each.caption.startswith("Both directions"))
    for network, duplex in (("ib", 2.0), ("gbe", 1.0)):
        cell = row(
            table,
            "two nodes",
            f"openmpi, network {network}" if "MPI" not in table.rows[0][1] else f"MPI, openmpi, network {network}",
        )[-1]
        ends = re.fullmatch(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)", cell)
        assert ends
        middle, low, high = map(float, ends.groups())
        assert middle == pytest.approx(duplex, rel=0.02)
        assert low <= middle <= high


def test_no_chart_has_more_series_than_can_be_told_apart_and_none_is_lost(
    here: Example, written: dict[str, Section]
) -> None:
    for pattern in ("latency", "bandwidth", "bidirectional"):
        drawn = [f for f in written["messages"].figures if f.id.startswith(f"figure-messages-{pattern}")]
        assert drawn
        for figure in drawn:
            assert len({value["series"] for value in values(figure)}) <= messages.MOST_SERIES
        points = sum(len(values(figure)) for figure in drawn)
        estimates = messages.of_patterns(here.analysis, (pattern,))
        assert points == sum(e.median is not None and e.params["bytes"] != 0 for e in estimates)


def test_an_empty_message_is_in_the_table_and_not_on_a_logarithmic_axis(written: dict[str, Section]) -> None:
    latency = [f for f in written["messages"].figures if f.id.startswith("figure-messages-latency")]
    assert all(value["x"] > 0 for figure in latency for value in values(figure))
    assert all("0 B does not fit" in figure.caption for figure in latency)
    tables = [
        table for table in written["messages"].tables if table.caption.startswith("Ping-pong latency, one way")
    ]
    assert all(table.rows[0][0] == "0 B" for table in tables)
    assert all(
        re.search(r"\[|to|n=", cell) for table in tables for cells in table.rows for cell in cells[1:] if cell
    )


def test_many_pairs_have_a_row_for_each_numa_node_socket_and_whole_nodes(many: Example) -> None:
    written = {section.id: section for section in sections(many.run, many.analysis)}
    table, counted = written["many-pairs"].tables
    named = [cells[0] for cells in table.rows]
    for name in (*(f"NUMA node {k}, n1 – n2" for k in range(8)), "socket 1, n1 – n2", "all cores, n1 – n2"):  # noqa: RUF001
        assert named.count(name) == 2, name  # two networks
    ranks = {cells[0]: cells[2] for cells in table.rows}
    assert ranks["NUMA node 3, n1 – n2"] == "8"  # noqa: RUF001
    assert ranks["socket 0, n1 – n2"] == "32"  # noqa: RUF001
    assert ranks["all cores, n1 – n2"] == "64"  # noqa: RUF001
    best = row(table, "all cores, n1 – n2", "network ib")  # noqa: RUF001
    assert number(best[3]) == pytest.approx(12.0, rel=0.02)
    assert "Messages a second, 8 B" in table.columns
    assert {cells[0] for cells in counted.rows} == {"2 cores spread, n1 – n2", "4 cores spread, n1 – n2"}  # noqa: RUF001


def test_operations_are_drawn_by_the_number_of_ranks(many: Example) -> None:
    written = {section.id: section for section in sections(many.run, many.analysis)}
    drawn_section = written["collective"]
    assert {figure.caption.split(",")[0] for figure in drawn_section.figures} == {"Allreduce", "Bcast"}
    series = {value["series"] for figure in drawn_section.figures for value in values(figure)}
    assert any(name.startswith("128 ranks") for name in series)
    assert any(name.startswith("8 ranks") for name in series)


def test_ranks_with_several_cpus_each_are_counted_and_not_their_cpus(tmp_path: Path) -> None:
    measure = Measure("collective", ("2x2@2",), axes={"operation": "allreduce", "bytes": (8, 1024, 65536)})
    laid_out = example(tmp_path, study=Study("Layout", "How fast?", (measure,), launches=3), options=ONE_MPI)
    drawn_section = next(each for each in sections(laid_out.run, laid_out.analysis) if each.id == "collective")
    assert {value["series"].split(",")[0] for value in values(drawn_section.figures[0])} == {"4 ranks"}


def test_the_way_is_proven_for_each_network(written: dict[str, Section]) -> None:
    (table,) = written["transport"].tables
    ways = {cells[2]: cells[4] for cells in table.rows if cells[0] == "two nodes"}
    assert ways == {"mlx5_0:1": "mlx5_0:1 104 %", "eth0": "eth0 104 %"}
    inside = next(cells for cells in table.rows if cells[0] == "two near cores")
    assert inside[3:5] == ("1", "none: through memory")


def test_the_library_and_what_can_change_its_ways_are_in_the_provenance(here: Example) -> None:
    table = next(each for each in provenance.provenance(here.run) if each.caption.startswith("MPI libraries"))
    assert ("default/mpich", "library", "Simulated MPI 1.0") in table.rows
    assert ("default/openmpi", "network", "mlx5_0:1") in table.rows


def test_a_terminal_reads_as_a_person_speaks(here: Example) -> None:
    text = printed(here)
    latency = r"latency, one way, 8 B +two nodes +"
    assert re.search(latency + r"MPI, openmpi, network ib +1\.\d+ µs +1\.\d+ to 1\.\d+ +3", text)
    assert re.search(latency + r"TCP, mpich, network gbe +\d+ µs", text)
    assert re.search(r"bandwidth, one direction, at 64 KiB +two near cores +MPI, mpich +[\d.]+ GB/s", text)
    assert "bandwidth, both directions added, at 64 KiB" in text
    assert "pattern" not in text.partition("Point-to-point messages")[2].partition("[a, b]")[0]


def test_bandwidth_is_told_of_the_largest_message_even_where_a_smaller_one_was_faster(here: Example) -> None:
    raised = tuple(
        msgspec.structs.replace(e, value=exact(1e12, "B/s"))
        if e.params.get("bytes") == 1024 and e.unit == "B/s"
        else e
        for e in here.analysis.estimates
    )
    there = Example(here.run, msgspec.structs.replace(here.analysis, estimates=raised))
    assert any(e.median == 1e12 for e in raised)
    assert re.search(r"bandwidth, one direction, at 64 KiB +two near cores", printed(there))
    drawn_section = next(each for each in sections(there.run, there.analysis) if each.id == "messages")
    sizes = {messages.size(line.estimate) for line in drawn_section.headlines if "andwidth" in line.label}
    assert sizes == {65536}


def test_a_terminal_leaves_numbers_of_cores_to_the_page(many: Example) -> None:
    text = printed(many)
    assert "socket 1, n1 – n2" in text  # noqa: RUF001
    assert "2 cores spread" not in text.partition("Many pairs at once")[2].partition("[a, b]")[0]
    assert "4 more numbers of cores: assay report" in text


def test_the_message_is_named_where_8_bytes_were_not_measured(tmp_path: Path) -> None:
    there = example(tmp_path, study=small("pair:other-node", bytes=(1024, 4096)))
    assert re.search(r"latency, one way, 1 KiB +two nodes", printed(there))


def test_one_machine_is_said_before_any_figure(tmp_path: Path) -> None:
    there = example(
        tmp_path,
        dataclasses.replace(LAW, one_kernel=True),
        small("pair:other-node", bytes=65536),
        Options(hosts=("n1", "n2")),
    )
    claim = "The nodes n1 and n2 are one machine"
    text, page = printed(there), html.render(there.run, there.analysis)
    assert text.index(claim) < text.index("Point-to-point messages")
    assert text.count(claim) == 1
    start = page.index('<section id="summary"')
    assert start < page.index(claim, start) < page.index('class="headlines', start)
    assert "1 for 2 nodes" in page


def test_another_way_than_asked_is_said_before_any_figure(tmp_path: Path) -> None:
    there = example(
        tmp_path,
        dataclasses.replace(LAW, detours={"eth0": "eth1"}),
        small("pair:other-node", bytes=65536),
        Options(hosts=("n1", "n2"), networks={"gbe": "eth0"}),
    )
    claim = "Messages should use eth0 but did not"
    text, page = printed(there), html.render(there.run, there.analysis)
    assert text.index(claim) < text.index("Point-to-point messages")
    start = page.index('<section id="summary"')
    assert claim in page[start : page.index('class="headlines', start)]


def test_a_healthy_way_has_no_notice(here: Example) -> None:
    assert '<p class="notice">' not in html.render(here.run, here.analysis)


def test_ascii_terminals_lose_nothing(here: Example) -> None:
    text = printed(here, "ascii")
    assert "?" not in text.partition("Point-to-point messages")[2].partition("[a, b]")[0]


@pytest.mark.parametrize(("label", "hosts", "said"), [
    ("pair:other-node", 2, "two nodes"),
    ("all:numa:3@4", 4, "NUMA node 3, 4 nodes"),
    ("half:socket:0@2", 2, "half of socket 0, a – b"),  # noqa: RUF001
    ("one-core:near-nic@2", 2, "two nodes, cores near the card"),
    ("all:socket:0", 1, "in socket 0"),
    ("all", 1, "all cores of a node"),
    ("cores:1@2", 2, "1 core, a – b"),  # noqa: RUF001
])  # fmt: skip
def test_partners_are_named_without_placement_words(here: Example, label: str, hosts: int, said: str) -> None:
    any_one = here.analysis.estimates[0]
    names = ("a", "b", "c", "d")[:hosts]
    placed = msgspec.structs.replace(any_one.placement, label=label, hosts=names)
    assert messages.where(msgspec.structs.replace(any_one, placement=placed)) == said


def one_message(here: Example) -> Section:
    return next(each for each in sections(here.run, here.analysis) if each.id == "one-message")


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> Example:
    sizes: tuple[int, ...] = tuple(2**power for power in range(0, 23, 2))
    study = Study(
        "Sheet",
        "How fast is one message?",
        (
            Measure("pt2pt", ("pair:other-node", "pair"), axes={"pattern": "latency", "bytes": (0, *sizes)}),
            Measure(
                "tcp",
                ("pair:other-node", "pair"),
                axes={"pattern": "latency", "waiting": ("polling", "blocking"), "bytes": sizes},
            ),
            Measure("memcpy", ("one-core",), axes={"buffers": ("hot", "cold"), "bytes": (*sizes, 2**26)}),
        ),
        launches=3,
    )
    options = Options(hosts=("n1", "n2"), networks=NETWORKS, launches=3)
    return example(tmp_path_factory.mktemp("sheet"), study=study, options=options)


def test_mpi_tcp_and_memcpy_stand_on_one_sheet(sheet: Example) -> None:
    rate, signature = one_message(sheet).figures
    drawn = {value["series"] for value in values(rate)}
    assert drawn == {
        *(f"two nodes, {by}, network {network}" for by in ("MPI", "TCP") for network in NETWORKS),
        *(f"two near cores, {by}" for by in ("MPI", "TCP")),
        *(f"memcpy, {kind} buffers" for kind in ("hot", "cold")),
    }
    assert {value["series"] for value in values(signature)} == {each for each in drawn if "memcpy" not in each}
    # A message is never beside copies larger than any message.
    assert max(value["x"] for value in values(rate)) == 2**22


def test_the_rate_of_one_message_is_its_size_over_its_one_way_time(sheet: Example) -> None:
    rate, signature = one_message(sheet).figures
    series, size = "two nodes, MPI, network gbe", 2**20
    (time,) = [
        e
        for e in messages.of_patterns(sheet.analysis, ("latency",))
        if e.benchmark == "pt2pt" and e.factors.get("network") == "gbe" and messages.size(e) == size
    ]
    assert time.median
    assert time.lo
    assert time.hi
    (point,) = [v for v in values(rate) if v["series"] == series and v["x"] == size]
    unit = point["value"] / (size / time.median)  # of the axis
    assert [point[name] / unit for name in ("lo", "value", "hi")] == pytest.approx(
        [size / time.hi, size / time.median, size / time.lo]
    )
    at = {round(v["x"], 6): v for v in values(signature) if v["series"] == series}
    assert round(1e6 * time.median, 6) in at


def test_no_two_series_of_a_sheet_look_alike(sheet: Example) -> None:
    for figure in one_message(sheet).figures:
        point = next(each for each in figure.spec["layer"] if each["mark"]["type"] == "point")["encoding"]
        looks = list(zip(point["color"]["scale"]["range"], point["shape"]["scale"]["range"], strict=True))
        assert len(set(looks)) == len(looks)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Example:
    """16 curves of one pattern: every way of calling, two kinds of buffers, two networks."""
    measure = Measure(
        "pt2pt",
        ("pair:other-node",),
        axes={
            "pattern": "latency",
            "buffers": ("hot", "cold"),
            "calls": ("nonblocking", "blocking", "persistent", "synchronous"),
            "bytes": (8, 1024, 65536),
        },
    )
    study = Study("Wide", "How fast?", (measure,), launches=2)
    options = Options(hosts=("n1", "n2"), networks=NETWORKS, launches=2)
    return example(tmp_path_factory.mktemp("wide"), study=study, options=options)


def test_many_curves_are_split_by_an_axis_and_not_one_by_one(wide: Example) -> None:
    (section,) = (each for each in sections(wide.run, wide.analysis) if each.id == "messages")
    latencies = [figure for figure in section.figures if figure.id.startswith("figure-messages-latency")]
    assert len(latencies) == 4
    assert len({figure.caption for figure in latencies}) == 4


def test_a_sheet_of_too_many_curves_shows_the_usual_messages(wide: Example) -> None:
    (sheet,) = (each for each in sections(wide.run, wide.analysis) if each.id == "one-message")
    rate, signature = sheet.figures
    assert "cold" not in rate.result
    assert "ib" in rate.result
    assert "gbe" in rate.result
    assert signature.id == "figure-one-message-signature"


def test_of_many_comparisons_the_page_lists_those_that_claim_something(
    wide: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "_COMPARED", 3)
    page = html.render(wide.run, wide.analysis)
    assert "This list shows 3 of them" in page
    monkeypatch.setattr(html, "_COMPARED", 10_000)
    assert "of them, the largest" not in html.render(wide.run, wide.analysis).partition('id="strings"')[0]


def test_few_sizes_make_no_sheet(many: Example) -> None:
    assert not [each for each in sections(many.run, many.analysis) if each.id == "one-message"]
