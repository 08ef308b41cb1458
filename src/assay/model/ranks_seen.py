"""The report of the program `audit` about the ranks that a launch line starts (native/starter/audit.cpp)."""

import contextlib
from typing import Literal

import msgspec

#: Name of the program.
PROGRAM = "audit"
#: Start of each of its lines, and of the line of a rank that begins.
_RECORD, _BEGAN = b'{"type":', b'{"type":"began"'


class RankSeen(msgspec.Struct, frozen=True, tag="rank", tag_field="type"):
    """One rank, as it found itself.

    Attributes:
        rank: its number in MPI_COMM_WORLD.
        size: number of ranks there.
        host: where it runs.
        boot_id: of the kernel there.
        numbers: variable -> value, for the variables by which launchers tell a rank its number.
        library: what passes the messages, and the environment variables that can change it.
        launched_cpus: cpus that the launcher gave it, as a kernel list.
        cpus: cpus that it may use after the start of MPI.
        cores: cores of these cpus.
        threads: cpus that an OpenMP thread may use -> number of such threads.
        memory_nodes: memory nodes that it may use, as a kernel list.
        page_nodes: memory node -> its touched pages there.
        single_copy: `ok` if it may copy from the memory of the next rank on its host, else why not; empty if it is
            alone there.
        messages: whether messages of 1 MiB arrived intact; empty if it passed none.
        sent: interface -> bytes sent meanwhile; only the first rank of a host reports them.
        node: facts of its host, by name.
    """

    rank: int
    size: int
    host: str
    boot_id: str
    numbers: dict[str, str] = msgspec.field(name="told")
    library: dict[str, str]
    launched_cpus: str
    cpus: str
    cores: int
    threads: dict[str, int]
    memory_nodes: str
    page_nodes: dict[str, int]
    single_copy: str
    messages: Literal["ok", "wrong", ""]
    sent: dict[str, int]
    node: dict[str, str]


class RankBegan(msgspec.Struct, frozen=True, tag="began", tag_field="type"):
    """A rank that has been started and has not yet started MPI.

    Attributes:
        host: where it runs.
    """

    host: str


class RankStuck(msgspec.Struct, frozen=True, tag="stuck", tag_field="type"):
    """A rank that waited too long.

    Attributes:
        host: where it runs.
        phase: what it waited for: the start of MPI, or messages.
        partner: host that it sent its message to; empty if unknown.
    """

    host: str
    phase: Literal["start", "messages"]
    partner: str


class RanksSeen(msgspec.Struct, frozen=True):
    """All reports of the ranks of a launch.

    Attributes:
        ranks: ranks in the order of their numbers.
        stuck: ranks that gave up.
        began: all ranks that were started.
        others: other output of the launcher.
    """

    ranks: tuple[RankSeen, ...] = ()
    stuck: tuple[RankStuck, ...] = ()
    began: tuple[RankBegan, ...] = ()
    others: bytes = b""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of the ranks, each once."""
        return tuple(dict.fromkeys(each.host for each in self.ranks))


def read_ranks(output: bytes) -> RanksSeen:
    """The reports of the ranks, whatever a launcher prints around them or before each line."""
    found: list[RankSeen | RankStuck | RankBegan] = []
    others: list[bytes] = []
    decoder = msgspec.json.Decoder(RankSeen | RankStuck | RankBegan)
    for line in output.splitlines(keepends=True):
        begin = line.find(_RECORD)
        if begin < 0:
            others.append(line)
            continue
        with contextlib.suppress(msgspec.MsgspecError):  # two reports mixed in one line
            found.append(decoder.decode(line[begin:]))
    return RanksSeen(
        tuple(sorted((each for each in found if isinstance(each, RankSeen)), key=lambda each: each.rank)),
        tuple(each for each in found if isinstance(each, RankStuck)),
        tuple(each for each in found if isinstance(each, RankBegan)),
        b"".join(others),
    )


def count_begun(output: bytes) -> int:
    """Number of ranks that have begun, from the output so far."""
    return output.count(_BEGAN)
