"""Bytes per second between cores and memory."""

from collections.abc import Iterable

from assay.analyse.bounds import Bounds, Law, describe, fits_caches
from assay.model.machine import Machine
from assay.model.result import Estimate, Limit

_CHANNEL_BYTES = 8
#: Begins the source of a fact that is inferred: a limit, but nothing that makes a figure impossible.
GUESS = "guess"
#: A guess that a figure exceeds by more than this is wrong.
_TOLERANCE = 1.05


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """What the channels carry, else the best measured rate; nothing where the working set fits the caches."""
    machine = bounds.machine(estimate)
    if machine and fits_caches(estimate, machine.topology):
        return None
    peak, best = channel_peak(machine) if machine else None, bounds.memory_rate
    exceeded = peak and best and (best.median or 0.0) > _TOLERANCE * peak.value  # then it was guessed wrong
    if peak and not exceeded:
        return peak
    if best is None or best.median is None:
        return None
    of = f"the best measured memory rate of this run: {best.benchmark} {best.kernel} ({describe(best)})"
    if (estimate.median or 0.0) > best.median:
        of += ", which this figure exceeds: some of its bytes may stay in the caches"
    return Limit(best.median, "measured", of)


def channel_peak(machine: Machine) -> Limit | None:
    """Populated channels x transfers per second x 8 B of the whole node; None where its DIMMs cannot be read."""
    fact, rate = machine.fact("memory", "populated channels"), machine.fact("memory", "transfer rate").value
    channels = fact.value
    if not isinstance(channels, int) or not isinstance(rate, int | float) or not channels or not rate:
        return None
    guessed = f" ({GUESS} {fact.source.partition(': ')[2]})" if fact.source.startswith(GUESS) else ""
    of = f"{channels} populated channels{guessed} x {rate / 1e6:.0f} MT/s x 8 B, the whole node"
    return Limit(channels * rate * _CHANNEL_BYTES, "derived", of)


#: Copies from this size on spend their time on bytes: an assumption.
_CEILING_BYTES = 1024


def _ceilings(estimate: Estimate, bounds: Bounds) -> Iterable[Limit]:
    machine = bounds.machine(estimate)
    peak = channel_peak(machine) if machine and not fits_caches(estimate, machine.topology) else None
    if machine and peak and not machine.fact("memory", "populated channels").source.startswith(GUESS):
        yield peak
    cached = bounds.best("memcpy", "bandwidth", "hot")
    cores = len(estimate.placement.cpus[0]) if estimate.placement.cpus else 0
    # Copies of a few hundred bytes are slowed by their calls, so the fastest of them is no ceiling of the cache.
    if cached and cached.median and cores and int(cached.params["bytes"]) >= _CEILING_BYTES:
        of = f"what {cores} cores copy in cache at most, each byte counted twice as here"
        yield Limit(2 * cached.median * cores, "measured", of)


law = Law(("memory-bandwidth", "memory-traffic"), _limit, _ceilings)
