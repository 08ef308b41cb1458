"""Scaling: pairs of measurements, factors of a loss, the section and the finding."""

import re
from pathlib import Path

import msgspec
import pytest
from tests.simulation import TWO_CORES, plan_for, simulated_run

from assay import store
from assay.analyse import analyse, examine
from assay.analyse.predictions import expectations
from assay.catalogue import benchmarks
from assay.model.facts import Fact
from assay.model.placement import Memory, Placement
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity, exact
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.plan import Options
from assay.report import html, selection
from assay.report.section import Section
from assay.report.sections import sections
from assay.report.summary import summary
from assay.simulation import Law, Link
from assay.topics.scaling.laws import serial_fraction
from assay.topics.scaling.models.scaling import Scaling
from assay.topics.scaling.rules import scaling as scaling_rule
from assay.topics.scaling.steps import Step
from assay.topics.stencil.benchmarks.himeno import GRIDS
from assay.topics.stencil.shape import block_of, shape_of

pytestmark = pytest.mark.usefixtures("undrawn")

HIMENO = benchmarks.get("himeno_mpi")
#: Two cores draw more than the memory of a node gives.
SHARED = Law(node_traffic=15e9)
HOSTS = Options(hosts=("n1", "n2"))


def study(*more: Measure) -> Study:
    together = Measure("himeno_mpi", ("one-core", "pair", "one-core@2"), axes={"size": "M"})
    copies = Measure("himeno_mpi", ("pair",), axes={"size": "M", "coupling": "independent"})
    return Study("Scaling", "How much faster?", (together, copies, *more), launches=6)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.load(
        simulated_run(
            tmp_path_factory.mktemp("scaling"),
            SHARED,
            study=study(Measure("stream", ("one-core", "pair"))),
            options=HOSTS,
        )
    )


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


def scaling(analysis: Analysis, benchmark: str) -> Scaling:
    (found,) = (
        each for each in analysis.models if isinstance(each, Scaling) and each.base.startswith(f"{benchmark}/")
    )
    return found


def step(model: Scaling, nodes: int, *, copies: bool = False) -> Step:
    (found,) = (each for each in model.steps if each.nodes == nodes and each.copies == copies)
    return found


def section(run: Run, analysis: Analysis) -> Section:
    return next(each for each in sections(run, analysis) if each.id == "scaling")


@pytest.mark.parametrize(
    ("size", "ranks", "wanted", "shape"),
    [
        ("XS", 1, (0, 0, 0), (1, 1, 1)),
        ("XS", 2, (0, 0, 0), (2, 1, 1)),
        ("XS", 16, (0, 0, 0), (4, 4, 1)),
        ("XS", 6, (0, 0, 3), (2, 1, 3)),
        ("XS", 2, (0, 0, 4), None),
        ("XS", 64, (0, 0, 64), None),
    ],
)
def test_a_grid_is_distributed_as_in_the_program(
    size: str, ranks: int, wanted: tuple[int, int, int], shape: tuple[int, int, int] | None
) -> None:
    assert shape_of(GRIDS[size], ranks, wanted) == shape


def test_a_block_has_its_points_and_their_neighbours() -> None:
    assert block_of(GRIDS["XS"], (1, 1, 1)) == GRIDS["XS"]
    assert block_of(GRIDS["XS"], (4, 2, 1)) == (8 + 2, 15 + 2, 64)
    whole = Placement("", "", (0,), Memory(), ("n1",), ((0,),))
    four = Placement("", "", (0, 1, 2, 3), Memory(), ("n1",), ((0,), (1,), (2,), (3,)))
    sharing, independent = ({"size": "M", "coupling": word} for word in ("sharing", "independent"))
    assert HIMENO.memory_bytes(independent, four) == HIMENO.memory_bytes(sharing, whole)
    assert HIMENO.memory_bytes(sharing, four) < 0.3 * HIMENO.memory_bytes(sharing, whole)


def test_speed_ups_are_paired_ratios_with_an_interval_over_a_named_base(analysis: Analysis) -> None:
    found = scaling(analysis, "himeno_mpi")
    assert (found.base_label, found.base_cores) == ("one-core", 1)
    estimates = {each.id: each for each in analysis.estimates}
    for each in found.steps:
        assert each.blocks == 6
        assert each.speed_up.has_interval
        medians = estimates[each.estimates[0]].median, estimates[found.base].median
        assert all(medians)
        assert each.speed_up.value == pytest.approx(medians[0] / medians[1], rel=0.05)  # type: ignore[operator]
        assert each.efficiency.value == pytest.approx(each.speed_up.value / 2)


