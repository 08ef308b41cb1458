"""The variance between runs of one machine, by components that are known."""

import itertools
import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
import scipy
from tests.simulation import simulated_run

from assay import store
from assay.analyse.comparisons.ranks import shift
from assay.analyse.history import (
    ASSUMED,
    FEWEST_RUNS,
    History,
    RunLogs,
    of_difference,
    sums,
    widened,
)
from assay.cli.support.comparing import others_like
from assay.compare.runs import against, history_of
from assay.model.plan import Measure, Study
from assay.plan import Options
from assay.simulation import Law


def drawn(
    rng: np.random.Generator, days: int, runs: int, launches: int, sd: tuple[float, float, float]
) -> list[list[list[float]]]:
    """Values by day and run; `sd`: of launch, run and day."""
    return [
        [(day + rng.normal(0, sd[1]) + rng.normal(0, sd[0], launches)).tolist() for _ in range(runs)]
        for day in rng.normal(0, sd[2], days)
    ]


def history(
    rng: np.random.Generator, figures: int, runs: int, sd: tuple[float, float], *, together: float
) -> tuple[list[RunLogs], History]:
    """Runs of six launches; a share `together` of the variance between runs is common to all figures."""
    made = []
    for run in range(runs):
        common = rng.normal(0, sd[1] * math.sqrt(together))
        own = rng.normal(0, sd[1] * math.sqrt(1 - together), figures)
        values = {f"f{at}": rng.normal(common + own[at], sd[0], 6).tolist() for at in range(figures)}
        made.append(RunLogs(f"r{run}", "day", values, dict.fromkeys(values, "group")))
    return made, History(made)


def test_balanced_components_are_those_of_the_closed_form() -> None:
    values = drawn(np.random.default_rng(1), 4, 3, 5, (1.0, 2.0, 3.0))
    table = np.array(values)
    launch = table.var(axis=2, ddof=1).mean()
    run = 5 * table.mean(axis=2).var(axis=1, ddof=1).mean()
    day = 15 * table.mean(axis=(1, 2)).var(ddof=1)
    assert sums(values).solved() == pytest.approx((launch, (run - launch) / 5, (day - run) / 15))


def test_one_day_is_the_analysis_of_variance_of_scipy() -> None:
    rng = np.random.default_rng(2)
    runs = [rng.normal(mean, 1.0, count).tolist() for mean, count in ((0, 4), (1, 6), (3, 9))]
    found = sums([runs])
    ratio = (found.ss_run / found.df_run) / (found.ss_launch / found.df_launch)
    assert ratio == pytest.approx(scipy.stats.f_oneway(*runs).statistic)


def test_unbalanced_components_are_found_on_average() -> None:
    rng, shape, planted = np.random.default_rng(3), ((6, 5, 4), (6, 2), (3, 6, 6)), (0.5, 1.0, 2.0)
    solved = []
    for _ in range(2000):
        days = [
            [(day + rng.normal(0, planted[1]) + rng.normal(0, planted[0], count)).tolist() for count in counts]
            for day, counts in zip(rng.normal(0, planted[2], 3), shape, strict=True)
        ]
        found = sums(days)
        launch = found.ss_launch / found.df_launch
        run = (found.ss_run - found.df_run * launch) / found.run_in_run
        day = (found.ss_day - found.df_day * launch - found.run_in_day * run) / found.day_in_day
        solved.append((launch, run, day))
    assert np.mean(solved, axis=0) == pytest.approx([each**2 for each in planted], rel=0.1)


def told_apart(known: History, one: RunLogs, other: RunLogs) -> list[bool]:
    """Whether two figures of two runs of one machine differ significantly, given the earlier runs."""
    found = []
    for figure in ("f0", "f5"):
        components = known.components(figure)
        assert components
        effect = shift(one.values[figure], other.values[figure])
        wide = widened(effect, of_difference((components, components), same_day=one.day == other.day).half)
        found.append(not wide.lo <= 0 <= wide.hi)
    return found


@pytest.mark.parametrize("between", [0.0, 0.3, 0.7, 1.5], ids=lambda ratio: f"runs {ratio} of launches")
@pytest.mark.parametrize("together", [0.0, 1.0], ids=["each figure alone", "all together"])
def test_runs_that_do_not_differ_are_not_told_apart_by_three_others(between: float, together: float) -> None:
    """By three earlier runs, as five runs leave them for each pair."""
    compared = []
    for seed in range(20):
        runs, _ = history(
            np.random.default_rng(seed), 8, FEWEST_RUNS + 2, (0.01, 0.01 * between), together=together
        )
        for a, b in itertools.combinations(range(len(runs)), 2):
            known = History(run for at, run in enumerate(runs) if at not in {a, b})
            compared += told_apart(known, runs[a], runs[b])
    # Three runs in which all figures move together are three values, however many figures there are.
    assert np.mean(compared) <= (0.1 if between > 1 and together else 0.07)


