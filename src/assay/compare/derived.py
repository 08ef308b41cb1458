"""Figures of a measured run as others print them: the rate of single messages, from their time."""

from collections.abc import Iterator, Sequence

import msgspec

from assay.analyse.estimates import Measured
from assay.model import roles
from assay.model.measurand import AxisValue
from assay.model.quantity import Quantity


def rates(measured: Sequence[Measured], others: Sequence[Measured]) -> list[Measured]:
    """Return rates of single messages from the times of the figures, if the other side has such rates."""
    printed = {roles.pattern_name(each.estimate): roles.pattern(each.estimate) for each in others}
    timed = {name: pattern.timed for name, pattern in printed.items() if pattern and pattern.timed}
    return [rate for name, pattern in timed.items() for rate in _rates(measured, name, pattern)]


def _rates(measured: Sequence[Measured], name: str, timed: str) -> Iterator[Measured]:
    for each in measured:
        estimate, size = each.estimate, roles.size(each.estimate)
        if roles.role(estimate) != "message-time" or roles.pattern_name(estimate) != timed or not size:
            continue
        if estimate.value is None or not all(launch.value > 0 for launch in each.launches):
            continue
        axis = roles.axis(estimate.declared, "message-pattern")
        metrics = estimate.declared.metrics
        metric = next((one.name for one in metrics if one.role == "message-bandwidth"), estimate.metric)
        axes = tuple(
            AxisValue(axis, name, "message-pattern") if one.name == axis else one
            for one in estimate.measurand.axes
        )
        value = estimate.value
        measurand = msgspec.structs.replace(
            estimate.measurand, metric=metric, role="message-bandwidth", unit="B/s", better="higher", axes=axes
        )
        rate = msgspec.structs.replace(
            estimate,
            id=f"{estimate.id}/{name}",
            metric=metric,
            unit="B/s",
            better="higher",
            measurand=measurand,
            params={**estimate.params, axis: name},
            value=Quantity(size / value.value, size / value.hi, size / value.lo, "B/s", value.basis),
            limit=None,
            exceeds=None,
        )
        launches = tuple(msgspec.structs.replace(one, value=size / one.value) for one in each.launches)
        yield Measured(rate, launches)
