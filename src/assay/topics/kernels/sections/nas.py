"""The NAS kernels: the rate of each, its limit, and the share of its time for messages."""

from collections.abc import Iterable

from assay.model.benchmark import works_together
from assay.model.imported import UNSTATED
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.model.units import format_quantity
from assay.report import formatting, solution
from assay.report.declared import Scene
from assay.report.solution import Column, Solutions
from assay.topics.kernels.sizes import CLASSES, PROBLEMS, demand

_PHASE = {"computation": text("computing"), "messages": text("messages")}


def _name(e: Estimate) -> str:
    """Return `CG, class B, all`."""
    size = str(e.params.get("npb-class", UNSTATED))
    kernel = text("{kernel}, class {size}", kernel=str(e.params["npb"]).upper(), size=size)
    return joined(", ", [kernel, solution.placed(e)])


def _seconds(scene: Scene, rate: Estimate) -> float:
    """Return the seconds of a solution, as stated by an import or by its operations; 0 where neither is known."""
    stated = solution.metrics(scene, rate).get("time")
    if stated and stated.median:
        return stated.median
    problem, size = (str(rate.params.get(axis, "")) for axis in ("npb", "npb-class"))
    known = problem in PROBLEMS and size in CLASSES
    return demand(problem, size).operations / rate.median if known and rate.median else 0.0


def _time(scene: Scene, e: Estimate) -> str:
    seconds = _seconds(scene, e)
    return formatting.seconds(seconds) if seconds else ""


def _messages(scene: Scene, e: Estimate) -> str:
    whole, messages = _seconds(scene, e), solution.phase_seconds(scene, e).get("messages")
    return formatting.percent(messages / whole) if messages and whole else ""


def _bound(scene: Scene, e: Estimate) -> Estimate | None:
    """Return the metric that has a limit."""
    found = solution.metrics(scene, e)
    return found.get("arithmetic", found.get("traffic"))


def _bound_rate(scene: Scene, e: Estimate) -> str:
    bound = _bound(scene, e)
    return format_quantity(bound.median, bound.unit) if bound and bound.median else ""


def _bound_share(scene: Scene, e: Estimate) -> str:
    bound = _bound(scene, e)
    return formatting.share_cell(bound) if bound else ""


def _sentences(scene: Scene, _best: Estimate) -> Iterable[str]:
    if messages := solution.largest_share(scene, "messages", _name):
        yield messages
    elif any(e.basis == "imported" for e in scene.measured):
        yield text("No source says what part of the time messages take.")
    else:
        yield text("Each solution ran on one rank: there were no messages.")


declared = Solutions(
    order=48,
    id="nas",
    benchmark="nas",
    introduction=text(
        "The NAS Parallel Benchmarks come from aerodynamics codes. EP makes random deviates and passes almost no "
        "messages: it shows arithmetic. IS ranks integers, and every rank sends keys to every other. CG "
        "multiplies a sparse matrix by vectors, so it reads memory irregularly. MG sweeps over grids of all "
        "sizes: memory and small messages to neighbours limit it. FT transforms a cube, which all ranks exchange "
        "in each iteration. A result that deviates from the published values gives no figure. Rates count "
        "operations as NPB does, differently in each kernel: compare only rates of the same kernel."
    ),
    counts=lambda e: works_together(e.params),
    name=_name,
    label=_name,
    first=lambda scene: (e for e in scene.measured if e.placement.label == "all"),
    chart=text("Rate of the kernels"),
    phases=_PHASE,
    phases_caption=text(
        "Where the time of a solution goes, mean over the ranks. Waiting for others counts as messages."
    ),
    caption=text("Solutions, each verified"),
    solution=text("Kernel"),
    columns=(
        Column(text("Time"), _time),
        *solution.RATE,
        Column(text("Messages"), _messages),
        Column(text("Operations or traffic"), _bound_rate),
        Column(text("Of limit"), _bound_share),
    ),
    sentences=_sentences,
).declared()
