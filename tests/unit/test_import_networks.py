"""Formats of accelerators' and networks' tools, each in the forms of several versions.

The lines are those that the programs print; cut to a few, with names of hosts left out. Sources stand beside them.
"""

from typing import NamedTuple

import pytest

from assay import importing
from assay.importing import Text
from assay.model.imported import Table


class Sample(NamedTuple):
    """An output, where it was found, and what it says: figures as (kernel, metric, value) at these params."""

    source: str
    tool: str
    text: str
    params: dict[str, object]
    figures: list[tuple[str, str, float, dict[str, object]]]
    total: int


def tables(text: str) -> tuple[Table, ...]:
    return importing.read("", [Text.of("out.txt", text.encode())]).tables


def check(sample: Sample) -> None:
    (table,) = tables(sample.text)
    assert table.tool == sample.tool
    assert {name: table.params.get(name) for name in sample.params} == sample.params
    assert len(table.figures) == sample.total
    for kernel, metric, value, params in sample.figures:
        (found,) = (
            each
            for each in table.figures
            if (each.kernel, each.metric) == (kernel, metric) and params.items() <= each.params.items()
        )
        assert found.value == pytest.approx(value, rel=1e-12), (kernel, metric, params)


NCCL = [
    Sample(
        "sky-pilot: examples of GPUDirect RDMA, nccl-tests 2.26 under Ray and Open MPI",
        "nccl-tests",
        """$ sky launch -c nccl nccl.yaml
(head, rank=0, pid=3) [1,0]<stdout>:# nThread 1 nGpus 1 minBytes 1024 maxBytes 8589934592 step: 2(factor)
(head, rank=0, pid=3) [1,0]<stdout>:#  Rank  0 Group  0 Pid   7774 on a device  0 [0000:8f:00] NVIDIA H200
(head, rank=0, pid=3) [1,0]<stdout>:#  Rank 15 Group  0 Pid   4940 on b device  7 [0000:cc:00] NVIDIA H200
(head, rank=0, pid=3) [1,0]<stdout>:#       size         count      type   redop    root     time   algbw
(head, rank=0, pid=3) [1,0]<stdout>: 1024 16 float none -1  28.39  0.04  0.03  0 28.07 0.04 0.03  0
(head, rank=0, pid=3) [1,0]<stdout>: 8589934592 134217728 float none -1 24724 347.44 325.72 0 24214 354.75 332.58 0
(head, rank=0, pid=3) [1,0]<stdout>:# Out of bounds values : 0 OK
(head, rank=0, pid=3) [1,0]<stdout>:# Avg bus bandwidth    : 122.073
""",
        {"devices": 2},
        [
            ("own", "latency", 28.39e-6, {"bytes": 1024, "buffers": "out-of-place"}),
            ("own", "bus-bandwidth", 332.58e9, {"bytes": 8589934592, "buffers": "in-place", "datatype": "float"}),
            ("own", "algorithm-bandwidth", 347.44e9, {"bytes": 8589934592, "buffers": "out-of-place"}),
        ],
        12,
    ),
    Sample(
        "a page on eight RTX 2080 Ti, nccl-tests 2.0, quoted: no root, the largest error",
        "nccl-tests",
        """$ ./build/all_reduce_perf -b 8 -e 128M -f 2 -g 8
> # nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
> #   Rank  0 Pid  12164 on   x device  0 [0x1a] GeForce RTX 2080 Ti
> #       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
> #        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
>            8             2   float     sum    35.93    0.00    0.00  1e-07    35.72    0.00    0.00  1e-07
>    134217728      33554432   float     sum    95470    1.41    2.46  2e-07    95477    1.41    2.46  2e-07
""",
        {"operation": "all_reduce", "devices": 1},
        [("own", "latency", 0.095477, {"bytes": 134217728, "buffers": "in-place", "redop": "sum"})],
        12,
    ),
    Sample(
        "https://github.com/coreweave/nccl-tests/pull/43: 72 devices of a rack; the heading was cut",
        "nccl-tests",
        """#       size        count      type  redop   root   time   algbw   busbw #wrong  time algbw busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
   536870912     134217728     float     sum      -1   1806.7  297.16  586.06      0   1835.9  292.43  576.74   0
  8589934592    2147483648     float     sum      -1    20299  423.16  834.57      0    20006  429.37  846.82   0
# Out of bounds values : 0 OK
""",
        {},
        [("own", "bus-bandwidth", 846.82e9, {"bytes": 8589934592, "buffers": "in-place"})],
        12,
    ),
]
NVBANDWIDTH = [
    Sample(
        "https://github.com/NVIDIA/nvbandwidth/issues/50: version 0.8",
        "nvbandwidth",
        """nvbandwidth Version: v0.8
Running device_to_device_memcpy_read_ce.
memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
           0         1         2
 0       N/A     26.34     21.95
 1     26.35       N/A     21.86

SUM device_to_device_memcpy_read_ce 96.50
""",
        {},
        [
            ("device-to-device-memcpy-read-ce", "bandwidth", 21.95e9, {"row": 0, "column": 2}),
            ("device-to-device-memcpy-read-ce", "bandwidth", 26.35e9, {"row": 1, "column": 0}),
        ],
        4,
    ),
    Sample(
        "https://github.com/microsoft/superbenchmark/pull/669: version 0.6, tests that were waived",
        "nvbandwidth",
        """nvbandwidth Version: v0.6
Built from Git version:

Device 0: NVIDIA XXXXXX

Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
        0         1
0    337.55    2142.4

SUM host_to_device_memcpy_ce 337.55
Waived:
Running host_to_device_bidirectional_memcpy_ce.
memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)
        0
0    160.02
""",
        {},
        [
            ("host-to-device-memcpy-ce", "bandwidth", 2142.4e9, {"column": 1}),
            ("host-to-device-bidirectional-memcpy-ce", "bandwidth", 160.02e9, {"column": 0}),
        ],
        3,
    ),
    Sample(
        "https://github.com/NVIDIA/nvbandwidth/issues/24: quoted",
        "nvbandwidth",
        """> Running device_to_host_memcpy_sm.
> memcpy SM CPU(row) <- GPU(column) bandwidth (GB/s)
> 0         1
> 0     52.77     52.78
""",
        {},
        [("device-to-host-memcpy-sm", "bandwidth", 52.78e9, {"column": 1})],
        2,
    ),
]
BABELSTREAM = [
    Sample(
        "https://github.com/UoB-HPC/BabelStream/issues/137: CUDA, version 4.0",
        "BabelStream",
        """BabelStream
Version: 4.0
Implementation: CUDA
Running kernels 100 times
Precision: double
Array size: 8589.9 MB (=8.6 GB)
Total size: 25769.8 MB (=25.8 GB)
Using CUDA device NVIDIA A100-SXM4-80GB
Function    MBytes/sec  Min (sec)   Max         Average
Copy        1748027.292 0.00983     0.01096     0.00986
Dot         1555399.880 0.01105     0.01369     0.01113
""",
        {"implementation": "CUDA", "precision": "double", "device": "NVIDIA A100-SXM4-80GB"},
        [("copy", "bandwidth", 1748027.292e6, {}), ("dot", "mean-time", 0.01113, {})],
        4,
    ),
    Sample(
        "https://github.com/UoB-HPC/BabelStream/issues/125: OpenCL on a processor",
        "BabelStream",
        """BabelStream
Version: 4.0
Implementation: OpenCL
Function    MBytes/sec  Min (sec)   Max         Average
Mul         11465.756   0.04682     0.07867     0.05287
""",
        {"implementation": "OpenCL"},
        [("mul", "bandwidth", 11465.756e6, {})],
        2,
    ),
]
IPERF3 = [
    Sample(
        "https://github.com/perfsonar/pscheduler/issues/582: an interval, then the sums",
        "iperf3",
        """Connecting to host a, port 5201
[ 16] local 10.0.0.1 port 46206 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[ 16]   0.00-1.00   sec  49.3 MBytes   414 Mbits/sec    3    1.2 MBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Retr
[ 16]   0.00-10.02  sec   607 MBytes   508 Mbits/sec  128             sender
[ 16]   0.00-10.02  sec   600 MBytes   502 Mbits/sec                  receiver
""",
        {},
        [
            ("sender", "bandwidth", 508e6 / 8, {"stream": 16}),
            ("sender", "retransmits", 128, {}),
            ("receiver", "bandwidth", 502e6 / 8, {}),
        ],
        3,
    ),
    Sample(
        "https://github.com/esnet/iperf/issues/306: version 3.0, without the blank before `sec`",
        "iperf3",
        """[ ID] Interval               Transfer        Bandwidth       Retr
[ 15] 0.00-10.00sec  9.45 GBytes  8114 Mbits/sec   0      sender
[ 15] 0.00-10.00 sec 9.43 GBytes  8103 Mbits/sec           receiver
iperf Done.
""",
        {},
        [("receiver", "bandwidth", 8103e6 / 8, {})],
        3,
    ),
    Sample(
        "https://github.com/esnet/iperf/issues/408: what the server prints knows nothing of the sender",
        "iperf3",
        """Accepted connection from 192.168.110.95, port 45420
[ ID] Interval           Transfer     Bandwidth
[  5]   0.00-10.04  sec  0.00 Bytes  0.00 bits/sec                  sender
[  5]   0.00-10.04  sec  3.86 GBytes  3.30 Gbits/sec                  receiver
""",
        {},
        [("receiver", "bandwidth", 3.3e9 / 8, {})],
        1,
    ),
    Sample(
        "https://github.com/esnet/iperf/pull/1908 and /issues/1784: JSON of 3.19 behind other lines",
        "iperf3",
        """pinging first
{
  "start": {
    "version": "iperf 3.19.1+",
    "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 1}
  },
  "intervals": [{"sum": {"bits_per_second": 170063657.80053386}}],
  "end": {
    "sum_sent": {
      "bits_per_second": 1999334473.4556847
    },
    "sum_received": {
      "bits_per_second": 1581105997.3387783
    }
  }
}
""",
        {"transport": "TCP", "streams": "1"},
        [("receiver", "bandwidth", 1581105997.3387783 / 8, {})],
        2,
    ),
]
PERFTEST = [
    Sample(
        "https://github.com/linux-rdma/perftest/issues/273: --report_gbits",
        "perftest",
        """                    RDMA_Write Post List BW Test
 Dual-port       : OFF\t\tDevice         : ib0
 Number of qps   : 1\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 Mtu             : 4096[B]
 Link type       : Ethernet
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 8          224958464        0.00               0.48   \t\t   7.498617
""",
        {"operation": "RDMA_Write", "device": "ib0", "link": "Ethernet", "mtu": 4096, "connection": "RC"},
        [
            ("transfer", "bandwidth", 0.48e9 / 8, {"bytes": 8}),
            ("transfer", "message-rate", 7498617.0, {"bytes": 8}),
        ],
        2,
    ),
    Sample(
        "https://github.com/nminoru/pib/issues/4: MB of 2^20 bytes, 8 x 0.219031 M/s = 1.67 MB/s",
        "perftest",
        """$ ib_atomic_bw -d pib_1 -A CMP_AND_SWAP localhost
                    Atomic CMP_AND_SWAP BW Test
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 8          1000           1.70               1.67                 0.219031
""",
        {"operation": "Atomic"},
        [("transfer", "bandwidth", 1.67 * 2**20, {"bytes": 8}), ("transfer", "peak-bandwidth", 1.7 * 2**20, {})],
        3,
    ),
    Sample(
        "a page on two cards of 2024, with the warnings of perftest 6 between heading and row",
        "perftest",
        """                    RDMA_Read Latency Test
 Dual-port       : OFF\t\tDevice         : mlx5_0
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]  t_stdev[usec]  99% perc[usec]
Conflicting CPU frequency values detected: 3295.212000 != 5023.444000. CPU Frequency is not max.
 2       1000          1.24           5.19         1.27     \t       1.28        \t0.00   \t\t1.37    \t\t5.19
""",
        {"operation": "RDMA_Read", "device": "mlx5_0"},
        [
            ("transfer", "latency", 1.27e-6, {"bytes": 2}),
            ("transfer", "mean-latency", 1.28e-6, {}),
            ("transfer", "p99-latency", 1.37e-6, {}),
            ("transfer", "max-latency", 5.19e-6, {}),
        ],
        6,
    ),
]
SOCKPERF = [
    Sample(
        "https://github.com/Mellanox/sockperf/issues/172: version 3.8, --full-rtt",
        "sockperf",
        """sockperf: == version #3.8-0.git31ee322aa82a ==
[ 0] IP = 10.12.0.4       PORT = 12345 # TCP
sockperf: ====> avg-rtt=1892.600 (std-dev=422.741, mean-ad=240.040, median-ad=243.961)
sockperf: Summary: Round trip is 1892.600 usec
sockperf: Total 105413 observations; each percentile contains 1054.13 observations
sockperf: ---> MAX observation = 11541.068
sockperf: ---> percentile 99.999 = 11533.498
""",
        {"transport": "TCP", "time-of": "rtt"},
        [
            ("message", "mean-latency", 1892.6e-6, {}),
            ("message", "latency", 11533.498e-6, {"percentile": "99.999"}),
        ],
        3,
    ),
    Sample(
        "https://github.com/Mellanox/sockperf/issues/77: version 2, quoted",
        "sockperf",
        """> $ sockperf ping-pong --tcp -i 192.168.10.10 -p 50001 -t 10
> sockperf: == version # ==\x20
> sockperf: ====> avg-lat=  6.703 (std-dev=2.345)
> sockperf: Summary: Latency is 6.703 usec
> sockperf: ---> <MAX> observation =   16.555
> sockperf: ---> percentile 50.000 =    5.901
""",
        {"time-of": "lat"},
        [("message", "latency", 5.901e-6, {"percentile": "50.000"}), ("message", "max-latency", 16.555e-6, {})],
        3,
    ),
    Sample(
        "a message on TCP to the kernel's list: 2384000 messages of 1200 bytes are 2728.27 MBps of 2^20",
        "sockperf",
        """>> [ 0] IP = x.x.x.x    PORT =  7654 # TCP
>> sockperf: NOTE: test was performed, using msg-size=1200. For getting maximum
>> sockperf: Summary: Message Rate is 2384000 [msg/sec]
>> sockperf: Summary: BandWidth is 2728.271 MBps (21826.172 Mbps)
""",
        {"bytes": 1200},
        [("message", "message-rate", 2384000.0, {}), ("message", "bandwidth", 2728.271 * 2**20, {})],
        2,
    ),
]


