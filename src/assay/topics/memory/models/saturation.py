"""How many cores fill the memory's bandwidth: the fewest that reach .95 of what any number of them gets."""

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
#: What begins the rest of an id, as texts.
kinds = {"compact": text("compact"), "spread": text("spread")}
REACHES = 0.95
#: Placement word -> how cores are added.
_ORDERS = {"cores": "compact", "spread": "spread"}
_FEWEST = 2
#: Stores of which fewer numbers of cores were measured than this share of the others are no curve: they are parts
#: of the machine that another measure asked for, with nothing between them.
_WHOLE = 0.5
#: Placements that are the first and the last number of cores, however these are added.
_ENDS = frozenset({"one-core", "all"})


class Saturation(Model, frozen=True, kw_only=True, tag=LAW):
    """How many cores fill the bandwidth of memory.

    Attributes:
        order: how cores are added: `compact` or `spread`.
        cores: the fewest that reach .95 of the most. Where not every number was measured, any above the last one
            that did not suffice.
        maximum: the most that any number of cores gets, in B/s.
        cores_at_maximum: how many these are.
        one_core: what one core gets; None where it was not measured.
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
    """One model for each way to add cores, and kind of stores; of two ways that are the same cores the first."""
    triads = known.of_role("memory-rate", "triad")
    words = _words(known.run)
    seen: set[tuple[str, ...]] = set()
    for word, order in _ORDERS.items():
        # Asked for by the word, or one core and all cores, its ends.
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
    """Placement label -> `cores` and `spread` where it, or what was folded into it, was asked for by that word."""
    asked = [(word, word) for word in (parsed(case.placement.label) for case in run.plan.cases)]
    words = defaultdict[str, set[str]](set)
    for wish, into in (*asked, *(folded.places for folded in run.plan.folded)):
        words[into.text].add(wish.share)
    return words


def _label(measured: Measured) -> str:
    return measured.estimate.placement.label


def _numbers(members: Iterable[Measured]) -> set[int]:
    return {_cores(each) for each in members}


def _cores(measured: Measured) -> int:
    return len(measured.estimate.placement.cpus[0])


def _model(order: str, curve: Curve, most: int) -> Model:
    """`most`: how many numbers of cores were measured of the best known curve of this order."""
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
