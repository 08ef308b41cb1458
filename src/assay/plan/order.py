"""Cases -> launches in random order inside blocks, the sentinel between blocks, and what they will cost."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import msgspec

from assay.model import benchmarks
from assay.model.grouping import grouped
from assay.model.placement import Memory, Placement
from assay.model.plan import LEAST_S, PROBED_S, UNLIMITED_S, Case, Plan, PlannedLaunch
from assay.plan import factors
from assay.plan.costs import FEWEST_SAMPLES, Cost

#: So much of the time of the fewest samples is always given.
FEWEST_SHARE = 0.25
#: Sampling of a case of weight 1 until its precision is reached, seconds. An assumption, for estimates only.
SAMPLING_S = 1.0
#: The native programs take samples no shorter than this, where the time of a case allows.
SAMPLE_S = 4e-4
#: Samples of a kernel at most, warm-up and measured.
MOST_SAMPLES = 400
#: Samples of a kernel, warm-up and measured, that a case takes where noise keeps it imprecise.
USUAL_SAMPLES = 250
#: Where a figure is precise at the first look: samples of the warm-up, with those that find how long samples have
#: to be, and most of the time of a kernel that it takes; what is measured then, samples or seconds.
_WARMING_SAMPLES, _WARMING_SHARE = 12, 0.2
_FEWEST_MEASURED, _LEAST_MEASURED_S = 10, 0.025
#: Longer launches are split, since the probes before and after one can only speak for what lies between them; but
#: starts shall take no more than a tenth of the time.
LONGEST_LAUNCH_S = 3.0
STARTS_SHARE = 0.1
#: Cases that leave each other memory whose first touch takes so long share a launch, which may be longer: to touch
#: it again for each would cost more than the probes are worth.
LARGE_TOUCH_S = 0.5
LONGEST_SHARED_S = 12.0


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
        pieces = [
            piece
            for bundle in bundles
            for sharing in _grouped_by_touch(bundle)
            for piece in _split(chance.sample(sharing, len(sharing)))
        ]
        order = [launch for piece in chance.sample(pieces, len(pieces)) for launch in _shuffled(piece, chance)]
        launches += _block(block, [sentinels] * bool(sentinels) + order, default_toolchain, default_mpi)
    return tuple(launches + _block(blocks, [sentinels] * bool(sentinels), default_toolchain, default_mpi))


def append_blocks(
    plan: Plan, fresh: tuple[Case, ...], blocks: int, toolchains: Mapping[str, str]
) -> tuple[PlannedLaunch, ...]:
    """Blocks of further cases, with the plan's sentinel between them, numbered on from all that it has.

    Args:
        plan: that goes on.
        fresh: cases that it does not hold.
        blocks: of them.
        toolchains: case -> what it is built with.
    """
    sentinels = tuple(case for case in plan.cases if case.role == "sentinel")
    names = {case.id for case in sentinels}
    own = {case: launch.toolchain for launch in plan.order for case in launch.cases if case in names}
    built = own | dict(toolchains)
    before = (launch.block for each in (plan, *plan.trials) for launch in each.order)
    first = max(before) + 1
    order = interleave((*fresh, *sentinels), blocks, plan.seed + first, "")
    return tuple(
        msgspec.structs.replace(
            launch, id=_id(first + block, position), block=first + block, toolchain=built[launch.cases[0]]
        )
        for block, launches in grouped(order, lambda launch: launch.block).items()
        for position, launch in enumerate(launches)
    )


def _id(block: int, position: int) -> str:
    """Of the launch at a position in a block."""
    return f"{block:03d}-{position:02d}"


def estimate_seconds(
    cases: tuple[Case, ...],
    order: tuple[PlannedLaunch, ...],
    shown: Mapping[str, Cost] = MappingProxyType({}),
) -> float:
    """Expected duration of all launches without a budget's cuts; of cases that have run by what they took."""

    def sampling_s(case: Case) -> float:
        cost = shown.get(case.id)
        return cost.sampling_s(_wanted_seconds(case)) if cost else _sampling_seconds(case)

    return _duration(cases, order, sampling_s)


