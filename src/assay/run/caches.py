"""Measure the capacity of a machine's caches before they size a plan, because their stated size may be wrong.

A virtual machine may state a cache of 480 MiB and get 16 to 30 MiB. Arrays of four times the stated size are right
if it is true; otherwise they take minutes to set up, for the same result. So passes measure the rate at up to four
times the stated size, at half of it, a quarter ...: from some size on no rate exceeds that of the largest, and
this size is beyond the capacity of the caches. Other virtual machines can only lower rates: the best rate of each
size over all passes counts, and passes are repeated until one changes nothing. The figures only choose sizes and
are no results.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.catalogue import benchmarks
from assay.launch.command import Executor, Sampling
from assay.launch.starter import Starter
from assay.model.declaration import Axis
from assay.model.machine import Topology
from assay.model.plan import Case, Plan
from assay.model.run import CaseRecords
from assay.model.toolchain import Build
from assay.run.records import read_answer

#: Smaller working sets need no check, because their set-up is short.
_WORTH = 2**30
#: The smallest tried working set, and the largest as a multiple of the stated size of the caches.
_LEAST, _MOST = 16 * 2**20, 4
#: Rates that are higher by no more than this count as equal. Lower rates are always disturbed, never due to
#: caches.
_SAME = 0.02
_CASE_S = 0.3
_SAMPLES = (3, 20)
_PATIENCE_S = 120.0
#: Maximum passes, and the share of a budget after which no further pass begins.
_PASSES = 5
_SHARE = 0.1


class Held(NamedTuple):
    """The result of the passes that check the caches of a machine.

    Attributes:
        bytes: measured capacity; 0 if the stated size is true, or nothing could be measured.
        rates: best rate of each working set: (B, B/s), the largest first.
        claimed: stated size.
        passes: number of passes.
        agreed: whether the last pass changed nothing.
        seconds: time of all passes.
    """

    bytes: int
    rates: tuple[tuple[int, float], ...]
    claimed: int
    passes: int
    agreed: bool
    seconds: float


#: Working set in B -> its rate.
_Pass = Mapping[int, float]


def find_held(
    plan: Plan, topology: Topology, builds: Mapping[str, Build], starter: Starter, executor: Executor
) -> Held | None:
    """The working set of all cores from which memory decides the rate; None if the stated sizes need no check.

    Args:
        plan: plan sized by the stated caches.
        topology: topology of this machine.
        builds: toolchain -> programs.
        starter: makes the command lines.
        executor: starts them.
    """
    sized = [case for case in plan.studied if _axis(case) and starter.is_local((case,))]
    case = max(sized, key=lambda each: (len(each.placement.cpus), each.memory_bytes), default=None)
    launch = next((each for each in plan.order if case and case.id in each.cases), None)
    if case is None or launch is None or case.memory_bytes < _WORTH:
        return None
    claimed = topology.last_level_bytes(case.placement.cpus)
    tried = _sizes(case, _MOST * claimed)
    sampling = Sampling(_SAME, *_SAMPLES, {each.id: _CASE_S for each in tried})
    (command,) = starter.commands(plan, tried, builds[launch.toolchain], launch.program, sampling)
    began_s, found, decisions = executor.now(), list[_Pass](), list[int]()
    most_s = _SHARE * plan.budget_s if plan.budget_s else _PATIENCE_S
    while not agreed(decisions) and len(found) < _PASSES:
        answer = read_answer(executor.execute(command, _PATIENCE_S).stdout, tried)
        rates = {each.header.case: _rate(each) for each in answer.cases if each.end}
        if not all(rates.get(each.id) for each in tried):
            break
        found.append({each.memory_bytes: rates[each.id] for each in tried})
        decisions.append(held_bytes(best(found), claimed))
        if executor.now() - began_s > most_s:
            break
    held = decisions[-1] if decisions else 0
    took_s = executor.now() - began_s
    return Held(held, best(found), claimed, len(found), agreed(decisions), took_s)


def agreed(decisions: Sequence[int]) -> bool:
    """Whether the last pass has changed nothing."""
    return len(decisions) > 1 and decisions[-1] == decisions[-2]


def best(passes: Iterable[_Pass]) -> tuple[tuple[int, float], ...]:
    """The best rate of each working set over all passes, the largest first."""
    found: dict[int, float] = {}
    for each in passes:
        found |= {size: max(rate, found.get(size, 0.0)) for size, rate in each.items()}
    return tuple(sorted(found.items(), reverse=True))


def held_bytes(rates: Sequence[tuple[int, float]], claimed: int = 0) -> int:
    """The smallest working set from which no rate exceeds that of the largest; 0 if the stated size is true.

    Args:
        rates: working set in B, and its rate; the largest first.
        claimed: stated size of the caches, B.
    """
    if _is_true(claimed, rates):
        return 0
    found, whole = rates[0]
    for size, rate in rates[1:]:
        if not rate <= (1 + _SAME) * whole:
            break
        found = size
    return found


def _is_true(claimed: int, rates: Sequence[tuple[int, float]]) -> bool:
    """Whether the largest working set that should fit has a rate nearer to that of caches than of memory."""
    inside = next((rate for size, rate in rates if size <= claimed), 0.0)
    memory, caches = rates[0][1], max(rate for _, rate in rates)
    return inside > max((memory + caches) / 2, (1 + _SAME) * memory)


def _axis(case: Case) -> Axis | None:
    """The axis that sizes a benchmark of the memory rate by the machine; None if there is none."""
    benchmark = benchmarks.get(case.benchmark)
    if not any(metric.role == "memory-rate" for metric in benchmark.metrics):
        return None
    return next((axis for axis in benchmark.axes if axis.default is None and axis.unit), None)


def _sizes(case: Case, most: int) -> tuple[Case, ...]:
    """The case with its arrays, half of them, a quarter ...: those that need at most `most` bytes."""
    axis = _axis(case)
    found = [case]
    while axis and found[-1].memory_bytes // 2 >= _LEAST:
        last = found[-1]
        params = last.params | {axis.name: int(last.params[axis.name]) // 2}
        size = benchmarks.get(case.benchmark).host_memory_bytes(params, case.placement)
        found.append(msgspec.structs.replace(last, id=f"{case.id}:{size}", params=params, memory_bytes=size))
    return tuple(each for each in found if each.memory_bytes <= most) or tuple(found)


def _rate(records: CaseRecords) -> float:
    """Best bytes per second of the last kernel."""
    measured = [each for each in records.series if each.phase == "measured" and each.seconds]
    if not measured:
        return 0.0
    last = measured[-1]
    return last.iterations * max(records.header.work[last.kernel].values()) / min(last.seconds)
