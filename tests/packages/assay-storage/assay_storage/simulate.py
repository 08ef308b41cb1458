"""Files on a simulated machine: as fast as its memory, and a fixed time to make them durable."""

from assay.simulation.rates import Setting, Workload

_FSYNC_S, _CLOSE_S = 0.005, 1e-5


def storage(setting: Setting) -> Workload:
    """Write and read at half of the rate of memory for one core."""
    size = int(setting.params["bytes"])
    passed_s = 2 * size / setting.law.core_traffic
    phases = {"write": passed_s, "fsync": _FSYNC_S, "close": _CLOSE_S}
    stored_s = sum(phases.values())
    work: dict[str, dict[str, float]] = {"stored": {"bytes": 1.0}, **{name: {} for name in phases}}
    work["read"] = {"bytes": float(size)}
    seconds = {"stored": stored_s, **phases, "read": passed_s}
    return Workload(work, seconds, serial=True, figure=float(size))


programs = {"storage": storage}
