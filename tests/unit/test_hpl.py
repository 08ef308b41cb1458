"""A system of equations: its orders and grids, its figures and phases, and the report; all simulated."""

import re
from pathlib import Path

import msgspec
import pytest
from tests.simulation import EPYC_7601, TWO_CORES, described, plan_for, simulated_run
from tests.unit.test_stages import begun_run, measured

from assay import store
from assay.analyse import analyse
from assay.catalogue import benchmarks
from assay.model.benchmark import Resources
from assay.model.errors import UnfitEnvironmentError
from assay.model.facts import Fact
from assay.model.placement import Memory, Placement
from assay.model.plan import Measure, Plan, Study
from assay.model.record import FigureOfMerit
from assay.model.result import Analysis, Estimate
from assay.model.run import CaseRecords, Run
from assay.plan import Options
from assay.report import html
from assay.report.formatting import percent, seconds
from assay.report.section import Section
from assay.report.sections import sections
from assay.simulation import Fault, Law
from assay.topics.linear_algebra.benchmarks.hpl import benchmark, operations
from assay.topics.linear_algebra.grid import grid_of
from assay.topics.linear_algebra.solutions import PRODUCT, is_of_same

HPL = benchmarks.get("hpl")
WITH_BLAS = Options(libraries={"blas": "/simulated/libblas.so"})


def study(*placements: str, **axes: object) -> Study:
    measure = Measure("hpl", placements or ("all",), axes=axes)  # type: ignore[arg-type]
    return Study("System", "How fast?", (measure,), launches=6)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.load(simulated_run(tmp_path_factory.mktemp("hpl"), Law(), study="hpl", options=WITH_BLAS))


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


def rates(analysis: Analysis) -> dict[int, Estimate]:
    found = [each for each in analysis.estimates if each.benchmark == "hpl" and each.metric == "rate"]
    return {int(each.params["n"]): each for each in found}


def section(run: Run, analysis: Analysis) -> Section:
    return next(each for each in sections(run, analysis) if each.id == "system")


def placed(ranks: int, threads: int = 1) -> Placement:
    cpus = tuple(tuple(range(rank * threads, (rank + 1) * threads)) for rank in range(ranks))
    return Placement("all", "all", tuple(cpu for each in cpus for cpu in each), Memory(), ("n1",), cpus)


def orders(plan: Plan) -> list[int]:
    return sorted(int(case.params["n"]) for case in plan.cases if case.role == "measure")


@pytest.mark.parametrize(
    ("ranks", "p", "q", "grid"),
    [
        (1, 0, 0, (1, 1)),
        (2, 0, 0, (1, 2)),
        (12, 0, 0, (3, 4)),
        (7, 0, 0, (1, 7)),
        (24, 0, 0, (4, 6)),
        (12, 6, 0, (6, 2)),
        (12, 0, 3, (4, 3)),
    ],
)
def test_a_grid_is_as_square_as_can_be_and_wider_than_high(
    ranks: int, p: int, q: int, grid: tuple[int, int]
) -> None:
    assert grid_of(ranks, p, q) == grid


def test_orders_are_doubled_as_far_as_memory_goes() -> None:
    topology = described().topology
    small = [int(point["n"]) for point in HPL.points(Resources(placed(2), topology, 2 * 2**20), {"nb": 256})]
    assert small == []
    middle = list(HPL.points(Resources(placed(2), topology, 3 * 10**8), {"nb": 192}))
    assert [int(each["n"]) for each in middle] == [1152, 2304, 4608]
    assert {(each["p"], each["q"]) for each in middle} == {(1, 2)}


def test_a_rank_needs_its_part_of_the_matrix_and_its_panels() -> None:
    params = {"n": 8192, "nb": 256, "p": 2, "q": 2}
    matrix = 8 * 8192**2 / 4
    panels, exchanged = 2 * 8 * 256 * (4096 + 256), 3 * 8 * 256 * 4096
    assert matrix + panels + exchanged < HPL.memory_bytes(params, placed(4)) < 1.01 * (matrix + panels + exchanged)
    alone = HPL.memory_bytes({**params, "p": 1, "q": 1}, placed(1, threads=4))
    panels = 2 * 8 * 256 * (8192 + 256)
    assert 4 * matrix + panels < alone < 1.01 * (4 * matrix + panels)


