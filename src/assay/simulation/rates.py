"""A case on simulated hosts: page placement, bandwidth of memory and caches, clock, vector units, workload."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.model.benchmark import sharing_ranks
from assay.model.declaration import ParamValue
from assay.model.machine import Topology
from assay.model.units import parse_cpu_list
from assay.simulation.law import Law
from assay.simulation.request import Request

_BITS = {"fp64": 64, "fp32": 32, "bf16": 16}
#: Memory node -> share of the pages of a thread there.
Shares = dict[int, float]


@dataclass(frozen=True)
class Setting:
    """A case on a simulated machine.

    Attributes:
        topology: topology of each host.
        law: law of the machine.
        request: the command line.
        params: every axis with its value.
    """

    topology: Topology
    law: Law
    request: Request
    params: Mapping[str, ParamValue]

    @property
    def sharing(self) -> int:
        """Return the ranks that share one problem, with or without messages."""
        return self.request.rank_count if sharing_ranks(self.params, self.request.placement) > 1 else 1

    def page_shares(self, *, serial: bool = False) -> list[Shares]:
        """Return the shares of the pages of each thread; `serial`: the first thread touches all of them."""
        policy, _, listed = self.request.memory.partition(":")
        nodes = parse_cpu_list(listed) if listed else ()
        if policy in {"bind", "interleave"}:
            wanted = nodes or self.topology.allowed_nodes
            return [{node: 1 / len(wanted) for node in wanted}] * len(self.request.cpus)
        near = nearest_nodes(self.topology)
        homes = [near.get(cpu, 0) for cpu in self.request.cpus]
        return [{(homes[0] if serial else home): 1.0} for home in homes]

    def memory_rate(self, shares: Sequence[Shares] | None = None, cpus: Sequence[int] | None = None) -> float:
        """Return the traffic of all threads of a host: parts are equal, so the slowest thread or node decides.

        Args:
            shares: of their pages; by default each thread touches its own.
            cpus: of the threads; all by default.
        """
        topology, law = self.topology, self.law
        shares, cpus = shares or self.page_shares(), cpus or self.request.cpus
        node_load: dict[int, float] = {}
        for cost in (each for of in self._costs(shares, cpus) for each in of.items()):
            node_load[cost[0]] = node_load.get(cost[0], 0.0) + cost[1]
        thread_rates = self.thread_rates(shares, cpus)
        capacities = {node: law.node_traffic * _uncontended(topology, law, node, cpus) for node in node_load}
        node_rates = [capacities[node] / load for node, load in node_load.items()]
        siblings = any(len(set(core.cpus) & set(cpus)) > 1 for core in topology.cores)
        return len(cpus) * min(*thread_rates, *node_rates) * (law.smt if siblings else 1.0)

    def thread_rates(self, shares: Sequence[Shares], cpus: Sequence[int]) -> list[float]:
        """Return the traffic that each thread could draw alone."""
        law = self.law
        speeds = (law.core_traffic * law.slow_cores.get(cpu, 1.0) for cpu in cpus)
        return [speed / sum(of.values()) for speed, of in zip(speeds, self._costs(shares, cpus), strict=True)]

    def thread_times(self, shares: Sequence[Shares]) -> tuple[float, ...]:
        """Return the part of an iteration in which each thread works; the others wait for the slowest.

        This is an assumption: memory serves its threads in proportion to what each could draw alone.
        """
        rates = self.thread_rates(shares, self.request.cpus)
        return tuple(min(rates) / rate for rate in rates) if len(rates) > 1 else ()

    def _costs(self, shares: Sequence[Shares], cpus: Sequence[int]) -> list[dict[int, float]]:
        """Memory node -> cost of a thread's pages there, of each thread."""
        near, remote = nearest_nodes(self.topology), self.law.remote
        return [
            {node: part / (1.0 if node == near.get(cpu) else remote) for node, part in nodes.items()}
            for cpu, nodes in zip(cpus, shares, strict=True)
        ]

    def cached_rate(self, cpus: Sequence[int], working_set: int) -> float | None:
        """Return the rate while everything is in a cache of the cpus; None where it is not."""
        data = [cache for cache in self.topology.caches if cache.kind != "instruction"]
        for level in sorted({cache.level for cache in data}):
            used = [cache for cache in data if cache.level == level and set(cache.cpus) & set(cpus)]
            if working_set <= sum(self.law.held.get(level, cache.size_bytes) for cache in used):
                slowest = min(self.law.slow_cores.get(cpu, 1.0) for cpu in cpus)
                return self.law.cache_rates[level] * len(cpus) * slowest
        return None

    @property
    def clock(self) -> float:
        """Return the clock of few cores, or of all cores."""
        cores, law = self.topology.cores, self.law
        working = sum(1 for core in cores if set(core.cpus) & set(self.request.cpus))
        return law.loaded_clock_hz if working > 1 and working == len(cores) else law.clock_hz

    def lanes_per_s(self, precision: str = "fp64", width: int | None = None) -> float:
        """Return the numbers of a precision per second of all cpus of a host, with vectors of `width` bits.

        The vectors are as wide as the units by default; 0: single numbers.
        """
        bits = self.law.vector_bits
        lanes = max(1.0, (bits if width is None else min(width, bits)) / _BITS[precision])
        return len(self.request.cpus) * self.clock * self.law.fma_units * lanes


