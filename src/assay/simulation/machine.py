"""A machine with known laws that runs the command lines of the native programs and writes their records."""

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import MappingProxyType

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.launch.command import Command, CpuTimes, Outcome
from assay.model.machine import Topology
from assay.model.rank import Rank
from assay.model.record import (
    RECORD_SCHEMA,
    SIMULATED,
    Clock,
    End,
    FigureOfMerit,
    Header,
    ProgramRecord,
    Threads,
    Verdict,
)
from assay.simulation.launcher import counts_of, hosts_of
from assay.simulation.law import Fault, FaultKind, Law
from assay.simulation.links import boot_id, hosts_in_use, traffic
from assay.simulation.programs import memory_bytes, pages, setting_of, workload
from assay.simulation.rates import Setting, Workload
from assay.simulation.request import CaseRequest, Request, parse
from assay.simulation.resources import opened_devices, opened_folder
from assay.simulation.sampler import Phase, Sampler, state

_CLOCK = Clock(SIMULATED, 1e-9, 2e-8)
_SIGSEGV = -11
#: Date at which the clock of the machine was 0.
_BOOTED = datetime(2000, 1, 1, tzinfo=UTC)
_TOLERANCE = 1e-13
#: Checks of the result of each kernel, each as long as an iteration.
_CHECKS = 2
#: Seconds after which a connection without traffic is given up.
_PATIENCE_S = 20.0

#: A phase of a kernel and its records.
_Lines = tuple[Phase, list[bytes]]


class SimulatedMachine:
    """An executor without a machine. Its clock moves by the time that the programs would take.

    Args:
        topology: topology of each host that is not in `unlike`.
        law: how the hosts behave.
        hosts: where the launcher names none, a program without MPI runs on all of these, one rank each; the ranks
            of a program that passes messages fill one host after the other.
        seed: the same seed and commands give the same records.
        unlike: host -> topology, for hosts that differ from the others.
    """

    def __init__(
        self,
        topology: Topology,
        law: Law | None = None,
        hosts: tuple[str, ...] = ("simulated",),
        seed: int = 1,
        unlike: Mapping[str, Topology] = MappingProxyType({}),
    ) -> None:
        self.topology = topology
        self.unlike = dict(unlike)
        self.law = law or Law()
        self.hosts = hosts
        self.commands: list[Command] = []
        self.lost: set[str] = set()
        self._seed = seed
        self._matches: dict[Fault, int] = {}
        self._settings: dict[tuple[str, str], float] = {}
        self._now = 0.0
        self._own = self._busy = self._stolen = 0.0

    def now(self) -> float:
        """Return the seconds on the clock of the machine."""
        return self._now

    def date(self) -> datetime:
        """Return its clock as a date, which does not depend on the machine that simulates."""
        return _BOOTED + timedelta(seconds=self._now)

    def sleep(self, seconds: float) -> None:
        """Move the clock."""
        self.pass_time(seconds, 0)

    def cpu_times(self) -> CpuTimes:
        """Return the counters that foreign load and steal of the law produce."""
        return CpuTimes(self._busy, self._stolen, self._own, self._cpus, 0.0)

    def execute_together(
        self, commands: Sequence[Command], timeout: float, at_limit: Callable[[], None] = lambda: None
    ) -> tuple[Outcome, ...]:
        """Execute one command after the other: its hosts are all in one command."""
        del at_limit  # it has no processes to inspect
        return tuple(self.execute(command, timeout) for command in commands)

    def execute(self, command: Command, timeout: float) -> Outcome:
        """Return the records that the program would write, changed by the planted fault."""
        start = len(self.commands)
        self.commands.append(command)
        named = hosts_of(command.environment, self.hosts)
        if (setting := " ".join(command.argv)) in self.law.commands:
            return self._set(command.argv[0], named, self.law.commands[setting])
        try:
            request = parse(command.argv, self.topology_of(named[0]).allowed_cpus)
        except ValueError as error:
            return Outcome(b"", f"{command.argv[0]}: {error}\n".encode(), 2)
        eager = command.environment.get(self.law.eager_variable)
        request = dataclasses.replace(
            request, counts=counts_of(command.environment), eager_bytes=int(eager) if eager else None
        )
        request = dataclasses.replace(request, hosts=hosts_in_use(request, named))
        return _Launch(self, request, timeout, np.random.default_rng([self._seed, start])).run()

    def topology_of(self, host: str) -> Topology:
        """Return the topology of a host."""
        return self.unlike.get(host, self.topology)

    def _set(self, program: str, hosts: tuple[str, ...], factor: float) -> Outcome:
        if lost := set(hosts) & set(self.lost):
            return Outcome(b"", f"{lost.pop()}: no route to host (simulated)\n".encode(), 255)
        if not factor:
            return Outcome(b"", f"{program}: not permitted (simulated)\n".encode(), 1)
        self._settings |= {(program, host): factor for host in hosts}
        return Outcome(b"", b"", 0)

    def boost(self, host: str) -> float:
        """Return the factor on every rate of a host that commands have set."""
        return math.prod(factor for (_, of), factor in self._settings.items() if of == host)

    def fault(self, case_ids: tuple[str, ...]) -> dict[str, FaultKind]:
        """Case -> its fault in this start; each call counts as one start."""
        struck: dict[str, FaultKind] = {}
        for fault in self.law.faults:
            matching = [case_id for case_id in case_ids if fault.case in case_id]
            if not matching:
                continue
            number = self._matches.get(fault, 0)
            self._matches[fault] = number + 1
            if not fault.starts or number in fault.starts:
                struck.setdefault(matching[0], fault.kind)
        return struck

    def pass_time(self, seconds: float, own_cpus: int) -> None:
        """Move the clock and the counters while the program uses `own_cpus` cpus."""
        end = self._now + seconds
        foreign = sum(
            max(0.0, min(end, burst.end_s) - max(self._now, burst.start_s)) * burst.share
            for burst in self.law.bursts
        )
        self._own += own_cpus * seconds
        self._busy += own_cpus * seconds + foreign * self._cpus
        self._stolen += self.law.steal * seconds * self._cpus
        self._now = end

    @property
    def _cpus(self) -> int:
        return sum(len(core.cpus) for core in self.topology.cores)


