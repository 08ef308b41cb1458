"""Figures on no curve, in words: statements of the authors of the studies in their texts and small tables."""

import re
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner, Result
from tests.unit.test_compare_curves import FOUR, one_line, pasted, published, runs_beside, sentences_of

from assay.cli import assay
from assay.compare import charts, tables
from assay.compare.records import PLACE, PROGRAM, RUN
from assay.compare.statements import Kind, statements
from assay.model.plan import Measure, Study

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str) -> Result:
    result = CliRunner().invoke(assay, arguments)
    assert result.exit_code == 0, result.output
    return result


def first_page(*arguments: str) -> str:
    """The words of the page's first screen, and those that stand in sentences below."""
    page = Path(invoke("report", *arguments, "-o", "page.html").stdout.strip()).read_text("utf-8")
    parts = [
        each.partition("</section>")[0] for each in re.split(r'<section id="(?:summary|in-words|said)"', page)
    ]
    return one_line(re.sub(r"<[^>]+>", "", " ".join(parts[1:])))


TWO = ("cs-pccluster2", "vtpcc")
PARTS = ("machine", "provenance")
#: What the authors print, in their words as far as these are figures: (runs, figures that one sentence has).
STATED = [
    (("epyc-7601",), r"1\.99 times as fast as .{0,40}one direction.{0,9} 24\.7 GB/s against 12\.4 GB/s"),
    (("epyc-7601",), r"12\.1 to 12\.3 GB/s \(NUMA nodes 4, 5, 6 and 7, on the socket of the card\)"),
    (("epyc-7601",), r"6\.80 to 6\.90 GB/s \(NUMA nodes 0, 1, 2 and 3, on the other socket than the card\)"),
    (("vtpcc",), r"562 MB/s \(TCP\) and 312 MB/s \(MPI\).{0,60}MPI has 56 % of what TCP has"),
    (("vtpcc",), r"875 MB/s \(copies in memory\).{0,60}312 MB/s \(MPI\); the largest is 2\.80 times the smallest"),
    (("leo",), r"network SCI is 25\.0 times as fast as network Fast Ethernet; 250 MB/s against 10\.0 MB/s"),
    (("leo",), r"takes 35\.9 times as long with network Fast Ethernet as with network SCI, about 136 µs"),
    (("sci", "leo"), r"leo is 3\.00 times as fast as sci; 250 MB/s against 83\.3 MB/s"),
    (("sci", "leo"), r"takes 1\.50 times as long on sci as on leo, about 1\.9 µs more: 5\.85 µs against 3\.90 µs"),
    (TWO, r"vtpcc is 3\.00 times as fast as cs-pccluster2 \(.{0,20}Linux\); 93\.8 MB/s against 31\.2 MB/s"),
    (TWO, r"vtpcc is 2\.00 times as fast as cs-pccluster2 \(system Windows\); 100 MB/s against 50\.0 MB/s"),
]  # fmt: skip


@pytest.mark.parametrize(("runs", "line"), STATED, ids=[f"{' '.join(runs)} {line[:20]}" for runs, line in STATED])
def test_the_terminal_and_the_first_page_state_what_the_authors_conclude(runs: tuple[str, ...], line: str) -> None:
    assert re.search(line, one_line(invoke("compare", *runs).output))
    assert re.search(line, first_page(*runs))


def test_systems_without_a_common_figure_are_not_said_to_be_the_same() -> None:
    output = one_line(invoke("compare", *TWO).output)
    assert re.search(r"machine nodes of 1 Pentium IV .*8 nodes of 2 Xeon 2\.8 GHz", output)
    assert "are the same" not in output
    assert "95 % interval" not in output


@pytest.mark.parametrize(
    ("files", "title", "called"),
    [
        (("gbe_bw.txt", "gbe_latency.txt"), "", "gbe"),
        (("osu_bw.txt", "osu_latency.txt"), "", "osu_bw etc."),
        (("near.txt", "far.txt"), "", "near etc."),
        (("old.txt",), "", "old"),
        (("old.txt",), "Open MPI 4.1: TCP", "Open MPI 4.1: TCP"),
    ],
)
def test_an_import_is_called_by_its_title_or_in_short_by_its_files(
    home: Path, files: tuple[str, ...], title: str, called: str
) -> None:
    for at, name in enumerate(files):
        test, unit = (("Bandwidth", "MB/s"), ("Latency", "us"))[at]
        (home / name).write_text(f"# OSU MPI {test} Test v3.7\n# Size {test} ({unit})\n8 1.5\n64 1.7\n", "utf-8")
    run = invoke("import", "osu", *files, *(["--title", title] if title else [])).stdout.strip()
    page = Path(invoke("report", "hpcdiy-qdr", run, "-o", "page.html").stdout.strip()).read_text("utf-8")
    assert f"<title>InfiniBand QDR and {called} side by side" in page


