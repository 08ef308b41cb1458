"""The borders of the check of caches: which sizes are tried, how long, and when a claim is true."""

import statistics
from collections.abc import Sequence

import msgspec
import pytest
from tests.simulation import builds_for, described, plan_for, starter_for

from assay.launch.command import Command, Outcome
from assay.run.caches import Held, best, find_held, held_bytes
from assay.simulation import Fault, Law, SimulatedMachine
from assay.simulation.request import Request, parse

MIB = 2**20
CLAIMS = "pack:1 numa:1(memory=64GB) l3:1(size=512MB) l2:2(size=1MB) l1:1(size=32kB) core:1 pu:1"


class Watched(SimulatedMachine):
    """A machine that notes what it is asked, takes more time, and has another law in each pass.

    Args:
        laws: of each start; the last one from there on.
        seconds: that each start takes in addition.
    """

    def __init__(self, laws: Sequence[Law], seconds: float, claims: str) -> None:
        super().__init__(described(claims).topology, laws[0])
        self._others = [SimulatedMachine(described(claims).topology, law) for law in laws]
        self._added_s, self.asked, self.limits = seconds, list[Request](), list[float]()
        self._slow_s = 1000.0

    def now(self) -> float:
        return self._slow_s

    def execute(self, command: Command, timeout: float) -> Outcome:
        machine = self._others[min(len(self.asked), len(self._others) - 1)]
        self.asked.append(parse(command.argv, (0, 1)))
        self.limits.append(timeout)
        self._slow_s += self._added_s
        return machine.execute(command, timeout)


def getting(size: int, noise: float = 0.0) -> Law:
    """A machine on which a guest gets this much of its cache."""
    return Law(held={3: size}, noise=noise, launch_noise=0.0)


QUIET = getting(20 * MIB)


def held(
    *laws: Law, seconds: float = 1.0, budget_s: float | None = None, claims: str = CLAIMS
) -> tuple[Held | None, Watched]:
    plan = msgspec.structs.replace(plan_for(claims), budget_s=budget_s)
    machine = Watched(laws or (QUIET,), seconds, claims)
    return find_held(plan, machine.topology, builds_for(plan), starter_for(plan), machine), machine


def test_arrays_are_halved_from_four_times_the_claim_down_to_16_mib_on_all_cores() -> None:
    found, _ = held()
    assert found
    sizes = [1536 * MIB, 768 * MIB, 384 * MIB, 192 * MIB, 96 * MIB, 48 * MIB, 24 * MIB]
    assert [size for size, _ in found.rates] == sizes
    assert [rate for _, rate in found.rates] == pytest.approx([24e9] * len(sizes))
    assert (found.claimed, found.bytes, found.passes, found.agreed) == (512 * MIB, 24 * MIB, 2, True)
    assert found.seconds == 2.0
    caches, _ = held(getting(100 * MIB))
    assert caches
    assert [rate for _, rate in caches.rates] == pytest.approx([24e9] * 4 + [36e9] * 3)


def test_the_smallest_arrays_are_no_smaller_than_16_mib() -> None:
    found, _ = held(getting(8 * MIB), claims=CLAIMS.replace("512MB", "88MB"))
    assert found
    assert [size for size, _ in found.rates] == [264 * MIB, 132 * MIB, 66 * MIB, 33 * MIB, 33 * MIB // 2]


def test_the_rate_is_that_of_the_last_kernel() -> None:
    found, _ = held(Law(held={3: 20 * MIB}, noise=0.0, launch_noise=0.0, kernels={"triad": 0.5}))
    assert found
    assert [rate for _, rate in found.rates] == pytest.approx([12e9] * 7)


def test_the_best_of_the_samples_counts() -> None:
    found, _ = held(getting(20 * MIB, noise=0.05))
    assert found
    # The best of six of a sigma of 5 % lies 1.27 sigma above the middle.
    assert statistics.mean(rate for _, rate in found.rates) > 1.03 * 24e9


def test_a_pass_asks_for_few_short_samples_and_is_ended_after_two_minutes() -> None:
    _, machine = held()
    for request, limit_s in zip(machine.asked, machine.limits, strict=True):
        assert (request.precision, request.min_samples, request.max_samples) == (0.02, 3, 20)
        assert {case.seconds for case in request.cases} == {0.3}
        assert limit_s == 120


@pytest.mark.parametrize(("claims", "checked"), [(85, False), (86, True)])
def test_arrays_of_a_gibibyte_are_worth_a_check(claims: int, *, checked: bool) -> None:
    """Three arrays, each four times the caches: 1020 MiB for 85 MiB, 1032 MiB for 86 MiB."""
    found, _ = held(claims=CLAIMS.replace("512MB", f"{claims}MB"))
    assert (found is not None) == checked


@pytest.mark.parametrize(
    ("seconds", "budget_s", "passes"),
    [(119.9, None, 2), (120.1, None, 1), (9.9, 100.0, 2), (10.0, 100.0, 2), (10.1, 100.0, 1)],
)
def test_no_pass_begins_after_two_minutes_or_a_tenth_of_the_budget(
    seconds: float, budget_s: float | None, passes: int
) -> None:
    found, machine = held(seconds=seconds, budget_s=budget_s)
    assert found
    assert (found.passes, len(machine.asked), found.agreed) == (passes, passes, passes > 1)
    assert found.bytes == 24 * MIB


def test_five_passes_are_made_if_each_changes_something() -> None:
    found, machine = held(*(getting(size * MIB) for size in (20, 40, 80, 150, 300, 600)))
    assert found
    assert (found.passes, len(machine.asked), found.agreed, found.bytes) == (5, 5, False, 384 * MIB)


def test_a_program_that_fails_tells_nothing() -> None:
    found, machine = held(Law(faults=(Fault("crash"),)))
    assert found == Held(0, (), 512 * MIB, 0, agreed=False, seconds=1.0)
    assert len(machine.asked) == 1


def test_a_pass_without_one_of_its_sizes_tells_nothing() -> None:
    found, machine = held(Law(faults=(Fault("crash", case=f":{24 * MIB}"),)))
    assert found
    assert (found.passes, found.bytes, len(machine.asked)) == (0, 0, 1)


def test_memory_is_the_rate_of_the_largest_arrays() -> None:
    assert held_bytes([(800, 10.0), (400, 20.1), (200, 30.0)], claimed=400) == 0
    assert held_bytes([(800, 0.5), (400, 0.5)], claimed=1) == 400
    assert best([{8: 0.5}]) == ((8, 0.5),)


@pytest.mark.parametrize(
    ("memory", "inside", "smaller", "is_true"),
    [
        (10.0, 20.0, 30.0, False),  # halfway between memory and caches
        (10.0, 20.1, 30.0, True),
        (10.0, 10.19, 10.3, False),  # within 2 % of memory
        (10.0, 10.21, 10.3, True),
    ],
)
def test_a_claim_is_true_if_what_should_fit_is_nearer_to_caches_than_to_memory(
    memory: float, inside: float, smaller: float, *, is_true: bool
) -> None:
    rates = [(800, memory), (400, memory), (200, inside), (100, smaller)]
    assert (held_bytes(rates, claimed=200) == 0) == is_true
    assert held_bytes(rates, claimed=99) == (400 if inside > 10.2 else 200)


def test_rates_within_2_percent_of_memory_are_those_of_memory() -> None:
    assert held_bytes([(800, 100.0), (400, 102.0), (200, 102.1)]) == 400
