"""The progress of `assay run`."""

import time
from contextlib import AbstractContextManager, suppress
from datetime import timedelta
from typing import Self

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Column

from assay.analyse.estimates import value
from assay.analyse.launches import parts_of
from assay.cli.support import output
from assay.model.declaration import Declaration
from assay.model.plan import Case, Plan, PlannedLaunch
from assay.model.record import Launch
from assay.model.run import CaseRecords, LaunchRecords
from assay.model.units import count_of
from assay.report import formatting
from assay.run import Progress, Watcher

#: Minimum seconds between two lines if there is no terminal.
_LINE_EVERY_S = 15.0
_MINUTE_S = 60


def shown(plan: Plan) -> AbstractContextManager[Watcher]:
    """A progress bar in a terminal, else lines, on stderr."""
    console = output.console(stderr=True)
    return _Bar(console, plan) if console.is_terminal else _Lines(plan)


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 2 * _MINUTE_S else f"{seconds / _MINUTE_S:.0f} min"


def last_figure(launch: LaunchRecords | None, plan: Plan) -> str:
    """`triad 46.5 GB/s`: the headline figure of the last case of a launch that has one; empty for none."""
    cases = {case.id: case for case in plan.studied}
    found = (
        _figure(records, cases[records.header.case], plan.declared(cases[records.header.case].benchmark))
        for records in reversed(launch.cases if launch else ())
        if records.header.case in cases and records.end and records.end.status == "complete"
    )
    return next(filter(None, found), "")


def _figure(records: CaseRecords, case: Case, declared: Declaration) -> str:
    kernel = declared.main_kernel
    metric = declared.headline_of(kernel, case.params)
    work = records.header.work.get(kernel, {})
    if metric is None or (metric.work and metric.work not in work):
        return ""
    for (own, _), parts in parts_of(records, declared)[0].items():
        seconds = [part.seconds for part in parts if part.phase == "measured" and part.seconds.size]
        if own == kernel and seconds and (median := float(np.median(np.concatenate(seconds)))) > 0:
            return f"{kernel} {formatting.quantity(value(metric, median, work), metric.unit)}"
    return ""


def _without(progress: Progress) -> str:
    """The part of the plan that the count of launches does not include."""
    return f" ({progress.cut} of the plan cut)" if progress.cut else ""


def _waiting(disturbed: Launch) -> str:
    return f"waiting: other processes use {100 * (disturbed.bracket.foreign or 0):.0f} % of the cpus"


class _Lines:
    """Progress without a terminal: a line from time to time."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._printed_s = 0.0
        self._last: LaunchRecords | None = None

    def __enter__(self) -> Self:
        """Nothing to draw."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Nothing to clear."""

    def begins(self, launch: PlannedLaunch, attempt: int, progress: Progress) -> None:
        """Print a line if the last one is old."""
        if time.monotonic() - self._printed_s > _LINE_EVERY_S:
            self._printed_s = time.monotonic()
            again = " again: it was disturbed" if attempt else ""
            counted = f"{progress.made} of {count_of(progress.planned, 'launch')}{_without(progress)}"
            counted += f" in {_seconds(progress.elapsed_s)}, about {_seconds(progress.left_s)} left"
            figure = last_figure(self._last, self._plan)
            counted += f"; last: {figure}" if figure else ""
            output.say(f"{counted}; now {launch.program} ({launch.id}){again}")

    def waits(self, disturbed: Launch) -> None:
        """Print why the run waits."""
        output.say(_waiting(disturbed))

    def ended(self, launch: LaunchRecords, progress: Progress) -> None:
        """Keep the launch for the next line."""
        del progress
        self._last = launch


class _Bar:
    """Progress in a terminal. Drawn only between launches: a refreshing thread would take time from the cores."""

    def __init__(self, console: Console, plan: Plan) -> None:
        columns = (
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[elapsed]}"),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[figure]}", style="bold"),
            TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis")),
        )
        self._plan = plan
        self._bar = Bar(*columns, console=console, auto_refresh=False, transient=True)
        self._task = self._bar.add_task("", total=None, elapsed="", left="", figure="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_error: object) -> None:
        with suppress(OSError):  # the terminal may be gone
            self._bar.stop()

    def begins(self, launch: PlannedLaunch, attempt: int, progress: Progress) -> None:
        """Show what is measured now."""
        again = " (again: disturbed)" if attempt else ""
        self._show(progress, f"{launch.program}, {count_of(len(launch.cases), 'case')}{again}")

    def waits(self, disturbed: Launch) -> None:
        """Print why the run waits."""
        self._bar.update(self._task, description=_waiting(disturbed), refresh=True)

    def ended(self, launch: LaunchRecords, progress: Progress) -> None:
        """Count the launch and show its figure."""
        if figure := last_figure(launch, self._plan):
            self._bar.update(self._task, figure=figure)
        self._show(progress, "")

    def _show(self, progress: Progress, now: str) -> None:
        left = f"about {_seconds(progress.left_s)} left{_without(progress)}"
        self._bar.update(
            self._task,
            completed=progress.made,
            total=progress.planned,
            description=now,
            elapsed=str(timedelta(seconds=round(progress.elapsed_s))),
            left=left,
            refresh=True,
        )
