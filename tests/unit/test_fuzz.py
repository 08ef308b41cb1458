"""Whatever is fed to an importer, or done to a run or to hwloc's XML, it is read or refused, soon and in bounds.

In one file, for its last test counts the inputs of all others.
"""

import contextlib
import functools
import io
import json
import math
import resource
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rich.console import Console
from tests.simulation import simulated_run
from tests.unit.test_import_networks import BABELSTREAM, IPERF3, NCCL, NVBANDWIDTH, PERFTEST, SOCKPERF
from tests.unit.test_import_npb import NPB_2_3
from tests.unit.test_import_osu import PASTED
from tests.unit.test_import_pasted import NVBANDWIDTH as NVBANDWIDTH_JSON
from tests.unit.test_import_reframe import REFRAME
from tests.unit.test_import_suites import GROMACS, HPCC, HPCG, IOR, LIKWID, MDTEST, MLC, WRF
from tests.unit.test_import_tools import HPL, IMB, NUMACTL, STREAM

from assay import importing, machine, plan, store, studies
from assay.analyse import analyse
from assay.catalogue import benchmarks
from assay.compare.runs import between
from assay.importing import FORMATS, ImportOptions, Text
from assay.model.errors import AssayError, UsageError
from assay.model.imported import Imported
from assay.model.plan import Measure, Study
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
#: Test -> inputs that it took to its end.
TRIED = Counter[str]()
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


def counted(test: Callable[..., None]) -> Callable[..., None]:
    """The test of an input, which counts those that it takes to its end."""
    TRIED[test.__name__] = 0

    @functools.wraps(test)
    def counting(*positional: object, **named: object) -> None:
        test(*positional, **named)
        TRIED[test.__name__] += 1

    return counting


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
@counted
def test_a_damaged_file_is_refused_or_read(data: st.DataObject, *, named: bool) -> None:
    tool = data.draw(st.sampled_from(sorted(FORMATS)))
    check(tool if named else "", data.draw(mutated(SAMPLES[tool])).encode("utf-8", "replace"))


def test_a_table_of_times_may_lack_its_sizes() -> None:
    lines = [
        "# Benchmarking PingPong",
        "# #processes = 2",
        " #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]",
        "         1000         1.10         1.30         1.20",
    ]
    check("imb", "\n".join(lines).encode())


@settings(max_examples=EXAMPLES * 3)
@given(
    tool=st.sampled_from(sorted(FORMATS)),
    content=st.binary(max_size=200),
    test=st.sampled_from(["", "osu_bw", "NPtcp", "osu_ibcast", "x"]),
)
@counted
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
@example(f"{HEAD}\nhpcg,rate,rate,flop/s,1.0,all,,,n=16,")
@example(f"{HEAD}\nweather,rate,rate,update/s,1.0,all,,,,")
@counted
def test_any_figures_under_our_names_can_be_analysed_shown_and_compared(text: str) -> None:
    found = importing.read("csv", [Text.of("fuzz.csv", text.encode())])
    run = as_run(Path("fuzz"), RunInfo(1, "fuzz", "import", "2026-01-01T00:00:00", "1", (), {}, {}), found)
    analysis = analyse(run)
    terminal.render(run, analysis, Console(file=io.StringIO(), width=100))
    assert html.render(run, analysis)
    with contextlib.suppress(UsageError):  # no figure of a headline metric: nothing to compare
        assert all(pair.comparison.verdict == "inconclusive" for pair in between(run, run).pairs)
    assert all(finding.status != "confirmed" for finding in analysis.findings)