@dataclass(frozen=True)
class Workload:
    """What a program does in one iteration.

    Attributes:
        work: kernel -> quantity -> amount.
        seconds: kernel -> duration, without noise.
        serial: whether the first thread touches all pages.
        paces: rank that takes times -> factor on its duration; None: all ranks take times, at the same pace.
        payload: bytes of the messages, all ranks together.
        pairs: pairs of ranks that pass messages, as the program names them: `0-3 1-2`; empty where it names none.
        segment: most bytes of a message in a segment of TCP; 0 for other programs.
        lost: whether its connection breaks, since its frames never arrive.
        inside: interface that carries messages within a host; empty for none.
        figure: of a program that solves: work of a solution, flop, whose rate is the figure of its first kernel;
            the other kernels are the phases. 0 for other programs.
        steps: phase of a solution -> its seconds in each step, without noise; empty where it has no steps.
        of_hosts: whether its durations include the speed of each host.
        in_state: state -> factor on its duration, where the state sets the duration, not its speed; else empty.
        threads: part of an iteration in which each thread of a rank works, if they are timed; else empty.
    """

    work: dict[str, dict[str, float]]
    seconds: dict[str, float]
    serial: bool = False
    paces: Mapping[int, float] | None = None
    payload: float = 0.0
    pairs: str = ""
    segment: int = 0
    lost: bool = False
    inside: str = ""
    figure: float = 0.0
    steps: Mapping[str, Sequence[float]] = field(default_factory=dict)
    of_hosts: bool = False
    in_state: Mapping[str, float] = field(default_factory=dict)
    threads: tuple[float, ...] = ()


def _uncontended(topology: Topology, law: Law, node: int, cpus: Sequence[int]) -> float:
    """Return the share of the rate of a node that is left while its cores among `cpus` draw at once."""
    cores = [core for core in topology.cores if core.numa == node]
    drawing = sum(1 for core in cores if set(core.cpus) & set(cpus))
    return 1 - law.contention * max(0, drawing - 1) / max(1, len(cores) - 1)


def bytes_of(precision: str) -> int:
    """Return the bytes of a number of this precision."""
    return _BITS[precision] // 8


def separation(topology: Topology, pair: tuple[int, ...]) -> str:
    """Return the largest unit that two cpus do not share: `core`, `l3`, `numa`, `package`; empty for one core."""
    cores = [core for cpu in pair for core in topology.cores if cpu in core.cpus]
    parts = {"core": "index", "l3": "l3", "numa": "numa", "package": "package"}
    apart = [name for name, part in parts.items() if len({getattr(core, part) for core in cores}) > 1]
    return apart[-1] if apart else ""


def nearest_nodes(topology: Topology) -> dict[int, int]:
    """Cpu -> the memory node next to it."""
    return {cpu: core.numa for core in topology.cores for cpu in core.cpus}


def mean(shares: Sequence[Shares]) -> Shares:
    """Memory node -> share of all threads' pages there."""
    found: Shares = {}
    for share in shares:
        for node, part in share.items():
            found[node] = found.get(node, 0.0) + part / len(shares)
    return found


def phased(
    work: dict[str, float], phases: dict[str, float]
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return work and seconds of a program that solves: of a solution, which is the sum, and of each phase."""
    return {"rate": work, **{phase: {} for phase in phases}}, {"rate": sum(phases.values()), **phases}
