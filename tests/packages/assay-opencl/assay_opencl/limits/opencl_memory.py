"""Bytes per second of the memory of an OpenCL device."""

import msgspec

from assay.analyse.bounds import Bounds, Law, fits_caches
from assay.model.result import Estimate, Limit
from assay.model.text import text


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """The best rate of the host's memory for the same cores, if the device computes on them.

    A card has a memory of its own: its limit is that of the data sheet, `--limit opencl-memory='3.35 TB/s'`.
    """
    devices = [device for rank in bounds.plan.case(estimate.case).placement.devices for device in rank]
    machine = bounds.machine(estimate)
    if any(device.address for device in devices) or machine is None or fits_caches(estimate, machine.topology):
        return None
    best = bounds.of_cores(estimate) or bounds.of_memory(estimate)
    if best is None or best.median is None:
        return None
    of = text("the best measured memory rate of the cores on which the device computes")
    return Limit(best.median, "measured", of, "memory", measured_by=best.id)


def _given(_estimate: Estimate, _bounds: Bounds, given: Limit) -> Limit:
    return msgspec.structs.replace(given, kind="memory")


law = Law(("opencl-memory",), _limit, given=_given)
