"""Cases -> launches in random order inside blocks, the sentinel between blocks, and their expected cost."""

import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from types import MappingProxyType

import msgspec

from assay.catalogue import benchmarks
from assay.model.grouping import grouped
from assay.model.placement import Memory, Placement
from assay.model.plan import LEAST_S, UNLIMITED_S, Case, Plan, PlannedLaunch, probe_s
from assay.plan import factors
from assay.plan.costs import FEWEST_SAMPLES, Cost

#: Share of the time of the minimum samples that a case always gets.
FEWEST_SHARE = 0.25
#: Seconds of sampling of a case of weight 1 until its precision is reached. An assumption, for estimates only.
SAMPLING_S = 1.0
#: Shortest sample of the native programs in seconds, if the time of a case allows.
SAMPLE_S = 4e-4
#: Maximum samples of a kernel, warm-up and measured.
MOST_SAMPLES = 400
#: Samples of a kernel, warm-up and measured, if noise keeps the figure imprecise.
USUAL_SAMPLES = 250
#: If a figure is precise at the first check: samples of the warm-up, including those that find the length of
#: samples, and its largest share of a kernel's time; then the measured samples, or seconds.
_WARMING_SAMPLES, _WARMING_SHARE = 12, 0.2
_FEWEST_MEASURED, _LEAST_MEASURED_S = 10, 0.025
#: Longer launches are split, because the probes before and after a launch describe only a short time; but starts
#: should take no more than a tenth of the time.
LONGEST_LAUNCH_S = 3.0
STARTS_SHARE = 0.1
#: Cases share a longer launch if the first touch of their memory takes at least this long: to touch it again for
#: each case would cost more than the probes are worth.
LARGE_TOUCH_S = 0.5
LONGEST_SHARED_S = 12.0


def interleave(
    cases: tuple[Case, ...], blocks: int, seed: int, default_toolchain: str, default_mpi: str = ""
) -> tuple[PlannedLaunch, ...]:
    """Every launch, in order. A block runs each case once; a launch has one program, placement and factors.

    Launches are in random order in their block, long launches are split, and the cases of a launch are in random
    order, too. Launches that differ only in levels of factors are adjacent, in random order. The sentinel runs
    before each block and after the last. A seed always gives the same order. `default_toolchain` and `default_mpi`
    are for launches whose levels name none.
    """
    chance = random.Random(seed)  # noqa: S311 (an order that can be repeated, nothing secret)
    sentinels = tuple(case for case in cases if case.role == "sentinel")
    others = [case for case in cases if case.role != "sentinel"]
    launches: list[PlannedLaunch] = []
    for block in range(blocks):
        bundles = _bundles(case for case in others if block < (case.launches or blocks))
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
    """Blocks of further cases, with the plan's sentinel between them; their numbers follow the plan's.

    Args:
        plan: plan to extend.
        fresh: cases that it does not have.
        blocks: number of blocks.
        toolchains: case -> its toolchain.
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
    """The id of the launch at a position in a block."""
    return f"{block:03d}-{position:02d}"


def estimate_seconds(
    cases: tuple[Case, ...],
    order: tuple[PlannedLaunch, ...],
    shown: Mapping[str, Cost] = MappingProxyType({}),
) -> float:
    """Expected duration of all launches without a budget; for cases that have run, from their measured costs."""

    def sampling_s(case: Case) -> float:
        cost = shown.get(case.id)
        return cost.sampling_s(_wanted_seconds(case)) if cost else _sampling_seconds(case)

    return _duration(cases, order, sampling_s)


def quiet_and_noisy_seconds(plan: Plan) -> tuple[float, float]:
    """Expected duration of a plan if each figure is precise at the first check, and if none ever is.

    Neither exceeds the budget. Without a budget, a case samples as long as programs allow, whatever its weight.
    """
    most_s = UNLIMITED_S if plan.budget_s is None else math.inf
    times = Counter(case for launch in plan.order for case in launch.cases)

    def lasting(sampling_s: Callable[[Case, float], float]) -> float:
        whole_s = _duration(
            plan.cases,
            plan.order,
            lambda case: probe_s(times[case.id]) if case.role == "sentinel" else sampling_s(case, most_s),
        )
        return whole_s if plan.budget_s is None else min(whole_s, plan.budget_s)

    return lasting(_quiet_seconds), lasting(_noisy_seconds)


def fewest_seconds(cases: tuple[Case, ...], order: tuple[PlannedLaunch, ...]) -> float:
    """Expected duration of all launches with the shortest sampling of each case."""
    return _duration(cases, order, lambda case: max(LEAST_S, FEWEST_SHARE * _fewest_samples(case)))


def longest_seconds(cases: tuple[Case, ...], order: tuple[PlannedLaunch, ...]) -> float:
    """Expected duration of the longest launch with the shortest sampling of each case; 0 without launches."""
    distinct = {launch.cases: launch for launch in order}
    return max((fewest_seconds(cases, (launch,)) for launch in distinct.values()), default=0.0)


def _duration(
    cases: tuple[Case, ...], order: tuple[PlannedLaunch, ...], sampling: Callable[[Case], float]
) -> float:
    cost = {case.id: case.setup_s + sampling(case) for case in cases}
    start = {case.id: benchmarks.get(case.benchmark).start_seconds for case in cases}
    return sum(start[launch.cases[0]] + sum(cost[case] for case in launch.cases) for launch in order)


def shared_setups(cases: tuple[Case, ...], order: tuple[PlannedLaunch, ...]) -> tuple[Case, ...]:
    """The cases with their mean set-up times in the launches, in which later cases reuse touched memory.

    Memory that a case of a launch has touched is reused by later cases that touch it in the same way and need no
    more, so that their set-up is shorter.
    """
    known = {case.id: case for case in cases}
    saved = dict.fromkeys(known, 0.0)
    times = Counter(case_id for launch in order for case_id in launch.cases)
    for launch in order:
        left: dict[object, int] = {}
        for case in (known[case_id] for case_id in launch.cases):
            key = _touch_key(case)
            if case.memory_bytes <= left.get(key, 0):
                saved[case.id] += _touch_seconds(case)
            left[key] = max(left.get(key, 0), case.memory_bytes)
    return tuple(
        msgspec.structs.replace(case, setup_s=max(0.0, case.setup_s - saved[case.id] / times[case.id]))
        if saved[case.id]
        else case
        for case in cases
    )


def _sampling_seconds(case: Case) -> float:
    """Seconds until the precision or the maximum number of samples is reached."""
    return max(min(_wanted_seconds(case), _samples_seconds(case, MOST_SAMPLES)), _fewest_samples(case))


def _quiet_seconds(case: Case, most_s: float) -> float:
    """Seconds until each kernel is warm and was checked once, within the time that programs give a case."""
    if case.iteration_s is None:
        return _wanted_seconds(case) if math.isinf(most_s) else most_s
    kernels, sample_s = len(benchmarks.get(case.benchmark).kernels) or 1, max(SAMPLE_S, case.iteration_s)
    warming_s = min(_WARMING_SAMPLES * sample_s, _WARMING_SHARE * most_s / kernels)
    seconds = kernels * (warming_s + max(_FEWEST_MEASURED * sample_s, _LEAST_MEASURED_S))
    return max(min(most_s, seconds), _two_samples(case))


def _noisy_seconds(case: Case, most_s: float) -> float:
    """Seconds until the usual samples are taken, or the time that programs give a case is up."""
    return max(min(most_s, _samples_seconds(case, USUAL_SAMPLES)), _two_samples(case))


def _two_samples(case: Case) -> float:
    """Seconds of a warm-up and a measured sample of each kernel, which are always taken."""
    return 2 / FEWEST_SAMPLES * _fewest_samples(case)


def _samples_seconds(case: Case, samples: int) -> float:
    """Seconds of `samples` samples of each kernel; infinite if the benchmark does not know their length."""
    if case.iteration_s is None:
        return math.inf
    return samples * len(benchmarks.get(case.benchmark).kernels) * max(SAMPLE_S, case.iteration_s)


def _wanted_seconds(case: Case) -> float:
    """Wanted seconds of sampling, whatever the length of samples."""
    return max(LEAST_S, SAMPLING_S * case.weight)


def _fewest_samples(case: Case) -> float:
    """Seconds of the minimum samples; 0 if the benchmark does not know their length."""
    if case.iteration_s is None:
        return 0.0
    return FEWEST_SAMPLES * len(benchmarks.get(case.benchmark).kernels) * case.iteration_s


def _touch_seconds(case: Case) -> float:
    return min(case.setup_s, benchmarks.get(case.benchmark).touch_seconds(case.params))


def _touch_key(case: Case) -> Hashable:
    """A key shared by cases of a launch that can reuse each other's memory, if it is large enough."""
    return case.benchmark, *(case.params[axis] for axis in benchmarks.get(case.benchmark).touch_axes)


