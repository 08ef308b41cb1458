"""Programs of others beside Assay's own: the study, the pairs, the conditions, the section and the rule."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.simulation import described
from tests.unit.report_example import estimate

from assay import cli, studies
from assay import plan as planning
from assay.analyse.comparisons import PROGRAM, conditions, pairs
from assay.analyse.comparisons.conditions import Conditions
from assay.analyse.estimates import LaunchMedian, Measured
from assay.catalogue import application_files, benchmarks
from assay.model.application import Application
from assay.model.compared import ComparedPair
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.plan import Measure, Plan
from assay.model.rank import Rank
from assay.model.record import Clock, Header
from assay.model.text import cli as command
from assay.plan import Options
from assay.report import remedies
from assay.report.declared import Scene
from assay.topics.comparisons.rules.slower_than_peer import rule
from assay.topics.comparisons.sections.programs import declared

PEERS = {name: each for name, each in benchmarks.applications().items() if each.beside}
TWO_CORES = "pack:1 numa:1(memory=8GB) l3:1(size=8MB) core:2 pu:1"


@pytest.mark.parametrize("name", PEERS)
def test_each_counterpart_is_a_figure_of_a_benchmark_in_the_same_unit(name: str) -> None:
    application, beside = PEERS[name], PEERS[name].beside
    assert beside
    benchmark = benchmarks.get(beside.benchmark)
    axes = {axis.name for axis in benchmark.axes}
    assert beside.axes.keys() <= axes | application.parameters.keys()
    for figure, counterpart in beside.figures.items():
        assert counterpart.axes.keys() <= axes
        params = dict(benchmark.defaults) | {
            name: value for name, value in (beside.axes | counterpart.axes).items() if not isinstance(value, tuple)
        }
        metrics = {each.name: each for each in benchmark.metrics_of(counterpart.kernel, params)}
        own = application.figures[figure].metric(figure)
        assert metrics[counterpart.metric].unit == own.unit
        assert metrics[counterpart.metric].better == own.better


def test_a_suite_has_all_of_its_programs_and_the_counterpart_of_each_figure() -> None:
    found = studies.get("beside:osu").measure
    programs = {each.benchmark for each in found if not each.beside}
    assert programs == {"osu-latency", "osu-bw", "osu-bibw"}
    sizes = {each.axes["bytes"] for each in found if each.beside == "osu-bw"}
    assert sizes == {8, 1024, 65536, 2**20}
    assert {each.axes["pattern"] for each in found if each.beside == "osu-bibw"} == {"bidirectional"}
    assert len(found) == len(set(map(repr, found)))


def test_parameters_with_the_name_of_an_axis_have_its_values_in_both() -> None:
    theirs, ours = studies.get("beside:hpcc").measure
    assert (theirs.benchmark, ours.benchmark, ours.beside) == ("hpc-challenge", "hpl", "hpc-challenge")
    assert theirs.axes == ours.axes == {"n": (2000, 4000), "nb": 128}


def test_an_unknown_name_is_refused_with_those_that_have_a_counterpart() -> None:
    with pytest.raises(UsageError) as caught:
        studies.get("beside:zzz")
    assert "npb" in caught.value.why
    assert "stream" in caught.value.why
    with pytest.raises(UsageError, match="beside 'pyscf-benzene'"):  # an application without one
        studies.get("beside:pyscf-benzene")


def made(name: str, **options: object) -> Plan:
    chosen = Options(**({"mpis": ("openmpi",), "libraries": {"blas": "blas"}, "seed": 1} | options))  # type: ignore[arg-type]
    return planning.make(name, studies.get(name), described(TWO_CORES), chosen)


def test_without_the_program_of_others_nothing_of_assay_is_measured_alone() -> None:
    with pytest.raises(UnfitEnvironmentError) as caught:
        made("beside:netpipe", absent={"netpipe-openmpi": "it is not here"})
    assert caught.value.remedy == "assay build --application netpipe-openmpi"
    with pytest.raises(UnfitEnvironmentError) as caught:
        made("beside:stream", mpis=(), absent={"stream-c": "it is not here"})
    assert caught.value.remedy.startswith("assay run beside:stream --peer DIR")
    plan = made("beside:osu", absent={"osu-bw": "it is not here", "osu-bibw": "nor it"})
    assert {case.params.get("pattern") for case in plan.studied if case.benchmark == "pt2pt"} == {"latency"}
    assert {left.request for left in plan.left_out} == {"osu-bw", "osu-bibw"}


def test_of_one_program_for_each_problem_those_that_are_here_are_measured() -> None:
    plan = made("beside:npb", programs=frozenset({"cg.A.x", "mg.A.x"}))
    assert {case.params["npb"] for case in plan.studied if case.benchmark == "npb-kernels"} == {"cg", "mg"}
    assert any("ep.A.x is not here" in left.reason for left in plan.left_out)
    assert len(application_files.named("npb-kernels").executables) == 25


def test_a_folder_is_searched_before_the_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "bin" / "multichase"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 1.25\n")
    program.chmod(0o755)
    assert cli._run(["plan", "beside:multichase", "--peer", str(tmp_path)]) == 0
    assert str(program) in capsys.readouterr().out.replace("\n", "").replace(" ", "").replace("program:", " ")
    assert cli._run(["plan", "beside:multichase", "--peer", str(program.parent)]) == 0
    capsys.readouterr()
    assert cli._run(["plan", "beside:multichase", "--peer", str(tmp_path / "nothing")]) == 2
    assert "no program of study 'beside:multichase' is in" in capsys.readouterr().err


#: Ratios of six blocks around 1, all of them distinct.
SCATTER = (0.996, 0.998, 1.0, 1.001, 1.003, 1.005)


def measured(
    name: str, kernel: str, value: float, scatter: tuple[float, ...] = SCATTER, **fields: object
) -> Measured:
    launches = tuple(
        LaunchMedian(block, None, value * each, mean=0.9 * value * each, best=1.5 * value * each)
        for block, each in enumerate(scatter)
    )
    case = f"{name}/one-core/first-touch/{fields.get('params', {})}"
    shown = estimate(case, kernel, value, **({"params": {}, "launches": 6, "mean": 0.9 * value} | fields))
    return Measured(shown, launches)


def peer(statistic: str = "median") -> Application:
    """A peer of stream with one figure, beside two sizes."""
    table = {
        "title": "Peer",
        "measures": "a rate",
        "command": ["peer"],
        "needs": {"program": "peer"},
        "parameters": {"elements": {"meaning": "length", "values": [1000, 2000]}},
        "figures": {"speed": {"pattern": "(.*)", "unit": "MB/s", "meaning": "a rate"}},
        "verify": [{"about": "it", "present": "."}],
        "beside": {
            "benchmark": "stream",
            "axes": {"stores": "ordinary"},
            "differs": ["its arrays lie otherwise"],
            "figures": {"speed": {"kernel": "triad", "metric": "bandwidth", "statistic": statistic}},
        },
    }
    return application_files.of_table({"application": table}, Path("peer.toml"))


def run_of(*applications: Application, launches: tuple[Any, ...] = ()) -> Any:  # noqa: ANN401 (in the place of a run)
    plan = SimpleNamespace(
        applications=applications, factors=(), cases=(), folded=(), study="beside:peer", budget_s=None, hosts=()
    )
    typed = ("assay", "run", "beside:peer", "--peer", "/opt/theirs", "--set", "n=8")
    info = SimpleNamespace(study="beside:peer", command=typed, id="one")
    return SimpleNamespace(plan=plan, info=info, machines={}, launches=launches, imported=None, ending=None)


def theirs(value: float, elements: int = 1000, scatter: tuple[float, ...] = SCATTER) -> Measured:
    return measured("peer", "speed", value, scatter, params={"elements": elements}, metric="speed")


def ours(value: float, elements: int = 1000, stores: str = "ordinary") -> Measured:
    params = {"elements": elements, "stores": stores, "touch": "parallel"}
    return measured("stream", "triad", value, SCATTER[::-1], params=params)


def compared(*figures: Measured, statistic: str = "median") -> list[ComparedPair]:
    return [each for each in pairs(run_of(peer(statistic)), figures) if each.comparison.differ == PROGRAM]


def test_a_pair_has_the_same_values_of_the_axes_that_both_have() -> None:
    found = compared(
        ours(1.1e9), ours(2.2e9, 2000), ours(9e9, stores="non-temporal"), theirs(1e9), theirs(1e9, 2000)
    )
    ratios = {each.a.params["elements"]: each.comparison.ratio for each in found}
    assert ratios == {1000: pytest.approx(1.1, rel=1e-3), 2000: pytest.approx(2.2, rel=1e-3)}
    assert {each.comparison.base for each in found} == {"peer"}
    assert all(each.comparison.verdict == "faster" for each in found)


def test_no_pair_is_made_of_another_placement_or_unit() -> None:
    elsewhere = ours(1e9)
    placed = msgspec.structs.replace(elsewhere.estimate.placement, label="all")
    moved = Measured(msgspec.structs.replace(elsewhere.estimate, placement=placed), elsewhere.launches)
    timed = Measured(msgspec.structs.replace(elsewhere.estimate, unit="s"), elsewhere.launches)
    assert compared(moved, timed, theirs(1e9)) == []


@pytest.mark.parametrize(("statistic", "ratio"), [("median", 1.0), ("mean", 0.9), ("best", 1.5)])
def test_both_are_compared_by_what_the_other_program_prints(statistic: str, ratio: float) -> None:
    (found,) = compared(ours(1e9), theirs(1e9), statistic=statistic)
    assert found.comparison.ratio == pytest.approx(ratio, rel=1e-3)


def header(case: str, cpu: int = 0, huge: float | None = None, **facts: str) -> Any:  # noqa: ANN401 (records)
    rank = Rank(0, "n1", "b", (cpu,), (cpu,), "first-touch", {}, huge_page_share=huge)
    made = Header(1, "x", case, {}, {}, {}, Clock("", 1e-9, 1e-9), (rank,), facts=facts)
    return SimpleNamespace(cases=(SimpleNamespace(header=made, verdict=None),))


def test_conditions_are_those_of_the_records() -> None:
    launches = (
        header("a", 0, 1.0, mpi="/lib/libmpi.so.40", blas="/lib/libopenblas.so"),
        header("b", 0, 0.2, mpi="/lib/libmpi.so.12", blas="/lib/libopenblas.so", program="/bin/peer"),
        header("c", 1, None),
    )
    found = conditions.conditions(run_of(launches=launches))
    one, other, third = (found[name] for name in "abc")
    assert (other.program, other.cpus, third.cpus) == ("/bin/peer", (0,), (1,))
    assert one.other_files(other) == ("mpi",)
    assert one.other_files(third) == ()  # it has none
    assert one.has_other_pages(other)
    assert not one.has_other_pages(third)  # nobody knows
    assert not one.has_other_pages(Conditions(huge_pages=0.95))


def found(*figures: Measured, spoilt: bool = False) -> list[Any]:
    """What the rule finds in these figures."""
    run = run_of(peer())
    evidence: Any = SimpleNamespace(
        run=run, pairs=pairs(run, figures), noise=SimpleNamespace(spoils=spoilt), study=lambda: "beside:peer"
    )
    return list(rule.assess(evidence))


WIDE = (0.9, 0.95, 1.0, 1.04, 1.1, 1.15)


def test_a_row_below_1_by_its_whole_interval_is_a_finding() -> None:
    (finding,) = found(ours(0.9e9), theirs(1e9))
    assert (finding.rule, finding.severity, finding.status) == ("slower_than_peer", "advice", "observed")
    statistic = finding.numbers["statistic"]
    assert (statistic.value, finding.numbers["threshold"].value) == (pytest.approx(0.9, rel=1e-3), 1.0)
    assert statistic.hi < 1
    assert finding.rivals
    assert finding.next.startswith("assay run beside:peer --vary")


def test_level_faster_uncertain_and_disturbed_rows_are_none() -> None:
    assert found(ours(1e9), theirs(1e9)) == []
    assert found(ours(1.2e9), theirs(1e9)) == []
    assert found(ours(0.97e9), theirs(1e9, scatter=WIDE)) == []
    assert found(ours(0.9e9), theirs(1e9), spoilt=True) == []


def test_a_time_is_judged_as_a_speed() -> None:
    times = [
        Measured(msgspec.structs.replace(each.estimate, better="lower"), each.launches)
        for each in (ours(0.9e9), theirs(1e9))
    ]
    assert found(*times) == []


def test_all_slower_rows_of_a_program_are_one_finding() -> None:
    (finding,) = found(ours(0.9e9), theirs(1e9), ours(0.8e9, 2000), theirs(1e9, 2000))
    assert finding.numbers["statistic"].value == pytest.approx(0.8, rel=1e-3)
    assert len(finding.evidence) == 4


def scene(*figures: Measured, launches: tuple[Any, ...] = ()) -> Scene:
    run = run_of(peer(), launches=launches)
    comparisons = tuple(each.comparison for each in pairs(run, figures))
    estimates = tuple(each.estimate for each in figures)
    analysis: Any = SimpleNamespace(estimates=estimates, models=(), comparisons=comparisons)
    return Scene(run, analysis, estimates, estimates, ())


def test_a_row_shows_both_figures_the_ratio_and_its_interval() -> None:
    of = scene(ours(0.9e9), theirs(1e9))
    assert declared.applies(of)
    ((row,),) = (table.rows for table in declared.shared_tables[0](of))
    assert row[2:6] == ("900 MB/s", "1.00 GB/s", "median", "0.900")
    assert row[7] == "slower"
    assert not declared.applies(scene(ours(0.9e9)))


def test_the_section_says_what_differs_and_which_conditions_are_not_equal() -> None:
    a, b = ours(0.9e9), theirs(1e9)
    same = (header(a.estimate.case, 0, 1.0), header(b.estimate.case, 0, 0.95))
    unlike = (
        header(a.estimate.case, 0, 1.0, mpi="/lib/libmpi.so.40"),
        header(b.estimate.case, 0, 0.0, mpi="/lib/libmpi.so.12", program="/opt/peer"),
    )
    equal, other = (" ".join(declared.sentences(scene(a, b, launches=each))) for each in (same, unlike))
    assert "its arrays lie otherwise" in equal
    assert "another MPI" not in equal
    assert "hugetlb" not in equal
    assert "another MPI" in other
    asking = other.partition("GLIBC_TUNABLES=glibc.malloc.hugetlb=1 ")[2].partition("`")[0].split()
    assert asking[:3] == ["assay", "run", "beside:peer"]
    assert {"--peer", "/opt/theirs", "--set", "n=8"} == {*asking[3:]}
    varied = remedies.typed(command("run", "beside:peer", "--vary", "flags=-O2|-O3"), run_of())
    assert "--peer /opt/theirs" in varied
    ((row,),) = (table.rows for table in declared.page_tables[0](scene(a, b, launches=unlike)))
    assert "/opt/peer" in row
    assert "libmpi.so.40; other: libmpi.so.12" in row


def test_a_measure_beside_a_program_is_read_from_a_file_of_the_user() -> None:
    assert msgspec.convert({"benchmark": "stream", "placements": ["all"], "beside": "stream-c"}, Measure).beside
