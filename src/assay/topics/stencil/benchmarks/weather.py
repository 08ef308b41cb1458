"""Dry air in a vertical plane, by the equations of miniWeather: a warm bubble rises, over ranks and threads."""

from collections.abc import Iterable

from assay.model.benchmark import Axis, Benchmark, Metric, Params, Resources
from assay.model.declarations import coupling, phase_times, sharing_ranks, traffic
from assay.model.growth import Exchange, Growth, Message, Values
from assay.model.placement import Placement

#: Of one cell in one step, as the program does it: docs/methods/weather.md counts them.
FLOPS, TRAFFIC_BYTES = 540, 640
#: Exchanges of a step, and bytes of a message for each row of cells: two columns of four numbers.
EXCHANGES, ROW_BYTES = 3, 64

#: Cells along x to choose from.
_PLANES = (400, 1600, 6400)
#: Updates of cells in a solution, more or less, and steps in which 400 s pass for each cell along x.
_UPDATES, _STEPS_OF_CELL = 1.2e7, 6
#: Rate of one core, update/s, and how long a solution of a plane may take by it, s: assumptions for plans only.
_RATE, _LONGEST_S = 1e7, 1.3
#: The checks: steps on all cells, and on each row of two strips by a plain program, s.
_CHECKED_STEPS, _ROW_S = 4, 4e-4
#: Numbers of a cell in three states.
CELL_BYTES = 96
#: Columns and rows around the cells of a rank, and bytes of a row in the strips of the checks.
_AROUND, _STRIP_BYTES = (26, 4), 20_000
#: Memory of a host that planes may fill.
_SHARE = 0.8
_FEWEST_COLUMNS = 8

#: What a solution consists of.
PHASES = {
    "tendencies": "what threads compute, the mean of those of a rank",
    "halo": "columns that neighbours pass each other, waiting included",
    "other": "the rest: threads that wait for each other, walls, and with one rank both ends of the plane",
}


def cells(columns: int) -> int:
    """Of a plane with so many along x."""
    return columns * (columns // 2)


def _steps(columns: int) -> int:
    """As many as make some million updates, an even number; no more than 400 s have."""
    return min(_STEPS_OF_CELL * columns, 2 * max(1, round(_UPDATES / cells(columns) / 2)))


def _points(resources: Resources, params: Params) -> Iterable[Params]:
    """Planes as far as memory and patience go, with the steps of a short solution; one that is wanted stays."""
    placement = resources.placement
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
    """Of the rank with most columns."""
    columns, rows = -(-int(params["nx"]) // sharing_ranks(params, placement)), int(params["nx"]) // 2
    beside, above = _AROUND
    return CELL_BYTES * (columns + beside) * (rows + above) + _STRIP_BYTES * rows


def _setup_seconds(params: Params) -> float:
    """A solution is made and checked before others count."""
    columns = int(params["nx"])
    steps = int(params["time-steps"]) + _CHECKED_STEPS
    return 0.1 + steps * cells(columns) / _RATE + _ROW_S * (columns // 2)


def _larger(problem: Values, times: float) -> Values:
    """A plane of so many times the cells; the number of columns is even."""
    return {"nx": 2 * round(int(problem["nx"]) * times**0.5 / 2)}


def _exchange(params: Values, placement: Placement) -> Exchange:
    """Of one step: two columns to each of two neighbours in each stage along x, one after the other."""
    columns = int(params["nx"])
    several = sharing_ranks(params, placement) > 1
    message = Message(EXCHANGES, 2 * ROW_BYTES * (columns // 2))
    return Exchange(float(cells(columns)), (message,) if several else ())


benchmark = Benchmark(
    name="weather",
    title="Weather (dry air in a plane)",
    measures="the rate at which all ranks and threads of a placement move dry air in a vertical plane on in time, "
    "by the equations of miniWeather",
    source="M. R. Norman, miniWeather, Oak Ridge National Laboratory: its documentation",
    program="weather",
    kernels=("rate", *PHASES),
    axes=(
        Axis(
            "nx",
            "cells along x, an even number; half as many along z",
            (100, 400, 1600, 6400),
            None,
            identifies=True,
        ),
        Axis("time-steps", "steps of a solution", (12, 60, 150, 600), None),
        coupling("all ranks work on one plane", "each on a plane of its own"),
        Axis("tile", "columns that a thread works on at once", (32, 256, 2048), 2048),
    ),
    metrics=(
        Metric(
            "rate",
            "update/s",
            "higher",
            "updates",
            "cells that are moved on by one step, of all ranks together",
            limit="roofline",
            kernels=("rate",),
            role="solution-rate",
        ),
        Metric(
            "step",
            "s",
            "lower",
            "steps",
            "time of one step of the plane: of its solution over the number of steps",
            kernels=("rate",),
            role="step-time",
        ),
        Metric(
            "arithmetic",
            "flop/s",
            "higher",
            "flops",
            "540 floating-point operations for each cell and step, as the program does them",
            limit="roofline",
            kernels=("rate",),
            role="solution-flop-rate",
        ),
        traffic(
            "640 B for each cell and step: what memory must move if caches keep no array from stage to stage",
            kernels=("rate",),
        ),
        *phase_times(PHASES),
    ),
    memory_bytes=_memory_bytes,
    points=_points,
    setup_seconds=_setup_seconds,
    launcher="mpi",
    max_rank_cpus=None,
    growth=Growth({"nx": (400, 1600)}, _larger, _exchange),
)