@pytest.mark.parametrize(
    "sample", [*NCCL, *NVBANDWIDTH, *BABELSTREAM, *IPERF3, *PERFTEST, *SOCKPERF], ids=lambda each: each.source[:60]
)
def test_outputs_are_read_as_they_were_printed(sample: Sample) -> None:
    check(sample)


def test_what_the_tool_condemns_does_not_count_and_what_is_torn_is_listed() -> None:
    failed = BABELSTREAM[0].text.replace("Function", "Validation failed on sum. Error 75.5013\nFunction")
    assert tables(failed)[0].failed == "the check of BabelStream itself failed in line 9"
    wrong = NCCL[2].text.replace("values : 0 OK", "values : 7 FAILED")
    assert tables(wrong)[0].failed == "the check of nccl-tests itself failed in line 5"
    cut = NCCL[2].text.replace("  20006  429.37  846.82   0", "") + NCCL[2].text
    found = importing.read("", [Text.of("out.txt", cut.encode())])
    assert [len(each.figures) for each in found.tables] == [12]
    assert [each.reason.partition(":")[0] for each in found.skipped] == ["this is no whole row of nccl-tests"]
    said = importing.read("", [Text.of("two.txt", f'{{"error": "unable to connect"}}\n{IPERF3[3].text}'.encode())])
    assert [each.reason for each in said.skipped] == ["iperf3 says: unable to connect"]