def test_what_an_import_asks_to_repeat_is_between_its_nodes(home: Path) -> None:
    (home / "bw.txt").write_text(pasted(FOUR[0]), "utf-8")
    run = invoke("import", "osu", "bw.txt").stdout.strip()
    shown = one_line(invoke("show", run).output)
    assert re.search(r"next: assay run network --hosts hpc01,hpc02 --vary \w+=default,\d+ #", shown)


def test_messages_between_nodes_that_no_source_names_are_called_so_on_the_cards() -> None:
    page = first_page("leo")
    assert "Ping-pong latency, one way, 0 B, between nodes" in page
    assert "inside a node" not in page


def test_the_page_of_a_source_has_what_it_states_and_where_each_figure_stood() -> None:
    page = Path(invoke("report", "epyc-7601", "-o", "page.html").stdout.strip()).read_text("utf-8")
    machine, origin = (re.split(f'<section id="{each}"', page)[1].partition("</section>")[0] for each in PARTS)
    assert "AMD EPYC 7601" in machine
    assert "the paragraph below figure 4: four kinds of distance" in origin
    assert "Launches of each case" not in origin
    assert "<dt>Measured</dt>" not in page
    assert "Points are medians over launches" not in page
    assert "distance ()" not in page
    assert "median over launches" not in page.partition('<section id="methods"')[0]


@pytest.mark.parametrize("runs", [("hpcdiy-qdr", "hpcdiy-gbe"), ("hpcdiy-gbe", "hpcdiy-qdr")])
def test_the_line_of_equal_ones_lies_within_the_chart_of_ratios(runs: tuple[str, ...]) -> None:
    side = published(*runs)
    for curves in tables.groups(side).values():
        if pairs := tables.against_base(side, curves):
            figure = charts.ratio_curves(side, "title", "anchor", pairs)
            assert figure
            low, high = figure.spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
            found = [point.comparison.ratio for pair in pairs for point in pair.points if point.at]
            ratios = found if curves[0].better == "higher" else [1 / each for each in found]
            assert sorted(ratios) == pytest.approx(sorted(row["value"] for row in figure.spec["data"]["values"]))
            assert low < min(1.0, *ratios)
            assert high > max(1.0, *ratios)


def test_shares_of_others_are_in_percent_in_tables_and_on_cards_too() -> None:
    shown = one_line(invoke("show", "epyc-7601").output)
    assert re.search(r"triad, same socket all:numa:0 70 % no interval", shown)  # printed as 30 % lower
    assert re.search(r"EPYC 7601.{0,30} 100\.6 % no interval", shown)
    assert "launches disturbed" not in shown
    loss = r"bandwidth of remote memory over that of local memory, same socket .{0,99} 70 %"
    assert re.search(loss, first_page("epyc-7601"))


def test_nothing_without_samples_is_said_to_be_significant() -> None:
    output = one_line(invoke("compare", "epyc-7601").output)
    assert "faster" not in output
    assert "slower" not in output


def test_the_widest_difference_is_told_first_and_each_kind_of_figure_once_for_each_word() -> None:
    side = published("epyc-7601")
    ranks = []
    for each in side.found.contrasts:
        values = [side.estimate(run, name).median or 0.0 for run, name in each.of]
        assert values == sorted(values, reverse=True)
        ranks.append((side.estimate(*each.of[0]).unit in {"B/s", "s", "flop/s"}, values[0] / values[-1]))
    assert ranks == sorted(ranks, reverse=True)
    places = [each.of[0][1].split("/")[-1] for each in side.found.contrasts if each.differ == PLACE]
    assert len(places) == 2  # triad, and many pairs
    pairs = next(each for each in side.found.contrasts if each.differ == PLACE and "multi-" in each.of[0][1])
    assert len(pairs.of) == 12


