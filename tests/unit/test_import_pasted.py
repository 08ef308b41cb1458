"""Further outputs as people pasted them, of other versions and forms; see test_import_networks."""

import json

import pytest
from tests.unit.test_import_networks import Sample, check, tables

from assay import importing
from assay.importing import Text

HPL = [
    Sample(
        "a page on eight A100 of 2024: HPL-NVIDIA 24.3, with a complaint of PMIx before it",
        "HPL",
        """[gpu001:438533] PMIX ERROR: ERROR in file gds_ds12_lock_pthread.c at line 168
================================================================================
HPL-NVIDIA 24.3.0  -- NVIDIA accelerated HPL benchmark -- NVIDIA
================================================================================
T/V                N    NB     P     Q         Time          Gflops (   per GPU)
--------------------------------------------------------------------------------
WC0            92160  1024     1     1        30.73       1.698e+04 ( 1.698e+04)
HPL_pdgesv() start time Tue Mar 12 04:52:03 2024
--------------------------------------------------------------------------------
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   0.000320172243 ...... PASSED
||Ax-b||_oo  . . . . . . . . . . . . . . . . . = 0.0000000009839921
""",
        {"n": 92160, "nb": 1024, "p": 1, "q": 1},
        [("rate", "rate", 16.98e12, {}), ("time", "time", 30.73, {})],
        2,
    ),
    Sample(
        "the same page, two nodes: messages of NCCL between the row and its check",
        "HPL",
        """WC0           136192  1024     2     1        50.86       3.311e+04 ( 1.656e+04)
gpu001:407892:407892 [0] NCCL INFO comm 0x5555bc5462a0 rank 0 nranks 2 cudaDev 0 busId 100000 - Destroy COMPLETE
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   0.000342665054 ...... PASSED
""",
        {"n": 136192, "p": 2, "q": 1},
        [("rate", "rate", 33.11e12, {})],
        2,
    ),
    Sample(
        "a page on GH200 of 2025 under srun: the progress of the factors, then the row",
        "HPL",
        """[clariden][x@ln001 ~]$ srun -N8 --ntasks-per-node=4 --mpi=pmix --environment=hpc ./hpl.sh --dat H.dat
 Prog= 10.64%       N_left=   508928        Time=   6.85    Time_left=  57.49       iGF= 1618938.77 GF= 1528582.60
T/V                N    NB     P     Q         Time          Gflops (   per GPU)
WC0           571392  1024     4     8        98.05       1.268e+06 ( 3.964e+04)
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   0.000343347104 ...... PASSED
""",
        {"n": 571392, "p": 4, "q": 8},
        [("rate", "rate", 1.268e15, {})],
        2,
    ),
]
HOST = ("memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)", [["12.3477", "12.3492"]])
PEERS = ("memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)", [["N/A", "276.952"], ["276.94", "N/A"]])
LATENCY = ("Device to Device Latency SM GPU(row) <-> GPU(column) (ns)", [["N/A", "1220.52"], ["1210.61", "N/A"]])


def nvbandwidth(tests: dict[str, tuple[str, list[list[str]]] | str], **fields: object) -> str:
    """What --json prints, as jsoncpp styles it."""
    cases = [
        {"name": name, "status": held}
        if isinstance(held, str)
        else {"bandwidth_description": held[0], "bandwidth_matrix": held[1], "name": name, "status": "Passed"}
        for name, held in tests.items()
    ]
    return json.dumps({"nvbandwidth": {"git_version": "", "testcases": cases, **fields}}, indent="\t") + "\n"


