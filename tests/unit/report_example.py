"""A small handwritten run, with one of everything that a report can say."""

import math
from dataclasses import dataclass

import msgspec

from assay.catalogue import benchmarks
from assay.model.bracket import Bracket, Handover
from assay.model.comparison import Comparison
from assay.model.declaration import keep
from assay.model.facts import Fact
from assay.model.left_out import Folded, LeftOut
from assay.model.machine import Cache, Core, Device, Machine, NumaNode, Topology
from assay.model.measurand import Measurand
from assay.model.noise import Noise
from assay.model.placed import Placed, Proof
from assay.model.placement import Memory, Placement
from assay.model.plan import Case, Plan, PlannedLaunch
from assay.model.quantity import Quantity
from assay.model.rank import Rank
from assay.model.record import Clock, End, Header, Launch, Series, Verdict
from assay.model.result import Analysis, Estimate, Finding, Limit, Outcome
from assay.model.run import CaseRecords, Ending, LaunchRecords, Run, RunInfo, Shortfall
from assay.model.toolchain import Build, Toolchain

MIB = 2**20


@dataclass(frozen=True)
class Example:
    """A run and what a report may say about it."""

    run: Run
    analysis: Analysis


def machine(host: str = "n1") -> Machine:
    topology = Topology(
        packages=((0, 1),),
        numa_nodes=(NumaNode(0, 8 * 2**30, (0, 1), 0),),
        cores=(Core(0, (0,), 0, 0, 0), Core(1, (1,), 0, 0, 0)),
        caches=(
            *(Cache(1, "data", 32 * 1024, 64, (cpu,)) for cpu in (0, 1)),
            *(Cache(2, "unified", 2 * MIB, 64, (cpu,)) for cpu in (0, 1)),
            Cache(3, "unified", 32 * MIB, 64, (0, 1)),
        ),
        distances=((10,),),
        allowed_cpus=(0, 1),
        allowed_nodes=(0,),
    )
    facts = {
        "processor": {
            "model": Fact("Example 9000", source="/proc/cpuinfo"),
            "boost": Fact(unavailable="no driver"),
        },
        "system": {"kernel": Fact("6.1.0", source="uname")},
    }
    device = Device("eth0", "network", {"speed": Fact(1e9, unit="bit/s"), "driver": Fact("virtio_net")})
    return Machine(1, host, "live", topology, Fact(6 * 2**30, unit="B", source="cgroup"), facts, (device,))


def _placement(label: str, cpus: tuple[int, ...], host: str) -> Placement:
    return Placement(label, f"{len(cpus)} cores", cpus, Memory(), (host,))


def _case(case_id: str, placement: Placement) -> Case:
    return Case(case_id, case_id.split("/", maxsplit=1)[0], {}, placement)


def estimate(case: str, kernel: str, median: float, **others: object) -> Estimate:
    """An estimate with three launches; `others` replaces fields."""
    cpus = (0,) if "/one-core/" in case else (0, 1)
    placed = Placed(case.split("/")[1], ("n1",), (cpus,), "first-touch", Proof((cpus,), {"0": 1.0}, as_asked=True))
    made = Estimate(
        id=f"{case}#{kernel}.bandwidth",
        case=case,
        benchmark=case.split("/", maxsplit=1)[0],
        declaration=keep(benchmarks.of(case.split("/", maxsplit=1)[0]).declaration),
        kernel=kernel,
        metric="bandwidth",
        unit="B/s",
        better="higher",
        measurand=Measurand(
            program=case.split("/", maxsplit=1)[0], version="1", kernel=kernel, metric="bandwidth"
        ),
        params={"stores": "non-temporal" if "non-temporal" in case else "ordinary", "touch": "parallel"},
        placement=placed,
        factors={},
        state=None,
        value=Quantity(median, 0.985 * median, 1.012 * median, "B/s", "range"),
        min=0.91 * median,
        max=1.02 * median,
        p99=0.93 * median,
        launches=3,
        samples=90,
        stop="precision",
        precision=0.008,
        steady=True,
        modes=(),
        limit=Limit(4.4e10, "measured", "the most that any placement reached in this run", "memory"),
        status="complete",
        reason=None,
    )
    return msgspec.structs.replace(made, **others)


