"""The prediction ledger: what other measurements say that a figure must be. One law a file of a topic.

A law's file defines `predict(known)`. It may look at no estimate of the benchmark that it predicts but to hold it
against the prediction.
"""

from collections.abc import Callable, Iterable
from functools import cache

from assay.analyse.curves import Known
from assay.model import topics
from assay.model.law import Prediction

Predict = Callable[[Known], Iterable[Prediction]]


@cache
def laws() -> dict[str, Predict]:
    """Name of the file -> what predicts by it."""
    return {name: module.predict for name, module in topics.modules("predictions").items()}


def predictions(known: Known) -> tuple[Prediction, ...]:
    """Every line of the ledger."""
    return tuple(prediction for predict in laws().values() for prediction in predict(known))
