"""The records that native programs write (JSON Lines), and those that the engine adds.

`schema/records.schema.json` is generated from these types (`tools/schemas.py`), published, and held equal
to them by a test. A record file is a sequence of launches; the records of a launch stand before its `launch`
record, which commits them: records without a `launch` record after them were cut off by a crash. The samples of a
large launch are stored as columns in a separate file: `shared` and `columns` records point to them. A `prediction`
stands between launches and needs no other record. The engine chains launches and predictions by hashes.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from assay.model.bracket import Bracket
from assay.model.declaration import ParamValue
from assay.model.errors import AssayError
from assay.model.private import Host
from assay.model.quantity import Quantity
from assay.model.rank import Rank
from assay.model.traffic import Traffic
from assay.model.transport import Transport, transport

RECORD_SCHEMA = 1


#: Name of the clock of a simulated machine.
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
        clock: clock of the samples.
        ranks: one entry per process.
        passed_by: what passes the messages, `mpi` in a record: `library` (the name it gives itself), `standard`,
            `threads` (granted level), `network` (requested), `way` (addresses, or the pairs of a round), `segment`
            (maximum segment size of TCP), and each environment variable, from an allowlist, that can change how
            messages travel; empty without messages. The property `mpi` has its parts.
        libraries: role -> the library loaded at launch, as it describes itself: `file`, `version`, chosen
            `kernel`, `threads`, `interface`, the `kernels` that can be chosen by number.
        facts: further facts that the program states about the case, name -> value with its unit.
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
        """What passes the messages; all fields are empty if nothing does."""
        return transport(tuple(self.passed_by.items()))


class Series(msgspec.Struct, frozen=True, tag="series"):
    """Raw samples of one kernel, rank and phase, in the order taken.

    Attributes:
        kernel: name.
        rank: process.
        phase: warm-ups are kept, with their label.
        iterations: iterations of each sample.
        stop: why sampling ended: `precision`, `samples` (the maximum), `time`; warm-up: `steady`, `time`.
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
        """Refuse values that no clock can give."""
        if len(self.start_s) != len(self.seconds):
            raise ValueError("start_s and seconds differ in length")
        if self.iterations < 1:
            raise ValueError("a sample has at least one iteration")
        # Millions of samples pass here. The sum is not finite if one of them is not (or if it overflows).
        if not math.isfinite(sum(self.seconds)) or min(self.seconds, default=0.0) < 0:
            raise ValueError("a duration is negative or not finite")


class Threads(msgspec.Struct, frozen=True, tag="threads"):
    """Seconds that each thread of a rank worked in the measured samples of a kernel, without waiting for others.

    Attributes:
        kernel: name.
        rank: process.
        iterations: iterations of all these samples.
        seconds: seconds of each thread, in thread order.
    """

    kernel: str
    rank: int
    iterations: int
    seconds: tuple[float, ...]


class FigureOfMerit(msgspec.Struct, frozen=True, tag="figure"):
    """One value that a program states for a whole solution.

    Attributes:
        name: of the figure, e.g. `rate`.
        unit: SI base unit.
        value: in that unit, above 0.
        seconds: time of the solution; None if the program does not state it.
        phases: part of the solution -> seconds, mean over the ranks.
        warmup: whether it is a warm-up: a later one counts.
        steps: phase -> its seconds in each step of the solution; empty if a program reports no steps.
        rank: its rank, if independent programs ran on several hosts; else 0.
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
    """The whole output of a third-party command: figures are parsed from it, and can be parsed again.

    Attributes:
        text: the output, if it is short.
        file: compressed file in the run's directory, if it is long.
    """

    text: str
    file: str = ""


class Checked(msgspec.Struct, frozen=True):
    """The result of a check of an application's output.

    Attributes:
        about: what was checked.
        status: `unknown` if the right value is known for other versions or parameters only.
        said: what was expected and what was found, as text.
        error: difference of a number; 0 if there is none, 1 for text.
        tolerance: allowed difference.
    """

    about: str
    status: Literal["right", "wrong", "unknown"]
    said: str
    error: float = 0.0
    tolerance: float = 0.0


class Verdict(msgspec.Struct, frozen=True, tag="verdict"):
    """Whether the results of a case were right: `error` of at most `tolerance`.

    Attributes:
        passed: whether all results are right.
        error: the largest error, or that of the wrong result; 1 for a text.
        tolerance: tolerance of that error.
        checks: checks of the output of an application, in order.
        version: version of the application, from its output.
    """

    passed: bool
    error: float
    tolerance: float
    checks: tuple[Checked, ...] = ()
    version: str = ""


#: Causes of failure that the analysis needs. `connection-lost`: nothing moved over a connection any more.
FailureCause = Literal["", "connection-lost"]


class End(msgspec.Struct, frozen=True, tag="end", omit_defaults=True):
    """Closes a case. A case without it is incomplete.

    Attributes:
        status: how it ended.
        reason: why it is not complete, as text.
        cause: the same as a name; empty for most.
    """

    status: Literal["complete", "failed", "invalid"]
    reason: str = ""
    cause: FailureCause = ""


class Launch(msgspec.Struct, frozen=True, tag="launch"):
    """Commits the records of one launch. The engine writes it together with them, in one append.

    Attributes:
        id: id of the planned launch.
        attempt: 0, then 1, 2 ... for repeats of a disturbed launch.
        block: see PlannedLaunch.
        program: native executable.
        toolchain: name.
        build: key of the build.
        cases: ids, in the order they ran.
        argv: exact command line; that of the first host if independent programs ran on several hosts.
        environment: variables that the launcher set (an allowlist).
        started: ISO time, UTC.
        exit_code: exit code of the program; negative for a signal, None if its time limit ended it.
        bracket: what the machine did around it.
        message: stderr of the program, at most 2,000 characters.
        prepared: factor -> command that was run just before it to set the factor's level.
        sampled_s: seconds of sampling in its program.
        probes_s: seconds of the probes around it.
        waited_s: seconds since the launch before it in which Assay waited for other processes to end.
        engine_s: seconds since the launch before it of all else that Assay did; None in runs of earlier versions,
            which record neither these nor the other parts of the time.
        lost: its hosts that did not answer when it ended, or that their scheduler gave up.
        over_budget: whether it was ended because the budget was used up: its unfinished cases did not fail.
        began_s: seconds that the study, or its experiments, had used over all parts of the run when it began.
        ended_s: the same when it had ended; 0 in runs of earlier versions, which do not record it.
        chain: see `assay.store.chain`; empty in runs of earlier versions.
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
    sampled_s: float = 0.0
    probes_s: float = 0.0
    waited_s: float = 0.0
    engine_s: float | None = None
    lost: tuple[Host, ...] = ()
    over_budget: bool = False
    began_s: float = 0.0
    ended_s: float = 0.0
    chain: str = ""


