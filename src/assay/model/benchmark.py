"""What planning a benchmark needs beside its declaration: memory, points, costs, the command to start."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from assay.model.core_rate import CoreRate
from assay.model.declaration import Declaration, Params, ParamValue
from assay.model.machine import Topology
from assay.model.placement import Placement

if TYPE_CHECKING:
    from assay.model.application import Application


class Resources(msgspec.Struct, frozen=True):
    """The resources of a case on its machine.

    Attributes:
        placement: hosts, ranks and cpus.
        topology: topology of the first host.
        memory_bytes: memory that may be used on each host.
    """

    placement: Placement
    topology: Topology
    memory_bytes: int

    @property
    def last_level_bytes(self) -> int:
        """Bytes of the last-level caches that the placement's cpus use; 0 if none is known."""
        return self.topology.last_level_bytes(self.placement.cpus)


#: Seconds to start a program, and to start ranks by an MPI's launcher: medians on a machine with two cores.
_START_S = 0.05
_MPI_START_S = 0.5


class ForeignProgram(msgspec.Struct, frozen=True):
    """A third-party command. Assay's starter places and runs it, and keeps its output.

    Functions get the params, the placement and the folder in which Assay installed the program (empty: none).

    Attributes:
        name: name of the executable, found on PATH; a common name if there are several.
        command: words of the command line.
        tool: parser of its output, a name of assay.importing; empty for an application.
        install: command that installs it.
        inputs: files in its working directory, name -> content.
        files: files that are copied there, name -> path of the original.
        prologue: shell line that prepares the working directory; empty for none.
        output: file there that holds the results; empty: stdout.
        names: names of the executables, if the params choose one of several.
        limit_s: time limit of the command in seconds; 0: that of its launch.
        application: the declaration it was made from; None if it is declared in Python.
    """

    name: str
    command: Callable[[Params, Placement, str], tuple[str, ...]]
    tool: str = ""
    install: str = ""
    inputs: Callable[[Params, Placement, str], Mapping[str, str]] = lambda _params, _placement, _prefix: {}
    files: Mapping[str, str] = msgspec.field(default_factory=dict)
    prologue: Callable[[Params, Placement, str], str] = lambda _params, _placement, _prefix: ""
    output: str = ""
    names: tuple[str, ...] = ()
    limit_s: float = 0.0
    application: "Application | None" = None

    @property
    def executables(self) -> tuple[str, ...]:
        """All executables that it may start."""
        return self.names or (self.name,)

    def executable(self, params: Params, placement: Placement) -> str:
        """The executable that the command of a case starts."""
        return next(word for word in self.command(params, placement, "") if word in self.executables)


class Operations(msgspec.Struct, frozen=True):
    """Floating-point operations that decide how long a case takes, counted in double precision.

    Attributes:
        share: assumed share of a core's peak that the program reaches.
        setup: operations of the busiest core before the first sample, from the params and the placement.
        iteration: operations of the busiest core in one iteration of the slowest kernel.
    """

    share: float
    setup: Callable[[Params, Placement], float]
    iteration: Callable[[Params, Placement], float] = lambda _params, _placement: 0.0


Value = int | float | str
Values = Mapping[str, Value]


class Message(NamedTuple):
    """Messages sent one after the other: their number, and bytes of each."""

    number: float
    bytes: float


class Exchange(NamedTuple):
    """Messages of a rank to its neighbours while all ranks do some work.

    Attributes:
        work: amount of work, in the unit of the headline rate times s.
        messages: messages of the rank that sends most.
    """

    work: float
    messages: tuple[Message, ...]


def _no_exchange(_params: Values, _placement: Placement) -> Exchange | None:
    return None


class Growth(msgspec.Struct, frozen=True):
    """What predictions of scaling need to know of the messages of a benchmark.

    Attributes:
        exchange: messages of a case that is predicted; None if they are not counted.
        overlaps: the operation that its ranks leave to MPI while they compute; empty if there is none.
    """

    exchange: Callable[[Values, Placement], Exchange | None] = _no_exchange
    overlaps: str = ""

    @property
    def counts_messages(self) -> bool:
        """Whether the messages of the ranks are known."""
        return self.exchange is not _no_exchange


