"""What figures stand against, and what cannot be: the laws that bound a metric, by the name that it declares.

A limit is `given` by the user, else `derived` from facts of the machine, else the best `measured` in this run.
A new law is one function, entered in `_LAWS`.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

import msgspec

from assay import benchmarks
from assay.analyse.estimates import Measured
from assay.model.machine import Machine, Topology
from assay.model.result import Estimate, Limit
from assay.model.run import Run
from assay.model.units import format_quantity

_CHANNEL_BYTES = 8
#: Begins the source of a fact that is inferred: a limit, but nothing that makes a figure impossible.
GUESS = "guess"
#: Facts and clocks are known to a few percent: only what lies beyond this factor of a ceiling is impossible.
_TOLERANCE = 1.05


class _Bounds:
    """What the laws look at: the machines, and the best figure of each kind.

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
            keys = [
                (each.benchmark, each.metric, each.params.get("buffers")),
                (each.benchmark, each.metric, each.kernel, each.placement.cpus[:1]),
            ]
            for key in keys:
                if (each.median or 0.0) > (self._best[key].median or 0.0 if key in self._best else 0.0):
                    self._best[key] = each

    def machine(self, estimate: Estimate) -> Machine | None:
        """The machine of an estimate."""
        for host in estimate.placement.hosts:
            if host in self._machines:
                return self._machines[host]
        return next(iter(self._machines.values()), None)

    def best(self, benchmark: str, metric: str, buffers: str | None = None) -> Estimate | None:
        """The highest median of a benchmark."""
        return self._best.get((benchmark, metric, buffers))

    def best_copy(self, estimate: Estimate) -> Estimate | None:
        """The highest median of STREAM's copy on the cores of an estimate."""
        return self._best.get(("stream", "bandwidth", "copy", estimate.placement.cpus[:1]))


def bound(run: Run, measured: Sequence[Measured], given: Mapping[str, float]) -> list[Measured]:
    """The same estimates with their limits; those above a physical ceiling lose their figures and say why."""
    bounds = _Bounds(run, (each.estimate for each in measured))
    possible = [_possible(each, bounds) for each in measured]
    bounds = _Bounds(run, (each.estimate for each in possible))
    return [
        msgspec.structs.replace(
            each, estimate=msgspec.structs.replace(each.estimate, limit=_limit(each.estimate, bounds, given))
        )
        for each in possible
    ]


def _law(estimate: Estimate) -> str:
    metrics = benchmarks.get(estimate.benchmark).metrics
    return next((metric.limit for metric in metrics if metric.name == estimate.metric), "")


def _limit(estimate: Estimate, bounds: _Bounds, given: Mapping[str, float]) -> Limit | None:
    name = _law(estimate)
    if estimate.median is None or not name:
        return None
    if name in given:
        return Limit(given[name], "given", f"{name} as given by the user")
    law = _LAWS.get(name)
    return law(estimate, bounds) if law else None


def _memory(estimate: Estimate, bounds: _Bounds) -> Limit | None:
    """Bytes per second between cores and memory: what the channels carry, else the best of this run."""
    machine = bounds.machine(estimate)
    if machine and _fits_caches(estimate, machine.topology):
        return None
    peak = channel_peak(machine) if machine else None
    best = bounds.best("stream", estimate.metric)
    exceeded = peak and best and (best.median or 0.0) > _TOLERANCE * peak.value  # then it was guessed wrong
    if peak and not exceeded:
        return peak
    if best is None or best.median is None:
        return None
    what = "" if estimate.metric == "bandwidth" else f" ({estimate.metric})"
    return Limit(best.median, "measured", f"the best {best.kernel} of this run ({describe(best)}){what}")


