"""Cases -> launches in random order inside blocks, the sentinel between blocks, and what they will cost."""

import random
from collections.abc import Iterable

import msgspec

from assay import benchmarks
from assay.model.plan import Case, PlannedLaunch

#: Start of a process and the two probes that bracket it, seconds. An assumption, for estimates only.
LAUNCH_S = 0.1
#: Sampling of a case of weight 1 until its precision is reached, seconds. An assumption, for estimates only.
SAMPLING_S = 1.0
#: Longer launches are split: the probes before and after one can only speak for what lies between them.
LONGEST_LAUNCH_S = 3.0


def interleave(
    cases: tuple[Case, ...], blocks: int, seed: int, default_toolchain: str
) -> tuple[PlannedLaunch, ...]:
    """Every launch, in order: each block starts each case once, in launches of one program, placement and factors.

    Launches are in random order in their block, a launch is split where it would be long, and its cases are in
    random order too. The sentinel is launched before each block and after the last. A seed always gives one order.
    """
    chance = random.Random(seed)  # noqa: S311 (an order that can be repeated, nothing secret)
    sentinels = tuple(case for case in cases if case.role == "sentinel")
    groups = _groups(case for case in cases if case.role == "measure")
    launches: list[PlannedLaunch] = []
    for block in range(blocks):
        pieces = [piece for group in groups for piece in _split(chance.sample(group, len(group)))]
        order = chance.sample(pieces, len(pieces))
        launches += _block(block, [sentinels] * bool(sentinels) + order, default_toolchain)
    return tuple(launches + _block(blocks, [sentinels] * bool(sentinels), default_toolchain))


def estimate_seconds(cases: tuple[Case, ...], order: tuple[PlannedLaunch, ...]) -> float:
    """Expected duration of all launches without a budget's cuts."""
    cost = {case.id: _case_seconds(case) for case in cases}
    return sum(LAUNCH_S + sum(cost[case] for case in launch.cases) for launch in order)


def _case_seconds(case: Case) -> float:
    return case.setup_s + SAMPLING_S * case.weight


def _split(cases: list[Case]) -> list[tuple[Case, ...]]:
    """Runs of the cases, in their order, that take LONGEST_LAUNCH_S at most or are one case."""
    pieces: list[list[Case]] = []
    room = 0.0
    for case in cases:
        if not pieces or room < _case_seconds(case):
            pieces.append([])
            room = LONGEST_LAUNCH_S
        pieces[-1].append(case)
        room -= _case_seconds(case)
    return [tuple(piece) for piece in pieces]


def _groups(cases: Iterable[Case]) -> list[list[Case]]:
    groups: dict[object, list[Case]] = {}
    for case in cases:
        where = msgspec.structs.replace(case.placement, label="", meaning="")
        key = (benchmarks.get(case.benchmark).program, where, tuple(case.factors.items()))
        groups.setdefault(key, []).append(case)
    return list(groups.values())


def _block(block: int, order: list[tuple[Case, ...]], default_toolchain: str) -> list[PlannedLaunch]:
    return [
        PlannedLaunch(
            id=f"{block:03d}-{position:02d}",
            block=block,
            program=benchmarks.get(group[0].benchmark).program,
            toolchain=group[0].factors.get("toolchain", default_toolchain),
            cases=tuple(case.id for case in group),
        )
        for position, group in enumerate(order)
    ]
