"""What passes the messages of a case, as its program reports it."""

from collections.abc import Mapping
from functools import lru_cache

import msgspec

#: Entries of a record that are not environment variables.
_OWN = frozenset(("library", "standard", "threads", "network", "way", "segment"))


class Transport(msgspec.Struct, frozen=True):
    """What passes messages. What a program does not report is empty.

    Attributes:
        library: name that it gives itself.
        standard: version of the MPI standard.
        threads: thread level that was granted.
        network: requested network.
        addresses: addresses of both ends.
        pairs: pairs of ranks in one round.
        segment_bytes: maximum segment size of the TCP connection; 0 if not reported.
        variables: environment variables, from an allowlist, that can change how messages travel.
    """

    library: str = ""
    standard: str = ""
    threads: str = ""
    network: str = ""
    addresses: str = ""
    pairs: tuple[tuple[int, int], ...] = ()
    segment_bytes: int = 0
    variables: Mapping[str, str] = msgspec.field(default_factory=dict)


@lru_cache(maxsize=1024)
def transport(words: tuple[tuple[str, str], ...]) -> Transport:
    """The transport from the entries of a record, name and value."""
    reported = dict(words)
    ends, segment = reported.get("way", ""), reported.get("segment", "")
    met = [pair.partition("-") for pair in ends.split()]
    meeting = all(first.isdecimal() and second.isdecimal() for first, _, second in met)
    return Transport(
        library=reported.get("library", ""),
        standard=reported.get("standard", ""),
        threads=reported.get("threads", ""),
        network=reported.get("network", ""),
        addresses="" if meeting else ends,
        pairs=tuple((int(first), int(second)) for first, _, second in met) if meeting else (),
        segment_bytes=int(segment) if segment.isdecimal() else 0,
        variables={name: value for name, value in reported.items() if name not in _OWN},
    )
