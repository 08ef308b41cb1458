"""Curves for the fit of laws: estimates that differ only in the coordinates of the law."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from assay.analyse.estimates import Measured
from assay.analyse.statistics import Samples, medians, quantiles
from assay.model import roles
from assay.model.declaration import ParamValue, kept
from assay.model.grouping import grouped
from assay.model.law import Model, Point
from assay.model.machine import Machine
from assay.model.quantity import CONFIDENCE, Basis, Quantity, exact
from assay.model.result import Estimate
from assay.model.role_words import Role
from assay.model.run import Run

#: With fewer launches there is no bootstrap: the launches are the replicates, with a range instead of an interval.
_FEWEST = 6
#: See `RunEstimates.farthest`.
FARTHEST = 4.0
_DRAWS = 400
_SEED = 1

M = TypeVar("M", bound=Model)


class RunEstimates(msgspec.Struct, frozen=True, dict=True):
    """The input of laws and predictions: a run, its estimates, and the laws fitted so far.

    Attributes:
        run: as it was stored.
        measured: its estimates with their launches.
        models: fitted laws.
        farthest: nothing is predicted for more than so many times the ranks or nodes that are known.
    """

    run: Run
    measured: tuple[Measured, ...]
    models: tuple[Model, ...] = ()
    farthest: float = FARTHEST

    def with_models(self, models: tuple[Model, ...]) -> "RunEstimates":
        """Return the same with more models; sorted estimates are kept."""
        more = msgspec.structs.replace(self, models=self.models + models)
        more.__dict__.update(self.__dict__)
        return more

    def fitted(self, law: type[M]) -> list[M]:
        """Return the fits of a law, one for each curve; a law declares which other laws it needs."""
        return [model for model in self.models if isinstance(model, law)]

    def of(self, benchmark: str, kernel: str = "", metric: str = "") -> list[Measured]:
        """Return estimates with a figure, of one kernel (any if empty) and metric (the headline if empty)."""
        every = self._sorted[0].get(benchmark, ())
        found = (each for each in every if not kernel or each.estimate.kernel == kernel)
        return [each for each in found if each.estimate.metric == (metric or headline(each.estimate))]

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Id -> estimate."""
        return {each.estimate.id: each.estimate for each in self.measured}

    def of_role(self, role: Role, *, main: bool = False) -> list[Measured]:
        """Return estimates of a role with a figure, of any benchmark; `main`: of its main kernel only."""
        return [each for each in self._sorted[1].get(role, ()) if not main or roles.is_main(each.estimate)]

    @cached_property
    def _sorted(self) -> tuple[Mapping[str, Sequence[Measured]], Mapping[Role | None, Sequence[Measured]]]:
        """Estimates with a figure by benchmark and by role, which models need many times."""
        having = [each for each in self.measured if each.estimate.median is not None]
        by_role = grouped(having, lambda each: roles.role(each.estimate))
        return grouped(having, lambda each: each.estimate.benchmark), by_role

    def machine(self, estimate: Estimate) -> Machine | None:
        """Return the machine of an estimate."""
        return machine_of(estimate, self.run.machines)


class Curve(NamedTuple):
    """Estimates of a kernel and metric that differ only in the coordinates of a law.

    Attributes:
        marks: the words that they share; the state of the machine last.
        members: the estimates.
        state: of the machine; None if states do not matter.
    """

    marks: tuple[str, ...]
    members: tuple[Measured, ...]
    state: str | None = None

    def identity(self, law: str, *kind: str) -> dict[str, Any]:
        """Return id, estimates and state for the fit of a law; `kind` stands before the marks in the id."""
        of = tuple(each.estimate.id for each in self.members)
        return {"id": "/".join([law, *kind, *self.marks]), "of": of, "state": self.state}


def headline(estimate: Estimate) -> str:
    """Return the name of the first metric of its kernel; its own metric if no benchmark declares the kernel."""
    return estimate.declared.headline_name(estimate.kernel, estimate.params, estimate.metric)


def is_headline(estimate: Estimate) -> bool:
    """Whether it is of the first metric of its kernel, the one that is compared."""
    return estimate.metric == headline(estimate)


def machine_of(estimate: Estimate, machines: Mapping[str, Machine]) -> Machine | None:
    """Return the machine of an estimate; the first machine if its hosts are unknown."""
    found = next((machines[host] for host in estimate.placement.hosts if host in machines), None)
    return found or next(iter(machines.values()), None)


