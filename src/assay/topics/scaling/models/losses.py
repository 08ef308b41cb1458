"""Where the time of more cores goes that they do not work for: divided by what ranks were counted to do in MPI."""

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
#: Copies whose ends allow a wider range of memory's share do not tell it from other causes; nor does one pair.
_WIDEST = 0.2


class Loss(msgspec.Struct, frozen=True):
    """What becomes of the time of all cores at one placement, as shares of it; they add up to `lost`.

    Each is beyond what the base loses the same way. A share below 0 is a gain.

    Attributes:
        estimate: id.
        lost: one less the efficiency.
        in_turn: ranks wait beyond what imbalance explains: now one works alone, then another. With a law of
            messages also what these take beyond it: their partner comes late, or a network is contended.
        imbalance: ranks wait for the one that computes longest.
        messages: they pass messages.
        latency: of these what the law of messages gives for their number; None without a law.
        bandwidth: of these what it gives for their bytes.
        clock: they compute at a lower clock, as that of their cores under load says; None where it is not known.
        memory: they compute slower beside each other, as copies do that share nothing else, beyond the clock; on
            nodes as full as the base it is what nodes differ by, and 0 without copies. None without copies on
            fuller nodes, and where their ends are too far apart to tell it.
        other: slower computing for causes that nobody told apart.
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
        scaling: id of that model.
        losses: of each placement whose ranks were counted, fewest cores first.
        overhead: largest share of the time that counting took, as the ranks measured it.
    """

    scaling: str
    losses: tuple[Loss, ...]
    overhead: float


class _Shares(NamedTuple):
    """What a rank did in MPI, as shares of the time between its begin and its end: the mean over the ranks."""

    inside: float
    imbalance: float
    waiting: float
    overhead: float
    seconds: float


class Profile(NamedTuple):
    """The same of several launches, and the messages of a mean rank: size -> number."""

    shares: _Shares
    messages: Mapping[int, float]


def fit(known: RunEstimates) -> Iterable[Losses]:
    """One model for each curve on whose base, and on some more cores, the ranks were counted."""
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
    """Case -> profile, of those whose ranks were all counted in each complete launch."""
    every = (each for launch in known.run.launches for each in launch.cases)
    complete = [each for each in every if each.end and each.end.status == "complete"]
    for case, records in grouped(complete, lambda each: each.header.case).items():
        counted = [[rank.mpi for rank in each.header.ranks if rank.mpi] for each in records]
        ranks = len(records[0].header.ranks)
        # Who has others to talk to, and calls nothing that is counted, talks by ways that nobody counts.
        if all(len(each) == ranks and (ranks == 1 or any(one.calls for one in each)) for each in counted):
            yield case, profile(counted)


def profile(launches: Sequence[Sequence[MpiTimes]]) -> Profile:
    """Of the ranks of each launch."""
    shares = [_shares(ranks) for ranks in launches]
    return Profile(_Shares(*map(median, zip(*shares, strict=True))), _messages(launches[0]))


def _shares(ranks: Sequence[MpiTimes]) -> _Shares:
    seconds = fmean(each.seconds for each in ranks)
    computing = [each.seconds - each.inside for each in ranks]
    waiting = 0.0
    for name, first in ranks[0].calls.items():
        same = [each.calls[name] for each in ranks if name in each.calls and each.calls[name].calls == first.calls]
        if first.kind == "all" and len(same) == len(ranks):
            spent = [each.seconds for each in same]
            waiting += fmean(spent) - min(spent)  # the one that comes last waits for nobody
    calls = sum(call.calls for each in ranks for call in each.calls.values())
    return _Shares(
        inside=fmean(each.inside for each in ranks) / seconds,
        imbalance=(max(computing) - fmean(computing)) / seconds,
        waiting=waiting / seconds,
        overhead=calls / len(ranks) * max(each.overhead_s for each in ranks) / seconds,
        seconds=seconds,
    )


def _messages(ranks: Sequence[MpiTimes]) -> Mapping[int, float]:
    """Of a mean rank; a collective operation counts as the rounds of a tree, as assumed."""
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
    """The clock of the base's cores over that of a step's; None where one of them was not measured."""
    base, here = (clocks.of_core(known.estimates[each]) for each in (scaling.base, step.estimates[0]))
    return base.value / here.value if base and here else None


def loss(
    step: Step, counted: Profile, base: Profile, law: MessageLaw | None, slowdown: float | None = None
) -> Loss:
    """The loss of a step, divided; `slowdown` is the clock of the base's cores over that of its own."""
    efficiency = step.efficiency.value
    here, before = counted.shares, base.shares

    def beyond(share: float, of_base: float) -> float:
        return share - efficiency * of_base

    imbalance = beyond(here.imbalance, before.imbalance)
    in_turn = beyond(_in_turn(here), _in_turn(before))
    moving = beyond(_moving(here), _moving(before))
    slower = beyond(1 - here.inside, 1 - before.inside)
    latency, bandwidth = _by_law(law, counted, moving) if law else (None, None)
    messages = moving if latency is None or bandwidth is None else latency + bandwidth
    computing = (1 - before.inside) * efficiency  # of the base, as a share of the time of all cores here
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
        other=slower - (memory or 0.0) - (clock or 0.0),
    )


def _in_turn(shares: _Shares) -> float:
    """What ranks wait beyond what the longest computing of one explains."""
    return max(0.0, shares.waiting - shares.imbalance)


def _moving(shares: _Shares) -> float:
    return shares.inside - shares.imbalance - _in_turn(shares)


def _by_law(law: MessageLaw, profile: Profile, moving: float) -> tuple[float, float]:
    """Shares of latency and of bandwidth: no more than was spent with messages."""
    sizes = np.array([float(size) for size in profile.messages])
    numbers = np.array(list(profile.messages.values()))
    seconds = float(numbers @ law.seconds(sizes)) if sizes.size else 0.0
    started = min(float(numbers.sum()) * law.start.value, seconds)
    most = max(moving, 0.0) * profile.shares.seconds
    scale = min(1.0, most / seconds) / profile.shares.seconds if seconds else 0.0
    return started * scale, (seconds - started) * scale
