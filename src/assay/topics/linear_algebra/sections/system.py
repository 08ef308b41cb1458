"""A dense system of equations: its rate by order, against the cores and the product, and where the time goes."""

from collections.abc import Iterable

from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import choose, figures, words
from assay.report.charts.shares import Share, shares
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Headline, headings
from assay.topics.linear_algebra.benchmarks.hpl import PHASES, operations

_PHASE = {
    "panel": text("panels"),
    "broadcast": text("broadcast"),
    "swap": text("row exchange"),
    "update": text("update"),
    "substitution": text("back substitution"),
}


def _charts(scene: Scene) -> Iterable[Figure]:
    if scene.measured:
        title = text("Rate of the solution")
        yield figures.curves(scene.measured, "figure-system", title, series=_series)
    parts = [part for e in scene.measured for part in _parts(scene, e)]
    if parts:
        caption = text(
            "Where the time of a solution goes, mean over the ranks. The update is what the library's product "
            "does; the rest is its cost. Waiting for panels counts as broadcast."
        )
        result = figures.told((part.row, part.series, part.text) for part in parts)
        yield Figure("figure-system-phases", caption, result, shares(parts, text("share of the time (%)")))


def _series(e: Estimate) -> str:
    """`all, P x Q 1 x 2, openblas`: what tells the curve of an estimate from others."""
    return joined(", ", [words.placed(e), _grid(e), *e.factors.values(), choose.state(e)])


def _grid(e: Estimate) -> str:
    return text("{p} x {q} ranks", p=str(e.params.get("p", "")), q=str(e.params.get("q", "")))


def _row(e: Estimate) -> str:
    return joined(", ", [f"n {e.params['n']}", _series(e)])


def _phases(scene: Scene, rate: Estimate) -> dict[str, float]:
    """Phase -> its median seconds, of the case and the state of a rate."""
    return {
        e.kernel: e.median
        for e in scene.analysis.estimates
        if e.case == rate.case and e.state == rate.state and e.kernel in PHASES and e.median
    }


def _parts(scene: Scene, rate: Estimate) -> Iterable[Share]:
    """The phases as shares of their sum, beside each other."""
    seconds = _phases(scene, rate)
    whole, begin = sum(seconds.values()), 0.0
    for phase, name in _PHASE.items():
        if share := 100 * seconds.get(phase, 0.0) / whole if whole else 0.0:
            figure = f"{share:.1f} %, {words.seconds(seconds[phase])}"
            yield Share(_row(rate), name, begin, begin + share, figure)
            begin += share


def _product(scene: Scene, e: Estimate) -> Estimate | None:
    """The fastest product of matrices in double precision on the same cores, with the same library."""
    products = (
        each
        for each in choose.measured(choose.of_benchmark(scene.analysis, "dgemm"))
        if each.params.get("format") == "fp64"
        and each.placement.cpus == e.placement.cpus
        and each.placement.hosts == e.placement.hosts
        and each.factors == e.factors
    )
    return choose.best(products)


def _of_product(scene: Scene, e: Estimate) -> str:
    product = _product(scene, e)
    return f"{100 * e.median / product.median:.1f} %" if product and product.median and e.median else ""


def _cells(scene: Scene, e: Estimate) -> tuple[str, ...]:
    figure = words.shown(e)
    loaded = e.placement.proven.libraries.get("blas", {}) if e.placement.proven else {}
    seconds = words.seconds(operations(int(e.params["n"])) / e.median) if e.median else ""
    return (
        _series(e),
        str(e.params["n"]),
        str(e.params["nb"]),
        seconds,
        figure.plain,
        figure.ends,
        words.share_cell(e),
        _of_product(scene, e),
        loaded.get("kernel", ""),
    )


def _sentences(scene: Scene) -> str:
    best = scene.best
    if best is None:
        return text("It could not be measured.")
    seconds = _phases(scene, best)
    whole = sum(seconds.values())
    lost = {phase: each for phase, each in seconds.items() if phase != "update"}
    most = max(lost, key=lambda phase: lost[phase], default="")
    said = [
        text("The best rate is {figure}, at n = {n}.", figure=words.shown(best).short, n=str(best.params["n"])),
        text(
            "Of its time {update} is the update; the largest of the rest is {phase} with {share}.",
            update=words.percent(seconds.get("update", 0.0) / whole),
            phase=_PHASE[most],
            share=words.percent(lost[most] / whole),
        )
        if most
        else "",
    ]
    return joined(" ", said)


declared = Declared(
    order=44,
    id="system",
    introduction=text(
        "HPL solves a dense system of n equations by LU with partial pivoting, as the list of the 500 fastest "
        "computers does. Most of its operations are products of matrices, so its rate approaches that of the "
        "product as n grows; what is missing is the price of pivoting and of passing messages. Each solution is "
        "checked by HPL's scaled residual."
    ),
    benchmark="hpl",
    select=lambda _analysis, every: tuple(e for e in every if e.kernel == "rate"),
    sentences=_sentences,
    charts=_charts,
    shared_tables=(
        Listing(
            text("Solutions by order"),
            headings("Solution", "n", "NB", "Time", "Rate", "Interval", "Of limit", "Of DGEMM", "Kernel"),
            lambda scene: (_cells(scene, e) for e in scene.measured),
            {1, 2, 3, 4, 5, 6, 7},
            optional={7, 8},
        ),
    ),
    listed=False,
    headlines=lambda scene: (
        [Headline(text("System of equations, {where}", where=_series(scene.best)), scene.best)]
        if scene.best
        else []
    ),
)
