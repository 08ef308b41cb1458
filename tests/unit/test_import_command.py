"""`assay import`, and what the other commands make of the run that it leaves."""

import json
from pathlib import Path

import msgspec
import pytest
from tests.unit.published_messages import GBE, IB, Table
from tests.unit.test_import_osu import PASTED

from assay import importing, store
from assay.analyse import analyse
from assay.analyse.messages.steps import MessageLaw
from assay.cli import main
from assay.importing import Text
from assay.importing.command import parse_command
from assay.model.result import Finding
from assay.model.run import Run

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(autouse=True)
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_RUNS", str(tmp_path / "runs"))
    Path("pasted.txt").write_text(PASTED)


def assay(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["assay", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return int(caught.value.code or 0)


def imported(text: str = PASTED) -> Run:
    found = importing.read("osu", [Text.of("pasted.txt", text.encode())])
    return store.load(store.save_import(found, ["assay", "import"]))


def test_an_import_is_shown_compared_and_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    assert assay(monkeypatch, "import", "osu", "pasted.txt") == 0
    run_id = capsys.readouterr().out.strip()
    assert (Path("runs") / run_id / "imported.json").is_file()
    assert assay(monkeypatch, "show", "last") == 0
    assert "no interval" in capsys.readouterr().out
    assert assay(monkeypatch, "compare", "last", "--all") == 0
    assert "btl tcp,self,sm against default (base)" in (shown := capsys.readouterr().out)
    assert "placement: one-core:numa:1@2" not in shown  # bandwidth stands in one of these places only
    assert assay(monkeypatch, "list") == 0
    assert run_id in capsys.readouterr().out
    assert assay(monkeypatch, "report", "last") == 0
    assert "passed verification" not in (Path("runs") / run_id / "report.html").read_text()  # nobody measured here


def test_each_figure_carries_the_line_that_it_stood_in() -> None:
    lines = PASTED.splitlines()
    for estimate in analyse(imported()).estimates:
        assert estimate.printed
        assert (estimate.printed.tool, estimate.printed.source) == ("OSU Micro-Benchmarks", "pasted.txt")
        size, value = map(float, lines[estimate.printed.line - 1].split())
        assert size == estimate.params["bytes"]
        assert estimate.median == pytest.approx(value * (1e-6 if estimate.metric == "latency" else 1e6))


@pytest.mark.parametrize(
    ("line", "placement"),
    [
        ("mpirun -np 2 --map-by ppr:1:node ./osu_bw", "one-core@2"),
        ("mpiexec -n 2 -ppn 1 ./osu_bw", "one-core@2"),
        ("mpirun -np 4 -N 2 ./osu_mbw_mr", "cores:2@2"),
        ("srun -N2 -n 8 ./osu_mbw_mr", "cores:4@2"),
        ("srun --nodes=2 --ntasks-per-node=1 ./osu_bw", "one-core@2"),
        ("mpirun -np 2 -npernode 2 ./osu_bw", "not stated"),
        ("mpirun -np 2 ./osu_bw", "not stated"),
    ],
)
def test_ranks_a_node_tell_the_nodes_where_none_is_named(line: str, placement: str) -> None:
    assert parse_command(line).placement == placement


#: Figures of ranks whose nodes are counted and not named, and of ranks of which nothing is said.
UNPLACED = """$ srun -N2 -n 8 ./osu_mbw_mr
# OSU MPI Multiple Bandwidth / Message Rate Test v5.9
# [ pairs: 4 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
1                      11.61       11607325.14
4194304             24611.21           5867.77

$ mpirun -np 16 ./osu_allreduce
# OSU MPI Allreduce Latency Test v5.6.2
# Size       Avg Latency(us)
8                       2.51

# OSU MPI-CUDA Latency Test v7.4
# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)
# Size       Avg Latency(us)
8                       2.51
"""


def test_what_no_source_says_is_not_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    Path("unplaced.txt").write_text(UNPLACED)
    assert assay(monkeypatch, "import", "osu", "unplaced.txt") == 0
    assert assay(monkeypatch, "show", "last") == 0
    shown = capsys.readouterr().out
    assert "4 cores, 2 nodes" in shown
    assert "all rows: mean-latency, not stated\n" in shown
    assert "0 ranks" not in shown
    assert "of a node" not in shown
    kept = imported(UNPLACED).imported
    (device,) = (each for each in (kept.tables if kept else ()) if "sent-from" in each.params)
    assert (device.params["sent-from"], device.params["received-on"]) == ("device", "device")


def typed(command: str, table: Table) -> str:
    rows = (f"{size:.0f} {1e6 * seconds:.2f}" for size, seconds in zip(*table, strict=True))
    return "\n".join((f"$ {command}", "# OSU MPI Latency Test v3.7", "# Size Latency (us)", *rows, ""))


def jumps(run: Run) -> dict[str, Finding]:
    """Curve -> what is said of its steps."""
    found = analyse(run).findings
    return {each.id: each for each in found if each.rule == "protocol_switch" and each.status != "not assessed"}


def test_causes_and_next_steps_are_those_of_the_way_that_messages_took() -> None:
    """Of TCP no card that takes commands, of Ethernet no InfiniBand; of the card no eager limit of TCP."""
    start = "mpirun -H hpc01,hpc02 -np 2"
    tables = typed(f"{start} ./osu_latency", IB), typed(f"{start} -mca btl tcp,self,sm ./osu_latency", GBE)
    found = jumps(imported("".join(tables)))
    by_tcp, by_card = (next(f for name, f in found.items() if f"btl={way}" in name) for way in ("tcp", "default"))
    assert "OMPI_MCA_btl_tcp_eager_limit=" in by_tcp.next
    assert "UCX_RNDV_THRESH=" in by_card.next
    for rivals, card in ((by_tcp.rivals, False), (by_card.rivals, True)):
        assert any("inline" in each for each in rivals) == card
        assert any("of Ethernet" in each for each in rivals)
    published = [r for each in jumps(store.load(store.find("hpcdiy-gbe"))).values() for r in each.rivals]
    assert published
    assert not any("inline" in each or "InfiniBand" in each for each in published)


def test_tables_of_which_nothing_tells_one_from_another_are_curves_of_their_own() -> None:
    bare = "".join(typed("", table).partition("\n")[2] for table in (IB, GBE))
    laws = [each for each in analyse(imported(bare)).models if each.law == "message-law"]
    assert [len(each.points) for each in laws] == [IB[0].size, GBE[0].size]
    card, ethernet = (each.start.value for each in laws if isinstance(each, MessageLaw))
    assert card < 2e-6
    assert ethernet > 2e-5


def test_a_torn_table_costs_itself_and_with_strict_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.txt").write_text("# OSU MPI Latency Test v3.7\n# Size Latency (us)\n1 abc\n")
    assert assay(monkeypatch, "import", "--json", "pasted.txt", "bad.txt", "--runs", "kept") == 0
    kept = json.loads(capsys.readouterr().out)
    assert (kept["figures"], [each["where"] for each in kept["skipped"]]) == (14, ["lines 1 to 3"])
    assert assay(monkeypatch, "import", "osu", "pasted.txt", "bad.txt", "--strict") == 2
    told = capsys.readouterr().err
    assert "assay: cannot import 'bad.txt'" in told
    assert "line 3: 'abc' is no number from 0: '1 abc'" in told
    assert not Path("runs").exists()


@pytest.mark.parametrize("missing", ["absent.txt", "."])
def test_a_file_that_cannot_be_read_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], missing: str
) -> None:
    assert assay(monkeypatch, "import", "stream", missing) == 2
    assert f"cannot read '{missing}'" in capsys.readouterr().err


