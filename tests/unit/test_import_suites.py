"""Formats of suites, storage and applications, each in the forms of several versions; see test_import_networks."""

import pytest
from tests.unit.test_import_networks import Sample, check, tables

from assay import importing
from assay.importing import Text

HPCG = [
    Sample(
        "a log of 2019 on eight processes: version 3.0, whose report is YAML",
        "HPCG",
        """n104-8p-1t version: V3.0
Release date: November 11, 2015
Machine Summary:\x20
  Distributed Processes: 8
  Threads per processes: 1
Global Problem Dimensions:\x20
  Global nx: 208
  Global ny: 208
  Global nz: 208
GB/s Summary:\x20
  Raw Read B/W: 20.456
  Raw Total B/W: 25.1834
GFLOP/s Summary:\x20
  Raw Total: 3.32037
__________ Final Summary __________:\x20
  HPCG result is VALID with a GFLOP/s rating of: 3.28908
      HPCG 2.4 Rating (for historical value) is: 3.30425
""",
        {"ranks": 8, "threads": 1, "nx": 208, "nz": 208},
        [("rate", "rate", 3.28908e9, {}), ("rate", "traffic", 25.1834e9, {}), ("rate", "raw-rate", 3.32037e9, {})],
        3,
    ),
    Sample(
        "a test of a collector: the report of version 3.1",
        "HPCG",
        """HPCG-Benchmark
version=3.1
Machine Summary::Distributed Processes=4
Benchmark Time Summary::Total=60.0429
Final Summary::HPCG result is VALID with a GFLOP/s rating of=77.0017
""",
        {"ranks": 4},
        [("rate", "rate", 77.0017e9, {}), ("rate", "time", 60.0429, {})],
        2,
    ),
    Sample(
        "the same log: what the program shows at its end",
        "HPCG",
        "HPCG result is VALID with a GFLOP/s rating of 3.289080\n",
        {},
        [("rate", "rate", 3.28908e9, {})],
        1,
    ),
]
HPCC = [
    Sample(
        "hpccoutf.txt of 2025 on two processes: version 1.5.0",
        "HPCC",
        """Begin of Summary section.
VersionMajor=1
Success=1
CommWorldProcs=2
HPL_Tflops=0.00554804
HPL_N=20352
HPL_NB=192
HPL_nprow=1
HPL_npcol=2
StarDGEMM_Gflops=2.48054
PTRANS_GBs=1.28364
MPIRandomAccess_GUPs=0.00242492
StarSTREAM_Triad=6.13408
MaxPingPongLatency_usec=7.96919
RandomlyOrderedRingBandwidth_GBytes=3.12554
End of Summary section.
""",
        {"ranks": 2, "n": 20352, "nb": 192, "p": 1, "q": 2},
        [
            ("hpl", "rate", 5.54804e9, {}),
            ("mpi-random-access", "updates", 2424920.0, {}),
            ("star-stream-triad", "bandwidth", 6.13408e9, {}),
            ("max-ping-pong", "latency", 7.96919e-6, {}),
        ],
        7,
    ),
    Sample(
        "hpccoutf.txt of 2019 on 16 processes; what was not measured is -1",
        "HPCC",
        "Begin of Summary section.\nCommWorldProcs=16\nHPL_Tflops=0.120409\nHPL_time=125.287\nMPIFFT_Gflops=-1\n",
        {"ranks": 16},
        [("hpl", "rate", 120.409e9, {}), ("hpl", "time", 125.287, {})],
        2,
    ),
]
MLC = [
    Sample(
        "https://github.com/cncf/cnf-testbed/issues/129: version 3.5",
        "Intel Memory Latency Checker",
        """root@x:~/mlc/Linux# sudo ./mlc
Intel(R) Memory Latency Checker - v3.5
Measuring Memory Bandwidths between nodes within system
Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)
                Numa node
Numa node            0       1
       0        90935.7 34457.4
       1        34387.1 90870.6

Measuring Peak Injection Memory Bandwidths for the system
Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)
ALL Reads        :      181223.5
3:1 Reads-Writes :      172511.5
Stream-triad like:      147942.5
""",
        {},
        [
            ("memory-bandwidths-between-nodes", "bandwidth", 34457.4e6, {"node": 0, "to": 1}),
            ("peak", "bandwidth", 172511.5e6, {"traffic": "3:1 Reads-Writes"}),
        ],
        7,
    ),
    Sample(
        "a page on memory's speed: version 3.9, idle and loaded latencies",
        "Intel Memory Latency Checker",
        """Intel(R) Memory Latency Checker - v3.9
Measuring idle latencies (in ns)...
    Numa node
Numa node      0       1
       0    77.9   143.2
       1   144.4    78.4

Measuring Loaded Latencies for the system
Using Read-only traffic type
Inject  Latency Bandwidth
Delay   (ns)    MB/sec
==========================
 00000  130.31   135655.9
 20000   81.96     1237.6
""",
        {},
        [
            ("idle-lat", "latency", 144.4e-9, {"node": 1, "to": 0}),
            ("loaded", "latency", 130.31e-9, {"delay": 0}),
            ("loaded", "bandwidth", 1237.6e6, {"delay": 20000}),
        ],
        8,
    ),
    Sample(
        "a page of commands: version 3.1, whose nodes have other names",
        "Intel Memory Latency Checker",
        """Measuring idle latencies (in ns)...
        Memory node
Socket       0       1
     0   106.9   107.5
     1   107.2   107.2
""",
        {},
        [("idle-lat", "latency", 107.5e-9, {"node": 0, "to": 1})],
        4,
    ),
]
IOR = [
    Sample(
        "https://github.com/hpc/ior/issues/495: version 4",
        "IOR",
        """IOR-4.0.0rc1: MPI Coordinated Test of Parallel I/O
Options:
api                 : POSIX
access              : file-per-process
nodes               : 1
tasks               : 1
xfersize            : 1 GiB
blocksize           : 1000 GiB

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
write     1290.15    1.26       0.060289    1048576000 1048576    0.032257   60.29      0.000028   60.32      0

Max Write: 1290.15 MiB/sec (1352.82 MB/sec)
""",
        {"api": "POSIX", "access": "file-per-process", "ranks": 1, "transfer": "1 GiB"},
        [
            ("write", "bandwidth", 1290.15 * 2**20, {"iteration": 0}),
            ("write", "operations", 1.26, {}),
            ("write", "best-bandwidth", 1290.15 * 2**20, {}),
        ],
        4,
    ),
    Sample(
        "https://github.com/hpc/ior/pull/27: version 3.0 without operations; files that were removed",
        "IOR",
        """access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ---------- ---------  --------   --------   --------   --------   ----
read      22660      2097152    4.00       0.011624   4.34       2.70       4.34       0
remove    -          -          -          -          -          -          0.360676   0
write     25110      2097152    4.00       0.012490   3.91       0.516111   3.91       1
""",
        {},
        [("read", "bandwidth", 22660 * 2**20, {"iteration": 0}), ("write", "time", 3.91, {"iteration": 1})],
        4,
    ),
    Sample(
        "https://github.com/hpc/ior/pull/90: only the last lines",
        "IOR",
        "Max Write: 9371.43 MiB/sec (9826.66 MB/sec)\nMax Read:  9910.48 MiB/sec (10391.89 MB/sec)\n",
        {},
        [("read", "best-bandwidth", 9910.48 * 2**20, {})],
        2,
    ),
]
MDTEST = [
    Sample(
        "https://github.com/hpc/ior/pull/336: version 4, of each rank and of each iteration",
        "mdtest",
        """mdtest-4.0.0+dev was launched with 2 total task(s) on 1 node(s)
SUMMARY rate: (of 2 iterations)
   Operation         per Rank: Max       Min       Mean      per Iteration: Max      Min     Mean    Std Dev
   ---------                   ---       ---       ----                     ---      ---     ----    -------
   Directory creation  8405418.838 1785570.030 5115828.881  16677153.082 3571140.060 10124146.571 9267350.682
""",
        {"ranks": 2, "nodes": 1},
        [("directory-creation", "rate", 10124146.571, {}), ("directory-creation", "min-rate", 3571140.06, {})],
        3,
    ),
    Sample(
        "the form of versions 1.9 to 3.3, figures of https://github.com/hpc/ior/issues/300",
        "mdtest",
        """mdtest-3.3.0+dev was launched with 10 total task(s) on 1 node(s)
SUMMARY rate: (of 3 iterations)
   Operation                      Max            Min           Mean        Std Dev
   ---------                      ---            ---           ----        -------
   File creation             :     301409.087      61433.665     125683.173      64712.016
   File stat                 :    3043769.404     287525.698     542738.382     518464.493
""",
        {"ranks": 10},
        [("file-creation", "rate", 125683.173, {}), ("file-stat", "max-rate", 3043769.404, {})],
        6,
    ),
]
GROMACS = [
    Sample(
        "a page on ReFrame: GROMACS of 2025",
        "GROMACS",
        """               Core t (s)   Wall t (s)        (%)
       Time:    28258.913      353.239     7999.9
                 (ns/day)    (hour/ns)
Performance:        4.892        4.906
Finished mdrun on rank 0 Tue Apr  1 13:43:36 2025
""",
        {},
        [("run", "simulated", 4.892, {}), ("run", "time", 353.239, {})],
        2,
    ),
    Sample(
        "a labbook of 2015: GROMACS 4.6 or 5.0, with the time in hours between",
        "GROMACS",
        """               Core t (s)   Wall t (s)        (%)
       Time:   329876.580    33009.459      999.3
                         9h10:09
                 (ns/day)    (hour/ns)
Performance:       13.087        1.834
""",
        {},
        [("run", "simulated", 13.087, {}), ("run", "time", 33009.459, {})],
        2,
    ),
    Sample(
        "https://github.com/michellab/BioSimSpace/issues/89: the head of a log, figures of an ethanol box",
        "GROMACS",
        """GROMACS version:    2019.1
MPI library:        thread_mpi
Using 4 MPI processes
Using 8 OpenMP threads per MPI process
 Time:      887.625       31.714     2798.9
                 (ns/day)    (hour/ns)
Performance:      108.981        0.220
""",
        {"ranks": 4, "threads": 8},
        [("run", "simulated", 108.981, {})],
        2,
    ),
]
WRF = [
    Sample(
        "https://github.com/DOI-USGS/COAWST/issues/301: two ranks wrote into one file",
        "WRF",
        """ Ntasks in X            2 , ntasks in Y            2
Timing for main: time 2015-08-07_18:13:38 on domain   2:    0.41302 elapsed seconds
Timing for main: time 2015-08-07_18:13:38 on domain   2:    0.41302 elapsed seconds
Timing for main: time 2015-08-07_18:13:45 on domain   2:    0.36965 elapsed seconds
Timing for main: time 2015-08-07_18:13:45 on domain   2:    0.36965 elapsed seconds
Timing for main: time 2015-08-07_18:13:45 on domain   1:    1.80842 elapsed seconds
Timing for Writing wrfout_d01_2015-08-07 for domain        1:    2.5 elapsed seconds
""",
        {"ranks": 4},
        [
            ("step", "time", 0.78267, {"domain": 2}),
            ("step", "mean-time", 0.391335, {"domain": 2}),
            ("step", "mean-time", 1.80842, {"domain": 1}),
            ("output", "time", 2.5, {"domain": 1}),
        ],
        6,
    ),
]

