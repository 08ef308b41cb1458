"""What laws of limits look at: machines, and the best figures of a run."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from assay import benchmarks
from assay.analyse.curves import machine_of
from assay.model.machine import Machine, Topology
from assay.model.result import Estimate, Limit
from assay.model.run import Run

#: Kernel of `flops` that measures the clock while all cores of a placement work.
LOADED_CLOCK = "loaded-clock"


class Bounds:
    """The machines, and the best figure of each kind.

    Args:
        run: whose machines count.
        estimates: whose medians count.
    """

    def __init__(self, run: Run, estimates: Iterable[Estimate]) -> None:
        self._machines = run.machines
        self._best: dict[Hashable, Estimate] = {}
        for each in estimates:
            if each.median is None:
                continue
            where = (each.placement.cpus[:1], each.placement.hosts)
            keys: list[Hashable] = [
                (each.benchmark, each.metric, each.params.get("buffers")),
                (each.benchmark, each.metric, each.kernel, where[0]),
                (each.benchmark, each.metric, each.kernel, *where),
                (each.case, each.metric, each.kernel, each.placement.hosts, each.state),
            ]
            if each.benchmark == "flops":
                keys.append(("flops", each.unit, each.params.get("format"), *where))
                if each.kernel == LOADED_CLOCK:
                    keys += [(LOADED_CLOCK, *where), (LOADED_CLOCK, each.case, each.placement.hosts)]
            for key in keys:
                if (each.median or 0.0) > (self._best[key].median or 0.0 if key in self._best else 0.0):
                    self._best[key] = each

    def machine(self, estimate: Estimate) -> Machine | None:
        """The machine of an estimate."""
        return machine_of(estimate, self._machines)

    def best(self, benchmark: str, metric: str, buffers: str | None = None) -> Estimate | None:
        """The highest median of a benchmark."""
        return self._best.get((benchmark, metric, buffers))

    def best_on(self, estimate: Estimate, benchmark: str, metric: str, kernel: str) -> Estimate | None:
        """The highest median of a kernel on the cores of an estimate, on whichever host."""
        return self._best.get((benchmark, metric, kernel, estimate.placement.cpus[:1]))

    def best_flops(self, estimate: Estimate) -> Estimate | None:
        """The highest rate of `flops` on the cores of an estimate, in its precision (of himeno: fp32)."""
        precision = estimate.params.get("format", "fp32" if estimate.benchmark == "himeno" else "fp64")
        place = (estimate.placement.cpus[:1], estimate.placement.hosts)
        return self._best.get(("flops", "flop/s", precision, *place))

    def loaded_clock(self, estimate: Estimate) -> Estimate | None:
        """The clock of the cores of an estimate while they work: of the same case, else the highest."""
        hosts = estimate.placement.hosts
        same = self._best.get((LOADED_CLOCK, estimate.case, hosts))
        return same or self._best.get((LOADED_CLOCK, estimate.placement.cpus[:1], hosts))

    def same_case(self, estimate: Estimate, metric: str) -> Estimate | None:
        """Another metric of the same samples."""
        return self._best.get((estimate.case, metric, estimate.kernel, estimate.placement.hosts, estimate.state))


def _none(_estimate: Estimate, _bounds: Bounds) -> Iterable[Limit]:
    return ()


@dataclass(frozen=True)
class Law:
    """One law. `analyse/limits/` has a file for each, which defines `law`.

    Attributes:
        names: what metrics call it in `Metric.limit`.
        limit: what an estimate stands against; None where nothing bounds it.
        ceilings: what no figure can exceed, with certainty.
    """

    names: tuple[str, ...]
    limit: Callable[[Estimate, Bounds], Limit | None]
    ceilings: Callable[[Estimate, Bounds], Iterable[Limit]] = field(default=_none)


def describe(estimate: Estimate) -> str:
    """Placement and words among the params: `all, non-temporal stores`."""
    words = [f"{each} {name}" for name, each in estimate.params.items() if isinstance(each, str)]
    state = [f"state {estimate.state}"] if estimate.state else []
    return ", ".join([estimate.placement.label, *words, *state])


def cached_bytes(estimate: Estimate, topology: Topology) -> int:
    """Bytes of the last-level caches of the cores that work on an estimate; 0 where none is known."""
    used = set(estimate.placement.cpus[0]) if estimate.placement.cpus else set()
    last = max((cache.level for cache in topology.caches), default=0)
    return sum(cache.size_bytes for cache in topology.caches if cache.level == last and used & set(cache.cpus))


def fits_caches(estimate: Estimate, topology: Topology) -> bool:
    """Whether the working set may lie in the caches of the cores that work on it."""
    needed = benchmarks.get(estimate.benchmark).memory_bytes(estimate.params)
    return 0 < needed <= cached_bytes(estimate, topology)
