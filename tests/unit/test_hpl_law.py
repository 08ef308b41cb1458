"""The law of a system of equations: its fit, and its predictions of larger ones."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.simulation import TWO_CORES, plan_for, simulated_run
from tests.unit.test_hpl import WITH_BLAS, orders, section, study
from tests.unit.test_stages import begun_run, measured

from assay import importing, store, studies
from assay.analyse import analyse
from assay.importing.text import Text
from assay.model.errors import UsageError
from assay.model.run import Run
from assay.simulation import Law
from assay.topics.linear_algebra import orders as law
from assay.topics.linear_algebra.formats import hpl as table
from assay.topics.linear_algebra.models.system_time import SystemTime
from assay.topics.linear_algebra.orders import Steps
from assay.topics.linear_algebra.simulated_system import Channel, Ranks, Solution, solve
from assay.topics.linear_algebra.steps import steps
from assay.topics.linear_algebra.variants import BROADCASTS, NUMBERS

#: Seconds per operation, per number of an update's edge, of a panel by one rank and by several, and broadcast.
COEFFICIENTS = np.array([[5e-11, 1e-9, 2e-8, 3e-8, 4e-9]])
HPL_DAT = """HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
6            device out (6=stdout,7=stderr,file)
2            # of problems sizes (N)
1000 2000    Ns
1            # of NBs
128          NBs
0            PMAP process mapping (0=Row-,1=Column-major)
2            # of process grids (P x Q)
1 2          Ps
2 1          Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
2            # of broadcast
1 4          BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
"""


def params(n: int, p: int = 1, q: int = 2) -> dict[str, int | str]:
    return {"n": n, "nb": 256, "p": p, "q": q, "look-ahead": "one"}


def values(every: Sequence[Steps], product: float = 0.0) -> np.ndarray:
    """Rates, updates and panels of solutions that obey the law."""
    g, u, alone, together, _ = COEFFICIENTS[0]
    rates = [each.flops / each.seconds(COEFFICIENTS)[0] for each in every]
    updates = [g * each.mean_operations + u * each.edges.sum() for each in every]
    panels = [(together if each.p > 1 else alone) * each.panel.sum() / each.q + g * each.waits for each in every]
    return np.array([[*rates, *updates, *panels, *([product] if product else [])]])


@pytest.mark.parametrize("sizes", [(1024, 2048), (512, 1536, 4096)])
@pytest.mark.parametrize("grid", [(1, 2), (2, 4)])
def test_the_law_finds_the_coefficients_of_its_own_times(sizes: tuple[int, ...], grid: tuple[int, int]) -> None:
    every = [law.steps_of(params(n, *grid)) for n in sizes]
    wanted = COEFFICIENTS[0].copy()
    wanted[2 if grid[0] > 1 else 3] = 0.0  # no such panels were measured
    assert law.coefficients(every, values(every))[0] == pytest.approx(wanted, rel=1e-6)
    ranks = grid[0] * grid[1]
    with_product = law.coefficients(every, values(every, product=ranks / COEFFICIENTS[0, 0]))
    assert with_product[0] == pytest.approx(wanted, rel=1e-6)


def test_grids_of_several_kinds_have_one_law() -> None:
    every = [law.steps_of(params(n, p, q)) for n in (1024, 2048) for p, q in ((1, 1), (1, 2), (2, 2))]
    assert law.coefficients(every, values(every))[0] == pytest.approx(COEFFICIENTS[0], rel=1e-6)


def _counted(n: int, block: int) -> int:
    """Operations of the updates of A with the column of the right-hand side, counted one by one."""
    operations = 0
    for begin in range(0, n, block):
        end = min(begin + block, n)
        for _column in range(end, n + 1):
            operations += sum(2 * (row - begin) for row in range(begin, end))  # unit triangle: no division
            operations += 2 * (end - begin) * (n - end)
    return operations


@pytest.mark.parametrize(("n", "block"), [(7, 3), (12, 4), (40, 16), (5, 8)])
def test_updates_include_the_column_of_the_right_hand_side(n: int, block: int) -> None:
    steps = law.steps_of({"n": n, "nb": block, "p": 1, "q": 1})
    # The law counts width^2 operations of a column's triangle, the exact count has width (width - 1).
    widths = [min(block, n - begin) for begin in range(0, n, block)]
    rights = [n - min(begin + block, n) + 1 for begin in range(0, n, block)]
    triangles = sum(width * right for width, right in zip(widths, rights, strict=True))
    assert steps.mean_operations == pytest.approx(_counted(n, block) + triangles)
    assert steps.operations.sum() == pytest.approx(steps.mean_operations)


def test_a_coefficient_is_never_negative() -> None:
    every = [law.steps_of(params(n)) for n in (1024, 2048, 4096)]
    short = values(every) * np.array([[2.0] * 3 + [1.0] * 3 + [0.0] * 3])
    found = law.coefficients(every, short)[0]
    assert found[0] > 0
    assert (found >= 0).all()
    assert (found[2:4] == 0).all()


def test_a_rank_has_the_operations_and_numbers_that_hpl_counts() -> None:
    narrow = law.steps_of(params(3000, 2, 3) | {"nb": 1})
    assert 6 * narrow.mean_operations == pytest.approx(2 * 3000**3 / 3, rel=2e-3)
    assert 2 * narrow.operations.sum() >= 6 * narrow.mean_operations
    assert law.steps_of(params(1000, 4, 2)).numbers == pytest.approx(1e6 * 14 / 16)


def test_each_step_has_its_messages_and_in_one_column_all_parts_add_up() -> None:
    def count(sizes: np.ndarray) -> np.ndarray:
        return np.ones_like(sizes)

    four = law.steps_of(params(1024, 4, 2) | {"look-ahead": "none"}, count, count)
    assert four.broadcast.tolist() == [1] * 4
    # Of each panel of 256 columns a rank has 256 rows; with the topmost square and the pivots.
    assert law.steps_of(params(1024, 4, 2), np.copy, np.copy).broadcast.tolist() == [8 * 256 * (256 + 256 + 1)] * 4
    assert four.exchange.tolist() == [[2] * 2] * 4
    assert four.pivots.tolist() == [2 * 256] * 4
    g, u, _, f, b = COEFFICIENTS[0]
    column = law.steps_of(params(1024, 4, 1) | {"look-ahead": "none"}, count, count)
    work = g * column.operations.sum() + u * column.edges.sum() + f * column.panel.sum() + b * column.numbers
    messages = column.exchange.sum() + column.pivots.sum()
    assert column.seconds(COEFFICIENTS)[0] == pytest.approx(work + messages)
    ahead = law.steps_of(params(1024, 4, 2), count, count)
    assert ahead.seconds(COEFFICIENTS)[0] < four.seconds(COEFFICIENTS)[0]


def test_systems_of_one_panel_give_the_rate_of_updates() -> None:
    every = [law.steps_of(params(n, 1, 1)) for n in (128, 256)]
    g, u, *_ = law.coefficients(every, values(every))[0]
    assert g == pytest.approx(COEFFICIENTS[0, 0])
    assert u == 0


def test_updates_that_messages_slow_do_not_count_where_others_are_known() -> None:
    alone = [law.steps_of(params(n, 1, 1)) for n in (1024, 2048)]
    several = [law.steps_of(params(n), np.ones_like, busy=np.ones_like) for n in (1024, 2048)]
    every = [*alone, *several]
    slower = values(every) * np.array([[1.0] * 4 + [1.0] * 2 + [1.5] * 2 + [1.0] * 4])
    assert law.coefficients(every, slower)[0, :2] == pytest.approx(COEFFICIENTS[0, :2])
    assert law.coefficients(several, slower[:, [2, 3, 6, 7, 10, 11]])[0, 0] > COEFFICIENTS[0, 0]


def test_passing_a_panel_costs_computing_but_not_where_the_panel_is_awaited_anyway() -> None:
    def message(seconds: float) -> Callable[[np.ndarray], np.ndarray]:
        return lambda sizes: np.full_like(sizes, seconds)

    for wire_s, costs in ((1e-3, True), (10.0, False)):
        free, half = (
            law.steps_of(params(8192), message(wire_s), busy=message(share * wire_s)) for share in (0.0, 0.5)
        )
        more = half.seconds(COEFFICIENTS)[0] - free.seconds(COEFFICIENTS)[0]
        assert more == pytest.approx(8192 // 256 * 0.5 * wire_s * costs, rel=0.1)  # the last panels are awaited


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("law")
    return store.load(simulated_run(folder, Law(), study=study(n=(1024, 2048, 4096)), options=WITH_BLAS))


def test_the_law_of_a_run_and_no_prediction_that_no_record_holds(run: Run) -> None:
    analysis = analyse(run)
    (model,) = (each for each in analysis.models if isinstance(each, SystemTime))
    assert model.residual is not None
    assert model.residual < 0.05
    assert not model.several
    assert model.rate.lo <= model.rate.value <= model.rate.hi
    assert not analysis.predictions  # nothing was predicted before a launch
    found = section(run, analysis)
    assert "figure-system-steps" in {each.id for each in found.figures}
    assert not any("Prediction" in each.columns for each in found.tables)


def test_a_larger_order_is_predicted_before_its_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wish = msgspec.structs.replace(study(n=(1024, 2048, 4096)), refine=1)
    plan = plan_for(TWO_CORES, wish, msgspec.structs.replace(WITH_BLAS, budget_s=300.0))
    run = measured(monkeypatch, begun_run(tmp_path, plan, TWO_CORES), TWO_CORES, Law())
    (stated,) = run.predictions
    added = max(orders(run.plan))
    assert added > 4096
    assert f"n={added}" in stated.of
    analysis = analyse(run)
    (line,) = analysis.predictions
    assert line.before
    assert line.predicted.parts == stated.parts
    assert abs(line.deviation) < 0.05
    assert not any(f"n={added}" in each for each in line.of)
    assert line.of
    found = section(run, analysis)
    assert "figure-system-ledger" in {each.id for each in found.figures}
    assert any(row[0].startswith(f"n {added}") for each in found.tables for row in each.rows)


def test_on_request_the_memory_is_filled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_for(TWO_CORES, study(n=(1024, 2048)), msgspec.structs.replace(WITH_BLAS, budget_s=60.0, full=True))
    run = measured(monkeypatch, begun_run(tmp_path, plan, TWO_CORES), TWO_CORES, Law())
    largest = max(orders(run.plan))
    (rate,) = (each for each in analyse(run).estimates if each.kernel == "rate" and each.params["n"] == largest)
    assert (rate.launches, rate.status) == (1, "complete")
    memory = run.machines[run.plan.hosts[0]].memory.value
    assert isinstance(memory, int)
    assert 0.75 * memory < 8 * largest**2 <= 0.8 * memory


def test_the_numbers_of_broadcasts_are_those_of_hpls_tuning_file() -> None:
    """BCAST: 0=1rg, 1=1rM, 2=2rg, 3=2rM, 4=Lng, 5=LnM (HPL 2.3, TUNING)."""
    rings = ("ring", "modified-ring", "ring", "modified-ring", "long", "long")
    assert dict(enumerate(rings)) == BROADCASTS
    assert all(BROADCASTS[NUMBERS[level]] == level for level in set(rings))


def test_an_input_file_of_hpl_is_a_study(tmp_path: Path) -> None:
    path = tmp_path / "HPL.dat"
    path.write_text(HPL_DAT)
    found = studies.get(str(path))
    assert [(each.axes["p"], each.axes["q"]) for each in found.measure] == [(1, 2), (2, 1)]
    assert {each.placements for each in found.measure} == {("2x1",)}
    assert found.measure[0].axes["n"] == (1000, 2000)
    assert found.measure[0].axes["broadcast"] == ("modified-ring", "long")
    cases = [each for each in plan_for(TWO_CORES, found, WITH_BLAS).studied if each.benchmark == "hpl"]
    assert len(cases) == 2 * 2 * 2
    path.write_text(HPL_DAT.replace("1000 2000", "1000"))
    with pytest.raises(UsageError, match="line 6"):
        studies.get(str(path))
    path.write_text(HPL_DAT[:300])
    with pytest.raises(UsageError, match="breaks off"):
        studies.get(str(path))
    at, unknown = next((at, line) for at, line in enumerate(HPL_DAT.splitlines(), 1) if "BCASTs (" in line)
    path.write_text(HPL_DAT.replace(unknown, unknown.replace("1 4", "1 9", 1)))
    with pytest.raises(UsageError, match=f"line {at} .* unknown broadcast: 9"):
        studies.get(str(path))
    at, depths = next((at, line) for at, line in enumerate(HPL_DAT.splitlines(), 1) if "DEPTHs" in line)
    path.write_text(HPL_DAT.replace(depths, f"2 {depths}"))
    with pytest.raises(UsageError, match=f"line {at} .* unknown look-ahead depth: 2"):
        studies.get(str(path))


def test_the_table_of_hpl_can_be_read_again(run: Run) -> None:
    analysis = analyse(run)
    lines = list(table.tables(analysis, run))
    read = importing.read("hpl", [Text("HPL.out", "", tuple(lines))]).tables
    rates = {each.params["n"]: each.median for each in analysis.estimates if each.kernel == "rate"}
    assert {each.params["n"] for each in read} == set(rates)
    for each in read:
        (rate, _) = each.figures
        assert rate.value == pytest.approx(rates[each.params["n"]], rel=1e-4)
        assert not each.failed
    assert sum("PASSED" in line for line in lines) == len(rates)


def test_the_shares_of_a_step_are_those_of_the_same_solution(run: Run) -> None:
    largest = next(each for each in analyse(run).estimates if each.kernel == "rate" and each.params["n"] == 4096)
    found = steps(run, largest)
    assert [each.first for each in found] == [each.last for each in found] == list(range(1, 4096 // 256 + 1))
    for each in found:
        assert sum(share for share, _, _ in each.shares.values()) == pytest.approx(1)
        assert all(0 <= low <= share <= high <= 1 for share, low, high in each.shares.values())
    assert found[0].shares["update"][0] > found[-1].shares["update"][0]


@pytest.mark.parametrize("spread", [0.0, 0.02])
@pytest.mark.parametrize("nodes", [4, 8])
def test_small_systems_on_many_nodes_are_predicted_without_bias(nodes: int, spread: float) -> None:
    """A law that sums the longest part of each step was up to 10 % too slow here."""
    speeds = np.random.default_rng(nodes).lognormal(0.0, spread, 8)
    grids = {1: (1, 2), 2: (2, 2), 4: (2, 4), 8: (4, 4)}
    channel = Channel(1.6e-6, 12e9)

    def solved(n: int, hosts: int) -> tuple[Solution, Steps]:
        p, q = grids[hosts]
        rates = np.repeat(6e10 * speeds[:hosts], 2).reshape(p, q)
        row = channel if q > 2 else Channel()
        column = channel if hosts > 1 else Channel()
        slow = (6e10 * speeds.max() / rates).ravel()
        steps = law.steps_of(
            params(n, p, q),
            lambda sizes: row.latency_s + sizes / row.rate,
            lambda sizes: column.latency_s + sizes / column.rate,
            slow,
        )
        return solve(n, 256, Ranks(rates, 0.2, row, column), look_ahead=True), steps

    known = [solved(n, hosts) for hosts in (1, 2) for n in (1024, 2048, 4096)]
    parts = [each.phases for each, _ in known]
    rates = [steps.flops / each.seconds for each, steps in known]
    row = np.array([[*rates, *(each["update"] for each in parts), *(each["panel"] for each in parts)]])
    found = law.coefficients([steps for _, steps in known], row)
    for n in (1024, 2048, 4096, 8192):
        measured, steps = solved(n, nodes)
        assert steps.seconds(found)[0] == pytest.approx(measured.seconds, rel=5e-3)
