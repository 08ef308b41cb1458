"""The clock of the cores of an estimate under load, as a quantity; it converts times to cycles."""

from assay.analyse.bounds import CLOCK_SHARE, run_clock
from assay.analyse.curves import RunEstimates
from assay.model.grouping import grouped
from assay.model.quantity import Quantity
from assay.model.result import Estimate


class Clocks:
    """The clocks under load of a run: its estimates of that role, without values too low to be a clock."""

    def __init__(self, known: RunEstimates) -> None:
        least = CLOCK_SHARE * run_clock(each.estimate for each in known.measured)
        found = (each.estimate for each in known.of_role("loaded-clock") if (each.estimate.median or 0.0) >= least)
        self._found = grouped(found, lambda each: each.placement.hosts)

    def of_core(self, estimate: Estimate) -> Quantity | None:
        """Return the highest clock, in Hz, of exactly these cores, else of the smallest set that contains them.

        None if no work kept them busy: a nominal clock does not include turbo.
        """
        cpus = _cpus(estimate)
        around = [each for each in self._around(estimate) if cpus and cpus <= _cpus(each)]
        fewest = min((len(_cpus(each)) for each in around), default=0)
        nearest = (each for each in around if len(_cpus(each)) == fewest)
        best = max(nearest, key=lambda each: each.median or 0.0, default=None)
        return best.value if best else None

    def of_case(self, estimate: Estimate) -> Quantity | None:
        """Return the clock measured together with the same samples, of the slowest core, or None."""
        found = next((each for each in self._around(estimate) if each.case == estimate.case), None)
        return found.value if found else None

    def _around(self, estimate: Estimate) -> list[Estimate]:
        """The clocks on the same hosts in the same state of the machine."""
        found = self._found.get(estimate.placement.hosts, ())
        return [each for each in found if each.state == estimate.state or None in {each.state, estimate.state}]


def _cpus(estimate: Estimate) -> frozenset[int]:
    return frozenset(estimate.placement.cpus[0] if estimate.placement.cpus else ())
