"""Many pairs at once: T = a + k s / min(R_node, R_1 + (k - 1) R_i), the max-rate model.

Source: W. Gropp, L. N. Olson, P. Samfass, Modeling MPI communication performance on SMP nodes: is it time to
retire the ping pong test, EuroMPI 2016.
"""

import math
from typing import NamedTuple

import numpy as np

from assay.analyse.statistics import Samples
from assay.topics.messages.pieces import PENALTY

#: Relative scatter of rates.
_SCATTER = 0.015
#: Further pairs add nothing if they gain less than this share of the rate of one pair.
_NOTHING = 0.05
#: Numbers of pairs below the rate of the node that are needed to know the gain of a further pair.
_LINE = 2


class Rates(NamedTuple):
    """The law of each row of times.

    Attributes:
        start: a in s, shape (rows,).
        one: R_1 in B/s.
        further: R_i in B/s; not finite where a single number of pairs lies below the node's rate.
        node: R_node in B/s; infinite where no number of pairs reaches it.
    """

    start: Samples
    one: Samples
    further: Samples
    node: Samples


def rates(pairs: Samples, law: Rates) -> Samples:
    """Return the rates of these numbers of pairs, shape (rows, numbers)."""
    more = pairs - 1
    added = np.zeros((law.one.size, pairs.size))
    np.multiply(more, law.further[:, None], out=added, where=more > 0)
    result: Samples = np.minimum(law.node[:, None], law.one[:, None] + added)
    return result


def by_number(pairs: Samples, sizes: Samples, times: Samples) -> tuple[Samples, Samples, Samples]:
    """Fit the common start and the rate of each number of pairs by relative least squares.

    Args:
        pairs: k of each time, shape (points,).
        sizes: s of each time.
        times: T in s, shape (rows, points).

    Returns:
        Numbers, ascending; start, shape (rows,), 0 or more; rates in B/s, shape (rows, numbers).
    """
    numbers, of = np.unique(pairs, return_inverse=True)
    weights = 1 / times**2
    which = (of[:, None] == np.arange(numbers.size)).astype(np.float64)
    squares = (weights * sizes**2) @ which
    alone, shared = ((weights * sizes * times) @ which / squares, (weights * sizes) @ which / squares)
    left, share = times - sizes * alone[:, of], 1 - sizes * shared[:, of]
    start = np.maximum(0.0, (weights * left * share).sum(axis=1) / (weights * share**2).sum(axis=1))
    return numbers, start, numbers / (alone - start[:, None] * shared)


def below(numbers: Samples, found: Samples) -> int:
    """Return how many numbers of pairs lie below the rate of the node, in the best fit to one row of rates.

    Reaching the rate of the node costs as much as a break of a curve.
    """
    costs = []
    for count in range(1, numbers.size + 1):
        law = law_of(numbers, np.zeros(1), found[None, :], count)
        cost = float((((rates(numbers, law) / found - 1) / _SCATTER) ** 2).sum())
        adds_nothing = count >= _LINE and law.further[0] * (numbers[-1] - 1) < _NOTHING * law.one[0]
        costs.append(
            math.inf if adds_nothing else cost + PENALTY * math.log(numbers.size) * (count < numbers.size)
        )
    return int(np.argmin(costs)) + 1


def law_of(numbers: Samples, start: Samples, found: Samples, count: int) -> Rates:
    """Fit a line through the first `count` rates, and the level of the others, with relative residuals."""
    weights = 1 / found**2
    first, rest = slice(None, count), slice(count, None)
    inside = weights[:, first]
    total = inside.sum(axis=1)
    middle, level = inside @ (numbers[first] - 1) / total, (inside * found[:, first]).sum(axis=1) / total
    away = numbers[first] - 1 - middle[:, None]
    further = np.full(start.shape, np.inf)
    if count >= _LINE:
        slope = (inside * away * (found[:, first] - level[:, None])).sum(axis=1) / (inside * away**2).sum(axis=1)
        further = np.maximum(slope, 0.0)
    one = level - (further * middle if count >= _LINE else 0.0)
    node = np.full(start.shape, np.inf)
    if count < numbers.size:
        node = (1 / found[:, rest]).sum(axis=1) / weights[:, rest].sum(axis=1)
    return Rates(start, one, further, node)


def fill(law: Rates) -> Samples:
    """Return the number of pairs that reaches the rate of the node: 1 + (R_node - R_1) / R_i."""
    result: Samples = np.maximum(1.0, 1 + (law.node - law.one) / law.further)
    return result
