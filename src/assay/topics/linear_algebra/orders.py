"""The law of the time of a system of equations, as HPL's authors model it, step by step.

Each column of the grid has a clock t. In step k it waits for panel k, exchanges rows, and updates what is right of
the panel. With look-ahead the column of the next panel updates, factors and sends that panel first.

    t(c) = max(t(c), r(k) + h B(k)) + S(k, c)         r(k): when panel k is ready, h: messages until it is here
    r(k+1) = t(o) + U(k, o) first(k) + F(k+1)         of the column o that owns panel k+1
    t(c) = t(c) + U(k, c) + C(k+1) + F(k+1) if c = o

T = the latest t + b n^2 (3 P + Q) / (2 P Q)

A column that factors is late, and the others wait only if it is still late when they need its panel. A sum of the
longest part of each step (HPL 2.3, "scalability", has a sum of all parts) counts that wait in each step.

U = g operations + u numbers is the update, F = f numbers + pivots is a panel, `first` is the share of an update
that the next panel waits for. B and S are messages: a panel on its way and the exchange of rows; C is the part of
B that computing does not hide. The message law gives their time between nodes; messages inside a node, and all
other waiting, are in b.
"""

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from assay.analyse.comparisons.families import PRIOR_FREEDOM
from assay.analyse.curves import ends, replicates, with_ends
from assay.analyse.estimates import Measured
from assay.analyse.statistics import Samples, student
from assay.model.declaration import Declaration, Params
from assay.model.quantity import Basis, Quantity
from assay.topics.linear_algebra.benchmarks.hpl import operations, panel_numbers

#: Fewest orders that the law is fitted to.
FEWEST = 2
#: Weight of the product's rate among solutions: products of NB columns are some percent slower than square ones.
_PRODUCT_WEIGHT = 0.2
#: Usual relative distance of a solution from the law, which counts as by `PRIOR_FREEDOM` solutions. Assumed; the
#: ledger shows how often the intervals hold.
_DISTANCE = 0.02
_NUMBER_BYTES = 8
#: Numbers in a message with a pivot candidate, apart from two rows: its size, its place, owner of the other row.
_HEAD = 3
#: Columns of coefficients, seconds per operation (g), per number of an update's edge (u), per number of a panel
#: that one rank factors and that several ranks factor (f), per number that is broadcast or exchanged (b).
_G, _U, _ALONE, _TOGETHER, _B = range(5)

#: Sizes of messages in B -> seconds of each message, of the same shape.
Messages = Callable[[Samples], Samples]


def no_messages(sizes: Samples) -> Samples:
    """Return 0 s for each message: its time is in b."""
    return np.zeros_like(sizes)


class Steps(NamedTuple):
    """The work of a solution. The work of a rank on a slow node counts more, by its time over that of the fastest.

    Attributes:
        n: order.
        p: rows of the grid.
        q: columns of the grid.
        ahead: whether there is look-ahead.
        mean_operations: operations of all updates, mean over the ranks.
        operations: operations of each update in each column on its rank with the most, shape (steps, Q).
        edges: numbers of the triangular solutions of each update, mean over the ranks.
        panel: numbers of each panel on the rank with the most.
        waits: operations for whose time ranks wait in panels, because others have more rows; mean over the ranks.
        first: share of each update that the next panel waits for.
        pivots: seconds of the messages in each panel.
        broadcast: seconds of each panel on its way to the next rank.
        busy: seconds of each broadcast in which a rank cannot compute, because its processor passes the message.
        exchange: seconds of the messages in each exchange of rows, shape (steps, Q).
        slow: time of a rank over that of a rank on the fastest node: mean, slowest.
    """

    n: int
    p: int
    q: int
    ahead: bool
    mean_operations: float
    operations: Samples
    edges: Samples
    panel: Samples
    waits: float
    first: Samples
    pivots: Samples
    broadcast: Samples
    busy: Samples
    exchange: Samples
    slow: tuple[float, float]

    @property
    def panel_coefficient(self) -> int:
        """Column of the coefficient f: the library factors a panel of one rank, Assay one of several ranks."""
        return _TOGETHER if self.p > 1 else _ALONE

    @property
    def flops(self) -> float:
        """Operations as HPL counts them."""
        return operations(self.n)

    @property
    def numbers(self) -> float:
        """Numbers that are broadcast or exchanged, as HPL's authors count them."""
        return self.n**2 * (3 * self.p + self.q) / (2 * self.p * self.q)

    def working_seconds(self, coefficients: Samples) -> Samples:
        """Return the seconds without the term of b for each row of coefficients (rows, 5): shape (rows,)."""
        g, u, f = (coefficients[:, [at]] for at in (_G, _U, self.panel_coefficient))
        panel = f * self.panel + self.pivots
        clock = np.zeros((len(coefficients), self.q))
        ready = clock[:, 0] = panel[:, 0]
        columns = np.arange(self.q)
        for step in range(len(self.panel)):
            distance = (columns - step) % self.q
            hops = distance - (distance > 1)  # past the rank that factors next
            clock = np.maximum(clock, ready[:, None] + hops * self.broadcast[step]) + self.exchange[step]
            update = g * self.operations[step] + self.slow[1] * u * self.edges[step]
            if step + 1 < len(self.panel):
                owner = (step + 1) % self.q
                ready = clock[:, owner] + update[:, owner] * self.first[step] + panel[:, step + 1]
                update[:, owner] += panel[:, step + 1]
                clock += update + self.busy[step + 1]
                ready = ready if self.ahead else clock[:, owner].copy()
            else:
                clock += update
        latest: Samples = clock.max(axis=1)
        return latest

    def seconds(self, coefficients: Samples) -> Samples:
        """Return the seconds for each row of coefficients (rows, 5): shape (rows,)."""
        return self.working_seconds(coefficients) + coefficients[:, _B] * self.numbers


