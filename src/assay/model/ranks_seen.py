"""What the program `audit` says of the ranks that a launch line starts (native/starter/audit.cpp)."""

import contextlib
from typing import Literal

import msgspec

#: The program.
PROGRAM = "audit"
#: How each of its lines begins, and that of a rank that begins.
_RECORD, _BEGAN = b'{"type":', b'{"type":"began"'


class RankSeen(msgspec.Struct, frozen=True, tag="rank", tag_field="type"):
    """One rank, as it found itself.

    Attributes:
        rank: its number in MPI_COMM_WORLD.
        size: number of ranks there.
        host: where it runs.
        boot_id: of the kernel there.
        told: variable -> value, of those by which launchers tell a rank who it is.
        library: what passes the messages, and what of the environment can change its ways.
        launched_cpus: that the launcher gave it, as a kernel list.
        cpus: that it may use once MPI has begun.
        cores: that these cpus are of.
        threads: cpus that an OpenMP thread may use -> number of such threads.
        memory_nodes: that it may have memory of, as a kernel list.
        page_nodes: memory node -> pages of those that it touched.
        single_copy: `ok` where it may copy out of the memory of the next rank on its host, else why not; empty for
            one that is alone there.
        messages: whether messages of 1 MiB came whole; empty where it passed none.
        sent: interface -> bytes that left by it meanwhile; only the first rank of a host says so.
        node: facts of its host, by name.
    """

    rank: int
    size: int
    host: str
    boot_id: str
    told: dict[str, str]
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
    """A rank that was started, before it starts MPI.

    Attributes:
        host: where it runs.
    """

    host: str


class RankStuck(msgspec.Struct, frozen=True, tag="stuck", tag_field="type"):
    """A rank that waited too long.

    Attributes:
        host: where it runs.
        phase: what it waited for: the start of MPI, or messages.
        partner: host that it sent its message to; empty where it is not known.
    """

    host: str
    phase: Literal["start", "messages"]
    partner: str


class RanksSeen(msgspec.Struct, frozen=True):
    """All that the ranks of a launch said.

    Attributes:
        ranks: in the order of their numbers.
        stuck: those that gave up.
        began: all that were started.
        others: what a launcher printed beside that.
    """

    ranks: tuple[RankSeen, ...] = ()
    stuck: tuple[RankStuck, ...] = ()
    began: tuple[RankBegan, ...] = ()
    others: bytes = b""

    @property
    def hosts(self) -> tuple[str, ...]:
        """Of the ranks, each once."""
        return tuple(dict.fromkeys(each.host for each in self.ranks))


def read_ranks(output: bytes) -> RanksSeen:
    """What the ranks said, whatever a launcher prints around it or before each of its lines."""
    found: list[RankSeen | RankStuck | RankBegan] = []
    others: list[bytes] = []
    decoder = msgspec.json.Decoder(RankSeen | RankStuck | RankBegan)
    for line in output.splitlines(keepends=True):
        begin = line.find(_RECORD)
        if begin < 0:
            others.append(line)
            continue
        with contextlib.suppress(msgspec.MsgspecError):  # two lines in one
            found.append(decoder.decode(line[begin:]))
    return RanksSeen(
        tuple(sorted((each for each in found if isinstance(each, RankSeen)), key=lambda each: each.rank)),
        tuple(each for each in found if isinstance(each, RankStuck)),
        tuple(each for each in found if isinstance(each, RankBegan)),
        b"".join(others),
    )


def count_begun(output: bytes) -> int:
    """How many ranks have begun, by what was printed so far."""
    return output.count(_BEGAN)
