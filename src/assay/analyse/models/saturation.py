"""How many cores fill the memory's bandwidth: the fewest that reach .95 of what any number of them gets."""

from collections.abc import Iterable, Mapping

import numpy as np

from assay.analyse.curves import Known, curves, ends, figure, point, replicates
from assay.analyse.estimates import Measured
from assay.analyse.statistics import Samples
from assay.model.result import Model
from assay.model.run import Run

LAW = "saturation"
REACHES = 0.95
#: Placement word -> how cores are added.
_ORDERS = {"cores": "compact", "spread": "spread"}
_FEWEST = 2


def fit(known: Known) -> Iterable[Model]:
    """One model for each way to add cores, and kind of stores; a single number of cores is no curve."""
    triads = known.of("stream", "triad")
    words = _words(known.run)
    for word, order in _ORDERS.items():
        having = [each for each in triads if _counted(each, words, word)]
        if not any(each.estimate.placement.label.startswith(f"{word}:") for each in having):
            continue
        for curve in (each for each in curves(having, "label") if len(each.members) >= _FEWEST):
            name = "/".join([LAW, order, *curve.marks])
            yield _model(name, order, sorted(curve.members, key=_cores))


def _words(run: Run) -> dict[str, set[str]]:
    """Placement label -> it and the words that were folded into it, without memory words."""
    words: dict[str, set[str]] = {}
    for folded in run.plan.folded:
        words.setdefault(folded.into.partition(",")[0], set()).add(folded.wish.partition(",")[0])
    return words


def _counted(measured: Measured, words: Mapping[str, set[str]], word: str) -> bool:
    """Whether an estimate is one of those that a counted placement word asked for."""
    label = measured.estimate.placement.label
    return any(each.startswith(f"{word}:") for each in {label, *words.get(label, ())})


def _cores(measured: Measured) -> int:
    return len(measured.estimate.placement.cpus[0])


def _model(name: str, order: str, members: list[Measured]) -> Model:
    """Parameters: `cores`, `maximum`, `cores at maximum`, `one core`."""
    of = tuple(each.estimate.id for each in members)
    cores = np.array([_cores(each) for each in members], dtype=np.float64)
    medians = np.array([[each.estimate.median or 0.0 for each in members]])
    draws, confident = replicates(members)

    def fewest(rows: Samples) -> Samples:
        enough: Samples = cores[np.argmax(rows >= REACHES * rows.max(axis=1, keepdims=True), axis=1)]
        return enough

    best = int(np.argmax(medians))
    parameters = {
        "cores": (float(fewest(medians)[0]), *ends(fewest(draws), confident=confident)),
        "maximum": figure(members[best].estimate),
        "cores at maximum": (float(cores[best]), *ends(cores[np.argmax(draws, axis=1)], confident=confident)),
    }
    if cores[0] == 1:
        parameters["one core"] = figure(members[0].estimate)
    highest = float(medians.max())
    points = tuple(
        point(each.estimate, {"cores": _cores(each), "order": order}, (each.estimate.median or 0.0) / highest)
        for each in members
    )
    return Model(name, LAW, of, parameters, None, points=points)
