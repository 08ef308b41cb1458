"""Estimates by hand, as the input of laws: a figure from the values of its launches."""

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
from tests.simulation import described
from tests.unit.report_example import estimate

from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import LaunchMedian, Measured
from assay.catalogue import benchmarks
from assay.model.declaration import keep
from assay.model.law import Model
from assay.model.machine import Machine
from assay.model.placed import Placed
from assay.model.quantity import Basis, Quantity

#: Two memory nodes of one socket, each of two cores that share an L3.
NODES = "pack:1 numa:2(memory=8GB) l3:1(size=8MB) l2:2(size=1MB) l1:1(size=32kB) core:1 pu:1"
HOST = "n1"


def machine(description: str = NODES) -> Machine:
    return msgspec.structs.replace(described(description), host=HOST)


def placed(label: str, *cpus: int, memory: str = "first-touch") -> Placed:
    return Placed(label, (HOST,), (cpus,), memory, None)


def measured(  # noqa: PLR0913 (what an estimate is of)
    benchmark: str,
    kernel: str,
    metric: str,
    values: Sequence[float],
    place: Placed,
    *,
    state: str | None = None,
    **params: Any,  # noqa: ANN401 (levels of axes)
) -> Measured:
    """A figure with a launch in each block: of six or more with an interval."""
    declared = benchmarks.get(benchmark).declaration
    found = next(
        each for each in declared.metrics if each.name == metric and (not each.kernels or kernel in each.kernels)
    )
    basis: Basis = "interval" if len(values) >= 6 else "range"
    levels = ",".join(f"{name}={value}" for name, value in params.items())
    case = f"{benchmark}/{place.label}/{place.memory}/{levels}"
    made = msgspec.structs.replace(
        estimate(case, kernel, 1.0),
        id="/".join(filter(None, (case, f"{place.cpus[0]}", kernel, metric, state))),
        declaration=keep(declared),
        metric=metric,
        unit=found.unit,
        better=found.better,
        params=params,
        placement=place,
        state=state,
        value=Quantity(float(np.median(values)), min(values), max(values), found.unit, basis),
        min=min(values),
        max=max(values),
        launches=len(values),
        limit=None,
    )
    return Measured(made, tuple(LaunchMedian(at, state, value) for at, value in enumerate(values)))


def known(
    figures: Iterable[Measured], models: Sequence[Model] = (), description: str = NODES, **run: object
) -> RunEstimates:
    """The input of a law; `run`: further fields of the run."""
    of_run: Any = SimpleNamespace(**({"machines": {HOST: machine(description)}} | run))
    return RunEstimates(of_run, tuple(figures), tuple(models))
