"""Curves of the published systems as small data inside a page: its reader lays them beside a figure."""

from functools import cache
from typing import Any

from assay import references
from assay.model.imported import Figure, Table
from assay.report import messages


@cache
def curves() -> tuple[dict[str, Any], ...]:
    """System, way, pattern, source and points [bytes, value in SI units, as printed] of each published curve.

    A curve may have a single point. Figures of which no size of messages is stated lie on none.
    """
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for name in references.names():
        for table in references.get(name).tables:
            for figure in table.figures if table.benchmark in messages.BY else ():
                _add(found, name, table, figure)
    return tuple(found.values())


def _add(found: dict[tuple[str, ...], dict[str, Any]], name: str, table: Table, figure: Figure) -> None:
    params = table.params | figure.params
    pattern, size = str(params.get("pattern", "")), params.get("bytes")
    metric = messages.LATENCY if pattern == messages.LATENCY else messages.ONE
    if pattern not in {messages.LATENCY, messages.ONE, messages.BOTH} or figure.metric != metric:
        return
    if not isinstance(size, int) or size <= 0 or figure.value <= 0:
        return
    way = ", ".join(
        [messages.partners(table.placement), *(f"{key} {level}" for key, level in table.factors.items())]
    )
    curve = found.setdefault(
        (name, table.benchmark, pattern, way),
        {
            "system": name,
            "way": way,
            "pattern": pattern,
            "source": table.source,
            "where": table.where,
            "points": [],
        },
    )
    curve["points"].append([size, figure.value, figure.printed])