def _columns_of(process: int, numbers: int, block: int, processes: int) -> int:
    """Of so many columns, dealt out in blocks, those of one process."""
    return sum(number // block % processes == process for number in range(numbers))


@pytest.mark.parametrize(
    ("order", "grid"), [(512, (1, 4)), (513, (1, 4)), (512, (2, 2)), (1000, (2, 3)), (511, (1, 1))]
)
def test_the_matrix_of_a_rank_has_the_column_of_the_right_hand_side(order: int, grid: tuple[int, int]) -> None:
    """HPL stores N rows and N + 1 columns (HPL_pdtest.c: `mat.nq = HPL_numroc(N + 1, NB, ...)`)."""
    p, q, block = *grid, 128
    rows, columns = (
        max(_columns_of(process, numbers, block, places) for process in range(places))
        for numbers, places in ((order, p), (order + 1, q))
    )
    panels = 2 * block * (rows + block + 1)
    exchanged = 3 * block * columns if p > 1 else 0
    params = {"n": order, "nb": block, "p": p, "q": q}
    assert HPL.memory_bytes(params, placed(p * q)) == 8 * (rows * columns + panels + exchanged)


def test_a_matrix_too_large_is_left_out_with_the_memory_it_needs() -> None:
    plan = plan_for(TWO_CORES, study(n=(1024, 100_000)), WITH_BLAS)
    assert orders(plan) == [1024]
    (left,) = plan.left_out
    assert (left.request, left.reason) == (
        "hpl at all, n=100000",
        "it needs 75.4 GiB of memory; 8 GiB may be used, enough for n=28672",
    )


def test_without_an_order_the_largest_matrix_that_fits_is_planned() -> None:
    def planned(order: int) -> Plan:
        options = msgspec.structs.replace(WITH_BLAS, values=(f"hpl.n={order}",))
        return plan_for(TWO_CORES, "hpl", options)

    with pytest.raises(UnfitEnvironmentError) as refused:
        planned(100_000)
    assert refused.value.what == "hpl at all, n=100000 does not fit the memory"
    assert refused.value.remedy == "assay plan hpl --set hpl.n=28672"
    (largest,) = [case for case in planned(28672).cases if case.benchmark == "hpl"]
    assert 0.79 < largest.memory_bytes / 8 / 2**30 <= 0.8


def test_a_rate_counts_the_operations_that_hpl_counts(run: Run, analysis: Analysis) -> None:
    figures = [
        (int(case.header.params["n"]), figure)
        for launch in run.launches
        for case in launch.cases
        for figure in case.figures
    ]
    assert figures
    assert all(isinstance(each, FigureOfMerit) for _, each in figures)
    for order, figure in figures:
        assert figure.seconds is not None
        assert figure.value == pytest.approx(operations(order) / figure.seconds)
    assert operations(1000) == pytest.approx(2e9 / 3 + 1.5e6)
    found = rates(analysis)
    assert len(found) > 2
    assert all(
        each.status == "complete" and each.launches == 6 and each.basis == "interval" for each in found.values()
    )
    largest = found[max(found)]
    assert largest.limit is not None
    assert largest.median is not None
    assert 0.5 < largest.median / largest.limit.value < 1


def test_phases_add_up_to_the_time_of_a_solution(analysis: Analysis) -> None:
    for order, rate in rates(analysis).items():
        assert rate.median
        phases = [
            each for each in analysis.estimates if each.case == rate.case and each.kernel in benchmark.kernels[1:]
        ]
        assert {each.unit for each in phases} == {"s"}
        whole = sum(each.median or 0.0 for each in phases)
        assert whole == pytest.approx(operations(order) / rate.median, rel=0.02)


def test_the_section_shows_phases_and_the_share_of_the_product(run: Run, analysis: Analysis) -> None:
    found = section(run, analysis)
    figures = ["figure-system", "figure-system-phases", "figure-system-steps"]
    assert [each.id for each in found.figures] == figures
    assert "of its time; the largest other part is" in " ".join(found.meaning)
    (table,) = found.tables
    assert "Of DGEMM" in table.columns
    of_product = [row[table.columns.index("Of DGEMM")] for row in table.rows]
    assert all(each.endswith(" %") for each in of_product)
    assert "Of nominal peak" not in table.columns  # the clock is not known
    peak, limit = (table.columns.index(head) for head in ("Of peak at loaded clock", "Of limit"))
    below = [int(row[limit].split()[0]) - int(row[peak].split()[0]) for row in table.rows]
    assert set(below) == {1}  # these cores reach 99 % of their peak in registers


def test_the_page_begins_with_the_system(run: Run, analysis: Analysis) -> None:
    page = html.render(run, analysis)
    first, second, third = re.findall(r'<span class="label">(.*?)</small>', page)[:3]
    assert "HPL (LU, 64 bit), all cores" in first
    assert re.search(r"N=\d+, NB=\d+, PxQ=1x2; [\d.]+ % of DGEMM; residual", re.sub(r"<[^>]+>", "", first))
    assert "DGEMM, all cores" in second
    assert " (as simulated)" in page
    assert "(measured" not in page
    assert "Floating-point peak, all cores" in third
    topic = page[page.index('<section id="system"') :].partition("</section>")[0]
    assert "redicted" not in topic  # no record holds a prediction
    assert "hpl/all" not in topic


def test_limits_on_several_nodes_are_sums_and_shares_of_both_clocks_are_shown(tmp_path: Path) -> None:
    several = Study(
        "Nodes",
        "How fast?",
        (
            Measure("hpl", ("all", "all@2"), axes={"n": 4096}),
            Measure("dgemm", ("all",), axes={"n": 2048}),
            Measure("flops", ("all",), axes={"mix": "fma", "width": "512", "format": "fp64"}),
        ),
        launches=6,
    )
    options = msgspec.structs.replace(WITH_BLAS, hosts=("n1", "n2"), networks={"fast": "eth0"})
    slow = Law(slow_hosts={"n2": 0.5})
    run = store.load(simulated_run(tmp_path, slow, study=several, options=options))
    clock = {"nominal frequency": Fact(2e9, "Hz", "test"), "microarchitecture": Fact("zen5", source="test")}
    machines = {
        host: msgspec.structs.replace(each, facts=each.facts | {"processor": each.facts["processor"] | clock})
        for host, each in run.machines.items()
    }
    run = msgspec.structs.replace(run, machines=machines)
    analysis = analyse(run)
    of = {
        (each.benchmark, each.placement.hosts): each
        for each in analysis.estimates
        if each.median and each.unit == "flop/s"
    }
    one, both = of["hpl", ("n1",)], of["hpl", ("n1", "n2")]
    assert one.limit
    assert both.limit
    assert one.limit.value == of["flops", ("n1",)].median
    assert both.limit.value == sum(of["flops", (host,)].median or 0.0 for host in ("n1", "n2"))
    assert not both.limit.measured_by
    (table, *_) = section(run, analysis).tables
    shares = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    (row,) = (cells for name, cells in shares.items() if "each of 2 nodes" in name)
    products = sum(of["dgemm", (host,)].median or 0.0 for host in ("n1", "n2"))
    assert row["Of DGEMM"] == f"{100 * (both.median or 0.0) / products:.1f} %"
    nominal = 2 * 2 * 2 * 8 * 2 * 2e9  # nodes, cores, units, lanes, operations
    assert row["Of nominal peak"] == percent((both.median or 0.0) / nominal)
    assert row["Of peak at loaded clock"] not in {"", row["Of nominal peak"]}


def test_a_product_is_compared_with_solutions_of_its_state_and_precision(analysis: Analysis) -> None:
    solution = next(each for each in analysis.estimates if each.benchmark == "hpl" and each.kernel == "rate")
    product = msgspec.structs.replace(
        next(each for each in analysis.estimates if each.benchmark == PRODUCT and each.median),
        placement=solution.placement,
        factors=solution.factors,
    )

    def held(of_product: str | None, of_solution: str | None, precision: str = "fp64") -> bool:
        one, other = (
            msgspec.structs.replace(each, state=state)
            for each, state in ((product, of_product), (solution, of_solution))
        )
        return is_of_same(one, other, precision)

    assert held(None, None)
    assert held(None, "near")
    assert held("near", "near")
    assert not held("far", "near")
    assert not held(None, None, "fp32")


def test_a_single_rank_has_no_broadcast(tmp_path: Path) -> None:
    one = store.load(simulated_run(tmp_path, Law(), study=study("one-core", n=1024), options=WITH_BLAS))
    kernels = {each.kernel for each in analyse(one).estimates if each.value}
    assert "broadcast" not in kernels
    assert {"rate", "panel", "update"} <= kernels


def test_a_wrong_residual_yields_no_figure(tmp_path: Path) -> None:
    law = Law(faults=(Fault("wrong-result"),))
    wrong = store.load(simulated_run(tmp_path, law, study=study(n=1024), options=WITH_BLAS))
    assert any("wrong result" in str(each) for each in analyse(wrong).outcomes)


def test_on_two_nodes_all_ranks_make_one_grid() -> None:
    plan = plan_for(EPYC_7601, study("all@2", n=4096), msgspec.structs.replace(WITH_BLAS, hosts=("n1", "n2")))
    (case,) = (each for each in plan.cases if each.role == "measure")
    ranks = len(case.placement.rank_cpus)
    assert int(case.params["p"]) * int(case.params["q"]) == ranks == 64 * 2
    assert msgspec.json.encode(case)


def test_the_budget_decides_the_largest_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orders_of: dict[float, list[int]] = {}
    for budget in (120.0, 900.0):
        folder = tmp_path / f"{budget}"
        wish = msgspec.structs.replace(study(n=(1024, 4096)), refine=1)
        plan = plan_for(TWO_CORES, wish, msgspec.structs.replace(WITH_BLAS, budget_s=budget))
        run = measured(monkeypatch, begun_run(folder, plan, TWO_CORES), TWO_CORES, Law())
        assert run.ending
        assert run.ending.elapsed_s <= budget
        largest = rates(analyse(run))[max(orders_of.setdefault(budget, orders(run.plan)))]
        assert largest.launches == plan.launches
    small, large = (orders_of[each][-1] for each in (120.0, 900.0))
    assert 4096 < small < large
    assert small % 256 == large % 256 == 0
    assert 8 * large**2 <= 0.8 * 8 * 2**30


def test_a_budget_without_room_adds_no_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wish = msgspec.structs.replace(study(n=(1024, 8192)), refine=1)
    plan = plan_for(TWO_CORES, wish, msgspec.structs.replace(WITH_BLAS, budget_s=60.0))
    run = measured(monkeypatch, begun_run(tmp_path, plan, TWO_CORES), TWO_CORES, Law())
    assert orders(run.plan) == [1024, 8192]


def test_a_solution_is_a_share_of_the_largest_product_or_has_no_share(run: Run, analysis: Analysis) -> None:
    products = [each for each in analysis.estimates if each.benchmark == "dgemm" and each.value]
    smallest = min(products, key=lambda each: int(each.params["n"]))
    lucky = msgspec.structs.replace(smallest, value=smallest.value.scaled(3, "flop/s") if smallest.value else None)
    slow = [msgspec.structs.replace(each, value=each.value.over(3, "flop/s")) for each in products if each.value]
    others = [each for each in analysis.estimates if each.benchmark != "dgemm"]

    def shares(found: list[Estimate]) -> list[str]:
        drawn = section(run, msgspec.structs.replace(analysis, estimates=(*others, *found)))
        table = drawn.tables[0]
        return [row[table.columns.index("Of DGEMM")] for row in table.rows]

    usual = shares(products)
    assert shares([lucky if each == smallest else each for each in products]) == usual
    largest = max(int(each.params["n"]) for each in products)
    assert shares(slow)[-1] == f"none: the product of n = {largest} is slower"


def test_the_time_of_a_solution_is_the_one_that_its_program_states(run: Run, analysis: Analysis) -> None:
    def slower(case: CaseRecords) -> CaseRecords:
        late = (msgspec.structs.replace(each, seconds=1000.0) for each in case.figures)
        return msgspec.structs.replace(case, figures=tuple(late))

    launches = (msgspec.structs.replace(launch, cases=tuple(map(slower, launch.cases))) for launch in run.launches)
    other = msgspec.structs.replace(run, launches=tuple(launches))
    (table,) = (each for each in section(other, analysis).tables if each.caption == "Solutions by order")
    times = {row[table.columns.index("Time")] for row in table.rows}
    assert times == {seconds(1000.0)}
