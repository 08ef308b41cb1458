"""HPCG: its rate by the size of the boxes, against what memory allows, and what each part reaches."""

from collections.abc import Iterable, Mapping

from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.model.units import format_quantity
from assay.report import figures, formatting, phases, selection
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Headline, headings
from assay.topics.kernels.benchmarks.hpcg import Count, counts, grid_of, operations

_PHASE = {
    "mg": text("multigrid"),
    "spmv": text("matrix product"),
    "ddot": text("sums"),
    "waxpby": text("vector updates"),
    "exchange": text("exchange"),
}


def _charts(scene: Scene) -> Iterable[Figure]:
    if not scene.measured:
        return
    yield figures.curves(scene.measured, "figure-hpcg", text("Rate of the solution"), series=_series)
    caption = text(
        "Where the time of a solution goes, mean over the ranks. Multigrid is the preconditioner. Waiting for "
        "the slowest rank counts as sums or as exchange."
    )
    bars = ((_row(e), phases.seconds_of(scene.analysis, e)) for e in scene.measured)
    yield from phases.figure("figure-hpcg-phases", caption, bars, _PHASE)


def _ranks(e: Estimate) -> int:
    return e.placement.ranks


def _series(e: Estimate) -> str:
    """`all, 1 x 1 x 2 ranks`: what tells the curve of an estimate from others."""
    x, y, z = grid_of(_ranks(e))
    grid = text("{x} x {y} x {z} ranks", x=str(x), y=str(y), z=str(z))
    return joined(", ", [formatting.placed(e), grid, *e.factors.values(), selection.state(e)])


def _row(e: Estimate) -> str:
    return joined(", ", [text("box {n}³", n=str(e.params["n"])), _series(e)])


def _counted(e: Estimate) -> Mapping[str, Count]:
    return counts(_ranks(e), int(e.params["n"]), int(e.params["cg-iterations"]))


def _cells(e: Estimate) -> tuple[str, ...]:
    figure, edge, iterations = formatting.shown(e), int(e.params["n"]), int(e.params["cg-iterations"])
    seconds = formatting.seconds(operations(_ranks(e), edge, iterations) / e.median) if e.median else ""
    ends = (figure.plain, figure.ends, formatting.share_cell(e))
    return (_series(e), f"{edge}³", str(iterations), seconds, *ends)


def _part_rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    """What each part of the largest solution of each series reaches."""
    for members in selection.grouped(scene.measured, _series).values():
        e = max(members, key=lambda each: int(each.params["n"]))
        seconds, counted = phases.seconds_of(scene.analysis, e), _counted(e)
        for phase, name in _PHASE.items():
            took, count = seconds.get(phase), counted.get(phase)
            if took:
                rates = (count.flops / took, count.bytes / took) if count else None
                units = ("flop/s", "B/s")
                shown = [format_quantity(r, u) for r, u in zip(rates, units, strict=True)] if rates else ["", ""]
                yield (
                    _row(e),
                    name,
                    formatting.percent(took / sum(seconds.values())),
                    formatting.seconds(took),
                    *shown,
                )


def _sentences(scene: Scene) -> str:
    best = scene.best
    if best is None:
        return text("It could not be measured.")
    seconds = phases.seconds_of(scene.analysis, best)
    whole = sum(seconds.values())
    said = [
        text(
            "The best rate is {figure}, with boxes of {n}³ points.",
            figure=formatting.shown(best).short,
            n=str(best.params["n"]),
        ),
        text(
            "{share} of its time is the preconditioner.", share=formatting.percent(seconds.get("mg", 0.0) / whole)
        )
        if whole
        else "",
        text("This is not an official result of HPCG."),
    ]
    return joined(" ", said)


declared = Declared(
    order=47,
    id="hpcg",
    introduction=text(
        "HPCG solves a sparse system of equations, as codes of mechanics and flow do: each point of a grid meets "
        "its 26 neighbours. Conjugate gradients with a multigrid preconditioner do about one operation for 6 "
        "bytes, so the bandwidth of memory decides; messages and sums over all ranks cost the rest. Points are "
        "met in the order of the definition, whatever the number of threads, so iterations reduce the residual as "
        "the definition does."
    ),
    benchmark="hpcg",
    select=lambda _analysis, every: tuple(e for e in every if e.kernel == "rate"),
    sentences=_sentences,
    charts=_charts,
    shared_tables=(
        Listing(
            text("Solutions by the box of a rank"),
            headings("Solution", "Box", "Iterations", "Time", "Rate", "Interval", "Of limit"),
            lambda scene: map(_cells, scene.measured),
            {1, 2, 3, 4, 5, 6},
            optional={6},
        ),
        Listing(
            text("What each part of the largest solution reaches, by the operations and bytes that HPCG counts"),
            headings("Solution", "Part", "Share", "Time", "Operations", "Traffic"),
            _part_rows,
            {2, 3, 4, 5},
        ),
    ),
    listed=False,
    headlines=lambda scene: (
        [Headline(text("Conjugate gradients (HPCG), {where}", where=_series(scene.best)), scene.best)]
        if scene.best
        else []
    ),
)
