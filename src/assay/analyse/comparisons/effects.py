"""The ratio of two measured estimates, its interval, and the verdict."""

import math
from collections.abc import Iterable, Sequence
from statistics import median

import msgspec

from assay.analyse.comparisons.ranks import benjamini_yekutieli, null_effects, shift, signed_rank_p
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.history import BetweenRuns, logs, widened
from assay.analyse.states import UNSETTLED
from assay.analyse.statistics import MARGIN, NORMAL, hodges_lehmann, percentile, verdict
from assay.model.grouping import grouped
from assay.model.quantity import CONFIDENCE, Quantity
from assay.model.result import Comparison

_SIGNIFICANT = 1 - CONFIDENCE
#: The verdict that replaces a claim which does not survive the number of comparisons.
_WITHDRAWN: dict[str, str] = {
    "faster": "inconclusive", "slower": "inconclusive", "trivially different": "equivalent",
}  # fmt: skip
#: An interval's half-width is about 1.96 standard errors; 0.84 more find an effect four times in five.
_FOUR_IN_FIVE = 1 + 0.84 / 1.96


def compare(a: Measured, b: Measured, resolution: float | None = None) -> Comparison | None:
    """Return the ratio a / b over the blocks that have both in the same state; None without such a block.

    Args:
        a: the judged one.
        b: the base.
        resolution: of the machine, relative: the result of A against A.
    """
    state = _common_state(a, b)
    differences = _differences(a, b, state)
    if not differences:
        return None
    effect = hodges_lehmann(differences)
    p = signed_rank_p(differences) if effect.confidence else None
    shared = _comparison(a, b, effect, p, resolution)
    blocks = min(_own_launches(each, len(differences)) for each in (a, b))
    return msgspec.structs.replace(shared, blocks=blocks, launches=(blocks, blocks), state=state)


def compare_unpaired(a: Measured, b: Measured, between: BetweenRuns | None = None) -> Comparison | None:
    """Return the ratio a / b of two runs, which share no blocks; None if their states differ.

    Args:
        a: the judged one.
        b: the base.
        between: the variance of figures of these machines from run to run; None if it is unknown.
    """
    if _differ_in_state(a, b):
        return None
    state = _common_state(a, b)
    of_a, of_b = (logs(one.value for one in each.launches if state in {None, one.state}) for each in (a, b))
    if not of_a or not of_b:
        return None
    effect, p = shift(of_a, of_b)
    known = (between.run.components(a.estimate.id), between.base.components(b.estimate.id)) if between else ()
    wide = widened(effect, known, same_day=bool(between and between.same_day))
    if p is not None and wide != effect:  # no more certain than the wider interval allows
        half = max(wide.value - wide.lo, wide.hi - wide.value)
        p = max(p, math.erfc(NORMAL * abs(wide.value) / half / math.sqrt(2)))
    shared = _comparison(a, b, wide, p, None)
    if wide != effect:
        sd = max(each.between for each in known if each)
        shared = msgspec.structs.replace(shared, between_runs=sd, history=max(each.runs for each in known if each))
    launches = _own_launches(a, len(of_a)), _own_launches(b, len(of_b))
    return msgspec.structs.replace(shared, launches=launches, state=state)


def difference(a: Measured, b: Measured, *, paired: bool) -> Quantity:
    """Return a - b with its ends, in their unit: over common blocks if `paired`, else over all launches."""
    if paired:
        of_a, of_b = (_by_block(each.launches, _common_state(a, b)) for each in (a, b))
        found = hodges_lehmann([of_a[block] - of_b[block] for block in sorted(of_a.keys() & of_b.keys())])
    else:
        found, _ = shift(*([launch.value for launch in each.launches] for each in (a, b)))
    return msgspec.structs.replace(found, unit=a.estimate.unit)


def resolution(a: Measured, b: Measured) -> float | None:
    """Return the 95th percentile of the relative effects of A against A; None without blocks."""
    differences = _differences(a, b, _common_state(a, b))
    return math.expm1(percentile(null_effects(differences), CONFIDENCE)) if differences else None


def adjusted(comparisons: Sequence[Comparison], *, binding: bool) -> list[Comparison]:
    """Return the comparisons in order, with p adjusted among those that have one.

    If `binding`, no claim holds above 5 %. A difference within the margin becomes equivalent.
    """
    tested = [at for at, each in enumerate(comparisons) if each.p is not None]
    found = list(comparisons)
    for at, p in zip(tested, benjamini_yekutieli([found[at].p or 0.0 for at in tested]), strict=True):
        word = _WITHDRAWN.get(found[at].verdict, found[at].verdict)
        verdict = word if binding and p > _SIGNIFICANT else found[at].verdict
        found[at] = msgspec.structs.replace(found[at], adjusted_p=p, verdict=verdict)
    return found


def _comparison(a: Measured, b: Measured, effect: Quantity, p: float | None, own: float | None) -> Comparison:
    ratio, lo, hi = map(math.exp, effect)
    speed_up = (lo, hi) if a.estimate.better == "higher" else (1 / hi, 1 / lo)
    margin = max(MARGIN, own or 0.0)
    detectable = None
    if effect.confidence:
        detectable = math.expm1(math.log1p(margin) + _FOUR_IN_FIVE * (effect.hi - effect.lo) / 2)
    return Comparison(
        id=f"{a.estimate.id} : {b.estimate.id}",
        a=a.estimate.id,
        b=b.estimate.id,
        value=Quantity(ratio, lo, hi, basis=effect.basis),
        blocks=0,
        verdict=verdict(*speed_up, effect.confidence, own or 0.0),
        margin=margin,
        resolution=own,
        detectable=detectable,
        p=p,
    )


def _own_launches(measured: Measured, launches: int) -> int:
    """The number of launches; 0 for an imported value, which has no samples."""
    return 0 if measured.estimate.basis == "imported" else launches


def _common_state(a: Measured, b: Measured) -> str | None:
    return a.estimate.state or b.estimate.state


def _differ_in_state(a: Measured, b: Measured) -> bool:
    """Whether no state of the machine has both; a state that changed during a launch does not count."""
    of_a, of_b = ({launch.state for launch in each.launches} for each in (a, b))
    return not (of_a & of_b) - {UNSETTLED} and None not in of_a | of_b


def _differences(a: Measured, b: Measured, state: str | None) -> list[float]:
    """ln(a/b) of each block that has both in the state, without zeros, as the rate of empty messages."""
    if _differ_in_state(a, b):
        return []
    of_a, of_b = (_by_block(each.launches, state) for each in (a, b))
    both = [(of_a[block], of_b[block]) for block in sorted(of_a.keys() & of_b.keys())]
    return [math.log(one / other) for one, other in both if one > 0 and other > 0]


def _by_block(launches: Iterable[LaunchMedian], state: str | None) -> dict[int, float]:
    in_state = (each for each in launches if state is None or state == each.state)
    blocks = grouped(in_state, lambda launch: launch.block)
    return {block: median(each.value for each in made) for block, made in blocks.items()}
