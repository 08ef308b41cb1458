"""How many cores saturate the memory bandwidth: the fewest that reach 0.95 of the maximum over all numbers."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from assay.analyse.curves import Curve, RunEstimates, curves, ends, figure, point, replicates, with_ends
from assay.analyse.estimates import Measured
from assay.analyse.statistics import Samples
from assay.model.law import Model, Unfitted
from assay.model.placement import parsed
from assay.model.quantity import Quantity
from assay.model.run import Run
from assay.model.text import text

LAW = "saturation"
#: Kind of a model, as in its id -> its word.
kinds = {"compact": text("compact"), "spread": text("spread")}
REACHES = 0.95
#: Placement word -> how cores are added.
_ORDERS = {"cores": "compact", "spread": "spread"}
_FEWEST = 2
#: A kind of stores with fewer numbers of cores than this share of the other kind is no curve: these are parts of
#: the machine that another measure asked for, with nothing between them.
_WHOLE = 0.5
#: Placements that are the first and the last number of cores, however these are added.
_ENDS = frozenset({"one-core", "all"})


class Saturation(Model, frozen=True, kw_only=True, tag=LAW):
    """How many cores saturate the memory bandwidth.

    Attributes:
        order: how cores are added: `compact` or `spread`.
        cores: the fewest that reach 0.95 of the maximum. Where not every number was measured, the lower end is one
            more than the last number that was too small.
        maximum: the highest bandwidth of any number of cores, in B/s.
        cores_at_maximum: the number of cores that reaches it.
        one_core: the bandwidth of one core; None where it was not measured.
    """

    order: str
    cores: Quantity
    maximum: Quantity
    cores_at_maximum: Quantity
    one_core: Quantity | None

    @property
    def kind(self) -> str:
        """How cores are added."""
        return self.order


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each order of adding cores and kind of stores; of two with the same cores the first."""
    triads = known.of_role("memory-rate", main=True)
    words = _words(known.run)
    seen: set[tuple[str, ...]] = set()
    for word, order in _ORDERS.items():
        # Placements of this word, and one core and all cores, which are its ends.
        having = [each for each in triads if words[_label(each)] & {word} or _label(each) in _ENDS]
        if not any(words[_label(each)] & {word} for each in having):
            continue
        counted = [
            curve._replace(members=tuple(sorted(curve.members, key=_cores))) for curve in curves(having, "label")
        ]
        most = max(len(_numbers(curve.members)) for curve in counted)
        for curve in counted:
            of = tuple(each.estimate.id for each in curve.members)
            if of not in seen:
                seen.add(of)
                yield _model(order, curve, most)


def _words(run: Run) -> Mapping[str, set[str]]:
    """Placement label -> the words (`cores`, `spread`) that asked for it or for what was folded into it."""
    asked = [(word, word) for word in (parsed(case.placement.label) for case in run.plan.cases)]
    words = defaultdict[str, set[str]](set)
    for request, into in (*asked, *(folded.places for folded in run.plan.folded)):
        words[into.text].add(request.share)
    return words


def _label(measured: Measured) -> str:
    return measured.estimate.placement.label


def _numbers(members: Iterable[Measured]) -> set[int]:
    return {_cores(each) for each in members}


def _cores(measured: Measured) -> int:
    return len(measured.estimate.placement.cpus[0])


def _model(order: str, curve: Curve, most: int) -> Model:
    """Fit one curve; `most`: numbers of cores on the curve of this order that has most of them."""
    members = curve.members
    numbers = len(_numbers(members))
    if numbers < max(_FEWEST, _WHOLE * most):
        few = text(
            "{numbers} number of cores has a figure: a curve needs {needed}"
            if numbers < _FEWEST
            else "{numbers} of {most} numbers of cores have a figure: no curve",
            numbers=numbers,
            needed=_FEWEST,
            most=most,
        )
        return Unfitted(**curve.identity(LAW, order), wanted=LAW, reason=few)
    cores = np.array([_cores(each) for each in members], dtype=np.float64)
    medians = np.array([[each.estimate.median or 0.0 for each in members]])
    draws, basis = replicates(members)

    def fewest(rows: Samples) -> Samples:
        enough: Samples = cores[np.argmax(rows >= REACHES * rows.max(axis=1, keepdims=True), axis=1)]
        return enough

    best = int(np.argmax(medians))
    least, largest = ends(fewest(draws), basis)
    below = cores[cores < least]
    highest = float(medians.max())
    points = tuple(
        point(each.estimate, {"cores": _cores(each), "order": order}, (each.estimate.median or 0.0) / highest)
        for each in members
    )
    enough = float(fewest(medians)[0])
    return Saturation(
        **curve.identity(LAW, order),
        points=points,
        order=order,
        cores=Quantity(enough, float(below.max()) + 1 if below.size else least, largest, "", basis),
        maximum=figure(members[best].estimate),
        cores_at_maximum=with_ends(cores[best], cores[np.argmax(draws, axis=1)], basis),
        one_core=figure(members[0].estimate) if cores[0] == 1 else None,
    )