NVBANDWIDTH = [
    Sample(
        "SpareCores/sc-inspector-data, two A100 of a2-highgpu-2g: version 0.5",
        "nvbandwidth",
        nvbandwidth(
            {
                "host_to_device_memcpy_ce": HOST,
                "device_to_device_memcpy_write_ce": PEERS,
                "device_to_device_latency_sm": LATENCY,
            },
            version="v0.5",
        ),
        {},
        [
            ("host-to-device-memcpy-ce", "bandwidth", 12.3492e9, {"row": 0, "column": 1}),
            ("device-to-device-memcpy-write-ce", "bandwidth", 276.94e9, {"row": 1, "column": 0}),
            ("device-to-device-latency-sm", "latency", 1220.52e-9, {"row": 0, "column": 1}),
        ],
        6,
    ),
    Sample(
        "NVIDIA/DCGM, tests of its plug-in: warnings with braces around the object, a blank behind the unit",
        "nvbandwidth",
        "WARNING: garbage messages {\nWARNING: another garbage messages {{{}}}}}\n"
        + nvbandwidth(
            {
                "host_device_latency_sm": ("memory latency SM CPU(row) <-> GPU(column) (ns) ", [["649.879"]]),
                "all_to_one_read_sm": "Waived",
            }
        )
        + "WARNING: garbage messages }}}\n",
        {},
        [("host-device-latency-sm", "latency", 649.879e-9, {"row": 0, "column": 0})],
        1,
    ),
    Sample(
        "an output of version 0.8 on a laptop, as text: after rates the latencies of the device",
        "nvbandwidth",
        """nvbandwidth Version: v0.8
Running host_to_all_bidirectional_memcpy_sm.
memcpy SM CPU(row) <-> GPU(column) bandwidth (GB/s)
           0
 0      7.39

SUM host_to_all_bidirectional_memcpy_sm 7.39

Waived:
Running host_device_latency_sm.
memory latency SM CPU(row) <-> GPU(column) (ns)
           0
 0    613.22

SUM host_device_latency_sm 613.22

Running device_local_copy.
memcpy local GPU(column) bandwidth (GB/s)
           0
 0     84.33
""",
        {},
        [
            ("host-to-all-bidirectional-memcpy-sm", "bandwidth", 7.39e9, {}),
            ("host-device-latency-sm", "latency", 613.22e-9, {}),
            ("device-local-copy", "bandwidth", 84.33e9, {}),
        ],
        3,
    ),
]
BABELSTREAM = [
    Sample(
        "a benchmark's instructions for an A100: version 5.0, which times set-up and reading, too",
        "BabelStream",
        """> ./cuda-stream
BabelStream
Version: 5.0
Implementation: CUDA
Running kernels 100 times
Precision: double
Array size: 268.4 MB (=0.3 GB)
Using CUDA device NVIDIA A100-SXM4-80GB
Reduction kernel config: 432 groups of (fixed) size 1024
Init: 0.078539 s (=10253.531921 MBytes/sec)
Read: 0.000810 s (=994263.084401 MBytes/sec)
Function    MBytes/sec  Min (sec)   Max         Average
Copy        1709360.800 0.00031     0.00032     0.00032
Dot         1586905.948 0.00034     0.00036     0.00035
""",
        {"implementation": "CUDA", "array": "268.4 MB"},
        [("copy", "bandwidth", 1709360.8e6, {}), ("dot", "bandwidth", 1586905.948e6, {})],
        4,
    ),
    Sample(
        "notes on another maker's cards, whose yardstick is a Titan: version 3.3",
        "BabelStream",
        """BabelStream
Version: 3.3
Implementation: CUDA
Precision: double
Using CUDA device TITAN Xp
Driver: 9010
Function    MBytes/sec  Min (sec)   Max         Average
Copy        433182.244  0.00124     0.00128     0.00125
""",
        {"device": "TITAN Xp"},
        [("copy", "bandwidth", 433182.244e6, {})],
        2,
    ),
]
IOR = Sample(
    "a log of 2025 of ior 4.1 on DAOS: the summary repeats what stands above",
    "IOR",
    """IOR-4.1.0+dev: MPI Coordinated Test of Parallel I/O
api                 : POSIX
nodes               : 1
tasks               : 10

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
write     284.17     284.84     0.035106    10240      1024.00    0.001105   0.351069   0.000144   0.351902   0
Verifying contents of the file(s) just written.
read      11530      11963      0.000827    10240      1024.00    0.000195   0.008359   0.000210   0.008673   0
remove    -          -          -           -          -          -          -          -          0.001194   0
Max Write: 284.17 MiB/sec (297.97 MB/sec)
Max Read:  11530.10 MiB/sec (12090.18 MB/sec)

Summary of all tests:
write 284.17 284.17 284.17 0.00 284.17 284.17 284.17 0.00 0.35190 NA NA 0 10 10 1 0 0 1 0 0 1 10485760 1048576 100.0 POSIX 0
read 11530.10 11530.10 11530.10 0.00 11530.10 11530.10 11530.10 0.00 0.00867 NA NA 0 10 10 1 0 0 1 0 0 1 10485760 1048576 100.0 POSIX 0
Finished            : Fri Jul 18 16:11:05 2025
""",  # noqa: E501 (as it is printed)
    {"ranks": 10, "nodes": 1},
    [("write", "bandwidth", 284.17 * 2**20, {}), ("read", "best-bandwidth", 11530.1 * 2**20, {})],
    8,
)
STREAM = Sample(
    "a page on eight A100 of 2024: NVIDIA's STREAM, which is of a card's memory",
    "STREAM",
    """NVIDIA-STREAM 24.3.0  -- NVIDIA accelerated STREAM benchmark -- NVIDIA
Device Selected 6: "NVIDIA A100-SXM4-80GB"
 STREAM Benchmark implementation in CUDA
 Array size (double)=67108864*8*8 (4096 MB)
Function      Rate (MB/s)   Avg time     Min time     Max time
Copy:      1774334.0593       0.0006       0.0006       0.0006
Scale:     1765000.8783       0.0006       0.0006       0.0006
Add:       1784367.2629       0.0009       0.0009       0.0009
Triad:     1790970.6722       0.0009       0.0009       0.0009
""",
    {"device": "NVIDIA A100-SXM4-80GB"},
    [("triad", "bandwidth", 1790970.6722e6, {})],
    8,
)
OSU = Sample(
    "the form of https://github.com/openucx/ucx/issues/8851: UCX speaks between the rows",
    "OSU Micro-Benchmarks",
    """[root@cn2 pt2pt]# UCX_LOG_LEVEL=info mpirun -hosts cn2,cn3 -np 2 -genv UCX_NET_DEVICES=mlx5_1:1 ./osu_bw
[1675729687.002730] [cn2:32621:0] ucp_context.c:2110 UCX INFO Version 1.15.0 (loaded from libucp.so.0)
# OSU MPI Bandwidth Test v5.6.3
# Size      Bandwidth (MB/s)
1                       3.30
4                      13.30
[1675729687.402567] [cn2:32621:0] ucp_worker.c:1775 UCX INFO 0x7590e0 inter-node cfg#2 tag(rc_mlx5/mlx5_0:1)
8                      26.55
16                     52.96
""",
    {"pattern": "bandwidth"},
    [("message", "bandwidth", 52.96e6, {"bytes": 16})],
    4,
)
HPCC = Sample(
    "a page on HPCC in containers: what grep left of hpccoutf.txt",
    "HPCC",
    """HPL_Tflops=0.0302422

StarDGEMM_Gflops=8.45881

PTRANS_GBs=1.67951

MPIRandomAccess_LCG_GUPs=0.00473054
MPIRandomAccess_GUPs=0.00467709

StarSTREAM_Copy=4.01934
MaxPingPongLatency_usec=0.304646
NaturallyOrderedRingLatency_usec=0.373522
""",
    {},
    [("hpl", "rate", 30.2422e9, {}), ("naturallyordered-ring", "latency", 0.373522e-6, {})],
    7,
)
MDTEST = [
    Sample(
        "a message on libnfs to the kernel's list: version 4.1, whose summary names its unit",
        "mdtest",
        """>> -- started at 04/03/2025 14:39:30 --
>> mdtest-4.1.0+dev was launched with 128 total task(s) on 1 node(s)
>> SUMMARY rate (in ops/sec): (of 10 iterations)
>>    Operation                     Max            Min           Mean        Std Dev
>>    ---------                     ---            ---           ----        -------
>>    File creation                7147.432       6789.531       6996.044        132.149
>>    Tree removal                   99.443         95.475         97.632          1.266
>> -- finished at 04/03/2025 14:40:05 --
""",
        {"ranks": 128, "nodes": 1},
        [("file-creation", "rate", 6996.044, {}), ("tree-removal", "min-rate", 95.475, {})],
        6,
    ),
    Sample(
        "a log of 2025 with -C: what was not done has no rate",
        "mdtest",
        """mdtest-4.1.0+dev was launched with 10 total task(s) on 1 node(s)
SUMMARY rate (in ops/sec): (of 1 iterations)
   Operation                     Max            Min           Mean        Std Dev
   File creation                1200.016       1200.016       1200.016          0.000
   File stat                       0.000          0.000          0.000          0.000
""",
        {"ranks": 10},
        [("file-creation", "rate", 1200.016, {})],
        3,
    ),
    Sample(
        "https://github.com/hpc/ior/issues/300: of each rank with its deviation, then of each iteration",
        "mdtest",
        """SUMMARY rate: (of 3 iterations)
   Operation         per Rank:      Max            Min           Mean          Std Dev     per Iteration: Max            Min           Mean
   ---------                        ---            ---           ----          -------                    ---            ---           ----
   Directory creation        :     133349.335      15240.973      63062.865      35579.914          45577.003      15240.973      34399.616
""",  # noqa: E501 (as it is printed)
        {},
        [("directory-creation", "rate", 34399.616, {}), ("directory-creation", "max-rate", 45577.003, {})],
        3,
    ),
    Sample(
        "the form in which hpc/ior prints both, with figures chosen here: rates, then milliseconds",
        "mdtest",
        """SUMMARY rate (in ops/sec): (of 1 iterations)
   Operation                     Max            Min           Mean        Std Dev
   File creation                1000.000        900.000        950.000          0.000
SUMMARY time (in ms/op): (of 1 iterations)
   Operation                     Max            Min           Mean        Std Dev
   File creation                   1.111          1.000          1.053          0.000
""",
        {},
        [("file-creation", "rate", 950.0, {}), ("file-creation", "max-time", 1.111e-3, {})],
        6,
    ),
]
WRF = [
    Sample(
        "a course on WRF in the cloud: the last lines, blanks collapsed; zlev and plev are files of their own",
        "WRF",
        """    Timing for main: time 2016-10-07_23:57:30 on domain 1: 0.25231 elapsed seconds
    Timing for main: time 2016-10-08_00:00:00 on domain 1: 0.25795 elapsed seconds
    Timing for Writing wrfout_d01_2016-10-08_00:00:00 for domain 1: 0.68666 elapsed seconds
    Timing for Writing wrfout_zlev_d01_2016-10-08_00:00:00 for domain 1: 0.47411 elapsed seconds
    Timing for Writing restart for domain 1: 1.54598 elapsed seconds
    d01 2016-10-08_00:00:00 wrf: SUCCESS COMPLETE WRF
""",
        {},
        [("step", "time", 0.51026, {"domain": 1}), ("output", "time", 2.70675, {"domain": 1})],
        4,
    ),
    Sample(
        "release notes on an adaptive time step: its length stands in the line, complaints between",
        "WRF",
        """d01 2020-12-09_00:00:00      15  points exceeded cfl=2 in domain d01 at time 2020-12-09_00:00:00 hours
Timing for main (dt= 10.00): time 2020-12-09_00:00:10 on domain   1:   21.61837 elapsed seconds
d01 2020-12-09_00:00:10  max_vert_cfl=             Inf
Timing for main (dt=  1.00): time 2020-12-09_00:00:11 on domain   1:    0.44749 elapsed seconds
""",
        {},
        [("step", "time", 22.0659, {"domain": 1}), ("step", "mean-time", 11.0329, {"domain": 1})],
        2,
    ),
]


