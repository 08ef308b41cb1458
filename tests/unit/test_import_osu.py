"""Tables of the OSU Micro-Benchmarks, as they were printed by versions 2 to 7 and as people paste them."""

import pytest

from assay import importing
from assay.importing import ImportOptions, Text
from assay.model.errors import UsageError
from assay.model.imported import UNSTATED, Imported, Table

#: Typed from a page of the HPC Do It Yourself Club: prose, prompts, collapsed blanks, a blank at a line's end.
PASTED = """はじめにはInfiniBandを計測する。
[hpc@hpc01 pt2pt]$ mpirun -H hpc01,hpc02 -np 2 ./osu_latency
# OSU MPI Latency Test v3.7
# Size Latency (us)
0 1.61
8 1.63
1024 3.65\x20
4194304 1246.21
続いてGigabit Ethernetの場合を計測する
[hpc@hpc01 pt2pt]$ mpirun -H hpc01,hpc02 -np 2 -mca btl tcp,self,sm ./osu_latency
# OSU MPI Latency Test v3.7
# Size Latency (us)
0 25.32
8 25.52
1024 46.52
4194304 35746.09
node1同士の直接接続では、
[hpc@hpc01 pt2pt]$ mpirun -H hpc01,hpc02 -np 2 numactl -N 1 ./osu_bw
# OSU MPI Bandwidth Test v3.7
# Size Bandwidth (MB/s)
1 1.69
4194304 3409.82
別々のソケット間、
[hpc@hpc01 pt2pt]$ mpirun -H hpc01 -np 2 -num-sockets 2 -npersocket 1 -mca btl self,sm ./osu_bw
# OSU MPI Bandwidth Test v3.7
# Size Bandwidth (MB/s)
1 1.58
4194304 8119.55
同一ソケット間では、
[hpc@hpc01 pt2pt]$ mpirun -H hpc01 -np 2 -num-sockets 2 -npersocket 2 -mca btl self,sm ./osu_bw
# OSU MPI Bandwidth Test v3.7
# Size Bandwidth (MB/s)
1 2.18
4194304 12269.54
となった。
"""


def imported(text: str, test: str = "", placement: str = "") -> Imported:
    wanted = ImportOptions(test=test, placement=placement)
    return importing.read("osu", [Text.of("osu.txt", text.encode())], wanted)


def only(text: str, **wanted: str) -> Table:
    (table,) = imported(text, **wanted).tables
    return table


def refused(text: str, **wanted: str) -> str:
    with pytest.raises(UsageError) as caught:
        imported(text, **wanted)
    assert "osu.txt" in caught.value.what
    return caught.value.why


def values(table: Table, metric: str) -> dict[object, float]:
    return {each.params.get("bytes"): each.value for each in table.figures if each.metric == metric}


def test_tables_are_read_out_of_prose_and_prompts() -> None:
    tables = imported(PASTED).tables
    assert [table.where for table in tables] == [
        "lines 5 to 8",
        "lines 13 to 16",
        "lines 21 to 22",
        "lines 27 to 28",
        "lines 33 to 34",
    ]
    assert values(tables[0], "latency") == {0: 1.61e-6, 8: 1.63e-6, 1024: 3.65e-6, 4194304: 1.24621e-3}
    assert values(tables[2], "bandwidth")[4194304] == 3409.82e6
    assert {table.version for table in tables} == {"3.7"}


def test_the_command_line_says_where_and_with_what() -> None:
    tables = imported(PASTED).tables
    assert [table.placement for table in tables] == [
        "one-core@2",
        "one-core@2",
        "one-core:numa:1@2",
        "pair:other-socket",
        "pair:same-socket",
    ]
    assert [table.factors["btl"] for table in tables] == [
        "default",
        "tcp,self,sm",
        "default",
        "self,sm",
        "self,sm",
    ]
    assert tables[0].hosts == ("hpc01", "hpc02")


def test_a_choice_that_all_tables_share_is_no_factor() -> None:
    command = "$ mpirun -np 2 -H a,b -x UCX_TLS=rc ./osu_latency\n# Size Latency (us)\n8 1.1\n"
    assert only(command).factors == {}


