"""Outputs as people keep them: in comments of scripts, set in on pages, cut to the columns that they liked.

The lines are those that the programs print; where they were found stands beside them.
"""

import pytest

from assay import importing
from assay.importing import Text
from assay.model.errors import UsageError

#: (where it was found, what it holds), the tool, how many figures, one of them: kernel, metric, value.
FOUND = [
    (
        "BabelStream 5.0 in the comments of a definition for Ramble",
        """#  BabelStream
#  Version: 5.0
#  Running kernels 100 times
#  Array size: 268.4 MB (=0.3 GB)
#  Init: 0.074336 s (=10833.309933 MBytes/sec)
#  Function    MBytes/sec  Min (sec)   Max         Average
#  Copy        22381.909   0.02399     0.03809     0.02490
#  Triad       23935.398   0.03364     0.05200     0.03470
""",
        ("BabelStream", 4, ("triad", "bandwidth", 23935.398e6)),
    ),
    (
        "BabelStream inside ROCm's validation suite, in a thread on GitHub: a colon behind the kernel",
        """[INFO  ] [  3920.505483] Missing 'device_index' key.
Using HIP device AMD Radeon Instinct MI25
Function    MBytes/sec  Min (sec)   Max         Average
Copy :      387715.009  0.00138     0.00165     0.00151
""",
        ("BabelStream", 2, ("copy", "bandwidth", 387715.009e6)),
    ),
    (
        "IOR 3.3 in the comments of a script of a file system's installer",
        """# tasks               : 480
# xfersize            : 1 MiB
# Results:
# access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)  wr/rd(s) close(s) total(s) iter
# ------    ---------  ----       ----------  ---------- ---------  -------- -------- -------- -------- ----
# write     1223.48    1223.99    4.65        16384      1024.00    2.44     100.39   88.37    100.44   0
""",
        ("IOR", 3, ("write", "bandwidth", 1223.48 * 2**20)),
    ),
    (
        "perftest in a blog on lossless Ethernet: the author's comments, a peak that was not measured",
        """#  #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]
#  65536      279928           0.00               5830.79               0.093293
""",
        ("perftest", 2, ("transfer", "bandwidth", 5830.79 * 2**20)),
    ),
    (
        "perftest on two nodes with unlike clocks: a warning between heading and row",
        """ #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]
Conflicting CPU frequency values detected: 5008.116000 != 3295.212000. CPU Frequency is not max.
 65536      1000             46567.34            46557.03\t\t     0.744912
""",
        ("perftest", 3, ("transfer", "bandwidth", 46557.03 * 2**20)),
    ),
    (
        "Memory Latency Checker 3.5 in the documentation of VPP's tests, a block of reStructuredText",
        """::

    $ sudo /home/testuser/mlc --idle_latency
    Intel(R) Memory Latency Checker - v3.5
    Using buffer size of 2000.000MB
    Each iteration took 202.0 core clocks ( 80.8    ns)
""",
        ("Intel Memory Latency Checker", 1, ("idle-lat", "latency", 80.8e-9)),
    ),
    (
        "Memory Latency Checker 3.11b: caches of two sockets, who owns the line named before each matrix",
        """Intel(R) Memory Latency Checker - v3.11b
Measuring cache-to-cache transfer latency (in ns)...
Local Socket L2->L2 HIT  latency\t49.5
Remote Socket L2->L2 HITM latency (data address homed in writer socket)
\t\t\tReader Numa Node
Writer Numa Node     0\t     1
            0\t     -\t 115.2
            1\t 115.5\t     -
Remote Socket L2->L2 HITM latency (data address homed in reader socket)
\t\t\tReader Numa Node
Writer Numa Node     0\t     1
            0\t     -\t 196.8
            1\t 196.2\t     -
""",
        (
            "Intel Memory Latency Checker",
            5,
            ("l2-l2-hitm-latency-data-address-homed-in-reader", "latency", 196.8e-9),
        ),
    ),
    (
        "nvbandwidth 0.7 over four GB200, in a file of YAML",
        """      nvbandwidth Version: v0.7

      Running multinode_device_to_device_memcpy_read_ce.
      memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
                0         1
      0       N/A    798.02
      1    798.10       N/A

      SUM multinode_device_to_device_memcpy_read_ce 44685.29
""",
        ("nvbandwidth", 2, ("multinode-device-to-device-memcpy-read-ce", "bandwidth", 798.02e9)),
    ),
    (
        "nvbandwidth in a book on training: both directions at once, a unit behind another word",
        """memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)
           0         1
 0       N/A    785.81
 1    785.83       N/A
""",
        ("nvbandwidth", 2, ("result", "bandwidth", 785.81e9)),
    ),
    (
        "nccl-tests in a blog on two desktops: cut to four columns",
        """#       size      time   algbw   busbw
#        (B)      (us)  (GB/s)  (GB/s)
 17179869184   387603   44.32   22.16
# Avg bus bandwidth    : 21.9736
""",
        ("nccl-tests", 3, ("own", "bus-bandwidth", 22.16e9)),
    ),
    (
        "https://github.com/open-mpi/ompi/issues/11419: UCX draws tables of its protocols between the rows",
        """# OSU MPI Bandwidth Test v7.0
# Size      Bandwidth (MB/s)
[1677048795.550919] [lnx-user-vv:1273429:0]   +---------------------------------+-------------------+
[1677048795.550926] [lnx-user-vv:1273429:0]   |       0..92 | eager short       | sysv/memory |
1                       7.31
[1677048795.550927] [lnx-user-vv:1273429:0]   |    93..8248 | eager copy-in copy-out | sysv/memory |
2                      14.86
""",
        ("OSU Micro-Benchmarks", 2, ("message", "bandwidth", 7.31e6)),
    ),
    (
        "https://github.com/ofiwg/libfabric/pull/5748: a log of Jenkins, the time of day before each line",
        """15:05:04 # OSU MPI Latency Test v5.6.2
15:05:04 # Size          Latency (us)
15:05:04 0                      18.58
15:05:05 2                      18.54
15:05:10 Unable to write to EQ: Missing or unavailable event queue. err: Input/output error (5)
""",
        ("OSU Micro-Benchmarks", 2, ("message", "latency", 18.58e-6)),
    ),
    (
        "https://github.com/intel/mpi-benchmarks/issues/37: the name of a block in its author's words, a remark",
        """Sendrecv\uff1a
#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
524288 80 46.49 59.52 54.79 17616.61
1048576 40 164.35 258.68 217.49 8107.16 \u2605\u2190Drops from here
""",
        ("Intel MPI Benchmarks", 6, ("message", "latency", 54.79e-6)),
    ),
    (
        "https://github.com/openucx/ucx/issues/2329: dates and tags of Open MPI in the middle of lines",
        """$ mpirun -np 2 NPmpi
Mon Feb 19 19:09:19 2018[1,0]<stdout>: 68:     16383 bytes 22340 times --> Mon Feb 19 19:09:20 2018[1,0]<stdout>: \
22114.91 Mbps in 0.000005652 sec
""",
        ("NetPIPE", 2, ("message", "latency", 5.652e-6)),
    ),
    (
        "https://github.com/numactl/numactl/issues/224: the distances of a machine of 36 nodes alone",
        """node   0   1
  0:  10  40
  1:  40  10
""",
        ("numactl", 4, ("node", "distance", 10)),
    ),
    (
        "https://github.com/ROCm/rocHPCG/issues/46: a summary without its last lines",
        """GB/s Summary::Raw Total B/W=1487.6
GB/s Summary::Total with convergence and optimization phase overhead=1476.61
GFLOP/s Summary::Raw MG=212.227
GFLOP/s Summary::Raw Total=196.268
""",
        ("HPCG", 2, ("rate", "raw-rate", 196.268e9)),
    ),
]


