"""Forms in which people have the output of benchmarks: labels, vendors' variants, groups, rounded sizes."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from assay import importing, store
from assay.analyse import analyse
from assay.cli import assay
from assay.importing import ImportOptions, Text
from assay.importing.text import slug
from assay.model.errors import UsageError
from assay.model.imported import Table
from assay.report import messages


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tables(tool: str, text: str) -> tuple[Table, ...]:
    return importing.read(tool, [Text.of("out.txt", text.encode())], ImportOptions()).tables


def values(table: Table, metric: str) -> list[float]:
    return [each.value for each in table.figures if each.metric == metric]


def test_osu_with_the_label_of_each_rank() -> None:
    (found,) = tables(
        "osu", "0: # OSU MPI Bandwidth Test v5.6.3\n0: # Size      Bandwidth (MB/s)\n0: 1  0.5\n0: 2  1.5\n"
    )
    assert (found.params["pattern"], values(found, "bandwidth")) == ("bandwidth", [0.5e6, 1.5e6])


def test_osu_without_the_marks_before_its_headings() -> None:
    (found,) = tables(
        "osu",
        "OSU MPI Broadcast Latency Test v5.9\n"
        "  Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
        "1                       7.5              6.25              8.75        1000\n",
    )
    assert found.params["operation"] == "bcast"
    assert [values(found, f"{which}-latency") for which in ("mean", "min", "max")] == [
        [7.5e-6],
        [6.25e-6],
        [8.75e-6],
    ]


def test_prose_that_names_a_test_is_no_heading() -> None:
    (found,) = tables(
        "osu", "OSU Latency Test\nsome words\n# OSU MPI Latency Test v7.2\n# Size Latency (us)\n1 2.5\n"
    )
    assert found.version == "7.2"


def test_osu_in_python() -> None:
    (found,) = tables(
        "osu", "# OMB Python MPI Latency Test\n# Size (B)      Latency (us)\n0    397.5\n1    406.5\n"
    )
    assert (found.params["pattern"], values(found, "latency")) == ("latency", [397.5e-6, 406.5e-6])


@pytest.mark.parametrize("version", ["7.2", "7.5"])
def test_osu_7_has_its_datatype_before_or_behind_the_columns(version: str) -> None:
    heading = ["# Size          Latency (us)", "# Datatype: MPI_CHAR."]
    told = heading if version == "7.2" else reversed(heading)
    (found,) = tables("osu", "\n".join([f"# OSU MPI Latency Test v{version}", *told, "1    2.5", ""]))
    assert (found.version, found.params["datatype"]) == (version, "contiguous")


@pytest.mark.parametrize(
    ("title", "benchmark", "params"),
    [
        ("MPI_Get_accumulate latency", "onesided", {"operation": "get-accumulate", "pattern": "latency"}),
        ("MPI_Fetch_and_op latency", "onesided", {"operation": "fetch-and-op", "pattern": "latency"}),
        ("MPI Persistent Latency", "pt2pt", {"pattern": "latency", "calls": "persistent"}),
        ("MPI Partitioned Latency", "pt2pt", {"pattern": "partitioned"}),
        ("MPI-ROCM Bandwidth", "pt2pt", {"pattern": "bandwidth", "accelerator": "rocm"}),
        ("MPI-CUDA Allreduce Latency", "collective",
         {"operation": "allreduce", "calls": "blocking", "accelerator": "cuda"}),
        ("MPI Guess", "osu", {}),
        ("MPI Multi-threaded Latency", "pt2pt", {"pattern": "multi-threaded-latency"}),
        ("MPI Multi-process Latency", "pt2pt", {"pattern": "multi-process-latency"}),
    ],
)  # fmt: skip
def test_osu_tests_are_what_they_measure(title: str, benchmark: str, params: dict[str, str]) -> None:
    unit = "Bandwidth (MB/s)" if "Bandwidth" in title else "Latency (us)"
    (found,) = tables("osu", f"# OSU {title} Test v7.3\n# Size   {unit}\n1   2.5\n")
    assert (found.benchmark, found.params) == (benchmark, params)
    if benchmark == "osu":  # nobody knows it: it keeps its own name
        assert {each.kernel for each in found.figures} == {slug(title)}


GROUPS = """# Benchmarking Multi-PingPong
# ( 2 groups of 2 processes each running simultaneous )
#----------------------------------------------------
        Group      #bytes #repetitions      t[usec]   Mbytes/sec

            0           0         1000         1.50         0.00
            1           0         1000         1.75         0.00

            0           1         1000         2.50         0.40
            1           1         1000         2.75         0.36
