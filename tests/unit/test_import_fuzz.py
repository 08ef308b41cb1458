"""Whatever is fed to an importer, it imports figures that can be kept, or says what it cannot read."""

import contextlib
import io
import math
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rich.console import Console
from tests.unit.test_import_networks import BABELSTREAM, IPERF3, NCCL, NVBANDWIDTH, PERFTEST, SOCKPERF
from tests.unit.test_import_npb import NPB_2_3
from tests.unit.test_import_osu import PASTED
from tests.unit.test_import_pasted import NVBANDWIDTH as NVBANDWIDTH_JSON
from tests.unit.test_import_reframe import REFRAME
from tests.unit.test_import_suites import GROMACS, HPCC, HPCG, IOR, LIKWID, MDTEST, MLC, WRF
from tests.unit.test_import_tools import HPL, IMB, NUMACTL, STREAM

from assay import importing
from assay.analyse import analyse
from assay.compare.runs import between
from assay.importing import FORMATS, ImportOptions, Text
from assay.model import benchmarks
from assay.model.errors import UsageError
from assay.model.imported import Imported
from assay.model.run import RunInfo
from assay.report import html, terminal
from assay.store.imported import as_run

NETPIPE = "$ ./NPtcp -h b\n  0:  1 bytes 2628 times --> 0.21 Mbps in 36.27 usec\n1000 0.2 0.1 0.3 3.0\n"
HIMENO = "mimax = 129 mjmax = 129\nMFLOPS measured : 541.2\n"
CSV = 'benchmark,metric,unit,value,bytes,params\npt2pt,latency,us,1.5,8,"{""a"": 1}"\n'
SAMPLES = {
    "osu": PASTED,
    "imb": IMB,
    "netpipe": NETPIPE,
    "stream": STREAM,
    "hpl": HPL,
    "himeno": HIMENO,
    "npb": NPB_2_3,
    "numactl": NUMACTL,
    "csv": CSV,
    "nccl-tests": NCCL[0].text,
    "nvbandwidth": NVBANDWIDTH[1].text,
    "babelstream": BABELSTREAM[0].text,
    "iperf3": IPERF3[0].text,
    "iperf3-json": IPERF3[3].text,
    "nvbandwidth-json": NVBANDWIDTH_JSON[0].text,
    "perftest": PERFTEST[2].text,
    "sockperf": SOCKPERF[0].text,
    "hpcg": HPCG[0].text,
    "hpcc": HPCC[0].text,
    "mlc": MLC[0].text,
    "ior": IOR[0].text,
    "mdtest": MDTEST[0].text,
    "gromacs": GROMACS[2].text,
    "wrf": WRF[0].text,
    "likwid-bench": LIKWID[0].text,
    "reframe": REFRAME[0].text,
}
#: More of them in a long run.
EXAMPLES = settings().max_examples
#: What such files are made of, and what breaks readers of numbers.
WORDS = st.one_of(
    st.sampled_from(
        [
            *("0", "1", "-1", "1e999", "nan", "inf", "1_0", "٣", "²", "9999999999999999999999", "0x1", "1.5"),
            *("#", "Size", "MB/s", "$", "mpirun", "-np", "-H", "./osu_bw", "'", '"', ",", "{"),
        ]
    ),
    st.integers(0, 2**70).map(str),
    st.floats().map(str),
    st.text(max_size=6),
)


def changed(draw: st.DrawFn, text: str) -> str:
    """The text with words replaced, lines cut, doubled and moved."""
    lines = text.split("\n")
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, max(len(lines) - 1, 0)))
        if not lines:
            break
        words = lines[at].split(" ")
        match draw(st.sampled_from(["word", "cut", "double", "drop", "add"])):
            case "word":
                words[draw(st.integers(0, len(words) - 1))] = draw(WORDS)
                lines[at] = " ".join(words)
            case "cut":
                lines[at] = lines[at][: draw(st.integers(0, 20))]
            case "double":
                lines.insert(at, lines[at])
            case "drop":
                del lines[at]
            case _:
                lines.insert(at, " ".join(draw(st.lists(WORDS, max_size=6))))
    return "\n".join(lines)


