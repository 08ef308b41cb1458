"""Dry air in a vertical plane, by the equations of miniWeather: a warm bubble rises; ranks and threads."""

from collections.abc import Iterable

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import (
    Benchmark,
    Exchange,
    Growth,
    Message,
    Resources,
    Values,
    sharing_ranks,
    works_together,
)
from assay.model.declaration import Params
from assay.model.placement import Placement

#: Exchanges of a step, and bytes of a message for each row of cells: two columns of four numbers.
EXCHANGES, ROW_BYTES = 3, 64

#: Cells along x to choose from.
_PLANES = (400, 1600, 6400)
#: Approximate updates of cells in a solution, and the steps of 400 s for each cell along x.
_UPDATES, _STEPS_OF_CELL = 1.2e7, 6
#: Rate of one core, update/s, and longest time of a solution at this rate, s: assumptions for plans only.
_RATE, _LONGEST_S = 1e7, 1.3
#: Checks: steps on all cells, and time per row of two strips in a plain program, s.
_CHECKED_STEPS, _ROW_S = 4, 4e-4
#: Numbers of a cell in three states.
CELL_BYTES = 96
#: Columns and rows of the border of a rank, and bytes of a row in the strips of the checks.
_AROUND, _STRIP_BYTES = (26, 4), 20_000
#: Share of the memory of a host that planes may fill.
_SHARE = 0.8
_FEWEST_COLUMNS = 8


def cells(columns: int) -> int:
    """Return the cells of a plane with this number of columns."""
    return columns * (columns // 2)


def _steps(columns: int) -> int:
    """Return an even number of steps that make some million updates; at most those of 400 s."""
    return min(_STEPS_OF_CELL * columns, 2 * max(1, round(_UPDATES / cells(columns) / 2)))


def _points(resources: Resources, params: Params) -> Iterable[Params]:
    """Choose planes that fit memory and time, with the steps of a short solution; a requested one is kept.

    The part of one rank is the whole plane: there is nothing to uncouple.
    """
    placement = resources.placement
    if not works_together(params) and sharing_ranks(params, placement) == 1:
        return
    cores = sum(map(len, placement.rank_cpus))
    for columns in (int(params["nx"]),) if "nx" in params else _PLANES:
        point = {"nx": columns, "time-steps": _steps(columns)}
        host_bytes = placement.most_ranks * _memory_bytes({**params, **point}, placement)
        updates = cells(columns) * point["time-steps"]
        fits = (
            host_bytes <= _SHARE * resources.memory_bytes
            and updates <= _LONGEST_S * _RATE * cores
            and _FEWEST_COLUMNS * sharing_ranks(params, placement) <= columns
        )
        if fits or "nx" in params:
            yield point


def _memory_bytes(params: Params, placement: Placement) -> int:
    """Return the memory of the rank with most columns."""
    columns, rows = -(-int(params["nx"]) // sharing_ranks(params, placement)), int(params["nx"]) // 2
    border_columns, border_rows = _AROUND
    return CELL_BYTES * (columns + border_columns) * (rows + border_rows) + _STRIP_BYTES * rows


def _setup_seconds(params: Params) -> float:
    """Return the seconds of a first solution, which is checked."""
    columns = int(params["nx"])
    steps = int(params["time-steps"]) + _CHECKED_STEPS
    return 0.1 + steps * cells(columns) / _RATE + _ROW_S * (columns // 2)


def _exchange(params: Values, placement: Placement) -> Exchange:
    """Return the messages of one step: two columns to each of two neighbours in each stage along x, in turn."""
    columns = int(params["nx"])
    several = works_together(params) and sharing_ranks(params, placement) > 1
    message = Message(2 * EXCHANGES, ROW_BYTES * (columns // 2))
    return Exchange(float(cells(columns)), (message,) if several else ())


benchmark = Benchmark(
    **declared("weather"),
    memory_bytes=_memory_bytes,
    points=_points,
    setup_seconds=_setup_seconds,
    growth=Growth(_exchange),
)