def _left(sizes: Samples, places: int) -> Samples:
    """Return what each of `places` has of the blocks after each one, dealt in turn, shape (blocks, places)."""
    own = np.where(np.arange(len(sizes))[:, None] % places == np.arange(places), sizes[:, None], 0.0)
    return np.vstack([np.cumsum(own[::-1], axis=0)[::-1][1:], np.zeros(places)])


def steps_of(
    params: Params,
    along_row: Messages = no_messages,
    along_column: Messages = no_messages,
    slow: Samples | None = None,
    busy: Messages = no_messages,
) -> Steps:
    """Return the work of a solution.

    Args:
        params: with `n`, `nb`, `p` and `q`.
        along_row: messages along the rows of the grid: panels.
        along_column: messages along its columns: pivot candidates, rows.
        slow: time of each rank over that of a rank on the fastest node, row by row; None: 1 of all.
        busy: the part of each panel's message in which a rank cannot compute.
    """
    n, block, p, q = (int(params[name]) for name in ("n", "nb", "p", "q"))
    ahead = params.get("look-ahead", "one") == "one"
    slower = np.ones((p, q)) if slow is None else slow.reshape(p, q)
    count = math.ceil(n / block)
    width = np.minimum(block, n - np.arange(count) * block).astype(float)
    right = n - np.cumsum(width)
    rows, columns = _left(width, p), _left(width, q)
    columns[:, count % q] += 1  # the right-hand side
    below = (rows + width[:, None] / 2 / p)[:, :, None] * slower
    per_row = 2 * width[:, None] * below.mean(axis=1)
    most = 2 * width[:, None] * below.max(axis=1)
    steps = np.arange(count)
    following, owner = np.append(width[1:], 0.0), (steps + 1) % q
    tall = rows + np.where(steps[:, None] % p == np.arange(p), width[:, None], 0.0)
    first = np.minimum(1.0, following / np.maximum(columns[steps, owner], 1.0))
    waited = (most - per_row)[steps, owner] * (following if ahead else columns[steps, owner])
    rounds = math.ceil(math.log2(p))
    others = _NUMBER_BYTES * width[:, None] * columns * (p - 1) / p
    panels = _NUMBER_BYTES * panel_numbers(tall.max(axis=1), width)
    none = np.zeros_like(width)
    latency = (rounds - 2) * along_column(none)[:, None]
    return Steps(
        n=n,
        p=p,
        q=q,
        ahead=ahead,
        mean_operations=float((per_row * columns).sum()) / q,
        operations=most * columns,
        edges=width * right * (1 / p + 1 / q) / 2,
        panel=width * (tall * slower.T[steps % q]).max(axis=1),
        waits=float(waited.sum()) / q,
        first=first,
        pivots=rounds * width * along_column(_NUMBER_BYTES * (_HEAD + 2 * width)) if p > 1 else none,
        broadcast=along_row(panels) if q > 1 else none,
        busy=busy(panels) if q > 1 else none,
        exchange=latency + 2 * along_column(others.ravel()).reshape(others.shape) if p > 1 else 0.0 * others,
        slow=(float(slower.mean()), float(slower.max())),
    )