def test_the_loss_on_one_node_is_what_copies_lose_and_what_messages_lose(analysis: Analysis) -> None:
    found = scaling(analysis, "himeno_mpi")
    here = step(found, 1)
    assert here.shared
    assert here.messages
    assert here.shared.value == pytest.approx(step(found, 1, copies=True).efficiency.value)
    assert here.shared.value * here.messages.value == pytest.approx(here.efficiency.value, rel=0.02)
    assert here.shared.value < 0.9


def test_between_nodes_nothing_is_shared(analysis: Analysis) -> None:
    there = step(scaling(analysis, "himeno_mpi"), 2)
    assert there.shared
    assert there.shared.parts == (1, 1, 1)
    assert there.messages == there.efficiency


def test_the_limit_of_several_nodes_is_the_memory_of_all(analysis: Analysis) -> None:
    rates = [each for each in analysis.estimates if each.benchmark == "himeno_mpi" and each.metric == "rate"]
    limits = {each.placement.label: each.limit for each in rates}
    one, both = limits["one-core"], limits["one-core@2"]
    assert one
    assert both
    assert both.value == pytest.approx(2 * one.value)
    assert "2 nodes" in both.of
    two_nodes = next(each for each in rates if each.placement.nodes == 2)
    assert [each.placement.hosts for each in two_nodes.by_host] == [("n1",), ("n2",)]
    assert two_nodes.placement.proven
    proven = msgspec.structs.replace(two_nodes.placement.proven, machines=1)
    placement = msgspec.structs.replace(two_nodes.placement, proven=proven)
    assert msgspec.structs.replace(two_nodes, placement=placement).by_host == ()  # its cores would count twice


def test_rates_of_separate_hosts_are_added(analysis: Analysis) -> None:
    found = scaling(analysis, "stream")
    both = next(each for each in found.steps if each.label == "one-core")
    assert (both.nodes, both.cores, len(both.estimates)) == (2, 2, 2)
    assert both.efficiency.value == pytest.approx(1, rel=0.05)
    assert both.ranks == 0


@pytest.mark.parametrize(("low", "is_given"), [(1.7, True), (0.7, False)])
def test_an_interval_of_nearly_any_fraction_gives_none(low: float, is_given: bool) -> None:  # noqa: FBT001
    speed_up = Quantity(1.8, low, 1.98, basis="interval")
    assert bool(serial_fraction(speed_up, 2)) is is_given


def test_a_speed_up_of_one_launch_determines_no_serial_fraction(tmp_path: Path, analysis: Analysis) -> None:
    assert step(scaling(analysis, "himeno_mpi"), 1).serial is not None
    alone = msgspec.structs.replace(study(), launches=1)
    once = analyse(store.load(simulated_run(tmp_path, SHARED, study=alone, options=HOSTS)))
    single = step(scaling(once, "himeno_mpi"), 1)
    assert single.serial is None
    assert single.speed_up.value > 1


def test_one_core_alone_has_no_speed_up(tmp_path: Path) -> None:
    measure = Measure("himeno_mpi", ("one-core",), axes={"size": ("XS", "M")})
    found = analyse(store.load(simulated_run(tmp_path, Law(), study=Study("One", "?", (measure,), launches=6))))
    assert not [each for each in found.models if isinstance(each, Scaling)]


def bases(analysis: Analysis) -> list[Estimate]:
    ids = [each.base for each in analysis.models if isinstance(each, Scaling)]
    return [next(e for e in analysis.estimates if e.id == one) for one in ids]


def test_the_section_names_the_base_and_has_a_row_for_each_placement(run: Run, analysis: Analysis) -> None:
    drawn = section(run, analysis)
    table, advice, reasons = drawn.tables
    assert [row[0] for row in advice.rows] == [selection.title(each.declared) for each in bases(analysis)]
    assert [row[1] for row in reasons.rows] == ["pair", "one-core@2"]
    rows = [row for row in table.rows if row[0].startswith("Himeno over MPI")]
    assert [row[1] for row in rows] == ["one-core", "pair", "pair, independent copies", "one-core@2"]
    assert rows[0][5] == "base"
    (points,) = drawn.figures
    assert "one-core" in points.caption
    assert "independent copies" in points.result
    assert "Memory bandwidth (STREAM), 4 cores independent copies" in points.result


