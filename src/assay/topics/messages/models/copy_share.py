"""One message at a time inside a node over a copy of the same bytes: what MPI and sockets reach of the memory."""

from collections.abc import Iterable

import numpy as np

from assay.analyse.curves import Curve, RunEstimates, point, replicates, with_ends
from assay.analyse.estimates import Measured
from assay.analyse.messages import curves
from assay.model import roles
from assay.model.law import Model
from assay.model.quantity import Quantity
from assay.topics.messages.ratios import LONG

LAW = "copy-share"
_COPIES = "memcpy"


class CopyShare(Model, frozen=True, kw_only=True, tag=LAW):
    """The rate of one message (size / one-way time) as a share of the rate at which one core copies its bytes.

    Attributes:
        buffers: of the copies: `cold` where they were measured, for long messages pass through memory.
        long_messages: geometric mean over the sizes from a quarter of the largest on.
    """

    buffers: str
    long_messages: Quantity


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each curve of single messages inside a node that has sizes of a curve of copies."""
    copies = sorted(curves.by_size(known, _COPIES), key=lambda curve: "buffers=cold" not in curve.marks)
    for benchmark in roles.message_curves(known.run.plan.declarations):
        for curve in curves.by_size(known, benchmark):
            base = next((each for each in copies if _is_base(curve, each)), None)
            if base and _is_single(curve.members[0]):
                yield from _model(curve, base)


def _is_single(measured: Measured) -> bool:
    """Whether one message at a time passes between two partners inside a node."""
    found = roles.pattern(measured.estimate)
    single = found is not None and found.figure == "time" and found.pairs == "one"
    return single and roles.role(measured.estimate) == "message-time"


def _is_base(curve: Curve, copies: Curve) -> bool:
    hosts = curve.members[0].estimate.placement.hosts
    return hosts == copies.members[0].estimate.placement.hosts and copies.state in {None, curve.state}


def _model(curve: Curve, base: Curve) -> Iterable[Model]:
    copied = {curves.size(each.estimate): each for each in base.members}
    ordered = sorted(curve.members, key=lambda each: curves.size(each.estimate))
    messages = [each for each in ordered if curves.size(each.estimate) in copied.keys() - {0}]
    if not messages:
        return
    sizes = np.array([float(curves.size(each.estimate)) for each in messages])
    members = (*messages, *(copied[int(each)] for each in sizes))
    draws, basis = replicates(members)  # of both together: they are paired by the blocks that they share
    medians = np.array([[each.estimate.median or 0.0 for each in members]])
    shares, drawn = (sizes / rows[:, : sizes.size] / rows[:, sizes.size :] for rows in (medians, draws))
    long = sizes >= LONG * sizes[-1]
    value, values = (np.exp(np.log(rows[:, long]).mean(axis=1)) for rows in (shares, drawn))
    buffers = str(roles.level_of(base.members[0].estimate, "buffer-reuse"))
    name = curves.named(LAW, messages[0].estimate.declared, (buffers, *curve.marks))
    yield CopyShare(
        **(curve._replace(members=members).identity(LAW) | {"id": name}),
        points=tuple(
            point(each.estimate, {"bytes": int(sizes[at])}, None, with_ends(shares[0, at], drawn[:, at], basis))
            for at, each in enumerate(messages)
        ),
        buffers=buffers,
        long_messages=with_ends(value[0], values, basis),
    )
