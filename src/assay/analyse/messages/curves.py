"""Curves of messages: estimates that differ in size alone, as seconds a message."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.curves import Curve, RunEstimates, curves, figure, replicates
from assay.analyse.estimates import Measured
from assay.analyse.statistics import Samples
from assay.model import roles
from assay.model.declaration import Declaration
from assay.model.quantity import Basis, Quantity
from assay.model.result import Estimate
from assay.model.role_words import SIZE_AXES, USUAL_AXES

#: The usual names of the axes of patterns, of sizes, and of offsets to sizes.
PATTERN, (BYTES, OFFSET) = USUAL_AXES["message-pattern"], SIZE_AXES
#: Bytes of a message.
size = roles.size


class Times(NamedTuple):
    """Seconds a message by size.

    Attributes:
        members: by size.
        sizes: in B, shape (members,).
        seconds: of the medians, shape (1, members).
        draws: replicates of them, shape (draws, members).
        basis: of the ends of the draws.
    """

    members: tuple[Measured, ...]
    sizes: Samples
    seconds: Samples
    draws: Samples
    basis: Basis


def by_size(known: RunEstimates, benchmark: str, *coordinates: str) -> list[Curve]:
    """Return the curves of a benchmark's headline over sizes, and over `coordinates`.

    A size with an offset is not a point of the curve: it disturbs the curve on purpose.
    """
    found = (each for each in known.of(benchmark) if (each.estimate.median or 0.0) > 0)
    plain = (each for each in found if not roles.offset(each.estimate))
    return curves((each for each in plain if size(each.estimate) >= 0), BYTES, OFFSET, *coordinates)


def unusual(estimate: Estimate, but: Collection[str]) -> int:
    """Return the number of axes without their default; `but`: names of axes that do not count."""
    axes = estimate.declared.axes
    counted = [axis for axis in axes if axis.name not in but and axis.default is not None]
    return sum(estimate.params.get(axis.name, axis.default) != axis.default for axis in counted)


def times(members: Iterable[Measured]) -> Times:
    """Return seconds a message; for a bandwidth the time in which so many bytes pass."""
    ordered = tuple(sorted(members, key=lambda each: size(each.estimate)))
    sizes = np.array([float(size(each.estimate)) for each in ordered])
    medians = np.array([[each.estimate.median or 0.0 for each in ordered]])
    draws, basis = replicates(ordered)
    if ordered[0].estimate.unit != "s":
        medians, draws = sizes / medians, sizes / draws
    return Times(ordered, sizes, medians, draws, basis)


def seconds(estimate: Estimate) -> Quantity:
    """Return an estimate as seconds a message."""
    found = figure(estimate)
    if estimate.unit == "s":
        return found
    value, low, high = (size(estimate) / each for each in found)
    return Quantity(value, high, low, "s", found.basis)


def named(law: str, declared: Declaration, marks: Sequence[str]) -> str:
    """Return the id of a model: its law, its benchmark, and the marks of its curve without defaults."""
    usual = {f"{axis.name}={axis.default}" for axis in declared.axes if axis.name != PATTERN}
    return "/".join([law, declared.name, *(mark for mark in marks if mark not in usual)])
