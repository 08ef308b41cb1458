"""The records that native programs write (JSON Lines), and the one that the engine adds after each launch.

`schema/records.schema.json` is generated from these types (`assay.model.schema`), published, and held equal
to them by a test. A record file is a sequence of launches; the records of a launch stand before its `launch`
record, which commits them: records that no `launch` record follows were torn off by a crash.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from assay.model.benchmark import ParamValue
from assay.model.errors import AssayError

RECORD_SCHEMA = 1


class Clock(msgspec.Struct, frozen=True):
    """The clock of the samples: its resolution and the cost of reading it, measured by the program."""

    name: str
    resolution_s: float
    overhead_s: float


class Rank(msgspec.Struct, frozen=True):
    """One process of a launch: where it was asked to be and where it was found.

    Attributes:
        rank: from 0.
        host: host name.
        boot_id: of the kernel; two hosts with one boot id are one machine.
        requested_cpus: asked for, one per thread.
        cpus: read back from the affinity masks of its threads, one per thread, in thread order.
        requested_memory: policy asked for, e.g. `bind:0`.
        page_nodes: memory node -> pages of the touched buffers found on it (move_pages); empty where the kernel
            does not say.
        huge_page_share: share of the touched buffers that lies in huge pages (smaps); None where the kernel does
            not say.
    """

    rank: int
    host: str
    boot_id: str
    requested_cpus: tuple[int, ...]
    cpus: tuple[int, ...]
    requested_memory: str
    page_nodes: dict[str, int]
    huge_page_share: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None


class Header(msgspec.Struct, frozen=True, tag="header"):
    """Opens a case.

    Attributes:
        schema: version of these records.
        benchmark: name.
        case: id given by `--case`.
        params: every axis with its value.
        work: kernel -> quantity -> amount in one iteration, e.g. `{"triad": {"bytes": 24e6}}`.
        build: compiler, flags and features the program was compiled with.
        clock: of the samples.
        ranks: one entry per process.
        mpi: what passes the messages: `library` as it names itself, `standard`, `threads` granted, `network` asked
            for, `way` that a program names (addresses, or the pairs of a round), `segment`, most bytes of a
            message in one of TCP, as its ends agreed, each variable of the environment, of an allowlist, that can
            change its ways; empty without any.
    """

    schema: int
    benchmark: str
    case: str
    params: dict[str, ParamValue]
    work: dict[str, dict[str, float]]
    build: dict[str, str]
    clock: Clock
    ranks: tuple[Rank, ...]
    mpi: dict[str, str] = {}


class Series(msgspec.Struct, frozen=True, tag="series"):
    """Raw samples of one kernel, rank and phase, in the order taken.

    Attributes:
        kernel: name.
        rank: process.
        phase: warm-ups are kept, labelled.
        iterations: of each sample.
        stop: why sampling ended: `precision`, `samples` (the most allowed), `time`; warm-up: `steady`, `time`.
        start_s: start of each sample, seconds since the program's start.
        seconds: duration of `iterations` iterations, undivided.
    """

    kernel: str
    rank: int
    phase: Literal["warmup", "measured"]
    iterations: int
    stop: Literal["precision", "samples", "time", "steady"]
    start_s: Sequence[float]
    seconds: Sequence[float]

    def __post_init__(self) -> None:
        """Refuse what no clock can have said."""
        if len(self.start_s) != len(self.seconds):
            raise ValueError("start_s and seconds differ in length")
        if self.iterations < 1:
            raise ValueError("a sample has at least one iteration")
        # Millions of samples pass here. A sum that is not finite tells of one that is not (or of an overflow).
        if not math.isfinite(sum(self.seconds)) or min(self.seconds, default=0.0) < 0:
            raise ValueError("a duration is negative or not finite")


class Counter(msgspec.Struct, frozen=True):
    """What one network interface or InfiniBand port carried, in bytes, by its own counters."""

    sent: int
    received: int


class HostTraffic(msgspec.Struct, frozen=True):
    """Traffic of one host: of every interface (`eth0`) and InfiniBand port (`mlx5_0:1`) that has counters."""

    host: str
    boot_id: str
    interfaces: dict[str, Counter]


class Traffic(msgspec.Struct, frozen=True, tag="traffic"):
    """What every host's interfaces carried while a case was sampled: the proof of the way that its messages took.

    Attributes:
        seconds: from the first reading of the counters to the last.
        payload: bytes of all messages that ranks sent meanwhile, their warm-up and calibration included.
        hosts: one entry per host, whatever else used its interfaces included.
    """

    seconds: float
    payload: float
    hosts: tuple[HostTraffic, ...]


class Verdict(msgspec.Struct, frozen=True, tag="verdict"):
    """Whether the results of a case were right: `error` of at most `tolerance`."""

    passed: bool
    error: float
    tolerance: float


class End(msgspec.Struct, frozen=True, tag="end"):
    """Closes a case. A case without it is incomplete."""

    status: Literal["complete", "failed", "invalid"]
    reason: str = ""


class Handover(msgspec.Struct, frozen=True):
    """Samples of the hand-over probe: the time a cache line takes from one core to another, one way.

    Attributes:
        cpus: the two cores.
        iterations: hand-overs in each sample.
        seconds: duration of each sample, undivided.
    """

    cpus: tuple[int, ...]
    iterations: int
    seconds: list[float]

    @property
    def median_s(self) -> float:
        """Median time of one hand-over, seconds."""
        ordered = sorted(self.seconds)
        middle = len(ordered) // 2
        median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
        return median / self.iterations


class Bracket(msgspec.Struct, frozen=True):
    """What the machine did around a launch.

    Attributes:
        before: probe just before it; None where there is one core or no probe.
        after: probe just after it.
        elapsed_s: wall time of the launch, start of program to its end.
        steal: share of the cpus' time that the hypervisor took during the launch; None where nobody looked, since
            it ran on other hosts than this one.
        foreign: share of the cpus' time that other processes used during the launch; None as above.
        involuntary_switches: context switches forced on the program, -1 where unknown.
        load: one-minute load average before it.
    """

    before: Handover | None
    after: Handover | None
    elapsed_s: float
    steal: float | None
    foreign: float | None
    involuntary_switches: int
    load: float

    #: Brackets that differ more than this (far / near is about 4 on virtual machines) mean that the cores moved.
    MOVED = 1.5
    #: More than this share of foreign CPU disturbs a launch.
    FOREIGN = 0.08

    @property
    def disturbance(self) -> str:
        """Why the launch should be repeated; empty when it was quiet."""
        if self.before and self.after:
            ratio = self.after.median_s / self.before.median_s
            if not 1 / self.MOVED < ratio < self.MOVED:
                return f"hand-over changed x{ratio:.2f} during the launch"
        if self.foreign is not None and self.foreign > self.FOREIGN:
            return f"other processes used {100 * self.foreign:.0f} % of the cpus"
        return ""


class Launch(msgspec.Struct, frozen=True, tag="launch"):
    """Commits the records of one launch. Written by the engine, in one append with them.

    Attributes:
        id: of the planned launch.
        attempt: 0, then 1, 2 ... for repeats of a disturbed launch.
        block: see PlannedLaunch.
        program: native executable.
        toolchain: name.
        build: key of the build.
        cases: ids, in the order they ran.
        argv: exact command line; that of its first host where a program stood alone on several at once.
        environment: variables that the launcher set (an allowlist).
        started: ISO time, UTC.
        exit_code: of the program; negative for a signal, None when it was ended at its time limit.
        bracket: what the machine did around it.
        message: what the program said on stderr, at most 2,000 characters.
        prepared: factor -> command that was run just before it to set the factor's level.
    """

    id: str
    attempt: int
    block: int
    program: str
    toolchain: str
    build: str
    cases: tuple[str, ...]
    argv: tuple[str, ...]
    environment: dict[str, str]
    started: str
    exit_code: int | None
    bracket: Bracket
    message: str = ""
    prepared: dict[str, tuple[str, ...]] = {}


ProgramRecord = Header | Series | Traffic | Verdict | End
Record = ProgramRecord | Launch

_program_decoder = msgspec.json.Decoder(ProgramRecord)
_decoder = msgspec.json.Decoder(Record)


class RecordError(AssayError):
    """A line that is no valid record."""


def decode_program_record(line: bytes | str) -> ProgramRecord:
    """One line of a native program's output; RecordError says what is wrong with it."""
    try:
        record: ProgramRecord = _program_decoder.decode(line)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError("not a valid record", why=str(error)) from error
    return record


def decode_record(line: bytes | str) -> Record:
    """One line of records.jsonl; RecordError says what is wrong with it."""
    try:
        record: Record = _decoder.decode(line)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError("not a valid record", why=str(error)) from error
    return record


def encode_record(record: Record) -> bytes:
    """One line, without its newline; doubles in shortest round-trip form."""
    return msgspec.json.encode(record)
