"""A simulated solution of a system of equations: every rank of the grid has a clock, and messages take time.

Step by step, as the program does it with look-ahead: ranks wait for the panel, which passes along their row from
rank to rank; the ranks of a column exchange rows; the next panel's column updates that panel first, factors it and
sends it off; all update the rest. A host that is slow, or slow for a moment, makes those wait that need it.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.topics.linear_algebra.benchmarks.hpl import panel_numbers

_Clocks = NDArray[np.float64]
_NUMBER_BYTES = 8


class Way(NamedTuple):
    """How messages pass between neighbours.

    Attributes:
        latency_s: of a message.
        rate: bytes per second; infinite where nobody copies.
    """

    latency_s: float = 0.0
    rate: float = math.inf

    def seconds(self, size: float) -> float:
        """Of a message of so many bytes."""
        return self.latency_s + size / self.rate


class Ranks(NamedTuple):
    """Who solves a system.

    Attributes:
        rates: of their products, flop/s, shape (P, Q).
        panel_share: what a panel, and the substitution, reach of that.
        along_row: how panels pass to the next column.
        along_column: how rows and candidates for pivots pass.
        jitter: sigma of the lognormal factor on the time of each piece of work.
    """

    rates: _Clocks
    panel_share: float
    along_row: Way = Way()
    along_column: Way = Way()
    jitter: float = 0.0


class Solution(NamedTuple):
    """What a solution took.

    Attributes:
        seconds: of the slowest rank.
        phases: mean over the ranks, s; they add up to `seconds`.
        steps: the same of each step, without the substitution.
    """

    seconds: float
    phases: Mapping[str, float]
    steps: Mapping[str, Sequence[float]]


def solved(n: int, block: int, ranks: Ranks, *, look_ahead: bool) -> Solution:
    """A system of order n in blocks of so many columns."""
    return _Grid(n, block, ranks, look_ahead=look_ahead).solution()


class _Grid:
    """The clocks of all ranks."""

    def __init__(self, n: int, block: int, ranks: Ranks, *, look_ahead: bool) -> None:
        self.n, self.block, self.ranks, self.look_ahead = n, block, ranks, look_ahead
        self.p, self.q = ranks.rates.shape
        self.count = math.ceil(n / block)
        self.clock = np.zeros((self.p, self.q))
        self.took = {name: np.zeros(self.count) for name in ("panel", "broadcast", "swap", "update")}
        self.random = np.random.default_rng([n, block, self.p, self.q])
        self.rounds = math.ceil(math.log2(self.p))

    def solution(self) -> Solution:
        sent = self._panel(0, 0)
        for step in range(self.count):
            self._arrive(step, sent)
            self._exchange(step)
            update = self._updates(step, self._right(step))
            more = step + 1 < self.count
            if more and self.look_ahead:
                first = self._updates(step, self._next_panel(step))
                self._work("update", step, first)
                sent = self._panel(step + 1, step)
                update -= first
            self._work("update", step, np.maximum(update, 0.0) * self._jitter())
            if more and not self.look_ahead:
                sent = self._panel(step + 1, step)
        end = float(self.clock.max())
        substitution = self.n**2 / (self.ranks.panel_share * float(self.ranks.rates.sum()))
        phases = {name: float(seconds.sum()) for name, seconds in self.took.items()}
        phases["substitution"] = substitution + end - float(self.clock.mean())  # who is early waits for the others
        steps = {name: seconds.tolist() for name, seconds in self.took.items() if seconds.any()}
        return Solution(end + substitution, phases, steps)

    def _work(self, phase: str, step: int, seconds: _Clocks) -> None:
        self.clock = self.clock + seconds
        self.took[phase][step] += float(seconds.mean())

    def _until(self, phase: str, step: int, ready: _Clocks) -> None:
        self._work(phase, step, np.maximum(ready - self.clock, 0.0))

    def _jitter(self) -> _Clocks:
        return self.random.lognormal(0.0, self.ranks.jitter, (self.p, self.q))

    def _columns(self, step: int) -> int:
        return min(self.block, self.n - step * self.block)

    def _dealt(self, first: int, places: int) -> _Clocks:
        """Rows, or columns, from a block on, of each of so many places to which blocks are dealt."""
        blocks = np.arange(first, self.count)
        sizes = np.minimum(self.block, self.n - blocks * self.block)
        return np.bincount(blocks % places, weights=sizes, minlength=places).astype(np.float64)

    def _right(self, step: int) -> _Clocks:
        """Columns right of a panel, the right-hand side included, of each column of the grid."""
        columns = self._dealt(step + 1, self.q)
        columns[self.count % self.q] += 1
        return columns

    def _next_panel(self, step: int) -> _Clocks:
        """Those of the next panel alone."""
        return np.where(np.arange(self.q) == (step + 1) % self.q, self._columns(step + 1), 0)

    def _updates(self, step: int, columns: _Clocks) -> _Clocks:
        """Seconds of the products, and of the triangular solutions above them."""
        width = self._columns(step)
        rows = self._dealt(step + 1, self.p) + width / 2 / self.p
        return 2 * width * np.outer(rows, columns) / self.ranks.rates

    def _panel(self, number: int, during: int) -> float:
        """When the ranks of its column have factored a panel: together, for each pivot is the largest of all."""
        column, width = number % self.q, self._columns(number)
        work = width**2 * self._dealt(number, self.p) / (self.ranks.panel_share * self.ranks.rates[:, column])
        agreed = width * self.rounds * self.ranks.along_column.seconds(2 * _NUMBER_BYTES * width)
        seconds = float((work * self._jitter()[:, column]).max()) + agreed
        ready = self.clock.copy()
        ready[:, column] = float(self.clock[:, column].max()) + seconds
        self._until("panel", during, ready)
        return float(ready[0, column])

    def _arrive(self, step: int, sent: float) -> None:
        """Past the next column, which factors the next panel, a panel goes from rank to rank."""
        distance = (np.arange(self.q) - step) % self.q
        hops = np.maximum(distance - (distance > 1), 0)
        size = _NUMBER_BYTES * panel_numbers(float(self._dealt(step, self.p).max()), self._columns(step))
        arrived = sent + hops * self.ranks.along_row.seconds(size)
        self._until("broadcast", step, np.broadcast_to(arrived, self.clock.shape))

    def _exchange(self, step: int) -> None:
        """Every rank of a column gets the pivot rows that others have, and passes on those that they replace."""
        if self.p == 1:
            return
        others = _NUMBER_BYTES * self._columns(step) * self._right(step) * (self.p - 1) / self.p
        way = self.ranks.along_column
        seconds = self.rounds * way.latency_s + 2 * others / way.rate
        self._until("swap", step, np.broadcast_to(self.clock.max(axis=0) + seconds, self.clock.shape))
