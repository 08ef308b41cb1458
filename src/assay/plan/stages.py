"""Stages of a run: pure functions from its results so far to the next measurements.

A stage gets the run and its analysis. It returns a plan: the run's own with more launches, or one of experiments,
whose figures stay separate from those of the study; None if nothing follows. A new stage is one more function.
"""

from collections.abc import Callable
from typing import NamedTuple

from assay.model.plan import Plan
from assay.model.result import Analysis
from assay.model.run import Run
from assay.plan.experiments import experiment_plan, wanted
from assay.plan.largest import filling, largest
from assay.plan.later import with_later
from assay.plan.refinement import onward, wanted_sizes, with_sizes, with_sizes_once


class Stage(NamedTuple):
    """A stage that may follow after a study.

    Attributes:
        following: the next plan, from the run and its analysis; the analysis is made on demand.
        why: what it measures, for the user.
        nothing: message if there is nothing to measure; empty for none.
    """

    following: Callable[[Run, Callable[[], Analysis]], Plan | None]
    why: str
    nothing: str = ""


def followed(run: Run, _analysis: Callable[[], Analysis]) -> Plan | None:
    """The study with its next later round, as the budget allows."""
    plan, ending = run.plan, run.ending
    if not plan.later or not ending or ending.status == "interrupted":
        return None
    return with_later(plan, None if plan.budget_s is None else max(0.0, plan.budget_s - ending.elapsed_s))


def refined(run: Run, analysis: Callable[[], Analysis]) -> Plan | None:
    """The study with more sizes where curves have steps or continue, and larger problems, as the budget allows."""
    plan, ending = run.plan, run.ending
    if not plan.refine or not ending or ending.status != "complete":
        return None
    left_s = None if plan.budget_s is None else plan.budget_s - ending.elapsed_s
    found = analysis()
    larger = largest(found, plan, run.machines, left_s)
    sizes = (*onward(found, plan, run.machines), *larger, *wanted_sizes(found.estimates))
    return with_sizes(plan, sizes, left_s)


def filled(run: Run, analysis: Callable[[], Analysis]) -> Plan | None:
    """The study with one launch of the largest problem that fits into memory, beyond its budget."""
    plan, ending = run.plan, run.ending
    if not plan.full or not ending or ending.status != "complete":
        return None
    return with_sizes_once(plan, filling(plan, run.machines, analysis()), ending.elapsed_s)


def confirmed(run: Run, analysis: Callable[[], Analysis]) -> Plan | None:
    """The experiments that decide candidate findings, in the seconds that the plan has for them."""
    seconds = run.plan.confirm_s
    if seconds is None:
        return None
    return experiment_plan(run.plan, wanted(analysis(), run.plan), seconds, run.launches)


FOLLOW = Stage(followed, "cases that waited until the others were through")
REFINE = Stage(
    refined, "curves have steps between their sizes or go on, or the budget has room for larger problems"
)
FULL = Stage(filled, "the largest problem that the memory holds, once")
CONFIRM = Stage(confirmed, "experiments for candidate findings", "no candidate finding needs a further experiment")
#: Stages in the order in which they follow the study.
STAGES = (FOLLOW, REFINE, FULL, CONFIRM)