def test_copies_on_several_nodes_are_no_speed_up_of_a_problem() -> None:
    """LINPACK in Fortran runs on one core: on 16 nodes there are 16 of it, and none is solved sooner."""
    run = store.load(Path(__file__).parents[2] / "docs/gallery/like-sci.tar.xz")
    analysis = analyse(run)
    found = [each for each in analysis.models if isinstance(each, Scaling)]
    copies = [each for each in found if "linpack_fortran" in each.id]
    assert len(copies) == 3
    for each in copies:
        assert [(step.copies, step.cores, step.serial) for step in each.steps] == [(True, 16, None)]
        assert each.advice is None
        assert each.figures == ()
    speed_ups, apart, *others = section(run, analysis).tables
    assert {row[0] for row in speed_ups.rows} == {"HPL (LU, 64 bit), n largest"}
    assert "Speed-up" not in apart.columns
    assert [row[0][: len("LINPACK in Fortran")] for row in apart.rows] == ["LINPACK in Fortran"] * len(copies)
    assert all("LINPACK" not in cell for table in others for row in table.rows for cell in row)


def test_the_first_page_shows_a_speed_up_with_the_limit_without_loss(run: Run, analysis: Analysis) -> None:
    line, better = section(run, analysis).headlines
    assert line.label == "Speed-up, two cores of one node: Himeno over MPI (stencil)"
    assert better.label == "Speed-up, one core on each of 2 nodes: Himeno over MPI (stencil)"
    assert line.estimate.limit
    assert (better.estimate.median or 0) > 1.9
    assert (line.estimate.unit, line.estimate.limit.value) == ("", 2.0)
    worst = min(each.speed_up.value for each in scaling(analysis, "himeno_mpi").steps if not each.copies)
    assert line.estimate.median == worst < 1.6
    page = html.render(run, analysis).split('id="words"')[0]
    assert page.index(line.label) < page.index('class="verdicts"')


def test_a_large_loss_is_a_problem_that_names_its_largest_part_and_a_command(run: Run, analysis: Analysis) -> None:
    claim = next(each for each in summary(run, analysis).wrong if "linear" in each)
    assert claim.startswith("Himeno over MPI (stencil) on two cores of one node: 3")
    assert re.search(r"3\d\.\d % of a linear speed-up over one core is lost\. Sharing the node costs 3", claim)


def test_the_remedy_is_a_faster_placement_on_as_many_cores(run: Run, analysis: Analysis) -> None:
    (first, *_) = summary(run, analysis).next
    assert re.match(
        r"use one core on each of 2 nodes, which gives a speed-up of (1\.9|2\.0)\d in place of 1\.2", first.do
    )
    assert "`srun --nodes=2 --ntasks-per-node=1 PROGRAM`" in first.do
    alone = [each for each in analysis.models if isinstance(each, Scaling) and each.base.startswith("himeno_mpi/")]
    (model,) = alone
    best = max((each for each in model.steps if not each.copies), key=lambda each: each.efficiency.value)
    assert model.faster(best) is None


def test_a_reason_is_only_given_where_it_was_measured(analysis: Analysis) -> None:
    (model,) = (
        each for each in analysis.models if isinstance(each, Scaling) and each.base.startswith("himeno_mpi/")
    )
    base = next(each for each in analysis.estimates if each.id == model.base)
    step = next(each for each in model.steps if each.shared and each.messages and not each.copies)
    assert "costs" in scaling_rule._reason(step)
    full = msgspec.structs.replace(step, as_full=True, shared=exact(1.0), messages=step.efficiency)
    assert scaling_rule._reason(full).startswith("Each node has the same load as the base")
    assert "faster network" in scaling_rule._next(msgspec.structs.replace(model, steps=()), full, base)
    nine = Quantity(0.9, 0.88, 0.92, "", "interval")
    uneven = msgspec.structs.replace(full, shared=nine, messages=Quantity(0.97, 0.96, 0.98, "", "interval"))
    assert scaling_rule._reason(uneven).startswith("The nodes differ: without messages, ranks on them lose 10.0 %")
    only = msgspec.structs.replace(model, steps=())
    assert "find the slow node" in scaling_rule._next(only, uneven, base)
    few = msgspec.structs.replace(step, shared=exact(0.5))
    assert scaling_rule._reason(few).startswith("Too few launches")
    alone = msgspec.structs.replace(step, shared=None)
    assert "not measured separately" in scaling_rule._reason(alone)


def test_a_faster_placement_on_the_same_nodes_has_no_command(analysis: Analysis) -> None:
    (model,) = (
        each for each in analysis.models if isinstance(each, Scaling) and each.base.startswith("himeno_mpi/")
    )
    base = next(each for each in analysis.estimates if each.id == model.base)
    worst = min((each for each in model.steps if not each.copies), key=lambda each: each.efficiency.value)
    assert "PROGRAM" in scaling_rule._next(model, worst, base)
    better = model.faster(worst)
    assert better
    here = msgspec.structs.replace(better, nodes=worst.nodes)
    same = msgspec.structs.replace(model, steps=(worst, here))
    remedy = scaling_rule._next(same, worst, base)
    assert remedy.startswith("use ")
    assert "PROGRAM" not in remedy


