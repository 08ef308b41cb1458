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


def of_product(scene: Scene, solution: Estimate) -> str:
    """Its rate as a share of the fastest product in its precision, `85.1 %`; empty where none was measured."""
    products = selection.measured(selection.of_benchmark(scene.analysis, PRODUCT))
    best = selection.best(each for each in products if is_of_same(each, solution, roles.precision(solution)))
    return f"{100 * solution.median / best.median:.1f} %" if best and best.median and solution.median else ""


def library(e: Estimate) -> Mapping[str, str]:
    """What is known of the BLAS library that an estimate was made with; empty where nothing is."""
    return e.placement.proven.libraries.get("blas", {}) if e.placement.proven else {}


KERNEL = Column(text("Kernel"), lambda _scene, e: library(e).get("kernel", ""), figure=False)


def best_at(best: Estimate) -> str:
    """The best rate of a section, and the order that it was reached at."""
    return text("The best rate is {figure}, at n = {n}.", figure=shown(best).short, n=str(best.params["n"]))
