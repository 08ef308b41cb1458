"""The one place that judges: pairs of figures, gathered into families, become comparisons with a verdict."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from assay.analyse.comparisons import families
from assay.analyse.comparisons.effects import common_state, difference, differences, exponentiated, of_launches
from assay.analyse.comparisons.families import RunEffects, Tested
from assay.analyse.comparisons.lacking import Seen, lack
from assay.analyse.comparisons.ranks import shift
from assay.analyse.estimates import Measured
from assay.analyse.history import (
    ASSUMED_RATIO,
    DISTURBED_RATIO,
    BetweenRuns,
    OfDifference,
    of_difference,
    widened,
)
from assay.analyse.statistics import MARGIN, NORMAL, Samples, hodges_lehmann, verdict
from assay.model.comparison import Comparison
from assay.model.grouping import grouped
from assay.model.quantity import CONFIDENCE, Quantity

_SIGNIFICANT = 1 - CONFIDENCE
#: The verdict that replaces a claim which can be chance in its family. To lie within the margin needs no test.
_WITHDRAWN: dict[str, str] = {
    "faster": "inconclusive", "slower": "inconclusive", "trivially different": "equivalent",
}  # fmt: skip
#: An interval's half-width is about 1.96 standard errors; 0.84 more find an effect four times in five.
_FOUR_IN_FIVE = 1 + 0.84 / NORMAL


class Pair(NamedTuple):
    """Two figures that are compared, named by whoever found them.

    Attributes:
        a: the judged one.
        b: the base.
        differ: see `Comparison`.
        level: of a.
        base: of b.
        varied: whether it was varied on purpose.
        resolution: of the machine, relative: the result of A against A.
    """

    a: Measured
    b: Measured
    differ: str = ""
    level: str = ""
    base: str = ""
    varied: bool = False
    resolution: float | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The two estimates: equal keys are one comparison."""
        return self.a.estimate.id, self.b.estimate.id


class _Effect(NamedTuple):
    """What a pair shows: ln(a / b), its values (of blocks, or of the launches of both runs) and its test."""

    pair: Pair
    value: Quantity
    counts: tuple[int, int]
    deviation: float
    blocks: int
    tested: tuple[float, float] | None = None
    runs: OfDifference | None = None


def in_blocks(pairs: Sequence[Pair]) -> list[Comparison | None]:
    """Return the comparison of each pair, over common blocks; None without a block that has both in one state.

    A family is the pairs of the same two levels.
    """
    found: dict[int, Comparison] = {}
    for places in grouped(range(len(pairs)), lambda at: pairs[at][2:6]).values():
        by_block = {at: of for at in places if (of := differences(pairs[at].a, pairs[at].b))}
        effects = {at: hodges_lehmann(list(of.values())) for at, of in by_block.items()}
        testable = [at for at, effect in effects.items() if effect.confidence]
        p = _p(testable, families.of_blocks(_table([by_block[at] for at in testable])) if testable else None)
        for at, effect in effects.items():
            values = list(by_block[at].values())
            seen = _Effect(pairs[at], effect, (len(values),) * 2, _deviation(values), len(values), p.get(at))
            found[at] = _comparison(seen, len(testable))
    return [found.get(at) for at in range(len(pairs))]


def between_runs(pairs: Sequence[Pair], known: BetweenRuns | None) -> list[Comparison | None]:
    """Return the comparison of each pair of figures of two runs; None if their states differ. They are one family.

    Args:
        pairs: `a` is of the judged run, `b` of the base.
        known: the variance of figures of these machines from run to run; None if it is unknown.
    """
    launches = {at: of for at, pair in enumerate(pairs) if all(of := of_launches(pair.a, pair.b))}
    effects = {at: shift(*of) for at, of in launches.items()}
    testable = [at for at, effect in effects.items() if effect.confidence]
    variances = {at: _of_difference(pairs[at], known) for at in testable}
    tested = None
    if testable:
        tested = families.of_runs(
            _rows([launches[at][0] for at in testable]),
            _rows([launches[at][1] for at in testable]),
            _effects([pairs[at] for at in testable], list(variances.values()), known),
        )
        for at, variance in zip(testable, tested.between.tolist(), strict=True):
            variances[at] = variances[at]._replace(variance=variance)
    p, found = _p(testable, tested), dict[int, Comparison]()
    for at, (a, b) in launches.items():
        of_runs = variances.get(at)
        wide = widened(effects[at], of_runs.half) if of_runs else effects[at]
        seen = _Effect(pairs[at], wide, (len(a), len(b)), _deviation(a, b), 0, p.get(at), of_runs)
        found[at] = _comparison(seen, len(testable))
    return [found.get(at) for at in range(len(pairs))]