@pytest.mark.parametrize(
    ("heading", "version"),
    [
        ("# OSU MPI Latency Test (Version 2.2)\n# Size\t\tLatency (us) \n", "2.2"),
        ("# OSU MPI Latency Test v3.1.1\n# Size            Latency (us)\n", "3.1.1"),
        ("# OSU MPI Latency Test v5.6.3\n# Size          Latency (us)\n", "5.6.3"),
        ("\n# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n", "7.4"),
        ("# OSU MPI-CUDA Latency Test v6.1\n# Send Buffer on HOST (H)\n# Size          Latency (us)\n", "6.1"),
    ],
)
def test_headings_of_all_versions_are_known(heading: str, version: str) -> None:
    table = only(f"{heading}8                       1.50\n")
    assert (table.version, table.params["pattern"]) == (version, "latency")
    assert values(table, "latency") == {8: 1.5e-6}


def test_latency_of_7_3_has_five_columns_where_all_are_asked_for() -> None:
    table = only(
        "$ mpirun -np 2 ./osu_latency -f\n# OSU MPI Latency Test v7.3\n# Datatype: MPI_CHAR.\n"
        "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
        "1                       1.87              1.75              2.80       10000\n"
    )
    found = {each.metric: each.value for each in table.figures}
    assert found == {"latency": 1.87e-6, "min-latency": 1.75e-6, "max-latency": 2.8e-6}


def test_percentiles_and_validation_have_columns_of_their_own() -> None:
    table = only(
        "# OSU MPI Latency Test v7.4\n# Datatype: MPI_INT.\n"
        "# Size  Avg Latency(us)  P50 Tail Lat(us)  P90 Tail Lat(us)  P99 Tail Lat(us)  Validation\n"
        "4       1.20   1.10   1.30   2.00   Pass\n"
    )
    assert {each.metric: each.value for each in table.figures} == {
        "latency": 1.2e-6,
        "p50-tail-lat": 1.1e-6,
        "p90-tail-lat": 1.3e-6,
        "p99-tail-lat": 2e-6,
    }
    assert table.params["datatype"] == "mpi_int"
    assert not table.failed


def test_a_table_whose_validation_failed_counts_for_nothing() -> None:
    table = only("# OSU MPI Bandwidth Test v7.4\n# Size  Bandwidth (MB/s)  Validation\n4  9.0  Fail\n")
    assert table.failed == "validation failed in line 3"


def test_many_pairs_have_a_rate_of_messages() -> None:
    table = only(
        "# OSU MPI Multiple Bandwidth / Message Rate Test v5.4.2\n# [ pairs: 8 ] [ window size: 64 ]\n"
        "# Size                  MB/s        Messages/s\n1                      24.46       24455117.35\n"
    )
    assert table.params == {"pattern": "multi-bandwidth", "pairs": 8, "window": 64}
    assert values(table, "bandwidth") == {1: 24.46e6}
    assert values(table, "message-rate") == {1: 24455117.35}


def test_pairs_that_the_command_line_places_are_not_named_twice() -> None:
    table = only(
        "$ mpirun -np 16 -host s1,s2 numactl --cpunodebind=6 ./osu_mbw_mr\n"
        "# OSU MPI Multiple Bandwidth / Message Rate Test v5.4.2\n# [ pairs: 8 ] [ window size: 64 ]\n"
        "# Size MB/s Messages/s\n1 24.46 24455117.35\n"
    )
    assert table.placement == "cores:8@2"
    assert "pairs" not in table.params


def test_collectives_give_the_mean_over_ranks() -> None:
    table = only(
        "# OSU MPI All-to-All Personalized Exchange Latency Test v5.6\n"
        "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
        "1                       2.87              2.10              3.20        1000\n"
    )
    assert (table.benchmark, table.params["operation"], table.params["calls"]) == (
        "collective",
        "alltoall",
        "blocking",
    )
    assert {each.metric: each.value for each in table.figures} == {
        "mean-latency": 2.87e-6,
        "min-latency": 2.1e-6,
        "max-latency": 3.2e-6,
    }


