"""The NAS kernels: the rate of each, what bounds it, and what share of its time goes into messages."""

from collections.abc import Iterable, Mapping

from assay.model.imported import UNSTATED
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.model.units import format_quantity
from assay.report import figures, formatting, phases, selection
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Headline, headings
from assay.topics.kernels.benchmarks.nas import PHASES
from assay.topics.kernels.sizes import CLASSES, PROBLEMS, demand

_PHASE = {"computation": text("computing"), "messages": text("messages")}
#: What stands for the rate against a limit.
_BOUND = ("arithmetic", "traffic")


def _name(e: Estimate) -> str:
    """`CG, class B, all`: what tells a figure from others."""
    size = str(e.params.get("npb-class", UNSTATED))
    kernel = text("{kernel}, class {size}", kernel=str(e.params["npb"]).upper(), size=size)
    return joined(", ", [kernel, formatting.placed(e), *e.factors.values(), selection.state(e)])


def _same(scene: Scene, rate: Estimate) -> Mapping[str, Estimate]:
    """What else was found in the same case and state: metric of the rate, or phase -> estimate."""
    found = (e for e in scene.analysis.estimates if e.case == rate.case and e.state == rate.state and e.median)
    return {(e.kernel if e.kernel in PHASES else e.metric): e for e in found}


def _charts(scene: Scene) -> Iterable[Figure]:
    if scene.measured:
        yield figures.placements(scene.measured, "figure-nas", text("Rate of the kernels"), row=_name)
    caption = text(
        "Where the time of a solution goes, mean over the ranks. Waiting for others counts as messages."
    )
    all_seconds = ((_name(e), phases.seconds_of(scene.analysis, e)) for e in scene.measured)
    bars = (each for each in all_seconds if "messages" in each[1])  # one rank passes none
    yield from phases.figure("figure-nas-phases", caption, bars, _PHASE)


def _seconds(rate: Estimate, same: Mapping[str, Estimate]) -> float:
    """Of a solution, as a source states it or as follows from the operations; 0 where neither is known."""
    stated = same.get("time")
    if stated and stated.median:
        return stated.median
    problem, size = (str(rate.params.get(axis, "")) for axis in ("npb", "npb-class"))
    known = problem in PROBLEMS and size in CLASSES
    return demand(problem, size).operations / rate.median if known and rate.median else 0.0


def _cells(scene: Scene, e: Estimate) -> tuple[str, ...]:
    figure, same = formatting.shown(e), _same(scene, e)
    bound = next((same[each] for each in _BOUND if each in same), None)
    seconds, messages = _seconds(e, same), same.get("messages")
    return (
        _name(e),
        formatting.seconds(seconds) if seconds else "",
        figure.plain,
        figure.ends,
        formatting.percent(messages.median / seconds) if messages and messages.median and seconds else "",
        format_quantity(bound.median, bound.unit) if bound and bound.median else "",
        formatting.share_cell(bound) if bound else "",
    )


def _sentences(scene: Scene) -> str:
    waiting = [
        (messages.median / whole, e)
        for e in scene.measured
        for same in [_same(scene, e)]
        for messages, computing in [(same.get("messages"), same.get("computation"))]
        if messages and computing and messages.median and computing.median
        for whole in [messages.median + computing.median]
    ]
    if not scene.measured:
        return text("It could not be measured.")
    if not waiting:
        if any(e.basis == "imported" for e in scene.measured):
            return text("No source says what part of the time messages take.")
        return text("One rank solved each: there were no messages.")
    share, most = max(waiting, key=lambda each: each[0])
    return text(
        "Messages take the largest share of the time in {kernel}: {share}.",
        kernel=_name(most),
        share=formatting.percent(share),
    )


declared = Declared(
    order=48,
    id="nas",
    introduction=text(
        "The NAS Parallel Benchmarks were made of what codes of aerodynamics do. EP makes random deviates and "
        "passes almost no messages: it shows arithmetic. IS ranks whole numbers, and every rank sends numbers to "
        "every other. CG multiplies a sparse matrix by vectors, so it reads memory out of order. MG sweeps over "
        "grids of all sizes: memory decides, and small messages to neighbours. FT transforms a cube, which all "
        "ranks exchange in each iteration. A result that deviates from the published values yields no figure. "
        "Rates count operations as NPB does, in each kernel otherwise: compare a kernel with itself."
    ),
    benchmark="nas",
    select=lambda _analysis, every: tuple(e for e in every if e.kernel == "rate" and e.metric == "rate"),
    sentences=_sentences,
    charts=_charts,
    shared_tables=(
        Listing(
            text("Solutions, each verified"),
            headings("Kernel", "Time", "Rate", "Interval", "Messages", "Operations or traffic", "Of limit"),
            lambda scene: (_cells(scene, e) for e in scene.measured),
            {1, 2, 3, 4, 5, 6},
            optional={4, 5, 6},
        ),
    ),
    listed=False,
    headlines=lambda scene: [Headline(_name(e), e) for e in scene.measured if e.placement.label == "all"],
)
