"""A solution against the product of matrices that the same library does on the same cores."""

from assay.model.result import Estimate
from assay.report import selection
from assay.report.declared import Scene


def of_product(scene: Scene, solution: Estimate, precision: str) -> str:
    """Its rate as a share of the fastest product in this precision, `85.1 %`; empty where none was measured."""
    products = (
        each
        for each in selection.measured(selection.of_benchmark(scene.analysis, "dgemm"))
        if each.params.get("format") == precision
        and each.placement.cpus == solution.placement.cpus
        and each.placement.hosts == solution.placement.hosts
        and each.factors == solution.factors
    )
    best = selection.best(products)
    return f"{100 * solution.median / best.median:.1f} %" if best and best.median and solution.median else ""