LIKWID = [
    Sample(
        "https://github.com/RRZE-HPC/likwid/issues/664: the form of version 5",
        "likwid-bench",
        """LIKWID MICRO BENCHMARK
Test: triad_mem_avx512_fma
--------------------------------------------------------------------------------
Using 1 work groups
Using 20 threads
--------------------------------------------------------------------------------
Cycles:\t\t\t6696678972
CPU Clock:\t\t2000026142
Time:\t\t\t3.348323e+00 sec
Size (Byte):\t\t19999989760
MFlops/s:\t\t11946.27
MByte/s:\t\t191140.47
Cycles per update:\t0.334834
""",
        {"groups": 1, "threads": 20, "bytes": 19999989760},
        [
            ("triad-mem-avx512-fma", "bandwidth", 191140.47e6, {}),
            ("triad-mem-avx512-fma", "rate", 11946.27e6, {}),
        ],
        3,
    ),
    Sample(
        "https://github.com/RRZE-HPC/likwid/issues/664: what grep left of it",
        "likwid-bench",
        """Cycles:\t\t\t3510586692
Time:\t\t\t1.755282e+00 sec
MByte/s:\t\t182306.94
""",
        {},
        [("own", "bandwidth", 182306.94e6, {}), ("own", "time", 1.755282, {})],
        2,
    ),
    Sample(
        "https://github.com/RRZE-HPC/likwid/issues/93: version 4.2, two warnings before it",
        "likwid-bench",
        """Warning: Sanitizing vector length to a multiple of the loop stride 16 from 15000 elements (240000 bytes)
Allocate: Process running on core 0 (Domain S0) - Vector length 14992/119936 Offset 0 Alignment 512
LIKWID MICRO BENCHMARK
Test: update_avx
Using 1 threads
Cycle Clock:            2200036822
MByte/s:                27961.02
""",
        {"threads": 1},
        [("update-avx", "bandwidth", 27961.02e6, {})],
        1,
    ),
]


@pytest.mark.parametrize(
    "sample", [*HPCG, *HPCC, *MLC, *IOR, *MDTEST, *GROMACS, *WRF, *LIKWID], ids=lambda each: each.source[:60]
)
def test_outputs_are_read_as_they_were_printed(sample: Sample) -> None:
    check(sample)


def test_what_the_tool_condemns_does_not_count() -> None:
    assert (
        tables(HPCG[1].text.replace("VALID", "INVALID"))[0].failed == "the check of HPCG itself failed in line 5"
    )
    assert tables(HPCC[0].text.replace("Success=1", "Success=0"))[0].failed


def test_two_starts_are_two_tables_and_a_report_without_a_result_is_listed() -> None:
    dead = "HPCG-Benchmark\nversion=3.1\nMachine Summary::Distributed Processes=4\n"
    found = importing.read("", [Text.of("out.txt", (dead + HPCG[1].text + GROMACS[0].text * 2).encode())])
    assert [each.params.get("repeat") for each in found.tables] == [None, 1, 2]
    assert [(each.where, each.reason.partition(":")[0]) for each in found.skipped] == [
        ("line 1", "no figures follow this heading")
    ]
