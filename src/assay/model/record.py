"""The records that native programs write (JSON Lines), and those that the engine adds.

`schema/records.schema.json` is generated from these types (`assay.model.schema`), published, and held equal
to them by a test. A record file is a sequence of launches; the records of a launch stand before its `launch`
record, which commits them: records that no `launch` record follows were torn off by a crash. The bulk of a large
launch is kept as columns in a file beside the records: `shared` and `columns` records say where. A `prediction`
stands between launches and needs no other record.
"""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from assay.model.benchmark import ParamValue
from assay.model.bracket import Bracket
from assay.model.errors import AssayError
from assay.model.private import Host, Identifier
from assay.model.quantity import Quantity
from assay.model.rank import Rank
from assay.model.transport import Transport, transport

RECORD_SCHEMA = 1


#: Name of the clock of a machine that is a model.
SIMULATED = "simulated"


class Clock(msgspec.Struct, frozen=True):
    """The clock of the samples: its resolution and the cost of reading it, measured by the program."""

    name: str
    resolution_s: float
    overhead_s: float


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
        passed_by: what passes the messages, `mpi` in a record: `library` as it names itself, `standard`, `threads`
            granted, `network` asked for, `way` that a program names (addresses, or the pairs of a round),
            `segment`, most bytes of a message in one of TCP, as its ends agreed, each variable of the environment,
            of an allowlist, that can change its ways; empty without any. The property `mpi` has its parts.
        libraries: role -> what was loaded at launch, in its own words: `file`, `version`, the `kernel` that it
            chose, `threads`, `interface`, the `kernels` that it takes by number.
        facts: what else the program states of the case, name -> value with its unit.
    """

    schema: int
    benchmark: str
    case: str
    params: dict[str, ParamValue]
    work: dict[str, dict[str, float]]
    build: dict[str, str]
    clock: Clock
    ranks: tuple[Rank, ...]
    passed_by: dict[str, str] = msgspec.field(default_factory=dict, name="mpi")
    libraries: dict[str, dict[str, str]] = {}
    facts: dict[str, str] = {}

    @property
    def mpi(self) -> Transport:
        """What passes the messages; all of it is empty where nothing does."""
        return transport(tuple(self.passed_by.items()))


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


class Threads(msgspec.Struct, frozen=True, tag="threads"):
    """What each thread of a rank worked by itself in the measured samples of a kernel, waiting for no other.

    Attributes:
        kernel: name.
        rank: process.
        iterations: of all these samples.
        seconds: of each thread, in thread order.
    """

    kernel: str
    rank: int
    iterations: int
    seconds: tuple[float, ...]


class Counter(msgspec.Struct, frozen=True):
    """What one network interface or InfiniBand port carried, in bytes, by its own counters."""

    sent: int
    received: int


class HostTraffic(msgspec.Struct, frozen=True):
    """Traffic of one host by interface (`eth0`) and InfiniBand port (`mlx5_0:1`), and what its cpus did meanwhile.

    Attributes:
        mtus: of interfaces, B.
        cpus: how many the host has; 0 where nobody looked.
        used_s: what all programs of the host used of them.
        stolen_s: what a hypervisor took.
        own_s: what the ranks of the launch used.
    """

    host: Host
    boot_id: Identifier
    interfaces: dict[str, Counter]
    mtus: dict[str, int] = {}
    cpus: int = 0
    used_s: float = 0.0
    stolen_s: float = 0.0
    own_s: float = 0.0


class Summed(Sequence[HostTraffic]):
    """Hosts that know the sums of their counters."""

    @abstractmethod
    def sent(self) -> Mapping[str, int]:
        """See Traffic."""


class Traffic(msgspec.Struct, frozen=True, tag="traffic"):
    """What every host did while a case was sampled; what its interfaces carried proves the way of the messages.

    Attributes:
        seconds: from the first reading of the counters to the last; of programs that stood alone on several hosts,
            of the one that took longest.
        payload: bytes of all messages that ranks sent meanwhile, their warm-up and calibration included.
        hosts: one entry per host, whatever else used its interfaces included.
    """

    seconds: float
    payload: float
    hosts: Sequence[HostTraffic]

    def sent(self) -> Mapping[str, int]:
        """Interface or port -> bytes that it sent, all hosts together."""
        if isinstance(self.hosts, Summed):
            return self.hosts.sent()
        sent: dict[str, int] = {}
        for host in self.hosts:
            for name, counter in host.interfaces.items():
                sent[name] = sent.get(name, 0) + counter.sent
        return sent


class FigureOfMerit(msgspec.Struct, frozen=True, tag="figure"):
    """One value that a program states of a whole solution.

    Attributes:
        name: of the figure, e.g. `rate`.
        unit: SI base unit.
        value: in that unit, above 0.
        seconds: that the solution took; None where the program does not say.
        phases: part of the solution -> seconds, a mean over the ranks; parts that there were not are absent.
        warmup: a later one counts.
        steps: phase -> its seconds in each step of the solution; empty where a program tells no steps.
        rank: whose it is, of a program that stood alone on several hosts; else 0.
    """

    name: str
    unit: str
    value: Annotated[float, msgspec.Meta(gt=0)]
    seconds: float | None = None
    phases: dict[str, float] = {}
    warmup: bool = False
    steps: dict[str, tuple[float, ...]] = {}
    rank: int = 0


class Output(msgspec.Struct, frozen=True, tag="output"):
    """What a command of somebody else wrote, whole: figures are read from it, and can be read again.

    Attributes:
        text: itself, where it is short.
        file: compressed, in the run's directory, where it is long.
    """

    text: str
    file: str = ""


class Checked(msgspec.Struct, frozen=True):
    """What became of a check of an application's output.

    Attributes:
        about: what was checked.
        status: `unknown` where its value is known for other versions or parameters only.
        said: what was sought and what was found, in words.
        error: by which a number differs; 0 where none does, 1 for text.
        tolerance: by which it may.
    """

    about: str
    status: Literal["right", "wrong", "unknown"]
    said: str
    error: float = 0.0
    tolerance: float = 0.0


class Verdict(msgspec.Struct, frozen=True, tag="verdict"):
    """Whether the results of a case were right: `error` of at most `tolerance`.

    Attributes:
        passed: whether all of it is right.
        error: the largest, or that of what is wrong; 1 for a text.
        tolerance: of that.
        checks: of the output of an application, one after the other.
        version: of the application, as its output says it.
    """

    passed: bool
    error: float
    tolerance: float
    checks: tuple[Checked, ...] = ()
    version: str = ""


#: Why a case failed, as far as analysis asks for it: `connection-lost`: nothing moved over a connection any more.
FailureCause = Literal["", "connection-lost"]


class End(msgspec.Struct, frozen=True, tag="end", omit_defaults=True):
    """Closes a case. A case without it is incomplete.

    Attributes:
        status: how it ended.
        reason: why it is not complete, in words for people.
        cause: the same as a name; empty for most.
    """

    status: Literal["complete", "failed", "invalid"]
    reason: str = ""
    cause: FailureCause = ""


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
        waited_s: seconds that were waited before it until other processes used little.
        lost: its hosts that did not answer any more when it ended, or that their scheduler gave up.
        began_s: seconds that the study, or its experiments, had used over all parts of the run when it began.
        ended_s: the same when it was through; 0 in runs of earlier versions, which do not say it.
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
    waited_s: float = 0.0
    lost: tuple[Host, ...] = ()
    began_s: float = 0.0
    ended_s: float = 0.0


class Shared(msgspec.Struct, frozen=True, tag="shared"):
    """Opens a large launch: what its cases share stands once in `samples.columns`. See `assay.store.compact`.

    Attributes:
        form: version of the columns.
        at: first byte.
        bytes: how many.
        crc32: of them.
    """

    form: int
    at: int
    bytes: int
    crc32: int


class Columns(msgspec.Struct, frozen=True, tag="columns"):
    """Stands for the ranks, the series and the traffic of a case, which are kept in `samples.columns`.

    Attributes:
        at: first byte.
        parts: bytes of each part: series and ranks; durations; starts.
        crc32: of all of them.
        series: how many.
        samples: of all series together.
    """

    at: int
    parts: tuple[int, int, int]
    crc32: int
    series: int
    samples: int


class Prediction(Quantity, frozen=True, tag="prediction", kw_only=True):
    """What models expect of a case: written before its first launch, which decides, and never changed.

    Attributes:
        of: id of the case.
        metric: that is predicted.
        models: from which it follows, `from` in JSON.
        law: name of the law that says so; empty in runs of earlier versions.
    """

    of: str
    metric: str
    models: tuple[str, ...] = msgspec.field(name="from")
    law: str = ""

    def __post_init__(self) -> None:
        """Refuse ends that do not enclose the value."""
        if not (self.lo <= self.value <= self.hi and math.isfinite(self.hi - self.lo)):
            raise ValueError("lo <= value <= hi does not hold, or one is not finite")

    def refusal(self, earlier: Sequence["Prediction"], launches: Sequence[Launch]) -> str:
        """Why it may not follow what the run holds already; empty where it may."""
        if any((each.of, each.metric) == (self.of, self.metric) for each in earlier):
            return "it is predicted already"
        if any(self.of in each.cases for each in launches):
            return "a launch of the case is committed already"
        return ""


ProgramRecord = Header | Series | Threads | Traffic | FigureOfMerit | Output | Verdict | End
Record = ProgramRecord | Shared | Columns | Prediction | Launch

_program_decoder: msgspec.json.Decoder[ProgramRecord] = msgspec.json.Decoder(ProgramRecord)
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


class RecordError(AssayError):
    """A line that is no valid record."""


def decode_program_record(line: bytes | str) -> ProgramRecord:
    """One line of a native program's output; RecordError says what is wrong with it."""
    try:
        return _program_decoder.decode(line)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError("not a valid record", why=str(error)) from error


def decode_record(line: bytes | str) -> Record:
    """One line of records.jsonl; RecordError says what is wrong with it."""
    try:
        return _decoder.decode(line)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError("not a valid record", why=str(error)) from error


def encode_record(record: Record) -> bytes:
    """One line, without its newline; doubles in shortest round-trip form."""
    return msgspec.json.encode(record)
