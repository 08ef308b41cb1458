"""Predictions of speed-ups from planted rates and a planted law of messages, each computed by hand."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
import scipy.optimize
from tests.simulation import TWO_CORES, simulated_run
from tests.unit.test_scale_study import EIGHT

from assay import store
from assay.analyse import examine
from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.messages.steps import MessageLaw, Piece
from assay.catalogue import benchmarks
from assay.model.law import Model
from assay.model.plan import Case, Measure, Study
from assay.model.quantity import Quantity
from assay.model.record import Prediction
from assay.plan import Options
from assay.simulation import Law
from assay.topics.scaling.models.scaling import is_speed
from assay.topics.scaling.predictions.speed_up import expect, predict
from assay.topics.scaling.what_if import over_network, stated_network

#: Cores, and whether its ranks are copies -> rates of three launches.
Rates = Mapping[tuple[int, bool], Sequence[float]]

#: Samples are few: their rates are replaced.
FAST = Law(sampled_s=0.0)
#: The planted law of messages: start in s and s/B, each with ends.
START, PER_BYTE = Quantity(1e-4, 8e-5, 1.5e-4, "s", "range"), Quantity(1e-9, 9e-10, 1.3e-9, "s/B", "range")


def examined(folder: Path, description: str, nodes: int, *measures: Measure) -> RunEstimates:
    options = Options(hosts=tuple(f"n{number}" for number in range(1, nodes + 1)))
    study = Study("Speed-ups", "?", measures, launches=1)
    return examine(store.load(simulated_run(folder, FAST, description=description, study=study, options=options)))


@pytest.fixture(scope="module")
def on_cores(tmp_path_factory: pytest.TempPathFactory) -> RunEstimates:
    ranks = ("1x1", "2x1", "4x1", "8x1")
    return examined(
        tmp_path_factory.mktemp("cores"),
        EIGHT,
        1,
        Measure("himeno_mpi", ranks, axes={"size": ("M", "S"), "coupling": ("sharing", "independent")}),
        Measure("pt2pt", ("pair",), axes={"pattern": "latency", "bytes": (8, 64, 512, 4096)}),
    )


@pytest.fixture(scope="module")
def on_nodes(tmp_path_factory: pytest.TempPathFactory) -> RunEstimates:
    return examined(
        tmp_path_factory.mktemp("nodes"),
        TWO_CORES,
        8,
        Measure("weather", ("all@1", "all@2", "all@4", "all@8"), axes={"nx": 400}),
        Measure("pt2pt", ("pair:other-node",), axes={"pattern": "latency", "bytes": (8, 64, 512, 4096)}),
    )


@pytest.fixture(scope="module")
def on_parts(tmp_path_factory: pytest.TempPathFactory) -> RunEstimates:
    ranks = ("1x1", "2x1", "4x1")
    return examined(
        tmp_path_factory.mktemp("parts"),
        EIGHT,
        1,
        Measure("weather", ranks, axes={"nx": (200, 400), "coupling": ("sharing", "uncoupled")}),
        Measure("pt2pt", ("pair",), axes={"pattern": "latency", "bytes": (8, 64, 512, 4096)}),
    )


def law(model: Model) -> Model:
    """The same with the planted law, if it is of messages."""
    if not isinstance(model, MessageLaw):
        return model
    return msgspec.structs.replace(model, start=START, points=(), pieces=(Piece(START, PER_BYTE, None),))


def key(case: Case) -> tuple[int, bool]:
    return case.cores, case.params.get("coupling") in {"independent", "uncoupled"}


def planted(
    known: RunEstimates,
    rates: Rates,
    problem: Mapping[str, object],
    *,
    messages: bool = True,
    state: str | None = None,
) -> RunEstimates:
    """The run with these rates of a problem alone, each of three launches, and with the planted law."""
    cases = {case.id: case for case in known.run.plan.cases}
    found = []
    for each in known.measured:
        case, estimate = cases[each.estimate.case], each.estimate
        if estimate.declared.between_two:
            found.append(each)
        elif is_speed(estimate) and key(case) in rates and problem.items() <= case.params.items():
            values = rates[key(case)]
            launches = tuple(LaunchMedian(block, state, value) for block, value in enumerate(values))
            value = Quantity(float(np.median(values)), min(values), max(values), estimate.unit, "range")
            one = msgspec.structs.replace(estimate, value=value, launches=len(values), state=state)
            found.append(Measured(one, launches))
    models = tuple(law(each) for each in known.models if messages or not isinstance(each, MessageLaw))
    return RunEstimates(known.run, tuple(found), models, known.farthest)


def both(one: RunEstimates, other: RunEstimates) -> RunEstimates:
    """The rates of both."""
    more = tuple(each for each in other.measured if not each.estimate.declared.between_two)
    return RunEstimates(one.run, (*one.measured, *more), one.models, one.farthest)


def case_of(known: RunEstimates, cores: int, problem: Mapping[str, object]) -> Case:
    return next(
        each
        for each in known.run.plan.studied
        if key(each) == (cores, False)
        and problem.items() <= each.params.items()
        and not known.run.plan.declared(each.benchmark).between_two
    )


def messages_s(case: Case) -> tuple[float, float, float]:
    """Seconds of messages for a unit of work, by the planted law and its ends."""
    exchange = benchmarks.get(case.benchmark).growth.exchange(case.params, case.placement)
    assert exchange
    found = [
        sum(each.number * (start + each.bytes * per_byte) for each in exchange.messages) / exchange.work
        for start, per_byte in zip(START.parts, PER_BYTE.parts, strict=True)
    ]
    return found[0], found[1], found[2]


def predicted(known: RunEstimates, case: Case) -> Prediction | None:
    return next(iter(expect(known, [case])), None)


M = {"size": "M"}
PLANE = {"nx": 400}
ALONE_CELLS = (9e6, 9.2e6, 8.9e6)
ALONE = (1e9, 1.02e9, 0.99e9)
COPIES = {2: (0.97e9 * 2, 0.99e9 * 2, 0.95e9 * 2), 4: (3.4e9, 3.5e9, 3.3e9), 8: (4.8e9, 5.0e9, 4.7e9)}


def work_s(known: RunEstimates, count: int) -> tuple[float, float, float]:
    """Seconds of a unit of work on some cores by copies and messages: typical, least, most."""
    typical, _, _ = messages_s(case_of(known, count, M))
    rates = COPIES[count]
    return 1 / float(np.median(rates)) + typical, 1 / max(rates) + typical, 1 / min(rates) + typical


def test_copies_and_messages_predict_ranks_with_an_assumed_error_of_five_percent(on_cores: RunEstimates) -> None:
    case = case_of(on_cores, 4, M)
    known = planted(on_cores, {(1, False): ALONE, (4, True): COPIES[4]}, M)
    found = predicted(known, case)
    assert found
    value, least, most = work_s(on_cores, 4)
    typical, _, high = messages_s(case)
    assert found.value == pytest.approx(1 / value)
    assert found.lo == pytest.approx(1 / (1.05 * most + high - typical))  # messages may be slower by their law
    assert found.hi == pytest.approx(1.05 / least)
    assert (found.unit, found.metric, found.of) == ("flop/s", "rate", case.id)


@pytest.mark.parametrize("factor", [0.995, 0.99, 0.9, 1.2])
def test_a_figure_on_fewer_cores_corrects_the_law_and_shows_its_error(
    on_cores: RunEstimates, factor: float
) -> None:
    case = case_of(on_cores, 4, M)
    of_two, _, _ = work_s(on_cores, 2)
    two = tuple(factor * scatter / of_two for scatter in (0.99, 1.0, 1.01))
    known = planted(on_cores, {(1, False): ALONE, (2, False): two, (2, True): COPIES[2], (4, True): COPIES[4]}, M)
    found = predicted(known, case)
    assert found
    slower = 1 / factor  # measured over the law on two cores; twice the cores go on in the same way
    scale, form = slower**2, max(0.02, abs(slower - 1))
    value, least, most = (scale * each for each in work_s(on_cores, 4))
    typical, _, high = messages_s(case)
    assert found.value == pytest.approx(1 / value)
    assert found.lo == pytest.approx(1 / ((1 + form) * most + scale * (high - typical)))
    assert found.hi == pytest.approx((1 + form) / least)


def test_the_last_trend_between_two_figures_goes_on(on_cores: RunEstimates) -> None:
    case = case_of(on_cores, 8, M)
    off = {2: 1.02, 4: 1.15}
    tried = {(count, False): (1 / (off[count] * work_s(on_cores, count)[0]),) * 3 for count in off}
    copies = {(count, True): rates for count, rates in COPIES.items()}
    known = planted(on_cores, {(1, False): ALONE, **tried, **copies}, M)
    found = predicted(known, case)
    assert found
    further = 1.15 / 1.02  # from 2 to 4 ranks, and so from 4 to 8
    scale, form = 1.15 * further, max(1.15, further) - 1
    value, least, _ = (scale * each for each in work_s(on_cores, 8))
    assert found.value == pytest.approx(1 / value)
    assert found.hi == pytest.approx((1 + form) / least)


@pytest.mark.parametrize(("cores", "share"), [(2, 0.69), (4, 0.36)])
def test_the_part_of_a_rank_is_as_fast_as_copies_of_its_size(
    on_cores: RunEstimates, cores: int, share: float
) -> None:
    """M is 8 S: its halves and quarters lie near 2/3 and 1/3 of the way from copies of S to those of M."""
    case = case_of(on_cores, cores, M)
    small, whole = (4.2e9, 4.4e9, 4.1e9), (1.1e9, 1.2e9, 1.15e9)
    known = both(
        planted(on_cores, {(1, False): ALONE, (cores, True): whole}, M),
        planted(on_cores, {(cores, True): small}, {"size": "S"}),
    )
    found = predicted(known, case)
    assert found
    memory = {
        size: next(
            each.memory_bytes
            for each in on_cores.run.plan.studied
            if key(each) == (cores, True) and each.params["size"] == size
        )
        for size in ("S", "M")
    }
    power = math.log(case.memory_bytes / memory["S"]) / math.log(memory["M"] / memory["S"])
    assert power == pytest.approx(share, abs=0.03)
    typical, _, _ = messages_s(case)
    rate = float(np.median(small)) ** (1 - power) * float(np.median(whole)) ** power
    assert found.value == pytest.approx(1 / (1 / rate + typical))


def test_the_parts_of_the_same_ranks_without_messages_need_no_copies(on_parts: RunEstimates) -> None:
    """Neither the parts of a smaller plane count, nor those of fewer ranks."""
    case = case_of(on_parts, 4, PLANE)
    parts = (3.1e7, 3.3e7, 3.2e7)
    known = both(
        planted(on_parts, {(1, False): ALONE_CELLS, (2, True): (9e7,) * 3, (4, True): parts}, PLANE),
        planted(on_parts, {(4, True): (7e7,) * 3}, {"nx": 200}),
    )
    found = predicted(known, case)
    assert found
    typical, _, high = messages_s(case)
    assert typical > 0
    assert found.value == pytest.approx(1 / (1 / float(np.median(parts)) + typical))
    assert found.lo == pytest.approx(1 / (1.05 * (1 / min(parts) + typical) + high - typical))
    assert found.hi == pytest.approx(1.05 / (1 / max(parts) + typical))
    run = msgspec.structs.replace(known.run, predictions=(found,))
    measured = planted(on_parts, {(4, False): parts}, PLANE).measured
    (line,) = predict(RunEstimates(run, (*known.measured, *measured), known.models))
    assert line.by == "the same parts without messages, the law of messages"


def test_copies_larger_than_the_part_of_a_rank_are_no_help(on_cores: RunEstimates) -> None:
    """Outside of the copies that were measured nothing is extended: those of the problem itself count."""
    case = case_of(on_cores, 4, {"size": "S"})
    known = both(
        planted(on_cores, {(1, False): ALONE, (4, True): COPIES[4]}, {"size": "S"}),
        planted(on_cores, {(4, True): (2.4e9, 2.5e9, 2.3e9)}, M),
    )
    found = predicted(known, case)
    assert found
    typical, _, _ = messages_s(case)
    assert found.value == pytest.approx(1 / (1 / float(np.median(COPIES[4])) + typical))


def test_copies_of_another_problem_scale_the_rate_of_the_base(on_cores: RunEstimates) -> None:
    """Copies on four cores over one rank alone, of a smaller problem, in each block."""
    case = case_of(on_cores, 4, M)
    small, alone = (4.2e9, 4.4e9, 4.1e9), (1.1e9, 1.2e9, 1.15e9)
    known = both(
        planted(on_cores, {(1, False): ALONE}, M),
        planted(on_cores, {(1, False): alone, (4, True): small}, {"size": "S"}),
    )
    found = predicted(known, case)
    assert found
    typical, _, high = messages_s(case)
    value = float(np.median(ALONE) * np.median(small) / np.median(alone))
    drawn = [a * b / c for a, b, c in zip(ALONE, small, alone, strict=True)]
    assert found.value == pytest.approx(1 / (1 / value + typical))
    assert found.lo == pytest.approx(1 / (1.05 * (1 / min(drawn) + typical) + high - typical))
    assert found.hi == pytest.approx(1.05 / (1 / max(drawn) + typical))


def test_of_two_states_of_the_machine_the_ends_of_both_count(on_cores: RunEstimates) -> None:
    case = case_of(on_cores, 4, M)
    rates = {(1, False): ALONE, (4, True): COPIES[4]}
    slower = {(1, False): tuple(0.8 * each for each in ALONE), (4, True): tuple(0.7 * each for each in COPIES[4])}
    near, far = (planted(on_cores, each, M, state=name) for each, name in ((rates, "near"), (slower, "far")))
    one, other, found = (predicted(each, case) for each in (near, far, both(near, far)))
    assert one
    assert other
    assert found
    assert (found.lo, found.hi) == (min(one.lo, other.lo), max(one.hi, other.hi))
    assert found.value == pytest.approx((found.lo + found.hi) / 2)
    assert set(found.models) == {*one.models, *other.models}


def test_a_stored_prediction_is_compared_with_the_figure(on_cores: RunEstimates) -> None:
    case = case_of(on_cores, 4, M)
    known = planted(on_cores, {(1, False): ALONE, (4, False): (3e9, 3.3e9, 2.7e9), (4, True): COPIES[4]}, M)
    stated = predicted(known, case)
    assert stated
    run = msgspec.structs.replace(known.run, predictions=(stated,))
    (line,) = predict(RunEstimates(run, known.measured, known.models))
    assert line.predicted.parts == (stated.value, stated.lo, stated.hi)
    assert line.value.value == 3e9
    assert line.deviation == pytest.approx(3e9 / stated.value - 1)
    assert set(line.of) == {each for each in stated.models if not each.startswith("message-law")}
    assert line.by == "independent copies on the same cores, the law of messages"
    for changes in ({"metric": "traffic"}, {"law": "system-time"}):
        other = msgspec.structs.replace(run, predictions=(msgspec.structs.replace(stated, **changes),))
        assert not list(predict(RunEstimates(other, known.measured, known.models)))


def fewer(factors: Sequence[float], speed_ups: Sequence[float], at: float, *, full: bool) -> list[float]:
    """Speed-ups by the laws of Amdahl, of scalability where two points are known, a power, and a full node."""
    s, p = np.array(speed_ups), np.array(factors)
    table = np.stack([p - 1, p * (p - 1)], axis=1) * (s / p)[:, None]
    wanted = (p / s - 1) * (s / p)
    found = []
    for columns in (1, 2) if len(factors) > 1 else (1,):
        fit = [*scipy.optimize.nnls(table[:, :columns], wanted)[0], 0.0]
        found.append(at / (1 + fit[0] * (at - 1) + fit[1] * at * (at - 1)))
    found.append(at ** (math.log(speed_ups[-1]) / math.log(factors[-1])))
    return [*found, speed_ups[-1]] if full else found


@pytest.mark.parametrize("counts", [(2,), (2, 4)])
def test_without_messages_the_range_of_four_laws_is_predicted(
    on_cores: RunEstimates, counts: tuple[int, ...]
) -> None:
    target = 2 * counts[-1]
    case = case_of(on_cores, target, M)
    rates: dict[tuple[int, bool], Sequence[float]] = {(1, False): (1e9, 1e9, 1e9)}
    more = {2: (1.8e9, 1.85e9, 1.7e9), 4: (2.9e9, 2.8e9, 3.1e9)}
    rates |= {(count, False): more[count] for count in counts}
    found = predicted(planted(on_cores, rates, M, messages=False), case)
    assert found
    full = len(counts) == 1
    middle = fewer(counts, [float(np.median(more[count])) / 1e9 for count in counts], target, full=full)
    drawn = [
        fewer(counts, [more[count][block] / 1e9 for count in counts], target, full=full) for block in range(3)
    ]
    assert found.value == pytest.approx(1e9 * math.exp(np.mean(np.log(middle))))
    assert found.lo == pytest.approx(0.98e9 * min(map(min, drawn)))
    assert found.hi == pytest.approx(1.02e9 * max(map(max, drawn)))


def test_too_far_or_with_one_figure_alone_nothing_is_predicted(on_cores: RunEstimates) -> None:
    base = {(1, False): ALONE}
    assert predicted(planted(on_cores, base, M, messages=False), case_of(on_cores, 2, M)) is None
    assert predicted(planted(on_cores, base | {(4, True): COPIES[4]}, M), case_of(on_cores, 4, M))  # four times
    assert predicted(planted(on_cores, base | {(8, True): COPIES[8]}, M), case_of(on_cores, 8, M)) is None
    two = base | {(2, False): COPIES[2], (8, True): COPIES[8]}
    assert predicted(planted(on_cores, two, M), case_of(on_cores, 8, M))


def test_the_base_on_more_nodes_and_messages_predict_nodes(on_nodes: RunEstimates) -> None:
    """Nodes have two cores; the figure on two nodes corrects the law, and leaves five percent all the same."""
    case = case_of(on_nodes, 8, PLANE)
    typical, _, high = messages_s(case)
    rates: dict[tuple[int, bool], Sequence[float]] = {(2, False): (1e8, 1.05e8, 0.98e8)}
    found = predicted(planted(on_nodes, rates, PLANE), case)
    assert found
    assert found.value == pytest.approx(1 / (1 / (4 * 1e8) + typical))
    assert found.lo == pytest.approx(1 / (1.05 * (1 / (4 * 0.98e8) + typical) + high - typical))
    assert found.hi == pytest.approx(1.05 / (1 / (4 * 1.05e8) + typical))
    law_s = 1 / (2 * 1e8) + messages_s(case_of(on_nodes, 4, PLANE))[0]
    for slower in (1.01, 1.06):
        rates[4, False] = (1 / (slower * law_s),) * 3
        found = predicted(planted(on_nodes, rates, PLANE), case)
        assert found
        scale, form = slower**2, max(0.05, slower - 1)
        assert found.value == pytest.approx(1 / (scale * (1 / (4 * 1e8) + typical)))
        assert found.hi == pytest.approx((1 + form) / (scale * (1 / (4 * 1.05e8) + typical)))
    rates[8, False] = (1 / (1.01**2 * (1 / (4 * 1e8) + typical)),) * 3
    rates[4, False] = (1 / (1.01 * law_s),) * 3
    last = case_of(on_nodes, 16, PLANE)
    found = predicted(planted(on_nodes, rates, PLANE), last)
    assert found  # two numbers of nodes were tried
    scale, typical = 1.01**3, messages_s(last)[0]
    assert found.value == pytest.approx(1 / (scale * (1 / (8 * 1e8) + typical)))
    assert found.hi == pytest.approx(1.0201 / (scale * (1 / (8 * 1.05e8) + typical)))


@pytest.mark.parametrize(("latency", "rate"), [(1e-6, 2e10), (2e-4, 5e8), (2e-2, 1e8)])
def test_over_another_network_the_time_of_messages_is_replaced(
    on_nodes: RunEstimates, latency: float, rate: float
) -> None:
    case = case_of(on_nodes, 4, PLANE)
    rates = (2e7, 2.2e7, 1.8e7)
    known = planted(on_nodes, {(4, False): rates}, PLANE)
    answers = over_network(known, stated_network(latency, rate))
    (found,) = (each for each in answers if each.case == case.id)
    exchange = benchmarks.get(case.benchmark).growth.exchange(case.params, case.placement)
    assert exchange
    new = sum(each.number * (latency + each.bytes / rate) for each in exchange.messages) / exchange.work
    old, old_low, old_high = messages_s(case)
    changed = 0.05 * abs(new - old)
    middle = max(1 / 2e7 + new - old, new)
    slow = max(1 / 1.8e7 + new - old_low + changed, middle)
    fast = min(max(1 / 2.2e7 + new - old_high - changed, new), middle)
    assert found.predicted.parts == pytest.approx((1 / middle, 1 / slow, 1 / fast))
    ideal = max(1 / 2e7 - old, 0.0)
    assert found.messages_before == pytest.approx(1 - ideal / (1 / 2e7))
    assert found.messages_after == pytest.approx(1 - ideal / middle)
    assert found.measured
    assert found.measured.value == 2e7
