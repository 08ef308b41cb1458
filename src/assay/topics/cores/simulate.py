"""Simulated programs that cores limit: arithmetic and its clock, cache-line transfers between two cores."""

from assay.simulation.rates import Setting, Workload, separation
from assay.topics.cores.benchmarks.flops import OF_OWN_UNIT

#: One iteration of the programs: dependent adds; operations on a lane; flops of plain loops on a cpu.
_CYCLES = 2.0**18
_OPERATIONS = 2.0**20
_PLAIN_FLOPS = 15 * 2.0**14
#: Time of a division or a root, in other operations.
_DIVISION = 10


def flops(setting: Setting) -> Workload:
    """Cores x clock x units x lanes x flops of an operation; a vector wider than the unit takes two turns."""
    params, law = setting.params, setting.law
    each = 2 if params["mix"] == "fma" else 1
    bits = 0 if params["width"] == "scalar" else int(params["width"])
    lanes_rate = setting.lanes_per_s(str(params["format"]), bits)
    turns = _DIVISION if params["mix"] in OF_OWN_UNIT else 1
    seconds = {
        "clock": _CYCLES / law.clock_hz,
        "loaded-clock": _CYCLES / setting.clock,
        "arithmetic": turns * _OPERATIONS / (setting.clock * law.fma_units),
    }
    work = {
        "clock": {"cycles": _CYCLES},
        "loaded-clock": {"cycles": _CYCLES},
        "arithmetic": {"flops": each * lanes_rate * seconds["arithmetic"] / turns},
    }
    return Workload(work, seconds, serial=True)


def flops_plain(setting: Setting) -> Workload:
    """Do scalar operations: compilers may not change the order of the sums."""
    flops = _PLAIN_FLOPS * len(setting.request.cpus)
    return Workload({"sum": {"flops": flops}}, {"sum": flops / setting.lanes_per_s(width=0)}, serial=True)


def core_to_core(setting: Setting) -> Workload:
    """Transfer a cache line: the less two cores share, the longer it takes."""
    law, pair = setting.law, setting.request.cpus[:2]
    far = law.handover_far.get(separation(setting.topology, pair), 1.0)
    first = next(iter(law.handover.values()))
    handover = first * far * law.slow_pairs.get((pair[0], pair[-1]), 1.0)
    return Workload(
        {"handover": {"handovers": 2.0}},
        {"handover": 2 * handover},
        serial=True,
        in_state={name: seconds / first for name, seconds in law.handover.items()},
    )


programs = {"flops": flops, "flops_plain": flops_plain, "core_to_core": core_to_core}