def test_a_low_efficiency_is_found_with_its_reason(analysis: Analysis) -> None:
    (finding,) = (each for each in analysis.findings if each.rule == "scaling")
    assert finding.status == "observed"
    assert "two cores of one node" in finding.claim
    assert "ranks without messages" in finding.claim
    assert finding.numbers["statistic"].hi < finding.numbers["threshold"].value


def test_ranks_that_take_turns_on_one_machine_are_neither_predicted_nor_a_problem(tmp_path: Path) -> None:
    slow = Law(links={**Law().links, "eth0": Link(2e-5, 1.1e7, 1.1e7)})
    problem = Measure("himeno_mpi", ("one-core@1,2",), axes={"size": "S"})
    messages = Measure(
        "pt2pt", ("pair:other-node",), axes={"pattern": "latency", "bytes": (0, "8:4M")}, weight=0.01
    )
    options = msgspec.structs.replace(HOSTS, networks={"net": "eth0"})
    asked = Study("Scaling", "How much faster?", (problem, messages), launches=6)
    apart = store.load(simulated_run(tmp_path, slow, study=asked, options=options))
    (machine,) = apart.machines.values()
    system = {**machine.facts.get("system", {}), "boot id": Fact(value="one")}
    same = msgspec.structs.replace(machine, facts={**machine.facts, "system": system})
    together = msgspec.structs.replace(apart, machines={"n1": same, "n2": same})
    case = next(
        each for each in apart.plan.cases if each.benchmark == "himeno_mpi" and len(each.placement.hosts) > 1
    )
    for run, turns in ((apart, False), (together, True)):
        assert run.takes_turns(case.placement) == turns
        assert bool(expectations(examine(run), [case])) == (not turns)
        (finding,) = (
            each for each in analyse(run).findings if each.rule == "scaling" and each.status == "observed"
        )
        assert finding.severity == ("fact" if turns else "problem")


def test_one_two_two_leaves_out_cases_on_two_nodes_with_the_reason() -> None:
    one = plan_for(TWO_CORES, "one-two-two", Options(libraries={"blas": "/simulated/libblas.so"}))
    labels = {case.placement.label for case in one.cases if case.role == "measure"}
    assert labels == {"one-core", "pair"}
    assert any("one-core@2" in left.request and "node" in left.reason for left in one.left_out)


def test_a_gain_by_shared_parts_is_a_cache_effect(run: Run, analysis: Analysis) -> None:
    found = scaling(analysis, "himeno_mpi")
    gain = Quantity(1.46, 1.4, 1.5, basis="interval")
    for efficiency, reason in ((0.96, "faster than independent copies"), (1.3, "more than the factor of cores")):
        held = Quantity(efficiency, efficiency - 0.02, efficiency + 0.02, basis="interval")
        steps = tuple(
            msgspec.structs.replace(each, messages=gain, efficiency=held) if each == step(found, 1) else each
            for each in found.steps
        )
        drawn = section(
            run, msgspec.structs.replace(analysis, models=(msgspec.structs.replace(found, steps=steps),))
        )
        words = " ".join(drawn.meaning)
        assert reason in words
        assert "a cache effect" in words
        reasons = drawn.tables[-1]
        row = dict(zip(reasons.columns, next(row for row in reasons.rows if row[1] == "pair"), strict=True))
        assert row["Factor of messages"] == ""
        assert row["Factor of smaller parts"].startswith("1.46")


def test_a_low_efficiency_with_a_cache_effect_is_no_gain_by_messages(analysis: Analysis) -> None:
    found = scaling(analysis, "himeno_mpi")
    assert not step(found, 1).by_caches
    faster = msgspec.structs.replace(step(found, 1), messages=Quantity(1.46, 1.4, 1.5, basis="interval"))
    reason = scaling_rule._reason(faster)
    assert "cache effect" in reason
    assert "that messages leave" not in reason


def test_one_two_two_has_the_limits_of_its_systems() -> None:
    plan = plan_for(TWO_CORES, "one-two-two", Options(libraries={"blas": "/simulated/libblas.so"}))
    for benchmark in ("flops", "dgemm"):
        places = {case.placement.label for case in plan.studied if case.benchmark == benchmark}
        assert places == {"one-core", "pair"}
