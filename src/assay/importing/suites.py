"""Suites and storage: HPCG, HPCC, Intel's Memory Latency Checker, IOR and mdtest."""

import re

from assay.importing.declared import Declared, Matrix, Row, Value

_NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"


def _fact(words: str) -> re.Pattern[str]:
    """`Machine Summary::Distributed Processes=8` of 3.1, `  Distributed Processes: 8` of 3.0."""
    return re.compile(rf"(?:^|::)\s*{words}\s*[:=]\s*(\S+)\s*$")


def _valued(words: str, number: str = _NUMBER) -> re.Pattern[str]:
    return re.compile(rf"(?:.*::)?\s*{words}\s*[:=]\s*(?P<value>{number})")


#: The report and the last lines of HPCG 2.4 to 3.1, also NVIDIA's and Intel's.
HPCG = Declared(
    name="hpcg",
    tool="HPCG",
    benchmark="hpcg",
    kernel="rate",
    marks=r"\bHPCG result is (?:IN)?VALID\b|^HPCG-Benchmark|^GFLOP/s Summary::",
    programs=r"hpcg",
    begins=re.compile(r"^HPCG-Benchmark\b|^\S+ version: V?\d[\d.]*$"),
    facts={
        "version": re.compile(r"^(?:version=|HPCG-Benchmark version: V?|\S+ version: V?)(\d\S*)"),
        "ranks": _fact("Distributed Processes"),
        "threads": _fact("Threads per processes"),
        **{f"n{axis}": _fact(f"Global n{axis}") for axis in "xyz"},
    },
    failed=re.compile(r"HPCG result is INVALID"),
    rows=(
        Row(
            re.compile(rf".*\bHPCG result is (?:IN)?VALID with a GFLOP/s rating of\s*[:=]?\s*(?P<rate>{_NUMBER})"),
            {"rate": Value("rate", "GFLOPS")},
            like=re.compile(r".*\bHPCG result is \w+ with a GFLOP/s rating of"),
        ),
        Row(_valued("Raw Total B/W"), {"value": Value("traffic", "GB/s")}),
        Row(_valued("Raw Total"), {"value": Value("raw-rate", "GFLOPS")}),  # without set-up
        Row(_valued("Benchmark Time Summary::Total"), {"value": Value("time", "s")}),
    ),
)

_HPCC = {
    "HPL_Tflops": ("hpl", "rate", "TFLOPS"),
    "HPL_time": ("hpl", "time", "s"),
    "PTRANS_GBs": ("ptrans", "bandwidth", "GB/s"),
    "StarDGEMM_Gflops": ("star-dgemm", "rate", "GFLOPS"),
    "SingleDGEMM_Gflops": ("single-dgemm", "rate", "GFLOPS"),
    "MPIRandomAccess_GUPs": ("mpi-random-access", "updates", "Gup/s"),
    "StarRandomAccess_GUPs": ("star-random-access", "updates", "Gup/s"),
    "SingleRandomAccess_GUPs": ("single-random-access", "updates", "Gup/s"),
    "MPIFFT_Gflops": ("mpi-fft", "rate", "GFLOPS"),
    "StarFFT_Gflops": ("star-fft", "rate", "GFLOPS"),
    "SingleFFT_Gflops": ("single-fft", "rate", "GFLOPS"),
    **{
        f"{how}STREAM_{kernel}": (f"{how}-stream-{kernel}", "bandwidth", "GB/s")
        for how in ("Star", "Single")
        for kernel in ("Copy", "Scale", "Add", "Triad")
    },
    **{f"{which}PingPongLatency_usec": (f"{which}-ping-pong", "latency", "us") for which in ("Min", "Avg", "Max")},
    **{
        f"{which}PingPongBandwidth_GBytes": (f"{which}-ping-pong", "bandwidth", "GB/s")
        for which in ("Min", "Avg", "Max")
    },
    **{
        f"{ring}RingLatency_usec": (f"{ring}-ring", "latency", "us")
        for ring in ("NaturallyOrdered", "RandomlyOrdered")
    },
    **{
        f"{ring}RingBandwidth_GBytes": (f"{ring}-ring", "bandwidth", "GB/s")
        for ring in ("NaturallyOrdered", "RandomlyOrdered")
    },
}

