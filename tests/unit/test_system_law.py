"""The law of a system of equations against loops over its steps, and its fit against scipy's least squares."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.optimize
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.topics.linear_algebra import orders as law
from assay.topics.linear_algebra.orders import Fitted, Steps, Work

Numbers = NDArray[np.float64]
Params = dict[str, int | str]


def params(n: int, nb: int, p: int, q: int, ahead: str = "one") -> Params:
    return {"n": n, "nb": nb, "p": p, "q": q, "look-ahead": ahead}


def along_row(sizes: Numbers) -> Numbers:
    return np.asarray(3e-6 + sizes / 2e9)


def along_column(sizes: Numbers) -> Numbers:
    return np.asarray(5e-6 + sizes / 7e8)


def occupied(sizes: Numbers) -> Numbers:
    return np.asarray(1e-6 + sizes / 9e9)


def dealt(first: int, blocks: int, places: int, block: int) -> list[int]:
    """What each place has of the whole blocks from `first` on, dealt in turn."""
    return [sum(block for index in range(first, blocks) if index % places == place) for place in range(places)]


@settings(max_examples=60)
@given(
    count=st.integers(1, 9),
    block=st.sampled_from((1, 4, 32)),
    p=st.integers(1, 5),
    q=st.integers(1, 4),
)
def test_each_step_is_counted_as_the_distribution_of_blocks_says(count: int, block: int, p: int, q: int) -> None:
    n = count * block
    slow = np.random.default_rng(count).uniform(1.0, 1.5, p * q)
    found = law.steps_of(params(n, block, p, q), along_row, along_column, slow, occupied)
    assert (found.n, found.p, found.q, found.ahead) == (n, p, q, True)
    assert found.slow == pytest.approx((slow.mean(), slow.max()))
    rounds = next(each for each in range(9) if 2**each >= p)
    whole = waits = 0.0
    for step in range(count):
        columns = dealt(step + 1, count, q, block)
        columns[count % q] += 1  # the right-hand side
        # 2 operations an entry: products below the panel, a triangle above them that the rows of the grid share.
        rows = [each + block / (2 * p) for each in dealt(step + 1, count, p, block)]
        work = [[rows[r] * slow[r * q + c] for r in range(p)] for c in range(q)]
        for c in range(q):
            assert found.operations[step, c] == pytest.approx(2 * block * columns[c] * max(work[c]))
            whole += 2 * block * columns[c] * sum(work[c]) / (p * q)
            others = np.array(8.0 * block * columns[c] * (p - 1) / p)
            empty = float(along_column(np.array(0.0)))
            swapped = (rounds - 2) * empty + 2 * float(along_column(others)) if p > 1 else 0.0
            assert found.exchange[step, c] == pytest.approx(swapped)
        assert found.edges[step] == pytest.approx(block * (count - step - 1) * block * (1 / p + 1 / q) / 2)
        tall = dealt(step, count, p, block)
        assert found.panel[step] == pytest.approx(block * max(tall[r] * slow[r * q + step % q] for r in range(p)))
        owner = (step + 1) % q
        if step + 1 < count:
            assert found.first[step] == pytest.approx(block / columns[owner])
            waits += 2 * block * block * (max(work[owner]) - sum(work[owner]) / p) / q
        panel = np.array(8.0 * block * (max(tall) + block + 1))
        assert found.broadcast[step] == pytest.approx(float(along_row(panel)) if q > 1 else 0.0)
        assert found.busy[step] == pytest.approx(float(occupied(panel)) if q > 1 else 0.0)
        candidate = float(along_column(np.array(8.0 * (3 + 2 * block))))
        assert found.pivots[step] == pytest.approx(rounds * block * candidate if p > 1 else 0.0)
    assert found.mean_operations == pytest.approx(whole)
    assert found.waits == pytest.approx(waits)
    assert found.numbers == pytest.approx(n**2 * (3 * p + q) / (2 * p * q))
    assert found.flops == pytest.approx(2 * n**3 / 3 + 3 * n**2 / 2)
    assert found.panel_coefficient == (3 if p > 1 else 2)


def test_a_last_block_may_be_narrow() -> None:
    found = law.steps_of(params(70, 32, 1, 1))
    assert found.panel.tolist() == [32 * 70, 32 * 38, 6 * 6]
    assert found.edges.tolist() == [32 * 38, 32 * 6, 0]
    assert found.operations[:, 0].tolist() == [2 * 32 * 39 * (38 + 16), 2 * 32 * 7 * (6 + 16), 2 * 6 * 1 * 3]
    small = law.steps_of(params(5, 32, 1, 1))
    assert small.panel.tolist() == [25]
    of_two = law.steps_of(params(70, 32, 2, 1))
    assert of_two.panel.tolist() == [32 * 38, 32 * 32, 6 * 6]


def test_look_ahead_is_one_unless_it_is_none() -> None:
    assert law.steps_of({"n": 64, "nb": 32, "p": 1, "q": 1}).ahead
    assert not law.steps_of(params(64, 32, 1, 1, "none")).ahead
    nothing = law.steps_of(params(64, 32, 2, 2))
    assert not nothing.pivots.any()
    assert not nothing.broadcast.any()
    assert not nothing.exchange.any()
    assert nothing.slow == (1.0, 1.0)


def seconds(steps: Steps, row: Sequence[float]) -> float:
    """The clocks of the module, column by column: g, u, f of one rank, f of several ranks, b."""
    g, u, alone, several, b = row
    count = len(steps.panel)
    panel = [(several if steps.p > 1 else alone) * steps.panel[k] + steps.pivots[k] for k in range(count)]
    clocks = [panel[0] if c == 0 else 0.0 for c in range(steps.q)]
    ready = panel[0]
    for k in range(count):
        following = ready
        for c in range(steps.q):
            away = (c - k) % steps.q
            hops = away - 1 if away > 1 else away
            begin = max(clocks[c], ready + hops * float(steps.broadcast[k])) + float(steps.exchange[k, c])
            update = g * steps.operations[k, c] + steps.slow[1] * u * steps.edges[k]
            clocks[c] = begin + update
            if k + 1 < count:
                own = panel[k + 1] if c == (k + 1) % steps.q else 0.0
                clocks[c] += own + float(steps.busy[k + 1])
                if own:
                    following = begin + update * steps.first[k] + own if steps.ahead else clocks[c]
        ready = following
    return float(max(clocks) + b * steps.n**2 * (3 * steps.p + steps.q) / (2 * steps.p * steps.q))


GRIDS = [(1, 1), (1, 3), (2, 1), (2, 2), (4, 2)]


@pytest.mark.parametrize("ahead", ["one", "none"])
@pytest.mark.parametrize(("p", "q"), GRIDS)
@pytest.mark.parametrize("panel_s", [1e-10, 2e-8, 1e-6])
def test_the_time_of_a_solution_is_that_of_the_latest_column_of_the_grid(
    p: int, q: int, ahead: str, panel_s: float
) -> None:
    """Fast panels are hidden behind updates, slow ones are not, and others only in the first steps."""
    steps = law.steps_of(
        params(1000, 64, p, q, ahead), along_row, along_column, np.linspace(1.0, 1.3, p * q), occupied
    )
    rows = np.array([[5e-11, 1e-9, panel_s, 2 * panel_s, 4e-9], [1e-10, 0.0, panel_s / 2, panel_s, 0.0]])
    assert steps.seconds(rows) == pytest.approx([seconds(steps, row) for row in rows])
    without = rows.copy()
    without[:, 4] = 0.0
    assert steps.working_seconds(rows) == pytest.approx([seconds(steps, row) for row in without])


def fitted_by_scipy(steps: Sequence[Steps], row: Numbers) -> list[float]:
    """The coefficients of one row of values, by non-negative least squares (scipy.optimize.nnls)."""
    count = len(steps)
    times = [each.flops / rate for each, rate in zip(steps, row, strict=False)]
    updates = [row[count + at] / times[at] for at in range(count)]
    panels = [row[2 * count + at] / times[at] for at in range(count)]
    free = [at for at in range(count) if not steps[at].busy.any()]
    free = free if len({steps[at].n for at in free}) > 1 else list(range(count))
    left = [
        [steps[at].mean_operations / times[at], steps[at].slow[0] * steps[at].edges.sum() / times[at]]
        for at in free
    ]
    right = [min(1.0, updates[at]) for at in free]
    if len(row) > 3 * count:  # the product counts as a fifth of an update
        left.append([0.2 * steps[0].slow[0] * row[-1] / (steps[0].p * steps[0].q), 0.0])
        right.append(0.2)
    scale = np.array([1e-10, 1e-9])
    (g, u), _ = scipy.optimize.nnls(np.array(left) * scale, np.array(right))
    found = [g * scale[0], u * scale[1], 0.0, 0.0, 0.0]
    for column in (2, 3):
        same = [at for at in range(count) if steps[at].panel_coefficient == column]
        work = [[1e-8 * steps[at].panel.sum() / steps[at].q / times[at]] for at in same]
        other = [steps[at].pivots.sum() / steps[at].q + found[0] * steps[at].waits for at in same]
        wanted = [panels[at] - seconds_ / times[at] for at, seconds_ in zip(same, other, strict=True)]
        if same:
            found[column] = 1e-8 * scipy.optimize.nnls(np.array(work), np.array(wanted))[0][0]
    several = [at for at in range(count) if steps[at].p * steps[at].q > 1] or list(range(count))
    numbers = [[1e-9 * steps[at].numbers / times[at]] for at in several]
    rest = [1 - seconds(steps[at], found) / times[at] for at in several]
    found[4] = 1e-9 * scipy.optimize.nnls(np.array(numbers), np.array(rest))[0][0]
    return found


@settings(max_examples=60, deadline=None)
@given(
    grids=st.lists(st.tuples(st.sampled_from((256, 512, 1024)), st.sampled_from(GRIDS)), min_size=2, max_size=5),
    least=st.sampled_from((math.inf, 0.0, 1e5)),
    product=st.sampled_from((0.0, 3e9, 1e11)),
    seed=st.integers(0, 1000),
)
def test_the_fit_is_the_non_negative_least_squares_of_scipy(
    grids: list[tuple[int, tuple[int, int]]], least: float, product: float, seed: int
) -> None:
    assume(len({n for n, _ in grids}) > 1)  # the law is fitted to two orders or more
    random = np.random.default_rng(seed)

    def busy(sizes: Numbers) -> Numbers:  # only panels of this size keep a core busy
        return np.where(sizes > least, occupied(sizes), 0.0)

    steps = [
        law.steps_of(params(n, 64, p, q), along_row, along_column, np.linspace(1.0, 1.4, p * q), busy)
        for n, (p, q) in grids
    ]
    count = len(steps)
    truth = [5e-11, 1e-9, 2e-8, 3e-8, 4e-9]
    times = np.array([seconds(each, truth) for each in steps]) * random.uniform(0.5, 1.5, count)
    updates = times * random.uniform(0.1, 1.2, count)
    panels = times * random.uniform(0.0, 0.5, count)
    row = np.array([*[each.flops for each in steps] / times, *updates, *panels, *([product] if product else [])])
    wanted = fitted_by_scipy(steps, row)
    got = law.coefficients(steps, np.array([row, row]))
    assert got[0] == pytest.approx(wanted, rel=1e-6, abs=1e-16)
    assert got[1] == pytest.approx(got[0])


def test_a_prediction_has_the_ends_of_the_draws_of_the_margin_and_of_the_messages() -> None:
    def work(latency: float, ahead: str) -> Steps:
        return law.steps_of(params(1024, 64, 1, 2, ahead), lambda sizes: latency + sizes / 2e9)

    middle, fast, slow = (work(latency, "one") for latency in (1e-3, 5e-4, 3e-3))
    values = np.array([[5e-11, 1e-9, 2e-8, 0.0, 4e-9]])
    draws = values * np.array([[0.9], [1.0], [1.2]])
    times = [seconds(middle, row) for row in draws]
    typical = seconds(middle, values[0])
    for hides in (True, False):
        slowest = seconds(slow if hides else work(3e-3, "none"), values[0])
        rate = Fitted(values, draws, "range", 0.01, 0.1, hides).rate(Work(middle, fast, slow))
        assert rate.unit == "flop/s"
        assert rate.basis == "derived"
        assert rate.value == pytest.approx(middle.flops / typical)
        assert rate.lo == pytest.approx(middle.flops / (max(times) * slowest / typical * 1.1))
        assert rate.hi == pytest.approx(middle.flops / (min(times) * seconds(fast, values[0]) / typical / 1.1))


def test_a_prediction_holds_its_own_value_where_the_draws_do_not() -> None:
    steps = law.steps_of(params(1024, 64, 1, 1))
    values = np.array([[5e-11, 1e-9, 2e-8, 0.0, 4e-9]])
    for factor in (0.8, 1.25):
        rate = Fitted(values, factor * values, "single", 0.0, 0.0).rate(Work(steps, steps, steps))
        assert rate.lo <= rate.value <= rate.hi
        assert math.isclose(rate.lo, rate.value) == (factor < 1)
        assert math.isclose(rate.hi, rate.value) == (factor > 1)


def test_the_coefficients_of_a_law_are_those_of_the_panels_of_a_solution() -> None:
    values = np.array([[1.0, 2.0, 3.0, 4.0, 5.0]])
    fitted = Fitted(values, np.vstack([0.5 * values, 2 * values]), "range", 0.0, 0.0)
    for p, f in ((1, 3.0), (2, 4.0)):
        found = fitted.coefficients(law.steps_of(params(64, 32, p, 1)))
        assert [each.parts for each in found] == [(each, each / 2, 2 * each) for each in (1.0, f, 5.0)]
        assert {each.unit for each in found} == {"s"}
