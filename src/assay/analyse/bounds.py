"""The input of laws of limits: machines, and the best figures of a run."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from statistics import median

import msgspec

from assay.analyse.curves import machine_of
from assay.analyse.parts import Part, part
from assay.model import roles
from assay.model import text as texts
from assay.model.machine import Machine, Topology
from assay.model.result import Estimate, Limit
from assay.model.role_words import Role
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import format_quantity

#: A clock below this share of the run's own clock is no clock: its core was interrupted.
CLOCK_SHARE = 0.5
#: A ceiling that a figure exceeds by more is wrong, and is not used as a limit.
MOST_SHARE = 1.02
#: A program that does not size its working set by the caches shows the rate of memory from this multiple of
#: their size on.
_BEYOND_CACHES = 4


class Bounds:
    """The machines, and the best figure of each kind.

    Attributes:
        plan: of the run.
        clock: of the run in Hz: the median of the best samples of all its clocks; 0 if none was measured.

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
        self._fastest_flops: dict[Hashable, dict[Hashable, Estimate]] = {}
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
                mix = roles.level_of(each, "instruction-mix")
                keys += [
                    (role, precision, *where),
                    (role, precision, width, *where),
                    (role, precision, ("instruction-mix", mix), *where),
                ]
                of_kind = self._fastest_flops.setdefault(self._flops_kind(each), {})
                of_kind[where[0]] = max(of_kind.get(where[0], each), each, key=lambda one: one.median or 0.0)
            if role == "loaded-clock" and best_clock(each) >= CLOCK_SHARE * self.clock:
                for place in ((_family(each), *where), where):
                    self._clocks[place] = max(self._clocks.get(place, each), each, key=best_clock)
            for key in keys:
                if (each.median or 0.0) > (self._best[key].median or 0.0 if key in self._best else 0.0):
                    self._best[key] = each

    def machine(self, estimate: Estimate) -> Machine | None:
        """Return the machine of an estimate."""
        return machine_of(estimate, self._machines)

    def machines(self, estimate: Estimate) -> list[Machine]:
        """Return the known machines of its hosts; if none is known, the only machine of the run."""
        found = [self._machines[host] for host in estimate.placement.hosts if host in self._machines]
        return found or [each for each in [self.machine(estimate)] if each]

    def is_refused(self, estimate: Estimate) -> bool:
        """Whether it is an impossible clock: its core was interrupted."""
        below = (estimate.median or 0.0) < CLOCK_SHARE * self.clock
        return below and roles.role(estimate) in {"clock", "loaded-clock"}

    def best(self, role: Role, reuse: str | None = None) -> Estimate | None:
        """Return the highest median of a role; `reuse`: level of the axis that keeps buffers in a cache or not."""
        return self._best.get((role, reuse))

    def best_like(self, estimate: Estimate, reuse: str) -> Estimate | None:
        """Return the highest median of its role on cores of the same kind."""
        return self._best.get((roles.role(estimate), reuse, *self._kinds(estimate)))

    def of_memory(self, estimate: Estimate) -> Estimate | None:
        """Return the highest rate of the memory nodes that an estimate uses, or of some of them.

        Any cores and any host of the same topology count. None if only programs that solve problems used them.
        """
        shape, here = self._place(estimate)
        known = self._memory.get(shape, {})
        if (shape, here.nodes) not in self._fastest:
            near = [each for there, rates in known.items() if there.nodes <= here.nodes for each in rates]
            self._fastest[shape, here.nodes] = None if all(map(roles.solves, near)) else fastest(near)
        return self._fastest[shape, here.nodes]

    def of_cores(self, estimate: Estimate) -> Estimate | None:
        """Return the highest rate at which the cores of an estimate moved bytes from or to any memory.

        None if nothing else was measured on them, since a figure is no limit of itself; or as `of_memory`.
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
        """The topology of the machine of an estimate, and the part of it that the estimate used."""
        machine = self.machine(estimate)
        if machine is None:
            return None, Part(frozenset(), frozenset())
        return machine.topology, part(estimate, machine.topology)

    def _kinds(self, estimate: Estimate) -> tuple[str, ...]:
        topology, here = self._place(estimate)
        return tuple(sorted({topology.cores[core].kind for core in here.cores})) if topology else ()

    def best_on(self, estimate: Estimate, role: Role, kernel: str) -> Estimate | None:
        """Return the highest median of a kernel on the cores of an estimate, on any host."""
        return self._best.get((role, kernel, estimate.placement.cpus[:1]))

    def best_flops(self, estimate: Estimate) -> Estimate | None:
        """Return the highest rate of operations in registers on its cores, in its width and precision."""
        role: Role = "flop-rate"
        width = roles.level_of(estimate, "instruction-width")
        place = (estimate.placement.cpus[:1], estimate.placement.hosts)
        return self._best.get((role, roles.precision(estimate), *((width,) if width else ()), *place))

    def best_flops_each(self, estimate: Estimate) -> Iterable[Estimate]:
        """Return the highest rate in registers, in its width and precision, of every set of cores of its kind."""
        return self._fastest_flops.get(self._flops_kind(estimate), {}).values()

    def _flops_kind(self, estimate: Estimate) -> Hashable:
        width = roles.level_of(estimate, "instruction-width")
        return roles.precision(estimate), width, self._kinds(estimate), estimate.placement.hosts

    def best_of_mix(self, estimate: Estimate) -> Estimate | None:
        """Return the highest rate of the same operations on its cores, in its precision and any width."""
        role: Role = "flop-rate"
        place = (estimate.placement.cpus[:1], estimate.placement.hosts)
        mix = ("instruction-mix", roles.level_of(estimate, "instruction-mix"))
        return self._best.get((role, roles.precision(estimate), mix, *place))

    def loaded_clock(self, estimate: Estimate) -> tuple[float, str] | None:
        """Return the clock that the cores of an estimate reach under load, and its name in words.

        It is the best sample of all cases on these cores with the same instructions (width and mix, of any
        precision), else of all cases on these cores. So an interrupted core cannot set it, and all figures of one
        family are compared with one clock.
        """
        place = (estimate.placement.cpus[:1], estimate.placement.hosts)
        found = self._clocks.get((_family(estimate), *place)) or self._clocks.get(place)
        if found is None:
            return None
        value = best_clock(found)
        name = text(
            "{clock} under load (best sample of this run, measured together with {work})",
            clock=format_quantity(value, "Hz"),
            work=" ".join(str(each) for each in _family(found) if each is not None),
        )
        return value, name

    def same_case(self, estimate: Estimate, role: Role) -> Estimate | None:
        """Return another metric of the same samples."""
        return self._best.get((estimate.case, role, estimate.kernel, estimate.placement.hosts, estimate.state))


def _family(estimate: Estimate) -> tuple[object, ...]:
    """Width and mix of its instructions, on which the clock of a core may depend."""
    return roles.level_of(estimate, "instruction-width"), roles.level_of(estimate, "instruction-mix")


def run_clock(estimates: Iterable[Estimate]) -> float:
    """Return the median of the best samples of all clocks, in Hz; 0 if none was measured."""
    return median(
        [best_clock(each) for each in estimates if each.unit == "Hz" and each.median is not None] or [0.0]
    )


def best_clock(estimate: Estimate) -> float:
    """Return the highest clock of its samples: dependent adds are never faster than the clock."""
    return estimate.max or estimate.median or 0.0


def memory_rates(estimates: Iterable[Estimate], machines: Mapping[str, Machine]) -> list[Estimate]:
    """Return the estimates of the rate of memory, including write-allocate.

    Estimates of cores that pause between their loads, and of several hosts, are left out.
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
    """Return the estimate with the highest median; None if there is none."""
    return max(estimates, key=lambda each: each.median or 0.0, default=None)


