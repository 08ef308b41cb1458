"""The law of the time of a system of equations, as HPL's authors model it, step by step.

Step k updates what is right of panel k, while the next panel is updated first, factored and passed on: the longer
of the two counts. Before it, rows are exchanged.

T = sum over k of [ S(k) + max(U(k) + F(k+1) / Q, U(k) first(k) + F(k+1) + B(k+1)) ] + b n^2 (3 P + Q) / (2 P Q)

U = g operations + u numbers is the update, F = f numbers + pivots a panel, `first` the share of an update that the
next panel waits for; B and S are messages: a panel on its way, the exchange of rows. What messages between nodes
take is the message law's; those inside a node, and all waiting, are in b. HPL's page has the sum without
look-ahead (HPL 2.3, "scalability").
"""

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from assay.analyse.curves import ends, replicates, with_ends
from assay.analyse.estimates import Measured
from assay.analyse.statistics import Samples, student
from assay.model.benchmark import Params
from assay.model.quantity import Basis, Quantity
from assay.topics.linear_algebra.benchmarks.hpl import operations, panel_numbers

#: Orders that the law needs.
FEWEST = 2
#: Of the product's rate among solutions: products of NB columns are some percent slower than square ones.
_PRODUCT_WEIGHT = 0.2
_NUMBER_BYTES = 8
#: Of a message with a candidate for a pivot, beside two rows: its size, its place, whose the other row is.
_HEAD = 3
#: Columns of coefficients: of an operation, of a number of the update's edge, of a number of a panel that one rank
#: factors and that several do, of a number that is passed on.
_G, _U, _ALONE, _TOGETHER, _B = range(5)

#: Sizes of messages in B -> seconds that each takes, of the same shape.
Messages = Callable[[Samples], Samples]


def nothing(sizes: Samples) -> Samples:
    """Messages whose time is not told apart."""
    return np.zeros_like(sizes)


class Steps(NamedTuple):
    """The work of a solution.

    Attributes:
        n: order.
        p: rows of the grid.
        q: columns of the grid.
        ahead: whether there is look-ahead.
        mean_operations: of the updates of all steps, mean over the ranks.
        operations: of each update, on the rank that has most, shape (steps,).
        edges: numbers of each update's triangular solutions, mean over the ranks.
        panel: numbers of each panel, on the rank that has most.
        first: share of each update that the next panel waits for.
        pivots: seconds of the messages in each panel.
        passed: seconds of each panel on its way.
        exchanged: seconds of messages in each exchange of rows.
        slow: how much longer the ranks take than those of the fastest node: mean, slowest.
    """

    n: int
    p: int
    q: int
    ahead: bool
    mean_operations: float
    operations: Samples
    edges: Samples
    panel: Samples
    first: Samples
    pivots: Samples
    passed: Samples
    exchanged: Samples
    slow: tuple[float, float]

    @property
    def panel_coefficient(self) -> int:
        """The column of what a number of a panel takes: by one rank the library factors it, by several Assay."""
        return _TOGETHER if self.p > 1 else _ALONE

    @property
    def flops(self) -> float:
        """Operations as HPL counts them."""
        return operations(self.n)

    @property
    def numbers(self) -> float:
        """That are passed on or exchanged, as HPL's authors count them."""
        return self.n**2 * (3 * self.p + self.q) / (2 * self.p * self.q)

    def working(self, coefficients: Samples) -> Samples:
        """Seconds without what b stands for, of each row of coefficients (rows, 5): shape (rows,)."""
        _, slow = self.slow
        update = slow * (
            np.outer(coefficients[:, _G], self.operations) + np.outer(coefficients[:, _U], self.edges)
        )
        panel = slow * np.outer(coefficients[:, self.panel_coefficient], self.panel) + self.pivots
        start = panel[:, 0] + self.passed[0]
        following = _next(panel)
        sent = following + _next(self.passed[None, :])
        if self.ahead:
            taken = np.maximum(update + following / self.q, update * self.first + sent)
        else:
            taken = update + sent
        total: Samples = start + taken.sum(axis=1) + self.exchanged.sum()
        return total

    def seconds(self, coefficients: Samples) -> Samples:
        """Of each row of coefficients (rows, 5): shape (rows,)."""
        return self.working(coefficients) + coefficients[:, _B] * self.numbers


def _next(values: Samples) -> Samples:
    """Of the step after each, shape (rows, steps)."""
    return np.hstack([values[:, 1:], np.zeros((len(values), 1))])