#: The summary at the end of hpccoutf.txt, HPCC 1.0 to 1.5, or lines of it; -1 was not measured.
HPCC = Declared(
    name="hpcc",
    tool="HPCC",
    benchmark="hpcc-suite",
    marks=r"^Begin of Summary section|^HPL_Tflops=\d",
    programs=r"hpcc",
    begins=re.compile(r"^Begin of Summary section"),
    facts={
        "ranks": re.compile(r"^CommWorldProcs=(\d+)"),
        "n": re.compile(r"^HPL_N=(\d+)"),
        "nb": re.compile(r"^HPL_NB=(\d+)"),
        "p": re.compile(r"^HPL_nprow=(\d+)"),
        "q": re.compile(r"^HPL_npcol=(\d+)"),
    },
    failed=re.compile(r"^Success=0"),
    rows=tuple(
        Row(
            re.compile(rf"{name}=(?P<value>{_NUMBER})"),
            {"value": Value(metric, unit, kernel=kernel)},
            like=re.compile(rf"{name}=(?!-1)"),
        )
        for name, (kernel, metric, unit) in _HPCC.items()
    ),
)

#: Intel Memory Latency Checker 3: matrices of memory nodes, peak rates, latency under load; MB are 10^6 bytes.
MLC = Declared(
    name="mlc",
    tool="Intel Memory Latency Checker",
    benchmark="mlc",
    marks=r"^Intel\(R\) Memory Latency Checker|^Measuring (?:idle latenc|Peak .*Memory Bandw|Loaded Latenc)",
    programs=r"^mlc",
    begins=re.compile(r"^Intel\(R\) Memory Latency Checker"),
    facts={
        "version": re.compile(r"^Intel\(R\) Memory Latency Checker - v(\S+)"),
        "kernel": re.compile(
            r"^Measuring (idle lat|Peak|Maximum|Memory Bandwidths between nodes|Loaded|cache-to-cache)"
            r"|^Remote Socket (L2->L2 HITM? latency \(data address homed in \w+) socket"
        ),
        "unit": re.compile(r"\(in (ns)\)|^Bandwidths are in (MB/sec)"),
    },
    units={"MB/sec": "MB/s"},
    matrix=Matrix(
        re.compile(r"\s*(?:(?:Writer )?Numa [Nn]ode|Socket)\s+(\d+(?:\s+\d+)*)"), ("node", "to"), Value()
    ),
    rows=(
        Row(
            re.compile(r"\s*(?P<delay>\d{5})\s+(?P<time>\d[\d.]*)\s+(?P<rate>\d[\d.]*)"),
            {"time": Value("latency", "ns"), "rate": Value("bandwidth", "MB/sec")},
            like=re.compile(r"\s*\d{5}\s"),
            needs={"kernel": ""},
        ),
        Row(
            re.compile(r"(?P<traffic>ALL Reads|\d:\d\s+\S.*?|Stream-triad like)\s*:\s*(?P<rate>\d[\d.]*)"),
            {"rate": Value("bandwidth", "MB/sec")},
            needs={"kernel": ""},
        ),
        Row(
            re.compile(r"Each iteration took [\d.]+ .*clocks \(\s*(?P<time>\d[\d.]*)\s+ns\)"),
            {"time": Value("latency", "ns", kernel="idle-lat")},
        ),
        Row(
            re.compile(r"(?P<transfer>Local Socket L2->L2 HITM?)\s+latency\s+(?P<time>\d[\d.]*)"),
            {"time": Value("latency", "ns")},
        ),
    ),
)  # fmt: skip

#: hpc/ior 2.10 to 4: each repetition, and the best of them; MiB are 2^20 bytes.
IOR = Declared(
    name="ior",
    tool="IOR",
    benchmark="ior",
    marks=r"^IOR-\d\S*: MPI Coordinated Test|^access\s+bw\(MiB/s\)|^Max (?:Write|Read):\s+\S+ MiB/sec",
    programs=r"(?i)^ior",
    begins=re.compile(r"^IOR-\d\S*: MPI Coordinated Test"),
    facts={
        "version": re.compile(r"^IOR-(\d\S*):"),
        "api": re.compile(r"^\s*api\s+[:=] (\S+)"),
        "access": re.compile(r"^\s*access\s+[:=] (\S+)"),
        "nodes": re.compile(r"^\s*nodes\s+[:=] (\d+)"),
        "ranks": re.compile(r"^\s*(?:tasks|clients)\s+[:=] (\d+)"),
        "transfer": re.compile(r"^\s*xfersize\s+[:=] (\S.*)"),
        "block": re.compile(r"^\s*blocksize\s+[:=] (\S.*)"),
        "unit": re.compile(r"^access\s+bw\((MiB/s)\)"),
    },
    rows=(
        # The summary repeats the figures.
        Row(re.compile(r"(?:write|read)(?:\s+[\d.]+){5,}\s.*\s[A-Z]\w*\s+\S+"), {}),
        Row(
            re.compile(
                r"(?P<kernel>write|read)\s+(?P<rate>\d[\d.]*)(?:\s+(?P<ops>\d[\d.]*)\s+[\d.]+)?\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+[\d.]+"
                r"\s+[\d.]+\s+(?P<time>\d[\d.]*)\s+(?P<iteration>\d+)"
            ),
            {"rate": Value("bandwidth"), "ops": Value("operations", "op/s"), "time": Value("time", "s")},
            like=re.compile(r"(?:write|read)\s+[\d.]+\s"),
            needs={"unit": ""},
        ),
        Row(
            re.compile(r"Max (?P<kernel>Write|Read):\s+(?P<rate>\d[\d.]*) (?P<unit>MiB/sec) .*"),
            {"rate": Value("best-bandwidth", remark="the best of its repetitions")},
        ),
    ),
    units={"MiB/sec": "MiB/s"},
)  # fmt: skip

