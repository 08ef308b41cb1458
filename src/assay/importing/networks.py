"""Network tools: iperf3, perftest of the RDMA verbs, sockperf."""

import re

from assay.importing.declared import Declared, Row, Value

_NUMBER = r"\d+(?:\.\d+)?"

#: esnet/iperf 3.0 to 3.17: prefixes are 10^3 for bits, 2^10 for bytes. Only the last lines count, one for each
#: side; a server prints 0.00 for the rate of the sender.
IPERF3 = Declared(
    name="iperf3",
    tool="iperf3",
    benchmark="iperf3",
    marks=r"^\[ *(?:ID|SUM)\].*(?:Bitrate|Bandwidth|sender|receiver)|\biperf Done\.",
    programs=r"^iperf3?$",
    begins=re.compile(r"^(?:Connecting to host|Accepted connection from)\b"),
    facts={"version": re.compile(r"^iperf (3\.\S+)"), "reverse": re.compile(r"^(Reverse) mode")},
    failed=re.compile(r"^iperf3: (?:error|interrupt)"),
    units={
        "bits/sec": "bit/s",
        **{f"{each}bits/sec": f"{each.lower() if each == 'K' else each}bit/s" for each in "KMG"},
        **{f"{each}Bytes/sec": f"{each}iB/s" for each in "KMG"},
    },
    rows=(
        Row(
            re.compile(
                r"\s*\[ *(?P<stream>\d+|SUM)\](?:\[(?P<role>[TR]X-[CS])\])? +[\d.]+- *[\d.]+ *sec"
                rf" +[\d.]+ [KMGT]?Bytes +(?P<rate>{_NUMBER}) (?P<unit>[KMG]?(?:bits|Bytes)/sec)"
                rf"(?: +(?P<jitter>{_NUMBER}) ms +\S+(?: \S+%\))?)?"
                r"(?: +(?P<again>\d+))? +(?P<kernel>sender|receiver)"
            ),
            {
                "rate": Value("bandwidth", unless=frozenset({"0.00"})),
                "jitter": Value("jitter", "ms", better="lower"),
                "again": Value("retransmits", "count", better="lower"),
            },
            like=re.compile(r"\s*\[ *(?:\d+|SUM)\].*(?:sender|receiver)\s*$"),
        ),
    ),
)

_RATES = rf"(?P<peak>{_NUMBER})\s+(?P<rate>{_NUMBER})\s+(?P<messages>{_NUMBER})"
#: linux-rdma/perftest 3 to 25: MB are 2^20 bytes (newer versions write MiB/sec), Gb are 10^9 bits; a peak of 0.00
#: was not measured.
PERFTEST = Declared(
    name="perftest",
    tool="perftest",
    benchmark="perftest",
    kernel="transfer",
    marks=r"#bytes\s+#iterations|\b(?:RDMA_(?:Write|Read)|Send|Atomic) .*(?:BW|Latency) Test\b",
    programs=r"^(?:ib|raw_ethernet)_(?:write|read|send|atomic)_(?:bw|lat)$",
    begins=re.compile(r"^\s*(?:RDMA_(?:Write|Read)|Send|Atomic)\b.*\b(?:BW|Latency) Test\s*$"),
    facts={
        "operation": re.compile(r"^\s*(RDMA_Write|RDMA_Read|Send|Atomic)\b.*\bTest\s*$"),
        "directions": re.compile(r"^\s*\S+ (Bidirectional) .*Test\s*$"),
        "device": re.compile(r"\bDevice\s*: (\S+)"),
        "queue-pairs": re.compile(r"^\s*Number of qps\s*: (\d+)"),
        "transport": re.compile(r"\bTransport type : (\S+)"),
        "connection": re.compile(r"^\s*Connection type : (\S+)"),
        "link": re.compile(r"^\s*Link type\s*: (\S+)"),
        "mtu": re.compile(r"^\s*Mtu\s*: (\d+)"),
        "unit": re.compile(r"BW average\[(\S+?)\]|(t_typical)\["),
    },
    units={"MB/sec": "MiB/s", "MiB/sec": "MiB/s", "Gb/sec": "Gbit/s"},
    rows=(
        Row(
            re.compile(rf"\s*(?P<bytes>\d+)\s+\d+\s+{_RATES}(?:\s+\S+)?"),
            {
                "peak": Value("peak-bandwidth", unless=frozenset({"0.00", "0.000000"})),
                "rate": Value("bandwidth"),
                "messages": Value("message-rate", "M/s"),
            },
            needs={"unit": ""},
        ),
        Row(
            re.compile(
                rf"\s*(?P<bytes>\d+)\s+\d+\s+(?P<least>{_NUMBER})\s+(?P<most>{_NUMBER})\s+(?P<typical>{_NUMBER})"
                rf"(?:\s+(?P<mean>{_NUMBER}))?(?:\s+{_NUMBER}\s+(?P<p99>{_NUMBER})\s+(?P<p999>{_NUMBER}))?"
            ),
            {
                "typical": Value("latency", "usec", remark="the median, as perftest prints it"),
                "least": Value("min-latency", "usec"),
                "most": Value("max-latency", "usec"),
                "mean": Value("mean-latency", "usec"),
                "p99": Value("p99-latency", "usec"),
                "p999": Value("p99-9-latency", "usec"),
            },
            like=re.compile(r"\s*\d+\s+\d+\s+[\d.]+\s"),
            needs={"unit": ""},
        ),
    ),
)

#: Mellanox/sockperf 2 to 3: latency is half a round trip unless named otherwise; MB are 2^20 bytes.
SOCKPERF = Declared(
    name="sockperf",
    tool="sockperf",
    benchmark="sockperf",
    kernel="message",
    marks=r"^sockperf(?:\.bin)?: ",
    programs=r"^sockperf",
    begins=re.compile(r"== version #"),
    facts={
        "version": re.compile(r"== version #(\S*)"),
        "transport": re.compile(r"PORT = +\d+ # (TCP|UDP)"),
        "bytes": re.compile(r"using msg-size=(\d+)"),
        "time-of": re.compile(r"====> avg-(rtt|lat)="),
    },
    options={"mode": re.compile(r"^(ping-pong|under-load|throughput|playback)\b")},
    rows=(
        Row(
            re.compile(rf"sockperf: Summary: (?:Latency|Round trip) is +(?P<time>{_NUMBER}) usec"),
            {"time": Value("mean-latency", "usec")},
            like=re.compile(r"sockperf: Summary: (?:Latency|Round trip)"),
        ),
        Row(
            re.compile(rf"sockperf: ---> percentile +(?P<percentile>{_NUMBER}) += +(?P<time>{_NUMBER})"),
            {"time": Value("latency", "usec")},
        ),
        Row(
            re.compile(rf"sockperf: ---> <?MIN>? observation += +(?P<time>{_NUMBER})"),
            {"time": Value("min-latency", "usec")},
        ),
        Row(
            re.compile(rf"sockperf: ---> <?MAX>? observation += +(?P<time>{_NUMBER})"),
            {"time": Value("max-latency", "usec")},
        ),
        Row(
            re.compile(r"sockperf: Summary: Message Rate is +(?P<rate>\d+) \[msg/sec\].*"),
            {"rate": Value("message-rate", "1/s")},
        ),
        Row(
            re.compile(rf"sockperf: Summary: BandWidth is +(?P<rate>{_NUMBER}) (?P<unit>MBps) .*"),
            {"rate": Value("bandwidth")},
        ),
    ),
    units={"MBps": "MiB/s"},
)

FORMATS = tuple(each.format() for each in (IPERF3, PERFTEST, SOCKPERF))
