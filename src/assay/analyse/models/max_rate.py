"""What many pairs get at once: the rate of one, what each further one adds, and where the node's rate ends it."""

from collections.abc import Iterable, Sequence

import numpy as np

from assay.analyse.curves import Curve, Known, ends, point
from assay.analyse.estimates import Measured
from assay.analyse.messages import curves, pairs
from assay.analyse.messages.curves import Times
from assay.analyse.messages.pairs import Rates
from assay.model.result import Estimate, Model
from assay.model.text import text

LAW = "max-rate"
_PATTERNS = ("multi-bandwidth", "multi-latency")
#: Placements that take more and more cores of the same kind.
_WORDS = ("one-core", "half", "all")
_PREFIXES = ("spread:", "cores:")
_FEWEST_NUMBERS = 3


def fit(known: Known) -> Iterable[Model]:
    """One model for each curve over numbers of pairs and sizes; one number of pairs is no curve."""
    for benchmark in ("pt2pt", "tcp"):
        for curve in curves.by_size(known, benchmark, "label"):
            members = [each for each in curve.members if _counts(each.estimate)]
            if len({pairs_of(each.estimate) for each in members}) > 1:
                yield _model(curves.named(LAW, benchmark, _marks(curve, members)), members)


def pairs_of(estimate: Estimate) -> int:
    """Pairs of ranks: half of the cores on all hosts."""
    return sum(len(cpus) for cpus in estimate.placement.cpus) // 2


def _counts(estimate: Estimate) -> bool:
    word = estimate.placement.label.partition("@")[0]
    return (
        estimate.params[curves.PATTERN] in _PATTERNS
        and curves.size(estimate) > 0
        and (word in _WORDS or word.startswith(_PREFIXES))
    )


def _marks(curve: Curve, members: Sequence[Measured]) -> tuple[str, ...]:
    _, at, nodes = members[0].estimate.placement.label.partition("@")
    return (f"{at}{nodes}", *curve.marks) if at else curve.marks


def _model(name: str, members: Sequence[Measured]) -> Model:
    times = curves.times(members)
    of = tuple(each.estimate.id for each in times.members)
    k = np.array([float(pairs_of(each.estimate)) for each in times.members])
    numbers = len(set(k))
    if numbers < _FEWEST_NUMBERS or len(set(times.sizes)) == 1:
        reason = text(
            "{numbers} numbers of pairs, {sizes} sizes: the law needs {needed} and 2",
            numbers=numbers,
            sizes=len(set(times.sizes)),
            needed=_FEWEST_NUMBERS,
        )
        return Model(name, LAW, of, {}, None, reason)
    # All pairs' bytes pass in the time that a bandwidth gives to one message.
    each_pair = k if times.members[0].estimate.unit != "s" else np.ones_like(k)
    seconds, draws = each_pair * times.seconds, each_pair * times.draws
    which, start, found = pairs.by_number(k, times.sizes, seconds)
    count = pairs.below(which, found[0])
    law = pairs.law_of(which, start, found, count)
    _, drawn_start, drawn_found = pairs.by_number(k, times.sizes, draws)
    drawn = pairs.law_of(which, drawn_start, drawn_found, count)
    said = law.start[0] + k * times.sizes / pairs.rates(k, law)[0]
    points = tuple(
        point(
            each.estimate,
            {"pairs": int(k[at]), "bytes": curves.size(each.estimate)},
            float(seconds[0, at] / said[at]),
            _scaled(curves.seconds(each.estimate), float(each_pair[at])),
        )
        for at, each in enumerate(times.members)
    )
    residual = max(abs((each.ratio or 1.0) - 1) for each in points)
    return Model(name, LAW, of, _parameters(law, drawn, times), residual, points=points)


def _parameters(law: Rates, drawn: Rates, times: Times) -> dict[str, tuple[float, float, float]]:
    wanted = {
        "start": (law.start, drawn.start),
        "one pair": (law.one, drawn.one),
        "each further pair": (law.further, drawn.further),
        "node": (law.node, drawn.node),
    }
    if np.isfinite(law.further[0]) and law.further[0] > 0 and np.isfinite(law.node[0]):
        wanted["pairs that fill"] = (pairs.fill(law), pairs.fill(drawn))
    return {
        name: (float(value[0]), *ends(draws[np.isfinite(draws)], confident=times.confident))
        for name, (value, draws) in wanted.items()
        if np.isfinite(value[0]) and np.isfinite(draws).any()
    }


def _scaled(value: tuple[float, float, float], factor: float) -> tuple[float, float, float]:
    return factor * value[0], factor * value[1], factor * value[2]
