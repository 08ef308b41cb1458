"""Outputs of IMB, NetPIPE, STREAM, HPL, Himeno and numactl, and CSV, as figures in SI units."""

import pytest

from assay import importing
from assay.catalogue import benchmarks
from assay.importing import ImportOptions, Text
from assay.importing.text import UNITS
from assay.model.errors import UsageError
from assay.model.imported import Figure, Table

IMB = """#------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#------------------------------------------------------------
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 62 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         2.23         0.00
          128         1000         2.64        46.19
#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         3.10         3.30         3.20
#---------------------------------------------------
# Benchmarking Barrier
# #processes = 4
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         1.10         1.30         1.20
#-----------------------------------------------------------------------------
# Benchmarking Uniband
# #processes = 4
#-----------------------------------------------------------------------------
       #bytes #repetitions   Mbytes/sec      Msg/sec
         1024         1000      2048.00      2000000
# All processes entering MPI_Finalize
"""
STREAM = """-------------------------------------------------------------
STREAM version $Revision: 5.10 $
Array size = 80000000 (elements), Offset = 0 (elements)
Number of Threads requested = 64
Number of Threads counted = 64
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:          221000.1     0.005800     0.005792     0.005900
Scale:         220000.2     0.005900     0.005818     0.006000
Add:           243000.3     0.008000     0.007901     0.008100
Triad:         244000.4     0.007900     0.007869     0.008000
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
"""
HPL = """HPLinpack 2.3  --  High-Performance Linpack benchmark  --   December 2, 2018
T/V                N    NB     P     Q               Time                 Gflops
--------------------------------------------------------------------------------
WR11C2R4       35000   192     4     6             462.97              6.174e+01
HPL_pdgesv() start time Fri Oct 10 12:00:00 2003
--------------------------------------------------------------------------------
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   4.2e-03 ...... PASSED
T/V                N    NB     P     Q               Time                 Gflops
--------------------------------------------------------------------------------
WR11C2R4       10000   192     4     6              16.40              4.066e+01
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   9.9e+03 ...... FAILED
"""
NUMACTL = """$ numactl -H
available: 2 nodes (0-1)
node 0 cpus: 0 1 2 3 4 5 6 7
node 0 size: 32744 MB
node 0 free: 31553 MB
node 1 cpus: 8 9 10 11 12 13 14 15
node 1 size: 32768 MB
node 1 free: 17317 MB
node distances:
node 0 1\x20
0: 10 21\x20
1: 21 10\x20
メモリは使われておらず
"""


def tables(tool: str, text: str, name: str = "out.txt", test: str = "") -> tuple[Table, ...]:
    return importing.read(tool, [Text.of(name, text.encode())], ImportOptions(test=test)).tables


def by_metric(table: Table) -> dict[str, float]:
    return {each.metric: each.value for each in table.figures}


def at(table: Table, **params: object) -> list[Figure]:
    return [each for each in table.figures if params.items() <= each.params.items()]


def refused(tool: str, text: str) -> str:
    with pytest.raises(UsageError) as caught:
        importing.read(tool, [Text.of("out.txt", text.encode())], ImportOptions(strict=True))
    return caught.value.why


def test_blocks_of_imb_are_those_of_our_benchmarks() -> None:
    ping, allreduce, barrier, uniband = tables("imb", IMB)
    assert (ping.benchmark, ping.params, ping.version) == ("pt2pt", {"pattern": "latency", "ranks": 2}, "2021.3")
    assert [each.value for each in ping.figures if each.metric == "latency"] == [2.23e-6, 2.64e-6]
    assert [each.value for each in ping.figures if each.metric == "bandwidth"] == [pytest.approx(128 / 2.64e-6)]
    assert (allreduce.benchmark, allreduce.params["operation"]) == ("collective", "allreduce")
    assert by_metric(allreduce)["mean-latency"] == 3.2e-6
    assert by_metric(allreduce)["latency-t-max"] == 3.3e-6
    assert at(barrier)[0].params == {}
    assert by_metric(uniband) == {"message-rate": 2e6, "bandwidth": 2.048e9}


GROUPS = """
# Benchmarking Multi-PingPong
# ( 2 groups of 2 processes each running simultaneous )
       #bytes #rep.s  t_min[usec]  t_max[usec]  t_avg[usec]  Mbytes/sec
            1   1000         0.64         0.66         0.65        1.45

# Benchmarking Sendrecv
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            1         1000         0.46         0.48         0.47         4.17
# Benchmarking Uniband
# #processes = 2
       #bytes #repetitions   Mbytes/sec      Msg/sec
            0         1000         0.00      7000000
"""