def test_between_systems_comes_before_what_one_of_them_shows_alone() -> None:
    differ = [each.differ == RUN for each in published("sci", "leo").found.contrasts]
    assert differ == sorted(differ, reverse=True)
    assert sum(differ) >= 2


def test_rows_that_claim_nothing_wait_for_all_where_words_told_them_and_they_fill_screens() -> None:
    assert "all:numa:7@2 against all:numa:0@2 (base)" not in invoke("compare", "epyc-7601").output
    assert "assay compare epyc-7601 --all" in one_line(invoke("compare", "epyc-7601").output)
    assert "all:numa:7@2 against all:numa:0@2 (base)" in one_line(invoke("compare", "epyc-7601", "--all").output)


def test_what_was_measured_here_is_compared_by_launches_and_has_no_contrasts(home: Path) -> None:
    study = Study("Memory", "How fast?", (Measure("stream", ("all", "one-core")),), launches=2)
    side = runs_beside(home, study)
    assert side.found.shared
    assert side.found.contrasts == ()


def test_runs_are_compared_at_the_same_factors_else_the_best_of_each() -> None:
    side = published("leo", "sci")
    assert {each.differ for each in side.found.contrasts if len({run for run, _ in each.of}) > 1} == {RUN}
    loose = [each for each in side.found.contrasts if each.differ == RUN and not each.exact]
    assert [name.partition("/")[0] for each in loose for _, name in each.of] == ["hpl", "hpl"]
    best = [each for each in published("vtpcc", "cs-pccluster2").found.contrasts if each.differ == RUN]
    assert best
    assert not any(each.exact for each in best)


def sweep(command: str, latency: float, rate: float) -> str:
    """What NetPIPE shows of a wire with these: T = latency + size / rate."""
    rows = [f"[u@n1 netpipe]$ {command}"]
    for number, size in enumerate(2**power for power in range(23)):
        seconds = latency + size / rate
        rows.append(
            f"{number:3d}: {size:7d} bytes    100 times --> {8 * size / seconds / 2**20:9.2f} Mbps in "
            f"{1e6 * seconds:10.2f} usec"
        )
    return "\n".join(rows)


def test_netpipe_tells_what_jumbo_frames_did_for_tcp_and_not_for_mpi_and_where_curves_are_full(home: Path) -> None:
    run = "mpirun -H n1,n2 -np 2"
    text = [
        sweep(f"MTU=1500 {run} ./NPtcp", 30e-6, 60e6),
        sweep(f"MTU=4075 {run} ./NPtcp", 30e-6, 84e6),
        sweep(f"MTU=1500 {run} ./NPmpi", 40e-6, 36e6),
        sweep(f"MTU=4075 {run} ./NPmpi", 40e-6, 36.3e6),
    ]
    (home / "np.txt").write_text("\n".join(text) + "\n", "utf-8")
    output = one_line(invoke("compare", invoke("import", "netpipe", "np.txt").stdout.strip()).output)
    assert re.search(r"by TCP, MTU 4075 is 1\.40 times as fast as MTU 1500 at 4 MiB", output)
    assert re.search(r"by MPI, MTU 4075 is 1\.00\d times as fast as MTU 1500", output)
    assert "MTU 1500, TCP is 1.67 times as fast as MPI at 4 MiB" in output
    full = re.search(r"Saturated \(ping-pong.*?\.", output)
    assert full
    assert full[0].count("TCP") == 2
    assert full[0].count("KiB") == 4


def test_programs_stand_beside_each_other_only_between_the_same_partners() -> None:
    of = [each.of for each in published("vtpcc").found.contrasts if each.differ == PROGRAM]
    labels = [{name.split("/")[1] for _, name in each if not name.startswith("memcpy")} for each in of]
    assert labels == [{"pair"}, {"one-core@2"}]


def test_a_page_says_each_kind_of_sentence_under_a_heading_of_its_own() -> None:
    kinds = [each.kind for each in statements(published("sci", "leo"))]
    assert kinds == sorted(kinds, key=get_args(Kind).index)
    assert "saturated" in [each.kind for each in statements(published("hpcdiy-qdr"))]
    assert "two nodes from 64 KiB on" in sentences_of(published("hpcdiy-qdr"))


