"""Losses of parallel efficiency by cause, from the counted calls of MPI of each rank."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, log2
from statistics import fmean, median
from typing import NamedTuple

import msgspec
import numpy as np

from assay.analyse.clocks import Clocks
from assay.analyse.curves import RunEstimates
from assay.analyse.messages.steps import MessageLaw
from assay.model.grouping import grouped
from assay.model.law import Model
from assay.model.rank import MpiTimes
from assay.topics.scaling.message_laws import message_law
from assay.topics.scaling.models.scaling import Scaling
from assay.topics.scaling.steps import Step

LAW = "losses"
NEEDS = ("scaling", "message_law")
#: Widest range of memory's share that copies may leave; beyond it, and for one pair, the share is not known.
_WIDEST = 0.2


class Loss(msgspec.Struct, frozen=True):
    """Lost shares of the time of all cores at one placement; they add up to `lost`.

    The same loss of the base is subtracted from each. A negative share is a gain.

    Attributes:
        estimate: id of the estimate.
        lost: 1 minus the efficiency.
        in_turn: waiting beyond the imbalance: one rank works alone, then another. With a message law also the time
            of messages beyond it: the partner is late, or the network is contended.
        imbalance: waiting for the rank that computes longest.
        messages: passing messages.
        latency: part of `messages` that the message law gives for their number; None without a law.
        bandwidth: part of `messages` that the message law gives for their bytes; None without a law.
        clock: computing at the lower clock of these cores under load; None where it is not known.
        memory: slower computing of ranks without messages on the same cores, beyond the clock; on nodes with as
            many busy cores as the base's it is the difference of nodes, and 0 without copies. None without copies
            on nodes with more, and where their interval is too wide.
        other: slower computing of unknown cause.
    """

    estimate: str
    lost: float
    in_turn: float
    imbalance: float
    messages: float
    latency: float | None
    bandwidth: float | None
    clock: float | None
    memory: float | None
    other: float


class Losses(Model, frozen=True, kw_only=True, tag=LAW):
    """The losses of one curve of speed-ups.

    Attributes:
        scaling: id of the model of the speed-ups.
        losses: losses of each placement whose calls were counted, fewest cores first.
        overhead: largest share of the time for counting, as the ranks measured it.
    """

    scaling: str
    losses: tuple[Loss, ...]
    overhead: float


class _Shares(NamedTuple):
    """Shares of the time in which calls were counted, mean over the ranks, and that time in s."""

    inside: float
    imbalance: float
    waiting: float
    overhead: float
    seconds: float


class Profile(NamedTuple):
    """Median shares of several launches, and the number of messages of each size, mean over the ranks."""

    shares: _Shares
    messages: Mapping[int, float]


def fit(known: RunEstimates) -> Iterable[Losses]:
    """Fit one model for each curve with counted calls on the base and on more cores."""
    profiles = dict(_profiles(known))
    clocks = Clocks(known)
    for scaling in known.fitted(Scaling):
        base = profiles.get(known.estimates[scaling.base].case)
        steps = [
            (step, counted)
            for step in scaling.steps
            if not step.copies
            and len(step.estimates) == 1
            and (counted := profiles.get(known.estimates[step.estimates[0]].case))
        ]
        if base and steps and not scaling.grows:
            yield Losses(
                id=f"{LAW}/{scaling.id}",
                of=(scaling.base, *(step.estimates[0] for step, _ in steps)),
                state=scaling.state,
                scaling=scaling.id,
                losses=tuple(
                    loss(step, counted, base, _law(known, step), _slowdown(known, clocks, scaling, step))
                    for step, counted in steps
                ),
                overhead=max(each.shares.overhead for each in (base, *(counted for _, counted in steps))),
            )


def _profiles(known: RunEstimates) -> Iterator[tuple[str, Profile]]:
    """Yield the cases whose ranks were all counted in each complete launch, with their profiles."""
    every = (each for launch in known.run.launches for each in launch.cases)
    complete = [each for each in every if each.end and each.end.status == "complete"]
    for case, records in grouped(complete, lambda each: each.header.case).items():
        counted = [[rank.mpi for rank in each.header.ranks if rank.mpi] for each in records]
        ranks = len(records[0].header.ranks)
        # Several ranks without a counted call pass their messages by calls that are not counted.
        if all(len(each) == ranks and (ranks == 1 or any(one.calls for one in each)) for each in counted):
            yield case, profile(counted)


def profile(launches: Sequence[Sequence[MpiTimes]]) -> Profile:
    """Return the profile of the ranks of each launch."""
    shares = [_shares(ranks) for ranks in launches]
    return Profile(_Shares(*map(median, zip(*shares, strict=True))), _message_numbers(launches[0]))


def _shares(ranks: Sequence[MpiTimes]) -> _Shares:
    seconds = fmean(each.seconds for each in ranks)
    computing = [each.seconds - each.inside for each in ranks]
    waiting = 0.0
    for name, first in ranks[0].calls.items():
        same = [each.calls[name] for each in ranks if name in each.calls and each.calls[name].calls == first.calls]
        if first.kind == "all" and len(same) == len(ranks):
            spent = [each.seconds for each in same]
            waiting += fmean(spent) - min(spent)  # the last rank does not wait
    calls = sum(call.calls for each in ranks for call in each.calls.values())
    return _Shares(
        inside=fmean(each.inside for each in ranks) / seconds,
        imbalance=(max(computing) - fmean(computing)) / seconds,
        waiting=waiting / seconds,
        overhead=calls / len(ranks) * max(each.overhead_s for each in ranks) / seconds,
        seconds=seconds,
    )


def _message_numbers(ranks: Sequence[MpiTimes]) -> Mapping[int, float]:
    """Return the number of messages of each size, mean over the ranks; a collective counts as rounds of a tree."""
    found: Counter[int] = Counter()
    rounds = ceil(log2(len(ranks)))
    for rank in ranks:
        for call in rank.calls.values():
            each = rounds if call.kind in {"all", "collective"} else 1
            for size, number in call.sizes.items():
                found[int(size)] += number * each
    return {size: number / len(ranks) for size, number in found.items()}


def _law(known: RunEstimates, step: Step) -> MessageLaw | None:
    estimate = known.estimates[step.estimates[0]]
    case = next(each for each in known.run.plan.cases if each.id == estimate.case)
    return message_law(known, case, estimate.state)


def _slowdown(known: RunEstimates, clocks: Clocks, scaling: Scaling, step: Step) -> float | None:
    """Return the clock of the base's cores over that of a step's; None where one of them was not measured."""
    base, here = (clocks.of_core(known.estimates[each]) for each in (scaling.base, step.estimates[0]))
    return base.value / here.value if base and here else None


def loss(
    step: Step, counted: Profile, base: Profile, law: MessageLaw | None, slowdown: float | None = None
) -> Loss:
    """Return the loss of a step by cause; `slowdown`: the clock of the base's cores over that of its own."""
    efficiency = step.efficiency.value
    own, of_base = counted.shares, base.shares

    def over_base(share: float, base_share: float) -> float:
        return share - efficiency * base_share

    imbalance = over_base(own.imbalance, of_base.imbalance)
    in_turn = over_base(_in_turn(own), _in_turn(of_base))
    moving = over_base(_messages(own), _messages(of_base))
    slowed = over_base(1 - own.inside, 1 - of_base.inside)
    latency, bandwidth = _by_law(law, counted, moving) if law else (None, None)
    messages = moving if latency is None or bandwidth is None else latency + bandwidth
    computing = (1 - of_base.inside) * efficiency  # of the base, as a share of the time of all cores here
    clock = computing * (slowdown - 1) if slowdown else None
    shared = step.shared
    measured = shared is not None and shared.has_ends
    memory = 0.0 if step.as_full and not measured else None
    if shared and measured and computing * (1 / shared.lo - 1 / shared.hi) <= _WIDEST:
        memory = computing * (1 / shared.value - 1) - (clock or 0.0)
    return Loss(
        estimate=step.estimates[0],
        lost=1 - efficiency,
        in_turn=in_turn + moving - messages,
        imbalance=imbalance,
        messages=messages,
        latency=latency,
        bandwidth=bandwidth,
        clock=clock,
        memory=memory,
        other=slowed - (memory or 0.0) - (clock or 0.0),
    )


def _in_turn(shares: _Shares) -> float:
    """Return the share of waiting beyond the imbalance."""
    return max(0.0, shares.waiting - shares.imbalance)


def _messages(shares: _Shares) -> float:
    return shares.inside - shares.imbalance - _in_turn(shares)


def _by_law(law: MessageLaw, profile: Profile, moving: float) -> tuple[float, float]:
    """Return the shares of latency and of bandwidth, together no more than the time with messages."""
    sizes = np.array([float(size) for size in profile.messages])
    numbers = np.array(list(profile.messages.values()))
    seconds = float(numbers @ law.seconds(sizes)) if sizes.size else 0.0
    started = min(float(numbers.sum()) * law.start.value, seconds)
    most = max(moving, 0.0) * profile.shares.seconds
    scale = min(1.0, most / seconds) / profile.shares.seconds if seconds else 0.0
    return started * scale, (seconds - started) * scale
