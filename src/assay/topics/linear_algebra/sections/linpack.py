"""LINPACK 100 and 1000: rates of compiled plain loops and of the library, and the cache of each matrix."""

from collections.abc import Iterable

from assay.analyse.curves import machine_of
from assay.model.result import Analysis, Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, selection
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Headline, headings

_DOUBLE_BYTES = 8
_FORTRAN = "linpack_fortran"


def _with_fortran(analysis: Analysis, plain: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    return (*plain, *selection.middle(selection.headline_metric(selection.of_benchmark(analysis, _FORTRAN))))


def _number(e: Estimate, axis: str) -> int:
    """Return the value on an axis; 0 where a published figure does not state it."""
    value = e.params.get(axis)
    return value if isinstance(value, int) else 0


def _system(e: Estimate) -> str:
    """Return `n 100, leading 201`, with the place if it is not one core, or if nothing else is known."""
    known = [f"{axis} {value}" for axis in ("n", "leading") if (value := _number(e, axis))]
    return joined(", ", [*known, "" if known and e.placement.label == "one-core" else formatting.placed(e)])


def _how(e: Estimate) -> str:
    """Return `plain` or `Fortran`; empty where a published figure does not state it."""
    method = "Fortran" if e.benchmark == _FORTRAN else str(e.params.get("method", ""))
    return joined(", ", [method, *e.factors.values(), selection.state(e)])


def _title(e: Estimate) -> str:
    """Return `LINPACK 100, plain`, with the place if it is not one core, or if the order is not known."""
    n = _number(e, "n")
    place = "" if n and e.placement.label == "one-core" else formatting.placed(e)
    return joined(", ", [f"LINPACK {n}" if n else "LINPACK", place, _how(e)])


def _charts(scene: Scene) -> Iterable[Figure]:
    """Draw a row for each order and leading dimension, with a mark for each method."""
    ordered = tuple(sorted(scene.measured, key=lambda e: (_number(e, "n"), _number(e, "leading"))))
    if ordered:
        title, usual = text("Rate of the solution"), text("rate")
        yield figures.placements(ordered, "figure-linpack", title, _system, lambda e: _how(e) or usual)


def _cache(scene: Scene, e: Estimate) -> str:
    """Return the nearest cache that holds the matrix, `L2`, or `memory`; empty if machine or size is unknown."""
    machine = machine_of(e, scene.run.machines)
    size = _DOUBLE_BYTES * _number(e, "n") * _number(e, "leading")
    if machine is None or not size:
        return ""
    caches = machine.topology.data_caches({cpu for each in e.placement.cpus for cpu in each})
    level = min((c.level for c in caches if c.size_bytes >= size), default=0)
    return f"L{level}" if level else text("memory")


def _cells(scene: Scene, e: Estimate) -> tuple[str, ...]:
    figure = formatting.shown(e)
    loaded = e.placement.proven.libraries if e.placement.proven else {}
    return (
        _how(e) or text("not stated"),
        str(_number(e, "n") or ""),
        str(_number(e, "leading") or ""),
        formatting.placed(e),
        _cache(scene, e),
        figure.plain,
        figure.ends,
        formatting.share_cell(e),
        joined(", ", [of.get("kernel", of.get("version", "")) for of in loaded.values()]),
    )


declared = Declared(
    order=42,
    id="linpack",
    introduction=text(
        "LINPACK solves a dense system on one core. Order 100 allows only the compiler's loops, whose rate "
        "depends on the nearest caches; order 1000 allows any method. Its count, 2 n^3 / 3 + 2 n^2, is not that "
        "of HPL."
    ),
    benchmark="linpack",
    also=frozenset({_FORTRAN}),
    select=_with_fortran,
    charts=_charts,
    shared_tables=(
        Listing(
            text("Solutions on one core"),
            headings("Method", "n", "Leading dimension", "Where", "Fits", "Rate", "Interval", "Of limit", "By"),
            lambda scene: (_cells(scene, e) for e in scene.measured),
            {5, 6, 7},  # the order and the leading dimension name a row
            optional={2, 4, 6, 7, 8},
        ),
    ),
    listed=False,
    headlines=lambda scene: [
        Headline(_title(best), best)
        for _, members in sorted(selection.grouped(scene.measured, lambda e: _number(e, "n")).items())
        if (best := selection.best(members))
    ],
)
