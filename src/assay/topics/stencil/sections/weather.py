"""Dry air in a plane: its rate compared with the memory limit, and the time of a step by part."""

from collections.abc import Iterable

from assay.model import roles
from assay.model.benchmark import UNCOUPLED, works_together
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import formatting, solution
from assay.report.declared import Scene
from assay.report.solution import Column, Solutions

_TILE = "tile"
_PHASE = {"tendencies": text("computing"), "halo": text("messages"), "other": text("other")}


def _name(e: Estimate) -> str:
    """Return `1600 x 800, all`."""
    columns = int(e.params.get("nx", 0))  # an import may not state it
    parts = roles.level_of(e, "copies") == UNCOUPLED  # earlier versions measured copies
    apart = text("parts without messages") if parts else text("independent copies")
    copies = "" if works_together(e.params) else apart
    usual = next((axis.default for axis in e.declared.axes if axis.name == _TILE), None)
    tile = e.params.get(_TILE, usual)
    tiles = "" if tile == usual else text("tiles of {columns} columns", columns=str(tile))
    return joined(", ", [f"{columns} x {columns // 2}" if columns else "", solution.placed(e, copies), tiles])


def _of(head: str, metric: str) -> Column:
    return Column(head, lambda scene, e: formatting.shown(solution.metrics(scene, e).get(metric)).plain)


def _sentences(scene: Scene, best: Estimate) -> Iterable[str]:
    yield text("The best rate is {figure}: {name}.", figure=formatting.shown(best).short, name=_name(best))
    yield solution.largest_share(scene, "halo", _name)


declared = Solutions(
    order=49,
    id="weather",
    benchmark="weather",
    introduction=text(
        "A bubble of warm air rises in a vertical plane. As in weather codes, cells hold dry air that flows "
        "through their borders. A step is a sweep along x and a sweep along z, with three stages each. In each "
        "stage along x, neighbouring ranks exchange two columns. A stage reads and writes all cells, so memory "
        "limits the rate if the caches do not hold them. Mass, energy, symmetry and the first steps are checked: "
        "a solution that fails gives no figure."
    ),
    name=_name,
    label=lambda e: text("Weather, {where}", where=_name(e)),
    chart=text("Rate of the weather code"),
    phases=_PHASE,
    phases_caption=text(
        "Where the time of a solution goes, mean over the ranks. Waiting for neighbours counts as messages; "
        "threads that wait for each other count as other."
    ),
    caption=text("Solutions, each verified"),
    solution=text("Plane"),
    columns=(
        solution.level(text("Steps"), "time-steps"),
        *solution.RATE,
        _of(text("Time of a step"), "step"),
        _of(text("Operations"), "arithmetic"),
        _of(text("Traffic"), "traffic"),
        solution.OF_LIMIT,
    ),
    sentences=_sentences,
).declared()