def _copy(size: int, buffers: str) -> Estimate:
    """A plausible curve: a start-up cost, then the rate of the level that holds the buffers."""
    rate = 9e9 if buffers == "cold" else 6e10 if size < MIB else 2.4e10 if size < 16 * MIB else 1.1e10
    bandwidth = size / (8e-9 + size / rate)
    return estimate(
        f"memcpy/one-core/first-touch/bytes={size},buffers={buffers},offset=0",
        "memcpy",
        bandwidth,
        params={"bytes": size, "buffers": buffers, "offset": 0, "pool": 128 * MIB},
        value=Quantity(bandwidth, 0.985 * bandwidth, 1.012 * bandwidth, "B/s", "interval"),
        launches=6,
        limit=None,
    )


def estimates() -> tuple[Estimate, ...]:
    rates = {"copy": 0.93, "scale": 0.92, "add": 0.99, "triad": 1.0}
    streams = [
        estimate(f"stream/{label}/first-touch/stores={stores},touch=parallel", kernel, base * share * gain)
        for label, base in (("all", 3.1e10), ("one-core", 1.62e10))
        for stores, gain in (("ordinary", 1.0), ("non-temporal", 1.36))
        for kernel, share in rates.items()
    ]
    copies = [_copy(2**power, buffers) for buffers in ("hot", "cold") for power in range(27)]
    failed = msgspec.structs.replace(
        estimate("stream/all-threads/first-touch/stores=ordinary,touch=serial", "triad", 1.0),
        value=None,
        min=None,
        max=None,
        p99=None,
        precision=None,
        steady=None,
        limit=None,
        status="failed",
        reason="result wrong by 0.5",
        launches=0,
        samples=0,
        stop="",
    )
    return (*streams, *copies, failed)


def _records(number: int, case: str, host: str) -> LaunchRecords:
    cpus = (0,) if "/one-core/" in case else (0, 1)
    header = Header(
        1,
        case.split("/", maxsplit=1)[0],
        case,
        {},
        {"triad": {"bytes": 2.4e8}},
        {"compiler": "GCC 13"},
        Clock("steady_clock", 1e-9, 2e-8),
        (Rank(0, host, "b", cpus, cpus, "first-touch", {"0": 100}),),
    )
    seconds = [round(0.0077 * (1 + 0.01 * math.sin(7 * number + i)), 9) for i in range(30)]
    starts = [0.01 * i for i in range(30)]
    series = (
        Series("triad", 0, "warmup", 1, "steady", starts[:3], seconds[:3]),
        Series("triad", 0, "measured", 1, "precision", starts, seconds),
    )
    far = number % 4 == 3
    probe = Handover((0, 1), 1000, [(1.2e-4 if far else 2.8e-5) + 1e-8 * i for i in range(9)])
    after = Handover((0, 1), 1000, [(1.2e-4 if number % 4 >= 2 else 2.8e-5) + 1e-8 * i for i in range(9)])
    bracket = Bracket(probe, after, 0.8, 0.001, 0.01, 3, 0.4)
    launch = Launch(
        f"{number // 4:03}-{number % 4:02}",
        0,
        number // 4,
        "stream",
        "gcc",
        "k1",
        (case,),
        ("/cache/stream", "--cpus", "0", "--case", case),
        {"OMP_NUM_THREADS": "2"},
        f"2026-01-02T03:04:{number:02}.5+00:00",
        0,
        bracket,
    )
    return LaunchRecords(launch, (CaseRecords(header, series, Verdict(True, 0.0, 1e-13), End("complete")),))  # noqa: FBT003