def test_collectives_are_told_by_their_names_and_times_as_long(home: Path) -> None:
    def table(algorithm: int, microseconds: float) -> str:
        rows = "".join(f"{size} {microseconds + size / 1000:.2f}\n" for size in (4, 8, 1024))
        command = f"$ mpirun -H n1,n2 -np 8 -mca coll_tuned_allreduce_algorithm {algorithm} ./osu_allreduce\n"
        return f"{command}# OSU MPI Allreduce Latency Test v5.6.2\n# Size   Avg Latency(us)\n{rows}"

    (home / "coll.txt").write_text(table(1, 30.0) + table(3, 10.0), "utf-8")
    output = one_line(invoke("compare", invoke("import", "osu", "coll.txt").stdout.strip()).output)
    assert re.search(
        r"Allreduce, mean-latency, 4 cores, n1 . n2, 4 B each: coll_tuned_allreduce_algorithm = 1 takes 3\.00 "
        r"times as long as coll_tuned_allreduce_algorithm = 3; 30\.0 µs against 10\.0 µs",
        output,
    )


def test_of_a_terminal_and_a_page_the_one_that_shows_a_run_says_it_too() -> None:
    assert "25.0 times as fast" in one_line(invoke("show", "leo").output)


def test_operations_that_do_not_block_are_shown_though_none_of_ours_counts_their_phases(home: Path) -> None:
    (home / "iallreduce.txt").write_text(
        "# OSU MPI Non-blocking Allreduce Latency Test v5.9\n"
        "# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)\n"
        "8                       10.1              5.02              5.43              12.5\n",
        "utf-8",
    )
    run = invoke("import", "osu", "iallreduce.txt").stdout.strip()
    page = Path(invoke("report", run, "-o", "page.html").stdout.strip()).read_text("utf-8")
    assert re.search(r"<small>.{0,99}OSU Micro-Benchmarks, iallreduce\.txt:3</span></small>", page)
    shown = one_line(invoke("show", run).output)
    assert re.search(r"Collective operations \(MPI\): overall .{0,80}10\.1 µs", shown)
    assert re.search(r"Collective operations \(MPI\): overlap .{0,80}12\.5 %", shown)


def test_the_page_of_two_systems_begins_with_its_widest_differences_and_ends_with_a_report_of_both() -> None:
    page = Path(invoke("report", "hpcdiy-qdr", "hpcdiy-gbe", "-o", "page.html").stdout.strip()).read_text("utf-8")
    words = one_line(re.sub(r"<[^>]+>", "", page.partition('<section id="summary"')[2]))
    assert re.search(
        r"The widest difference: Ping-pong latency, one way, between nodes, 4 KiB: Gigabit Ethernet takes 83\.0 "
        r"times as long as InfiniBand QDR",
        words,
    )
    assert "assay run like:hpcdiy-qdr --hosts NODE1,NODE2 assay report hpcdiy-qdr hpcdiy-gbe last" in words
    assert "beyond chance" not in words.partition("What is wrong")[0]


def test_a_published_system_begins_with_the_rates_and_times_of_each_of_its_programs() -> None:
    page = Path(invoke("report", "epyc-7601", "-o", "page.html").stdout.strip()).read_text("utf-8")
    labels = [one_line(each) for each in re.findall(r'<span class="label">(.*?) <small>', page)]
    labels = [re.sub(r"<[^>]+>", "", each) for each in labels]
    assert {"HPL (LU, 64 bit): rate", "STREAM triad, all cores"} <= set(labels[:3])
    assert "HPL (LU, 64 bit): theoretical peak" not in labels  # it is shown with the rate, as its limit
    assert "Memory bandwidth (STREAM): bandwidth of the platform, half cores, high end" in labels
    assert re.search(r"1\.13.{0,200}101 % of 1\.13 TFLOP/s \(derived\)", one_line(re.sub(r"<[^>]+>", "", page)))
    assert any("latency" in each for each in labels[:6])
    assert all("numactl" not in each and "share" not in each.lower() for each in labels[:6])
    wrong = re.sub(r"<[^>]+>", "", page.partition("What is wrong")[2].partition("What to do next")[0])
    assert wrong.startswith(": cannot be judged")
    assert re.search(r"Means without samples decide \d of \d+ rules", wrong)