class Shared(msgspec.Struct, frozen=True, tag="shared"):
    """Opens a large launch: its cases share this part of `samples.columns`. See `assay.store.compact`.

    Attributes:
        form: version of the columns.
        at: offset of the first byte.
        bytes: number of bytes.
        crc32: checksum of the bytes.
    """

    form: int
    at: int
    bytes: int
    crc32: int


class Columns(msgspec.Struct, frozen=True, tag="columns"):
    """Points to the ranks, the series and the traffic of a case in `samples.columns`.

    Attributes:
        at: offset of the first byte.
        parts: bytes of each part: series and ranks; durations; starts.
        crc32: checksum of all parts.
        series: number of series.
        samples: number of samples of all series.
    """

    at: int
    parts: tuple[int, int, int]
    crc32: int
    series: int
    samples: int


#: Why a prediction does not count, and the same in words.
Refusal = Literal["twice", "after its figure", "broken chain"]
REFUSALS: dict[Refusal, str] = {
    "twice": "it is predicted already",
    "after its figure": "a launch of the case is committed already",
    "broken chain": "it, or its figure, follows the first record that is not as it was written",
}


class Prediction(Quantity, frozen=True, tag="prediction", kw_only=True):
    """What models expect of a case. It is written before the case's first launch and never changed.

    Attributes:
        of: id of the case.
        metric: predicted metric.
        models: models from which it follows, `from` in JSON.
        law: name of the law; empty in runs of earlier versions.
        chain: as of a launch.
    """

    of: str
    metric: str
    models: tuple[str, ...] = msgspec.field(name="from")
    law: str = ""
    chain: str = ""

    def __post_init__(self) -> None:
        """Refuse ends that do not contain the value."""
        if not (self.lo <= self.value <= self.hi and math.isfinite(self.hi - self.lo)):
            raise ValueError("lo <= value <= hi does not hold, or one is not finite")

    def refusal(self, earlier: Sequence["Prediction"], launches: Sequence[Launch]) -> Refusal | None:
        """Why it cannot be added to the run's predictions and launches; None if it can."""
        if any((each.of, each.metric) == (self.of, self.metric) for each in earlier):
            return "twice"
        return "after its figure" if any(self.of in each.cases for each in launches) else None


ProgramRecord = Header | Series | Threads | Traffic | FigureOfMerit | Output | Verdict | End
Record = ProgramRecord | Shared | Columns | Prediction | Launch

_program_decoder: msgspec.json.Decoder[ProgramRecord] = msgspec.json.Decoder(ProgramRecord)
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


class RecordError(AssayError):
    """A line is not a valid record."""


def decode_program_record(line: bytes | str) -> ProgramRecord:
    """Decode one line of a native program's output; RecordError says what is wrong with it."""
    try:
        return _program_decoder.decode(line)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError("not a valid record", why=str(error)) from error


def decode_record(line: bytes | str) -> Record:
    """Decode one line of records.jsonl; RecordError says what is wrong with it."""
    try:
        return _decoder.decode(line)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError("not a valid record", why=str(error)) from error


def encode_record(record: Record) -> bytes:
    """One line, without its newline; doubles in shortest round-trip form."""
    return msgspec.json.encode(record)