def curves(measured: Iterable[Measured], *coordinates: str) -> list[Curve]:
    """Group estimates that differ only in `coordinates`: axes, and `label` and `memory` of the placement.

    An estimate without a state is on the curve of each state.
    """
    found = []
    groups = grouped(measured, lambda each: (each.estimate.benchmark, _marks(each.estimate, coordinates)))
    for (_, marks), members in groups.items():
        for state in states_of(each.estimate for each in members):
            shared = tuple(each for each in members if each.estimate.state in {None, state})
            found.append(Curve((*marks, f"state={state}") if state else marks, shared, state))
    return found


def states_of(estimates: Iterable[Estimate]) -> list[str | None]:
    """Return the states of estimates; a single None if states do not matter."""
    states: list[str | None] = [*dict.fromkeys(each.state for each in estimates if each.state)]
    return states or [None]


def _marks(estimate: Estimate, coordinates: Sequence[str]) -> tuple[str, ...]:
    """The words that estimates of a curve share; without params that follow from the machine."""
    known, chosen = _of_marks(estimate.declaration, tuple(coordinates))
    marks = [estimate.placement.label] if "label" not in coordinates else []
    marks += [estimate.placement.memory] if "memory" not in coordinates else []
    marks += [f"{name}={estimate.params[name]}" for name in chosen if name in estimate.params]
    marks += [f"{name}={value}" for name, value in estimate.params.items() if name not in known]
    # A pattern of another tool without a declared metric has each of its metrics as a headline.
    declared = estimate.declared.headline_of(estimate.kernel, estimate.params)
    marks += [] if declared else [estimate.metric]
    marks += [f"{factor}={level}" for factor, level in estimate.factors.items()]
    return (*marks, *(f"host={host}" for host in estimate.placement.hosts))


@cache
def _of_marks(declaration: str, coordinates: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Its params with the coordinates (tables of other tools have more); chosen axes that are no coordinates."""
    declared = kept(declaration)
    chosen = tuple(name for name in declared.defaults if name not in coordinates)
    return frozenset((*coordinates, *declared.units)), chosen


def replicates(members: Sequence[Measured]) -> tuple[Samples, Basis]:
    """Return replicates of the medians of `members`, shape (draws, members), and the basis of their ends.

    With 6 launches or more of each, these are 400 bootstrap draws. Members that were launched in the same blocks
    are drawn together, others (sizes that were added later) separately. With fewer launches, these are the
    launches; a member that lacks a block has its median there. The basis is that of the member with the fewest
    launches.
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
    for blocks_of in sorted(set(launched)):
        columns = [column for column, each in enumerate(launched) if each == blocks_of]
        values = np.array([[own[column][block] for column in columns] for block in blocks_of])
        drawn = random.integers(0, len(blocks_of), (_DRAWS, len(blocks_of)))
        draws[:, columns] = medians(values[drawn].swapaxes(1, 2))
    return draws, "interval"


def ends(draws: Samples, basis: Basis) -> tuple[float, float]:
    """Return the 95 % interval of bootstrap draws, or the range of a few launches."""
    tail = (1 - CONFIDENCE) / 2 if basis == "interval" else 0.0
    low, high = quantiles(draws, (tail, 1 - tail))
    return low, high


def with_ends(value: float, draws: Samples, basis: Basis, unit: str = "") -> Quantity:
    """Return a value fitted to the medians, with the ends of the values fitted to their replicates."""
    return Quantity(float(value), *ends(draws, basis), unit, basis)


def spread(values: Sequence[float], unit: str = "") -> Quantity:
    """Return the median of several values, with the smallest and the largest."""
    return Quantity(float(medians(values)), min(values), max(values), unit, "range")


def between(before: float, after: float) -> Quantity:
    """Return the geometric mean of two measured sizes in B, with both as its ends."""
    return Quantity(math.sqrt(before * after), float(before), float(after), "B", "range")


def figure(estimate: Estimate) -> Quantity:
    """Return the value of an estimate; 0 if it has none."""
    return estimate.value or exact(0.0, estimate.unit)


def point(
    estimate: Estimate,
    at: Mapping[str, ParamValue],
    ratio: float | None,
    value: Quantity | None = None,
) -> Point:
    """Return an estimate as a point of a law; `value` replaces the estimate's own."""
    return Point(estimate.id, dict(at), value or figure(estimate), ratio)