def steps_of(
    params: Params,
    along_row: Messages = nothing,
    along_column: Messages = nothing,
    slow: tuple[float, float] = (1.0, 1.0),
) -> Steps:
    """The work of a solution.

    Args:
        params: with `n`, `nb`, `p` and `q`.
        along_row: messages along the rows of the grid: panels.
        along_column: messages along its columns: candidates for pivots, rows.
        slow: see `Steps`.
    """
    n, block, p, q = (int(params[name]) for name in ("n", "nb", "p", "q"))
    blocks = np.arange(math.ceil(n / block), 0, -1)
    height = np.minimum(n, n - (blocks[0] - blocks) * block).astype(float)
    width = np.minimum(block, height)
    right = height - width
    rows = np.minimum(height, np.ceil(blocks / p) * block)
    below = np.minimum(right, np.ceil((blocks - 1) / p) * block)
    columns = right + 1  # with the right-hand side
    rounds = math.ceil(math.log2(p))
    others = _NUMBER_BYTES * width * columns / q * (p - 1) / p
    none = np.zeros_like(width)
    return Steps(
        n=n,
        p=p,
        q=q,
        ahead=params.get("look-ahead", "one") == "one",
        mean_operations=float((2 * width * columns * (right + width / 2)).sum()) / (p * q),
        operations=2 * width * columns / q * (below + width / 2 / p),
        edges=width * right * (1 / p + 1 / q) / 2,
        panel=width * rows,
        first=np.minimum(1.0, q / np.maximum(blocks - 1, 1)),
        pivots=rounds * width * along_column(_NUMBER_BYTES * (_HEAD + 2 * width)) if p > 1 else none,
        passed=along_row(_NUMBER_BYTES * panel_numbers(rows, width)) if q > 1 else none,
        exchanged=(rounds - 2) * along_column(none) + 2 * along_column(others) if p > 1 else none,
        slow=slow,
    )


class Work(NamedTuple):
    """A solution whose messages take what their law says, and what its ends allow.

    Attributes:
        typical: by the values of the law.
        fastest: by the lower ends of its times.
        slowest: by their upper ends.
    """

    typical: Steps
    fastest: Steps
    slowest: Steps


def without_messages(params: Params) -> Work:
    """A solution whose messages are told apart by nobody."""
    steps = steps_of(params)
    return Work(steps, steps, steps)


class Solution(NamedTuple):
    """A system as it was solved.

    Attributes:
        rate: of the whole.
        update: time of its updates, mean over the ranks.
        panel: time of its panels, mean over the ranks.
        steps: its work.
    """

    rate: Measured
    update: Measured
    panel: Measured
    steps: Steps

    @property
    def order(self) -> int:
        """N."""
        return int(self.rate.estimate.params["n"])


