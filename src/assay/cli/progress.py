"""The progress of `assay run`."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from assay.cli import output

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Self

    from rich.console import Console

    from assay.model.plan import PlannedLaunch
    from assay.model.record import Launch
    from assay.run import Progress, Watcher

#: Where there is no terminal, a line this often at most.
_LINE_EVERY_S = 15.0
_MINUTE_S = 60


def shown() -> AbstractContextManager[Watcher]:
    """A bar in a terminal, lines elsewhere, on stderr."""
    console = output.console(stderr=True)
    return _Bar(console) if console.is_terminal else _Lines()


def _cases(count: int) -> str:
    return f"{count} case{'s' * (count > 1)}"


def _left(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 2 * _MINUTE_S else f"{seconds / _MINUTE_S:.0f} min"


def _launches(progress: Progress) -> str:
    return f"{progress.planned} launches{_without(progress)}"


def _without(progress: Progress) -> str:
    """What the count of launches leaves out."""
    return f" ({progress.cut} of the plan cut)" if progress.cut else ""


def _waiting(disturbed: Launch) -> str:
    return f"waiting: other processes use {100 * (disturbed.bracket.foreign or 0):.0f} % of the cpus"


class _Lines:
    """Progress where nobody watches: a line now and then."""

    def __init__(self) -> None:
        self._told_s = 0.0

    def __enter__(self) -> Self:
        """Nothing has to be drawn."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Nothing has to be cleared."""

    def begins(self, launch: PlannedLaunch, attempt: int, progress: Progress) -> None:
        """Say it if the last line is old."""
        if time.monotonic() - self._told_s > _LINE_EVERY_S:
            self._told_s = time.monotonic()
            again = " again: it was disturbed" if attempt else ""
            counted = f"{progress.made} of {_launches(progress)}, about {_left(progress.left_s)} left"
            output.say(f"{counted}; now {launch.program} ({launch.id}){again}")

    def waits(self, disturbed: Launch) -> None:
        """Why nothing goes on."""
        output.say(_waiting(disturbed))

    def ended(self, launch: Launch, progress: Progress) -> None:
        """Nothing: the next line will count it."""


class _Bar:
    """Progress in a terminal. Drawn only between launches: a refreshing thread would take time from the cores."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        columns = (
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.description}"),
        )
        self._bar = Bar(*columns, console=console, auto_refresh=False, transient=True)
        self._task = self._bar.add_task("", total=None, left="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_error: object) -> None:
        with suppress(OSError):  # the terminal may be gone
            self._bar.stop()

    def begins(self, launch: PlannedLaunch, attempt: int, progress: Progress) -> None:
        """What is measured now."""
        again = " (again: disturbed)" if attempt else ""
        self._show(progress, f"{launch.program}, {_cases(len(launch.cases))}{again}")

    def waits(self, disturbed: Launch) -> None:
        """Why nothing goes on."""
        self._bar.update(self._task, description=_waiting(disturbed), refresh=True)

    def ended(self, launch: Launch, progress: Progress) -> None:
        """One more."""
        del launch
        self._show(progress, "")

    def _show(self, progress: Progress, now: str) -> None:
        left = f"about {_left(progress.left_s)} left{_without(progress)}"
        self._bar.update(
            self._task, completed=progress.made, total=progress.planned, description=now, left=left, refresh=True
        )