mutated = st.composite(changed)


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Ten seconds of a processor and 1 GiB at most."""
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert time.process_time() - began < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20


def check(tool: str, content: bytes, test: str = "") -> None:
    """It is refused with a reason, or everything in it is a finite figure that can be written and read again."""
    try:
        with bounded():
            found = importing.read(tool, [Text.of("fuzz", content)], ImportOptions(test=test))
    except UsageError as error:
        assert error.why  # noqa: PT017 (either way is right; what is refused needs its reason)
        return
    assert found.tables
    assert all(math.isfinite(each.value) for table in found.tables for each in table.figures)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Imported) == found


@settings(max_examples=EXAMPLES * 5)
@given(data=st.data(), named=st.booleans())
def test_a_damaged_file_is_refused_or_read(data: st.DataObject, *, named: bool) -> None:
    tool = data.draw(st.sampled_from(sorted(FORMATS)))
    check(tool if named else "", data.draw(mutated(SAMPLES[tool])).encode("utf-8", "replace"))


@settings(max_examples=EXAMPLES * 3)
@given(
    tool=st.sampled_from(sorted(FORMATS)),
    content=st.binary(max_size=200),
    test=st.sampled_from(["", "osu_bw", "NPtcp", "osu_ibcast", "x"]),
)
def test_bytes_of_any_kind_are_refused_or_read(tool: str, content: bytes, test: str) -> None:
    check(tool, content, test)


@pytest.mark.parametrize("tool", sorted(FORMATS))
def test_the_files_that_are_damaged_can_be_read_whole(tool: str) -> None:
    found = importing.read(tool, [Text.of(tool, SAMPLES[tool].encode())], ImportOptions(strict=True))
    assert found.tables


HEAD = "benchmark,kernel,metric,unit,value,placement,hosts,memory,params,remark"


@st.composite
def rows(draw: st.DrawFn) -> str:
    """A CSV of figures under our benchmarks' names, at places and points that they may not know."""
    lines = [HEAD]
    for _ in range(draw(st.integers(1, 8))):
        benchmark = benchmarks.get(draw(st.sampled_from(benchmarks.names())))
        axes = (
            draw(st.lists(st.sampled_from(benchmark.axes), unique_by=lambda axis: axis.name))
            if benchmark.axes
            else []
        )
        values = [draw(st.sampled_from([*axis.values, 7])) for axis in axes]
        cells = [
            benchmark.name,
            draw(st.sampled_from([*benchmark.kernels, "other"])),
            (metric := draw(st.sampled_from(benchmark.metrics))).name,
            metric.unit,
            str(draw(st.floats(1e-9, 1e12))),
            draw(st.sampled_from(["all", "half", "one-core@2", "pair", "all:numa:0@2", "not stated", "x"])),
            draw(st.sampled_from(["", "a", "a b"])),
            draw(st.sampled_from(["", "interleave", "bind:0", "bind:1"])),
            " ".join(f"{axis.name}={value}" for axis, value in zip(axes, values, strict=True)),
            "",
        ]
        lines.append(",".join(cells))
    return "\n".join(lines)


@settings(max_examples=EXAMPLES // 5, suppress_health_check=list(HealthCheck))
@given(text=rows())
@example(f"{HEAD}\nonesided,transfer,latency,s,1.0,all,,,operation=put pattern=latency bytes=8,")
@example(f"{HEAD}\nstream,triad,traffic,B/s,1.0,all,,,,\nhimeno,jacobi,rate,flop/s,1.0,all,,,,")
def test_any_figures_under_our_names_can_be_analysed_shown_and_compared(text: str) -> None:
    found = importing.read("csv", [Text.of("fuzz.csv", text.encode())])
    run = as_run(Path("fuzz"), RunInfo(1, "fuzz", "import", "2026-01-01T00:00:00", "1", (), {}, {}), found)
    analysis = analyse(run)
    terminal.render(run, analysis, Console(file=io.StringIO(), width=100))
    assert html.render(run, analysis)
    with contextlib.suppress(UsageError):  # no figure of a headline metric: nothing to compare
        assert all(pair.comparison.verdict == "inconclusive" for pair in between(run, run).pairs)
    assert all(finding.status != "confirmed" for finding in analysis.findings)