@pytest.mark.parametrize(
    "days", [(1, 1, 1, 1), (3, 3), (2, 2, 2)], ids=lambda days: f"{len(days)} days of {days[0]}"
)
def test_runs_of_one_day_and_of_two_are_not_told_apart_by_runs_of_few_days(days: tuple[int, ...]) -> None:
    compared: dict[str, list[bool]] = {"one day": [], "two days": []}
    for seed in range(80):
        rng = np.random.default_rng(seed)
        runs = []
        for day, count in enumerate((*days, 2, 1)):
            usual = rng.normal(0, 0.01, 6)
            for _ in range(count):
                means = usual + rng.normal(0, 0.01, 6)
                values = {f"f{at}": rng.normal(means[at], 0.01, 6).tolist() for at in range(6)}
                runs.append(RunLogs("run", str(day), values, dict.fromkeys(values, "group")))
        *earlier, same, one, other = runs
        for name, second in (("one day", same), ("two days", other)):
            compared[name] += told_apart(History(earlier), one, second)
    assert all(np.mean(each) <= 0.08 for each in compared.values()), {k: np.mean(v) for k, v in compared.items()}


def test_too_few_runs_say_nothing() -> None:
    _, known = history(np.random.default_rng(1), 3, FEWEST_RUNS - 1, (0.01, 0.01), together=0)
    assert known.components("f0") is None


def test_runs_of_a_machine_with_a_planted_variance_between_runs_tell_it_and_are_not_called_different(
    tmp_path: Path,
) -> None:
    study = Study("S", "Q?", (Measure("memcpy", ("one-core",), axes={"bytes": "4K:64K", "buffers": "hot"}),))
    factors = np.exp(np.random.default_rng(5).normal(0, 0.03, 10))
    runs = []
    for seed, factor in enumerate(factors):
        law = Law(speed={"near": factor, "far": factor}, launch_noise=0.003)
        path = simulated_run(tmp_path, law, study=study, options=Options(launches=6, seed=seed), seed=seed)
        runs.append(store.load(path))
    usual = [int(at) for at in np.argsort(factors)[[2, 7]]]
    for at in usual:  # the two that are compared were made last
        info = msgspec.structs.replace(runs[at].info, started=f"2999-{runs[at].info.started[5:]}")
        runs[at] = msgspec.structs.replace(runs[at], info=info)
    a, b = (runs[at] for at in usual)
    found = history_of(a, [(run, False) for run in runs if run is not a and run is not b])
    (figure, *_) = found.runs[0].values
    components = found.components(figure)
    assert components
    planted = float(np.log(np.delete(factors, usual)).std(ddof=1))
    assert components.between == pytest.approx(planted, rel=0.1)
    (alone,), (known,) = against([b], a), against([b], a, earlier=runs)
    assert all(
        (pair.comparison.between_runs, pair.comparison.is_assumed) == (ASSUMED, True) for pair in alone.pairs
    )
    assert not {"faster", "slower"} & {pair.comparison.verdict for pair in known.pairs}
    assert all(pair.comparison.history == 8 for pair in known.pairs)
    assert all(pair.comparison.between_runs == pytest.approx(planted, rel=0.1) for pair in known.pairs)


def test_a_change_is_called_in_every_run_after_it(tmp_path: Path) -> None:
    """Runs made between the base and the judged run do not count: the change is among them. Later repeats do."""
    study = Study("S", "Q?", (Measure("memcpy", ("one-core",), axes={"bytes": "4K:64K", "buffers": "hot"}),))
    noise = np.exp(np.random.default_rng(6).normal(0, 0.004, 11))
    runs = []
    for seed, factor in enumerate(noise):
        law = Law(speed=dict.fromkeys(("near", "far"), factor * (0.8 if seed >= 4 else 1.0)), launch_noise=0.003)
        path = simulated_run(tmp_path, law, study=study, options=Options(launches=6, seed=seed), seed=seed)
        runs.append(store.load(path))
    for judged in range(4, 8):
        (found,) = against([runs[judged]], runs[3], earlier=others_like([runs[3], runs[judged]]))
        assert {pair.comparison.verdict for pair in found.pairs} == {"slower"}
        assert {pair.comparison.history for pair in found.pairs} == {3 + min(8, 10 - judged)}
    (found,) = against([runs[1]], runs[0], earlier=others_like([runs[0], runs[1]]))
    assert {pair.comparison.history for pair in found.pairs} == {8}, "repeats made afterwards, as a gate advises"