def test_what_is_kept_names_its_source_by_digest_and_lines() -> None:
    run = imported()
    assert run.imported
    assert len(run.imported.sources[0].sha256) == 64
    assert run.imported.tables[0].where == "lines 5 to 8"
    assert run.imported.tables[0].figures[0].printed == "1.61 us"


def test_figures_that_were_imported_have_no_interval_launches_or_samples() -> None:
    for each in analyse(imported()).estimates:
        assert (each.lo, each.hi, each.confidence, each.launches, each.samples) == (None, None, None, 0, 0)
        assert each.basis == "imported"


def test_figures_of_zero_and_of_failed_tables_are_invalid_and_say_why() -> None:
    zero = analyse(imported(PASTED.replace("1 1.69", "1 0.00"))).estimates
    (invalid,) = [each for each in zero if each.median is None]
    assert (invalid.status, invalid.reason) == (
        "skipped",
        "printed as 0.00 MB/s: too small for the digits that were printed",
    )
    failed = "# OSU MPI Bandwidth Test v7.4\n# Size  Bandwidth (MB/s)  Validation\n4  9.0  Fail\n"
    assert [each.reason for each in analyse(imported(failed)).estimates] == ["validation failed in line 3"]


def test_every_stated_reference_can_be_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("hpcdiy-numa", "epyc-7601", "leo"):
        assert assay(monkeypatch, "report", name) == 0
        page = Path(capsys.readouterr().out.strip()).read_text()
        assert "Assay has read them and has not measured them" in page


@pytest.mark.parametrize(
    "words",
    [
        "hpcdiy-gbe hpcdiy-qdr",
        "sci leo",
        "vtpcc cs-pccluster2 --across system",
        "hpcdiy-qdr",
        "hpcdiy-numa",
        "epyc-7601 --all",
        "leo",
    ],
)
def test_what_the_page_of_references_compares_can_be_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    assert assay(monkeypatch, "compare", *words.split()) == 0
    told = capsys.readouterr().out
    assert "(base)" in told
    assert "against  (base)" not in told
    assert "end high against low" not in told


def test_many_pairs_of_printed_figures_are_told_in_words_with_the_command_for_their_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert assay(monkeypatch, "compare", "epyc-7601") == 0
    told = capsys.readouterr().out
    assert "In words" in told
    assert "(base)" not in told
    assert told.rstrip().endswith("assay compare epyc-7601 --all")


def test_references_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert assay(monkeypatch, "list", "references", "--json") == 0
    listed = json.loads(capsys.readouterr().out)["references"]
    assert {each["name"]: each["figures"] for each in listed}["hpcdiy-qdr"] == 235


def test_a_csv_of_one_run_is_read_as_another(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert assay(monkeypatch, "export", "hpcdiy-gbe", "-o", "gbe.csv") == 0
    assert assay(monkeypatch, "import", "csv", "gbe.csv", "--machine", "the same again", "--json") == 0
    told = msgspec.json.decode(capsys.readouterr().out)
    assert told["figures"] == 47
    assert assay(monkeypatch, "compare", "hpcdiy-gbe", "last", "--json") == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert len(pairs) == 47
    assert [pair["comparison"]["value"]["value"] for pair in pairs] == pytest.approx([1.0] * 47)
