"""Runs, imports and published systems side by side: what authors conclude is what Assay states."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.simulation import EPYC_7601, simulated_run

from assay import references, store
from assay.cli import assay
from assay.compare import tables
from assay.compare.phrases import near
from assay.compare.records import PLACE, RUN, CurvePair
from assay.compare.runs import between
from assay.compare.sides import Sides, sides
from assay.compare.statements import statements
from assay.model.errors import PartialRunError, UsageError
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity, exact
from assay.plan import Options
from assay.report.published import curves as published_curves
from assay.report.statements import roughly, times
from assay.simulation import Law, Link

pytestmark = pytest.mark.usefixtures("undrawn")

SIZES = (0, 8, 64, 512, 1024, 2048, 4096, 16384, 65536)
STUDY = Study(
    "Messages",
    "How fast?",
    (
        Measure("pt2pt", ("pair:other-node",), axes={"pattern": "latency", "bytes": SIZES}),
        Measure("pt2pt", ("pair:other-node",), axes={"pattern": "bandwidth", "bytes": SIZES[1:]}),
    ),
    launches=8,
)
#: Quick for small messages and narrow; slow for small ones and wide: their curves cross once.
NARROW, WIDE = Link(2e-6, 1e9, 1e9, gap_s=0.0), Link(10e-6, 8e9, 8e9, gap_s=0.0)


def pasted(*wanted: str) -> str:
    """Tables of a published study as a person pastes them: the prompt, the heading, the rows."""
    lines = []
    for name in ("hpcdiy-qdr", "hpcdiy-gbe"):
        for table in references.get(name).tables:
            program = table.command.split("./")[-1]
            if f"{name} {program} {table.placement}" not in wanted:
                continue
            latency = program == "osu_latency"
            lines += [
                f"[hpc@hpc01 pt2pt]$ {table.command}",
                f"# OSU MPI {'Latency' if latency else 'Bandwidth'} Test v3.7",
                f"# Size {'Latency (us)' if latency else 'Bandwidth (MB/s)'}",
                *(f"{each.params['bytes']} {each.printed.split()[0]}" for each in table.figures),
                "という速度になっている。",
            ]
    return "\n".join(lines) + "\n"


FOUR = (
    "hpcdiy-qdr osu_bw one-core@2",
    "hpcdiy-gbe osu_bw one-core@2",
    "hpcdiy-qdr osu_latency one-core@2",
    "hpcdiy-gbe osu_latency one-core@2",
)
SOCKETS = ("hpcdiy-qdr osu_latency one-core:near-nic@2", "hpcdiy-qdr osu_latency one-core:far-nic@2")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(assay, arguments)


def imported(home: Path, name: str, *wanted: str) -> str:
    (home / name).write_text(pasted(*wanted), "utf-8")
    result = invoke("import", "osu", name)
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


@cache
def published(*names: str) -> Sides:
    return sides([store.load(store.find(name)) for name in names])


def simulated(folder: Path, link: Link, seed: int, study: Study = STUDY) -> Path:
    law = Law(links={**Law().links, "eth0": link})
    options = Options(hosts=("n1", "n2"), networks={"gbe": "eth0"}, launches=study.launches)
    return simulated_run(folder, law, description=EPYC_7601, study=study, options=options, seed=seed)


def sentences_of(side: Sides) -> str:
    return "\n".join(each.text for each in statements(side))


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_the_four_tables_of_a_page_state_28_times_the_tenth_of_a_microsecond_and_the_switch(home: Path) -> None:
    run = imported(home, "pasted.txt", *FOUR, *SOCKETS)
    text = one_line(invoke("compare", run).output)
    assert (
        "btl default is 28.7 times as fast as btl tcp,self,sm at 4 MiB (bandwidth, one direction): 3.40 GB/s"
        in text
    )
    assert re.search(
        r"between two nodes \(cores of NUMA node 0\) as between two nodes \(cores of NUMA node 1\), about 0\.6 µs "
        r"more: 1\.61 µs against 1\.02 µs",
        text,
    )
    (step,) = [
        each
        for each in sides([store.load(store.find(run))]).found.steps
        if "btl=default" in each.curve and "pattern=bandwidth" in each.curve and each.bytes == 2048
    ]
    assert step.factor.value == pytest.approx(2.1, abs=0.05)
    assert len(step.rivals) == 2
    assert all(cause in text for cause in step.rivals)


def test_tables_of_two_files_are_two_networks_beside_each_other(home: Path) -> None:
    ib = imported(home, "ib.txt", *(each for each in (*FOUR, *SOCKETS) if "qdr" in each))
    gbe = imported(home, "gbe.txt", *(each for each in FOUR if "gbe" in each))
    text = one_line(invoke("compare", gbe, ib).output)
    assert "Between two nodes, ib is 28.7 times as fast as gbe at 4 MiB" in text
    document = json.loads(invoke("compare", gbe, ib, "--json").stdout)
    assert any("28.7 times" in each for each in document["statements"])
    (pair,) = [
        each
        for each in document["side_by_side"]["pairs"]
        if each["differ"] == "run" and "pattern=bandwidth" in each["a"]
    ]
    assert pair["points"][-1]["comparison"]["value"]["value"] == pytest.approx(3402.54 / 118.62)
    assert all(each["comparison"]["verdict"] == "inconclusive" for each in pair["points"])
    path = Path(invoke("report", gbe, ib, "-o", "both.html").stdout.strip())
    page_text = path.read_text("utf-8")
    assert path == home / "both.html"
    for line in (
        "28.7 times as fast",
        "about 0.6 µs more",
        "from 2048 B on a message takes 2.07 times as long",
    ):
        assert line in page_text


def test_a_machine_stands_beside_published_systems_and_every_figure_says_where_it_is_from(home: Path) -> None:
    simulated(home / "assay-runs", NARROW, 1)
    result = invoke("report", "hpcdiy-qdr", "hpcdiy-gbe", "last")
    assert result.exit_code == 0, result.output
    text = Path(result.stdout.strip()).read_text("utf-8")
    for name in ("InfiniBand QDR", "Gigabit Ethernet", "simulated"):
        assert f'<th scope="row">{name}' in text or name in text
    assert "mpirun -H hpc01,hpc02 -np 2 ./osu_bw" in text
    assert "the table below its command line" in text
    assert "records.jsonl" in text
    assert "InfiniBand QDR is more than 28 times as fast as Gigabit Ethernet" in text
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text)


def test_two_published_systems_have_one_table_for_each_quantity_and_no_words_twice() -> None:
    text = one_line(invoke("compare", "hpcdiy-gbe", "hpcdiy-qdr").output)
    assert text.count("side by side; last column: ratio of speeds Message") == 2
    assert "4 MiB 119 MB/s 3.40 GB/s 28.7" in text
    assert text.count("not testable without samples") == 1
    assert "95 % interval" not in text
    assert text.count("1.004 times as fast") == 1, "cores that are not stated are near or far themselves"


def test_leo_has_one_and_a_half_times_less_latency_than_sci_and_their_figures_stand_side_by_side() -> None:
    leo = published("leo", "sci")
    (beside_,) = [each for each in leo.found.pairs if each.differ == RUN]
    assert beside_.points[0].comparison.ratio == pytest.approx(1.5)
    (table,) = tables.shared(leo)
    assert table.columns == ("What", "leo", "sci")
    assert any("bandwidth" in cells[0] for cells in table.rows)
    assert "35.9 times as long" in sentences_of(leo)


def runs_beside(folder: Path, study: Study = STUDY) -> Sides:
    links = ((1, NARROW), (2, WIDE))
    return sides([store.load(simulated(folder / str(seed), link, seed, study)) for seed, link in links])


def of_latency(side: Sides) -> CurvePair:
    (found,) = [
        each for each in side.found.pairs if each.differ == RUN and "pattern=latency" in side.curves[each.a].id
    ]
    return found


def test_curves_that_cross_once_have_one_crossover_where_the_laws_meet(tmp_path: Path) -> None:
    here = runs_beside(tmp_path)
    found = of_latency(here)
    (crossover,) = found.crossovers
    meet = (WIDE.latency_s - NARROW.latency_s) / (1 / 1e9 - 1 / 8e9)
    assert crossover.at.lo < meet < crossover.at.hi
    assert crossover.at.value == pytest.approx(meet, rel=0.4)
    assert crossover.certain
    assert here.curves[crossover.before].run == here.sides[0].run.info.id
    assert {point.comparison.confidence for point in found.points} == {0.95}
    verdicts = {point.at: point.comparison.verdict for point in found.points}
    assert verdicts[8] == "slower"
    assert verdicts[65536] == "faster"
    for point in found.points:
        assert point.difference.lo <= point.difference.value <= point.difference.hi


def test_points_of_curves_and_shared_figures_are_the_comparisons_of_the_figures(tmp_path: Path) -> None:
    here = runs_beside(tmp_path)
    (compared,) = here.compared
    judged = {(each.comparison.a, each.comparison.b): each.comparison for each in compared.pairs}
    points = [point for pair in here.found.pairs if pair.differ == RUN for point in pair.points]
    assert len(points) == len(judged) == len(SIZES) * 2 - 1
    for point in points:
        assert point.comparison is judged[point.comparison.a, point.comparison.b]
    base, other = (each.run for each in here.sides)
    assert between(other, base).pairs == compared.pairs


def test_a_few_launches_claim_nothing_and_cross_nowhere_that_is_certain(tmp_path: Path) -> None:
    few = Study(STUDY.title, STUDY.question, STUDY.measure, launches=2)
    found = of_latency(runs_beside(tmp_path, few))
    assert {point.comparison.verdict for point in found.points} == {"inconclusive"}
    assert not any(each.certain for each in found.crossovers)


def test_one_run_compares_its_own_places() -> None:
    alone = published("hpcdiy-qdr")
    assert {each.differ for each in alone.found.pairs} == {PLACE}
    assert "InfiniBand QDR" not in sentences_of(alone)


def test_the_report_of_an_import_has_its_ways_beside_each_other(home: Path) -> None:
    run = imported(home, "pasted.txt", *FOUR, *SOCKETS)
    text = Path(invoke("report", run).stdout.strip()).read_text("utf-8")
    section = text.partition('<section id="paths"')[2].partition("</section>")[0]
    for line in (
        "28.7 times as fast",
        "about 0.6 µs more",
        "from 2048 B on a message takes 2.07 times as long",
    ):
        assert line in section, line


def test_published_curves_are_in_a_page_of_messages_with_the_figures_as_they_were_printed() -> None:
    curves = published_curves()
    found = {(each["system"], each["pattern"], each["path"]): each["points"] for each in curves}
    assert found["hpcdiy-gbe", "bandwidth", "two nodes"][-1] == [4194304, 118.62e6, "118.62 MB/s"]
    assert len(found["hpcdiy-qdr", "latency", "two nodes, cores near the card"]) == 23  # none at 0 B: no logarithm
    assert all(each["source"] and each["where"] for each in curves)


def test_systems_without_a_common_curve_cannot_be_compared_and_no_threshold_is_passed(home: Path) -> None:
    error = invoke("compare", "hpcdiy-numa", "hpcdiy-gbe").exception
    assert isinstance(error, UsageError)
    simulated(home / "assay-runs", NARROW, 1)
    assert isinstance(invoke("compare", "hpcdiy-numa", "last", "--fail-below", "5%").exception, PartialRunError)
    assert invoke("compare", "hpcdiy-gbe", "last").exit_code == 0


def test_a_run_stands_once_beside_others() -> None:
    error = invoke("report", "hpcdiy-gbe", "hpcdiy-gbe").exception
    assert isinstance(error, UsageError)
    assert "named twice" in error.what


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (exact(28.68), "28.7 times"),
        (exact(25.0), "25.0 times"),
        (exact(1.52), "1.52 times"),
        (exact(1.0043), "1.004 times"),
        (Quantity(2.25, 2.21, 2.29, basis="interval"), "2.25 [2.21, 2.29] times"),
        (Quantity(2.25, 2.1, 2.4, basis="range"), "2.25 (2.10 to 2.40) times"),
    ],
)
def test_a_ratio_has_its_interval_or_its_range(ratio: Quantity, words: str) -> None:
    assert times(ratio) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.59e-6, "0.6 µs"), (23.7e-6, "24 µs"), (83e-9, "83 ns"), (136.1e-6, "136 µs")]
)
def test_a_difference_is_rounded(seconds: float, words: str) -> None:
    assert roughly(seconds) == words


def test_sizes_are_bytes_as_far_as_these_can_be_read() -> None:
    assert [near(size) for size in (2048.0, 65536.0, 17703.0, 4 * 2**20)] == [
        "2048 B",
        "64 KiB",
        "17.29 KiB",
        "4 MiB",
    ]
