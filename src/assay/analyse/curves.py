"""What laws are fitted to: estimates that are alike in everything but the law's own coordinates."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from assay.analyse.estimates import Measured
from assay.analyse.statistics import Samples, medians, quantiles
from assay.model import benchmarks, roles
from assay.model.benchmark import ParamValue
from assay.model.grouping import grouped
from assay.model.law import Model, Point
from assay.model.machine import Machine
from assay.model.quantity import CONFIDENCE, Basis, Quantity, exact
from assay.model.result import Estimate
from assay.model.role_words import Role
from assay.model.run import Run

#: With fewer launches there is no bootstrap: the launches are the replicates, and their range the interval.
_FEWEST = 6
#: See `RunEstimates.farthest`.
FARTHEST = 4.0
_DRAWS = 400
_SEED = 1

M = TypeVar("M", bound=Model)


class RunEstimates(msgspec.Struct, frozen=True, dict=True):
    """A run, its estimates, and the laws fitted so far: what laws and predictions look at.

    Attributes:
        run: as it was stored.
        measured: its estimates with their launches.
        models: what laws say of them.
        farthest: nothing is predicted for more than so many times the ranks or nodes that are known (METHODS, 5).
    """

    run: Run
    measured: tuple[Measured, ...]
    models: tuple[Model, ...] = ()
    farthest: float = FARTHEST

    def with_models(self, models: tuple[Model, ...]) -> "RunEstimates":
        """The same with more models; what was sorted once stays so."""
        more = msgspec.structs.replace(self, models=self.models + models)
        more.__dict__.update(self.__dict__)
        return more

    def fitted(self, law: type[M]) -> list[M]:
        """What a law says, of each curve that it could be fitted to; laws declare which ones they need."""
        return [model for model in self.models if isinstance(model, law)]

    def of(self, benchmark: str, kernel: str = "", metric: str = "") -> list[Measured]:
        """Estimates with a figure, of one kernel (any where empty) and metric (the headline where empty)."""
        found = _of_kernel(self._sorted[0].get(benchmark, ()), kernel)
        return [each for each in found if each.estimate.metric == (metric or headline(each.estimate))]

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Id -> estimate."""
        return {each.estimate.id: each.estimate for each in self.measured}

    def of_role(self, role: Role, kernel: str = "") -> list[Measured]:
        """Estimates of a role with a figure, of whatever benchmark; of one kernel, any where empty."""
        return _of_kernel(self._sorted[1].get(role, ()), kernel)

    @cached_property
    def _sorted(self) -> tuple[Mapping[str, Sequence[Measured]], Mapping[Role | None, Sequence[Measured]]]:
        """Estimates with a figure by benchmark and by role: models ask for them again and again."""
        having = [each for each in self.measured if each.estimate.median is not None]
        by_role = grouped(having, lambda each: roles.role(each.estimate))
        return grouped(having, lambda each: each.estimate.benchmark), by_role

    def machine(self, estimate: Estimate) -> Machine | None:
        """The machine of an estimate."""
        return machine_of(estimate, self.run.machines)


def _of_kernel(found: Iterable[Measured], kernel: str) -> list[Measured]:
    return [each for each in found if not kernel or each.estimate.kernel == kernel]


class Curve(NamedTuple):
    """Estimates of a kernel and metric that are alike but in a law's coordinates.

    Attributes:
        marks: what they share, in words; the state of the machine last.
        members: the estimates.
        state: of the machine; None where states do not matter.
    """

    marks: tuple[str, ...]
    members: tuple[Measured, ...]
    state: str | None = None

    def identity(self, law: str, *kind: str) -> dict[str, Any]:
        """Id, estimates and state of what a law says of it; `kind` stands before the marks in the id."""
        of = tuple(each.estimate.id for each in self.members)
        return {"id": "/".join([law, *kind, *self.marks]), "of": of, "state": self.state}


def headline(estimate: Estimate) -> str:
    """Name of the first metric of its kernel; its own where no declaration knows it (of another tool)."""
    return benchmarks.of(estimate.benchmark).headline_name(estimate.kernel, estimate.params, estimate.metric)


def machine_of(estimate: Estimate, machines: Mapping[str, Machine]) -> Machine | None:
    """The machine of an estimate; the only one there is where its host is not among them."""
    found = next((machines[host] for host in estimate.placement.hosts if host in machines), None)
    return found or next(iter(machines.values()), None)


def curves(measured: Iterable[Measured], *coordinates: str) -> list[Curve]:
    """Groups that differ in nothing but `coordinates`: axes, and `label` and `memory` of the placement.

    An estimate that no state was given joins the curve of each state.
    """
    found = []
    alike = grouped(measured, lambda each: (each.estimate.benchmark, _marks(each.estimate, coordinates)))
    for (_, marks), members in alike.items():
        for state in states_of(each.estimate for each in members):
            shared = tuple(each for each in members if each.estimate.state in {None, state})
            found.append(Curve((*marks, f"state={state}") if state else marks, shared, state))
    return found


