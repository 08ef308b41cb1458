"""The clock that the cores of an estimate keep under load, as a quantity: what turns times into cycles."""

from assay.analyse.bounds import CLOCK_SHARE, run_clock
from assay.analyse.curves import RunEstimates
from assay.model.quantity import Quantity
from assay.model.result import Estimate


class Clocks:
    """The clocks under load of a run.

    Args:
        known: whose estimates of role `loaded-clock` count, but those too low to be a clock.
    """

    def __init__(self, known: RunEstimates) -> None:
        least = CLOCK_SHARE * run_clock(each.estimate for each in known.measured)
        self._found = [each.estimate for each in known.of_role("loaded-clock")]
        self._found = [each for each in self._found if (each.median or 0.0) >= least]

    def of_core(self, estimate: Estimate) -> Quantity | None:
        """The highest clock measured on exactly these cores, of any instructions, else on cores that hold them.

        In Hz. None where no work kept them busy: a nominal clock says nothing of turbo.
        """
        cpus = _cpus(estimate)
        around = [each for each in self._found if cpus and cpus <= _cpus(each) and self._agree(each, estimate)]
        fewest = min((len(_cpus(each)) for each in around), default=0)
        nearest = (each for each in around if len(_cpus(each)) == fewest)
        best = max(nearest, key=lambda each: each.median or 0.0, default=None)
        return best.value if best else None

    def of_case(self, estimate: Estimate) -> Quantity | None:
        """The clock measured together with the same samples, of the slowest core; None where there is none."""
        same = (each for each in self._found if each.case == estimate.case and self._agree(each, estimate))
        found = next(same, None)
        return found.value if found else None

    @staticmethod
    def _agree(one: Estimate, other: Estimate) -> bool:
        states = {one.state, other.state} - {None}
        return one.placement.hosts == other.placement.hosts and len(states) < 2  # noqa: PLR2004 (two that differ)


def _cpus(estimate: Estimate) -> frozenset[int]:
    return frozenset(estimate.placement.cpus[0] if estimate.placement.cpus else ())
