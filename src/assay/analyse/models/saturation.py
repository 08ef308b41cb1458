"""How many cores fill the memory's bandwidth: the fewest that reach .95 of what any number of them gets."""

from collections.abc import Iterable, Mapping

import numpy as np

from assay.analyse.curves import Known, curves, ends, figure, point, replicates
from assay.analyse.estimates import Measured
from assay.analyse.statistics import Samples
from assay.model.result import Model
from assay.model.run import Run
from assay.model.text import text

LAW = "saturation"
REACHES = 0.95
#: Placement word -> how cores are added.
_ORDERS = {"cores": "compact", "spread": "spread"}
_FEWEST = 2
#: Stores of which fewer numbers of cores were measured than this share of the others are no curve: they are parts
#: of the machine that another measure asked for, with nothing between them.
_WHOLE = 0.5
#: Placements that are the first and the last number of cores, however these are added.
_ENDS = frozenset({"one-core", "all"})


def fit(known: Known) -> Iterable[Model]:
    """One model for each way to add cores, and kind of stores; of two ways that are the same cores the first."""
    triads = known.of("stream", "triad")
    words = _words(known.run)
    seen: set[tuple[str, ...]] = set()
    for word, order in _ORDERS.items():
        having = [each for each in triads if _counted(each, words, word)]
        if not any(words[each.estimate.placement.label] & {word} for each in having):
            continue
        counted = {curve.marks: sorted(curve.members, key=_cores) for curve in curves(having, "label")}
        most = max(len(_numbers(members)) for members in counted.values())
        for marks, members in counted.items():
            of = tuple(each.estimate.id for each in members)
            if of not in seen:
                seen.add(of)
                yield _model("/".join([LAW, order, *marks]), order, members, most)


def _words(run: Run) -> dict[str, set[str]]:
    """Placement label -> `cores` and `spread` where it, or what was folded into it, was asked for by that word."""
    asked = [(case.placement.label, case.placement.label) for case in run.plan.cases]
    asked += [(folded.into.partition(",")[0], folded.wish.partition(",")[0]) for folded in run.plan.folded]
    words: dict[str, set[str]] = {}
    for label, wish in asked:
        words.setdefault(label, set()).add(wish.partition(":")[0])
    return words


def _counted(measured: Measured, words: Mapping[str, set[str]], word: str) -> bool:
    """Whether an estimate stands on the curve of a word: asked for by it, or one core and all cores, its ends."""
    label = measured.estimate.placement.label
    return word in words.get(label, ()) or label in _ENDS


def _numbers(members: Iterable[Measured]) -> set[int]:
    return {_cores(each) for each in members}


def _cores(measured: Measured) -> int:
    return len(measured.estimate.placement.cpus[0])


def _model(name: str, order: str, members: list[Measured], most: int) -> Model:
    """Parameters: `cores`, `maximum`, `cores at maximum`, `one core`.

    Where not every number was measured, `cores` may be any above the last one that did not suffice;
    `most` is how many were measured of the best known curve of this order.
    """
    of = tuple(each.estimate.id for each in members)
    numbers = len(_numbers(members))
    if numbers < _FEWEST:
        return Model(
            name,
            LAW,
            of,
            {},
            None,
            text(
                "{numbers} number of cores with a figure: a curve needs {needed}", numbers=numbers, needed=_FEWEST
            ),
        )
    if numbers < _WHOLE * most:
        told = text("{numbers} of {most} numbers of cores with a figure: no curve", numbers=numbers, most=most)
        return Model(name, LAW, of, {}, None, told)
    cores = np.array([_cores(each) for each in members], dtype=np.float64)
    medians = np.array([[each.estimate.median or 0.0 for each in members]])
    draws, confident = replicates(members)

    def fewest(rows: Samples) -> Samples:
        enough: Samples = cores[np.argmax(rows >= REACHES * rows.max(axis=1, keepdims=True), axis=1)]
        return enough

    best = int(np.argmax(medians))
    least, largest = ends(fewest(draws), confident=confident)
    below = cores[cores < least]
    parameters = {
        "cores": (float(fewest(medians)[0]), float(below.max()) + 1 if below.size else least, largest),
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
