"""What passes the messages of a case, as its program tells it."""

from collections.abc import Mapping
from functools import lru_cache

import msgspec

#: What records tell beside variables of the environment.
_OWN = frozenset(("library", "standard", "threads", "network", "way", "segment"))


class Transport(msgspec.Struct, frozen=True):
    """What passes messages; what a program does not tell is empty.

    Attributes:
        library: as it names itself.
        standard: of MPI.
        threads: level that was granted.
        network: that was asked for.
        way: addresses of both ends.
        pairs: of ranks that met in a round.
        segment_bytes: most of a message in a segment of TCP, as its ends agreed; 0 where none were told.
        variables: of the environment, of an allowlist, that can change the ways of messages.
    """

    library: str = ""
    standard: str = ""
    threads: str = ""
    network: str = ""
    way: str = ""
    pairs: tuple[tuple[int, int], ...] = ()
    segment_bytes: int = 0
    variables: Mapping[str, str] = msgspec.field(default_factory=dict)


@lru_cache(maxsize=1024)
def transport(words: tuple[tuple[str, str], ...]) -> Transport:
    """From what a record says, name and value: of the library, of the program, and of variables."""
    told = dict(words)
    way, segment = told.get("way", ""), told.get("segment", "")
    met = [pair.partition("-") for pair in way.split()]
    meeting = all(first.isdecimal() and second.isdecimal() for first, _, second in met)
    return Transport(
        library=told.get("library", ""),
        standard=told.get("standard", ""),
        threads=told.get("threads", ""),
        network=told.get("network", ""),
        way="" if meeting else way,
        pairs=tuple((int(first), int(second)) for first, _, second in met) if meeting else (),
        segment_bytes=int(segment) if segment.isdecimal() else 0,
        variables={name: value for name, value in told.items() if name not in _OWN},
    )
