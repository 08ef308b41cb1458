"""Results of each launch of a case: its samples, its block, and the clock of the cores."""

from collections.abc import Iterable, Mapping
from statistics import median
from typing import NamedTuple

import numpy as np

from assay.analyse.estimates import value
from assay.analyse.launches import parts_of
from assay.analyse.statistics import Samples, medians
from assay.model.declaration import Declaration
from assay.model.result import Analysis, Estimate
from assay.model.run import LaunchRecords, Run
from assay.report import selection


class Launched(NamedTuple):
    """The measured samples of one kernel of a case in one launch, in seconds of an iteration."""

    block: int
    launch: str
    seconds: Samples

    @property
    def middle(self) -> float:
        """Return their median."""
        return float(medians(self.seconds))


def widest(analysis: Analysis, most: int) -> list[Estimate]:
    """Return the `most` cases whose launches differ most, each as one estimate."""
    found: dict[str, Estimate] = {}
    for members in selection.grouped(selection.measured(analysis.estimates), lambda e: e.benchmark).values():
        chosen = selection.middle(selection.headline_metric(selection.headline_kernel(members)))
        found |= {e.case: e for e in reversed(chosen) if e.launches > 1 and e.value and e.value.value}
    return sorted(found.values(), key=_spread, reverse=True)[:most]


def _spread(estimate: Estimate) -> float:
    return estimate.value.hi / estimate.value.lo if estimate.value and estimate.value.lo > 0 else 0.0


def launched(run: Run, estimates: Iterable[Estimate]) -> dict[str, list[Launched]]:
    """Case -> its launches, in order of time."""
    wanted = {e.case: e for e in estimates}
    declared = {case.id: run.plan.declared(case.benchmark) for case in run.plan.cases}
    found: dict[str, list[Launched]] = {}
    for records in run.launches:
        for each in records.cases:
            of = wanted.get(each.header.case)
            if of is None:
                continue
            parts, _ = parts_of(each, declared[of.case])
            own = {host: part for (kernel, host), part in parts.items() if kernel == of.kernel}
            chosen = own.get(of.placement.hosts[0], next(iter(own.values()))) if own else ()
            seconds = [part.seconds for part in chosen if part.phase == "measured" and part.seconds.size]
            if seconds:
                made = records.launch
                found.setdefault(of.case, []).append(Launched(made.block, made.id, np.concatenate(seconds)))
    return found


def clock(records: LaunchRecords, declared: Mapping[str, Declaration]) -> float | None:
    """Return the median clock under load of a launch, in Hz; None where it was not measured."""
    found = []
    for each in records.cases:
        own = declared.get(each.header.case)
        metrics = own.metrics if own else ()
        clocks = {
            kernel: metric for metric in metrics if metric.role == "loaded-clock" for kernel in metric.kernels
        }
        parts = parts_of(each, own)[0] if clocks else {}
        found += [
            value(clocks[kernel], float(medians(part.seconds)), each.header.work[kernel])
            for (kernel, _), phases in parts.items()
            for part in phases
            if kernel in clocks and part.phase == "measured" and part.seconds.size
        ]
    return median(found) if found else None