@pytest.mark.parametrize(("text", "says"), [pytest.param(text, says, id=where) for where, text, says in FOUND])
def test_what_is_set_in_or_cut_is_read(text: str, says: tuple[str, int, tuple[str, str, float]]) -> None:
    tool, count, (kernel, metric, value) = says
    (table,) = importing.read("", [Text.of("page.txt", text.encode())]).tables
    assert (table.tool, len(table.figures)) == (tool, count)
    found = next(each for each in table.figures if (each.kernel, each.metric) == (kernel, metric))
    assert found.value == pytest.approx(value, rel=1e-12)


def test_what_a_loader_says_is_no_command_and_the_launch_line_before_it_counts() -> None:
    """From the documentation of a site with containers, set in below the title of a tab."""
    text = """    ```console
    $ srun -N2 --mpi=pmix --environment=omb-ompi ./pt2pt/osu_bw --validation
    /usr/local/libexec/osu-micro-benchmarks/mpi/./pt2pt/osu_bw: /usr/lib/libnl-3.so.200: no version information

    # OSU MPI Bandwidth Test v7.5
    # Datatype: MPI_CHAR.
    # Size      Bandwidth (MB/s)        Validation
    1                       0.95              Pass
    ```
"""
    (table,) = importing.read("", [Text.of("page.md", text.encode())]).tables
    assert table.command == "srun -N2 --mpi=pmix --environment=omb-ompi ./pt2pt/osu_bw --validation"


def test_rows_that_an_archive_of_letters_broke_in_two_are_whole() -> None:
    """IMB's Exchange on 40 processes, from a letter to the users of Open MPI."""
    text = """<p># Benchmarking Exchange
<br>
<p># #processes = 40
<br>
&nbsp;&nbsp;&nbsp;#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
<br>
Mbytes/sec
<br>
&nbsp;&nbsp;&nbsp;0         1000        19.70        20.37        19.87
<br>
&nbsp;&nbsp;&nbsp;&nbsp;0.00
<br>
&nbsp;&nbsp;&nbsp;1         1000        12.80        13.61        13.25
<br>
&nbsp;&nbsp;&nbsp;&nbsp;0.28
<br>
"""
    (table,) = importing.read("", [Text.of("page.html", text.encode())]).tables
    times = {each.params["bytes"]: each.value for each in table.figures if each.metric == "latency"}
    assert times == pytest.approx({0: 19.87e-6, 1: 13.25e-6})
    cut = text.rpartition("<br>\n&nbsp;&nbsp;&nbsp;&nbsp;")[0]
    with pytest.raises(UsageError) as refused:
        importing.read("", [Text.of("page.html", cut.encode())])
    assert "5 words in a row, but the heading names 6 columns" in refused.value.why


def test_an_output_that_stands_as_it_was_printed_is_not_read_a_second_time_from_a_comment() -> None:
    heading = "Function    MBytes/sec  Min (sec)   Max         Average\n"
    row = "Copy        22381.909   0.02399     0.03809     0.02490\n"
    text = f"# {heading}# {row.replace('22381', '11111')}{heading}{row}"
    (table,) = importing.read("", [Text.of("page.txt", text.encode())]).tables
    assert [each.printed for each in table.figures] == ["22381.909 MBytes/sec", "0.02490 s"]


def test_a_comment_that_only_speaks_of_a_tool_is_no_output() -> None:
    with pytest.raises(UsageError, match="cannot import"):
        importing.read(
            "", [Text.of("run.sh", b"#!/bin/sh\n# BabelStream\n#   runs here, as IOR-4.0: does\n./stream\n")]
        )
