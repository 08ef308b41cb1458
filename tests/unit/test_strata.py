"""Whether states explain a benchmark: seldom in healthy runs, always if they do; else launches are pooled."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pytest
import scipy
from _pytest.mark import ParameterSet

from assay.analyse.launches import CaseAttempt, Sampled
from assay.analyse.strata import Stratum, chance, explained, plain
from assay.model.bracket import Bracket
from assay.model.placement import Memory, Placement
from assay.model.plan import Case

QUIET = Bracket(None, None, 1.0, 0.0, 0.0, 0, 0.0)
CASES, LAUNCHES = 100, 6
#: Healthy runs, and in how many of them a level of 1 % may find something: two standard deviations above it.
RUNS, BY_CHANCE = 200, 4


def _seldom(low: float, usual: float, high: float) -> list[ParameterSet]:
    """Levels of noise: the usual one per change, all of them in a long run."""
    long = pytest.mark.long
    return [pytest.param(low, marks=long), pytest.param(usual), pytest.param(high, marks=long)]


def _case(number: int, label: str, benchmark: str = "stream") -> Case:
    return Case(f"{benchmark}/{number}", benchmark, {}, Placement(label, label, (0,), Memory(), ()))


def _yield(launch: int, state: str, seconds: float) -> CaseAttempt:
    sampled = Sampled(np.array([seconds]), seconds, None, None, "samples", {})
    return CaseAttempt(f"{launch:03d}", 0, launch, QUIET, state, "complete", "", None, {("triad", "n1"): sampled})


Attempts = dict[str, list[CaseAttempt]]


def _apart(labels: Iterable[np.ndarray], slower: float, noise: float, seed: int) -> tuple[list[Case], Attempts]:
    """Cases that have launches and a placement of their own; far launches are slower by a factor."""
    rng = np.random.default_rng(seed)
    cases, attempts = [], {}
    for number, label in enumerate(labels):
        case = _case(number, f"pair:{number}")
        cases.append(case)
        attempts[case.id] = [
            _yield(100 * number + at, state, float(rng.lognormal(0, noise)) * (slower if state == "far" else 1))
            for at, state in enumerate(label)
        ]
    return cases, attempts


def _together(
    label: Iterable[str], slower: float, noise: float, seed: int, shared: int = 20
) -> tuple[list[Case], Attempts]:
    """Cases that share all of their launches, half of the noise that of the launch."""
    rng = np.random.default_rng(seed)
    states = list(label)
    cases = [_case(number, "all") for number in range(shared)]
    of_launch = rng.lognormal(0, noise / 2, len(states))
    attempts = {
        case.id: [
            _yield(
                at,
                state,
                float(of_launch[at] * rng.lognormal(0, noise / 2)) * (slower if state == "far" else 1),
            )
            for at, state in enumerate(states)
        ]
        for case in cases
    }
    return cases, attempts


def _by_chance(seed: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(seed)
    for _ in range(CASES):
        yield rng.choice(["near", "far"], LAUNCHES)


THREE_EACH = ("near", "far", "far", "near", "near", "far")
SIX_EACH = 2 * THREE_EACH


@pytest.mark.parametrize("noise", _seldom(0.003, 0.05, 0.3))
def test_labels_by_chance_split_less_than_one_healthy_run_in_a_hundred(
    noise: float, repeats: Callable[[int, int], int]
) -> None:
    runs = repeats(RUNS // 8, RUNS)
    found = sum(bool(explained(_apart(_by_chance(seed), 1.0, noise, seed))) for seed in range(runs))
    assert found <= (BY_CHANCE if runs == RUNS else 1)  # two standard deviations above it, too


@pytest.mark.parametrize("noise", _seldom(0.003, 0.05, 0.2))
def test_launches_that_all_cases_share_are_not_split_by_chance(noise: float) -> None:
    for label in (THREE_EACH, SIX_EACH):
        assert sum(bool(explained(_together(label, 1.0, noise, seed))) for seed in range(RUNS)) <= BY_CHANCE


def test_states_that_come_in_a_row_are_not_split_by_chance() -> None:
    label = ["near"] * 12 + ["far"] * 12
    assert sum(bool(explained(_together(label, 1.0, 0.05, seed))) for seed in range(RUNS)) <= BY_CHANCE


def test_a_factor_of_two_is_found_with_three_launches_a_side(repeats: Callable[[int, int], int]) -> None:
    for seed in range(repeats(6, 20)):
        assert explained(_together(THREE_EACH, 2.0, 0.03, seed)) == {"stream"}
        assert explained(_apart([np.array(THREE_EACH)], 2.0, 0.03, seed)) == {"stream"}
        assert explained(_apart(_by_chance(seed), 2.0, 0.03, seed)) == {"stream"}


def test_ten_percent_with_three_launches_a_side_is_what_nobody_can_tell_and_pooled() -> None:
    for seed in range(20):
        assert not explained(_together(THREE_EACH, 1.1, 0.01, seed))


def test_ten_percent_is_found_where_launches_allow_a_test(repeats: Callable[[int, int], int]) -> None:
    for seed in range(repeats(6, 20)):
        assert explained(_together(SIX_EACH, 1.1, 0.01, seed)) == {"stream"}
        assert explained(_apart(_by_chance(seed), 1.1, 0.03, seed)) == {"stream"}


def test_two_launches_in_a_state_explain_nothing() -> None:
    assert not explained(_together(("near", "near", "near", "near", "far", "far"), 3.0, 0.003, 1))


def test_strata_of_few_launches_decide_together() -> None:
    few = [np.array(label) for label in (["near", "near", "far"], ["far", "far", "near"]) * 5]
    for seed in range(20):
        assert not explained(_apart(few[:1], 1.3, 0.01, seed))
        assert explained(_apart(few, 1.3, 0.01, seed)) == {"stream"}


def test_less_than_two_percent_is_of_no_interest() -> None:
    assert not explained(_together(2 * SIX_EACH, 1.015, 0.001, 1))
    assert explained(_together(2 * SIX_EACH, 1.03, 0.001, 1))


def test_a_benchmark_that_states_do_not_explain_stays_whole_beside_one_that_they_do() -> None:
    cases, attempts = _together(SIX_EACH, 1.5, 0.01, 1)
    calm, calm_attempts = _together(SIX_EACH, 1.0, 0.01, 2)
    calm = [_case(number, "all", "memcpy") for number, _ in enumerate(calm)]
    renamed = {case.id: found for case, found in zip(calm, calm_attempts.values(), strict=True)}
    assert explained((cases + calm, attempts | renamed)) == {"stream"}


def test_the_launches_of_two_runs_decide_together() -> None:
    three = [_together(THREE_EACH, 1.2, 0.01, seed) for seed in (1, 2, 3)]
    assert not any(map(explained, three))
    assert explained(*three) == {"stream"}


def test_the_drawn_p_is_that_of_scipys_permutation_test() -> None:
    rng = np.random.default_rng(4)
    for _ in range(5):
        near, far = rng.normal(0, 0.1, 5), rng.normal(0.1, 0.1, 6)
        exact = scipy.stats.permutation_test(
            (near, far), lambda a, b: abs(np.mean(a) - np.mean(b)), alternative="greater", n_resamples=np.inf
        ).pvalue
        assert chance([Stratum(near, far)]) == pytest.approx(exact, abs=0.02)


def test_states_are_plain_where_they_lie_as_far_apart_as_what_tells_them() -> None:
    def seen(near: list[float], far: list[float]) -> bool:
        return plain(Stratum(np.log(near), np.log(far)))

    assert seen([1.0, 1.05, 1.02], [1.7, 1.75, 1.8])
    assert seen([1.7, 1.75, 1.8], [1.0, 1.05, 1.02])
    assert not seen([1.0, 1.05, 1.02], [1.4, 1.42, 1.45])  # a smaller gap
    assert not seen([1.0, 1.2, 1.1], [1.9, 2.0, 2.1])  # launches of one state that differ by a third of it
    assert not seen([1.0, 1.1, 1.8], [1.7, 1.75, 1.8])  # overlapping


def test_noise_of_any_size_seldom_makes_three_launches_plain() -> None:
    drawn = np.random.default_rng(7).normal(0, 0.2, (20_000, 6))
    assert sum(plain(Stratum(each[:3], each[3:])) for each in drawn) <= 6


def test_launches_that_hold_different_cases_are_told_apart_all_the_same() -> None:
    """Launches have other cases in each block, so the usual time of a case does not depend on far launches."""
    rng = np.random.default_rng(5)
    cases = [_case(number, "all") for number in range(24)]
    attempts: Attempts = {case.id: [] for case in cases}
    for block in range(6):
        order = rng.permutation(24)
        for half in range(2):
            launch = 2 * block + half
            state = "far" if launch in {1, 2, 5, 8, 11} else "near"
            for number in order[12 * half : 12 * half + 12]:
                seconds = float(rng.lognormal(0, 0.01)) * (1.6 if state == "far" else 1) * (1 + number)
                attempts[cases[number].id].append(_yield(launch, state, seconds))
    assert explained((cases, attempts)) == {"stream"}