@pytest.mark.parametrize(
    "sample",
    [*HPL, *NVBANDWIDTH, *BABELSTREAM, IOR, STREAM, OSU, HPCC, *MDTEST, *WRF],
    ids=lambda each: each.source[:60],
)
def test_outputs_are_read_as_they_were_printed(sample: Sample) -> None:
    check(sample)


def test_nvidia_s_hpl_says_its_version() -> None:
    assert tables(HPL[0].text)[0].version == "24.3.0"


def test_a_kernel_s_check_stands_before_its_rates() -> None:
    """https://github.com/doe300/VC4CL/issues/82: all rates are told, none is right."""
    (found,) = tables(
        "Validation failed on sum. Error 75.5013\nSum was 150.991104125977 but should be 226.492431640625\n"
        "Function    MBytes/sec  Min (sec)   Max         Average\nCopy        14.707 0.03481 0.03481 0.03481\n"
    )
    assert found.failed == "the check of BabelStream itself failed in line 1"


def test_what_nvbandwidth_could_not_measure_is_listed_with_its_own_words() -> None:
    """SpareCores/sc-inspector-data, p4d.24xlarge: version 0.8 without the fabric manager."""
    error = "[CUDA_ERROR_SYSTEM_NOT_READY] system not yet initialized"
    dead = json.dumps({"nvbandwidth": {"error": error, "version": "v0.8"}}, indent="\t") + "\n"
    torn = nvbandwidth({"host_to_device_memcpy_ce": HOST, "all_to_one_read_sm": "Error"})
    found = importing.read("", [Text.of("out.json", (dead + torn).encode())])
    assert [each.reason for each in found.skipped] == [
        f"nvbandwidth says: {error}",
        "nvbandwidth says: all_to_one_read_sm: Error",
    ]
    assert [len(each.figures) for each in found.tables] == [2]


def test_rates_with_a_comma_for_a_point_are_not_guessed() -> None:
    """https://github.com/hpc/ior/issues/301: 22,523 may be 22.523 or 22523 operations a second."""
    comma = "mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)\n   File stat : 22,523 22,523 0,000\n"
    found = importing.read("", [Text.of("out.txt", (MDTEST[0].text + comma).encode())])
    assert [len(each.figures) for each in found.tables] == [6]
    assert [each.reason.partition(":")[0] for each in found.skipped] == ["this is no whole row of mdtest"]
