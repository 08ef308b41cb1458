"""The NAS kernels: classes by memory and time, operations, limits, and what the report says; simulated."""

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.simulation import EPYC_7601, TWO_CORES, described, plan_for, simulated_run

from assay import store
from assay.analyse import analyse
from assay.catalogue import benchmarks
from assay.model.benchmark import Resources
from assay.model.placement import Memory, Placement
from assay.model.plan import Measure, Study
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.units import format_quantity, parse_quantity
from assay.report.section import Section
from assay.report.sections import sections
from assay.simulation import Fault, Law
from assay.topics.kernels.sizes import CLASSES, PROBLEMS, demand
from assay.topics.scaling.models.scaling import Scaling

NAS = benchmarks.get("nas")


def placed(ranks: int) -> Placement:
    cpus = tuple((cpu,) for cpu in range(ranks))
    return Placement("all", "all", tuple(range(ranks)), Memory(), ("n1",), cpus)


def chosen(
    problem: str, ranks: int, memory: int, *, description: str = TWO_CORES, coupling: str = "sharing"
) -> str:
    resources = Resources(placed(ranks), described(description).topology, memory)
    (point,) = NAS.points(resources, {"npb": problem, "coupling": coupling})
    return str(point["npb-class"])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.load(simulated_run(tmp_path_factory.mktemp("nas"), Law(), study="nas"))


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


def rates(analysis: Analysis, place: str = "all", metric: str = "rate") -> dict[str, Estimate]:
    every = (e for e in analysis.estimates if e.benchmark == "nas" and e.metric == metric)
    found = [e for e in every if e.params["coupling"] == "sharing"]
    return {str(e.params["npb"]): e for e in found if e.placement.label == place}


def section(run: Run, analysis: Analysis) -> Section:
    return next(each for each in sections(run, analysis) if each.id == "nas")


#: Of class A in 10^9, as RNR-94-007 counts (table 1.2) and as NPB does.
@pytest.mark.parametrize(
    ("problem", "report", "within"),
    [("cg", 1.508, 0.02), ("mg", 3.905, 0.01), ("ft", 5.631, 0.3)],
)
def test_operations_are_about_those_of_the_report(problem: str, report: float, within: float) -> None:
    assert demand(problem, "A").operations == pytest.approx(1e9 * report, rel=within)


def test_operations_of_counted_things_are_exact() -> None:
    assert demand("ep", "A").operations == 2**29
    assert demand("ep", "A").flops_per_operation * 2**29 == 26.68e9
    assert demand("is", "B").operations == 10 * 2**25


#: Problem -> class -> what NPB states of it (NPB 3.4, npbparams.h as setparams.c writes it).
PUBLISHED: dict[str, dict[str, tuple[int, ...]]] = {
    "ep": {"S": (24,), "W": (25,), "A": (28,), "B": (30,), "C": (32,), "D": (36,)},  # log2 of the pairs
    "is": {"S": (16,), "W": (20,), "A": (23,), "B": (25,), "C": (27,), "D": (31,)},  # log2 of the keys
    "cg": {
        "S": (1400, 7, 15),
        "W": (7000, 8, 15),
        "A": (14000, 11, 15),  # order, nonzeros, iterations
        "B": (75000, 13, 75),
        "C": (150000, 15, 75),
        "D": (1500000, 21, 100),
    },
    "mg": {"S": (32, 4), "W": (128, 4), "A": (256, 4), "B": (256, 20), "C": (512, 20), "D": (1024, 50)},
    "ft": {
        "S": (64**3, 6),
        "W": (128 * 128 * 32, 6),
        "A": (256 * 256 * 128, 6),  # points, iterations
        "B": (512 * 256 * 256, 20),
        "C": (512**3, 20),
        "D": (2048 * 1024 * 1024, 25),
    },
}
#: Problem -> the operations by which NPB computes Mop/s (ep.f, is.c, cg.f, mg.f, ft.f).
COUNTED: dict[str, Callable[..., float]] = {
    "ep": lambda pairs: 2.0 ** (pairs + 1),
    "is": lambda keys: 10 * 2.0**keys,
    "cg": lambda na, nonzer, niter: (
        2.0 * niter * na * (3 + nonzer * (nonzer + 1) + 25 * (5 + nonzer * (nonzer + 1)) + 3)
    ),
    "mg": lambda side, niter: 58.0 * niter * side**3,
    "ft": lambda points, niter: (
        points * (14.8157 + 7.19641 * math.log(points) + (5.23518 + 7.21113 * math.log(points)) * niter)
    ),
}


@pytest.mark.parametrize("problem", PUBLISHED)
@pytest.mark.parametrize("size", CLASSES)
def test_each_class_has_the_size_that_npb_states(problem: str, size: str) -> None:
    wanted = COUNTED[problem](*PUBLISHED[problem][size])
    assert demand(problem, size).operations == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_classes_grow(problem: str) -> None:
    needs = [demand(problem, size) for size in CLASSES]
    for smaller, larger in itertools.pairwise(needs):
        assert smaller.operations < larger.operations
        assert smaller.memory_bytes(4) <= larger.memory_bytes(4)


