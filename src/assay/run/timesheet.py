"""What the seconds of a run are spent on, between one record and the next."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import msgspec


class Spent(msgspec.Struct, frozen=True):
    """The parts of a time; their sum is the whole of it.

    Attributes:
        programs: seconds of programs that measure.
        probes: seconds of the probes around them.
        waits: seconds of waiting for other processes.
        engine: seconds of everything else, the engine's own work.
    """

    programs: float
    probes: float
    waits: float
    engine: float


class Timesheet:
    """Counts seconds; `closed` returns those since its last call.

    Args:
        now: clock of the executor.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._since_s = now()
        self._spent = {"programs": 0.0, "probes": 0.0, "waits": 0.0}

    @contextmanager
    def counting(self, part: Literal["programs", "probes", "waits"]) -> Iterator[None]:
        """Count the seconds of the block as this part; they count however it ends."""
        began_s = self._now()
        try:
            yield
        finally:
            self._spent[part] += self._now() - began_s

    def closed(self) -> Spent:
        """The parts of the time until now; the next parts begin at 0."""
        now_s, parts = self._now(), self._spent
        whole_s, self._since_s = now_s - self._since_s, now_s
        self._spent = dict.fromkeys(parts, 0.0)
        return Spent(**parts, engine=whole_s - sum(parts.values()))
