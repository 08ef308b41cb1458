"""What every pair of many ranks gets, in the rounds of a tournament."""

from collections import Counter
from collections.abc import Iterable

from assay import benchmarks
from assay.analyse.curves import Curve, Known, curves, point
from assay.analyse.estimates import Measured, value
from assay.analyse.statistics import median_interval, medians
from assay.model.benchmark import Metric
from assay.model.record import Header
from assay.model.result import Estimate, Model, Point
from assay.model.run import CaseRecords, LaunchRecords

LAW = "node-pairs"

#: Two ranks, the lower one first.
Pair = tuple[int, int]


def fit(known: Known) -> Iterable[Model]:
    """One model for all rounds of a pattern, size and schedule."""
    for curve in curves(known.of("pairs")):
        points = [each for member in curve.members for each in _points(member, known)]
        if points:
            yield _model(curve, points)


def values(records: CaseRecords, metric: Metric) -> dict[Pair, float]:
    """What each pair of a round got in a launch: by the median of its samples, of the slower rank of two."""
    seconds = {
        series.rank: float(medians(series.seconds)) / series.iterations
        for series in records.series
        if series.phase == "measured" and series.seconds
    }
    work = records.header.work.get("message", {})
    timed = {pair: [seconds[rank] for rank in pair if rank in seconds] for pair in met(records.header)}
    return {pair: value(metric, max(found), work) for pair, found in timed.items() if found and max(found) > 0}


def met(header: Header) -> list[Pair]:
    """The pairs of a round, as the program names them: `0-3 1-2`."""
    pairs = (pair.partition("-") for pair in header.mpi.get("way", "").split())
    return [(int(first), int(second)) for first, _, second in pairs]


def _model(curve: Curve, points: list[Point]) -> Model:
    """Parameters: over all pairs the median of their medians, the least and the largest."""
    found = [each.value[0] for each in points]
    middle = float(medians(found))
    of = tuple(each.estimate.id for each in curve.members)
    held = tuple(Point(each.estimate, each.at, each.value, each.value[0] / middle) for each in points)
    residual = max(abs(each / middle - 1) for each in found)
    parameters = {"all pairs": (middle, min(found), max(found))}
    return Model("/".join([LAW, *curve.marks]), LAW, of, parameters, residual, points=held)


def _points(member: Measured, known: Known) -> Iterable[Point]:
    """The pairs of one round: median over launches, and its interval (the range of fewer than 6)."""
    estimate = member.estimate
    records = of_blocks(member, known)
    if not records:
        return
    header, metric = records[0][1].header, metric_of(estimate)
    launches = [values(each, metric) for _, each in records]
    names = names_of(header)
    for pair in met(header):
        interval = median_interval([launch[pair] for launch in launches if pair in launch])
        at = {"a": names[pair[0]], "b": names[pair[1]], "round": estimate.params["round"]}
        yield point(estimate, at, None, (interval.median, interval.lo, interval.hi))


def metric_of(estimate: Estimate) -> Metric:
    """The declared metric of an estimate."""
    return next(each for each in benchmarks.get(estimate.benchmark).metrics if each.name == estimate.metric)


def of_blocks(member: Measured, known: Known) -> list[tuple[int, CaseRecords]]:
    """What an estimate rests on: the number of the block and the case's records, of each launch that counts."""
    return [
        (launch.launch.block, case)
        for launch in _used(member, known)
        for case in launch.cases
        if _complete(case, member.estimate)
    ]


def _used(member: Measured, known: Known) -> Iterable[LaunchRecords]:
    """Launches of the blocks that the estimate rests on: of each the quiet attempts, all where none was quiet."""
    blocks = {launch.block for launch in member.launches}
    having = [
        launch
        for launch in known.run.launches
        if launch.launch.block in blocks and any(_complete(case, member.estimate) for case in launch.cases)
    ]
    quiet = {launch.launch.id for launch in having if not launch.launch.bracket.disturbance}
    return [launch for launch in having if launch.launch.id not in quiet or not launch.launch.bracket.disturbance]


def _complete(case: CaseRecords, estimate: Estimate) -> bool:
    return case.header.case == estimate.case and case.end is not None and case.end.status == "complete"


def names_of(header: Header) -> dict[int, str]:
    """Rank -> its host, with its number where a host has several."""
    several = Counter(rank.host for rank in header.ranks)
    return {
        rank.rank: rank.host if several[rank.host] == 1 else f"{rank.host} ({rank.rank})" for rank in header.ranks
    }
