"""One-sided access to the memory of another rank."""

from collections.abc import Iterable

from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import formatting, messages, selection
from assay.report.declared import Scene
from assay.report.section import Table, headings
from assay.topics.messages import operations


def _by_synchronisation(scene: Scene) -> Iterable[Table]:
    """The small message: a row for each operation and place, a column for each way to synchronise."""
    latencies = [e for e in scene.measured if e.metric == "latency"]
    ways = list(dict.fromkeys(map(_way, latencies)))
    if len(ways) <= 1:
        return
    small = min(map(messages.size, latencies))
    groups = selection.grouped((e for e in latencies if messages.size(e) == small), _row)
    of_way = {row: {_way(e): e for e in reversed(members)} for row, members in groups.items()}
    rows = tuple((*row, *(formatting.shown(by.get(way)).short for way in ways)) for row, by in of_way.items())
    columns = (*headings("Operation", "Between"), *ways)
    caption = text("Cost of each synchronisation: one transfer, one way, until the target sees it")
    numeric = frozenset(range(2, len(columns)))
    yield Table(joined(", ", (caption, formatting.param(small, "B"))), columns, rows, numeric)


def _way(estimate: Estimate) -> str:
    way = estimate.params.get("synchronisation")
    return text("not stated") if way is None else str(way)


def _row(estimate: Estimate) -> tuple[str, str]:
    levels = (selection.levels(estimate, [*estimate.factors]), selection.state(estimate))
    what = joined(", ", [operations.operation(estimate), *levels])
    return what, messages.where(estimate)


declared = operations.declared(
    65,
    "onesided",
    text(
        "One rank writes or reads the memory of another rank. The target is passive (flush, lock) or opens its "
        "memory each time (fence, pscw). A time ends when the target can see the data, not when the call returns."
    ),
    (_by_synchronisation,),
)