_ITEM = r"\s+(?P<kernel>(?:Directory|File|Tree) (?:creation|stat|read|removal|rename))\s*:?"
_MEANS = rf"\s+(?P<most>{_NUMBER})\s+(?P<least>{_NUMBER})\s+(?P<mean>{_NUMBER})"
#: Word in a heading -> rest of a row: versions 3.4 and 4 may print figures per rank before those of all ranks.
_SUMMARIES = {
    "Std Dev": rf"(?:\s+{_NUMBER}){{4}}{_MEANS}",
    "per Iteration": rf"(?:\s+{_NUMBER}){{3}}{_MEANS}\s+{_NUMBER}",
    "": rf"{_MEANS}\s+{_NUMBER}",
}


def _summary(ranks: str, kind: str, metric: str, unit: str) -> Row:
    names = {"mean": metric, "most": f"max-{metric}", "least": f"min-{metric}"}
    return Row(
        re.compile(_ITEM + _SUMMARIES[ranks]),
        {group: Value(name, unit, unless=frozenset({"0.000"})) for group, name in names.items()},  # not measured
        like=None if ranks or kind else re.compile(rf"{_ITEM}\s+\d"),
        needs={name: word for name, word in (("_ranks", ranks), ("_of", kind)) if word},
    )


#: mdtest 1.9 to 4 of hpc/ior: operations per second over all tasks, or milliseconds of one; means of iterations.
MDTEST = Declared(
    name="mdtest",
    tool="mdtest",
    benchmark="mdtest",
    marks=r"^mdtest-\d\S* was launched|^SUMMARY(?: (?:rate|time)(?: \(in \S+\))?)?: \(of \d+ iterations\)",
    programs=r"mdtest",
    begins=re.compile(r"^mdtest-\d\S* was launched"),
    facts={
        "version": re.compile(r"^mdtest-(\d\S*) was launched"),
        "ranks": re.compile(r"was launched with (\d+) total task"),
        "nodes": re.compile(r"total task\(s\) on (\d+) node"),
        "_of": re.compile(r"^SUMMARY (rate|time)\b"),
        "_ranks": re.compile(r"per Rank:\s+Max\s+Min\s+Mean\s+(Std Dev|per Iteration)"),
    },
    rows=(
        *(_summary(ranks, "time", "time", "ms") for ranks in _SUMMARIES),
        *(_summary(ranks, "", "rate", "op/s") for ranks in _SUMMARIES),
    ),
)

#: likwid-bench 4 and 5, or lines of it; MB are 10^6 bytes, as its kernels count them.
LIKWID = Declared(
    name="likwid-bench",
    tool="likwid-bench",
    benchmark="likwid-bench",
    marks=r"^LIKWID MICRO BENCHMARK|^(?:MByte|MFlops)/s:\s",
    programs=r"likwid-bench",
    kernel="own",
    begins=re.compile(r"^LIKWID MICRO BENCHMARK"),
    facts={
        "kernel": re.compile(r"^Test: (\S+)"),
        "groups": re.compile(r"^Using (\d+) work groups"),
        "threads": re.compile(r"^Using (\d+) threads"),
        "bytes": re.compile(r"^Size \(Byte\):\s+(\d+)"),
    },
    rows=(
        Row(re.compile(rf"Time:\s+(?P<time>{_NUMBER}) sec"), {"time": Value("time", "sec")}),
        Row(_valued("MFlops/s"), {"value": Value("rate", "MFLOPS")}),
        Row(_valued("MByte/s"), {"value": Value("bandwidth", "MB/s")}),
    ),
)

FORMATS = tuple(each.format() for each in (HPCG, HPCC, MLC, IOR, MDTEST, LIKWID))
