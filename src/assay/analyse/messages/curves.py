"""Curves of messages: estimates that differ in size alone, as seconds a message."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.curves import Curve, RunEstimates, curves, figure, replicates
from assay.analyse.estimates import Measured
from assay.analyse.statistics import Samples
from assay.model import benchmarks, roles
from assay.model.quantity import Basis, Quantity
from assay.model.result import Estimate

#: What declarations call the axes of patterns, of sizes, and of what is added to those.
PATTERN, BYTES, OFFSET = map(roles.usual_axis, ("message-pattern", "message-size", "size-offset"))
#: Bytes of a message.
size = roles.size


class Times(NamedTuple):
    """Seconds a message by size.

    Attributes:
        members: by size.
        sizes: in B, shape (members,).
        seconds: of the medians, shape (1, members).
        draws: what they might have been, shape (draws, members).
        basis: what the ends of the draws are.
    """

    members: tuple[Measured, ...]
    sizes: Samples
    seconds: Samples
    draws: Samples
    basis: Basis


def by_size(known: RunEstimates, benchmark: str, *coordinates: str) -> list[Curve]:
    """Curves of a benchmark's headline over sizes, and over `coordinates`."""
    found = (each for each in known.of(benchmark) if (each.estimate.median or 0.0) > 0)
    return curves((each for each in found if size(each.estimate) >= 0), BYTES, OFFSET, *coordinates)


def unusual(estimate: Estimate, but: Collection[str]) -> int:
    """How many of its axes have not their defaults; `but`: names of axes that do not count."""
    axes = benchmarks.of(estimate.benchmark).axes
    counted = [axis for axis in axes if axis.name not in but and axis.default is not None]
    return sum(estimate.params.get(axis.name, axis.default) != axis.default for axis in counted)


def times(members: Iterable[Measured]) -> Times:
    """As seconds a message: of a bandwidth the time in which so many bytes pass, of all pairs and directions."""
    ordered = tuple(sorted(members, key=lambda each: size(each.estimate)))
    sizes = np.array([float(size(each.estimate)) for each in ordered])
    medians = np.array([[each.estimate.median or 0.0 for each in ordered]])
    draws, basis = replicates(ordered)
    if ordered[0].estimate.unit != "s":
        medians, draws = sizes / medians, sizes / draws
    return Times(ordered, sizes, medians, draws, basis)


def seconds(estimate: Estimate) -> Quantity:
    """An estimate as seconds a message."""
    found = figure(estimate)
    if estimate.unit == "s":
        return found
    value, low, high = (size(estimate) / each for each in found)
    return Quantity(value, high, low, "s", found.basis)


def named(law: str, benchmark: str, marks: Sequence[str]) -> str:
    """The id of a model: its law, its benchmark, and the marks of its curve that are no defaults."""
    axes = benchmarks.get(benchmark).axes
    usual = {f"{axis.name}={axis.default}" for axis in axes if axis.name != PATTERN}
    return "/".join([law, benchmark, *(mark for mark in marks if mark not in usual)])
