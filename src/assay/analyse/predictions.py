"""The prediction ledger: figures that follow from other measurements. Each law is a file of a topic.

The file of a law defines `predict(known)`. It uses estimates of the predicted case only to compare them with the
prediction. A law that can predict cases before their launch also defines `expect(known, cases)`.
"""

from collections.abc import Sequence

from assay.analyse.curves import RunEstimates
from assay.catalogue import topics
from assay.model import record
from assay.model.law import Prediction
from assay.model.plan import Case


def predictions(known: RunEstimates) -> tuple[Prediction, ...]:
    """Return every line of the ledger."""
    return tuple(line for module in topics.modules("predictions").values() for line in module.predict(known))


def expectations(known: RunEstimates, cases: Sequence[Case]) -> tuple[record.Prediction, ...]:
    """Predict cases that were not launched yet; the run stores these predictions before the launches.

    A law that is `GENERAL` counts if no other law predicts. No law predicts ranks that share a cpu in turns.
    """
    cases = [case for case in cases if not known.run.takes_turns(case.placement)]
    able = [module for module in topics.modules("predictions").values() if hasattr(module, "expect")]
    found: dict[tuple[str, str], record.Prediction] = {}
    for module in sorted(able, key=lambda each: getattr(each, "GENERAL", False)):
        for prediction in module.expect(known, cases):
            found.setdefault((prediction.of, prediction.metric), prediction)
    return tuple(found.values())
