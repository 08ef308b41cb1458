"""HPL on more nodes and over another network: simulated ranks, predictions of the law, and speed-ups."""

import io
import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from rich.console import Console
from tests.simulation import TWO_CORES, plan_for, simulated_run
from tests.unit.test_hpl import WITH_BLAS
from tests.unit.test_stages import begun_run, measured

from assay import store, studies
from assay.analyse import analyse, examine
from assay.analyse.messages.steps import MessageLaw
from assay.cli import assay
from assay.model.law import Prediction
from assay.model.plan import Measure, Study
from assay.model.quantity import exact
from assay.model.result import Analysis
from assay.model.run import Run
from assay.plan import Options
from assay.report.sections import sections
from assay.run.ledger import Ledger
from assay.simulation import Law, Link
from assay.topics.linear_algebra.models.system_time import LAW as SYSTEM
from assay.topics.linear_algebra.models.system_time import SystemTime
from assay.topics.linear_algebra.orders import fitted
from assay.topics.linear_algebra.simulated_system import Channel, Ranks, solve
from assay.topics.linear_algebra.solutions import over_nodes, predictors
from assay.topics.scaling import scores_table as table
from assay.topics.scaling.models.scaling import Scaling
from assay.topics.scaling.scores import scores, together

NODES = tuple(f"n{number}" for number in range(1, 17))
ONE_CORE = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) l2:1(size=1MB) l1:1(size=32kB) core:1 pu:1"
FAST, SLOW = Link(1.6e-6, 12e9, 12.3e9), Link(2e-5, 1.1e9, 1.1e9)
#: Nodes differ by 2 %, and every piece of work varies by 2 %.
UNEVEN = Law(
    links={**Law().links, "eth0": FAST, "eth1": SLOW},
    jitter=0.02,
    slow_hosts=dict(zip(NODES, np.random.default_rng(5).lognormal(0, 0.02, len(NODES)).tolist(), strict=True)),
)
ORDERS = (2048, 4096, 8192)
BETWEEN = Measure(
    "pt2pt",
    ("pair:other-node",),
    axes={"pattern": "latency", "bytes": (0, "8:4M")},
    weight=0.01,
)
OVERLAP = Measure(
    "overlap",
    ("pair:other-node",),
    axes={"operation": "bcast", "bytes": (65536, 1 << 20), "tests": 100},
    weight=0.01,
)
PRODUCT = Measure("dgemm", ("one-core",), axes={"n": 1024}, weight=0.01)


def study(first: str, *later: str, orders: tuple[int, ...] = ORDERS) -> Study:
    systems = Measure("hpl", (first,), axes={"n": orders}, later=later, weight=0.01)
    return Study("Nodes", "How fast are more nodes?", (systems, BETWEEN, OVERLAP, PRODUCT), launches=6)


def options(**networks: str) -> Options:
    return msgspec.structs.replace(WITH_BLAS, hosts=NODES, networks=networks)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    plan = plan_for(TWO_CORES, study("1x1@1,2,4", "1x1@16"), options(fast="eth0", slow="eth1"))
    with pytest.MonkeyPatch.context() as patch:
        return measured(patch, begun_run(tmp_path_factory.mktemp("nodes"), plan, TWO_CORES), TWO_CORES, UNEVEN)


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


def stated(analysis: Analysis) -> list[Prediction]:
    return [each for each in analysis.predictions if each.before]


def test_the_ranks_of_a_simulated_system_wait_for_each_other() -> None:
    alone = Ranks(np.full((1, 1), 4e10), 0.2)
    one = solve(4096, 256, alone, look_ahead=True)
    assert one.seconds == pytest.approx(sum(one.phases.values()))
    assert one.phases["update"] == pytest.approx(2 * 4096**3 / 3 / 4e10, rel=0.1)
    assert one.phases["broadcast"] == one.phases["swap"] == 0
    channel = Channel(1e-5, 1e9)
    four = Ranks(np.full((2, 2), 4e10), 0.2, channel, channel)
    ahead, behind = (solve(4096, 256, four, look_ahead=look) for look in (True, False))
    assert one.seconds / 4 < ahead.seconds < behind.seconds < one.seconds
    assert ahead.seconds == pytest.approx(sum(ahead.phases.values()))
    slow = four._replace(rates=np.array([[4e10, 4e10], [4e10, 2e10]]))
    assert solve(4096, 256, slow, look_ahead=True).seconds > 1.5 * ahead.seconds
    far = four._replace(along_row=Channel(1e-5, 1e8))
    assert solve(4096, 256, far, look_ahead=True).phases["broadcast"] > 2 * ahead.phases["broadcast"]


