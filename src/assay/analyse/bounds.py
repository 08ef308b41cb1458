"""What laws of limits look at: machines, and the best figures of a run."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from statistics import median

import msgspec

from assay.analyse.curves import machine_of
from assay.analyse.parts import Part, part
from assay.model import benchmarks, roles
from assay.model import text as texts
from assay.model.benchmark import Benchmark
from assay.model.machine import Machine, Topology
from assay.model.placement import Memory, Placement
from assay.model.result import Estimate, Limit
from assay.model.role_words import Role
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import format_quantity

#: Below this share of the run's own clock a clock is none: its core did something else in between.
CLOCK_SHARE = 0.5
#: A ceiling that a figure exceeds by more is wrong, so nothing is a share of it.
MOST_SHARE = 1.02
#: A program whose working set is not sized by the caches shows memory's rate from so many times their size on.
_BEYOND_CACHES = 4


class Bounds:
    """The machines, and the best figure of each kind.

    Attributes:
        plan: of the run.
        clock: of the run in Hz: the median of the best samples of all its clocks; 0 where none was measured.

    Args:
        run: whose machines count.
        estimates: whose medians count.
    """

    def __init__(self, run: Run, estimates: Iterable[Estimate]) -> None:
        found = [each for each in estimates if each.median is not None]
        self.plan = run.plan
        self._machines = run.machines
        self._best: dict[Hashable, Estimate] = {}
        self._clocks: dict[Hashable, Estimate] = {}
        self.clock = run_clock(found)
        self._memory: dict[Topology | None, dict[Part, list[Estimate]]] = {}
        self._fastest: dict[tuple[Topology | None, frozenset[int]], Estimate | None] = {}
        self._by_cores: dict[tuple[Topology | None, frozenset[int]], tuple[Estimate | None, set[Hashable]]] = {}
        for each in memory_rates(found, run.machines):
            shape, there = self._place(each)
            self._memory.setdefault(shape, {}).setdefault(there, []).append(each)
        for each in found:
            where, role = (each.placement.cpus[:1], each.placement.hosts), roles.role(each)
            reuse = roles.level_of(each, "buffer-reuse")
            keys: list[Hashable] = [
                (role, reuse),
                (role, reuse, *self._kinds(each)),
                (role, each.kernel, where[0]),
                (each.case, role, each.kernel, each.placement.hosts, each.state),
            ]
            if role == "flop-rate":
                precision, width = roles.precision(each), roles.level_of(each, "instruction-width")
                keys += [(role, precision, *where), (role, precision, width, *where)]
            if role == "loaded-clock" and best_clock(each) >= CLOCK_SHARE * self.clock:
                for place in ((_family(each), *where), where):
                    self._clocks[place] = max(self._clocks.get(place, each), each, key=best_clock)
            for key in keys:
                if (each.median or 0.0) > (self._best[key].median or 0.0 if key in self._best else 0.0):
                    self._best[key] = each

    def machine(self, estimate: Estimate) -> Machine | None:
        """The machine of an estimate."""
        return machine_of(estimate, self._machines)

    def machines(self, estimate: Estimate) -> list[Machine]:
        """The machines of all of its hosts that are known; the only one there is where none of them is."""
        found = [self._machines[host] for host in estimate.placement.hosts if host in self._machines]
        return found or [each for each in [self.machine(estimate)] if each]

    def is_refused(self, estimate: Estimate) -> bool:
        """Whether it is a clock that no core can have had: its core did something else in between."""
        below = (estimate.median or 0.0) < CLOCK_SHARE * self.clock
        return below and roles.role(estimate) in {"clock", "loaded-clock"}

    def best(self, role: Role, reuse: str | None = None) -> Estimate | None:
        """The highest median of a role; `reuse`: level of buffers that are met again in cache, or are not."""
        return self._best.get((role, reuse))

    def best_like(self, estimate: Estimate, reuse: str) -> Estimate | None:
        """The highest median of its role on cores of its kind."""
        return self._best.get((roles.role(estimate), reuse, *self._kinds(estimate)))

    def of_memory(self, estimate: Estimate) -> Estimate | None:
        """The highest rate at which the memory nodes that an estimate uses, or some of them, moved bytes.

        For whichever cores, on whichever host of the same shape. None where only what solves problems moved them.
        """
        shape, here = self._place(estimate)
        known = self._memory.get(shape, {})
        if (shape, here.nodes) not in self._fastest:
            near = [each for there, rates in known.items() if there.nodes <= here.nodes for each in rates]
            self._fastest[shape, here.nodes] = None if all(map(roles.solves, near)) else fastest(near)
        return self._fastest[shape, here.nodes]

    def of_cores(self, estimate: Estimate) -> Estimate | None:
        """The highest rate at which the cores of an estimate moved bytes from or to any memory.

        None where nothing else was measured on them, as a figure alone is no limit of itself; or as `of_memory`.
        """
        shape, here = self._place(estimate)
        if (shape, here.cores) not in self._by_cores:
            known = self._memory.get(shape, {}).items()
            found = [each for there, rates in known if there.cores == here.cores for each in rates]
            best = None if all(map(roles.solves, found)) else fastest(found)
            self._by_cores[shape, here.cores] = best, {(each.case, each.kernel) for each in found}
        best, measured = self._by_cores[shape, here.cores]
        return best if measured - {(estimate.case, estimate.kernel)} else None

    def _place(self, estimate: Estimate) -> tuple[Topology | None, Part]:
        """The shape of the machine that an estimate was made on, and the part of it."""
        machine = self.machine(estimate)
        if machine is None:
            return None, Part(frozenset(), frozenset())
        return machine.topology, part(estimate, machine.topology)

    def _kinds(self, estimate: Estimate) -> tuple[str, ...]:
        topology, here = self._place(estimate)
        return tuple(sorted({topology.cores[core].kind for core in here.cores})) if topology else ()

    def best_on(self, estimate: Estimate, role: Role, kernel: str) -> Estimate | None:
        """The highest median of a kernel on the cores of an estimate, on whichever host."""
        return self._best.get((role, kernel, estimate.placement.cpus[:1]))

    def best_flops(self, estimate: Estimate) -> Estimate | None:
        """The highest rate of operations in registers on the cores of an estimate, in its width and precision."""
        role: Role = "flop-rate"
        width = roles.level_of(estimate, "instruction-width")
        place = (estimate.placement.cpus[:1], estimate.placement.hosts)
        return self._best.get((role, roles.precision(estimate), *((width,) if width else ()), *place))

    def loaded_clock(self, estimate: Estimate) -> tuple[float, str] | None:
        """The clock that the cores of an estimate reach under load, and in words which one that is; one for all.

        The best sample of all cases on these cores with the same instructions (width and mix, of whichever
        precision), else of all cases on these cores: a core that was taken away for a moment cannot set it, and
        figures of one family stand against one clock.
        """
        place = (estimate.placement.cpus[:1], estimate.placement.hosts)
        found = self._clocks.get((_family(estimate), *place)) or self._clocks.get(place)
        if found is None:
            return None
        value = best_clock(found)
        told = text(
            "{clock} under load (best sample of this run, measured together with {work})",
            clock=format_quantity(value, "Hz"),
            work=" ".join(str(each) for each in _family(found) if each is not None),
        )
        return value, told

    def same_case(self, estimate: Estimate, role: Role) -> Estimate | None:
        """Another metric of the same samples."""
        return self._best.get((estimate.case, role, estimate.kernel, estimate.placement.hosts, estimate.state))


def _family(estimate: Estimate) -> tuple[object, ...]:
    """Width and mix: instructions that the clock of a core may depend on."""
    return roles.level_of(estimate, "instruction-width"), roles.level_of(estimate, "instruction-mix")


def run_clock(estimates: Iterable[Estimate]) -> float:
    """The median of the best samples of all clocks, in Hz; 0 where none was measured."""
    return median(
        [best_clock(each) for each in estimates if each.unit == "Hz" and each.median is not None] or [0.0]
    )


def best_clock(estimate: Estimate) -> float:
    """The highest clock that a sample shows: adds that wait for each other are never faster than the clock."""
    return estimate.max or estimate.median or 0.0


def memory_rates(estimates: Iterable[Estimate], machines: Mapping[str, Machine]) -> list[Estimate]:
    """What shows how fast memory moves bytes, write-allocate counted.

    What is drawn by cores that pause between their loads does not, nor what several hosts move together.
    """
    return [
        each
        for each in estimates
        if roles.role(each) == "memory-traffic"
        and each.median is not None
        and len(each.placement.hosts) <= 1
        and not roles.level_of(each, "pause")
        and not ((machine := machine_of(each, machines)) and _fits(each, machine.topology))
    ]


def fastest(estimates: Iterable[Estimate]) -> Estimate | None:
    """The one with the highest median; None of none."""
    return max(estimates, key=lambda each: each.median or 0.0, default=None)


class Law(msgspec.Struct, frozen=True):
    """One law. `analyse/limits/` has a file for each, which defines `law`.

    Attributes:
        names: what metrics call it in `Metric.limit`.
        limit: what an estimate stands against; None where nothing bounds it.
        ceilings: what no figure can exceed, with certainty.
        given: what the user's word means for an estimate; None where it does not concern it: then `limit` counts.
    """

    names: tuple[str, ...]
    limit: Callable[[Estimate, Bounds], Limit | None]
    ceilings: Callable[[Estimate, Bounds], Iterable[Limit]] = lambda _estimate, _bounds: ()
    given: Callable[[Estimate, Bounds, Limit], Limit | None] = lambda _estimate, _bounds, told: told


def of_core(_estimate: Estimate, _bounds: Bounds, told: Limit) -> Limit:
    """What the user says of one core."""
    return msgspec.structs.replace(told, scope="core")


def describe(estimate: Estimate) -> str:
    """Placement and words among the params: `all, non-temporal stores`."""
    levels = [texts.text(f"{each} {name}") for name, each in estimate.params.items() if isinstance(each, str)]
    state = text("state {state}", state=estimate.state) if estimate.state else ""
    return joined(", ", [estimate.placement.label, *levels, state])


def cached_bytes(estimate: Estimate, topology: Topology) -> int:
    """Bytes of the last-level caches of the cores that work on an estimate; 0 where none is known."""
    return topology.last_level_bytes(estimate.placement.cpus[0] if estimate.placement.cpus else ())


def fits_caches(estimate: Estimate, topology: Topology, times: int = 1) -> bool:
    """Whether the working set may lie in `times` the caches of the cores that work on it.

    Ranks of a host share its caches, so what all of them need counts.
    """
    benchmark = benchmarks.get(estimate.benchmark)
    needed = benchmark.host_memory_bytes(estimate.params, _placement(estimate, benchmark))
    return 0 < needed <= times * cached_bytes(estimate, topology)


def rank_memory_bytes(estimate: Estimate) -> int:
    """Bytes of memory that each rank of an estimate's case needs."""
    benchmark = benchmarks.get(estimate.benchmark)
    return benchmark.memory_bytes(estimate.params, _placement(estimate, benchmark))


def _placement(estimate: Estimate, benchmark: Benchmark) -> Placement:
    """Where an estimate's case was placed, as its ranks: each cpu is one where they were not laid out."""
    placed = estimate.placement
    cpus = placed.cpus or ((),)
    by_host = tuple(_ranks(each, placed.laid_out // len(cpus)) for each in cpus)
    hosts = placed.hosts or ("",)
    whole = benchmark.launcher != "mpi" or len(by_host) != len(hosts)
    return Placement(placed.label, "", cpus[0], Memory(), hosts, by_host=() if whole else by_host)


def _ranks(cpus: tuple[int, ...], laid_out: int) -> tuple[tuple[int, ...], ...]:
    """The cpus of each rank of a host."""
    each = max(1, len(cpus) // laid_out) if laid_out else 1
    return tuple(cpus[at : at + each] for at in range(0, len(cpus), each)) or ((),)


def _fits(estimate: Estimate, topology: Topology) -> bool:
    """Whether caches may hold a part of it that shows: of programs that do not size it by them, of more."""
    sizes_itself = benchmarks.get(estimate.benchmark).sizes_itself
    return fits_caches(estimate, topology, 1 if sizes_itself else _BEYOND_CACHES)
