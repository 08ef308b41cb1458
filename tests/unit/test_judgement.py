"""What a published conclusion must not be judged by: a wrong order, an unmeasured region, a single launch."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.simulation import EPYC_7601, simulated_run
from tests.unit.test_conclusions import of_reference
from tests.unit.test_hpl import WITH_BLAS

from assay import references, store, studies
from assay.analyse import analyse, derived, operands
from assay.analyse.conclusions import _rest
from assay.analyse.derived import Value
from assay.analyse.estimates import LaunchMedian
from assay.catalogue import benchmarks
from assay.model.conclusion import Conclusion
from assay.model.derivation import Operand
from assay.model.quantity import Quantity, exact
from assay.model.repetition import Repetition
from assay.model.run import Ending, Run, Shortfall
from assay.report import repetition


def is_time(operand: Operand) -> bool:
    declared = benchmarks.get(operand.benchmark)
    kernel = operand.kernel or declared.main_kernel
    metric = operand.metric or declared.headline_name(kernel, operand.params, "")
    return any(each.name == metric and each.better == "lower" for each in declared.metrics)


def of_times() -> Iterator[tuple[str, Conclusion]]:
    """Conclusions of which both sides are times, of which the smaller is the better."""
    for name in references.names():
        for each in references.get(name).conclusions:
            sides = each.quantity.operands
            known = all(side.benchmark in benchmarks.names() and side.aspect == "value" for side in sides)
            if len(sides) > 1 and each.assumes != "same" and known and all(map(is_time, sides)):
                yield name, each


#: Of two times: what is better, by its reference, its factors or its place.
BETTER = {
    "the latency of MPI over SCI is about 1.5 times as good as on the cluster SCI": Operand(reference=""),
    "the latency of MPI over SCI is about 35 times as good as over Fast Ethernet": Operand(
        factors={"network": "SCI"}
    ),
    "PRIRODA is about 13 times as fast on 24 processors as on one": Operand(placement="all@12"),
    "PRIRODA is about 5.5 times as fast as on the cluster SCI, as the clock": Operand(reference=""),
    "the latency of MPI is 1.17 µs with MXM and 1.10 µs with UCX": Operand(factors={"mpi": "Open MPI with UCX"}),
    "with C-states enabled the latency of MPI is better by 2 % at least, at all sizes": Operand(
        factors={"c-states": "enabled"}
    ),
    "with C-states enabled the latency of MPI is better by 9 % at most, at all sizes": Operand(
        factors={"c-states": "enabled"}
    ),
    "the latency of InfiniBand QDR and of Gigabit Ethernet differs greatly, too": Operand(
        factors={"network": "fastest"}
    ),
    "between the processors next to the card the latency is shorter by about 0.6 µs": Operand(
        placement="one-core:near-nic@2"
    ),
}


def test_of_two_times_the_smaller_one_is_that_which_the_sentence_calls_better() -> None:
    found = {each.says: each for _, each in of_times()}
    assert found.keys() == BETTER.keys()
    for says, each in found.items():
        a, b = each.quantity.operands
        least, most = each.region.least, each.region.most
        better = a if most is not None and most <= 1 and each.quantity.operation != "difference" else b
        assert better is a or least is not None
        wanted = BETTER[says]
        if wanted.placement:
            assert better.placement == wanted.placement
        elif wanted.factors:
            assert wanted.factors.items() <= better.factors.items()
        else:
            assert not better.reference


SIX = Value(Quantity(10, 9, 11, "s", "interval"), tuple(LaunchMedian(at, None, 9.0 + at / 3) for at in range(6)))


@pytest.mark.parametrize("block", [0, 7])
def test_a_single_launch_is_not_exact(block: int) -> None:
    one = Value(exact(2.0, "s"), (LaunchMedian(block, None, 2.0),))
    for found in (derived._combined("ratio", SIX, one), derived._combined("ratio", one, SIX)):
        assert not found.quantity.has_ends


def test_a_fact_of_the_machine_is_exact() -> None:
    peak = Value(exact(2.0, "s"), (LaunchMedian(0, None, 2.0),), is_exact=True)
    assert derived._combined("ratio", SIX, peak).quantity.has_interval


def test_what_differs_greatly_differs_by_half_at_least_and_better_is_more_than_nothing() -> None:
    rules = {each.says: each for name in references.names() for each in references.get(name).conclusions}
    for says in (
        "the latency of InfiniBand QDR and of Gigabit Ethernet differs greatly, too",
        "inside a node messages are much slower than memory: TCP",
    ):
        assert rules[says].region.holds(exact(1.1)) is False
    most = rules["with C-states enabled the latency of MPI is better by 9 % at most, at all sizes"]
    assert most.region.holds(exact(1.05)) is False
    assert most.region.holds(exact(0.92)) is True
    assert (
        rules["pairs of two processes on each NUMA node carry 2.9 GB/s together"].region.holds(exact(6.79e9))
        is False
    )


def weather(folder: Path, nodes: int) -> Run:
    study = studies.get("like:epyc-7601")
    study = replace(study, measure=tuple(each for each in study.measure if each.benchmark == "weather"))
    hosts = tuple(f"n{number}" for number in range(1, nodes + 1))
    options = replace(WITH_BLAS, hosts=hosts, launches=6)
    shape = EPYC_7601.replace("memory=16GB", "memory=32GB")
    return store.load(simulated_run(folder, description=shape, study=study, options=options))


def of(run: Run) -> Repetition:
    found = analyse(run).repetition
    assert found
    return found


def test_a_curve_is_not_judged_where_it_was_not_measured(tmp_path: Path) -> None:
    found = of(weather(tmp_path, 4))
    curves = [each for each in found.conclusions if each.conclusion.says.startswith("the small case of WRF")]
    assert [(each.doubt, str(each.detail)) for each in curves] == [
        ("nodes", "it needs 8 nodes"),  # gains up to there
        ("nodes", "it needs 16 nodes"),  # level beyond
    ]
    rows = [each for each in found.rows if each.metric == "nodes at which it is fastest"]
    needs = {row.params["dataset"]: row.reason for row in rows if row.benchmark == "weather"}
    assert needs == {"conus 12 km": "it needs 8 nodes", "conus 2.5 km": "it needs 16 nodes"}
    assert all(row.ours is None for row in rows if row.benchmark == "weather")


def test_a_row_that_follows_from_others_has_its_conclusion(tmp_path: Path) -> None:
    found = of(weather(tmp_path, 16))
    row = next(each for each in found.rows if each.metric == "nodes at which it is fastest" and each.ours)
    about = [found.conclusions[at] for at in row.conclusions]
    assert [each.conclusion.says[:21] for each in about] == ["the small case of WRF"]
    assert row.printed == "8 nodes"
    assert repetition.ours(about[0]).endswith("nodes")


def test_a_case_that_the_budget_cut_is_named_with_the_command_that_resumes_it(tmp_path: Path) -> None:
    run = weather(tmp_path, 1)
    case = next(case for case in run.plan.studied if case.params["nx"] == 1600)
    short = Shortfall("budget", "the budget was used up", 0, 6)
    ending = Ending("cut", "", 60.0, {case.id: short}, needed_s=600.0)
    run = replace(run, ending=ending)
    operand = Operand("weather", placement=case.placement.label, params={"nx": 1600})
    assert operands.cut(operand, run) == short
    assert operands.cut(replace(operand, params={"nx": 1}), run) is None

    run = replace(run, plan=replace(run.plan, budget_s=60.0))
    assert str(_rest(run)) == f"assay run --resume {run.info.id} --budget 10m"


def test_numbers_that_a_source_prints_alone_are_counted_apart() -> None:
    found = of_reference("epyc-7601")
    alone = sum(each.is_stated for each in found.conclusions)
    assert alone
    assert f"{alone} are printed without figures" in repetition.counted(found)


def test_conclusions_that_are_not_to_be_used_are_counted() -> None:
    found = of_reference("vtpcc")
    assert "Do not use" not in repetition.counted(found)
    first, second, *others = found.conclusions
    marked = (replace(first, flaw="misplaced"), replace(second, flaw="disturbed"), *others)
    assert repetition.counted(replace(found, conclusions=marked)).endswith(". Do not use 2 of these.")


def test_one_conclusion_is_told_in_the_singular() -> None:
    counted = repetition.counted(of_reference("vtpcc"))
    assert "13 hold by its figures, 0 are printed without figures, 1 does not hold, 0 cannot be told." in counted
    one = of_reference("cs-pccluster2")
    alone = next(each for each in one.conclusions if each.is_stated)
    counted = repetition.counted(replace(one, conclusions=(alone,)))
    assert "0 hold by its figures, 1 is printed without figures, 0 do not hold" in counted
