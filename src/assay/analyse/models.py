"""The laws of all topics that are fitted to estimates.

A law's file defines its result, a subclass of `assay.model.law.Model`, and `fit(known)`, which yields results,
or `Unfitted` with the reason. Where it needs what other laws found, it names their files, `NEEDS =
("cache_plateaus",)`: they are fitted first and stand in `known.models`. Where results of one law are of several
kinds, `kinds` has the word of each as a text. docs/models.md lists what each law finds.
"""

from collections.abc import Callable, Iterable
from functools import cache
from graphlib import TopologicalSorter

from assay.analyse.curves import RunEstimates
from assay.model import topics
from assay.model.law import Model, Unfitted

Fit = Callable[[RunEstimates], Iterable[Model]]


@cache
def laws() -> dict[str, Fit]:
    """Name of the file -> what fits it; a law stands behind those that it needs."""
    found = topics.modules("models")
    needs = {name: getattr(module, "NEEDS", ()) for name, module in found.items()}
    return {name: found[name].fit for name in TopologicalSorter(needs).static_order()}


def models(known: RunEstimates) -> tuple[Model, ...]:
    """All that every law says of a run, by the name of its file."""
    results: dict[str, tuple[Model, ...]] = {}
    for name, fit in laws().items():
        results[name] = tuple(fit(known))
        known = known.with_models(results[name])
    return tuple(model for name in topics.modules("models") for model in results[name])


def types() -> list[type[Model]]:
    """The types of what laws find, and of what could not be fitted, by name."""
    named = (each for module in topics.modules("models").values() for each in vars(module).values())
    kinds = {each for each in named if isinstance(each, type) and issubclass(each, Model)} | {Unfitted}
    found = [kind for kind in kinds if kind.__struct_config__.tag != kind.__name__]
    return sorted(found, key=lambda kind: str(kind.__struct_config__.tag))