class Work(NamedTuple):
    """The work of a solution, with times of messages by the message law and by its ends.

    Attributes:
        typical: by the values of the law.
        fastest: by the lower ends of its times.
        slowest: by the upper ends of its times.
        overlap: whether it was measured how much of a message is hidden behind computing.
    """

    typical: Steps
    fastest: Steps
    slowest: Steps
    overlap: bool = False


def without_messages(params: Params) -> Work:
    """Return the work of a solution whose messages are all in b."""
    steps = steps_of(params)
    return Work(steps, steps, steps)


class Solution(NamedTuple):
    """Measurements of a solution, and its work.

    Attributes:
        rate: rate of the whole solution.
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
        """Order n of the system."""
        return int(self.rate.estimate.params["n"])


class Solutions(NamedTuple):
    """Solutions that one law is fitted to.

    Attributes:
        marks: their common layout, params and factors, in words.
        state: state of the machine; None where states do not matter.
        members: sorted by grid and order.
        product: rate of the library's product on the cores of the first one; None where it was not measured.
    """

    marks: tuple[str, ...]
    state: str | None
    members: tuple[Solution, ...]
    product: Measured | None

    def up_to(self, order: float) -> "Solutions":
        """Return the solutions of at most this order."""
        return self._replace(members=tuple(each for each in self.members if each.order <= order))

    @property
    def declared(self) -> Declaration:
        """The declaration of their benchmark."""
        return self.members[0].rate.estimate.declared

    @property
    def orders(self) -> tuple[int, ...]:
        """Different orders, ascending."""
        return tuple(sorted({each.order for each in self.members}))

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of all estimates that their law is fitted to."""
        return tuple(each.estimate.id for each in self.measured)

    @property
    def measured(self) -> tuple[Measured, ...]:
        """Rates, then updates, then panels, then the product if it was measured."""
        parts = ([getattr(each, part) for each in self.members] for part in ("rate", "update", "panel"))
        return (*chain.from_iterable(parts), *([self.product] if self.product else []))


class Fitted(NamedTuple):
    """The law fitted to some solutions.

    Attributes:
        values: coefficients, shape (1, 5).
        draws: coefficients of the replicates, shape (draws, 5).
        basis: basis of the ends of the draws.
        residual: largest relative distance of a time from the law, of solutions by several ranks if any.
        margin: relative distance from the law that 95 % of further solutions keep, if distances are normal.
        hides: whether it is known that look-ahead hides what the law says; else the slow end is without it.
    """

    values: Samples
    draws: Samples
    basis: Basis
    residual: float
    margin: float
    hides: bool = True

    def coefficients(self, steps: Steps) -> tuple[Quantity, Quantity, Quantity]:
        """Return g, f for the panels of a solution, and b, in s."""
        columns = (_G, steps.panel_coefficient, _B)
        g, f, b = (with_ends(self.values[0, at], self.draws[:, at], self.basis, "s") for at in columns)
        return g, f, b

    def seconds(self, steps: Steps) -> float:
        """Return the seconds of a solution."""
        return float(steps.seconds(self.values)[0])

    def rate(self, work: Work) -> Quantity:
        """Return the rate of a solution, flop/s, with the ends of the draws, widened by margin and messages."""
        flops, middle = work.typical.flops, self.seconds(work.typical)
        low, high = ends(work.typical.seconds(self.draws), self.basis)
        low *= self.seconds(work.fastest) / middle / (1 + self.margin)
        slowest = work.slowest if self.hides else work.slowest._replace(ahead=False)
        high *= self.seconds(slowest) / middle * (1 + self.margin)
        return Quantity(flops / middle, flops / max(high, middle), flops / min(low, middle), "flop/s", "derived")


def fitted(solutions: Solutions) -> Fitted:
    """Fit the law to solutions of at least two orders.

    Updates give g and u, panels without waiting give f, and the rest of the time of whole solutions gives b. The
    rate of the product counts as a fraction of one more update. Distances are relative to the time of the
    solution; no coefficient is negative.
    """
    members = solutions.measured
    draws, basis = replicates(members)
    medians = np.array([[each.estimate.median or 0.0 for each in members]])
    steps = [each.steps for each in solutions.members]
    result = coefficients(steps, medians)
    # b passes through a single solution by several ranks: all solutions together show more than no distance.
    several = _several_ranks(steps)
    tested = several if len(several) > 1 else range(len(steps))
    deviations = [steps[at].flops / medians[0, at] / float(steps[at].seconds(result)[0]) - 1 for at in tested]
    free = max(1, len(deviations) - 1)
    # Two orders show a distance with one degree of freedom: alone it would say factors, where percents are usual.
    squares = PRIOR_FREEDOM * _DISTANCE**2 + sum(each**2 for each in deviations)
    scatter = math.sqrt(squares / (PRIOR_FREEDOM + free) * (1 + 1 / len(deviations)))
    farthest = float(max(map(abs, deviations)))
    return Fitted(result, coefficients(steps, draws), basis, farthest, student(PRIOR_FREEDOM + free) * scatter)


