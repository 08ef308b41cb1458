"""The laws of all topics that are fitted to estimates.

The file of a law defines its result, a subclass of `assay.model.law.Model`, and `fit(known)`, which yields
results, or `Unfitted` with the reason. A law that needs the results of others names their files, `NEEDS =
("cache_plateaus",)`: they are fitted first and are in `known.models`. If results of a law are of several kinds,
`kinds` has the word of each as a text; of a law with steps, `causes` yields what may have caused one.
docs/models.md lists the results of each law.
"""

from collections.abc import Callable, Iterable
from functools import cache
from graphlib import TopologicalSorter

from assay.analyse.curves import RunEstimates
from assay.analyse.evidence import Evidence
from assay.analyse.messages.steps import Step
from assay.catalogue import topics
from assay.model.law import Model
from assay.model.result import Estimate

Fit = Callable[[RunEstimates], Iterable[Model]]


@cache
def laws() -> dict[str, Fit]:
    """Return the fit functions by the names of their files; a law comes after those that it needs."""
    found = topics.modules("models")
    needs = {name: getattr(module, "NEEDS", ()) for name, module in found.items()}
    return {name: found[name].fit for name in TopologicalSorter(needs).static_order()}


def models(known: RunEstimates) -> tuple[Model, ...]:
    """Fit every law to a run; return the results in the order of the files."""
    results: dict[str, tuple[Model, ...]] = {}
    for name, fit in laws().items():
        results[name] = tuple(fit(known))
        known = known.with_models(results[name])
    return tuple(model for name in topics.modules("models") for model in results[name])


def causes(law: Model, side: Evidence, estimate: Estimate, step: Step) -> tuple[str, ...]:
    """Return the possible causes of a step of a law, from `causes` of its file; none where it has none."""
    modules = topics.modules("models").values()
    declared = (each.causes for each in modules if getattr(each, "LAW", "") == law.law and hasattr(each, "causes"))
    return tuple(cause for found in declared for cause in found(side, estimate, step))