#: Maximum cases of a launch: each is about eight words on the command line, and some launchers fail at a thousand.
MOST_CASES = 80

#: The cases of a subject: one for each combination of factor levels (one if nothing varies), and its control.
_Subject = tuple[Case, ...]


def _grouped_by_touch(subjects: Iterable[_Subject]) -> Iterable[tuple[_Subject, ...]]:
    """The subjects in their order; those that can reuse much memory of each other are in groups of their own."""

    def key(subject: _Subject) -> Hashable:
        return _touch_key(subject[0]) if _touch_seconds(subject[0]) >= LARGE_TOUCH_S else None

    return grouped(subjects, key).values()


def _split(subjects: list[_Subject]) -> list[list[_Subject]]:
    """The subjects, in their order, split into launches that are short enough or have one subject."""
    pieces: list[list[_Subject]] = []
    room = 0.0
    for subject in subjects:
        seconds = max(case.setup_s + _sampling_seconds(case) for case in subject)
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
    cases = (case for subject in piece for case in subject)
    launches = list(grouped(cases, lambda case: (tuple(case.factors.items()), case.role)).values())
    return chance.sample(launches, len(launches)) if len(launches) > 1 else launches


def _bundles(cases: Iterable[Case]) -> Iterable[tuple[_Subject, ...]]:
    """Subjects with the same program and placement: the cases of a bundle differ only in what is varied.

    A level may have its own placement, e.g. a network with its card at another place.
    """

    def key(subject: _Subject) -> Hashable:
        first = subject[0]
        where: object = _where(first)
        if any(_where(case) != where for case in subject):
            where = frozenset((_where(case), *case.factors.values()) for case in subject)
        return benchmarks.get(first.benchmark).program, where, tuple(first.factors)

    return grouped(grouped(cases, lambda case: case.subject).values(), key).values()


def _where(case: Case) -> Placement:
    """The part of its placement that cases of one launch must share."""
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
