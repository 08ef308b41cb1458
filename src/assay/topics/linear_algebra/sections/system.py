"""A dense system of equations: its rate by order, its predictions, and the time of its phases."""

from collections.abc import Iterable

from assay.model.benchmark import works_together
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, solution
from assay.report.charts.lines import LinePoint, lines
from assay.report.declared import Scene
from assay.report.ledger import Ledger
from assay.report.section import Figure
from assay.report.solution import Column, Solutions
from assay.topics.linear_algebra.benchmarks.hpl import operations
from assay.topics.linear_algebra.models.system_time import LAW
from assay.topics.linear_algebra.products import KERNEL, PEAKS, best_sentence, share_and_residual, share_of_product
from assay.topics.linear_algebra.steps import StepGroup, steps

#: Share of the update in a step whose other phases cost little.
_MOSTLY = 0.8
_PHASE = {
    "panel": text("panels"),
    "broadcast": text("broadcast"),
    "swap": text("row exchange"),
    "update": text("update"),
    "substitution": text("back substitution"),
}


def _charts(scene: Scene) -> Iterable[Figure]:
    if scene.cached(_steps):
        yield _by_step(scene)
    yield from _LEDGER.figure(scene)


def _steps(scene: Scene) -> tuple[StepGroup, ...]:
    """Return the steps of the best solution."""
    return steps(scene.run, scene.best) if scene.best else ()


def _by_step(scene: Scene) -> Figure:
    found = scene.cached(_steps)
    points = [
        LinePoint(
            x=(step.first + step.last) / 2 if step.last > step.first else step.first,
            series=name,
            value=100 * share,
            lo=100 * low,
            hi=100 * high,
            text=f"{100 * share:.1f} %, {formatting.seconds(step.seconds[phase])}",
            basis=text("median of the solutions, least to most"),
            place=f"{step.first}-{step.last}" if step.last > step.first else str(step.first),
            x_lo=step.first,
            x_hi=step.last,
        )
        for phase, name in _PHASE.items()
        for step in found
        if phase in step.shares
        for share, low, high in [step.shares[phase]]
    ]
    caption = text(
        "Where the time of each step goes, {what}, mean over the ranks. A step is the update by one panel; with "
        "look-ahead it includes the next panel, which is factored meanwhile. Whiskers: least and most of the "
        "solutions. The last steps update little: panels and waiting for them take their time.",
        what=_name(scene.best) if scene.best else "",
    )
    result = figures.alternative_text((point.place, point.series, point.text) for point in points)
    spec = lines(points, (text("step"), text("share of the time of the step (%)")))
    return Figure("figure-system-steps", caption, result, spec)


def _series(e: Estimate) -> str:
    return solution.placed(e, _grid(e))


def _grid(e: Estimate) -> str:
    """Return `2 x 4 ranks`; empty where a published figure does not state it."""
    p, q = (e.params.get(name) for name in ("p", "q"))
    return text("{p} x {q} ranks", p=str(p), q=str(q)) if p and q else ""


def _problem(e: Estimate) -> str:
    """Return `N=8192, NB=256, PxQ=1x2`, as far as it is known, with the letters of HPL's output."""
    known = [f"{letter}={e.params[axis]}" for letter, axis in (("N", "n"), ("NB", "nb")) if axis in e.params]
    p, q = (e.params.get(name) for name in ("p", "q"))
    return ", ".join([*known, f"PxQ={p}x{q}"] if p and q else known)


def _name(e: Estimate) -> str:
    return joined(", ", [f"n {e.params['n']}", _series(e)])


_LEDGER = Ledger(LAW, _name, "figure-system-ledger")


def _sentences(scene: Scene, best: Estimate) -> Iterable[str]:
    yield best_sentence(best)
    shares = solution.phase_shares(scene, best)
    update = shares.pop("update", 0.0)
    if shares:
        most = max(shares, key=lambda phase: shares[phase])
        yield text(
            "The update takes {update} of its time; the largest other part is {phase} with {share}.",
            update=formatting.percent(update),
            phase=_PHASE[most],
            share=formatting.percent(shares[most]),
        )
    yield _of_steps(scene)
    yield from _LEDGER.sentences(scene)


def _of_steps(scene: Scene) -> str:
    """Name the step from which on the update never takes most of a step, and the time share of these steps."""
    found = scene.cached(_steps)
    late = 1 + max((at for at, step in enumerate(found) if step.shares["update"][0] >= _MOSTLY), default=-1)
    if not found or late == len(found):
        return ""
    spent = [sum(step.seconds.values()) for step in found]
    return text(
        "From step {first} of {count} the update takes less than {least} of a step; these steps take {share} of "
        "the time.",
        first=found[late].first,
        count=found[-1].last,
        least=formatting.percent(_MOSTLY),
        share=formatting.percent(sum(spent[late:]) / sum(spent)),
    )


declared = Solutions(
    order=44,
    id="system",
    benchmark="hpl",
    introduction=text(
        "HPL solves a dense system of n equations by LU with partial pivoting; the TOP500 list ranks computers by "
        "this rate. Most of its operations are matrix products, so its rate approaches that of the product as n "
        "grows; pivoting and messages cost the rest. Each solution is checked by HPL's scaled residual."
    ),
    counts=lambda e: works_together(e.params),
    name=_name,
    series=_series,
    label=lambda e: text("HPL (LU, 64 bit), {where}", where=solution.placed(e)),
    detail=lambda scene, e: joined("; ", (_problem(e), share_and_residual(scene, e))),
    chart=text("Rate of the solution"),
    phases=_PHASE,
    phases_caption=text(
        "Where the time of a solution goes, mean over the ranks. The update is the library's product; the rest is "
        "overhead. Waiting for panels counts as broadcast."
    ),
    caption=text("Solutions by order"),
    columns=(
        solution.level(text("n"), "n"),
        solution.level(text("NB"), "nb"),
        solution.time(lambda e: operations(int(e.params["n"]))),
        *solution.RATE,
        solution.OF_LIMIT,
        *PEAKS,
        Column(text("Of DGEMM"), share_of_product),
        KERNEL,
    ),
    sentences=_sentences,
    charts=_charts,
    tables=(_LEDGER.table(),),
).declared()