def quiet_and_noisy_seconds(plan: Plan) -> tuple[float, float]:
    """Expected duration of a plan where each figure is precise at the first look, and if none ever is.

    Neither is longer than its budget. Without one a case samples for as long as programs do, whatever its weight.
    """
    most_s = UNLIMITED_S if plan.budget_s is None else math.inf
    times = Counter(case for launch in plan.order for case in launch.cases)

    def lasting(sampling_s: Callable[[Case, float], float]) -> float:
        whole_s = _duration(
            plan.cases,
            plan.order,
            lambda case: (
                max(LEAST_S, PROBED_S / max(1, times[case.id]))
                if case.role == "sentinel"
                else sampling_s(case, most_s)
            ),
        )
        return whole_s if plan.budget_s is None else min(whole_s, plan.budget_s)

    return lasting(_quiet_seconds), lasting(_noisy_seconds)


def fewest_seconds(cases: tuple[Case, ...], order: tuple[PlannedLaunch, ...]) -> float:
    """Expected duration of all launches with the shortest sampling of each case."""
    return _duration(cases, order, lambda case: max(LEAST_S, FEWEST_SHARE * _fewest_samples(case)))


def longest_seconds(cases: tuple[Case, ...], order: tuple[PlannedLaunch, ...]) -> float:
    """Expected duration of the longest launch with the shortest sampling of each case; 0 without launches."""
    alike = {launch.cases: launch for launch in order}
    return max((fewest_seconds(cases, (launch,)) for launch in alike.values()), default=0.0)


def _duration(
    cases: tuple[Case, ...], order: tuple[PlannedLaunch, ...], sampling: Callable[[Case], float]
) -> float:
    cost = {case.id: case.setup_s + sampling(case) for case in cases}
    start = {case.id: benchmarks.get(case.benchmark).start_seconds for case in cases}
    return sum(start[launch.cases[0]] + sum(cost[case] for case in launch.cases) for launch in order)


def shared_setups(cases: tuple[Case, ...], order: tuple[PlannedLaunch, ...]) -> tuple[Case, ...]:
    """The cases with their mean set-up times in the launches, where later cases reuse touched memory.

    Memory that a case of a launch has touched is left to those after it that touch alike and need no more, so that
    a set-up costs less there than the case alone would.
    """
    known = {case.id: case for case in cases}
    saved = dict.fromkeys(known, 0.0)
    times = Counter(case_id for launch in order for case_id in launch.cases)
    for launch in order:
        left: dict[object, int] = {}
        for case in (known[case_id] for case_id in launch.cases):
            alike = _touch_key(case)
            if case.memory_bytes <= left.get(alike, 0):
                saved[case.id] += _touch_seconds(case)
            left[alike] = max(left.get(alike, 0), case.memory_bytes)
    return tuple(
        msgspec.structs.replace(case, setup_s=max(0.0, case.setup_s - saved[case.id] / times[case.id]))
        if saved[case.id]
        else case
        for case in cases
    )


def _case_seconds(case: Case) -> float:
    return case.setup_s + _sampling_seconds(case)


def _sampling_seconds(case: Case) -> float:
    """Until the precision is reached, or all samples that are allowed are taken."""
    return max(min(_wanted_seconds(case), _samples_seconds(case, MOST_SAMPLES)), _fewest_samples(case))


def _quiet_seconds(case: Case, most_s: float) -> float:
    """Until each kernel is warm and was looked at once, within the time that programs give a case."""
    if case.iteration_s is None:
        return _wanted_seconds(case) if math.isinf(most_s) else most_s
    kernels, sample_s = len(benchmarks.get(case.benchmark).kernels) or 1, max(SAMPLE_S, case.iteration_s)
    warming_s = min(_WARMING_SAMPLES * sample_s, _WARMING_SHARE * most_s / kernels)
    seconds = kernels * (warming_s + max(_FEWEST_MEASURED * sample_s, _LEAST_MEASURED_S))
    return max(min(most_s, seconds), _two_samples(case))


def _noisy_seconds(case: Case, most_s: float) -> float:
    """Until the usual samples are taken, or the time is up that programs give a case."""
    return max(min(most_s, _samples_seconds(case, USUAL_SAMPLES)), _two_samples(case))


def _two_samples(case: Case) -> float:
    """Seconds that a warm-up and a measured sample take of each kernel: nothing cuts these."""
    return 2 / FEWEST_SAMPLES * _fewest_samples(case)


