"""HPCG: its rate by the size of the boxes, compared with the memory limit, and the rate of each part."""

from collections.abc import Iterable, Mapping

from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.model.units import format_quantity
from assay.report import formatting, selection, solution
from assay.report.declared import Listing, Scene
from assay.report.section import headings
from assay.report.solution import Column, Solutions
from assay.topics.kernels.benchmarks.hpcg import Count, counts
from assay.topics.kernels.grid import grid_of

_PHASE = {
    "mg": text("multigrid"),
    "spmv": text("matrix product"),
    "ddot": text("sums"),
    "waxpby": text("vector updates"),
    "exchange": text("exchange"),
}


def _series(e: Estimate) -> str:
    x, y, z = grid_of(e.placement.ranks)
    return solution.placed(e, text("{x} x {y} x {z} ranks", x=str(x), y=str(y), z=str(z)))


def _name(e: Estimate) -> str:
    return joined(", ", [text("box {n}³", n=str(e.params["n"])), _series(e)])


def _counted(e: Estimate) -> Mapping[str, Count]:
    return counts(e.placement.ranks, int(e.params["n"]), int(e.params["cg-iterations"]))


def _part_rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    """List the rate of each part of the largest solution of each series."""
    for members in selection.grouped(scene.measured, _series).values():
        e = max(members, key=lambda each: int(each.params["n"]))
        seconds, counted = solution.phase_seconds(scene, e), _counted(e)
        for phase, name in _PHASE.items():
            part_s, count = seconds.get(phase), counted.get(phase)
            if part_s:
                share = formatting.percent(part_s / sum(seconds.values()))
                operations = format_quantity(count.flops / part_s, "flop/s") if count else ""
                traffic = format_quantity(count.bytes / part_s, "B/s") if count else ""
                yield _name(e), name, share, formatting.seconds(part_s), operations, traffic


def _sentences(scene: Scene, best: Estimate) -> Iterable[str]:
    yield text(
        "The best rate is {figure}, with boxes of {n}³ points.",
        figure=formatting.shown(best).short,
        n=str(best.params["n"]),
    )
    if shares := solution.phase_shares(scene, best):
        yield text(
            "The preconditioner takes {share} of its time.", share=formatting.percent(shares.get("mg", 0.0))
        )
    yield text("This is not an official result of HPCG.")


declared = Solutions(
    order=47,
    id="hpcg",
    benchmark="hpcg",
    introduction=text(
        "HPCG solves a sparse system of equations, as codes of mechanics and flow do: each point of a grid is "
        "coupled to its 26 neighbours. Conjugate gradients with a multigrid preconditioner do about one operation "
        "per 6 bytes, so memory bandwidth limits the rate; messages and sums over all ranks cost the rest. Points "
        "are updated in the order of the definition with any number of threads, so iterations reduce the residual "
        "as in the definition."
    ),
    counts=lambda e: e.placement.ranks > 0 and {"n", "cg-iterations"} <= e.params.keys(),  # imports may lack them
    name=_name,
    series=_series,
    label=lambda e: text("HPCG, {where}", where=_series(e)),
    chart=text("Rate of the solution"),
    phases=_PHASE,
    phases_caption=text(
        "Where the time of a solution goes, mean over the ranks. Multigrid is the preconditioner. Waiting for "
        "the slowest rank counts as sums or as exchange."
    ),
    caption=text("Solutions by the box of a rank"),
    columns=(
        Column(text("Box"), lambda _scene, e: f"{e.params['n']}³"),
        solution.level(text("Iterations"), "cg-iterations"),
        solution.time(lambda e: sum(each.flops for each in _counted(e).values())),
        *solution.RATE,
        solution.OF_LIMIT,
    ),
    sentences=_sentences,
    tables=(
        Listing(
            text("What each part of the largest solution reaches, by the operations and bytes that HPCG counts"),
            headings("Solution", "Part", "Share", "Time", "Operations", "Traffic"),
            _part_rows,
            {2, 3, 4, 5},
        ),
    ),
).declared()