def example(host: str = "n1") -> Example:
    """The run; `host` names its machine everywhere."""
    figures = estimates()
    cases = tuple(dict.fromkeys(e.case for e in figures))
    plan = Plan(
        schema=2,
        study="quick",
        title="Quick look at memory",
        question="How fast can this machine move data, and does anything hold it back?",
        machine=host,
        hosts=(host,),
        seed=42,
        precision=0.01,
        launches=3,
        budget_s=60.0,
        estimate_s=50.0,
        min_samples=10,
        max_samples=200,
        probe_cpus=(0, 1),
        cases=tuple(
            _case(c, _placement(c.split("/")[1], (0,) if "/one-core/" in c else (0, 1), host)) for c in cases
        ),
        order=tuple(PlannedLaunch(f"000-{i:02}", 0, "stream", "gcc", (c,)) for i, c in enumerate(cases)),
        folded=(Folded("stream at all:numa:0", "all", "this machine has one memory node"),),
        left_out=(LeftOut("stream at all-threads", "this machine has one thread a core"),),
        declarations=tuple(
            benchmarks.of(name).declaration for name in dict.fromkeys(e.benchmark for e in figures)
        ),
    )
    build = Build(
        "k1",
        Toolchain("gcc", "/usr/bin/g++", "g++ 13.2", ("-O3",)),
        "x86_64",
        "s",
        {},
        {"stream": "ab12"},
        openmp=True,
        built="t",
    )
    info = RunInfo(
        1, "20260102-030405-quick-7f3a", "quick", "2026-01-02T03:04:05+00:00", "0.1.0",
        ("assay", "run", "quick"), {"OMP_PROC_BIND": "close"}, {"gcc": build},
    )  # fmt: skip
    cut = Shortfall("budget", "the budget of 60 s was used up")
    run = Run(
        "/runs/20260102-030405-quick-7f3a",
        info,
        plan,
        {host: machine(host)},
        tuple(_records(number, cases[number % 4], host) for number in range(12)),
        Ending("cut", "2026-01-02T03:05:05+00:00", 61.0, {cases[-2]: cut}),
        ("line 17: torn off",),
    )
    return Example(run, _analysis(run, figures))


def _analysis(run: Run, figures: tuple[Estimate, ...]) -> Analysis:
    ordinary = next(e for e in figures if e.kernel == "triad" and "/all/" in e.case)
    streaming = next(e for e in figures if e.kernel == "triad" and "/all/" in e.case and "non-temporal" in e.case)
    ratio = Quantity(1.36, 1.33, 1.39, basis="range")
    comparison = Comparison("stores:all", streaming.id, ordinary.id, ratio, 3, "faster")
    findings = (
        Finding(
            "non-temporal:all", "non-temporal",
            "stores that bypass the caches move 1.36 times as much on all cores",
            "advice", "observed", ("stores:all",), "least ratio of a block 1.33", "1.05",
            ("the compiler may already use them",), "compile with -mnontemporal or use streaming stores",
        ),
        Finding(
            "noise", "machine_noise", "the cores changed between two states, 28 and 120 ns",
            "problem", "candidate", (),
            "2 states", "1", ("a hypervisor moves the cores",), "assay run quick --launches 6",
        ),
        Finding(
            "half", "half-the-cores", "half of the cores could not be compared with all", "fact", "not assessed",
            (), "", "", (), "a machine with four cores",
        ),
    )  # fmt: skip
    outcomes = tuple(
        Outcome(case, "failed", "result wrong by 0.5", 0, 3)
        if "all-threads" in case
        else Outcome(case, "complete", "", 3, 3)
        for case in dict.fromkeys(e.case for e in figures)
    )
    noise = Noise(1.02, 0.003, 0.4, 0.001, 0.02, {"near": (8, 2.8e-8), "far": (4, 1.2e-7)}, 3, 12)
    return Analysis(2, run.info.id, "quick", "cut", figures, (), (comparison,), findings, outcomes, noise)