"""


def test_imb_keeps_the_groups_apart_that_it_prints_one_by_one() -> None:
    (found,) = tables("imb", GROUPS)
    told = [(each.params["group"], each.params["bytes"], each.value) for each in found.figures]
    assert told == [(0, 0, 1.5e-6), (1, 0, 1.75e-6), (0, 1, 2.5e-6), (1, 1, 2.75e-6)]


def test_the_bandwidth_of_a_pattern_stands_for_it_and_not_its_rate_of_messages(home: Path) -> None:
    rows = "".join(f"{size} 1000 {size * 2.0} 2000000\n" for size in (0, 1, 2))
    text = f"# Benchmarking Biband\n# #processes = 4\n#bytes #repetitions Mbytes/sec Msg/sec\n{rows}"
    (home / "imb.txt").write_text(text, "utf-8")
    assert CliRunner().invoke(assay, ["import", "imb", "imb.txt"]).exit_code == 0
    analysis = analyse(store.load(store.find("last")))
    assert {each.metric for each in analysis.estimates} == {"bandwidth", "message-rate"}
    assert {each.metric for each in messages.of_patterns(analysis, ("multi-bidirectional",))} == {"bandwidth"}


def test_netpipe_5_rounds_sizes_that_are_powers_of_two() -> None:
    (found,) = tables(
        "netpipe",
        "$ mpirun -np 2 NPmpi\n"
        " 42:  98.304 KB         9 times -->   60.000 Gbps  in   13.107 usecs\n"
        " 60:   8.389 MB         9 times -->   93.122 Gbps  in  720.670 usecs\n"
        " 61:   9.000 MB         9 times -->   93.122 Gbps  in  770.670 usecs\n",
    )
    assert [each.params["bytes"] for each in found.figures if each.metric == "latency"] == [
        98304,
        2**23,
        9_000_000,
    ]


def test_sockets_to_a_named_host_go_between_two_nodes() -> None:
    row = "  0:       1 bytes   2777 times -->      0.27 Mbps in      28.50 usec\n"
    places = [tables("netpipe", f"$ ./NPtcp -h {peer}\n{row}")[0].placement for peer in ("n2", "localhost")]
    assert places == ["one-core@2", "not stated"]


@pytest.mark.parametrize(
    ("row", "variant", "rate"),
    [
        ("WR11C2R4       98365   256     1    20            4913.35             1.2914e+02", "WR11C2R4", 129.14e9),
        ("  WC00C2R100000      100000   192     2     1    339.99   1.96e+03", "WC00C2R100000", 1960e9),
        ("WC0           299008  1024     2     4        52.88       3.370e+05 ( 4.213e+04)", "WC0", 337e12),
        (" WC03R2R2      528384  1024     8     4        73.32       1.341e+06 ( 4.192e+04)", "WC03R2R2", 1341e12),
    ],
)
def test_hpl_of_every_vendor(row: str, variant: str, rate: float) -> None:
    heading = "T/V                N    NB     P     Q         Time          Gflops (   per GPU)"
    (found,) = tables("hpl", f"{heading}\n{'-' * 80}\n{row}\n ||Ax-b||_oo/(eps*N)=   0.0003 ...... PASSED\n")
    assert (found.params["variant"], found.failed) == (variant, "")
    assert values(found, "rate") == [pytest.approx(rate)]


def test_a_failed_solution_does_not_lend_its_verdict_to_the_one_before() -> None:
    row = "WR11C2R4 1000 100 1 1 1.0 1.0e+01\n||Ax-b||_oo = 0.1 ...... "
    first, second = tables("hpl", f"{row}PASSED\n{row.replace('WR11C2R4', 'WC00C2R100000')}FAILED\n")
    assert first.failed == ""
    assert "line 4" in second.failed


@pytest.mark.parametrize(
    ("tool", "text", "why"),
    [
        ("hpl", "WC0  299008  1024  2  4  52.88\n", "line 1: 5 numbers in a row"),
        ("imb", GROUPS.replace("            1           1         1000         2.75         0.36", "1 1 1000"),
         "line 10: 3 words in a row"),
        ("osu", "0: # OSU MPI Latency Test v7.2\n0: # Size Latency (us)\n0: 1 2.5 3.5\n", "line 3: 3 words in a"),
        ("netpipe", "$ ./NPtcp -h n2\n  0:  1 bytes  7 times -->  x Mbps in  28.50 usec\n", "line 2: 'x' is no n"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_with_its_line_and_ends_with_2(tool: str, text: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        tables(tool, text)
    assert refused.value.why.startswith(why)
    assert refused.value.exit_code == 2


def test_sizes_of_memory_are_shown_as_people_write_them(home: Path) -> None:
    (home / "numa.txt").write_text(
        "available: 1 nodes (0)\nnode 0 size: 32768 MB\nnode 0 free: 1536 MB\n", "utf-8"
    )
    assert CliRunner().invoke(assay, ["import", "numactl", "numa.txt"]).exit_code == 0
    said = CliRunner().invoke(assay, ["show", "last"]).output
    assert "32 GiB" in said
    assert "1.5 GiB" in said


def test_a_test_that_nobody_knows_is_told_so() -> None:
    with pytest.raises(UsageError) as refused:
        importing.read("osu", [Text.of("out.txt", b"1 2.5\n2 3.5\n")], ImportOptions(test="osu_foo"))
    assert "'osu_foo' is no test of OSU" in refused.value.why


@pytest.mark.usefixtures("home")
def test_an_import_says_what_to_type_next() -> None:
    result = CliRunner().invoke(assay, ["import", "hpl", "-"], input="WC0 10 1 1 1 1.0 1.0e+01\n")
    assert result.exit_code == 0
    run = result.stdout.strip()
    assert f"2 figures in 1 table; next: assay show {run}; assay report {run}" in result.stderr
