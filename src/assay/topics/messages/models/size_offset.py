"""What a few bytes less or more than a size cost, as NetPIPE perturbs its sizes: times beside it over its own."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.curves import Curve, RunEstimates, curves, point, with_ends
from assay.analyse.estimates import Measured
from assay.analyse.messages.curves import BYTES, OFFSET, named, size, times
from assay.analyse.statistics import Samples
from assay.model import roles
from assay.model.grouping import grouped
from assay.model.law import Model
from assay.model.quantity import Quantity

LAW = "size-offset"
#: A size is at least this many offsets: beside a smaller one lies a message of another size.
_LEAST = 8


class SizeOffset(Model, frozen=True, kw_only=True, tag=LAW):
    """The time of messages or copies a few bytes below and above a size, over that of the size.

    The geometric mean of both sides is taken, so that the bytes themselves cancel.

    Attributes:
        offset: bytes less and more.
        mean: geometric mean over the sizes.
        most: the largest ratio of all sizes.
        most_at: size that has it, in B.
    """

    offset: int
    mean: Quantity
    most: Quantity
    most_at: int


class _Beside(NamedTuple):
    """The figures of one size, and of the same size with the offset taken away and added."""

    plain: Measured
    less: Measured
    more: Measured


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each curve and offset that was taken away from its sizes and added to them."""
    for declared in known.run.plan.declarations:
        if declared.axis("size-offset") is None:
            continue
        having = (each for each in known.of(declared.name) if (each.estimate.median or 0.0) > 0)
        for curve in curves(having, BYTES, OFFSET):
            for offset, found in grouped(_beside(curve.members), lambda pair: pair[0]).items():
                yield _model(curve, offset, [each for _, each in found])


def _beside(members: Sequence[Measured]) -> Iterator[tuple[int, _Beside]]:
    at = {(each.estimate.params[BYTES], roles.offset(each.estimate)): each for each in members}
    for (nominal, offset), more in at.items():
        plain, less = at.get((nominal, 0)), at.get((nominal, -offset))
        if offset > 0 and plain and less and size(plain.estimate) >= _LEAST * offset:
            yield offset, _Beside(plain, less, more)


def _model(curve: Curve, offset: int, found: Sequence[_Beside]) -> Model:
    members = tuple(each for beside in found for each in beside)
    taken = times(members)
    place = {each.estimate.id: at for at, each in enumerate(taken.members)}
    order = np.array([[place[each.estimate.id] for each in beside] for beside in found])
    ratios, drawn = (_ratios(rows, order) for rows in (taken.seconds, taken.draws))
    sizes = [size(each.plain.estimate) for each in found]
    values = [with_ends(ratios[0, at], drawn[:, at], taken.basis) for at in range(len(found))]
    worst = int(ratios[0].argmax())
    name = named(LAW, members[0].estimate.declared, (f"{offset}", *curve.marks))
    mean, means = (np.exp(np.log(rows).mean(axis=1)) for rows in (ratios, drawn))
    return SizeOffset(
        **(curve._replace(members=members).identity(LAW) | {"id": name}),
        points=tuple(
            point(each.plain.estimate, {"bytes": at}, None, value)
            for each, at, value in zip(found, sizes, values, strict=True)
        ),
        offset=offset,
        mean=with_ends(mean[0], means, taken.basis),
        most=values[worst],
        most_at=sizes[worst],
    )


def _ratios(rows: Samples, order: Samples) -> Samples:
    """Return the ratio of each size, shape (rows, sizes), from times of shape (rows, figures)."""
    plain, less, more = (rows[:, order[:, at]] for at in range(3))
    result: Samples = np.sqrt(less * more) / plain
    return result