def coefficients(steps: Sequence[Steps], values: Samples) -> Samples:
    """Fit the coefficients to each row of values, shape (rows, 5).

    Args:
        steps: work of each solution.
        values: rates, times of updates, times of panels, and the rate of the product if it was measured.
    """
    count = len(steps)
    times = np.array([each.flops for each in steps]) / values[:, :count]
    updates, panels = values[:, count : 2 * count] / times, values[:, 2 * count : 3 * count] / times
    undisturbed = _undisturbed(steps)
    some = [steps[at] for at in undisturbed]
    first = np.array([each.mean_operations for each in some]) / times[:, undisturbed]
    second = np.array([each.slow[0] * each.edges.sum() for each in some]) / times[:, undisturbed]
    wanted = np.minimum(updates[:, undisturbed], 1.0)
    if values.shape[1] > 3 * count:
        per_rank = _PRODUCT_WEIGHT * steps[0].slow[0] * values[:, 3 * count :] / (steps[0].p * steps[0].q)
        first, second = np.hstack([first, per_rank]), np.hstack([second, np.zeros_like(per_rank)])
        wanted = np.hstack([wanted, np.full_like(per_rank, _PRODUCT_WEIGHT)])
    result = np.zeros((len(values), 5))
    result[:, _G], result[:, _U] = _fit_two(first, second, wanted)
    for column in (_ALONE, _TOGETHER):
        same = [at for at, each in enumerate(steps) if each.panel_coefficient == column]
        some = [steps[at] for at in same]
        work = np.array([each.panel.sum() / each.q for each in some]) / times[:, same]
        waits = result[:, [_G]] * np.array([each.waits for each in some])
        messages = (waits + np.array([each.pivots.sum() / each.q for each in some])) / times[:, same]
        result[:, column] = _fit_one(work, panels[:, same] - messages)
    several = _several_ranks(steps)
    numbers = np.array([steps[at].numbers for at in several]) / times[:, several]
    working = np.stack([steps[at].working_seconds(result) for at in several], axis=1) / times[:, several]
    result[:, _B] = _fit_one(numbers, 1 - working)
    return result


def _undisturbed(steps: Sequence[Steps]) -> list[int]:
    """Return the indices of the solutions in whose updates no messages take part of a core; all if too few."""
    found = [at for at, each in enumerate(steps) if not each.busy.any()]
    return found if len({steps[at].n for at in found}) >= FEWEST else [*range(len(steps))]


def _several_ranks(steps: Sequence[Steps]) -> list[int]:
    """Return the indices of the solutions by several ranks, to which b is fitted; all if there are none."""
    return [at for at, each in enumerate(steps) if each.p * each.q > 1] or [*range(len(steps))]


def _fit_one(first: Samples, wanted: Samples) -> Samples:
    """Return x >= 0 by least squares of x first = wanted, for each row."""
    scale = np.maximum((first**2).sum(1), np.finfo(float).tiny)
    result: Samples = np.maximum((first * wanted).sum(1) / scale, 0.0)
    return result


def _fit_two(first: Samples, second: Samples, wanted: Samples) -> tuple[Samples, Samples]:
    """Return x, y >= 0 by least squares of x first + y second = wanted, for each row."""
    one, two, mixed = (first**2).sum(1), (second**2).sum(1), (first * second).sum(1)
    left, right = (first * wanted).sum(1), (second * wanted).sum(1)
    determinant = np.maximum(one * two - mixed**2, np.finfo(float).tiny)
    x, y = (left * two - right * mixed) / determinant, (right * one - left * mixed) / determinant
    alone_x, alone_y = left / one, right / np.maximum(two, np.finfo(float).tiny)
    without_y = (y < 0) | (two == 0)  # systems of one panel have no second part
    return (
        np.where(x < 0, 0.0, np.where(without_y, alone_x, x)),
        np.where(without_y, 0.0, np.where(x < 0, alone_y, y)),
    )
