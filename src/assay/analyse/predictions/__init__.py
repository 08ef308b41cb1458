"""The prediction ledger: what other measurements say that a figure must be. One law a file, found by its name.

A law's file defines `predict(known)`. It may look at no estimate of the benchmark that it predicts but to hold it
against the prediction.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache

from assay.analyse.curves import Known
from assay.model.result import Prediction

Predict = Callable[[Known], Iterable[Prediction]]


@cache
def laws() -> dict[str, Predict]:
    """Name of the file -> what predicts by it."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").predict for name in names}


def predictions(known: Known) -> tuple[Prediction, ...]:
    """Every line of the ledger."""
    return tuple(prediction for predict in laws().values() for prediction in predict(known))
