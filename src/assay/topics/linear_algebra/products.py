"""A solution against the product of matrices that the same library does on the same cores."""

from collections.abc import Mapping

from assay.model import roles
from assay.model.result import Estimate
from assay.model.text import text
from assay.report import selection
from assay.report.declared import Scene
from assay.report.formatting import shown
from assay.report.solution import Column
from assay.topics.linear_algebra.solutions import PRODUCT, is_of_same

#: A solution that is faster than the product by more is no share of it.
_MOST = 1.02


def of_product(scene: Scene, solution: Estimate) -> str:
    """Its rate as a share of the largest product in its precision, `85.1 %`; empty where none was measured.

    Products are the faster the larger they are: one that is slower than the solution was too small, and is named.
    """
    every = selection.measured(selection.of_benchmark(scene.analysis, PRODUCT))
    products = [each for each in every if is_of_same(each, solution, roles.precision(solution))]
    largest = max((int(each.params["n"]) for each in products), default=0)
    best = selection.best(each for each in products if each.params["n"] == largest)
    if not best or not best.median or not solution.median:
        return ""
    share = solution.median / best.median
    if share > _MOST:
        return text("none: the product of n = {n} is slower", n=str(largest))
    return f"{100 * share:.1f} %"


def library(e: Estimate) -> Mapping[str, str]:
    """What is known of the BLAS library that an estimate was made with; empty where nothing is."""
    return e.placement.proven.libraries.get("blas", {}) if e.placement.proven else {}


KERNEL = Column(text("Kernel"), lambda _scene, e: library(e).get("kernel", ""), figure=False)


def best_at(best: Estimate) -> str:
    """The best rate of a section, and the order that it was reached at."""
    return text("The best rate is {figure}, at n = {n}.", figure=shown(best).short, n=str(best.params["n"]))
