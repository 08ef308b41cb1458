"""Curves of the published systems as small data inside a page: its reader can add them to a figure."""

from functools import cache
from typing import Any

from assay import references
from assay.catalogue import benchmarks
from assay.model import roles
from assay.model.imported import Figure, Table
from assay.report import messages


@cache
def curves() -> tuple[dict[str, Any], ...]:
    """Return system, path, pattern, source and points [bytes, value in SI units, as printed] of each curve.

    A curve may have a single point. Figures without a size of messages are on no curve.
    """
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for name in references.names():
        for table in references.get(name).tables:
            for figure in table.figures if table.benchmark in messages.BY else ():
                _add(found, name, table, figure)
    return tuple(found.values())


def _add(found: dict[tuple[str, ...], dict[str, Any]], name: str, table: Table, figure: Figure) -> None:
    params, declared = table.params | figure.params, benchmarks.of(table.benchmark)
    pattern = str(roles.level(declared, params, "message-pattern") or "")
    size = roles.level(declared, params, "message-size")
    metric = roles.metric(declared, figure.kernel, figure.metric)
    wanted = "message-time" if pattern == messages.LATENCY else "message-bandwidth"
    if pattern not in {messages.LATENCY, messages.ONE, messages.BOTH} or metric is None or metric.role != wanted:
        return
    if not isinstance(size, int) or size <= 0 or figure.value <= 0:
        return
    path = ", ".join(
        [messages.between(table.placement, ()), *(f"{key} {level}" for key, level in table.factors.items())]
    )
    of = {"system": name, "path": path, "pattern": pattern, "source": table.source, "where": table.where}
    curve = found.setdefault((name, table.benchmark, pattern, path), {**of, "points": []})
    curve["points"].append([size, figure.value, figure.printed])
