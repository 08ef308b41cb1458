"""A simulated solution of a system of equations: every rank of the grid has a clock, and messages take time.

The steps are those of the program. Ranks wait for the panel, which passes along their row from rank to rank. The
ranks of a column exchange rows. With look-ahead the column of the next panel updates, factors and broadcasts that
panel first. All ranks update the rest. A slow host delays the ranks that need its panels or rows.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.topics.linear_algebra.benchmarks.hpl import panel_numbers

_Numbers = NDArray[np.float64]
_NUMBER_BYTES = 8


class Channel(NamedTuple):
    """Messages between neighbours of the grid.

    Attributes:
        latency_s: latency of a message.
        rate: bytes per second; infinite where messages are not copied.
    """

    latency_s: float = 0.0
    rate: float = math.inf

    def seconds(self, size: float) -> float:
        """Return the time of a message of `size` bytes."""
        return self.latency_s + size / self.rate


class Ranks(NamedTuple):
    """The ranks that solve a system.

    Attributes:
        rates: rates of their products, flop/s, shape (P, Q).
        panel_share: rate of panels, and of the substitution, over that of products.
        along_row: messages to the next column.
        along_column: messages between the rows of a column.
        busy: share of a panel's message in which a rank cannot compute.
        jitter: sigma of the lognormal factor on the time of each piece of work.
    """

    rates: _Numbers
    panel_share: float
    along_row: Channel = Channel()
    along_column: Channel = Channel()
    busy: float = 0.0
    jitter: float = 0.0


class Solution(NamedTuple):
    """The time of a solution.

    Attributes:
        seconds: time of the slowest rank.
        phases: mean time of each phase over the ranks, s; they add up to `seconds`.
        steps: time of each step by phase, without the substitution.
    """

    seconds: float
    phases: Mapping[str, float]
    steps: Mapping[str, Sequence[float]]


def solve(n: int, block: int, ranks: Ranks, *, look_ahead: bool) -> Solution:
    """Solve a system of order `n` in blocks of `block` columns."""
    return _Grid(n, block, ranks, look_ahead=look_ahead).solution()


class _Grid:
    """The clocks of all ranks."""

    def __init__(self, n: int, block: int, ranks: Ranks, *, look_ahead: bool) -> None:
        self.n, self.block, self.ranks, self.look_ahead = n, block, ranks, look_ahead
        self.p, self.q = ranks.rates.shape
        self.count = math.ceil(n / block)
        self.clock = np.zeros((self.p, self.q))
        self.phase_seconds = {name: np.zeros(self.count) for name in ("panel", "broadcast", "swap", "update")}
        self.random = np.random.default_rng([n, block, self.p, self.q])
        self.rounds = math.ceil(math.log2(self.p))

    def solution(self) -> Solution:
        factored_at = self._factor(0, 0)
        for step in range(self.count):
            self._broadcast(step, factored_at)
            self._exchange(step)
            update = self._update_seconds(step, self._trailing_columns(step))
            more = step + 1 < self.count
            if more and self.look_ahead:
                first = self._update_seconds(step, self._next_panel(step))
                self._work("update", step, first)
                factored_at = self._factor(step + 1, step)
                update -= first
            self._work("update", step, np.maximum(update, 0.0) * self._jitter())
            if more and self.look_ahead and self.q > 1:
                self._work(
                    "broadcast", step, np.full_like(update, self.ranks.busy * self._message_seconds(step + 1))
                )
            if more and not self.look_ahead:
                factored_at = self._factor(step + 1, step)
        end = float(self.clock.max())
        substitution = self.n**2 / (self.ranks.panel_share * float(self.ranks.rates.sum()))
        phases = {name: float(seconds.sum()) for name, seconds in self.phase_seconds.items()}
        phases["substitution"] = substitution + end - float(self.clock.mean())  # early ranks wait for the others
        steps = {name: seconds.tolist() for name, seconds in self.phase_seconds.items() if seconds.any()}
        return Solution(end + substitution, phases, steps)

    def _work(self, phase: str, step: int, seconds: _Numbers) -> None:
        self.clock = self.clock + seconds
        self.phase_seconds[phase][step] += float(seconds.mean())

    def _wait_until(self, phase: str, step: int, ready: _Numbers) -> None:
        self._work(phase, step, np.maximum(ready - self.clock, 0.0))

    def _jitter(self) -> _Numbers:
        return self.random.lognormal(0.0, self.ranks.jitter, (self.p, self.q))

    def _width(self, step: int) -> int:
        """Return the columns of a panel."""
        return min(self.block, self.n - step * self.block)

    def _distributed(self, first: int, places: int) -> _Numbers:
        """Return the rows, or columns, from block `first` on, of each of `places` rows or columns of the grid."""
        blocks = np.arange(first, self.count)
        sizes = np.minimum(self.block, self.n - blocks * self.block)
        return np.bincount(blocks % places, weights=sizes, minlength=places).astype(np.float64)

    def _trailing_columns(self, step: int) -> _Numbers:
        """Return the columns right of a panel, with the right-hand side, of each column of the grid."""
        columns = self._distributed(step + 1, self.q)
        columns[self.count % self.q] += 1
        return columns

    def _next_panel(self, step: int) -> _Numbers:
        """Return the columns of the next panel, of each column of the grid."""
        return np.where(np.arange(self.q) == (step + 1) % self.q, self._width(step + 1), 0)

    def _update_seconds(self, step: int, columns: _Numbers) -> _Numbers:
        """Return the time of the products, and of the triangular solutions above them."""
        width = self._width(step)
        rows = self._distributed(step + 1, self.p) + width / 2 / self.p
        return 2 * width * np.outer(rows, columns) / self.ranks.rates

    def _factor(self, panel: int, step: int) -> float:
        """Factor a panel during a step, all ranks of its column together; return when it is ready."""
        column, width = panel % self.q, self._width(panel)
        work = width**2 * self._distributed(panel, self.p) / (self.ranks.panel_share * self.ranks.rates[:, column])
        pivots = width * self.rounds * self.ranks.along_column.seconds(2 * _NUMBER_BYTES * width)
        seconds = float((work * self._jitter()[:, column]).max()) + pivots
        ready = self.clock.copy()
        ready[:, column] = float(self.clock[:, column].max()) + seconds
        self._wait_until("panel", step, ready)
        return float(ready[0, column])

    def _broadcast(self, step: int, factored_at: float) -> None:
        """Pass a panel from rank to rank, past the next column, which factors the next panel."""
        distance = (np.arange(self.q) - step) % self.q
        hops = np.maximum(distance - (distance > 1), 0)
        arrived = factored_at + hops * self._message_seconds(step)
        self._wait_until("broadcast", step, np.broadcast_to(arrived, self.clock.shape))

    def _message_seconds(self, step: int) -> float:
        """Return the time of a panel's message to the next rank."""
        size = _NUMBER_BYTES * panel_numbers(float(self._distributed(step, self.p).max()), self._width(step))
        return self.ranks.along_row.seconds(size)

    def _exchange(self, step: int) -> None:
        """Give every rank of a column the pivot rows of the others, and the others the rows that these replace."""
        if self.p == 1:
            return
        others = _NUMBER_BYTES * self._width(step) * self._trailing_columns(step) * (self.p - 1) / self.p
        channel = self.ranks.along_column
        seconds = self.rounds * channel.latency_s + 2 * others / channel.rate
        self._wait_until("swap", step, np.broadcast_to(self.clock.max(axis=0) + seconds, self.clock.shape))
