"""Simulated programs that memory limits: bandwidth, copies, dependent loads, loads under load."""

from assay.simulation.rates import Setting, Shares, Workload, nearest_nodes
from assay.topics.memory.benchmarks.stream import benchmark

_DOUBLE_BYTES = 8
#: Elements of an array, where the request names none.
_ELEMENTS = 10_000_000
_MEMORY_BYTES = 2**28
_LOAD_BYTES = 2.0**26
#: Turns of delay that halve the load.
_DELAY = 30


def stream(setting: Setting) -> Workload:
    """Read the arrays from the smallest caches that hold all three, else from memory."""
    elements, serial = int(setting.params["elements"]) or _ELEMENTS, setting.params["touch"] == "serial"
    cached = setting.cached_rate(setting.request.cpus, 3 * _DOUBLE_BYTES * elements)
    rate = cached or setting.memory_rate(setting.page_shares(serial=serial))
    work = {kernel: benchmark.work_of(kernel, elements) for kernel in benchmark.kernels}
    if setting.params["stores"] != "ordinary":  # the lines of the target are not read
        work = {kernel: amounts | {"traffic_bytes": amounts["bytes"]} for kernel, amounts in work.items()}
    seconds = {
        kernel: amounts["traffic_bytes"] / (rate * setting.law.kernels.get(kernel, 1.0))
        for kernel, amounts in work.items()
    }
    return Workload(work, seconds, serial)


def memcpy(setting: Setting) -> Workload:
    """Copy one block again and again, or many blocks of a pool."""
    size = max(1, int(setting.params["bytes"]) + int(setting.params["offset"]))
    held = 2 * (max(size, int(setting.params["pool"])) if setting.params["buffers"] == "cold" else size)
    core = setting.request.cpus[0]
    in_memory = setting.law.copy_rate * setting.law.slow_cores.get(core, 1.0)
    seconds = setting.law.call_s + size / (setting.cached_rate((core,), held) or in_memory)
    return Workload({"memcpy": {"bytes": float(size)}}, {"memcpy": seconds}, serial=True)


def latency(setting: Setting) -> Workload:
    """Walk at random: the smallest cache that holds the working set answers, else memory.

    Small pages need a walk of the page table beyond the reach of the TLB.
    """
    size, law = int(setting.params["bytes"]), setting.law
    seconds = _load_s(setting, size, setting.page_shares(serial=True)[0])
    if setting.params["pages"] == "small" and size > law.tlb_bytes:
        seconds += law.tlb_s
    seconds /= law.slow_cores.get(setting.request.cpus[0], 1.0)
    return Workload({"chase": {"loads": 1.0}}, {"chase": seconds}, serial=True)


def loaded_latency(setting: Setting) -> Workload:
    """Walk through memory while other cores draw what their delay leaves; waiting grows with the square of it."""
    drawn = 1 / (1 + float(setting.params["delay"]) / _DELAY)
    shares = setting.page_shares()
    idle = _load_s(setting, _MEMORY_BYTES, shares[0])
    if setting.params["pages"] == "small":
        idle += setting.law.tlb_s
    others = setting.request.cpus[1:]
    rate = drawn * setting.memory_rate(shares[1:], others) if others else 1.0
    return Workload(
        {"chase": {"loads": 1.0}, "load": {"bytes": _LOAD_BYTES}},
        {"chase": idle * (1 + (setting.law.load_queue - 1) * drawn**2), "load": _LOAD_BYTES / rate},
    )


def _load_s(setting: Setting, size: int, nodes: Shares) -> float:
    """Time of a load of the first cpu from a working set of `size` bytes that lies on `nodes`."""
    cpu, law = setting.request.cpus[0], setting.law
    own = [cache for cache in setting.topology.caches if cache.kind != "instruction" and cpu in cache.cpus]
    for cache in sorted(own, key=lambda cache: cache.level):
        if size <= law.held.get(cache.level, cache.size_bytes):
            return law.load_s[cache.level]
    near = nearest_nodes(setting.topology).get(cpu)
    return law.memory_load_s * sum(
        share * (1.0 if node == near else law.remote_load) for node, share in nodes.items()
    )


programs = {"stream": stream, "memcpy": memcpy, "latency": latency, "loaded_latency": loaded_latency}