def difference_between_runs(pair: Pair, known: BetweenRuns | None, found: Comparison) -> Quantity:
    """Return a - b in their unit, with what runs add to the comparison of the pair, relative to each figure."""
    plain = difference(pair.a, pair.b, paired=False)
    if found.between_runs is None or not (pair.a.estimate.value and pair.b.estimate.value):
        return plain
    freedom = _of_difference(pair, known).freedom
    one = OfDifference(found.between_runs**2, freedom, found.history).half
    return widened(plain, one * math.hypot(pair.a.estimate.value.value, pair.b.estimate.value.value))


def _p(testable: Sequence[int], tested: Tested | None) -> dict[int, tuple[float, float]]:
    """Place of a pair -> its p alone and in the family."""
    both = zip(tested.single.tolist(), tested.adjusted.tolist(), strict=True) if tested else ()
    return dict(zip(testable, both, strict=True))


def _effects(pairs: Sequence[Pair], variances: Sequence[OfDifference], known: BetweenRuns | None) -> RunEffects:
    """What runs add to the figures of a family."""
    freedom = np.array([each.freedom for each in variances])
    return RunEffects(
        variance=np.array([each.variance for each in variances]),
        freedom=freedom,
        relative=np.where(np.isinf(freedom), [_ratio(pair) ** 2 for pair in pairs], 0.0),
        common=_together(known, pairs),
    )


def _of_difference(pair: Pair, known: BetweenRuns | None) -> OfDifference:
    if known is None:
        return of_difference((), same_day=False)
    sides = known.run.components(pair.a.estimate.id), known.base.components(pair.b.estimate.id)
    return of_difference(sides, same_day=known.same_day)


def _ratio(pair: Pair) -> float:
    """The assumed deviation between runs over that between launches."""
    disturbed = pair.a.estimate.disturbed + pair.b.estimate.disturbed
    return DISTURBED_RATIO if disturbed else ASSUMED_RATIO


def _together(known: BetweenRuns | None, pairs: Sequence[Pair]) -> float | None:
    """What earlier runs show of how the figures of a run move together; None if they show it of no figure."""
    of_run = [pair.a.estimate.id for pair in pairs if known and known.run.components(pair.a.estimate.id)]
    of_base = [pair.b.estimate.id for pair in pairs if known and known.base.components(pair.b.estimate.id)]
    if known is None or not (of_run or of_base):
        return None
    return min(side.together(names) for side, names in ((known.run, of_run), (known.base, of_base)) if names)


def _table(columns: Sequence[dict[int, float]]) -> Samples:
    """One row a block, one column a figure; NaN where a block lacks it."""
    blocks = sorted(set().union(*columns))
    return np.array([[of.get(block, math.nan) for of in columns] for block in blocks])


def _rows(columns: Sequence[Sequence[float]]) -> Samples:
    """One row a launch: the first launches of all figures move together, and so on; NaN where one has fewer."""
    most = max(map(len, columns))
    return np.array([[*of, *[math.nan] * (most - len(of))] for of in columns]).T


def _deviation(*groups: Sequence[float]) -> float:
    """The standard deviation within the groups; 0 if there is one value in each."""
    free = sum(len(each) - 1 for each in groups)
    squares = sum(float(np.var(each)) * len(each) for each in groups)
    return math.sqrt(squares / free) if free else 0.0


def _comparison(effect: _Effect, among: int) -> Comparison:
    """The whole result of a pair: ratio, interval, p, verdict, and what it lacks."""
    pair, wide = effect.pair, effect.value
    a, b = pair.a.estimate, pair.b.estimate
    ratio = exponentiated(wide)
    speed_up = (ratio.lo, ratio.hi) if a.better == "higher" else (1 / ratio.hi, 1 / ratio.lo)
    margin = max(MARGIN, pair.resolution or 0.0)
    half = (wide.hi - wide.lo) / 2
    single, adjusted = effect.tested or (None, None)
    word: str = verdict(*speed_up, wide.confidence, pair.resolution or 0.0)
    if adjusted is not None and adjusted > _SIGNIFICANT:
        word = _WITHDRAWN.get(word, word)
    made = tuple(
        0 if each.basis == "imported" else count for each, count in zip((a, b), effect.counts, strict=True)
    )
    found = Comparison(
        id=f"{a.id} : {b.id}",
        a=a.id,
        b=b.id,
        value=ratio,
        blocks=min(made) if effect.blocks else 0,
        verdict=word,
        differ=pair.differ,
        level=pair.level,
        base=pair.base,
        varied=pair.varied,
        state=common_state(pair.a, pair.b),
        launches=(made[0], made[1]),
        margin=margin,
        resolution=pair.resolution,
        detectable=math.expm1(math.log1p(margin) + _FOUR_IN_FIVE * half) if wide.confidence else None,
        p=single,
        adjusted_p=adjusted,
        among=max(among, 1),
        between_runs=effect.runs.deviation if effect.runs else None,
        history=effect.runs.history if effect.runs else 0,
    )
    if word != "inconclusive":
        return found
    seen = Seen(effect.deviation, 0.0 if effect.runs is None else effect.runs.half, a.disturbed + b.disturbed)
    return msgspec.structs.replace(found, lack=lack(found, seen))
