"""The clock of a core: its nominal clock."""

from assay.analyse.bounds import Bounds, Law, of_core
from assay.analyse.peak import nominal
from assay.model.result import Estimate, Limit


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Return the nominal clock; above it is turbo. None where it is unknown, or where the figure is no clock."""
    machine = bounds.machine(estimate)
    clock = nominal(machine) if machine and not bounds.is_refused(estimate) else None
    return Limit(clock[0], "derived", clock[1], "clock", "core", reference=True) if clock else None


law = Law(("clock",), _limit, given=of_core)