def test_one_core_and_all_cores_have_the_same_class() -> None:
    for description in (TWO_CORES, EPYC_7601):
        topology = described(description).topology
        cores = len(topology.cores)
        for problem in PROBLEMS:
            one, every = (
                chosen(problem, ranks, 2**37, description=description, coupling=coupling)
                for ranks, coupling in ((1, "sharing"), (cores, "sharing"))
            )
            assert one == every == chosen(problem, cores, 2**37, description=description, coupling="independent")


def test_a_class_occupies_all_cores_for_a_second_unless_one_core_would_take_too_long() -> None:
    assert {problem: chosen(problem, 2, 2**34) for problem in PROBLEMS} == {
        "ep": "A",
        "is": "B",
        "cg": "A",  # B would take one core 36 s
        "mg": "B",
        "ft": "A",
    }


def test_a_class_fits_memory_and_gives_all_ranks_work() -> None:
    assert chosen("mg", 2, 10**8) == "W"
    assert chosen("mg", 2, 1) == "S"
    assert chosen("ft", 64, 2**36) == "A"
    assert chosen("ft", 200, 2**38) == "B"


def test_a_class_that_memory_does_not_hold_is_left_out_with_what_it_needs() -> None:
    measure = Measure("nas", ("all",), axes={"npb": ("ep", "ft"), "npb-class": "D"})
    plan = plan_for(TWO_CORES, Study("NAS", "How fast?", (measure,), launches=6))
    assert [case.params["npb"] for case in plan.cases if case.benchmark == "nas"] == ["ep"]
    (left,) = plan.left_out
    assert "it needs 96 GiB of memory" in left.reason


def test_a_plan_names_the_class_and_one_that_is_wanted_counts() -> None:
    measure = Measure("nas", ("all",), axes={"npb": ("mg", "ep"), "npb-class": "S"})
    plan = plan_for(TWO_CORES, Study("NAS", "How fast?", (measure,), launches=6))
    ids = {case.id for case in plan.cases if case.benchmark == "nas"}
    assert ids == {f"nas/all/first-touch/npb={each},npb-class=S,coupling=sharing" for each in ("mg", "ep")}


def test_every_problem_has_a_rate_with_an_interval(analysis: Analysis) -> None:
    for place in ("all", "one-core"):
        found = rates(analysis, place)
        assert set(found) == set(PROBLEMS)
        assert {(e.status, e.basis, e.unit) for e in found.values()} == {("complete", "interval", "op/s")}


def test_each_stands_against_what_bounds_it(analysis: Analysis) -> None:
    arithmetic, traffic = (rates(analysis, metric=metric) for metric in ("arithmetic", "traffic"))
    assert set(arithmetic) == {"ep"}
    assert set(traffic) == {"cg", "mg", "ft"}
    limit = arithmetic["ep"].limit
    assert limit
    assert limit.kind == "flop-rate"
    assert arithmetic["ep"].median == pytest.approx(0.1 * limit.value, rel=0.1)
    memory = traffic["mg"].limit
    assert memory
    assert memory.kind == "memory"
    shares = [e.median / e.limit.value for e in (traffic["mg"], rates(analysis)["mg"]) if e.limit and e.median]
    assert shares[0] == pytest.approx(shares[1], rel=1e-6)


def test_speed_ups_over_one_core_have_both_factors(analysis: Analysis) -> None:
    models = [
        each for each in analysis.models if isinstance(each, Scaling) and each.base.startswith("nas/one-core")
    ]
    assert {str(each.problem["npb"]) for each in models} == set(PROBLEMS)
    for model in models:
        (together,) = (each for each in model.steps if not each.copies)
        assert together.shared
        assert together.messages


def test_phases_add_up_and_one_rank_has_no_messages(analysis: Analysis) -> None:
    for place, phases in (("all", {"computation", "messages"}), ("one-core", {"computation"})):
        rate = rates(analysis, place)["ft"]
        own = (e for e in analysis.estimates if e.case == rate.case and e.unit == "s")
        found = {e.kernel: e.median for e in own if e.median}
        assert set(found) == phases
        assert rate.median
        need = demand("ft", str(rate.params["npb-class"]))
        assert sum(found.values()) == pytest.approx(need.operations / rate.median, rel=0.02)


def test_the_section_shows_rates_shares_and_messages(run: Run, analysis: Analysis) -> None:
    found = section(run, analysis)
    assert {each.id for each in found.figures} == {"figure-nas", "figure-nas-phases"}
    (table,) = found.tables
    assert len(table.rows) == 2 * len(PROBLEMS)
    assert "Messages take the largest share of the time in" in " ".join(found.meaning)
    assert {each.label.partition(",")[0] for each in found.headlines} == {"EP", "IS", "CG", "MG", "FT"}


def test_a_wrong_result_yields_no_figure(tmp_path: Path) -> None:
    measure = Measure("nas", ("all",), axes={"npb": "ep"})
    law = Law(faults=(Fault("wrong-result"),))
    wrong = analyse(store.load(simulated_run(tmp_path, law, study=Study("NAS", "?", (measure,), launches=6))))
    assert not any(e.median for e in wrong.estimates if e.benchmark == "nas")
    assert any("wrong result" in str(each) for each in wrong.outcomes)


def test_operations_a_second_are_a_unit() -> None:
    assert format_quantity(333e6, "op/s") == "333 Mop/s"
    amount, unit = parse_quantity("8.33 Gop/s")
    assert amount == pytest.approx(8.33e9)
    assert unit == "op/s"