def test_the_message_law_gives_the_time_of_any_size(analysis: Analysis) -> None:
    laws = [each for each in analysis.models if isinstance(each, MessageLaw)]
    assert len(laws) == 2
    for law, link in zip(sorted(laws, key=lambda each: each.start.value), (FAST, SLOW), strict=True):
        sizes = np.array([64.0, 1e6, 2e7])
        assert law.seconds(sizes) == pytest.approx(link.latency_s + sizes / link.rate, rel=0.05)
        assert (law.seconds(sizes, 1) <= law.seconds(sizes)).all()
        assert (law.seconds(sizes, 2) >= law.seconds(sizes)).all()


def test_a_network_with_a_token_bucket_has_measured_times(analysis: Analysis) -> None:
    """A token bucket of 128 KiB, as of shapers: no line from 0 fits it, but its measured times do."""
    law = next(each for each in analysis.models if isinstance(each, MessageLaw))

    def times(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        return 1e-5 + np.maximum(sizes - 2**17, 0) / 1.2e7

    points = tuple(
        msgspec.structs.replace(each, value=exact(float(times(np.array(float(each.at["bytes"])))), "s"))
        for each in law.points
    )
    piece = msgspec.structs.replace(law.pieces[-1], start=exact(0.0, "s"), per_byte=exact(1 / 1.25e7, "s/B"))
    shaped = msgspec.structs.replace(law, points=points, pieces=(piece,))
    sizes = np.array([0.0, 65536, 3e6, 2.0**22])
    assert shaped.seconds(sizes) == pytest.approx(times(sizes))
    assert shaped.seconds(np.array([1.2e7])) == pytest.approx(times(np.array([1.2e7])), rel=0.03)


def test_sixteen_nodes_are_predicted_before_they_run(run: Run, analysis: Analysis) -> None:
    assert len(run.predictions) == len(ORDERS) * 2
    models = {each.id for each in analysis.models if isinstance(each, SystemTime) and each.several}
    lines = stated(analysis)
    assert {each.of for each in run.predictions} == {
        case.id for case in run.plan.studied if case.placement.label == "1x1@16"
    }
    assert all(set(each.models) <= models for each in run.predictions)
    assert len(lines) == len(run.predictions)
    assert {each.predicted.parts for each in lines} == {each.parts for each in run.predictions}
    assert not any("@16" in source for line in lines for source in line.of)
    errors = [abs(line.deviation) for line in lines]
    assert max(errors) < 0.07
    assert np.median(errors) < 0.03


def test_the_base_is_measured_in_the_blocks_of_later_cases(run: Run, analysis: Analysis) -> None:
    blocks: dict[str, set[int]] = {}
    for launch in run.plan.order:
        for case in launch.cases:
            blocks.setdefault(run.plan.case(case).placement.label, set()).add(launch.block)
    assert blocks["1x1@16"] < blocks["1x1@1"]
    assert blocks["1x1@16"].isdisjoint(blocks["1x1@4"])
    largest = [
        each
        for each in analysis.models
        if isinstance(each, Scaling) and each.problem.get("n") == ORDERS[-1] and each.base.startswith("hpl/")
    ]
    assert len(largest) == 2
    for model in largest:
        efficiencies = {step.nodes: step.efficiency for step in model.steps}
        assert set(efficiencies) == {2, 4, 16}
        assert all(each.has_interval for each in efficiencies.values())
        assert 0.1 < efficiencies[16].value < efficiencies[4].value < efficiencies[2].value < 1.02


def test_the_sections_show_systems_by_nodes(run: Run, analysis: Analysis) -> None:
    found = {each.id: each for each in sections(run, analysis)}
    ledger = next(table for table in found["system"].tables if "Prediction" in table.columns)
    assert sum(row[-1] == "before its launch" for row in ledger.rows) == len(run.predictions)
    rows = [row for table in found["scaling"].tables for row in table.rows if row[0].startswith("HPL (LU")]
    assert any(row[1] == "1x1@16" for row in rows)


def test_a_row_of_nodes_that_share_a_machine_is_predicted_from_one_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Independent solutions on both show how the nodes slow each other; the product on each alone does not."""
    chosen = msgspec.structs.replace(options(slow="eth1"), hosts=NODES[:2], sweeps=("nodes=1,2",))
    plan = plan_for(ONE_CORE, studies.get("scale:hpl", chosen.sweeps), chosen)
    crowded = replace(UNEVEN, slow_hosts={}, one_kernel=True, crowded=0.7)
    done = measured(monkeypatch, begun_run(tmp_path, plan, ONE_CORE), ONE_CORE, crowded)
    lines = stated(analyse(done))
    assert {each.law for each in done.predictions} == {SYSTEM}
    assert len(lines) == 4
    assert all(abs(each.deviation) < 0.05 and not each.error for each in lines)


@pytest.mark.parametrize("hidden", [0.0, 0.5, 1.0])
def test_what_messages_take_from_computing_is_predicted_from_the_overlap_of_broadcasts(
    hidden: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = msgspec.structs.replace(options(slow="eth1"), hosts=NODES[:2], sweeps=("nodes=1,2",))
    plan = plan_for(ONE_CORE, studies.get("scale:hpl", chosen.sweeps), chosen)
    law = replace(UNEVEN, slow_hosts={}, overlapped=(0.0, hidden))
    done = measured(monkeypatch, begun_run(tmp_path, plan, ONE_CORE), ONE_CORE, law)
    lines = stated(analyse(done))
    assert len(lines) == 4
    assert all(abs(each.deviation) < 0.04 and not each.error for each in lines)


def test_the_unhidden_time_has_the_ends_of_the_hidden_share_and_is_shared_by_the_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fast end hides most; with two cores a rank, one computes while the other passes messages."""
    unhidden: dict[int, list[float]] = {}
    for threads in (1, 2):
        systems = Measure(
            "hpl", (f"1x{threads}@1",), axes={"n": ORDERS[:2]}, later=(f"1x{threads}@2",), weight=0.01
        )
        asked = Study("Cores", "?", (systems, BETWEEN, OVERLAP), launches=6)
        chosen = msgspec.structs.replace(options(slow="eth1"), hosts=NODES[:2])
        folder = tmp_path / f"{threads}"
        folder.mkdir()
        run = measured(
            monkeypatch, begun_run(folder, plan_for(TWO_CORES, asked, chosen), TWO_CORES), TWO_CORES, UNEVEN
        )
        case = next(each for each in run.plan.studied if each.placement.label == f"1x{threads}@2")
        (_, work) = next(iter(predictors(examine(run), case)))
        shares = [each.busy.sum() / each.broadcast.sum() for each in (work.fastest, work.typical, work.slowest)]
        assert shares[0] < shares[1] < shares[2]
        unhidden[threads] = shares
    assert unhidden[1][1] == pytest.approx(1 - UNEVEN.overlapped[1], rel=0.02)
    assert unhidden[2][1] == pytest.approx(unhidden[1][1] / 2, rel=0.02)


def test_two_ranks_of_a_node_are_predicted_from_one_and_from_independent_solutions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = msgspec.structs.replace(WITH_BLAS, sweeps=("ranks=1,2",))
    plan = plan_for(TWO_CORES, studies.get("scale:hpl", chosen.sweeps), chosen)
    done = measured(monkeypatch, begun_run(tmp_path, plan, TWO_CORES), TWO_CORES, Law(jitter=0.02))
    lines = stated(analyse(done))
    assert {each.law for each in done.predictions} == {SYSTEM}
    assert len(lines) == 4
    assert all(abs(each.deviation) < 0.1 and not each.error for each in lines)


def test_one_solution_by_several_ranks_does_not_claim_to_be_exact(run: Run) -> None:
    """The law passes through it; how far further ones are from the law is known from solutions by one rank."""
    known = examine(run)
    nodes = next(each for each in over_nodes(known) if len(each.members) > len(ORDERS))
    alone = [each for each in nodes.members if each.steps.p * each.steps.q == 1]
    several = [each for each in nodes.members if each.steps.p * each.steps.q > 1]
    law = fitted(nodes._replace(members=(*alone, several[0])))
    assert law.margin > 0
    assert law.residual > 0


def test_where_no_panel_passed_between_nodes_the_slow_end_is_without_look_ahead(run: Run) -> None:
    known = examine(run)
    case = next(each for each in run.plan.studied if each.placement.label == "1x1@16" and each.params["n"] == 8192)
    solutions, work = next(iter(predictors(known, case)))
    law = fitted(solutions)
    unknown = law._replace(hides=False).rate(work)
    assert law.rate(work).value == unknown.value
    assert law.rate(work).hi == unknown.hi
    behind = law.rate(work._replace(slowest=work.slowest._replace(ahead=False)))
    assert unknown.lo == behind.lo < law.rate(work).lo


def test_grids_of_one_row_do_not_predict_panels_of_several_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_for(TWO_CORES, study("1x1@1,2", "1x1@4", "1x1@16", orders=(512, 1024)), options(fast="eth0"))
    assert [len(each) for each in plan.later] == [2, 2]
    done = measured(monkeypatch, begun_run(tmp_path, plan, TWO_CORES), TWO_CORES, UNEVEN)
    own = (each for each in done.predictions if each.law == SYSTEM)
    assert {each.of.split("/")[1] for each in own} == {"1x1@16"}
    assert done.plan.later == ()


def test_cases_beyond_the_budget_are_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = study("1x1@1,2", "1x1@4", orders=(512, 1024))
    plan = plan_for(TWO_CORES, small, options(fast="eth0"))
    tight = msgspec.structs.replace(plan, budget_s=1.0)
    done = measured(monkeypatch, begun_run(tmp_path, tight, TWO_CORES), TWO_CORES, UNEVEN)
    assert not any(case.placement.label == "1x1@4" for case in done.plan.cases)
    assert any("budget" in each.reason and "1x1@4" in each.request for each in done.plan.left_out)


def test_a_budget_that_cuts_a_later_stage_keeps_the_pairs_of_its_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_for(TWO_CORES, study("1x1@1,2", "1x1@4", orders=(512, 1024)), options(fast="eth0"))
    run = measured(monkeypatch, begun_run(tmp_path, plan, TWO_CORES), TWO_CORES, UNEVEN)
    of = {
        label: {case.id for case in run.plan.cases if case.placement.label == label and case.benchmark == "hpl"}
        for label in ("1x1@1", "1x1@4")
    }
    stage = [each for each in run.plan.order if each.block > max(one.block for one in plan.order)]
    assert {case for each in stage for case in each.cases} >= of["1x1@1"] | of["1x1@4"]
    records = {each.launch.id: each for each in run.launches}
    before = [records[each.id] for each in plan.order]
    later_s = sum(records[each.id].launch.bracket.elapsed_s for each in stage)
    spent_s = Ledger(run.plan, before, 0.0).elapsed_s(0.0)
    ledger = Ledger(msgspec.structs.replace(run.plan, budget_s=spent_s + 0.6 * later_s), before, 0.0)
    now_s, made = 0.0, dict[int, set[str]]()
    while launch := ledger.following(now_s):
        allowed = ledger.allot(launch, now_s)
        ledger.cut(set(launch.cases) - allowed.keys())
        if allowed:
            ledger.book(records[launch.id], allowed, records[launch.id].launch.bracket.elapsed_s)
            now_s += records[launch.id].launch.bracket.elapsed_s
            made.setdefault(launch.block, set()).update(allowed)
    paired = [cases for cases in made.values() if cases & of["1x1@4"] and cases & of["1x1@1"]]
    assert paired


def test_systems_that_grow_with_the_machine_have_a_curve_of_the_largest(tmp_path: Path) -> None:
    few = Measure("hpl", ("1x1@1",), axes={"n": (512, 1024)}, weight=0.01)
    many = Measure("hpl", ("1x1@4",), axes={"n": (512, 2048)}, weight=0.01)
    path = simulated_run(
        tmp_path, UNEVEN, study=Study("Grow", "?", (few, many), launches=6), options=options(fast="eth0")
    )
    every = [each for each in analyse(store.load(path)).models if isinstance(each, Scaling)]
    assert [each.problem.get("n") for each in every if each.weak] == [1024]
    found = [each for each in every if not each.weak]
    assert {each.problem.get("n") for each in found} == {512, "largest"}
    (largest,) = (each for each in found if each.problem["n"] == "largest")
    assert "n=1024" in largest.base
    (step,) = largest.steps
    assert "n=2048" in step.estimates[0]
    fixed = next(each for each in found if each.problem["n"] == 512)
    assert step.efficiency.value > fixed.steps[0].efficiency.value


def test_the_ledger_scores_every_prediction_of_every_run(
    run: Run, analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_RUNS", str(Path(run.path).parent))
    known = json.loads(CliRunner().invoke(assay, ["show", "ledger", "--json"], catch_exceptions=False).stdout)
    assert {each["case"] for each in known["entries"]} == {each.of for each in run.predictions}
    for each in known["entries"]:
        measured, predicted = each["measured"], each["predicted"]
        assert each["error"] == pytest.approx(measured["value"] / predicted["value"] - 1)
        assert each["held"] == (predicted["lo"] <= measured["hi"] and measured["lo"] <= predicted["hi"])
    held = sum(each["held"] for each in known["entries"])
    assert known["coverage"]["value"] == pytest.approx(held / len(known["entries"]))
    assert known["coverage"]["lo"] < known["coverage"]["value"]
    console = Console(width=200, record=True, file=io.StringIO())
    table.render(together(scores(run, analysis)), console)
    shown = console.export_text()
    assert f"Predicted and measured intervals overlap in {held} of {len(known['entries'])}" in shown
    assert shown.count("held") > len(known["entries"]) / 2
    cases = product(ORDERS, ("fast", "slow"))
    assert all(f"hpl, n {order:,}, network {name}, 1x1@16" in shown for order, name in cases)


def test_an_empty_ledger_names_the_command_that_fills_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RUNS", str(tmp_path))
    shown = CliRunner().invoke(assay, ["show", "ledger"], catch_exceptions=False)
    assert "No run here holds a prediction" in shown.stdout
