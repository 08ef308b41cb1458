"""All pairs of nodes at once over the same pairs one at a time: the share that the network carries."""

from collections.abc import Iterable

from assay.analyse.curves import Curve, RunEstimates, curves, point
from assay.analyse.estimates import Measured
from assay.analyse.statistics import median_interval
from assay.model.law import Model, Point
from assay.model.quantity import Quantity
from assay.topics.messages.models.node_pairs import Recorded, by_case, metric_of, names_of, of_blocks, values

LAW = "fabric"
_SCHEDULE, _ROUND = "schedule", "round"
_ALONE, _LOADED = "one", "all"
#: Two pairs can share a path from this number of nodes on.
_NODES = 4

#: Block -> bytes per second of all pairs of a round, added.
_Sums = dict[int, float]


class Fabric(Model, frozen=True, kw_only=True, tag=LAW):
    """Share of the sum of all pairs that the network carries.

    Attributes:
        all_rounds: rate of all pairs at once over the sum of the pairs one at a time, over all rounds.
        worst_round: the same of the worst round.
        together: rate of all pairs of a round at once, in B/s, mean over the rounds.
        one_at_a_time: the same sum of pairs that pass messages alone.
    """

    all_rounds: Quantity
    worst_round: Quantity
    together: Quantity
    one_at_a_time: Quantity


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each pattern and size of bandwidth with both schedules and one rank per node."""
    bandwidths = [
        each
        for each in known.of("pairs")
        if each.estimate.metric == "bandwidth" and {_SCHEDULE, _ROUND} <= each.estimate.params.keys()
    ]
    recorded = by_case(known.run)
    for curve in curves(bandwidths, _SCHEDULE):
        rounds = _rounds(curve, recorded)
        if rounds:
            yield _model(curve, rounds)


def _rounds(curve: Curve, recorded: Recorded) -> list[tuple[Measured, _Sums, _Sums]]:
    """Return the loaded estimate of each round with the sums of its pairs: at once, and one at a time."""
    of = {(each.estimate.params[_SCHEDULE], each.estimate.params[_ROUND]): each for each in curve.members}
    both = [
        (each, of[_ALONE, number])
        for (schedule, number), each in of.items()
        if schedule == _LOADED and (_ALONE, number) in of
    ]
    found = [(one, _sums(one, recorded), _sums(other, recorded)) for one, other in both]
    return [each for each in found if each[1].keys() & each[2].keys()]


def _sums(member: Measured, recorded: Recorded) -> _Sums:
    """Return the sums of the launches of a round; none where a node has several ranks, which share its card."""
    metric = metric_of(member.estimate)
    return {
        block: sum(values(records, metric).values())
        for block, records in of_blocks(member, recorded)
        if len(records.header.ranks) >= _NODES
        and {*names_of(records.header).values()} == {rank.host for rank in records.header.ranks}
    }


def _model(curve: Curve, rounds: list[tuple[Measured, _Sums, _Sums]]) -> Model:
    points = [_point(member, loaded, alone) for member, loaded, alone in rounds]
    blocks = sorted({block for _, loaded, alone in rounds for block in loaded.keys() & alone.keys()})
    sums = [
        [(loaded[block], alone[block]) for _, loaded, alone in rounds if block in loaded and block in alone]
        for block in blocks
    ]
    together = [sum(one for one, _ in each) / len(each) for each in sums]
    one_by_one = [sum(one for _, one in each) / len(each) for each in sums]
    shares = [one / other for one, other in zip(together, one_by_one, strict=True)]
    return Fabric(
        **curve._replace(members=tuple(member for member, _, _ in rounds)).identity(LAW),
        points=tuple(points),
        all_rounds=median_interval(shares),
        worst_round=min(points, key=lambda each: each.value.value).value,
        together=median_interval(together, "B/s"),
        one_at_a_time=median_interval(one_by_one, "B/s"),
    )


def _point(member: Measured, loaded: _Sums, alone: _Sums) -> Point:
    """Return the share of a round: median over its blocks, and its interval (the range of fewer than 6)."""
    blocks = sorted(loaded.keys() & alone.keys())
    share = median_interval([loaded[block] / alone[block] for block in blocks])
    at = {"round": member.estimate.params[_ROUND], "blocks": len(blocks)}
    return point(member.estimate, at, None, share)
