"""What the caches of a machine hold, whatever they claim: found out before a plan is sized by them.

A virtual machine may claim 480 MiB of a cache and get 16 to 30. Arrays of four times the claim are right where it
is true; where it is not they take minutes to set up and tell nothing more. So one launch measures the rate at the
size that the claim asks for, at half of it, a quarter ...: from some size on no rate is above that of the largest,
and this size lies beyond what the caches hold. The figures choose sizes and are no results.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.launch.command import Executor, Sampling
from assay.launch.starter import Starter
from assay.model import benchmarks
from assay.model.benchmark import Axis
from assay.model.machine import Topology
from assay.model.plan import Case, Plan
from assay.model.run import CaseRecords
from assay.model.toolchain import Build
from assay.run.records import read_answer

#: Working sets below this are set up in no time, whatever the caches claim.
_WORTH = 2**30
#: The smallest working set that is tried.
_LEAST = 16 * 2**20
#: A rate above another one by no more is the same. Caches make none lower: what is lower was disturbed.
_SAME = 0.02
_CASE_S = 1.0
_SAMPLES = (3, 20)
_PATIENCE_S = 120.0


class Held(NamedTuple):
    """What the caches of a machine hold at most, and the rates that tell so: (B, B/s), the largest first."""

    bytes: int
    rates: tuple[tuple[int, float], ...]


def find_held(
    plan: Plan, topology: Topology, builds: Mapping[str, Build], starter: Starter, executor: Executor
) -> Held | None:
    """The working set of all cores from which on memory decides the rate; None where what caches claim is true.

    Args:
        plan: sized by what the caches claim.
        topology: of this machine.
        builds: toolchain -> programs.
        starter: makes the command lines.
        executor: starts them.
    """
    sized = [case for case in plan.studied if _axis(case) and starter.is_local((case,))]
    case = max(sized, key=lambda each: (len(each.placement.cpus), each.memory_bytes), default=None)
    launch = next((each for each in plan.order if case and case.id in each.cases), None)
    if case is None or launch is None or case.memory_bytes < _WORTH:
        return None
    tried = _sizes(case)
    sampling = Sampling(_SAME, *_SAMPLES, {each.id: _CASE_S for each in tried})
    (command,) = starter.commands(plan, tried, builds[launch.toolchain], launch.program, sampling)
    outcome = executor.execute(command, _PATIENCE_S)
    rates = {each.header.case: _rate(each) for each in read_answer(outcome.stdout, tried).cases if each.end}
    found = tuple((each.memory_bytes, rates[each.id]) for each in tried if rates.get(each.id))
    held = held_bytes(found) if found and found[0][0] == case.memory_bytes else 0
    true = held and _is_true(topology.last_level_bytes(case.placement.cpus), found)
    return Held(held, found) if held and not true else None


def held_bytes(rates: Sequence[tuple[int, float]]) -> int:
    """The smallest working set from which on no rate is above the rate of the largest; 0 if it is the largest.

    Args:
        rates: working set in B, and its rate; the largest first.
    """
    whole = rates[0][1]
    found = 0
    for size, rate in rates[1:]:
        if not rate <= (1 + _SAME) * whole:
            break
        found = size
    return found


def _is_true(claimed: int, rates: Sequence[tuple[int, float]]) -> bool:
    """Whether the largest working set that should fit the caches has a rate nearer to theirs than to memory's."""
    inside = next((rate for size, rate in rates if size <= claimed), 0.0)
    memory, caches = rates[0][1], max(rate for _, rate in rates)
    return inside > max((memory + caches) / 2, (1 + _SAME) * memory)


def _axis(case: Case) -> Axis | None:
    """The axis that a benchmark of the memory's rate sizes by the machine."""
    benchmark = benchmarks.get(case.benchmark)
    if not any(metric.role == "memory-rate" for metric in benchmark.metrics):
        return None
    return next((axis for axis in benchmark.axes if axis.default is None and axis.unit), None)


def _sizes(case: Case) -> tuple[Case, ...]:
    """The case with its arrays, with half of them, a quarter ..."""
    axis = _axis(case)
    found = [case]
    while axis and found[-1].memory_bytes // 2 >= _LEAST:
        last = found[-1]
        params = last.params | {axis.name: int(last.params[axis.name]) // 2}
        size = benchmarks.get(case.benchmark).host_memory_bytes(params, case.placement)
        found.append(msgspec.structs.replace(last, id=f"{case.id}:{size}", params=params, memory_bytes=size))
    return tuple(found)


def _rate(records: CaseRecords) -> float:
    """Best bytes per second of the kernel that runs last."""
    measured = [each for each in records.series if each.phase == "measured" and each.seconds]
    if not measured:
        return 0.0
    last = measured[-1]
    return last.iterations * max(records.header.work[last.kernel].values()) / min(last.seconds)