def _copy(estimate: Estimate, bounds: _Bounds) -> Limit | None:
    """Copies that are met again in cache: the fastest of this run. In memory: what the same cores move at best."""
    buffers = "cold" if estimate.params.get("buffers") == "cold" else "hot"
    best = bounds.best("memcpy", estimate.metric, buffers)
    if best is None or best.median is None:
        return None
    where = "in memory" if buffers == "cold" else "in cache"
    fastest = Limit(
        best.median, "measured", f"the fastest copy of this run ({best.params.get('bytes')} B, {where})"
    )
    stream = bounds.best_copy(estimate)
    if buffers == "hot" or stream is None or stream.median is None or stream.median / 2 <= best.median:
        return fastest
    of = f"half of the best STREAM copy on the same cores ({describe(stream)}), which counts each byte twice"
    return Limit(stream.median / 2, "measured", of)


_LAWS: dict[str, Callable[[Estimate, _Bounds], Limit | None]] = {
    "memory-bandwidth": _memory,
    "memory-traffic": _memory,
    "copy": _copy,
}


def describe(estimate: Estimate) -> str:
    """Placement and words among the params: `all, non-temporal stores`."""
    words = [f"{each} {name}" for name, each in estimate.params.items() if isinstance(each, str)]
    state = [f"state {estimate.state}"] if estimate.state else []
    return ", ".join([estimate.placement.label, *words, *state])


def channel_peak(machine: Machine) -> Limit | None:
    """Populated channels x transfers per second x 8 B of the whole node; None where its DIMMs cannot be read."""
    fact, rate = machine.fact("memory", "populated channels"), machine.fact("memory", "transfer rate").value
    channels = fact.value
    if not isinstance(channels, int) or not isinstance(rate, int | float) or not channels or not rate:
        return None
    guessed = f" ({GUESS} {fact.source.partition(': ')[2]})" if fact.source.startswith(GUESS) else ""
    of = f"{channels} populated channels{guessed} x {rate / 1e6:.0f} MT/s x 8 B, the whole node"
    return Limit(channels * rate * _CHANNEL_BYTES, "derived", of)


def _fits_caches(estimate: Estimate, topology: Topology) -> bool:
    """Whether the working set may lie in the caches of the cores that work on it."""
    case = benchmarks.get(estimate.benchmark)
    used = set(estimate.placement.cpus[0]) if estimate.placement.cpus else set()
    last = max((cache.level for cache in topology.caches), default=0)
    cached = sum(cache.size_bytes for cache in topology.caches if cache.level == last and used & set(cache.cpus))
    return 0 < case.memory_bytes(estimate.params) <= cached


def _possible(measured: Measured, bounds: _Bounds) -> Measured:
    """The estimate, or an invalid one where it exceeds what the machine can do."""
    estimate = measured.estimate
    if estimate.median is None or not _law(estimate).startswith("memory-"):
        return measured
    for ceiling in _ceilings(estimate, bounds):
        if estimate.median > _TOLERANCE * ceiling.value:
            figure = format_quantity(estimate.median, estimate.unit)
            reason = f"{figure} is impossible: above {format_quantity(ceiling.value, 'B/s')}, {ceiling.of}"
            condemned = msgspec.structs.replace(
                estimate, median=None, lo=None, hi=None, method=None, confidence=None, modes=(), status="invalid",
                reason=reason,
            )  # fmt: skip
            return Measured(condemned, ())
    return measured


def _ceilings(estimate: Estimate, bounds: _Bounds) -> Iterable[Limit]:
    machine = bounds.machine(estimate)
    peak = channel_peak(machine) if machine and not _fits_caches(estimate, machine.topology) else None
    if machine and peak and not machine.fact("memory", "populated channels").source.startswith(GUESS):
        yield peak
    cached = bounds.best("memcpy", "bandwidth", "hot")
    cores = len(estimate.placement.cpus[0]) if estimate.placement.cpus else 0
    if cached and cached.median and cores:
        of = f"what {cores} cores copy in cache at most, each byte counted twice as here"
        yield Limit(2 * cached.median * cores, "measured", of)