def test_a_barrier_has_no_sizes() -> None:
    table = only("# OSU MPI Barrier Latency Test v5.6\n# Avg Latency(us)\n             1.75\n")
    assert [(each.metric, each.params, each.value) for each in table.figures] == [("mean-latency", {}, 1.75e-6)]


def test_collectives_that_do_not_block_say_what_they_overlap() -> None:
    table = only(
        "# OSU MPI Non-blocking Allreduce Latency Test v5.6\n"
        "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n"
        "# Size  Overall(us)  Compute(us)  Coll. Init(us) MPI_Test(us) MPI_Wait(us) Pure Comm.(us) Overlap(%)\n"
        "4  7.50  3.40  1.20  0.02  2.80  3.41  15.2\n"
    )
    assert table.params == {"operation": "allreduce", "calls": "nonblocking"}
    assert {each.metric for each in table.figures} >= {"overall", "coll-init", "pure-comm", "overlap"}
    assert values(table, "overlap")[4] == pytest.approx(0.152)


def test_one_sided_tests_name_synchronisation_and_window() -> None:
    table = only(
        "# OSU MPI_Put Latency Test v5.6\n# Window creation: MPI_Win_allocate\n# Synchronization: MPI_Win_flush\n"
        "# Size          Latency (us)\n8 1.9\n"
    )
    assert table.benchmark == "onesided"
    assert table.params == {
        "operation": "put",
        "pattern": "latency",
        "allocation": "allocate",
        "synchronisation": "flush",
    }


def test_rows_without_a_heading_are_those_of_the_program_in_the_command() -> None:
    table = only("$ mpirun -np 2 -H a,b ./osu_bw -W 16\n1 1.5\n2 3.0\n")
    assert (table.params, values(table, "bandwidth")) == (
        {"pattern": "bandwidth", "window": 16},
        {1: 1.5e6, 2: 3e6},
    )


def test_rows_without_heading_and_command_want_the_name_of_the_program() -> None:
    assert refused("1 1.5\n2 3.0\n").startswith(
        "line 1: a row, but neither a heading nor a command names the test"
    )
    table = only("1 1.5\n2 3.0\n", test="osu_latency", placement="pair")
    assert (table.placement, values(table, "latency")[2]) == ("pair", 3e-6)


def test_sizes_that_begin_again_begin_another_table() -> None:
    first, second = imported("1 1.5\n2 3.0\n1 1.6\n2 3.1\n", test="osu_bw").tables
    assert values(first, "bandwidth")[1] == 1.5e6
    assert second.params["repeat"] == 2
    assert first.placement == UNSTATED


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no table at all", "it holds no output of osu"),
        ("# OSU MPI Latency Test v3.7\n# Size Latency (us)\n", "line 1: no rows follow this heading"),
        (
            "# OSU MPI Latency Test v3.7\n# Size Latency (us)\n1 abc\n",
            "line 3: 'abc' is no number from 0: '1 abc'",
        ),
        ("# OSU MPI Latency Test v3.7\n# Size Latency (us)\n1 -2\n", "line 3: '-2' is no number from 0: '1 -2'"),
        (
            "# OSU MPI Latency Test v3.7\n# Size Latency (us)\n1 nan\n",
            "line 3: 'nan' is no number from 0: '1 nan'",
        ),
        (
            "# OSU MPI Bandwidth Test v3.7\n# Size Bandwidth (MB/s)\n1 1e305\n",
            "line 3: '1e305' is too large: '1 1e305'",
        ),
        ("# OSU MPI Latency Test v3.7\n# Size Latency (us)\n1.5 2\n", "line 3: '1.5' is no size of a message"),
        (
            "# OSU MPI Latency Test v3.7\n# Size Latency (us)\n1 2\n2\n",
            "line 4: 1 words in a row, but the heading",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line_and_reason(text: str, reason: str) -> None:
    assert refused(text).startswith(reason)