def test_of_several_groups_the_slowest_pair_counts_and_nothing_has_no_rate_of_bytes() -> None:
    multi, sendrecv, uniband = tables("imb", GROUPS)
    assert (multi.params["pattern"], by_metric(multi)["latency"]) == ("multi-latency", 0.66e-6)
    assert (sendrecv.params["pattern"], by_metric(sendrecv)["latency"]) == ("sendrecv", 0.47e-6)
    assert by_metric(uniband) == {"message-rate": 7e6}


def test_a_block_that_we_have_no_benchmark_for_keeps_its_name() -> None:
    text = IMB.replace("PingPong", "Window").split("# Benchmarking Allreduce")[0]
    (table,) = tables("imb", text)
    assert (table.benchmark, table.figures[0].kernel, table.figures[0].metric) == ("imb", "window", "t")


def test_rows_of_imb_are_checked() -> None:
    assert refused("imb", IMB.replace("2.64        46.19", "2.64")).startswith(
        "line 11: 3 words in a row, but the heading names 4"
    )
    assert refused("imb", "#bytes #repetitions t[usec]\n0 1 2\n").startswith(
        "line 1: a heading of columns, but no"
    )
    assert refused("imb", "# Benchmarking Bcast\n") == (
        "line 1: no rows follow this heading: '# Benchmarking Bcast'"
    )


def test_what_netpipe_3_shows_is_latency_and_the_rate_of_a_ping_pong() -> None:
    text = (
        "$ mpirun -np 2 -H a,b ./NPmpi\nNow starting the main loop\n"
        "  0:       1 bytes   2628 times -->      0.21 Mbps in      36.27 usec\n"
        "  1:    1000 bytes   2757 times -->    190.73 Mbps in      40.00 usec\n"
    )
    (table,) = tables("netpipe", text)
    assert (table.benchmark, table.placement) == ("pt2pt", "one-core@2")
    latency, bandwidth = at(table, bytes=1000)
    assert (latency.metric, latency.params["pattern"], latency.value) == ("latency", "latency", 40e-6)
    assert bandwidth.params["pattern"] == "ping-pong"
    assert bandwidth.value == pytest.approx(25e6)
    assert {each.printed_unit for each in table.figures} == {"usec"}


def test_netpipe_5_scales_sizes_rates_and_times_and_colours_them() -> None:
    text = (
        "  1: \x1b[32m      1  B\x1b[0m     24999 times -->    2.646 Mbps  in    3.024 usecs\n"
        "  2:   1.536 KB       999 times -->    4.096 Gbps  in  750.000 nsecs\n"
    )
    (table,) = tables("netpipe", text, test="NPtcp")
    assert table.benchmark == "tcp"
    assert [(each.params["bytes"], each.value) for each in at(table, pattern="latency")] == [
        (1, 3.024e-6),
        (1536, 750e-9),
    ]


@pytest.mark.parametrize("row", ["1000 190.73 0.00004", "1000 0.2 0.19 0.21 40.0"])
def test_np_out_of_both_versions_is_read(row: str) -> None:
    (table,) = tables("netpipe", f"{row}\n", test="NPmemcpy")
    assert by_metric(table) == {"time": 40e-6, "bandwidth": pytest.approx(25e6)}


def test_netpipe_wants_to_know_its_module() -> None:
    assert "nothing names NetPIPE's module; say it with --test" in refused("netpipe", "1000 190.73 0.00004\n")
    broken = "  0: 1 bytes 2628 times --> soon\n"
    assert refused("netpipe", broken).startswith("line 1: no 'RATE bps in TIME' follows '-->'")


def test_stream_prints_its_best_rate_and_that_is_said() -> None:
    (table,) = tables("stream", STREAM)
    triad = next(each for each in table.figures if (each.kernel, each.metric) == ("triad", "bandwidth"))
    assert (triad.value, triad.remark) == (244000.4e6, "the best of its repetitions")
    assert table.params == {"elements": 80000000, "threads": 64}
    assert table.version == "5.10"


def test_stream_that_failed_its_validation_counts_for_nothing() -> None:
    (table,) = tables("stream", STREAM.replace("Solution Validates:", "Failed Validation on array a[],"))
    assert table.failed == "STREAM's own validation failed in line 12"


def test_stream_wants_all_four_kernels() -> None:
    assert refused("stream", STREAM.replace("Add:", "Sum:")).startswith("line 10: no row of add belongs to this")
    assert refused("stream", "Copy: 1.0 2.0\n").startswith("line 1: 2 numbers in a row, not rate")