class _EndedError(Exception):
    """The program ends here with this exit code (None: its time limit)."""

    def __init__(self, exit_code: int | None, stderr: str = "") -> None:
        super().__init__(stderr)
        self.exit_code = exit_code
        self.stderr = stderr


class _Launch:
    """One start of one program."""

    def __init__(
        self, machine: SimulatedMachine, request: Request, timeout: float, rng: np.random.Generator
    ) -> None:
        self.machine = machine
        self.law = machine.law
        self.request = request
        self.rng = rng
        self.hosts = request.hosts
        self.launched = machine.now()
        self.deadline = self.launched + timeout
        self.lines: list[bytes] = []
        self.exit_code = 0

    def run(self) -> Outcome:
        faults = self.machine.fault(tuple(case.id for case in self.request.cases))
        try:
            self._pass(self.law.spawn_s)
            for case in self.request.cases:
                self._case(case, faults.get(case.id))
        except _EndedError as ended:
            return Outcome(b"\n".join([*self.lines, b""]), ended.stderr.encode(), ended.exit_code, 0)
        return Outcome(b"\n".join([*self.lines, b""]), b"", self.exit_code, 0)

    def _case(self, case: CaseRequest, fault: FaultKind | None) -> None:
        self._strike(case, fault)
        if fault == "cannot-start":
            self.exit_code = 1
            self._write(End("failed", f"{case.id}: no memory for its arrays (simulated)"))
            return
        setting = setting_of(self.machine.topology_of(self.hosts[0]), self.law, self.request, case)
        load = workload(setting)
        self._pass(memory_bytes(setting) / self.law.touch_rate)
        header = self._header(case, setting, load, fault)
        self._write(header)
        if load.lost:
            self._pass(_PATIENCE_S)
            self.exit_code = 1
            reason = "a TCP connection broke: nothing moved over it for 20 s (simulated)"
            self._write(End("failed", reason, "connection-lost"))
            return
        if fault == "crash":
            raise _EndedError(_SIGSEGV)
        if fault == "hang":
            self._pass(float("inf"))
        sent = 0.0
        for phase, lines in self._sample(case, load, fault):
            self.lines += lines
            sent += load.payload * phase.iterations * phase.seconds.shape[1]
        if self.request.ranks:
            self._write(traffic(self.law, self.request, self.hosts, sent, load.inside))
        if fault == "garbage":
            self.lines[-1] = self.lines[-1][: len(self.lines[-1]) // 2]
        passed = fault != "wrong-result"
        self._write(Verdict(passed, 0.0 if passed else 0.25, _TOLERANCE))
        self._write(self._end(fault))

    def _strike(self, case: CaseRequest, fault: FaultKind | None) -> None:
        if fault == "interrupt":
            raise KeyboardInterrupt
        if fault == "refuses":
            raise _EndedError(4, f"{self.request.program}: cannot run {case.id}\n  why: the kernel refuses\n")

    def _end(self, fault: FaultKind | None) -> End:
        if fault == "wrong-result":
            self.exit_code = 1
            return End("failed", "the result is wrong: error 0.25 exceeds 1e-13")
        if fault == "misplaced":
            self.exit_code = 1
            return End("invalid", "placed otherwise than asked")
        return End("complete")

    def _sample(self, case: CaseRequest, load: Workload, fault: FaultKind | None) -> Iterator[_Lines]:
        sampler = Sampler(self.law, self.request, self.rng, self.launched)
        share = case.seconds / len(load.seconds)
        paces = self._paces(load)
        if load.figure:
            yield self._solve(case, load, sampler, paces)
            return
        for kernel, seconds in load.seconds.items():
            clock = self.machine.now()
            if load.in_state:
                now = state(self.law, clock)
                seconds *= load.in_state[now] * self.law.speed[now]  # noqa: PLW2901 (the sampler divides by speed)
            if self.law.sampled_s:
                self._pass((1 + _CHECKS) * seconds * float(paces.max()))
                clock = self.machine.now()
            slow = self._slowed(kernel, case.id)
            phases = sampler.phases(seconds * paces * slow, clock, share)
            self._pass(self.launched + phases[-1].end_s - clock)
            for label, phase in zip(("warmup", "measured"), phases, strict=True):
                yield phase, _series(kernel, label, phase, (*(load.paces or ()),), uneven=fault == "uneven")
            for record in self._threads(kernel, load, phases[-1]):
                self._write(record)

    def _threads(self, kernel: str, load: Workload, phase: Phase) -> Iterator[Threads]:
        """What each thread of each rank works; its noise is drawn aside, so that samples do not depend on it."""
        if not load.threads:
            return
        (rng,) = self.rng.spawn(1)
        for rank, seconds in enumerate(phase.seconds.sum(axis=1)):
            own = np.array(load.threads) * rng.lognormal(0.0, self.law.noise, len(load.threads))
            count = phase.iterations * phase.seconds.shape[1]
            yield Threads(kernel, rank, count, tuple(map(float, seconds * own / max(1.0, own.max()))))

    def _solve(self, case: CaseRequest, load: Workload, sampler: Sampler, paces: NDArray[np.float64]) -> _Lines:
        """Make whole solutions, each as long as its slowest rank; the first of several is a warm-up."""
        (kernel, whole), *rest = load.seconds.items()
        clock = self.machine.now()
        paces = paces * self._slowed(kernel, case.id)
        (_, phase) = sampler.phases(whole * paces, clock, case.seconds)
        solved = phase.seconds.max(axis=0) / phase.iterations
        self._pass(float(solved.sum()))
        figures = (
            FigureOfMerit(
                kernel,
                "flop/s",
                load.figure / seconds,
                seconds,
                {name: float(sampler.read(np.array(seconds * part / whole))) for name, part in rest if part},
                warmup=not number and len(solved) > 1,
                steps={
                    name: tuple(map(float, sampler.read(seconds * np.array(parts) / whole)))
                    for name, parts in load.steps.items()
                },
            )
            for number, seconds in enumerate(map(float, solved))
        )
        return phase, [msgspec.json.encode(each) for each in figures]

    def _paces(self, load: Workload) -> NDArray[np.float64]:
        """Return the factor on the duration of each rank: of its host and its cores, and of this launch.

        Pairs that a program names run alone: each has a factor of its own.
        """
        every = dict.fromkeys(range(self.request.rank_count), 1.0) if self.request.ranks else {}
        of_ranks = [*(every if load.paces is None else load.paces).values()]
        slow = {} if load.of_hosts else self.law.slow_hosts
        speeds = (slow.get(host, 1.0) * self.machine.boost(host) for host in self.hosts)
        hosts = 1 / np.array(list(speeds))
        paces = np.array(of_ranks) * (1.0 if load.pairs else hosts.max()) if of_ranks else hosts
        together = 1 if of_ranks and not load.pairs else len(paces)
        return paces * self.rng.lognormal(0.0, self.law.launch_noise, together)

    def _slowed(self, kernel: str, case: str) -> NDArray[np.float64] | float:
        """Return the factor on the durations of a kernel on each host; of the slowest host where ranks wait."""
        of_hosts = np.ones(len(self.hosts))
        for each in self.law.slow_parts:
            if each.host in self.hosts and each.kernel in {"", kernel} and each.case in case:
                of_hosts[self.hosts.index(each.host)] /= each.factor
        return float(of_hosts.max()) if self.request.ranks else of_hosts

    def _header(self, case: CaseRequest, setting: Setting, load: Workload, fault: FaultKind | None) -> Header:
        hosts = self.hosts[::-1] if fault == "swapped" else self.hosts
        every = [(hosts[number], cpus) for number, cpus in self.request.every]
        ranks = tuple(
            Rank(
                rank,
                host,
                boot_id(self.law, host),
                asked,
                self._next_cpus(host, asked) if fault == "misplaced" else asked,
                self.request.memory,
                pages(setting, load),
                devices=opened_devices(self.request, rank, fault),
                folder=opened_folder(self.request, rank, fault),
            )
            for rank, (host, asked) in enumerate(every)
        )
        build = {"compiler": "none (simulated)", "flags": ""}
        mpi = {"library": "Simulated MPI 1.0", "standard": "3.1", "threads": "funneled"}
        mpi |= {"way": load.pairs} if load.pairs else {}
        mpi |= {"segment": str(load.segment)} if load.segment else {}
        return Header(
            RECORD_SCHEMA,
            self.request.program,
            case.id,
            dict(setting.params),
            load.work,
            build,
            _CLOCK,
            ranks,
            mpi | {"network": self.request.network} if self.request.ranks else {},
        )

    def _next_cpus(self, host: str, cpus: tuple[int, ...]) -> tuple[int, ...]:
        order = sorted(self.machine.topology_of(host).allowed_cpus)
        following = dict(pairwise([*order, order[0]]))
        return tuple(following[cpu] for cpu in cpus)

    def _write(self, record: ProgramRecord) -> None:
        self.lines.append(msgspec.json.encode(record))

    def _pass(self, seconds: float) -> None:
        if self.machine.now() + seconds > self.deadline:
            self.machine.pass_time(self.deadline - self.machine.now(), len(self.request.cpus))
            raise _EndedError(None)
        self.machine.pass_time(seconds, len(self.request.cpus))


def _series(kernel: str, label: str, phase: Phase, ranks: Sequence[int], *, uneven: bool) -> list[bytes]:
    """Encode one line for each rank, without a Series object for each."""
    return [
        msgspec.json.encode(
            {
                "type": "series",
                "kernel": kernel,
                "rank": ranks[number] if ranks else number,
                "phase": label,
                "iterations": phase.iterations,
                "stop": phase.stop,
                "start_s": starts[: len(starts) - number * uneven].tolist(),
                "seconds": seconds[: len(seconds) - number * uneven].tolist(),
            }
        )
        for number, (starts, seconds) in enumerate(zip(phase.start_s, phase.seconds, strict=True))
    ]
