"""Tools for accelerators: nccl-tests and rccl-tests, nvbandwidth as text, BabelStream."""

import re

from assay.importing.declared import Declared, Matrix, Row, Value

_RATE = r"(?:[\d.]+(?:e[+-]?\d+)?|N/A)"
_OUT, _IN = {"buffers": "out-of-place"}, {"buffers": "in-place"}

#: NVIDIA/nccl-tests 2 and ROCm/rccl-tests: GB are 10^9 bytes; `busbw` is the load of each link. Older versions
#: print no root, and `error` in place of the number of wrong elements.
NCCL = Declared(
    name="nccl-tests",
    tool="nccl-tests",
    benchmark="nccl",
    kernel="own",
    marks=r"#\s+size\s+count\s+type\b|\bnThread \d+ nGpus \d+|#\s+size\s+time\s+algbw\b",
    programs=r"(?P<operation>\w+)_perf$",
    begins=re.compile(r"\bnThread \d+ nGpus \d+"),
    facts={
        "version": re.compile(r"(?:nccl-tests version|NCCL version|rccl-tests: Version) (\S+)"),
        "operation": re.compile(r"Collective test starting: (\w+?)_perf"),
        "_four": re.compile(r"^#\s+(size)\s+time\s+algbw\s+busbw\s*$"),  # a table cut by users
    },
    counted={"devices": re.compile(r"^#?\s+Rank +\d+ .*\bdevice +\d+")},
    failed=re.compile(r"# Out of bounds values : [1-9]"),
    rows=(
        Row(
            re.compile(
                r"\s*(?P<bytes>\d+)\s+\d+\s+(?P<datatype>[a-z]\w*)(?:\s+(?P<redop>[a-z]+))?(?:\s+-?\d+)?"
                rf"\s+(?P<time>{_RATE})\s+(?P<rate>{_RATE})\s+(?P<bus>{_RATE})\s+\S+"
                rf"\s+(?P<time_in>{_RATE})\s+(?P<rate_in>{_RATE})\s+(?P<bus_in>{_RATE})\s+\S+"
            ),
            {
                "time": Value("latency", "us", _OUT),
                "rate": Value("algorithm-bandwidth", "GB/s", _OUT),
                "bus": Value("bus-bandwidth", "GB/s", _OUT),
                "time_in": Value("latency", "us", _IN),
                "rate_in": Value("algorithm-bandwidth", "GB/s", _IN),
                "bus_in": Value("bus-bandwidth", "GB/s", _IN),
            },
            like=re.compile(r"\s*\d+\s+\d+\s+(?:float|double|half|u?int\d*|bfloat16|f8\w+)\s"),
        ),
        Row(
            re.compile(rf"\s*(?P<bytes>\d+)\s+(?P<time>{_RATE})\s+(?P<rate>{_RATE})\s+(?P<bus>{_RATE})"),
            {
                "time": Value("latency", "us"),
                "rate": Value("algorithm-bandwidth", "GB/s"),
                "bus": Value("bus-bandwidth", "GB/s"),
            },
            needs={"_four": ""},
        ),
    ),
)

#: NVIDIA/nvbandwidth 0.2 to 0.8: GB are 10^9 bytes; the median of its repetitions.
NVBANDWIDTH = Declared(
    name="nvbandwidth",
    tool="nvbandwidth",
    benchmark="nvbandwidth",
    marks=r"^nvbandwidth Version|^\w[\w ]* [CG]PU\(row\) <?->? GPU\(column\)",
    programs=r"nvbandwidth",
    begins=re.compile(r"^nvbandwidth Version"),
    facts={
        "version": re.compile(r"^nvbandwidth Version: v?(\S+)"),
        "kernel": re.compile(r"^Running (\w+)\."),
        "unit": re.compile(r"\(column\) (?:\w+ )*\((GB/s|ns)\)"),
    },
    # Not `from` and `to`: in half of the tests the row is the destination, which only the test's name shows.
    matrix=Matrix(re.compile(r"\s*(\d+(?:\s+\d+)*)"), ("row", "column"), Value()),
)

#: BabelStream 3 to 5, as table and as CSV: the best of its repetitions; 10^6 bytes unless it says MiBytes.
BABELSTREAM = Declared(
    name="babelstream",
    tool="BabelStream",
    benchmark="babelstream",
    marks=r"^BabelStream$|\bFunction\s+[MG]i?Bytes/sec\s+Min \(sec\)|^function,num_times,n_elements,sizeof,max_m",
    programs=r"(?i)-stream\b|babelstream",
    begins=re.compile(r"^BabelStream$"),
    facts={
        "version": re.compile(r"^Version: (\S+)"),
        "implementation": re.compile(r"^Implementation: (.+)"),
        "precision": re.compile(r"^Precision: (\w+)"),
        "device": re.compile(r"^Using \w+ device:? (.+)"),
        "unit": re.compile(r"^Function\s+([MG]i?Bytes/sec)|sizeof,max_(mi?bytes_per_sec)"),
        "array": re.compile(r"^Array size: .*?([\d.]+ MB) "),
    },
    failed=re.compile(r"^Validation failed"),
    units={"MBytes/sec": "MB/s", "mbytes_per_sec": "MB/s", "GBytes/sec": "GB/s", "MiBytes/sec": "MiB/s",
           "GiBytes/sec": "GiB/s", "mibytes_per_sec": "MiB/s"},
    rows=(
        Row(
            re.compile(
                r"(?P<kernel>Copy|Mul|Add|Triad|Dot|Nstream)(?: :)?\s+(?P<rate>[\d.]+)\s+[\d.]+\s+[\d.]+"
                r"\s+(?P<mean>[\d.]+)"
            ),
            {"rate": Value("bandwidth", remark="the best of its repetitions"), "mean": Value("mean-time", "s")},
            like=re.compile(r"(?:Copy|Mul|Add|Triad|Dot)(?: :)?\s+[\d.]+(?:\s|$)"),
            needs={"unit": ""},
        ),
        Row(
            re.compile(
                r"(?P<kernel>Copy|Mul|Add|Triad|Dot|Nstream),\d+,(?P<elements>\d+),\d+,(?P<rate>[\d.]+),[\d.e-]+,[\d.e-]+,"
                r"(?P<mean>[\d.e-]+)"
            ),
            {"rate": Value("bandwidth", remark="the best of its repetitions"), "mean": Value("mean-time", "s")},
            like=re.compile(r"(?:Copy|Mul|Add|Triad|Dot),\d"),
            needs={"unit": ""},
        ),
    ),
)  # fmt: skip

FORMATS = tuple(each.format() for each in (NCCL, NVBANDWIDTH, BABELSTREAM))
