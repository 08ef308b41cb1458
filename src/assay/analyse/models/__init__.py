"""The laws that are fitted to estimates: one a file, found by its name. Nothing else knows that one exists.

A law's file defines `fit(known)`, which yields models; docs/models.md lists their parameters.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache

from assay.analyse.curves import Known
from assay.model.result import Model

Fit = Callable[[Known], Iterable[Model]]


@cache
def laws() -> dict[str, Fit]:
    """Name of the file -> what fits it."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").fit for name in names}


def models(known: Known) -> tuple[Model, ...]:
    """All that every law says of a run."""
    return tuple(model for fit in laws().values() for model in fit(known))