class Solutions(NamedTuple):
    """Solutions that one law is fitted to.

    Attributes:
        marks: what they share, in words.
        state: of the machine; None where states do not matter.
        members: by grid and order.
        product: rate of the library's product on the cores of the first; None where that was not measured.
    """

    marks: tuple[str, ...]
    state: str | None
    members: tuple[Solution, ...]
    product: Measured | None

    def up_to(self, order: float) -> "Solutions":
        """Those of at most this order."""
        return self._replace(members=tuple(each for each in self.members if each.order <= order))

    @property
    def orders(self) -> tuple[int, ...]:
        """Each once, ascending."""
        return tuple(sorted({each.order for each in self.members}))

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of all estimates that a law of them rests on."""
        return tuple(each.estimate.id for each in self.measured)

    @property
    def measured(self) -> tuple[Measured, ...]:
        """Rates, then updates, then panels, then perhaps the product."""
        parts = ([getattr(each, part) for each in self.members] for part in ("rate", "update", "panel"))
        return (*chain.from_iterable(parts), *([self.product] if self.product else []))


class Fitted(NamedTuple):
    """The law of some solutions.

    Attributes:
        found: coefficients, shape (1, 5).
        draws: what they might have been, shape (draws, 5).
        basis: what the ends of the draws are.
        residual: largest distance of a time from the law, relative; of those by several ranks, if any.
        margin: relative: a further solution lies no farther from the law with 95 %, if distances are normal.
        unhidden: of what look-ahead hides by the law this share may not be hidden.
    """

    found: Samples
    draws: Samples
    basis: Basis
    residual: float
    margin: float
    unhidden: float = 0.0

    def coefficients(self, of: Steps) -> tuple[Quantity, Quantity, Quantity]:
        """Seconds of an operation, of a number of a panel as a solution factors it, and of one passed on."""
        at = (_G, of.panel_coefficient, _B)
        g, f, b = (with_ends(self.found[0, each], self.draws[:, each], self.basis, "s") for each in at)
        return g, f, b

    def seconds(self, steps: Steps) -> float:
        """Of a solution."""
        return float(steps.seconds(self.found)[0])

    def rate(self, work: Work) -> Quantity:
        """Of a solution, in flop/s: its ends are those of the draws, wider by the margin and by the messages."""
        flops, middle = work.typical.flops, self.seconds(work.typical)
        low, high = ends(work.typical.seconds(self.draws), self.basis)
        low *= self.seconds(work.fastest) / middle / (1 + self.margin)
        high *= self.seconds(work.slowest) / middle * (1 + self.margin)
        high += self.unhidden * (self.seconds(work.typical._replace(ahead=False)) - middle)
        return Quantity(flops / middle, flops / max(high, middle), flops / min(low, middle), "flop/s", "derived")


def fitted(solutions: Solutions) -> Fitted:
    """The law of at least two orders.

    Updates give g and u, panels f, and what is left of whole solutions b. The rate of the product counts among the
    updates as a part of a solution. Distances are relative to the time of the solution; no coefficient is below 0.
    """
    members = solutions.measured
    draws, basis = replicates(members)
    medians = np.array([[each.estimate.median or 0.0 for each in members]])
    of = [each.steps for each in solutions.members]
    result = coefficients(of, medians)
    off = [of[at].flops / medians[0, at] / float(of[at].seconds(result)[0]) - 1 for at in _waiting(of)]
    free = max(1, len(off) - 1)
    scatter = math.sqrt(sum(each**2 for each in off) / free * (1 + 1 / len(off)))
    farthest = float(max(map(abs, off)))
    return Fitted(result, coefficients(of, draws), basis, farthest, student(free) * float(scatter))


def coefficients(of: Sequence[Steps], values: Samples) -> Samples:
    """Of each row: rates, times of updates and of panels, and perhaps the rate of the product; shape (rows, 5)."""
    count = len(of)
    times = np.array([each.flops for each in of]) / values[:, :count]
    updates, panels = values[:, count : 2 * count] / times, values[:, 2 * count : 3 * count] / times
    mean_slow = np.array([each.slow[0] for each in of])
    first = mean_slow * np.array([each.mean_operations for each in of]) / times
    second = mean_slow * np.array([each.edges.sum() for each in of]) / times
    wanted = np.minimum(updates, 1.0)
    if values.shape[1] > 3 * count:
        of_rank = _PRODUCT_WEIGHT * of[0].slow[0] * values[:, 3 * count :] / (of[0].p * of[0].q)
        first, second = np.hstack([first, of_rank]), np.hstack([second, np.zeros_like(of_rank)])
        wanted = np.hstack([wanted, np.full_like(of_rank, _PRODUCT_WEIGHT)])
    result = np.zeros((len(values), 5))
    result[:, _G], result[:, _U] = _both(first, second, wanted)
    for column in (_ALONE, _TOGETHER):
        alike = [at for at, each in enumerate(of) if each.panel_coefficient == column]
        work = np.array([of[at].slow[0] * of[at].panel.sum() / of[at].q for at in alike]) / times[:, alike]
        passed = np.array([of[at].pivots.sum() / of[at].q for at in alike]) / times[:, alike]
        result[:, column] = _one(work, panels[:, alike] - passed)
    waiting = _waiting(of)
    numbers = np.array([of[at].numbers for at in waiting]) / times[:, waiting]
    worked = np.stack([of[at].working(result) for at in waiting], axis=1) / times[:, waiting]
    result[:, _B] = _one(numbers, 1 - worked)
    return result


def _waiting(of: Sequence[Steps]) -> list[int]:
    """Places of the solutions that b is fitted to: a rank alone waits for nobody."""
    return [at for at, each in enumerate(of) if each.p * each.q > 1] or [*range(len(of))]


def _one(first: Samples, wanted: Samples) -> Samples:
    """Least squares of x first = wanted for each row, with x >= 0."""
    scale = np.maximum((first**2).sum(1), np.finfo(float).tiny)
    result: Samples = np.maximum((first * wanted).sum(1) / scale, 0.0)
    return result


def _both(first: Samples, second: Samples, wanted: Samples) -> tuple[Samples, Samples]:
    """Least squares of x first + y second = wanted for each row, with x, y >= 0."""
    one, two, mixed = (first**2).sum(1), (second**2).sum(1), (first * second).sum(1)
    left, right = (first * wanted).sum(1), (second * wanted).sum(1)
    determinant = np.maximum(one * two - mixed**2, np.finfo(float).tiny)
    x, y = (left * two - right * mixed) / determinant, (right * one - left * mixed) / determinant
    alone_x, alone_y = left / one, right / np.maximum(two, np.finfo(float).tiny)
    return (
        np.where(x < 0, 0.0, np.where(y < 0, alone_x, x)),
        np.where(y < 0, 0.0, np.where(x < 0, alone_y, y)),
    )
