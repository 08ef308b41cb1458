"""One-sided access to the memory of another rank."""

from collections.abc import Iterable

from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import formatting, messages, operations, selection
from assay.report.declared import Scene
from assay.report.section import Table, headings


def _by_synchronisation(scene: Scene) -> Iterable[Table]:
    """Compare the small message: a row for each operation and place, a column for each synchronisation."""
    latencies = [e for e in scene.measured if e.metric == "latency"]
    modes = list(dict.fromkeys(map(_synchronisation, latencies)))
    if len(modes) <= 1:
        return
    small = min(map(messages.size, latencies))
    groups = selection.grouped((e for e in latencies if messages.size(e) == small), _row)
    by_mode = {row: {_synchronisation(e): e for e in reversed(members)} for row, members in groups.items()}
    rows = tuple((*row, *(formatting.shown(by.get(mode)).short for mode in modes)) for row, by in by_mode.items())
    columns = (*headings("Operation", "Between"), *modes)
    caption = text("Cost of each synchronisation: one transfer, one way, until the target sees it")
    numeric = frozenset(range(2, len(columns)))
    yield Table(joined(", ", (caption, formatting.param(small, "B"))), columns, rows, numeric)


def _synchronisation(estimate: Estimate) -> str:
    mode = estimate.params.get("synchronisation")
    return text("not stated") if mode is None else str(mode)


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