class Benchmark(Declaration, frozen=True, dict=True, kw_only=True):
    """A declaration with the functions that planning it needs.

    Attributes:
        memory_bytes: memory that each rank needs, from the params and the placement.
        points: values of the axes whose default is None, which follow from the placement and depend on each other:
            elements from the caches, the rounds of a round-robin schedule, a grid P x Q of the ranks with N from
            memory. It gets the resources and the values that the study chose, and gives one mapping for each point
            to measure. A value that the study chose counts in place of one that is given here.
        setup_seconds: estimate of the time a case takes before its first sample.
        touch_seconds: part of that for the first touch of fresh memory. It is 0 if an earlier case of the launch
            has touched as much memory in the same way.
        iteration_seconds: estimate of one iteration of the slowest kernel; if samples are short, their number
            ends sampling before the time does. None: sampling is assumed to use all of its time.
        operations: further work, timed by the rate of the machine's cores; None if memory or messages decide.
        message_bytes: bytes that one iteration sends from rank to rank, from its params.
        folder_bytes: most bytes that each rank has in its folder at a time, from the params.
        foreign: the command to start, if the program is Assay's starter; its figures are the kernels.
        growth: what a study of scaling needs to know of it.
    """

    memory_bytes: Callable[[Params, Placement], int]
    points: Callable[[Resources, Params], Iterable[Params]] = lambda _resources, _params: ({},)
    setup_seconds: Callable[[Params], float] = lambda _params: 0.01
    touch_seconds: Callable[[Params], float] = lambda _params: 0.0
    iteration_seconds: Callable[[Params], float] | None = None
    operations: Operations | None = None
    message_bytes: Callable[[Params], int] = lambda _params: 0
    folder_bytes: Callable[[Params], int] = lambda _params: 0
    foreign: ForeignProgram | None = None
    growth: Growth = Growth()

    @property
    def start_seconds(self) -> float:
        """Seconds to start and end its processes, until a launch has measured them; for estimates only."""
        return _MPI_START_S if self.launcher == "mpi" else _START_S

    @cached_property
    def declaration(self) -> Declaration:
        """Its data alone, as a plan stores it."""
        return Declaration(**{name: getattr(self, name) for name in Declaration.__struct_fields__})

    def host_memory_bytes(self, params: Params, placement: Placement) -> int:
        """Memory that a case needs on the host with most ranks."""
        return placement.most_ranks * self.memory_bytes(params, placement)

    def setup_s(self, params: Params, placement: Placement, core: CoreRate) -> float:
        """Estimate of the seconds before the first sample on such cores."""
        of = self.operations
        return self.setup_seconds(params) + (of.setup(params, placement) / (of.share * core.flops) if of else 0.0)

    def iteration_s(self, params: Params, placement: Placement, core: CoreRate) -> float | None:
        """Estimate of the seconds of one iteration of the slowest kernel; None if unknown."""
        if self.iteration_seconds is None:
            return None
        of = self.operations
        operations_s = of.iteration(params, placement) / (of.share * core.flops) if of else 0.0
        return self.iteration_seconds(params) + operations_s


#: Prefix of an MPI program that runs as one rank without mpiexec: else Open MPI starts a daemon next to it, and
#: binds its threads by rules of its own.
ONE_RANK = ("env", "OMPI_MCA_ess_singleton_isolated=1", "OMPI_MCA_hwloc_base_binding_policy=none")


#: An axis, and its levels at which ranks pass no messages: each has a problem of its own, or only its part of one.
_COUPLING, INDEPENDENT, UNCOUPLED = "coupling", "independent", "uncoupled"
APART = frozenset({INDEPENDENT, UNCOUPLED})


def works_together(params: Mapping[str, ParamValue]) -> bool:
    """Whether the ranks pass messages; else the rate is the sum over the ranks."""
    return params.get(_COUPLING) not in APART


def sharing_ranks(params: Mapping[str, ParamValue], placement: Placement) -> int:
    """How many ranks share one problem, with or without messages."""
    return len(placement.rank_cpus) if params.get(_COUPLING) != INDEPENDENT else 1
