"""Scenes by hand: the input of sections, of estimates and models that a test makes."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from tests.unit.law_evidence import machine

from assay.analyse.estimates import Measured
from assay.model.comparison import Comparison
from assay.model.law import Model
from assay.model.quantity import Quantity
from assay.report.declared import Listing, Scene
from assay.report.fitted import Fitted


def scene(
    figures: Sequence[Measured], *models: Model, comparisons: Sequence[Comparison] = (), picked: str = ""
) -> Scene:
    """A scene of these estimates and models; `picked`: the benchmark whose estimates the section selects."""
    estimates = {each.estimate.id: each.estimate for each in figures}
    run: Any = SimpleNamespace(machines={"n1": machine()}, plan=SimpleNamespace(hosts=()))
    analysis: Any = SimpleNamespace(
        estimates=tuple(estimates.values()), models=models, comparisons=tuple(comparisons)
    )
    found = tuple(Fitted(each, tuple(estimates[name] for name in each.of)) for each in models)
    own = tuple(each for each in estimates.values() if each.benchmark == picked or not picked)
    return Scene(run, analysis, own, own, found)


def rows(table: object, of: Scene) -> list[tuple[str, ...]]:
    return [tuple(map(str, row)) for row in cast("Listing", table).rows(of)]


def exactly(value: float, unit: str = "") -> Quantity:
    return Quantity(value, 0.9 * value, 1.1 * value, unit, "interval")
