"""A solution against the product of matrices by the same library on the same cores, and against their peak."""

from collections.abc import Mapping
from functools import partial

from assay.analyse.bounds import Bounds
from assay.model import roles
from assay.model.result import Estimate
from assay.model.text import text
from assay.report import formatting, selection
from assay.report.declared import Scene
from assay.report.formatting import shown
from assay.report.solution import Column
from assay.topics.cores.peak import nominal, rate
from assay.topics.linear_algebra.limits.fma_peak import peaks
from assay.topics.linear_algebra.solutions import PRODUCT, is_of_same

#: A solution that is faster than the product by more is no share of it.
_MOST = 1.02


def of_product(scene: Scene, solution: Estimate) -> str:
    """Its rate as a share of the largest product in its precision, `85.1 %`; empty where none was measured.

    On several nodes it is of what they multiply together. Products are the faster the larger they are: one that is
    slower than the solution was too small, and is named.
    """
    precision = roles.precision(solution)
    every = selection.measured(selection.of_benchmark(scene.analysis, PRODUCT))
    products = [[e for e in every if is_of_same(e, here, precision)] for here in solution.by_host]
    orders = [{int(e.params["n"]) for e in of_host} for of_host in products]
    largest = max(set.intersection(*orders), default=0) if orders else 0
    best = [selection.best(e for e in of_host if e.params["n"] == largest) for of_host in products]
    together = sum(e.median or 0.0 for e in best if e)
    if not together or not solution.median:
        return ""
    share = solution.median / together
    if share > _MOST:
        return text("none: the product of n = {n} is slower", n=str(largest))
    return f"{100 * share:.1f} %"


def _bounds(scene: Scene) -> Bounds:
    return Bounds(scene.run, scene.analysis.estimates)


def _of_peak(scene: Scene, solution: Estimate, *, promised: bool) -> str:
    """Its rate as a share of what units and clock allow; empty where a clock, or the units, are not known.

    Args:
        scene: of the section.
        solution: on one node or several.
        promised: at the nominal clock; else at that under load.
    """
    bounds, peak = scene.cached(_bounds), 0.0
    for best in peaks(solution, bounds):
        machine = bounds.machine(best)
        derived = machine and best.limit and best.limit.source == "derived"  # else the units are not known
        a_cycle = rate(best, machine, bounds) if machine and derived else None
        clock = (nominal(machine) if promised else bounds.loaded_clock(best)) if machine else None
        if a_cycle is None or clock is None:
            return ""
        peak += a_cycle.per_cycle * clock[0]
    return formatting.percent((solution.median or 0.0) / peak) if peak else ""


#: Of what units and clock allow: more than all at the nominal clock is turbo.
PEAKS = (
    Column(text("Of nominal peak"), partial(_of_peak, promised=True)),
    Column(text("Of peak at loaded clock"), partial(_of_peak, promised=False)),
)


def library(e: Estimate) -> Mapping[str, str]:
    """What is known of the BLAS library that an estimate was made with; empty where nothing is."""
    return e.placement.proven.libraries.get("blas", {}) if e.placement.proven else {}


KERNEL = Column(text("Kernel"), lambda _scene, e: library(e).get("kernel", ""), figure=False)


def best_at(best: Estimate) -> str:
    """The best rate of a section, and the order that it was reached at."""
    return text("The best rate is {figure}, at n = {n}.", figure=shown(best).short, n=str(best.params["n"]))