def states_of(estimates: Iterable[Estimate]) -> list[str | None]:
    """The states that estimates were made in; a single None where they do not matter."""
    states: list[str | None] = [*dict.fromkeys(each.state for each in estimates if each.state)]
    return states or [None]


def _marks(estimate: Estimate, coordinates: Sequence[str]) -> tuple[str, ...]:
    """What an estimate must share with its like, in words; not the params that follow from the machine."""
    known, chosen = _of_marks(estimate.benchmark, tuple(coordinates))
    marks = [estimate.placement.label] if "label" not in coordinates else []
    marks += [estimate.placement.memory] if "memory" not in coordinates else []
    marks += [f"{name}={estimate.params[name]}" for name in chosen if name in estimate.params]
    marks += [f"{name}={value}" for name, value in estimate.params.items() if name not in known]
    # Of others' patterns, for which ours declare no metric, each is a headline of its own.
    declared = benchmarks.of(estimate.benchmark).headline_of(estimate.kernel, estimate.params)
    marks += [] if declared else [estimate.metric]
    marks += [f"{factor}={level}" for factor, level in estimate.factors.items()]
    return (*marks, *(f"host={host}" for host in estimate.placement.hosts))


@cache
def _of_marks(benchmark: str, coordinates: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Its params and the coordinates, others' tables have more; axes that are chosen and no coordinates."""
    declared = benchmarks.of(benchmark)
    chosen = tuple(name for name in declared.defaults if name not in coordinates)
    return frozenset((*coordinates, *declared.units)), chosen


def replicates(members: Sequence[Measured]) -> tuple[Samples, Basis]:
    """What the medians of `members` might have been, shape (draws, members); what their ends are.

    With 6 launches or more of each, 400 bootstrap draws of its own: members that were launched in the same blocks
    are drawn together, others (sizes that were added later) apart. With fewer the launches themselves; a member
    that lacks a block has its median there. Their ends are what those of the member with the fewest launches are.
    """
    own = [{launch.block: launch.value for launch in each.launches} for each in members]
    if min(map(len, own), default=0) < _FEWEST:
        blocks = sorted(set[int]().union(*own)) or [-1]
        values = np.array([[at.get(block, np.nan) for at in own] for block in blocks], dtype=np.float64)
        weakest = min(members, key=lambda each: each.estimate.launches).estimate.basis or "single"
        basis: Basis = "range" if weakest == "interval" else weakest
        return np.where(np.isnan(values), [each.estimate.median or 0.0 for each in members], values), basis
    random = np.random.default_rng(_SEED)
    launched = [tuple(sorted(each)) for each in own]
    draws = np.empty((_DRAWS, len(members)))
    for mine in sorted(set(launched)):
        alike = [column for column, each in enumerate(launched) if each == mine]
        values = np.array([[own[column][block] for column in alike] for block in mine])
        drawn = random.integers(0, len(mine), (_DRAWS, len(mine)))
        draws[:, alike] = medians(values[drawn].swapaxes(1, 2))
    return draws, "interval"


def ends(draws: Samples, basis: Basis) -> tuple[float, float]:
    """Where 95 % of bootstrap draws lie, or the range of a few launches."""
    tail = (1 - CONFIDENCE) / 2 if basis == "interval" else 0.0
    low, high = quantiles(draws, (tail, 1 - tail))
    return low, high


def with_ends(value: float, draws: Samples, basis: Basis, unit: str = "") -> Quantity:
    """A value that was fitted to the medians, with the ends of those fitted to their replicates."""
    return Quantity(float(value), *ends(draws, basis), unit, basis)


def spread(values: Sequence[float], unit: str = "") -> Quantity:
    """The median of several values, with the least and the largest."""
    return Quantity(float(medians(values)), min(values), max(values), unit, "range")


def between(before: float, after: float) -> Quantity:
    """A size in B that lies between two that were measured: their geometric middle."""
    return Quantity(math.sqrt(before * after), float(before), float(after), "B", "range")


def figure(estimate: Estimate) -> Quantity:
    """The value of an estimate; 0 where it has none."""
    return estimate.value or exact(0.0, estimate.unit)


def point(
    estimate: Estimate,
    at: Mapping[str, ParamValue],
    ratio: float | None,
    value: Quantity | None = None,
) -> Point:
    """An estimate as a law sees it; `value` where that is another than the estimate's own."""
    return Point(estimate.id, dict(at), value or figure(estimate), ratio)
