"""The prediction ledger: what other measurements say that a figure must be. One law a file of a topic.

A law's file defines `predict(known)`. It may look at no estimate of the case that it predicts but to hold it
against the prediction. Where it can say what cases will do that were not launched yet, it defines
`expect(known, cases)`.
"""

from collections.abc import Sequence

from assay.analyse.curves import RunEstimates
from assay.model import record, topics
from assay.model.law import Prediction
from assay.model.plan import Case


def predictions(known: RunEstimates) -> tuple[Prediction, ...]:
    """Every line of the ledger."""
    return tuple(line for module in topics.modules("predictions").values() for line in module.predict(known))


def expectations(known: RunEstimates, cases: Sequence[Case]) -> tuple[record.Prediction, ...]:
    """What laws say of cases that were not launched yet; written to the run before they are.

    A law that is `GENERAL` speaks where no other does. None knows what ranks lose that take turns on a cpu.
    """
    cases = [case for case in cases if not known.run.takes_turns(case.placement)]
    able = [module for module in topics.modules("predictions").values() if hasattr(module, "expect")]
    found: dict[tuple[str, str], record.Prediction] = {}
    for module in sorted(able, key=lambda each: getattr(each, "GENERAL", False)):
        for prediction in module.expect(known, cases):
            found.setdefault((prediction.of, prediction.metric), prediction)
    return tuple(found.values())