def _samples_seconds(case: Case, samples: int) -> float:
    """Of so many samples of each kernel; endless where the benchmark does not know how long they are."""
    if case.iteration_s is None:
        return math.inf
    return samples * len(benchmarks.get(case.benchmark).kernels) * max(SAMPLE_S, case.iteration_s)


def _wanted_seconds(case: Case) -> float:
    """Of sampling, however long samples are."""
    return max(LEAST_S, SAMPLING_S * case.weight)


def _fewest_samples(case: Case) -> float:
    """Seconds that the fewest samples take, where the benchmark knows how long they are."""
    if case.iteration_s is None:
        return 0.0
    return FEWEST_SAMPLES * len(benchmarks.get(case.benchmark).kernels) * case.iteration_s


def _touch_seconds(case: Case) -> float:
    return min(case.setup_s, benchmarks.get(case.benchmark).touch_seconds(case.params))


def _touch_key(case: Case) -> object:
    """Equal for cases of one launch of which one can take over the other's memory, if it is large enough."""
    return case.benchmark, *(case.params[axis] for axis in benchmarks.get(case.benchmark).touch_axes)


#: Each case is some eight words on the command line, and launchers there are that break at a thousand.
MOST_CASES = 80

#: A subject at each combination of factor levels (one if nothing varies), and its control.
_Subject = list[Case]


def _grouped_by_touch(subjects: list[_Subject]) -> list[list[_Subject]]:
    """The subjects, in their order: apart from the others those that can leave each other much memory."""
    groups: dict[object, list[_Subject]] = {}
    for subject in subjects:
        large = _touch_seconds(subject[0]) >= LARGE_TOUCH_S
        groups.setdefault(_touch_key(subject[0]) if large else None, []).append(subject)
    return list(groups.values())


def _split(subjects: list[_Subject]) -> list[list[_Subject]]:
    """Runs of the subjects, in their order, of which one launch is no longer than it may be or is one case."""
    pieces: list[list[_Subject]] = []
    room = 0.0
    for subject in subjects:
        seconds = max(map(_case_seconds, subject))
        touch_s = _touch_seconds(subject[0])
        large = touch_s >= LARGE_TOUCH_S
        if pieces and large:
            seconds -= touch_s
        alone = benchmarks.get(subject[0].benchmark).foreign is not None
        if not pieces or alone or room < seconds or len(pieces[-1]) >= MOST_CASES:
            seconds += touch_s if pieces and large else 0.0
            pieces.append([])
            start_s = benchmarks.get(subject[0].benchmark).start_seconds
            room = LONGEST_SHARED_S if large else max(LONGEST_LAUNCH_S, start_s / STARTS_SHARE)
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
    """Subjects that share program and placement: what differs among the cases of a bundle is what is varied.

    A level may have a placement of its own, as a network has whose card is elsewhere.
    """
    subjects: dict[str, _Subject] = {}
    for case in cases:
        subjects.setdefault(case.subject, []).append(case)
    bundles: dict[object, list[_Subject]] = {}
    for subject in subjects.values():
        of = subject[0]
        where: object = _where(of)
        if any(_where(case) != where for case in subject):
            where = frozenset((_where(case), *case.factors.values()) for case in subject)
        key = (benchmarks.get(of.benchmark).program, where, tuple(of.factors))
        bundles.setdefault(key, []).append(subject)
    return list(bundles.values())


def _where(case: Case) -> Placement:
    """Where it runs, as far as cases of one launch have to share it."""
    where = msgspec.structs.replace(case.placement, label="", meaning="")
    return msgspec.structs.replace(where, memory=Memory()) if factors.MEMORY in case.factors else where


def _block(
    block: int, order: list[tuple[Case, ...]], default_toolchain: str, default_mpi: str
) -> list[PlannedLaunch]:
    launches = []
    for position, group in enumerate(order):
        benchmark = benchmarks.get(group[0].benchmark)
        mpi = default_mpi if benchmark.launcher == "mpi" else ""
        launches.append(
            PlannedLaunch(
                id=_id(block, position),
                block=block,
                program=benchmark.program,
                toolchain=factors.toolchain(group[0].factors, default_toolchain, mpi),
                cases=tuple(case.id for case in group),
            )
        )
    return launches