class Law(msgspec.Struct, frozen=True):
    """One law. `analyse/limits/` has a file for each, which defines `law`.

    Attributes:
        names: of it in `Metric.limit`.
        limit: of an estimate; None if nothing bounds it.
        ceilings: limits that no figure can exceed, with certainty.
        given: the limit of an estimate that the user states; None if the statement is of something else: then
            `limit` counts.
    """

    names: tuple[str, ...]
    limit: Callable[[Estimate, Bounds], Limit | None]
    ceilings: Callable[[Estimate, Bounds], Iterable[Limit]] = lambda _estimate, _bounds: ()
    given: Callable[[Estimate, Bounds, Limit], Limit | None] = lambda _estimate, _bounds, stated: stated


def of_core(_estimate: Estimate, _bounds: Bounds, stated: Limit) -> Limit:
    """Return the limit that the user states as one of a core."""
    return msgspec.structs.replace(stated, scope="core")


def describe(estimate: Estimate) -> str:
    """Return placement and worded params: `all, non-temporal stores`."""
    levels = [texts.text(f"{each} {name}") for name, each in estimate.params.items() if isinstance(each, str)]
    state = text("state {state}", state=estimate.state) if estimate.state else ""
    return joined(", ", [estimate.placement.label, *levels, state])


def cached_bytes(estimate: Estimate, topology: Topology) -> int:
    """Return the bytes of the last-level caches of its cores; 0 if none is known."""
    return topology.last_level_bytes(estimate.placement.cpus[0] if estimate.placement.cpus else ())


def fits_caches(estimate: Estimate, topology: Topology, times: int = 1) -> bool:
    """Whether the working set may fit into `times` the caches of its cores.

    Ranks of a host share its caches, so the memory of all ranks counts.
    """
    return 0 < estimate.memory_bytes <= times * cached_bytes(estimate, topology)


def rank_memory_bytes(estimate: Estimate) -> int:
    """Return the bytes of memory that each rank of an estimate's case needs."""
    placed = estimate.placement
    cpus = len(placed.cpus[0]) if placed.cpus and estimate.declared.launcher == "mpi" else 1
    return estimate.memory_bytes // max(1, placed.laid_out // len(placed.cpus) if placed.laid_out else cpus)


def _fits(estimate: Estimate, topology: Topology) -> bool:
    """Whether caches may hold a significant part of the working set; see `_BEYOND_CACHES`."""
    sizes_itself = estimate.declared.sizes_itself
    return fits_caches(estimate, topology, 1 if sizes_itself else _BEYOND_CACHES)
