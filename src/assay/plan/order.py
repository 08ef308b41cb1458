"""Cases -> launches in random order inside blocks, the sentinel between blocks, and what they will cost."""

import random
from collections.abc import Iterable

import msgspec

from assay import benchmarks
from assay.model.placement import Memory
from assay.model.plan import Case, PlannedLaunch
from assay.plan import factors

#: Start of a process and the two probes that bracket it, seconds. An assumption, for estimates only.
LAUNCH_S = 0.1
#: Sampling of a case of weight 1 until its precision is reached, seconds. An assumption, for estimates only.
SAMPLING_S = 1.0
#: Longer launches are split: the probes before and after one can only speak for what lies between them.
LONGEST_LAUNCH_S = 3.0


def interleave(
    cases: tuple[Case, ...], blocks: int, seed: int, default_toolchain: str, default_mpi: str = ""
) -> tuple[PlannedLaunch, ...]:
    """Every launch, in order: each block starts each case once, in launches of one program, placement and factors.

    Launches are in random order in their block, a launch is split where it would be long, and its cases are in
    random order too. Where factors vary, launches that only levels tell apart stand side by side, in random order.
    The sentinel is launched before each block and after the last. A seed always gives one order. The toolchain and
    the MPI named here are those of launches whose levels name none.
    """
    chance = random.Random(seed)  # noqa: S311 (an order that can be repeated, nothing secret)
    sentinels = tuple(case for case in cases if case.role == "sentinel")
    bundles = _bundles(case for case in cases if case.role != "sentinel")
    launches: list[PlannedLaunch] = []
    for block in range(blocks):
        pieces = [piece for bundle in bundles for piece in _split(chance.sample(bundle, len(bundle)))]
        order = [launch for piece in chance.sample(pieces, len(pieces)) for launch in _shuffled(piece, chance)]
        launches += _block(block, [sentinels] * bool(sentinels) + order, default_toolchain, default_mpi)
    return tuple(launches + _block(blocks, [sentinels] * bool(sentinels), default_toolchain, default_mpi))


def estimate_seconds(cases: tuple[Case, ...], order: tuple[PlannedLaunch, ...]) -> float:
    """Expected duration of all launches without a budget's cuts."""
    cost = {case.id: _case_seconds(case) for case in cases}
    return sum(LAUNCH_S + sum(cost[case] for case in launch.cases) for launch in order)


def _case_seconds(case: Case) -> float:
    return case.setup_s + SAMPLING_S * case.weight


#: Each case is some eight words on the command line, and launchers there are that break at a thousand.
MOST_CASES = 80

#: A subject at each combination of factor levels (one where nothing varies), and its control.
_Subject = list[Case]


def _split(subjects: list[_Subject]) -> list[list[_Subject]]:
    """Runs of the subjects, in their order, of which one launch takes LONGEST_LAUNCH_S at most or is one case."""
    pieces: list[list[_Subject]] = []
    room = 0.0
    for subject in subjects:
        seconds = max(map(_case_seconds, subject))
        if not pieces or room < seconds or len(pieces[-1]) >= MOST_CASES:
            pieces.append([])
            room = LONGEST_LAUNCH_S
        pieces[-1].append(subject)
        room -= seconds
    return pieces


def _shuffled(piece: list[_Subject], chance: random.Random) -> list[tuple[Case, ...]]:
    """A launch for each combination of levels, in random order, all with the same order of subjects."""
    launches: dict[object, list[Case]] = {}
    for case in (case for subject in piece for case in subject):
        launches.setdefault((tuple(case.factors.items()), case.role), []).append(case)
    sides = [tuple(launch) for launch in launches.values()]
    return chance.sample(sides, len(sides)) if len(sides) > 1 else sides


def _bundles(cases: Iterable[Case]) -> list[list[_Subject]]:
    """Subjects that share program and placement: what differs among the cases of a bundle is what is varied."""
    bundles: dict[object, dict[str, _Subject]] = {}
    for case in cases:
        where = msgspec.structs.replace(case.placement, label="", meaning="")
        if factors.MEMORY in case.factors:
            where = msgspec.structs.replace(where, memory=Memory())
        key = (benchmarks.get(case.benchmark).program, where, tuple(case.factors))
        bundles.setdefault(key, {}).setdefault(case.subject, []).append(case)
    return [list(bundle.values()) for bundle in bundles.values()]


def _block(
    block: int, order: list[tuple[Case, ...]], default_toolchain: str, default_mpi: str
) -> list[PlannedLaunch]:
    launches = []
    for position, group in enumerate(order):
        benchmark = benchmarks.get(group[0].benchmark)
        mpi = default_mpi if benchmark.joint else ""
        launches.append(
            PlannedLaunch(
                id=f"{block:03d}-{position:02d}",
                block=block,
                program=benchmark.program,
                toolchain=factors.toolchain(group[0].factors, default_toolchain, mpi),
                cases=tuple(case.id for case in group),
            )
        )
    return launches
