"""Messages between every pair of many ranks, in the rounds of a tournament."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from assay.analyse.curves import Curve, RunEstimates, curves, point, spread
from assay.analyse.estimates import Measured, value
from assay.analyse.statistics import median_intervals, medians
from assay.model.declaration import Metric
from assay.model.grouping import grouped
from assay.model.law import Model, Point
from assay.model.quantity import Quantity
from assay.model.record import Header, Launch
from assay.model.result import Estimate
from assay.model.run import CaseRecords, Run
from assay.model.samples import PHASES, table_of

LAW = "node-pairs"

#: Two ranks, the lower one first.
Pair = tuple[int, int]
#: Case -> its launches and their records.
Recorded = Mapping[str, Sequence[tuple[Launch, CaseRecords]]]


class NodePairs(Model, frozen=True, kw_only=True, tag=LAW):
    """Figures of all pairs of ranks.

    Attributes:
        all_pairs: median of the medians of all pairs, with the least and the largest.
    """

    all_pairs: Quantity


def fit(known: RunEstimates) -> Iterable[NodePairs]:
    """Fit one model for all rounds of a pattern, size and schedule."""
    recorded = by_case(known.run)
    for curve in curves(known.of("pairs")):
        points = [each for member in curve.members for each in _points(member, recorded)]
        if points:
            yield _model(curve, points)


def values(records: CaseRecords, metric: Metric) -> dict[Pair, float]:
    """Return the figure of each pair of a round in a launch: by the median sample of the slower rank."""
    table = table_of(records.series)
    seconds: dict[int, float] = {}
    rows = np.flatnonzero((table.phase == PHASES.index("measured")) & (table.counts > 0))
    for count in np.unique(table.counts[rows]):
        equal = rows[table.counts[rows] == count]
        middles = medians(table.block(equal)) / table.iterations[equal]
        seconds |= zip(table.rank[equal].tolist(), middles.tolist(), strict=True)
    work = records.header.work.get("message", {})
    timed = {pair: [seconds[rank] for rank in pair if rank in seconds] for pair in records.header.mpi.pairs}
    return {pair: value(metric, max(found), work) for pair, found in timed.items() if found and max(found) > 0}


def _model(curve: Curve, points: list[Point]) -> NodePairs:
    found = [each.value.value for each in points]
    usual = spread(found, curve.members[0].estimate.unit)
    return NodePairs(
        **curve.identity(LAW),
        residual=max(abs(each / usual.value - 1) for each in found),
        points=tuple(Point(each.estimate, each.at, each.value, each.value.value / usual.value) for each in points),
        all_pairs=usual,
    )


def _points(member: Measured, recorded: Recorded) -> Iterable[Point]:
    """Yield the pairs of one round: median over launches, and its interval (the range of fewer than 6)."""
    estimate = member.estimate
    records = of_blocks(member, recorded)
    if not records:
        return
    header, metric = records[0][1].header, metric_of(estimate)
    launches = [values(each, metric) for _, each in records]
    names = names_of(header)
    pairs = header.mpi.pairs
    held = [np.array([launch[pair] for launch in launches if pair in launch]) for pair in pairs]
    for pair, quantity in zip(pairs, median_intervals(held, estimate.unit), strict=True):
        at = {"a": names[pair[0]], "b": names[pair[1]], "round": estimate.params["round"]}
        yield point(estimate, at, None, quantity)


def metric_of(estimate: Estimate) -> Metric:
    """Return the declared metric of an estimate."""
    return next(each for each in estimate.declared.metrics if each.name == estimate.metric)


def by_case(run: Run) -> Recorded:
    """Case -> its launches and their complete records of it."""
    every = ((launch.launch, case) for launch in run.launches for case in launch.cases)
    complete = ((launch, case) for launch, case in every if case.end and case.end.status == "complete")
    return grouped(complete, lambda each: each[1].header.case)


def of_blocks(member: Measured, recorded: Recorded) -> list[tuple[int, CaseRecords]]:
    """Return the records behind an estimate: the number of the block and the records of the case, for each launch.

    The quiet attempts count; all of them where none was quiet.
    """
    blocks = {launch.block for launch in member.launches}
    having = [each for each in recorded.get(member.estimate.case, ()) if each[0].block in blocks]
    quiet = {launch.id for launch, _ in having if not launch.bracket.disturbance}
    return [
        (launch.block, case) for launch, case in having if launch.id not in quiet or not launch.bracket.disturbance
    ]


def names_of(header: Header) -> dict[int, str]:
    """Rank -> its host, with the number of the rank where a host has several."""
    several = Counter(rank.host for rank in header.ranks)
    return {
        rank.rank: rank.host if several[rank.host] == 1 else f"{rank.host} ({rank.rank})" for rank in header.ranks
    }
