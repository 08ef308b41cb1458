"""The prediction ledger: figures that follow from other measurements. Each law is a file of a topic.

The file of a law defines `predict(known)`. It uses estimates of the predicted case only to compare them with the
prediction. A law that can predict cases before their launch also defines `expect(known, cases)`.
"""

from collections.abc import Sequence

import msgspec

from assay.analyse.bounds import Bounds
from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import as_placed
from assay.analyse.limits import limit, named
from assay.catalogue import topics
from assay.model import record
from assay.model.law import Prediction
from assay.model.plan import Case


def predictions(known: RunEstimates) -> tuple[Prediction, ...]:
    """Return every line of the ledger."""
    return tuple(line for module in topics.modules("predictions").values() for line in module.predict(known))


def expectations(known: RunEstimates, cases: Sequence[Case]) -> tuple[record.Prediction, ...]:
    """Predict cases that were not launched yet; the run stores these predictions before the launches.

    A law that is `GENERAL` counts if no other law predicts. No law predicts ranks that share a cpu in turns. Ends
    above the limit of the figure are clipped.
    """
    cases = [case for case in cases if not known.run.takes_turns(case.placement)]
    able = [module for module in topics.modules("predictions").values() if hasattr(module, "expect")]
    found: dict[tuple[str, str], record.Prediction] = {}
    for module in sorted(able, key=lambda each: getattr(each, "GENERAL", False)):
        for prediction in module.expect(known, cases):
            found.setdefault((prediction.of, prediction.metric), prediction)
    asked = {case.id: case for case in cases}
    bounds = Bounds(known.run, (each.estimate for each in known.measured))
    return tuple(_possible(each, asked[each.of], known, bounds) for each in found.values())


def _possible(prediction: record.Prediction, case: Case, known: RunEstimates, bounds: Bounds) -> record.Prediction:
    """Clip the ends of a rate at its limit on the cores of the case, where that is known."""
    figure = case.benchmark, prediction.metric
    estimates = (each.estimate for each in known.measured)
    like = next((each for each in estimates if (each.benchmark, each.metric) == figure), None)
    if like is None or like.better != "higher":
        return prediction
    placement = as_placed(case, (), None, {})
    there = msgspec.structs.replace(
        like, case=case.id, params=case.params, factors=case.factors, placement=placement, limit=None
    )
    peak = limit(named(like), there, bounds)
    if peak is None or peak.reference:
        return prediction
    value, lo, hi = (min(end, peak.value) for end in prediction.parts)
    return msgspec.structs.replace(prediction, value=value, lo=lo, hi=hi)