def test_hpl_counts_where_its_residual_passed() -> None:
    passed, failed = tables("hpl", HPL)
    assert by_metric(passed) == {"rate": 61.74e9, "time": 462.97}
    assert passed.params == {"n": 35000, "nb": 192, "p": 4, "q": 6, "variant": "WR11C2R4"}
    assert (passed.version, passed.failed) == ("2.3", "")
    assert failed.failed == "HPL's own check of the residual failed in line 11"
    assert refused("hpl", "WR11C2R4 35000 192 4 6 462.97\n").startswith("line 1: 5 numbers in a row")


def test_the_rate_that_hpl_prints_is_that_of_its_count_of_operations() -> None:
    passed, _ = tables("hpl", HPL)
    n = 35000
    assert by_metric(passed)["rate"] == pytest.approx((2 * n**3 / 3 + 1.5 * n**2) / 462.97, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("mimax = 129 mjmax = 129 mkmax = 257\nimax = 128 jmax = 128 kmax =256\nMFLOPS measured : 541.2\n", "M"),
        (" mimax= 513  mjmax= 513  mkmax= 1025\n  MFLOPS:   541.2   time(s):  60.0 0.0001\n", "XL"),
        ("$ ./himeno\nMFLOPS: 541.2\n", "not stated"),
        (
            "imax = 128\nMFLOPS: 500.1 time(s): 1.2\nNow, start the actual measurement.\nMFLOPS: 541.2\n",
            "M",
        ),
    ],
)
def test_himeno_in_c_and_fortran_is_read(text: str, size: str) -> None:
    (table,) = tables("himeno", text)
    assert (table.params["size"], by_metric(table)) == (size, {"rate": 541.2e6})


def test_numactl_gives_sizes_free_memory_and_distances() -> None:
    (table,) = tables("numactl", NUMACTL)
    assert [each.value for each in table.figures if each.metric == "distance"] == [10, 21, 21, 10]
    assert at(table, node=1)[0].value == 32768 * 2**20
    assert refused("numactl", NUMACTL.replace("1: 21 10", "1: 21")).startswith("line 12: 1 distances of node 1")
    assert refused("numactl", NUMACTL.replace("1: 21 10", "")).endswith(
        "no distances of node 1 follow: '0: 10 21'"
    )


def test_csv_takes_unknown_columns_as_parameters() -> None:
    text = (
        "benchmark,metric,unit,value,pattern,bytes,placement,factor:mpi\n"
        "pt2pt,latency,us,1.5,latency,8,one-core@2,openmpi\npt2pt,latency,us,2.5,latency,8,one-core@2,mpich\n"
    )
    first, second = tables("csv", text)
    assert first.params == {"pattern": "latency", "bytes": 8}
    assert (first.factors, second.factors) == ({"mpi": "openmpi"}, {"mpi": "mpich"})
    assert first.figures[0].value == 1.5e-6
    assert first.figures[0].better == "lower"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("benchmark,metric,value\na,b,1\n", "line 1: no column is called unit"),
        ("benchmark,metric,unit,value\na,b,us\n", "line 2: 3 cells in a row of 4 columns"),
        ("benchmark,metric,unit,value\na,b,furlongs,1\n", "line 2: 'furlongs' is no unit"),
        ("benchmark,metric,unit,value\na,b,us,much\n", "line 2: 'much' is no number from 0"),
        ("benchmark,metric,unit,value,memory\na,b,us,1,best\n", "line 2: 'best' is no policy"),
        ("benchmark,metric,unit,value,value\na,b,us,1,1\n", "line 1: a column has no name, or two"),
        ("benchmark,metric,unit,value,bytes\na,b,us,1,8 MB\n", "line 2: '8 MB' is no whole number of bytes"),
        ('benchmark,metric,unit,value\na,b,us,"1\n', "line 3: unexpected end of data"),
    ],
)
def test_csv_that_cannot_be_read_is_refused(text: str, reason: str) -> None:
    assert refused("csv", text).startswith(reason)


def test_every_unit_of_assays_own_figures_can_be_imported_again() -> None:
    own = {metric.unit for name in benchmarks.names() for metric in benchmarks.get(name).metrics}
    assert {unit: UNITS.get(unit) for unit in own} == {unit: (unit, 1.0) for unit in own}


def test_an_output_of_no_nodes_is_read() -> None:
    """As a damaged file may say: the number of ranks on a node is then not known."""
    text = (
        "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\nOptions:\napi : POSIX\naccess : file-per-process\n"
        "nodes : 0\ntasks : 1\nxfersize : 1 GiB\nblocksize : 1000 GiB\n\n"
        "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   "
        "total(s)   iter\n"
        "write     1290.15    1.26       793.7       1048576000 1048576    0.001      793.7      0.001      "
        "793.7      0\n"
    )
    found = importing.read("ior", [Text.of("ior.txt", text.encode())])
    assert [each.value for table in found.tables for each in table.figures if each.metric == "bandwidth"]
