"""The ratio of two measured estimates over the blocks that both have, or over the launches of two runs."""

import math
from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

import msgspec

from assay.analyse.comparisons.ranks import null_effects, shift
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.history import logs
from assay.analyse.states import UNSETTLED
from assay.analyse.statistics import hodges_lehmann, percentile
from assay.model.grouping import grouped
from assay.model.quantity import CONFIDENCE, Quantity


class BlockRatio(NamedTuple):
    """The ratio of two estimates over the blocks that have both in the same state, and the number of blocks."""

    value: Quantity
    blocks: int


def block_ratio(a: Measured, b: Measured) -> BlockRatio | None:
    """Return the ratio a / b over the blocks that have both in the same state; None without such a block."""
    found = tuple(differences(a, b).values())
    return BlockRatio(exponentiated(hodges_lehmann(found)), len(found)) if found else None


def exponentiated(difference: Quantity) -> Quantity:
    """Return the ratio whose logarithm this is."""
    value, lo, hi = map(math.exp, difference)
    return Quantity(value, lo, hi, basis=difference.basis)


def difference(a: Measured, b: Measured, *, paired: bool) -> Quantity:
    """Return a - b with its ends, in their unit: over common blocks if `paired`, else over all launches."""
    if paired:
        of_a, of_b = (_by_block(each.launches, common_state(a, b)) for each in (a, b))
        found = hodges_lehmann([of_a[block] - of_b[block] for block in sorted(of_a.keys() & of_b.keys())])
    else:
        found = shift(*([launch.value for launch in each.launches] for each in (a, b)))
    return msgspec.structs.replace(found, unit=a.estimate.unit)


def resolution(a: Measured, b: Measured) -> float | None:
    """Return the 95th percentile of the relative effects of A against A; None without blocks."""
    found = tuple(differences(a, b).values())
    return math.expm1(percentile(null_effects(found), CONFIDENCE)) if found else None


def common_state(a: Measured, b: Measured) -> str | None:
    """Return the state of the machine in which both are compared; None if states do not explain them."""
    return a.estimate.state or b.estimate.state


def differences(a: Measured, b: Measured) -> dict[int, float]:
    """Return, by block, ln(a/b) where it has both in the state; without zeros, as the rate of empty messages."""
    if _differ_in_state(a, b):
        return {}
    of_a, of_b = (_by_block(each.launches, common_state(a, b)) for each in (a, b))
    both = {block: (of_a[block], of_b[block]) for block in sorted(of_a.keys() & of_b.keys())}
    return {block: math.log(one / other) for block, (one, other) in both.items() if one > 0 and other > 0}


def of_launches(a: Measured, b: Measured) -> tuple[list[float], list[float]]:
    """Return ln of the launches of the estimates of two runs, in order; none if their states differ."""
    if _differ_in_state(a, b):
        return [], []
    state = common_state(a, b)
    one, other = (
        logs(launch.value for launch in sorted(each.launches, key=_block) if state in {None, launch.state})
        for each in (a, b)
    )
    return one, other


def _block(launch: LaunchMedian) -> int:
    return launch.block


def _differ_in_state(a: Measured, b: Measured) -> bool:
    """Whether no state of the machine has both; a state that changed during a launch does not count."""
    of_a, of_b = ({launch.state for launch in each.launches} for each in (a, b))
    return not (of_a & of_b) - {UNSETTLED} and None not in of_a | of_b


def _by_block(launches: Iterable[LaunchMedian], state: str | None) -> dict[int, float]:
    in_state = (each for each in launches if state is None or state == each.state)
    blocks = grouped(in_state, _block)
    return {block: median(each.value for each in made) for block, made in blocks.items()}
