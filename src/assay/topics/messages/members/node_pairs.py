"""Each pair of nodes: the estimate of a round of the tournament is that of its slowest pair."""

from collections.abc import Iterator, Sequence

import msgspec

from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.statistics import median_interval
from assay.model.run import Run
from assay.topics.messages.models.node_pairs import by_case, metric_of, names_of, of_blocks, values

_ROUND = "round"


def members(run: Run, measured: Sequence[Measured]) -> Iterator[tuple[str, Measured]]:
    """Yield the id of the estimate of a round, and the figure of one of its pairs of nodes.

    The number of the round is no part of it: the same two nodes may meet in another round of another run.
    """
    rounds = [each for each in measured if each.estimate.benchmark == "pairs" and each.launches]
    recorded = by_case(run) if rounds else {}
    for each in rounds:
        records = of_blocks(each, recorded)
        if not records or len({rank.host for rank in records[0][1].header.ranks}) < len(
            records[0][1].header.ranks
        ):
            continue  # several ranks of a node
        names, metric = names_of(records[0][1].header), metric_of(each.estimate)
        launches = [(block, values(case, metric)) for block, case in records]
        for pair in records[0][1].header.mpi.pairs:
            found = [(block, of[pair]) for block, of in launches if pair in of]
            if found:
                yield each.estimate.id, _of_pair(each, (names[pair[0]], names[pair[1]]), found)


def _of_pair(each: Measured, hosts: tuple[str, str], found: Sequence[tuple[int, float]]) -> Measured:
    estimate, states = each.estimate, {launch.block: launch.state for launch in each.launches}
    places = dict(zip(estimate.placement.hosts, estimate.placement.cpus, strict=True))
    axes = tuple(axis for axis in estimate.measurand.axes if axis.name != _ROUND)
    own = msgspec.structs.replace(
        estimate,
        id=f"{estimate.id}/pair={','.join(hosts)}",
        params={name: value for name, value in estimate.params.items() if name != _ROUND},
        measurand=msgspec.structs.replace(estimate.measurand, axes=axes),
        placement=msgspec.structs.replace(
            estimate.placement, hosts=hosts, cpus=tuple(places.get(host, ()) for host in hosts), laid_out=0
        ),
        value=median_interval([value for _, value in found], estimate.unit),
        launches=len(found),
        limit=None,
        exceeds=None,
        # Of the samples of all pairs of the round.
        mean=None,
        min=None,
        max=None,
        p99=None,
        modes=(),
        precision=None,
    )
    return Measured(own, tuple(LaunchMedian(block, states.get(block), value) for block, value in found))
