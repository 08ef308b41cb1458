"""The rate of a solution over the matrix product of the same library on the same cores, and over their peak."""

from collections.abc import Mapping
from functools import partial

from assay.analyse.bounds import Bounds
from assay.analyse.peak import nominal, rate
from assay.model import roles
from assay.model.record import Verdict
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import formatting, selection
from assay.report.declared import Scene
from assay.report.formatting import shown
from assay.report.solution import Column
from assay.topics.linear_algebra.limits.fma_peak import peaks
from assay.topics.linear_algebra.solutions import PRODUCT, is_of_same

#: Above this ratio to the product, no share is shown: the product was too small.
_MOST = 1.02


def share_of_product(scene: Scene, solution: Estimate) -> str:
    """Return its rate as a share of the largest product in its precision, `85.1 %`; empty without a product.

    Larger products are faster: a product that is slower than the solution was too small, and is named.
    """
    share, largest = _ratio_to_product(scene, solution)
    if share > _MOST:
        return text("none: the product of n = {n} is slower", n=str(largest))
    return _percent(share) if share else ""


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _ratio_to_product(scene: Scene, solution: Estimate) -> tuple[float, int]:
    """Return its rate over that of the largest product in its precision, and n of that product; 0 without one.

    On several nodes the rate of the product is the sum over these.
    """
    precision = roles.precision(solution)
    every = selection.measured(selection.of_benchmark(scene.analysis, PRODUCT))
    products = [[e for e in every if is_of_same(e, here, precision)] for here in solution.by_host]
    orders = [{int(e.params["n"]) for e in of_host} for of_host in products]
    largest = max(set.intersection(*orders), default=0) if orders else 0
    best = [selection.best(e for e in of_host if e.params["n"] == largest) for of_host in products]
    together = sum(e.median or 0.0 for e in best if e)
    return (solution.median or 0.0) / together if together else 0.0, largest


def closest_check(run: Run, solution: Estimate) -> Verdict | None:
    """Return the passed check of a case with the largest error; None where none is known, as of imports."""
    records = (each for launch in run.launches for each in launch.cases if each.header.case == solution.case)
    passed = (each.verdict for each in records if each.verdict and each.verdict.passed)
    return max(passed, key=lambda each: each.error, default=None)


def share_and_residual(scene: Scene, solution: Estimate) -> str:
    """Return its share of the product, and its residual, in words."""
    (share, _), verdict = _ratio_to_product(scene, solution), closest_check(scene.run, solution)
    return joined(
        "; ",
        (
            text("{share} of DGEMM", share=_percent(share)) if 0 < share <= _MOST else "",
            text(
                "residual {error}, {tolerance} allowed",
                error=f"{verdict.error:.2g}",
                tolerance=f"{verdict.tolerance:g}",
            )
            if verdict
            else "",
        ),
    )


def _bounds(scene: Scene) -> Bounds:
    return Bounds(scene.run, scene.analysis.estimates)


def _of_peak(scene: Scene, solution: Estimate, *, nominal_clock: bool) -> str:
    """Return its rate as a share of the peak of units and clock; empty where a clock or the units are not known.

    Args:
        scene: of the section.
        solution: on one node or several.
        nominal_clock: whether the clock is the nominal one; else it is the clock under load.
    """
    bounds, peak = scene.cached(_bounds), 0.0
    for best in peaks(solution, bounds):
        machine = bounds.machine(best)
        derived = machine and best.limit and best.limit.source == "derived"  # else the units are not known
        units = rate(best, machine, bounds) if machine and derived else None
        clock = (nominal(machine) if nominal_clock else bounds.loaded_clock(best)) if machine else None
        if units is None or clock is None:
            return ""
        peak += units.per_cycle * clock[0]
    return formatting.percent((solution.median or 0.0) / peak) if peak else ""


#: Shares of the peak of units and clock: above 100 % at the nominal clock is turbo.
PEAKS = (
    Column(text("Of nominal peak"), partial(_of_peak, nominal_clock=True)),
    Column(text("Of peak at loaded clock"), partial(_of_peak, nominal_clock=False)),
)


def library(e: Estimate) -> Mapping[str, str]:
    """Return the known facts of the BLAS library of an estimate; empty where there are none."""
    return e.placement.proven.libraries.get("blas", {}) if e.placement.proven else {}


KERNEL = Column(text("Kernel"), lambda _scene, e: library(e).get("kernel", ""), figure=False)


def best_sentence(best: Estimate) -> str:
    """Return the sentence of the best rate of a section, with its order."""
    return text("The best rate is {figure}, at n = {n}.", figure=shown(best).short, n=str(best.params["n"]))