STUDY = Study(
    "Small",
    "How?",
    (
        Measure("stream", ("one-core", "all"), axes={"elements": 1000}),
        Measure("memcpy", ("one-core",), axes={"bytes": "1K:4K"}),
        Measure("pt2pt", ("pair",), axes={"pattern": "latency", "bytes": "8:64"}),
        Measure("himeno_mpi", ("all",), axes={"size": "XS"}),
        Measure("hpl", ("all",), axes={"n": 256}),
        Measure("flops", ("one-core",), axes={"width": "scalar"}),
    ),
    launches=2,
)
MACHINES = sorted((Path(__file__).parents[1] / "machines").glob("*.xml"))
#: What breaks readers of numbers, names and lists.
VALUES: list[Any] = [
    *(0, -1, 1, 2**31, 2**63, 10**30, 1e308, -1e308, 1e-320, 0.5, None, True, "", "x", "1e999", "9" * 400),
    *([], {}, [[]], ["x"], [0, 0], {"x": 1}, {"x": {}}, "../../x", "\x1b[2J\u202e", "all:numa:9@9", "numa[0-9]"),
]
#: The same inputs for each change; others in every long run.
HARD = settings(
    suppress_health_check=list(HealthCheck), max_examples=max(1, EXAMPLES // 4), derandomize=EXAMPLES <= 100
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated_run(tmp_path_factory.mktemp("runs"), study=STUDY)


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 (any JSON)
    """Every place in a JSON value below the value itself."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inside:
        yield (*at, name)
        yield from paths(each, (*at, name))


def spoiled(draw: st.DrawFn, text: str) -> str:
    """The JSON with a value replaced, left out or doubled; a line that was cut before stays as it is."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    places = list(paths(value))
    *above, last = draw(st.sampled_from(places)) if places else (None,)
    holder = value
    for name in above:
        holder = holder[name]
    match draw(st.sampled_from(["replace", "replace", "drop", "double"])) if places else "":
        case "replace":
            holder[last] = draw(st.sampled_from(VALUES))
        case "drop":
            del holder[last]
        case "double":
            holder[f"{last}x" if isinstance(holder, dict) else slice(0, 0)] = (
                holder[last] if isinstance(holder, dict) else [holder[last]]
            )
    return json.dumps(value)


def spoil(draw: st.DrawFn, folder: Path) -> None:
    files = sorted(folder.rglob("*.json*"))
    file = draw(st.sampled_from(files))
    content = file.read_text()
    if file.suffix == ".json":
        file.write_text(spoiled(draw, content))
        return
    lines = content.splitlines()
    at = draw(st.integers(0, len(lines) - 1))
    match draw(st.sampled_from(["spoil", "spoil", "spoil", "drop", "double", "cut", "move"])):
        case "spoil":
            lines[at] = spoiled(draw, lines[at])
        case "drop":
            del lines[at]
        case "double":
            lines.insert(at, lines[at])
        case "cut":
            lines[at] = lines[at][: len(lines[at]) // 2]
        case "move":
            lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(at))
    file.write_text("\n".join([*lines, ""]))


@HARD
@given(data=st.data(), whole=st.integers(0, 9))
@counted
def test_a_spoiled_run_is_shown_or_refused(
    run: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, whole: int
) -> None:
    folder = tmp_path_factory.mktemp("spoiled") / run.name
    shutil.copytree(run, folder)
    for _ in range(data.draw(st.integers(1, 2))):
        spoil(cast("st.DrawFn", data.draw), folder)
    with bounded(), contextlib.suppress(AssayError):
        found = store.load(folder)
        analysis = analyse(found)
        terminal.render(found, analysis, Console(file=io.StringIO(), width=100))
        if whole == 0:
            assert html.render(found, analysis)
    shutil.rmtree(folder)


def test_a_plan_whose_cases_lack_an_axis_is_shown_or_refused(run: Path, tmp_path: Path) -> None:
    told = json.loads((run / "plan.json").read_text())
    axes = {(case["benchmark"], axis) for case in told["cases"] for axis in case["params"]}
    assert len(axes) > 10
    folder = shutil.copytree(run, tmp_path / run.name)
    for benchmark, axis in sorted(axes):
        lacking = [
            case | {"params": {name: value for name, value in case["params"].items() if name != axis}}
            if case["benchmark"] == benchmark
            else case
            for case in told["cases"]
        ]
        (folder / "plan.json").write_text(json.dumps(told | {"cases": lacking}))
        with bounded(), contextlib.suppress(AssayError):
            found = store.load(folder)
            terminal.render(found, analyse(found), Console(file=io.StringIO(), width=100))


@HARD
@given(data=st.data(), file=st.sampled_from(MACHINES))
@counted
def test_spoiled_xml_is_planned_for_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, file: Path
) -> None:
    spoiled_file = tmp_path_factory.mktemp("xml") / "machine.xml"
    text = file.read_text().replace('" ', '" \n') if data.draw(st.booleans()) else file.read_text()
    spoiled_file.write_text(changed(cast("st.DrawFn", data.draw), text), "utf-8", "replace")
    with bounded(), contextlib.suppress(AssayError):
        plan.make("quick", studies.get("quick"), machine.load_xml(spoiled_file), plan.Options(seed=1))


def test_so_many_inputs_were_tried(
    repeats: Callable[[int, int], int], record_property: Callable[[str, object], None]
) -> None:
    assert all(TRIED.values()), "it counts the inputs of the other tests of this file: run all of them"
    record_property("inputs", TRIED.total())
    assert TRIED.total() >= repeats(400, 15_000)
